//! Other hosts, reached over any command that gives a pipe to a process there: `ssh {host}`, `srun -w {host}`,
//! `kubectl exec -i {host} --`, `ip netns exec {host}`, or a chain of them.
//!
//! [`controller::ask`] starts the command once for each host, has a shell at its far end start an agent
//! ([`bootstrap`]), and asks it. The agent is this same program ([`agent::serve`]). Nothing listens on a port,
//! nothing is installed, and nothing is left behind: when the pipe closes, or nothing comes through it for longer than
//! the coordinator itself would wait, the agent ends.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::SystemTime;

use assay_model::event::RunEvent;
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
use assay_model::workload::file_set::{FilePhase, FilePlan};
use assay_model::workload::storage::{StoragePhase, StoragePlan};
use serde::{Deserialize, Serialize};

pub mod agent;
pub mod agents;
mod bootstrap;
pub mod calls;
pub mod controller;
mod endings;
mod failure;
pub mod frame;
mod line;
mod listener;
mod program;
pub mod relay;
mod stderr;

pub use calls::Letter;
pub use failure::HostFailure;
pub use frame::FrameError;
pub use program::{Program, ProgramError};
use relay::{Passed, RelayAsked};

/// What an agent is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// The time of its clocks.
    Clock,
    /// The checks of `assay doctor`.
    Examine,
    /// A run: its plan first, then everything that is measured.
    Run(RunAsked),
    /// What is at these paths.
    Look(#[serde(with = "path_text::each")] Vec<PathBuf>),
    /// A share of a job whose I/O several hosts do: its files are made, and its phases follow one by one.
    Share(Box<ShareAsked>),
    /// A phase of it, which waits for a start.
    Phase(Box<StoragePhase>),
    /// The same of a job on trees of files: they are prepared, and its phases follow one by one.
    Trees(Box<TreesAsked>),
    /// A phase of it, which waits for a start.
    TreesPhase(Box<TreesPhase>),
    /// The phase ends as if its work were done.
    Enough,
    /// What waits at a gate goes on when the clock of measurements shows this many nanoseconds.
    Start(u64),
    /// What is being done ends, in good order.
    Stop,
    /// The other end is still there.
    Alive,
    /// What another agent of the run says.
    Letter(Letter),
    /// This host has left the run.
    Gone(String),
    /// To reach these hosts, and to hand on what is said to them and by them.
    Relay(RelayAsked),
    /// To one of them, by its number.
    To(usize, Box<Self>),
    /// The pipe to one of them is to be closed.
    Leave(usize),
}

/// A run as it was asked for here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAsked {
    /// What this run calls the host.
    pub host: String,
    /// The words after the name of the program.
    pub words: Vec<String>,
    /// The texts of suites that are files, by their names.
    pub suites: BTreeMap<String, String>,
    /// What everything random follows from.
    pub seed: u64,
    /// The pairs in which it begins, where questions about the network go to pairs of hosts.
    pub pairs: Option<PairChoices>,
}

/// What one host does of a storage job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShareAsked {
    /// Its targets and streams, phase by phase.
    pub plan: StoragePlan,
    /// Devices and foreign files that may be overwritten.
    #[serde(with = "path_text::each")]
    pub destroy_data: Vec<PathBuf>,
    /// Whether targets may be on the root's file system where a volume should be mounted.
    pub target_on_root: bool,
    /// Whether the first phase makes the files that it writes.
    pub writers_make_files: bool,
}

/// Trees of files that one host prepares, or finds prepared by others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreesAsked {
    /// The trees and what is done to them, phase by phase.
    pub plan: FilePlan,
    /// Folders whose files may be overwritten.
    #[serde(with = "path_text::each")]
    pub destroy_data: Vec<PathBuf>,
    /// Whether trees may be on the root's file system where a volume should be mounted.
    pub target_on_root: bool,
    /// Whether missing folders above those of the trees are made.
    pub makes_above: bool,
    /// The marks of the trees where other hosts have prepared them; `None` = this one does.
    pub prepared: Option<Vec<TreeMark>>,
}

/// A phase on trees of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreesPhase {
    /// What is done.
    pub phase: FilePhase,
    /// It ends when so many operations have failed.
    pub most_errors: u64,
}

/// The mark of a tree as a host sees it: two hosts that see the same one have the same folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeMark {
    /// The folder of the tree.
    #[serde(with = "path_text")]
    pub anchor: PathBuf,
    /// The number of the mark in its file system, the same for all clients of a network file system.
    pub inode: u64,
    /// When it was written: seconds since 1970 and nanoseconds.
    pub changed: (i64, i64),
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtPath {
    /// Its size.
    pub bytes: u64,
    /// Whether it is a block device.
    pub is_device: bool,
}

/// What an agent says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The first word of every agent: the hash of its program and its version.
    Hello(String),
    /// What its clocks show.
    Clock(Clocks),
    /// What the checks found.
    Examined(Box<Examined>),
    /// What was asked could not be done.
    Failed { reason: String, advice: String },
    /// It would measure this. It goes on when it is told to start.
    Planned(Box<Plan>),
    /// What is at the paths that were asked about.
    Looked(Vec<Option<AtPath>>),
    /// One entry of the series of a phase.
    Interval(Box<IntervalTally>),
    /// A phase is over.
    Outcome(Box<StorageOutcome>),
    /// The trees are prepared; these are the marks of those that are written.
    Marks(Vec<TreeMark>),
    /// One entry of the series of a phase on trees of files.
    TreesInterval(Box<FileInterval>),
    /// Such a phase is over.
    TreesOutcome(Box<FileOutcome>),
    /// It waits for a start.
    Ready(Ready),
    /// It went on when its clock of measurements showed this.
    Started(u64),
    /// Something happened.
    Event(Box<RunEvent>),
    /// A raw output, in base64; the event that names it follows.
    Raw(String),
    /// Something worth a line.
    Note(Phrase),
    /// What the last second of a measurement was like.
    Second(SecondSaid),
    /// To another agent of the run.
    Letter(Letter),
    /// One of the hosts that a relay reaches, by its number.
    Of(usize, Passed),
    /// It is still there.
    Alive,
    /// Everything that was asked is done.
    Done,
}

/// What a host did in about a second, for those who look on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondSaid {
    /// The case, as the host calls it.
    pub case: String,
    /// Seconds since it began.
    pub at_s: f64,
    /// How much it was.
    pub rates: Vec<Quantity>,
    /// Mean time of one I/O, or the round trip of the connections.
    pub latency_s: Option<f64>,
    /// Busy share of the host's CPUs, 0 … 1.
    pub cpu: Option<f64>,
}

/// The clocks of a host, read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// Nanoseconds since 1970.
    pub day_ns: u64,
    /// Nanoseconds of the clock of measurements, which nobody sets.
    pub measuring_ns: u64,
}

impl Clocks {
    /// What the day's clock shows, and `measuring_ns` of the other one.
    #[must_use]
    pub fn with(measuring_ns: u64) -> Self {
        let day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { day_ns: u64::try_from(day.as_nanos()).unwrap_or(u64::MAX), measuring_ns }
    }
}

/// Where a host waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The cases that are next, or the one that goes on.
    pub cases: Vec<String>,
    /// Steps of the case that have begun.
    pub step: u32,
    /// What its clock of measurements showed when its run began.
    pub run_started_ns: u64,
}

/// What `assay doctor` sees of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Examined {
    /// Facts of the host.
    pub host: HostFacts,
    /// One for each check.
    pub findings: Vec<DoctorFinding>,
    /// Its network devices.
    pub network: NetworkSetup,
}

/// The command that gives a pipe to a process on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Via {
    usual: Vec<String>,
    /// Of hosts that have their own.
    own: BTreeMap<String, Vec<String>>,
}

/// Why a template cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ViaError {
    #[error("it does not say where the host's name goes: write {{host}}, as in 'ssh {{host}}'")]
    NoHost,
    #[error("a quotation mark is not closed")]
    Quotes,
}

impl Via {
    /// Words as a shell would split them; `{host}` stands for the name of the host.
    ///
    /// # Errors
    /// [`ViaError`].
    pub fn parse(template: &str) -> Result<Self, ViaError> {
        let words = shlex::split(template).ok_or(ViaError::Quotes)?;
        let names_host = words.iter().any(|word| word.contains("{host}"));
        let via = Self { usual: words, own: BTreeMap::new() };
        if names_host { Ok(via) } else { Err(ViaError::NoHost) }
    }

    /// Every one of these hosts has a command of its own.
    #[must_use]
    pub fn of_each(own: BTreeMap<String, Vec<String>>) -> Self {
        Self { usual: vec!["{host}".to_owned()], own }
    }

    /// One host has the command of another template.
    pub fn lead(&mut self, host: &str, other: &Self) {
        self.own.insert(host.to_owned(), other.words(host));
    }

    /// The words for one host.
    #[must_use]
    pub fn words(&self, host: &str) -> Vec<String> {
        let own = self.own.get(host).cloned();
        own.unwrap_or_else(|| {
            self.usual.iter().map(|word| word.replace("{host}", host)).collect()
        })
    }
}

/// The version of both ends, which speak the same messages only if it is the same.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A word that nothing else prints into the pipe.
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
    fn templates_are_split_as_a_shell_does() {
        let via = Via::parse("ssh -o 'ProxyCommand=nc %h' adm@{host}").unwrap();
        assert_eq!(via.words("vm1"), ["ssh", "-o", "ProxyCommand=nc %h", "adm@vm1"]);
        assert_eq!(Via::parse("sudo"), Err(ViaError::NoHost));
        assert_eq!(Via::parse("ssh '{host}"), Err(ViaError::Quotes));
    }
}
