//! Runs on files and devices: rates that depend on earlier runs, ends of curves, and the verdict.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_dialects::vdbench::RunLabel;
use assay_dialects::vdbench::output::{Average, StorageTotals};
use assay_model::attribute::Attribute;
use assay_model::entry::MeasurementEntry;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{
    AccessPattern, AtEnd, StorageLoad, StoragePhase, StoragePlan, StorageWorkload,
};

use super::ending::{self, Ending};
use super::reported::Reported;
use super::{
    Listener, Next, Notice, Over, Underway, alone, around, averaged, one_after_another,
};
use crate::failure::CommandFailure;
use crate::recording::Recording;
use crate::storage::options::RunOptions;
use crate::storage::runner::{self, StorageEvent};
use crate::storage::shares::sharers::{Blocks, Event, Sharers};
use crate::storage::{series, volume};

/// Executes all runs of the plan once.
pub(super) fn all(
    underway: &mut Underway<'_, '_, '_>,
    recording: &mut Recording<'_>,
) -> Result<(), CommandFailure> {
    let phases = &underway.question.execution.plan.phases;
    let done = vec![None; phases.len()];
    let options = underway.question.options.clone();
    let mut runs = Runs { underway, recording, options, done };
    let bases: Vec<_> = phases.iter().map(base).collect();
    one_after_another(&bases, |index| {
        let next = runs.one(index)?;
        // Only the first run is known to fill the files it creates.
        runs.options.writers_make_files = false;
        Ok(next)
    })?;
    runs.underway.no_errors("I/O")
}

/// Runs with the rates that they reached.
struct Runs<'r, 'd, 'l, 'h, 's> {
    underway: &'r mut Underway<'d, 'l, 'h>,
    recording: &'r mut Recording<'s>,
    options: RunOptions,
    done: Vec<Option<Reached>>,
}

/// Result of one run.
struct Done {
    outcome: StorageOutcome,
    /// Reason for an early end.
    end: Option<Reported>,
    /// Additional entries to store.
    entries: Vec<MeasurementEntry>,
}

/// Rates of a run, for the runs that depend on it.
#[derive(Debug, Clone)]
pub(super) struct Reached {
    rate_per_s: f64,
    /// Share of each stream.
    shares: Vec<f64>,
}

impl Runs<'_, '_, '_, '_, '_> {
    fn one(&mut self, index: usize) -> Result<Next, CommandFailure> {
        let execution = self.underway.question.execution;
        let (phase, label) = (&execution.plan.phases[index], &execution.runs[index]);
        let mut workload = phase.workload.clone();
        if let Some(of) = base(phase) {
            let rate_per_s = self.share_of(of, &workload, label)?;
            if rate_per_s <= 0.0 {
                self.underway.report(Reported::LeftOut { run: label.name.clone() });
                return Ok(Next::SkipCurve);
            }
            workload = at_rate(&workload, label, rate_per_s, self.done[of].as_ref());
        }
        around::run(label.commands.start.as_ref(), self.underway)?;
        let plan = alone(phase, workload);
        let done = match self.underway.hosts {
            None => self.carry_out(&plan, label)?,
            Some(_) => self.share(&plan.phases[0], index, label)?,
        };
        let next = self.judge(index, &plan.phases[0], label, done)?;
        around::run(label.commands.end.as_ref(), self.underway)?;
        Ok(if self.underway.is_over { Next::End } else { next })
    }

    /// Executes a plan of one phase on this machine; byte limits or the monitor file may end it
    /// early.
    fn carry_out(
        &mut self,
        plan: &StoragePlan,
        label: &RunLabel,
    ) -> Result<Done, CommandFailure> {
        let ends = AtomicBool::new(false);
        let underway = &mut *self.underway;
        let stop = underway.stop;
        let mut ending =
            Ending::new(label.limits, underway.question.execution.monitor.as_ref());
        let mut outcome = None;
        let mut on = |event: StorageEvent<'_>| match event {
            StorageEvent::LayingOut { .. } => underway.laid_out(&event),
            StorageEvent::PhaseStarts { rate_per_s } => {
                (underway.on)(Notice::Starts { label, rate_per_s });
            }
            StorageEvent::Interval { tally } => {
                (underway.on)(Notice::Interval(tally));
                let (read, written) = (tally.reads.bytes, tally.writes.bytes);
                if ending.interval(tally.warmup, read, written) {
                    ends.store(true, Ordering::Relaxed);
                }
            }
            StorageEvent::PhaseDone { outcome: done } => outcome = Some(done.clone()),
            // The failure is also returned.
            StorageEvent::PhaseReady { .. } | StorageEvent::PhaseFailed => {}
        };
        let done = ending::following(stop, &ends, || {
            runner::carry_out(plan, &self.options, &ends, &mut on)
        });
        // An early end is not a failure, and results until then are reported.
        let is_stopped = self.underway.is_stopped();
        if outcome.is_none() || !(is_stopped || ending.reason.is_some()) {
            done?;
        }
        let reason = ending.reason.filter(|_| !is_stopped);
        self.underway.ended(reason.as_ref());
        let outcome = outcome.ok_or_else(|| {
            CommandFailure::measurement(format!("RD={} did no I/O", label.name))
        })?;
        let entries = volume::facts(&plan.phases[0].workload);
        Ok(Done { outcome, end: reason, entries })
    }

    /// Executes a phase on several hosts.
    fn share(
        &mut self,
        phase: &StoragePhase,
        index: usize,
        label: &RunLabel,
    ) -> Result<Done, CommandFailure> {
        let ends = AtomicBool::new(false);
        let Underway { question, hosts, stop, on, reported, .. } = &mut *self.underway;
        let Some(hosts) = hosts else { return Err(runner::interrupted()) };
        let execution = question.execution;
        let mut ending = Ending::new(label.limits, execution.monitor.as_ref());
        let mut entries = Vec::new();
        let mut on_event = |event: Event<'_>| match event {
            Event::Note { host, said } => {
                on(Notice::Reported(&Reported::noted(host, said)));
                reported.push(Reported::noted(host, said));
            }
            Event::Starts => {
                on(Notice::Starts { label, rate_per_s: phase.workload.load.rate_per_s() });
            }
            Event::Part { host, tally } => {
                on(Notice::Part { host, tally });
                entries.extend(tally.to_member_entries(host));
            }
            Event::Interval { tally } => {
                on(Notice::Interval(tally));
                if ending.interval(tally.warmup, tally.reads.bytes, tally.writes.bytes) {
                    ends.store(true, Ordering::Relaxed);
                }
            }
        };
        let places = &execution.host_indices[index];
        let done = ending::following(stop, &ends, || {
            hosts.phase::<Blocks>(phase, places, &ends, &mut on_event)
        })?;
        entries.extend(of_hosts(done.skew_s, hosts, on, reported));
        let end = ending.reason.filter(|_| !self.underway.is_stopped());
        self.underway.ended(end.as_ref());
        Ok(Done { outcome: done.outcome, end, entries })
    }

    /// Reports and stores a finished run, and decides how to continue.
    fn judge(
        &mut self,
        index: usize,
        phase: &StoragePhase,
        label: &RunLabel,
        Done { outcome, end, entries }: Done,
    ) -> Result<Next, CommandFailure> {
        let outcome = &outcome;
        let is_stopped = self.underway.is_stopped();
        let average = averaged(label, outcome, is_stopped);
        (self.underway.on)(Notice::Done {
            label,
            phase,
            outcome,
            average: average.as_ref(),
            is_stopped,
        });
        let over = Over {
            entries: [outcome.to_entries(), series::samples(outcome), entries].concat(),
            rate_per_s: phase.workload.load.rate_per_s(),
            count: series::count(outcome),
            elapsed_s: outcome.elapsed_s,
            journals: outcome.journals(),
            failure: series::failure(&phase.workload, outcome),
            early_end: end,
        };
        self.underway.store(self.recording, index, over)?;
        self.underway.errors += outcome.error_count;
        self.underway.few_errors("I/O")?;
        if let Some(lost) = self.underway.hosts.as_ref().and_then(|it| it.failure()) {
            return Err(lost);
        }
        if is_stopped {
            return Err(runner::interrupted());
        }
        let Some(Average { totals: measured, .. }) = average else {
            return Err(CommandFailure::measurement(format!("RD={} did no I/O", label.name))
                .advise("lengthen elapsed=, or see errorlog.html"));
        };
        self.done[index] = Some(Reached::of(phase, outcome, &measured));
        if label.stop_curve_ms.is_some_and(|limit_ms| measured.response_ms() > limit_ms) {
            self.underway.report(Reported::CurveEnds);
            return Ok(Next::End);
        }
        Ok(Next::Run)
    }

    /// Returns the load of a run in IO/s as a share of the rate of the run `of`.
    fn share_of(
        &self,
        of: usize,
        workload: &StorageWorkload,
        label: &RunLabel,
    ) -> Result<f64, CommandFailure> {
        let reached = self.done[of].as_ref().ok_or_else(|| {
            CommandFailure::measurement(format!(
                "there is no rate that RD={} is a share of",
                label.name
            ))
            .with_reason("the run before it was left out")
        })?;
        match workload.load {
            StorageLoad::ShareOf { percent, rounding, .. } => {
                Ok(rounding.round_share(reached.rate_per_s, percent))
            }
            _ => Ok(reached.rate_per_s),
        }
    }
}

/// Returns the entries about the hosts: the start skew, a lost host, and clock steps, which are
/// also reported.
pub(super) fn of_hosts(
    skew_s: Option<(f64, f64)>,
    hosts: &mut Sharers<'_>,
    on: &mut Listener<'_>,
    reported: &mut Vec<Reported>,
) -> Vec<MeasurementEntry> {
    let doubts = hosts.doubts();
    for said in doubts.iter().filter_map(Reported::doubted) {
        on(Notice::Reported(&said));
        reported.push(said);
    }
    let mut entries: Vec<MeasurementEntry> =
        doubts.into_iter().map(MeasurementEntry::Doubt).collect();
    if let Some((skew_s, bound_s)) = skew_s {
        entries.push(MeasurementEntry::Fact(Attribute::StartSkew, skew_s.into()));
        entries.push(MeasurementEntry::Fact(Attribute::StartSkewBound, bound_s.into()));
    }
    entries
}

/// Returns the workload at a rate that an earlier run determined, with the observed shares of the
/// streams if requested.
pub(super) fn at_rate(
    workload: &StorageWorkload,
    label: &RunLabel,
    rate_per_s: f64,
    base: Option<&Reached>,
) -> StorageWorkload {
    let mut workload = workload.clone();
    if let StorageLoad::ShareOf { arrivals, .. } = workload.load {
        workload.load = StorageLoad::Open { rate_per_s, arrivals };
    }
    let observed = base.filter(|it| it.shares.len() == workload.streams.len());
    if let Some(reached) = observed.filter(|_| label.shares_observed) {
        for (stream, share) in workload.streams.iter_mut().zip(&reached.shares) {
            stream.rate_share = *share;
        }
    }
    workload
}

impl Reached {
    pub(super) fn of(
        phase: &StoragePhase,
        outcome: &StorageOutcome,
        measured: &StorageTotals,
    ) -> Self {
        let mut counts = vec![0u64; phase.workload.streams.len()];
        for tally in &outcome.tallies {
            counts[tally.stream] += tally.tally.count;
        }
        let total = counts.iter().sum::<u64>().max(1) as f64;
        let shares = counts.into_iter().map(|count| count as f64 / total).collect();
        Self { rate_per_s: measured.rate_per_s(), shares }
    }
}

/// Returns the run whose rate is the base of this run's rate.
pub(super) fn base(phase: &StoragePhase) -> Option<usize> {
    match phase.workload.load {
        StorageLoad::ShareOf { phase, .. } => Some(phase),
        StorageLoad::Closed
        | StorageLoad::Balanced
        | StorageLoad::Open { .. }
        | StorageLoad::Capped { .. } => None,
    }
}

/// Whether a workload writes all of its targets from start to end.
fn fills(workload: &StorageWorkload) -> bool {
    let is_whole = workload.targets.iter().all(|target| target.range_bytes.is_none());
    is_whole
        && workload.timing.stop_after_bytes.is_none()
        && workload.streams.iter().all(|stream| {
            let to_end = matches!(
                stream.pattern,
                AccessPattern::Sequential { at_end: AtEnd::Stop, gap_bytes: 0, .. }
            );
            to_end && stream.read_share <= 0.0
        })
}

/// Whether the first run writes every file of all runs, so that none is laid out before it.
#[must_use]
pub fn first_run_fills_all(plan: &StoragePlan) -> bool {
    let Some((first, others)) = plan.phases.split_first() else { return false };
    let paths = |phase: &StoragePhase| -> BTreeSet<PathBuf> {
        phase.workload.targets.iter().map(|target| Path::to_path_buf(&target.path)).collect()
    };
    let filled = paths(first);
    fills(&first.workload) && others.iter().all(|phase| paths(phase).is_subset(&filled))
}
