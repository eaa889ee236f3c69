//! What the list of runs consists of. Values only.

use assay_model::doubt::Doubt;
use assay_model::event::Status;
use assay_model::quantity::Quantity;
use assay_model::run::Run;
use serde::{Deserialize, Serialize};

/// All runs of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Newest first.
    pub runs: Vec<Listed>,
    /// Folders that hold no readable run, ascending.
    pub unreadable: Vec<Unreadable>,
    /// Trouble with the index, which cost time and nothing else.
    pub doubts: Vec<Doubt>,
}

/// One run in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Identifier.
    pub id: String,
    /// What the user calls the condition it was measured under.
    pub label: Option<String>,
    /// What the user says about the run.
    #[serde(default)]
    pub note: Option<String>,
    /// Name of the suite.
    pub suite: String,
    /// RFC 3339 time in UTC.
    pub started: String,
    /// RFC 3339 time in UTC.
    pub finished: Option<String>,
    /// The run it comes after, whatever the clock showed.
    #[serde(default)]
    pub after: Option<String>,
    /// How it ended.
    pub status: Status,
    /// Some process is writing it now; its status is [`Status::Unfinished`].
    #[serde(skip)]
    pub running: bool,
    /// Cases in the plan.
    pub cases_planned: usize,
    /// Cases whose samples count.
    pub cases_finished: usize,
    /// Cases that failed.
    pub cases_failed: usize,
    /// Name of the first host; empty where none joined.
    pub host: String,
    /// How many more there are.
    pub other_hosts: usize,
    /// Fingerprint of the host.
    pub fingerprint: String,
    /// Whether everything that was written can be read.
    pub is_whole: bool,
    /// How many events are lost.
    pub losses: u64,
    /// The few values a reader wants to see first.
    pub headlines: Vec<Headline>,
    /// Whether they can be relied on.
    pub is_trusted: bool,
}

/// A value with its name, for the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// What it is: `Triad, node`.
    pub label: String,
    /// The value.
    pub quantity: Quantity,
}

/// A folder that holds no readable run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its name.
    pub id: String,
    /// Why it cannot be read.
    pub reason: String,
}

/// Who condenses a run into headlines. The store itself draws no conclusions from samples.
#[derive(Debug, Clone, Copy)]
pub struct Headlines {
    /// Changes whenever `of` would say something else about the same run.
    pub version: u32,
    /// What to show of a run, and whether it can be relied on.
    pub of: fn(&Run) -> (Vec<Headline>, bool),
}

impl Headlines {
    /// No headlines.
    pub const NONE: Self = Self { version: 0, of: |_| (Vec::new(), true) };
}
