//! Failures: reasons why a case has no result, as identifiers with typed arguments. The report
//! generates the texts.
//!
//! `causes` are messages of the system, a library or a tool, stored verbatim, outermost first.

pub mod os_error;

use serde::{Deserialize, Serialize};

/// Reason why a case failed. The variants document the identifiers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "id", content = "arguments", rename_all = "kebab-case")]
pub enum FailureReason {
    /// The case has no samples.
    NoSamples,
    /// No sample of a metric is a finite number.
    NoFiniteSample {
        /// The metric.
        metric: String,
    },
    /// No I/O completed in the measured time.
    NoIo,
    /// A tool cannot search for a rate.
    ToolCannotSearch {
        /// The tool.
        by: String,
    },
    /// An earlier case, which measures the curve's maximum rate, failed.
    CurveWithoutMaximum,
    /// No rate was shown to meet the goal.
    NoRateKeepsGoal {
        goal: String,
        /// The last rate that was tried, if any.
        last: Option<TriedRate>,
    },
    /// I/O failed.
    IoFailed {
        /// Number of failed I/O.
        count: u64,
        /// Operation of the first: `read`, `write` …
        operation: String,
        /// Offset in bytes.
        offset: u64,
        target: String,
        /// Error of the kernel or the verifier.
        causes: Vec<String>,
    },
    /// Operations on files failed.
    FileOperationFailed {
        /// Number of failed operations.
        count: u64,
        /// Kind of the first: `create`, `read` …
        operation: String,
        /// The file or directory.
        path: String,
        /// Error of the kernel.
        causes: Vec<String>,
    },
    /// A host's name has no address.
    UnknownHost {
        /// The name.
        host: String,
        /// Error of the resolver.
        causes: Vec<String>,
    },
    /// A host has no address of the requested family.
    NoAddress {
        /// The host.
        host: String,
    },
    /// A link-local address without an interface of this host.
    NoInterface {
        /// The address as the user gave it.
        host: String,
        /// Interfaces of this host that it may name.
        interfaces: Vec<String>,
    },
    /// A connection could not be established.
    NotConnected {
        /// Address and port.
        address: String,
        /// Kind of the problem.
        how: ConnectFailure,
        /// Error of the system.
        causes: Vec<String>,
    },
    /// The host serves streams but no ping-pong.
    NoPingPong {
        /// The host.
        host: String,
    },
    /// A test succeeded, but no data arrived.
    NoData,
    /// No data moved for some time.
    Stalled {
        /// The other end.
        peer: String,
        /// Time without progress.
        seconds: f64,
    },
    /// The far end is busy with another client.
    PeerBusy {
        /// The far end.
        peer: String,
    },
    /// The far end was stopped.
    PeerStopped {
        /// The far end.
        peer: String,
    },
    IcmpHasNoStreams,
    /// The host does not reply to ICMP echo requests.
    NoEcho,
    /// A solution's residual is too large.
    ResidualTooLarge {
        /// The scaled residual.
        residual: f64,
        /// Upper bound of the residual.
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
    /// A launcher of ranks could not be started.
    LauncherNotRun {
        /// The launcher.
        launcher: String,
        /// Error of the launcher.
        causes: Vec<String>,
    },
    RankDied {
        /// Kind of death in the launcher's wording: `signal 9 (killed)`.
        how: String,
        /// Command line that reproduces the launch.
        by_hand: String,
    },
    /// A launch of ranks failed.
    LaunchFailed {
        /// Exit code; `None` = by a signal.
        code: Option<i32>,
        /// End of the launcher's output.
        last_words: String,
        /// Command line that reproduces the launch.
        by_hand: String,
    },
    /// The launch succeeded, but rank 0 wrote no result.
    NoOutcome {
        /// Whether ranks ran on other hosts.
        elsewhere: bool,
    },
    /// A rank ran another version of assay.
    OtherVersion {
        /// Its version.
        found: String,
        /// Version of this assay.
        own: String,
    },
    /// The number of ranks differs from the requested one.
    OtherRankCount {
        /// Actual number.
        found: usize,
        /// Requested number.
        asked: u32,
        /// Command line that reproduces the launch.
        by_hand: String,
    },
    /// The launch ended before all sizes were measured.
    LaunchBrokeOff {
        /// Command line that reproduces the launch.
        by_hand: String,
    },
    /// The case was skipped, because an earlier case found that the host lacks a requirement.
    Skipped {
        /// The host.
        host: String,
        /// The missing requirement.
        lack: MissingHostFeature,
    },
    /// An action failed with an error.
    Error {
        /// Part of the program that failed.
        area: ErrorArea,
        /// Messages of the error, outermost first.
        causes: Vec<String>,
        /// Advice for the user; empty = the report's general advice for the area.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        advice: String,
    },
}

/// Rate that was tried in a search for the maximum that meets a goal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TriedRate {
    /// Requested I/O per second.
    pub asked_per_s: f64,
    /// Reached I/O per second.
    pub reached_per_s: f64,
    /// Share of I/O later than the goal.
    pub late: f64,
    /// Whether the goal is certainly missed; otherwise the result is unclear.
    pub is_missed: bool,
}

/// Kind of a failed connection attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectFailure {
    /// The port is closed.
    Refused,
    /// The port is closed on which a server for tests of connections was expected.
    RefusedConnections,
    /// Timeout without a reply.
    TimedOut,
    /// Any other error.
    Other,
}

/// Requirement of several cases that a host can lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingHostFeature {
    /// An address.
    Address,
    /// A listener on this port.
    Port(u16),
    /// A ping-pong server.
    Echo,
    /// A path to the other end of a pair.
    Connection,
}

/// Part of the program that an error came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorArea {
    /// The kernels of memory bandwidth.
    Stream,
    /// The pinned threads of a kernel.
    Threads,
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
    /// The ICMP socket.
    Icmp,
    /// Verbs of RDMA.
    Rdma,
    /// A launcher of ranks.
    Launcher,
    /// A rank of an MPI job.
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

impl FailureReason {
    /// Whether a connection or its far end failed, so that earlier results are valid.
    pub const fn is_connection_failure(&self) -> bool {
        matches!(
            self,
            Self::NotConnected { .. }
                | Self::Stalled { .. }
                | Self::PeerBusy { .. }
                | Self::PeerStopped { .. }
                | Self::NoEcho
                | Self::Error { area: ErrorArea::Network | ErrorArea::Icmp, .. }
        )
    }

    /// Returns the stable name for scripts.
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
        }
    }

    /// Returns the messages of an error and its sources, outermost first.
    pub fn error_chain(error: &(dyn std::error::Error + 'static)) -> Vec<String> {
        std::iter::successors(Some(error), |error| error.source())
            .map(ToString::to_string)
            .collect()
    }

    /// Returns the messages of an error and its sources in one line.
    pub fn error_line(error: &(dyn std::error::Error + 'static)) -> String {
        Self::error_chain(error).join(": ")
    }
}
