//! Outcome of one pass over parameter files: its events with their times, from which Vdbench's
//! console output and folder are written, live and from the store.

use assay_dialects::vdbench::RunLabel;
use assay_dialects::vdbench::output::files::FileTotals;
use assay_dialects::vdbench::output::{Average, StorageTotals};
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::storage_outcome::{IntervalTally, StorageOutcome};
use assay_model::workload::file_set::FileOperation;
use assay_model::workload::storage::StoragePhase;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::run_notes::RunNote;
use crate::stored_outcome::ToolOutcome;

/// Outcome of one pass.
#[derive(Debug, Serialize, Deserialize)]
pub struct VdbenchOutcome {
    /// Everything known before the first event.
    pub opening: VdbenchOpening,
    /// Events in order.
    pub events: Vec<TimedVdbenchEvent>,
    /// Whether all runs succeeded.
    pub is_complete: bool,
}

impl ToolOutcome for VdbenchOutcome {
    const TOOL: &'static str = super::LANGUAGE;
    const VERSION: u32 = 1;
}

/// Part of the output that is known before the first event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VdbenchOpening {
    /// Start in microseconds since 1970.
    pub began_us: i64,
    /// Output folder.
    pub output: String,
    /// Labels of all runs.
    pub runs: Vec<RunLabel>,
    /// Names of the hosts of a distributed execution.
    pub hosts: Vec<String>,
    /// Whether the runs are on file trees.
    pub is_on_trees: bool,
    /// File operations that have their own columns.
    pub operation_columns: Vec<FileOperation>,
    /// Parameter files: paths and contents.
    pub files: Vec<(String, String)>,
    /// Listing of all parsed lines.
    pub scan: String,
    /// Notes of the compilation.
    pub notes: Vec<String>,
}

/// Event and the time at which it is reported.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TimedVdbenchEvent {
    /// Microseconds since 1970.
    pub at_us: i64,
    pub event: VdbenchEvent,
}

/// Event of an execution.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VdbenchEvent {
    /// Note on something other than I/O.
    Note(RunNote),
    /// A run begins; `rate_per_s` in IO/s if it has a fixed rate.
    Starts { label: RunLabel, rate_per_s: Option<f64> },
    /// Part of one host in the interval that follows.
    HostInterval { host: String, tally: IntervalTally },
    /// Interval of the run's series.
    Interval(IntervalTally),
    /// The run ended, with its average if there is anything to report. `outcome` has totals only.
    Done {
        phase: Box<StoragePhase>,
        outcome: Box<StorageOutcome>,
        average: Option<Average<StorageTotals>>,
        is_stopped: bool,
    },
    /// A run on file trees begins; `rate_per_s` in operations per second if it has a fixed rate.
    TreesStart { label: RunLabel, rate_per_s: Option<f64> },
    /// Part of one host in the interval that follows.
    TreesHostInterval { host: String, interval: FileInterval },
    /// Interval of the run's series.
    TreesInterval(FileInterval),
    /// The run on file trees ended, with its average if there is anything to report.
    TreesDone {
        outcome: Box<FileOutcome>,
        average: Option<Box<Average<FileTotals>>>,
        is_stopped: bool,
    },
    /// The pass ended.
    End,
}

/// Receiver of events with their times.
pub type VdbenchListener<'l> = dyn FnMut(&TimedVdbenchEvent) + 'l;

/// Log of a pass, which passes every event to the listener.
pub(super) struct EventLog<'d, 'l> {
    listener: &'d mut VdbenchListener<'l>,
    pub(super) events: Vec<TimedVdbenchEvent>,
}

impl<'d, 'l> EventLog<'d, 'l> {
    pub(super) const fn new(listener: &'d mut VdbenchListener<'l>) -> Self {
        Self { listener, events: Vec::new() }
    }

    /// Reports and keeps an event.
    pub(super) fn add(&mut self, event: VdbenchEvent) {
        let event = TimedVdbenchEvent { at_us: now_us(), event };
        (self.listener)(&event);
        self.events.push(event);
    }

    /// Reports and keeps a note.
    pub(super) fn add_note(&mut self, note: RunNote) {
        self.add(VdbenchEvent::Note(note));
    }

    /// Whether the pass contains this note.
    pub(super) fn has_note(&self, note: &RunNote) -> bool {
        self.events.iter().any(|it| matches!(&it.event, VdbenchEvent::Note(has) if has == note))
    }
}

/// Returns the time in microseconds since 1970.
pub fn now_us() -> i64 {
    Timestamp::now().as_microsecond()
}
