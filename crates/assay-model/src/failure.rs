//! Failures: why a case has no result, as identifiers with typed arguments; the texts are the report's.
//!
//! Messages of the system, a library or a tool are stored verbatim, like raw output: `causes`,
//! outermost first.

pub mod refusal;

use serde::{Deserialize, Serialize};

/// One failure. The variants are the documentation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "id", content = "arguments", rename_all = "kebab-case")]
pub enum Failure {
    /// The case has no samples.
    NoSamples,
    /// No sample of a metric is a finite number.
    NoFiniteSample {
        /// The metric.
        metric: String,
    },
    /// No I/O completed in the time that counts.
    NoIo,
    /// A tool cannot look for a rate by itself.
    ToolCannotSearch {
        /// The tool.
        by: String,
    },
    /// The case that measures a curve's maximum rate failed before.
    CurveWithoutMaximum,
    /// No rate was shown to keep the goal.
    NoRateKeepsGoal {
        /// The goal.
        goal: String,
        /// The last rate that was tried, where one was.
        last: Option<TriedRate>,
    },
    /// I/O failed.
    IoFailed {
        /// How many.
        count: u64,
        /// The first: `read`, `write` …
        operation: String,
        /// Where, in bytes.
        offset: u64,
        /// What it went to.
        target: String,
        /// What the kernel or the verifier said.
        causes: Vec<String>,
    },
    /// Operations on files failed.
    FileOperationFailed {
        /// How many.
        count: u64,
        /// The first: `create`, `read` …
        operation: String,
        /// The file or directory.
        path: String,
        /// What the kernel said.
        causes: Vec<String>,
    },
    /// A host's name has no address.
    UnknownHost {
        /// The name.
        host: String,
        /// What the resolver said.
        causes: Vec<String>,
    },
    /// It has none of the family asked for.
    NoAddress {
        /// The host.
        host: String,
    },
    /// The address counts on one link only, and names none that this host has.
    NoInterface {
        /// The address as it was given.
        host: String,
        /// Those of this host that it may name.
        interfaces: Vec<String>,
    },
    /// A connection was not made.
    NotConnected {
        /// Where: address and port.
        address: String,
        /// How it was not.
        how: Unreached,
        /// What the system said.
        causes: Vec<String>,
    },
    /// Streams are served there and no ping-pongs.
    NoPingPong {
        /// The host.
        host: String,
    },
    /// A test ended well and nothing arrived.
    NoData,
    /// Nothing moved any more.
    Stalled {
        /// The other end.
        peer: String,
        /// For so long.
        seconds: f64,
    },
    /// The far end serves somebody else.
    PeerBusy {
        /// The far end.
        peer: String,
    },
    /// The far end was stopped.
    PeerStopped {
        /// The far end.
        peer: String,
    },
    /// ICMP carries no streams.
    IcmpHasNoStreams,
    /// The host answers no ICMP echo.
    NoEcho,
    /// A solution's residual is too large.
    ResidualTooLarge {
        /// The scaled residual.
        residual: f64,
        /// What it must stay below.
        bound: f64,
    },
    /// The plan names an instruction set that this processor or version does not have.
    UnknownInstructionSet {
        /// The name.
        name: String,
    },
    /// Messages arrived with wrong contents.
    WrongContents {
        /// Size of the messages.
        bytes: u64,
    },
    /// A launcher of ranks could not be run.
    LauncherNotRun {
        /// The launcher.
        launcher: String,
        /// What was answered.
        causes: Vec<String>,
    },
    /// A rank died.
    RankDied {
        /// How: `signal 9 (killed)`, in the launcher's words.
        how: String,
        /// What starts the same by hand.
        by_hand: String,
    },
    /// A launch of ranks ended badly.
    LaunchFailed {
        /// Exit code; `None` = by a signal.
        code: Option<i32>,
        /// The last of what it printed.
        last_words: String,
        /// What starts the same by hand.
        by_hand: String,
    },
    /// The launch ended well and rank 0 wrote nothing.
    NoOutcome {
        /// Whether ranks ran on other hosts.
        elsewhere: bool,
    },
    /// Another assay ran on a rank.
    OtherVersion {
        /// Its version.
        found: String,
        /// Ours.
        own: String,
    },
    /// Another number of ranks took part.
    OtherRankCount {
        /// How many took part.
        found: usize,
        /// How many were requested.
        asked: u32,
        /// What starts the same by hand.
        by_hand: String,
    },
    /// The launch ended before all sizes were measured.
    LaunchBrokeOff {
        /// What starts the same by hand.
        by_hand: String,
    },
    /// It was not tried, as an earlier case found the host to lack what it needs.
    Skipped {
        /// The host.
        host: String,
        /// What it lacks.
        lack: Lack,
    },
    /// An action failed, with what was answered.
    Error {
        /// Which part failed.
        area: Area,
        /// What was answered, outermost first.
        causes: Vec<String>,
        /// What to do, where the part itself knows; the report has words for each area otherwise.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        advice: String,
    },
    /// In the words of a run that format 1 stored.
    #[serde(rename = "told")]
    Reported {
        /// What failed and why.
        reason: String,
        /// What to do.
        advice: String,
    },
}

/// A rate that was tried on the way to the maximum that keeps a goal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TriedRate {
    /// I/O per second that were requested.
    pub asked_per_s: f64,
    /// I/O per second that were reached.
    pub reached_per_s: f64,
    /// Share of I/O later than the goal.
    pub late: f64,
    /// Whether it is sure that the goal is missed; otherwise it is unclear.
    pub is_missed: bool,
}

/// How a connection was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unreached {
    /// Nothing listens there.
    Refused,
    /// Nothing was answered.
    TimedOut,
    /// Any other way.
    Other,
}

/// What a host can lack that several cases need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lack {
    /// An address.
    Address,
    /// Somebody who listens on this port.
    Port(u16),
    /// Somebody who answers ping-pongs.
    Echo,
    /// A way to the other end of a pair.
    Connection,
}

/// The part of the program that an error came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// The kernels of memory bandwidth.
    Stream,
    /// The kernels of memory latency.
    Latency,
    /// The multiply-add peak.
    PeakFlops,
    /// The linear system.
    Linpack,
    /// A library of matrix products.
    Blas,
    /// Storage.
    Storage,
    /// The load generator without I/O.
    Generator,
    /// The network.
    Network,
    /// ICMP's socket.
    Icmp,
    /// Verbs of RDMA.
    Rdma,
    /// A launcher of ranks.
    Launcher,
    /// A rank of a job of MPI.
    Rank,
    /// An official tool.
    Tool,
    /// A process that was started.
    Process,
    /// A folder for temporary files.
    TemporaryFolder,
    /// The program's own file.
    OwnProgram,
    /// Another host, or the way to it.
    Host,
}

impl Failure {
    /// Whether a connection or its far end gave up, so that what came before is as good as ever.
    #[must_use]
    pub const fn is_of_a_connection(&self) -> bool {
        matches!(
            self,
            Self::NotConnected { .. }
                | Self::Stalled { .. }
                | Self::PeerBusy { .. }
                | Self::PeerStopped { .. }
                | Self::NoEcho
                | Self::Error { area: Area::Network | Area::Icmp, .. }
        )
    }

    /// The stable name for scripts.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::NoSamples => "no-samples",
            Self::NoFiniteSample { .. } => "no-finite-sample",
            Self::NoIo => "no-io",
            Self::ToolCannotSearch { .. } => "tool-cannot-search",
            Self::CurveWithoutMaximum => "curve-without-maximum",
            Self::NoRateKeepsGoal { .. } => "no-rate-keeps-goal",
            Self::IoFailed { .. } => "io-failed",
            Self::FileOperationFailed { .. } => "file-operation-failed",
            Self::UnknownHost { .. } => "unknown-host",
            Self::NoAddress { .. } => "no-address",
            Self::NoInterface { .. } => "no-interface",
            Self::NotConnected { .. } => "not-connected",
            Self::NoPingPong { .. } => "no-ping-pong",
            Self::NoData => "no-data",
            Self::Stalled { .. } => "stalled",
            Self::PeerBusy { .. } => "peer-busy",
            Self::PeerStopped { .. } => "peer-stopped",
            Self::IcmpHasNoStreams => "icmp-has-no-streams",
            Self::NoEcho => "no-echo",
            Self::ResidualTooLarge { .. } => "residual-too-large",
            Self::UnknownInstructionSet { .. } => "unknown-instruction-set",
            Self::WrongContents { .. } => "wrong-contents",
            Self::LauncherNotRun { .. } => "launcher-not-run",
            Self::RankDied { .. } => "rank-died",
            Self::LaunchFailed { .. } => "launch-failed",
            Self::NoOutcome { .. } => "no-outcome",
            Self::OtherVersion { .. } => "other-version",
            Self::OtherRankCount { .. } => "other-rank-count",
            Self::LaunchBrokeOff { .. } => "launch-broke-off",
            Self::Skipped { .. } => "skipped",
            Self::Error { .. } => "error",
            Self::Reported { .. } => "told",
        }
    }

    /// The whole chain of what an error says, outermost first.
    #[must_use]
    pub fn causes(error: &(dyn std::error::Error + 'static)) -> Vec<String> {
        std::iter::successors(Some(error), |error| error.source())
            .map(ToString::to_string)
            .collect()
    }
}
