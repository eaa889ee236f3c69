//! Kinds of work that hosts can share: I/O on files and devices, or operations on file trees.

use std::collections::VecDeque;

use assay_fleet::remote::{AgentRequest, TreesPhase};
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::storage_outcome::{IntervalTally, StorageOutcome};
use assay_model::workload::file_set::FilePhase;
use assay_model::workload::storage::{StoragePhase, StorageTiming};

use super::{HostShare, trees};

/// Kind of work, from the coordinator's view.
pub(crate) trait SharedWork: Sized {
    /// Phase of this work.
    type Phase;
    /// Share of a host, if more than its outcome is needed for the merge.
    type Share;
    /// Interval of the series.
    type Interval: Clone;
    /// Outcome of a phase.
    type Outcome;

    /// Returns the share of a host, and the request for it.
    fn host_share(
        phase: &Self::Phase,
        places: &[usize],
        host: usize,
    ) -> Option<(Self::Share, AgentRequest)>;
    /// Returns the timing of a phase, and the pause before it in seconds.
    fn timing(phase: &Self::Phase) -> (&StorageTiming, f64);
    /// Returns the reports of a host.
    fn reports(reports: &mut HostReports) -> &mut PhaseReports<Self>;
    /// Merges the same interval of several hosts.
    fn merge_intervals(
        phase: &Self::Phase,
        parts: &[(&Self::Share, &Self::Interval)],
        start_s: f64,
    ) -> Option<Self::Interval>;
    /// Returns an interval without activity.
    fn idle_interval(like: &Self::Interval) -> Self::Interval;
    /// Returns the interval `own` with start and length of `all`.
    fn with_span(own: &Self::Interval, all: &Self::Interval) -> Self::Interval;
    /// Returns the length in seconds.
    fn length_s(interval: &Self::Interval) -> f64;
    /// Returns the bytes after the warm-up.
    fn bytes(interval: &Self::Interval) -> u64;
    /// Merges the outcomes of all hosts.
    fn merge_outcomes(
        phase: &Self::Phase,
        parts: Vec<(&str, &Self::Share, Self::Outcome)>,
        intervals: Vec<Self::Interval>,
    ) -> Option<Self::Outcome>;
}

/// Reports of a host about the current phase.
pub(crate) struct PhaseReports<K: SharedWork> {
    /// Intervals that are not merged yet.
    pub(super) intervals: VecDeque<K::Interval>,
    pub(super) outcome: Option<K::Outcome>,
}

impl<K: SharedWork> Default for PhaseReports<K> {
    fn default() -> Self {
        Self { intervals: VecDeque::new(), outcome: None }
    }
}

/// Reports of a host about the current phase, of either kind of work.
#[derive(Default)]
pub(crate) struct HostReports {
    pub(super) blocks: PhaseReports<BlockWork>,
    pub(super) trees: PhaseReports<TreeWork>,
}

/// I/O on files and devices.
pub(crate) enum BlockWork {}

impl SharedWork for BlockWork {
    type Phase = StoragePhase;
    type Share = HostShare;
    type Interval = IntervalTally;
    type Outcome = StorageOutcome;

    fn host_share(
        phase: &StoragePhase,
        places: &[usize],
        host: usize,
    ) -> Option<(HostShare, AgentRequest)> {
        let share = HostShare::for_host(&phase.workload, places, host)?;
        let own = StoragePhase { workload: share.workload.clone(), ..phase.clone() };
        Some((share, AgentRequest::Phase(Box::new(own))))
    }

    fn timing(phase: &StoragePhase) -> (&StorageTiming, f64) {
        (&phase.workload.timing, phase.pause_before_s)
    }

    fn reports(reports: &mut HostReports) -> &mut PhaseReports<Self> {
        &mut reports.blocks
    }

    fn merge_intervals(
        phase: &StoragePhase,
        parts: &[(&HostShare, &IntervalTally)],
        start_s: f64,
    ) -> Option<IntervalTally> {
        super::merge_intervals(parts, start_s, phase.workload.streams.len())
    }

    fn idle_interval(like: &IntervalTally) -> IntervalTally {
        super::idle_interval(like)
    }

    fn with_span(own: &IntervalTally, all: &IntervalTally) -> IntervalTally {
        IntervalTally { start_s: all.start_s, length_s: all.length_s, ..own.clone() }
    }

    fn length_s(interval: &IntervalTally) -> f64 {
        interval.length_s
    }

    fn bytes(interval: &IntervalTally) -> u64 {
        if interval.warmup { 0 } else { interval.reads.bytes + interval.writes.bytes }
    }

    fn merge_outcomes(
        phase: &StoragePhase,
        parts: Vec<(&str, &HostShare, StorageOutcome)>,
        intervals: Vec<IntervalTally>,
    ) -> Option<StorageOutcome> {
        super::merge_outcomes(parts, intervals, phase.workload.streams.len())
    }
}

/// Operations on file trees.
pub(crate) enum TreeWork {}

impl SharedWork for TreeWork {
    /// Phase with the maximum number of errors of a host.
    type Phase = (FilePhase, u64);
    type Share = ();
    type Interval = FileInterval;
    /// Outcome without its series, which is sent during the phase.
    type Outcome = FileOutcome;

    fn host_share(
        (phase, most_errors): &(FilePhase, u64),
        places: &[usize],
        host: usize,
    ) -> Option<((), AgentRequest)> {
        let phase = trees::host_share(phase, places, host)?;
        let own = TreesPhase { phase, most_errors: *most_errors };
        Some(((), AgentRequest::TreesPhase(Box::new(own))))
    }

    fn timing((phase, _): &(FilePhase, u64)) -> (&StorageTiming, f64) {
        // The caller of these phases already waits before them.
        (&phase.workload.timing, 0.0)
    }

    fn reports(reports: &mut HostReports) -> &mut PhaseReports<Self> {
        &mut reports.trees
    }

    fn merge_intervals(
        _: &(FilePhase, u64),
        parts: &[(&(), &FileInterval)],
        start_s: f64,
    ) -> Option<FileInterval> {
        let parts: Vec<&FileInterval> = parts.iter().map(|(_, it)| *it).collect();
        trees::merge_intervals(&parts, start_s)
    }

    fn idle_interval(like: &FileInterval) -> FileInterval {
        trees::idle_interval(like)
    }

    fn with_span(own: &FileInterval, all: &FileInterval) -> FileInterval {
        FileInterval { start_s: all.start_s, length_s: all.length_s, ..own.clone() }
    }

    fn length_s(interval: &FileInterval) -> f64 {
        interval.length_s
    }

    fn bytes(interval: &FileInterval) -> u64 {
        let tally = &interval.tally;
        if interval.warmup { 0 } else { tally.read_bytes + tally.written_bytes }
    }

    fn merge_outcomes(
        _: &(FilePhase, u64),
        parts: Vec<(&str, &(), FileOutcome)>,
        _: Vec<FileInterval>,
    ) -> Option<FileOutcome> {
        trees::merge_outcomes(
            parts.into_iter().map(|(host, (), outcome)| (host, outcome)).collect(),
        )
    }
}
