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

use super::early_end::{self, EarlyEnd};
use super::run_notes::RunNote;
use super::{
    CompletedRun, EventLog, ExecutionState, NextRun, VdbenchEvent, commands, reported_average,
    run_in_order, single_phase_plan,
};
use crate::failure::CommandFailure;
use crate::recording::Recording;
use crate::storage::job_tasks::JobTasks;
use crate::storage::options::RunOptions;
use crate::storage::runner::{self, StorageEvent};
use crate::storage::shares::storage_hosts::{BlockWork, SharedRunEvent, StorageHosts};
use crate::storage::{series, volume};

/// Executes all runs of the plan once.
pub(super) fn run_all(
    underway: &mut ExecutionState<'_, '_, '_>,
    recording: &mut Recording<'_>,
) -> Result<(), CommandFailure> {
    let phases = &underway.request.execution.plan.phases;
    let done = vec![None; phases.len()];
    let options = underway.request.options.clone();
    let mut runs = BlockRuns { underway, recording, options, done };
    let bases: Vec<_> = phases.iter().map(base_run).collect();
    run_in_order(&bases, |index| {
        let next = runs.run_one(index)?;
        // Only the first run is known to fill the files it creates.
        runs.options.writers_make_files = false;
        Ok(next)
    })?;
    runs.underway.check_no_errors("I/O")
}

/// Runs with the rates that they reached.
struct BlockRuns<'r, 'd, 'l, 'h, 's> {
    underway: &'r mut ExecutionState<'d, 'l, 'h>,
    recording: &'r mut Recording<'s>,
    options: RunOptions,
    done: Vec<Option<ReachedRates>>,
}

/// Result of one run.
struct BlockRunResult {
    outcome: StorageOutcome,
    /// Additional entries to store.
    entries: Vec<MeasurementEntry>,
}

/// Rates of a run, for the runs that depend on it.
#[derive(Debug, Clone)]
struct ReachedRates {
    rate_per_s: f64,
    /// Share of each stream.
    shares: Vec<f64>,
}

impl BlockRuns<'_, '_, '_, '_, '_> {
    fn run_one(&mut self, index: usize) -> Result<NextRun, CommandFailure> {
        let execution = self.underway.request.execution;
        let (phase, label) = (&execution.plan.phases[index], &execution.runs[index]);
        let mut workload = phase.workload.clone();
        if let Some(of) = base_run(phase) {
            let rate_per_s = self.requested_rate(of, &workload, label)?;
            if rate_per_s <= 0.0 {
                self.underway.log.add_note(RunNote::LeftOut { run: label.name.clone() });
                return Ok(NextRun::SkipCurve);
            }
            workload = with_rate(&workload, label, rate_per_s, self.done[of].as_ref());
        }
        commands::run_commands(label.commands.start.as_ref(), self.underway)?;
        let plan = single_phase_plan(phase, workload);
        let done = match self.underway.hosts {
            None => self.run_here(&plan, index, label)?,
            Some(_) => self.run_on_hosts(&plan.phases[0], index, label)?,
        };
        let next = self.conclude_run(index, &plan.phases[0], label, done)?;
        commands::run_commands(label.commands.end.as_ref(), self.underway)?;
        Ok(if self.underway.is_over { NextRun::End } else { next })
    }

    /// Executes a plan of one phase on this machine; byte limits or the monitor file may end it
    /// early.
    fn run_here(
        &mut self,
        plan: &StoragePlan,
        index: usize,
        label: &RunLabel,
    ) -> Result<BlockRunResult, CommandFailure> {
        let ends = AtomicBool::new(false);
        let recording = &*self.recording;
        let underway = &mut *self.underway;
        let stop = underway.stop;
        let mut ending =
            EarlyEnd::new(label.limits, underway.request.execution.monitor.as_ref());
        let mut outcome = None;
        let mut on = |event: StorageEvent<'_>| match event {
            StorageEvent::LayingOut { .. } => underway.report_layout(&event),
            StorageEvent::PhaseStarts { rate_per_s } => {
                underway.log.add(VdbenchEvent::Starts { label: label.clone(), rate_per_s });
            }
            StorageEvent::Interval { tally } => {
                underway.log.add(VdbenchEvent::Interval(tally.clone()));
                let (read, written) = (tally.reads.bytes, tally.writes.bytes);
                if ending.add_interval(tally.warmup, read, written) {
                    ends.store(true, Ordering::Relaxed);
                }
            }
            StorageEvent::PhaseReady { .. } => {
                let workload = &plan.phases[0].workload;
                recording.begin_counting(volume::counted_places(workload));
            }
            StorageEvent::PhaseDone { outcome: done } => {
                recording.end_counting(index, series::payload(done));
                outcome = Some(done.clone());
            }
            // The failure is also returned.
            StorageEvent::PhaseFailed => {}
        };
        let done = early_end::run_stoppable(stop, &ends, || {
            runner::run_phases(plan, (&self.options, &JobTasks::Threads), &ends, &mut on)
        })?;
        // An early end is not a failure, and results until then are reported.
        let is_stopped = self.underway.is_stopped();
        if outcome.is_none() || !(is_stopped || ending.reason.is_some()) {
            done?;
        }
        let reason = ending.reason.filter(|_| !is_stopped);
        self.underway.report_early_end(reason);
        let outcome = outcome.ok_or_else(|| {
            CommandFailure::measurement(format!("RD={} did no I/O", label.name))
        })?;
        let entries = volume::workload_facts(&plan.phases[0].workload);
        Ok(BlockRunResult { outcome, entries })
    }

    /// Executes a phase on several hosts.
    fn run_on_hosts(
        &mut self,
        phase: &StoragePhase,
        index: usize,
        label: &RunLabel,
    ) -> Result<BlockRunResult, CommandFailure> {
        let ends = AtomicBool::new(false);
        let ExecutionState { request, hosts, stop, log, .. } = &mut *self.underway;
        let Some(hosts) = hosts else { return Err(CommandFailure::interrupted()) };
        let execution = request.execution;
        let mut ending = EarlyEnd::new(label.limits, execution.monitor.as_ref());
        let mut entries = Vec::new();
        let mut on_event = |event: SharedRunEvent<'_>| match event {
            SharedRunEvent::Note { host, said } => {
                log.add_note(RunNote::from_host_note(host, said));
            }
            SharedRunEvent::Started => {
                let rate_per_s = phase.workload.load.rate_per_s();
                log.add(VdbenchEvent::Starts { label: label.clone(), rate_per_s });
            }
            SharedRunEvent::HostInterval { host, tally } => {
                entries.extend(tally.to_member_entries(host));
                let (host, tally) = (host.to_owned(), tally.clone());
                log.add(VdbenchEvent::HostInterval { host, tally });
            }
            SharedRunEvent::Interval { tally } => {
                log.add(VdbenchEvent::Interval(tally.clone()));
                if ending.add_interval(tally.warmup, tally.reads.bytes, tally.writes.bytes) {
                    ends.store(true, Ordering::Relaxed);
                }
            }
        };
        let places = &execution.host_indices[index];
        let done = early_end::run_stoppable(stop, &ends, || {
            hosts.run_phase::<BlockWork>(phase, places, &ends, &mut on_event)
        })??;
        entries.extend(host_entries(done.skew_s, hosts, log));
        let end = ending.reason.filter(|_| !self.underway.is_stopped());
        self.underway.report_early_end(end);
        Ok(BlockRunResult { outcome: done.outcome, entries })
    }

    /// Reports and stores a finished run, and decides how to continue.
    fn conclude_run(
        &mut self,
        index: usize,
        phase: &StoragePhase,
        label: &RunLabel,
        BlockRunResult { outcome, entries }: BlockRunResult,
    ) -> Result<NextRun, CommandFailure> {
        let outcome = &outcome;
        let is_stopped = self.underway.is_stopped();
        let average = reported_average(label, outcome, is_stopped);
        self.underway.log.add(VdbenchEvent::Done {
            phase: Box::new(phase.clone()),
            outcome: Box::new(outcome.to_totals()),
            average: average.clone(),
            is_stopped,
        });
        let over = CompletedRun {
            entries: [outcome.to_entries(), series::stretch_samples(outcome), entries].concat(),
            rate_per_s: phase.workload.load.rate_per_s(),
            count: series::io_count(outcome),
            elapsed_s: outcome.elapsed_s,
            journals: outcome.journals(),
            failure: series::io_case_failure(&phase.workload, outcome),
        };
        self.underway.store_run(self.recording, index, over)?;
        self.underway.errors += outcome.error_count;
        self.underway.check_error_limit("I/O")?;
        if let Some(lost) = self.underway.hosts.as_ref().and_then(|it| it.lost_host_failure()) {
            return Err(lost);
        }
        if is_stopped {
            return Err(CommandFailure::interrupted());
        }
        let Some(Average { totals: measured, .. }) = average else {
            return Err(CommandFailure::measurement(format!("RD={} did no I/O", label.name))
                .advise("lengthen elapsed=, or see errorlog.html"));
        };
        self.done[index] = Some(ReachedRates::from_outcome(phase, outcome, &measured));
        if label.stop_curve_ms.is_some_and(|limit_ms| measured.response_ms() > limit_ms) {
            self.underway.log.add_note(RunNote::CurveEnds);
            return Ok(NextRun::End);
        }
        Ok(NextRun::Run)
    }

    /// Returns the load of a run in IO/s as a share of the rate of the run `of`.
    fn requested_rate(
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
            .with_reason("the run before it was skipped")
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
pub(super) fn host_entries(
    skew_s: Option<(f64, f64)>,
    hosts: &mut StorageHosts<'_>,
    log: &mut EventLog<'_, '_>,
) -> Vec<MeasurementEntry> {
    let doubts = hosts.doubts();
    doubts.iter().filter_map(RunNote::from_doubt).for_each(|note| log.add_note(note));
    let mut entries: Vec<MeasurementEntry> =
        doubts.into_iter().map(MeasurementEntry::Doubt).collect();
    if let Some((skew_s, bound_s)) = skew_s {
        entries.push(MeasurementEntry::fact(Attribute::StartSkew, skew_s));
        entries.push(MeasurementEntry::fact(Attribute::StartSkewBound, bound_s));
    }
    entries
}

/// Returns the workload at a rate that an earlier run determined, with the observed shares of the
/// streams if requested.
fn with_rate(
    workload: &StorageWorkload,
    label: &RunLabel,
    rate_per_s: f64,
    base: Option<&ReachedRates>,
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

impl ReachedRates {
    fn from_outcome(
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
fn base_run(phase: &StoragePhase) -> Option<usize> {
    match phase.workload.load {
        StorageLoad::ShareOf { phase, .. } => Some(phase),
        StorageLoad::Closed
        | StorageLoad::Balanced
        | StorageLoad::Open { .. }
        | StorageLoad::Capped { .. } => None,
    }
}

/// Whether a workload writes all of its targets from start to end.
fn fills_targets(workload: &StorageWorkload) -> bool {
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
pub fn first_run_fills_all(plan: &StoragePlan) -> bool {
    let Some((first, others)) = plan.phases.split_first() else { return false };
    let paths = |phase: &StoragePhase| -> BTreeSet<PathBuf> {
        phase.workload.targets.iter().map(|target| Path::to_path_buf(&target.path)).collect()
    };
    let filled = paths(first);
    fills_targets(&first.workload) && others.iter().all(|phase| paths(phase).is_subset(&filled))
}
