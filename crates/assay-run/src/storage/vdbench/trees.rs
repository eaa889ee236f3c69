//! Runs on file trees, in order.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_dialects::vdbench::RunLabel;
use assay_dialects::vdbench::output::files::FileTotals;
use assay_dialects::vdbench::output::{self, Average};
use assay_kernels::storage::files::FileControl;
use assay_model::attribute::Attribute;
use assay_model::entry::MeasurementEntry;
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::workload::file_set::{FileLoad, FilePhase};

use super::early_end::{self, EarlyEnd};
use super::run_notes::RunNote;
use super::runs::host_entries;
use super::{CompletedRun, ExecutionState, NextRun, VdbenchEvent, commands, run_in_order};
use crate::cancellable_wait;
use crate::failure::CommandFailure;
use crate::recording::Recording;
use crate::storage::shares::storage_hosts::{SharedRunEvent, TreeWork};
use crate::storage::{file_trees, series, volume};

/// Executes all runs once.
pub(super) fn run_all(
    underway: &mut ExecutionState<'_, '_, '_>,
    recording: &mut Recording<'_>,
) -> Result<(), CommandFailure> {
    let phases = &underway.request.execution.files.phases;
    let mut runs = TreeRuns { underway, recording, reached_per_s: vec![None; phases.len()] };
    let bases: Vec<_> = phases.iter().map(base_run).collect();
    run_in_order(&bases, |index| {
        cancellable_wait::wait_seconds(phases[index].pause_before_s, runs.underway.stop);
        runs.run_one(index)
    })?;
    runs.underway.check_no_errors("operation")
}

struct TreeRuns<'r, 'd, 'l, 'h, 's> {
    underway: &'r mut ExecutionState<'d, 'l, 'h>,
    recording: &'r mut Recording<'s>,
    /// Rate of each finished run in operations per second.
    reached_per_s: Vec<Option<f64>>,
}

impl TreeRuns<'_, '_, '_, '_, '_> {
    fn run_one(&mut self, index: usize) -> Result<NextRun, CommandFailure> {
        let execution = self.underway.request.execution;
        let label = &execution.runs[index];
        let mut phase = execution.files.phases[index].clone();
        phase.workload.load = match phase.workload.load {
            FileLoad::ShareOf { phase: of, percent, rounding, arrivals } => {
                let reached = self.reached_per_s[of].ok_or_else(|| {
                    let what = format!("there is no rate that RD={} is a share of", label.name);
                    CommandFailure::measurement(what)
                        .with_reason("the run before it did nothing")
                })?;
                let per_s = rounding.round_share(reached, percent);
                if per_s <= 0.0 {
                    self.underway.log.add_note(RunNote::LeftOut { run: label.name.clone() });
                    return Ok(NextRun::SkipCurve);
                }
                FileLoad::Open { per_s, arrivals }
            }
            load => load,
        };
        commands::run_commands(label.commands.start.as_ref(), self.underway)?;
        let average = self.run_and_store(index, &phase)?;
        let next = self.conclude_run(index, &phase, &average.totals)?;
        commands::run_commands(label.commands.end.as_ref(), self.underway)?;
        Ok(if self.underway.is_over { NextRun::End } else { next })
    }

    /// Executes and stores a phase; byte limits or the monitor file may end it early.
    fn run_and_store(
        &mut self,
        index: usize,
        phase: &FilePhase,
    ) -> Result<Average<FileTotals>, CommandFailure> {
        let execution = self.underway.request.execution;
        let label = &execution.runs[index];
        let mut ending = EarlyEnd::new(label.limits, execution.monitor.as_ref());
        let mut intervals = Vec::new();
        let rate_per_s = phase.workload.load.rate_per_s();
        self.underway.log.add(VdbenchEvent::TreesStart { label: label.clone(), rate_per_s });
        let (outcome, of_place) = match self.underway.hosts {
            None => {
                self.recording.begin_counting(volume::tree_places(&phase.workload));
                let done = self.run_here(phase, &mut ending, &mut intervals)?;
                self.recording.end_counting(index, series::file_payload(&intervals));
                done
            }
            Some(_) => self.run_on_hosts(index, phase, &mut ending, &mut intervals)?,
        };
        let underway = &mut *self.underway;
        let is_stopped = underway.is_stopped();
        let average = run_average(label, &intervals);
        let is_reported = average.excludes_warmup || !is_stopped;
        underway.log.add(VdbenchEvent::TreesDone {
            outcome: Box::new(outcome.clone()),
            average: is_reported.then(|| Box::new(average.clone())),
            is_stopped,
        });
        underway.report_early_end(ending.reason.filter(|_| !is_stopped));
        let samples = series::file_samples(&phase.workload, &outcome, &intervals);
        let entries = outcome.to_entries(&intervals).into_iter().chain(of_place);
        let over = CompletedRun {
            entries: entries.filter(is_stored).chain(samples).collect(),
            rate_per_s,
            count: outcome.total.requested.count,
            elapsed_s: outcome.elapsed_s,
            journals: Vec::new(),
            failure: file_trees::operation_failure(&outcome),
        };
        underway.store_run(self.recording, index, over)?;
        underway.errors += outcome.error_count;
        Ok(average)
    }

    /// Runs a phase on this machine; also returns the facts about its volumes.
    fn run_here(
        &mut self,
        phase: &FilePhase,
        ending: &mut EarlyEnd<'_>,
        intervals: &mut Vec<FileInterval>,
    ) -> Result<(FileOutcome, Vec<MeasurementEntry>), CommandFailure> {
        let most_errors = self.errors_left();
        let ExecutionState { stop, log, .. } = &mut *self.underway;
        let ends = AtomicBool::new(false);
        let mut on_interval = |interval: &FileInterval| {
            log.add(VdbenchEvent::TreesInterval(interval.clone()));
            intervals.push(interval.clone());
            let tally = &interval.tally;
            if ending.add_interval(interval.warmup, tally.read_bytes, tally.written_bytes) {
                ends.store(true, Ordering::Relaxed);
            }
        };
        let mut control = FileControl {
            stop: &ends,
            on_ready: &mut || {},
            on_interval: &mut on_interval,
            max_errors: most_errors,
        };
        let outcome = early_end::run_stoppable(stop, &ends, || {
            file_trees::run_phase(phase, &mut control)
        })??;
        Ok((outcome, volume::tree_workload_facts(&phase.workload)))
    }

    /// Runs a phase on several hosts; also returns the entries about each of them.
    fn run_on_hosts(
        &mut self,
        index: usize,
        phase: &FilePhase,
        ending: &mut EarlyEnd<'_>,
        intervals: &mut Vec<FileInterval>,
    ) -> Result<(FileOutcome, Vec<MeasurementEntry>), CommandFailure> {
        let asked = (phase.clone(), self.errors_left());
        let ExecutionState { request, hosts, stop, log, .. } = &mut *self.underway;
        let Some(hosts) = hosts else { return Err(CommandFailure::interrupted()) };
        let ends = AtomicBool::new(false);
        let mut entries = Vec::new();
        let mut on_event = |event: SharedRunEvent<'_, FileInterval>| match event {
            SharedRunEvent::Note { host, said } => {
                log.add_note(RunNote::from_host_note(host, said));
            }
            // The start is reported earlier, as for a run on this machine.
            SharedRunEvent::Started => {}
            SharedRunEvent::HostInterval { host, tally } => {
                entries.extend(tally.to_member_entries(host));
                let (host, interval) = (host.to_owned(), tally.clone());
                log.add(VdbenchEvent::TreesHostInterval { host, interval });
            }
            SharedRunEvent::Interval { tally: interval } => {
                log.add(VdbenchEvent::TreesInterval(interval.clone()));
                intervals.push(interval.clone());
                let tally = &interval.tally;
                if ending.add_interval(interval.warmup, tally.read_bytes, tally.written_bytes) {
                    ends.store(true, Ordering::Relaxed);
                }
            }
        };
        let places = &request.execution.host_indices[index];
        let done = early_end::run_stoppable(stop, &ends, || {
            hosts.run_phase::<TreeWork>(&asked, places, &ends, &mut on_event)
        })??;
        entries.extend(host_entries(done.skew_s, hosts, log));
        Ok((done.outcome, entries))
    }

    /// Returns the number of operations that may still fail before the execution ends.
    fn errors_left(&self) -> u64 {
        let most = self.underway.request.execution.data_errors;
        most.saturating_sub(self.underway.errors).max(1)
    }

    fn conclude_run(
        &mut self,
        index: usize,
        phase: &FilePhase,
        measured: &FileTotals,
    ) -> Result<NextRun, CommandFailure> {
        self.underway.check_error_limit("operation")?;
        if let Some(lost) = self.underway.hosts.as_ref().and_then(|it| it.lost_host_failure()) {
            return Err(lost);
        }
        if self.underway.is_stopped() {
            return Err(CommandFailure::interrupted());
        }
        let label = &self.underway.request.execution.runs[index];
        // A format run has nothing to do if all files are present.
        if measured.tally.requested.count == 0 && !phase.workload.in_turn {
            return Err(CommandFailure::measurement(format!("RD={} did nothing", label.name))
                .with_reason("there is no file or directory that its operations could work on")
                .advise("format=yes makes the files, format=restart those that are missing"));
        }
        self.reached_per_s[index] = Some(measured.rate_per_s());
        let mean_ms = measured.tally.requested.mean_ms();
        if label.stop_curve_ms.is_some_and(|limit_ms| mean_ms > limit_ms) {
            self.underway.log.add_note(RunNote::CurveEnds);
            return Ok(NextRun::End);
        }
        Ok(NextRun::Run)
    }
}

fn run_average(label: &RunLabel, intervals: &[FileInterval]) -> Average<FileTotals> {
    output::average(
        label,
        intervals,
        |interval| interval.length_s,
        |measured: &mut FileTotals, interval| measured.add_for_run(label, interval),
        |measured| measured.tally.requested.count,
    )
}

/// Whether an entry is stored; single kinds of operation are stored by interval only.
fn is_stored(entry: &MeasurementEntry) -> bool {
    match entry {
        MeasurementEntry::Measured(key, _) => {
            let has = |name| key.dimensions.contains_key(&name);
            has(Attribute::Stage) || !has(Attribute::Operation)
        }
        MeasurementEntry::SeriesFact(..)
        | MeasurementEntry::Fact(..)
        | MeasurementEntry::Doubt(_) => true,
    }
}

/// Returns the run whose rate is the base of this run's rate.
fn base_run(phase: &FilePhase) -> Option<usize> {
    match phase.workload.load {
        FileLoad::ShareOf { phase, .. } => Some(phase),
        FileLoad::Closed | FileLoad::Open { .. } => None,
    }
}
