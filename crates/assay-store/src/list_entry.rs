//! Values of the list of runs.

use assay_model::doubt::{Doubt, TrustLevel};
use assay_model::event::RunStatus;
use assay_model::quantity::Quantity;
use assay_model::run::Run;
use serde::{Deserialize, Serialize};

/// List of all runs of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct RunListing {
    /// Runs, newest first.
    pub runs: Vec<ListEntry>,
    /// Folders without a readable run, ascending.
    pub unreadable: Vec<UnreadableEntry>,
    /// Problems with the index, which only cost time.
    pub doubts: Vec<Doubt>,
}

/// Run in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListEntry {
    /// Identifier.
    pub id: String,
    /// User's name of the condition that was measured.
    pub label: Option<String>,
    /// User's note.
    #[serde(default)]
    pub note: Option<String>,
    /// Name of the suite.
    pub suite: String,
    /// Start as RFC 3339 time in UTC.
    pub started: String,
    /// End as RFC 3339 time in UTC.
    pub finished: Option<String>,
    /// Run that it follows, independent of the clock.
    #[serde(default)]
    pub after: Option<String>,
    /// Outcome.
    pub status: RunStatus,
    /// Whether a process is writing it now; its status is [`RunStatus::Unfinished`].
    #[serde(skip)]
    pub running: bool,
    /// Number of cases in the plan.
    pub cases_planned: usize,
    /// Number of cases with valid samples.
    pub cases_finished: usize,
    /// Number of cases that failed.
    pub cases_failed: usize,
    /// Name of the first host; empty if none joined.
    pub host: String,
    /// Number of further hosts.
    pub other_hosts: usize,
    /// Fingerprint of the host.
    pub fingerprint: String,
    /// Whether all of its written events can be read.
    pub is_whole: bool,
    /// Number of lost events.
    pub losses: u64,
    /// Most important values.
    pub headlines: Vec<Headline>,
    /// Level of trust in the values.
    pub trust: TrustLevel,
    /// Metrics of its results, sorted: `memory.stream/triad`.
    pub metrics: Vec<String>,
}

impl ListEntry {
    /// Whether the run has ended without any measured case.
    pub fn is_without_result(&self) -> bool {
        !self.running && self.status != RunStatus::Complete && self.cases_finished == 0
    }
}

/// Values of the list that are derived from the samples of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDigest {
    /// Most important values.
    pub headlines: Vec<Headline>,
    /// Level of trust in the values.
    pub trust: TrustLevel,
    /// Metrics of its results, each with its benchmark.
    pub metrics: Vec<String>,
}

/// A value with its name, for the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// Meaning: `Triad, node`.
    pub label: String,
    /// Value.
    pub quantity: Quantity,
}

/// Folder without a readable run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableEntry {
    /// Name of the folder.
    pub id: String,
    pub reason: String,
}

/// Function that condenses a run into headlines. The store itself does not evaluate samples.
#[derive(Debug, Clone, Copy)]
pub struct HeadlineSource {
    /// Version of the function; must change when its result for the same run would change.
    pub version: u32,
    /// Returns the values of a run.
    pub condense: fn(&Run) -> RunDigest,
}

impl HeadlineSource {
    /// No headlines.
    pub const NONE: Self = Self {
        version: 0,
        condense: |_| RunDigest {
            headlines: Vec::new(),
            trust: TrustLevel::Sound,
            metrics: Vec::new(),
        },
    };
}
