//! Results so far, printed at intervals while jobs run (`--status-interval`).
//!
//! Never measures: derives the outcome of the running phase from its intervals.

use std::time::{Duration, Instant};

use assay_dialects::fio::compile::FioPlan;
use assay_dialects::fio::outcome::FioOutcome;
use assay_dialects::fio::report;
use assay_dialects::fio::request::FioRequest;
use assay_dialects::fio::statistics::FioRunInfo;
use assay_model::engine_reason::EngineReason;
use assay_model::storage_outcome::{
    EndReason, IntervalTally, IoOperation, IoTally, StorageOutcome, StreamCount, StreamDetails,
    StreamTally,
};
use assay_run::storage::runner::StorageEvent;

/// Results so far.
#[derive(Debug)]
pub(super) struct StatusReports {
    every: Duration,
    next: Option<Instant>,
    /// Outcomes of the phases that ended, without single I/O.
    done: Vec<StorageOutcome>,
    /// Intervals of the running phase.
    intervals: Vec<IntervalTally>,
}

impl StatusReports {
    /// Creates the reports of a request; `None` if it has none.
    pub(super) fn from_request(request: &FioRequest) -> Option<Self> {
        let every = Duration::from_millis(request.status_interval_ms?);
        Some(Self { every, next: None, done: vec![], intervals: vec![] })
    }

    /// Notes an event; returns the results so far if they are due.
    pub(super) fn update(
        &mut self,
        (request, plan): (&FioRequest, &FioPlan),
        event: &StorageEvent<'_>,
        run_info: impl FnOnce() -> FioRunInfo,
    ) -> Option<String> {
        match event {
            StorageEvent::PhaseStarts { .. } => {
                let every = self.every;
                self.next.get_or_insert_with(|| Instant::now() + every);
            }
            StorageEvent::PhaseDone { outcome } => {
                self.done.push(without_journal(outcome));
                self.intervals.clear();
            }
            StorageEvent::PhaseFailed => {
                // The phases that follow keep their numbers.
                let details = stream_details(plan, self.done.len(), 0.0);
                self.done.push(ended_outcome(0.0, vec![], vec![], details));
                self.intervals.clear();
            }
            StorageEvent::Interval { tally } => {
                self.intervals.push((*tally).clone());
                let now = Instant::now();
                let next = self.next.filter(|next| now >= *next)?;
                self.next = Some((next + self.every).max(now));
                let mut outcomes = self.done.clone();
                outcomes.push(self.partial_outcome(plan));
                let outcome = FioOutcome::new(request, plan, &outcomes, run_info());
                return Some(report::render_status(&outcome, &request.output.formats));
            }
            StorageEvent::LayingOut { .. } | StorageEvent::PhaseReady { .. } => {}
        }
        None
    }

    /// Returns the outcome of the running phase so far.
    fn partial_outcome(&self, plan: &FioPlan) -> StorageOutcome {
        let phase = self.done.len();
        let rows =
            plan.reports.iter().filter(|row| row.parts.iter().any(|it| it.phase == phase));
        let is_one_entry = rows.count() == 1;
        let counted = || self.intervals.iter().filter(|interval| !interval.warmup);
        let elapsed_s = counted().map(|interval| interval.length_s).sum();
        let details = stream_details(plan, phase, elapsed_s);
        let mut tallies = vec![];
        for operation in [IoOperation::Read, IoOperation::Write] {
            if is_one_entry {
                let mut all = IoTally::empty();
                counted().for_each(|interval| all.merge(interval.tally_of(operation)));
                tallies.push(StreamTally { stream: 0, target: 0, operation, tally: all });
                continue;
            }
            // Intervals have the latencies of all entries together only.
            for stream in 0..details.len() {
                let mut sum = StreamCount::default();
                let own = counted().filter_map(|interval| interval.streams.get(stream));
                own.for_each(|count| sum.merge(count));
                tallies.push(StreamTally {
                    stream,
                    target: 0,
                    operation,
                    tally: counts_only(&sum, operation),
                });
            }
        }
        ended_outcome(elapsed_s, tallies, self.intervals.clone(), details)
    }
}

/// Returns the details of a phase's streams that were all active this long.
fn stream_details(plan: &FioPlan, phase: usize, active_s: f64) -> Vec<StreamDetails> {
    let workload = plan.plan.phases.get(phase).map(|phase| &phase.workload);
    let streams = workload.map_or(0, |workload| workload.streams.len());
    vec![StreamDetails { active_s, ..StreamDetails::default() }; streams]
}

/// Returns an outcome with these results and without errors.
fn ended_outcome(
    elapsed_s: f64,
    tallies: Vec<StreamTally>,
    intervals: Vec<IntervalTally>,
    streams: Vec<StreamDetails>,
) -> StorageOutcome {
    StorageOutcome {
        elapsed_s,
        open_s: 0.0,
        close_s: 0.0,
        tallies,
        intervals,
        cpu_user_s: 0.0,
        cpu_system_s: 0.0,
        engine: String::new(),
        engine_reason: EngineReason::AskedFor,
        errors: vec![],
        error_count: 0,
        not_started: 0,
        ended: EndReason::Time,
        streams,
    }
}

/// Copies an outcome without its single I/O, which may take gigabytes.
fn without_journal(outcome: &StorageOutcome) -> StorageOutcome {
    let details = |stream: &StreamDetails| StreamDetails {
        ended_early: stream.ended_early,
        errors: stream.errors.clone(),
        active_s: stream.active_s,
        syncs: stream.syncs.clone(),
        submissions: stream.submissions.clone(),
        completions: stream.completions.clone(),
        journal: vec![],
        batches: stream.batches,
        restarted_s: stream.restarted_s,
        never_measured: stream.never_measured,
        by_priority: stream.by_priority.clone(),
        found_depth: stream.found_depth,
    };
    StorageOutcome {
        tallies: outcome.tallies.clone(),
        intervals: outcome.intervals.clone(),
        engine: outcome.engine.clone(),
        engine_reason: outcome.engine_reason.clone(),
        errors: outcome.errors.clone(),
        streams: outcome.streams.iter().map(details).collect(),
        ..*outcome
    }
}

/// Returns a tally without latencies.
fn counts_only(count: &StreamCount, operation: IoOperation) -> IoTally {
    let (ios, bytes) = match operation {
        IoOperation::Read => (count.reads, count.read_bytes),
        IoOperation::Write => (count.writes, count.write_bytes),
    };
    IoTally { count: ios, bytes, ..IoTally::empty() }
}
