//! Remote hosts, reached over any command that connects pipes to a process there: `ssh {host}`,
//! `srun -w {host}`, `kubectl exec -i {host} --`, `ip netns exec {host}`, or a chain of them.
//!
//! [`examination::examine_hosts`] starts the command once per host, has a shell at its far end start
//! an agent ([`bootstrap`]), and sends requests to it. The agent is this same program
//! ([`agent::serve`]). Nothing listens on a port, nothing is installed, and nothing is left behind:
//! the agent failed when its pipe closes, or when it receives nothing for longer than the
//! coordinator's own timeout.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::SystemTime;

use assay_model::event::RunEvent;
use assay_model::factor::FactorLevel;
use assay_model::facts::HostFacts;
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::finding::DoctorFinding;
use assay_model::network_setup::NetworkSetup;
use assay_model::path_text;
use assay_model::phrase::Phrase;
use assay_model::plan::Plan;
use assay_model::plan::expand::PairChoices;
use assay_model::quantity::Quantity;
use assay_model::storage_outcome::{IntervalTally, StorageOutcome};
use assay_model::suite::factorial::Factor;
use assay_model::workload::file_set::{FilePhase, FilePlan};
use assay_model::workload::storage::{StoragePhase, StoragePlan};
use serde::{Deserialize, Serialize};

pub mod agent;
pub mod agents;
mod bootstrap;
pub mod calls;
mod closing_agents;
pub mod connection_options;
pub mod coordinator_link;
pub mod examination;
mod failure;
pub mod frame;
pub mod host_events;
mod listener;
mod open_calls;
mod program;
pub mod relay;
mod stderr;
mod transport;

pub use calls::RelayedMessage;
use connection_options::RelayRequest;
pub use failure::HostFailure;
pub use frame::FrameError;
pub use program::{Program, ProgramError};
use relay::RelayedEvent;

/// Request to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentRequest {
    /// Read the clocks.
    Clock,
    /// Run the checks of `assay doctor`.
    Examine,
    /// Take part in a run: send the plan first, then measure.
    Run(RemoteRunRequest),
    /// Apply levels of factors, or restore the earlier state.
    Condition(Box<ConditionRequest>),
    /// Stat these paths.
    Look(#[serde(with = "path_text::each")] Vec<PathBuf>),
    /// Do a share of a storage job of several hosts: create its files, then wait for the phases.
    Share(Box<ShareRequest>),
    /// Run a storage phase after its start message.
    Phase(Box<StoragePhase>),
    /// Take part in a job on file trees: prepare them, then wait for the phases.
    Trees(Box<TreesRequest>),
    /// Run a file-tree phase after its start message.
    TreesPhase(Box<TreesPhase>),
    /// End the phase as if its work were done.
    Enough,
    /// Use at most these seconds for the case that the next start message begins; 0 leaves it out.
    Grant(f64),
    /// Start the waiting work when the monotonic clock shows this many nanoseconds.
    Start(u64),
    /// Cancel the current work in good order.
    Stop,
    /// Heartbeat of the other end.
    Alive,
    /// Message from another agent of the run.
    Letter(RelayedMessage),
    /// This host has left the run.
    Gone(String),
    /// Connect to these hosts, and relay messages to and from them.
    Relay(RelayRequest),
    /// Message to one of the relay's hosts, by its number.
    To(usize, Box<Self>),
    /// Close the pipe to one of the relay's hosts.
    Leave(usize),
}

/// Run as requested at the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteRunRequest {
    /// Name of the host in this run.
    pub host: String,
    /// Command-line arguments after the program name.
    pub words: Vec<String>,
    /// Contents of suite files by name.
    pub suites: BTreeMap<String, String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Pairs that the host begins, if network benchmarks measure between pairs of hosts.
    pub pairs: Option<PairChoices>,
    /// Levels of this turn, if the suite has factors.
    pub turn: Option<RemoteTurn>,
}

/// Turn of a suite with factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteTurn {
    /// A level of each factor.
    pub levels: Vec<FactorLevel>,
    /// Time budget of the turn in seconds.
    pub budget_s: f64,
}

/// Request to apply levels of factors on a host; the agent restores them when its pipe closes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionRequest {
    /// Name of the record of the commands that restore, in the host's own store.
    pub record: String,
    /// Factors with their commands.
    pub factors: Vec<Factor>,
    /// A level of each factor; `None` to restore.
    pub levels: Option<Vec<FactorLevel>>,
    /// Seconds to wait after a command, until the change has settled.
    pub settle_s: f64,
}

/// Share of one host of a storage job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShareRequest {
    /// Targets and streams, phase by phase.
    pub plan: StoragePlan,
    /// Devices and foreign files that may be overwritten.
    #[serde(with = "path_text::each")]
    pub destroy_data: Vec<PathBuf>,
    /// Whether targets may be on the root file system at the place of a missing volume.
    pub target_on_root: bool,
    /// Whether the first phase creates the files that it writes.
    pub writers_make_files: bool,
}

/// File trees that one host prepares, or finds prepared by others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreesRequest {
    /// Trees and their operations, phase by phase.
    pub plan: FilePlan,
    /// Folders whose files may be overwritten.
    #[serde(with = "path_text::each")]
    pub destroy_data: Vec<PathBuf>,
    /// Whether trees may be on the root file system at the place of a missing volume.
    pub target_on_root: bool,
    /// Whether to create missing parent folders of the trees.
    pub makes_above: bool,
    /// Marks of trees prepared by other hosts; `None` = this host prepares them.
    pub prepared: Option<Vec<TreeMark>>,
}

/// Phase on file trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreesPhase {
    /// Operations of the phase.
    pub phase: FilePhase,
    /// Number of failed operations that ends the phase.
    pub most_errors: u64,
}

/// Mark of a tree as seen by a host; hosts with equal marks share the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeMark {
    /// Folder of the tree.
    #[serde(with = "path_text")]
    pub anchor: PathBuf,
    /// Inode of the mark, the same for all clients of a network file system.
    pub inode: u64,
    /// Write time: seconds since 1970 and nanoseconds.
    pub changed: (i64, i64),
}

/// File or device at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemotePathInfo {
    /// Size.
    pub bytes: u64,
    /// Whether it is a block device.
    pub is_device: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentReply {
    /// First message of every agent: hash of its program and version.
    Hello(String),
    /// Readings of its clocks.
    Clock(Clocks),
    /// Findings of the checks.
    Examined(Box<DoctorResults>),
    /// Failure of the request.
    Failed { reason: String, advice: String },
    /// Plan of the host, which waits for the start.
    Planned(Box<Plan>),
    /// Files and devices at the requested paths.
    Looked(Vec<Option<RemotePathInfo>>),
    /// Interval of the time series of a storage phase.
    Interval(Box<IntervalTally>),
    /// Result of a storage phase.
    Outcome(Box<StorageOutcome>),
    /// Marks of the written trees; the trees are prepared.
    Marks(Vec<TreeMark>),
    /// Interval of the time series of a file-tree phase.
    TreesInterval(Box<FileInterval>),
    /// Result of a file-tree phase.
    TreesOutcome(Box<FileOutcome>),
    /// The host waits for a start.
    Ready(ReadyReport),
    /// Monotonic clock reading at the start of the work.
    Started(u64),
    /// Event of the run.
    Event(Box<RunEvent>),
    /// Raw output in base64; the event that names it follows.
    Raw(String),
    /// Progress note to display.
    Note(Phrase),
    /// Figures of the last second of a measurement.
    Second(SecondReport),
    /// Message to another agent of the run.
    Letter(RelayedMessage),
    /// Event of one of the relay's hosts, by its number.
    Of(usize, RelayedEvent),
    /// Heartbeat.
    Alive,
    /// The request is complete.
    Done,
}

/// Activity of a host in about one second, for progress displays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondReport {
    /// Case, as named by the host.
    pub case: String,
    /// Seconds since the case began.
    pub at_s: f64,
    /// Measured rates.
    pub rates: Vec<Quantity>,
    /// Mean latency of I/O, or round-trip time of the connections.
    pub latency_s: Option<f64>,
    /// Busy share of the host's CPUs, 0 … 1.
    pub cpu: Option<f64>,
}

/// Clock readings of a host, taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// Wall clock: nanoseconds since 1970.
    pub day_ns: u64,
    /// Monotonic clock in nanoseconds, which is never set.
    pub measuring_ns: u64,
}

impl Clocks {
    /// Reads the wall clock and pairs it with `measuring_ns`.
    pub fn read(measuring_ns: u64) -> Self {
        let day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { day_ns: u64::try_from(day.as_nanos()).unwrap_or(u64::MAX), measuring_ns }
    }
}

/// Point at which a host waits for a start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyReport {
    /// Next cases, or the running case with further steps.
    pub cases: Vec<String>,
    /// Number of steps of the case that have begun.
    pub step: u32,
    /// Monotonic clock reading at the start of the run.
    pub run_started_ns: u64,
}

/// Results of `assay doctor` on a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DoctorResults {
    /// Facts of the host.
    pub host: HostFacts,
    /// Findings, one for each check.
    pub findings: Vec<DoctorFinding>,
    /// Network devices.
    pub network: NetworkSetup,
}

/// Transport command for each host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Via {
    usual: Vec<String>,
    /// Commands of hosts with their own.
    own: BTreeMap<String, Vec<String>>,
}

/// Error in a transport template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ViaError {
    #[error(
        "the placeholder {{host}} is missing: write it where the host's name goes, as in 'ssh {{host}}'"
    )]
    NoHost,
    #[error("a quotation mark is not closed")]
    UnclosedQuote,
}

impl Via {
    /// Splits a template like a shell; `{host}` is replaced by the name of the host.
    pub fn parse(template: &str) -> Result<Self, ViaError> {
        let words = shlex::split(template).ok_or(ViaError::UnclosedQuote)?;
        let names_host = words.iter().any(|word| word.contains("{host}"));
        let via = Self { usual: words, own: BTreeMap::new() };
        if names_host { Ok(via) } else { Err(ViaError::NoHost) }
    }

    /// Creates a transport with a separate command for each host.
    pub fn with_host_commands(own: BTreeMap<String, Vec<String>>) -> Self {
        Self { usual: vec!["{host}".to_owned()], own }
    }

    /// Sets the command of one host from another template.
    pub fn set_host_command(&mut self, host: &str, other: &Self) {
        self.own.insert(host.to_owned(), other.words(host));
    }

    /// Returns the command words for one host.
    pub fn words(&self, host: &str) -> Vec<String> {
        let own = self.own.get(host).cloned();
        own.unwrap_or_else(|| {
            self.usual.iter().map(|word| word.replace("{host}", host)).collect()
        })
    }
}

/// Version of this program; both ends must have the same one.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Creates a unique word that no other output in the pipe contains.
fn nonce() -> String {
    let mut seed = String::new();
    let now = SystemTime::now();
    write!(seed, "{now:?} {:?} {}", std::thread::current().id(), std::process::id())
        .expect("a string takes everything");
    blake3::hash(seed.as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_templates_like_a_shell() {
        let via = Via::parse("ssh -o 'ProxyCommand=nc %h' adm@{host}").unwrap();
        assert_eq!(via.words("vm1"), ["ssh", "-o", "ProxyCommand=nc %h", "adm@vm1"]);
        assert_eq!(Via::parse("sudo"), Err(ViaError::NoHost));
        assert_eq!(Via::parse("ssh '{host}"), Err(ViaError::UnclosedQuote));
    }
}
