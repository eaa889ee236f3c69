//! Runs on file trees, in order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_dialects::vdbench::RunLabel;
use assay_dialects::vdbench::output::files::FileTotals;
use assay_dialects::vdbench::output::{self, Average};
use assay_kernels::storage::files::FileControl;
use assay_model::attribute::Attribute;
use assay_model::entry::MeasurementEntry;
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::workload::file_set::{FileLoad, FilePhase};

use super::ending::{self, Ending};
use super::reported::Reported;
use super::runs::of_hosts;
use super::{Next, Notice, Over, Underway, around, one_after_another};
use crate::failure::CommandFailure;
use crate::recording::Recording;
use crate::storage::runner::interrupted;
use crate::storage::shares::sharers::{Event, Trees};
use crate::storage::{file_trees, series, volume};

/// Executes all runs once.
pub(super) fn all(
    underway: &mut Underway<'_, '_, '_>,
    recording: &mut Recording<'_>,
) -> Result<(), CommandFailure> {
    let phases = &underway.question.execution.files.phases;
    let mut runs = Runs { underway, recording, reached_per_s: vec![None; phases.len()] };
    let bases: Vec<_> = phases.iter().map(base).collect();
    one_after_another(&bases, |index| {
        pause(phases[index].pause_before_s, runs.underway.stop);
        runs.one(index)
    })?;
    runs.underway.no_errors("operation")
}

struct Runs<'r, 'd, 'l, 'h, 's> {
    underway: &'r mut Underway<'d, 'l, 'h>,
    recording: &'r mut Recording<'s>,
    /// Rate of each finished run in operations per second.
    reached_per_s: Vec<Option<f64>>,
}

impl Runs<'_, '_, '_, '_, '_> {
    fn one(&mut self, index: usize) -> Result<Next, CommandFailure> {
        let execution = self.underway.question.execution;
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
                    self.underway.report(Reported::LeftOut { run: label.name.clone() });
                    return Ok(Next::SkipCurve);
                }
                FileLoad::Open { per_s, arrivals }
            }
            load => load,
        };
        around::run(label.commands.start.as_ref(), self.underway)?;
        let average = self.carry_out(index, &phase)?;
        let next = self.judge(index, &phase, &average.totals)?;
        around::run(label.commands.end.as_ref(), self.underway)?;
        Ok(if self.underway.is_over { Next::End } else { next })
    }

    /// Executes and stores a phase; byte limits or the monitor file may end it early.
    fn carry_out(
        &mut self,
        index: usize,
        phase: &FilePhase,
    ) -> Result<Average<FileTotals>, CommandFailure> {
        let execution = self.underway.question.execution;
        let label = &execution.runs[index];
        let mut ending = Ending::new(label.limits, execution.monitor.as_ref());
        let mut intervals = Vec::new();
        let rate_per_s = phase.workload.load.rate_per_s();
        (self.underway.on)(Notice::TreesStart { label, rate_per_s });
        let (outcome, of_place) = match self.underway.hosts {
            None => self.measure(phase, &mut ending, &mut intervals)?,
            Some(_) => self.share(index, phase, &mut ending, &mut intervals)?,
        };
        let underway = &mut *self.underway;
        let is_stopped = underway.is_stopped();
        let average = averaged(label, &intervals);
        let reported = (average.excludes_warmup || !is_stopped).then_some(&average);
        (underway.on)(Notice::TreesDone {
            label,
            outcome: &outcome,
            average: reported,
            is_stopped,
        });
        let early_end = ending.reason.filter(|_| !is_stopped);
        underway.ended(early_end.as_ref());
        let samples = series::file_samples(&phase.workload, &outcome, &intervals);
        let entries = outcome.to_entries(&intervals).into_iter().chain(of_place);
        let over = Over {
            entries: entries.filter(is_kept).chain(samples).collect(),
            rate_per_s,
            count: outcome.total.requested.count,
            elapsed_s: outcome.elapsed_s,
            journals: Vec::new(),
            failure: file_trees::failure(&outcome),
            early_end,
        };
        underway.store(self.recording, index, over)?;
        underway.errors += outcome.error_count;
        Ok(average)
    }

    /// Runs a phase on this machine; also returns the facts about its volumes.
    fn measure(
        &mut self,
        phase: &FilePhase,
        ending: &mut Ending<'_>,
        intervals: &mut Vec<FileInterval>,
    ) -> Result<(FileOutcome, Vec<MeasurementEntry>), CommandFailure> {
        let most_errors = self.errors_left();
        let Underway { stop, on, .. } = &mut *self.underway;
        let ends = AtomicBool::new(false);
        let mut on_interval = |interval: &FileInterval| {
            on(Notice::TreesInterval(interval));
            intervals.push(interval.clone());
            let tally = &interval.tally;
            if ending.interval(interval.warmup, tally.read_bytes, tally.written_bytes) {
                ends.store(true, Ordering::Relaxed);
            }
        };
        let mut control = FileControl {
            stop: &ends,
            on_ready: &mut || {},
            on_interval: &mut on_interval,
            max_errors: most_errors,
        };
        let outcome =
            ending::following(stop, &ends, || file_trees::run_phase(phase, &mut control))?;
        Ok((outcome, volume::facts_of_trees(&phase.workload)))
    }

    /// Runs a phase on several hosts; also returns the entries about each of them.
    fn share(
        &mut self,
        index: usize,
        phase: &FilePhase,
        ending: &mut Ending<'_>,
        intervals: &mut Vec<FileInterval>,
    ) -> Result<(FileOutcome, Vec<MeasurementEntry>), CommandFailure> {
        let asked = (phase.clone(), self.errors_left());
        let Underway { question, hosts, stop, on, reported, .. } = &mut *self.underway;
        let Some(hosts) = hosts else { return Err(interrupted()) };
        let ends = AtomicBool::new(false);
        let mut entries = Vec::new();
        let mut on_event = |event: Event<'_, FileInterval>| match event {
            Event::Note { host, said } => {
                on(Notice::Reported(&Reported::noted(host, said)));
                reported.push(Reported::noted(host, said));
            }
            // The start is reported earlier, as for a run on this machine.
            Event::Starts => {}
            Event::Part { host, tally } => {
                on(Notice::TreesPart { host, interval: tally });
                entries.extend(tally.to_member_entries(host));
            }
            Event::Interval { tally: interval } => {
                on(Notice::TreesInterval(interval));
                intervals.push(interval.clone());
                let tally = &interval.tally;
                if ending.interval(interval.warmup, tally.read_bytes, tally.written_bytes) {
                    ends.store(true, Ordering::Relaxed);
                }
            }
        };
        let places = &question.execution.host_indices[index];
        let done = ending::following(stop, &ends, || {
            hosts.phase::<Trees>(&asked, places, &ends, &mut on_event)
        })?;
        entries.extend(of_hosts(done.skew_s, hosts, on, reported));
        Ok((done.outcome, entries))
    }

    /// Returns the number of operations that may still fail before the execution ends.
    fn errors_left(&self) -> u64 {
        let most = self.underway.question.execution.data_errors;
        most.saturating_sub(self.underway.errors).max(1)
    }

    fn judge(
        &mut self,
        index: usize,
        phase: &FilePhase,
        measured: &FileTotals,
    ) -> Result<Next, CommandFailure> {
        self.underway.few_errors("operation")?;
        if let Some(lost) = self.underway.hosts.as_ref().and_then(|it| it.failure()) {
            return Err(lost);
        }
        if self.underway.is_stopped() {
            return Err(interrupted());
        }
        let label = &self.underway.question.execution.runs[index];
        // A format run has nothing to do if all files are present.
        if measured.tally.requested.count == 0 && !phase.workload.in_turn {
            return Err(CommandFailure::measurement(format!("RD={} did nothing", label.name))
                .with_reason("there is no file or directory that its operations could work on")
                .advise("format=yes makes the files, format=restart those that are missing"));
        }
        self.reached_per_s[index] = Some(measured.rate_per_s());
        let mean_ms = measured.tally.requested.mean_ms();
        if label.stop_curve_ms.is_some_and(|limit_ms| mean_ms > limit_ms) {
            self.underway.report(Reported::CurveEnds);
            return Ok(Next::End);
        }
        Ok(Next::Run)
    }
}

/// Returns the average of a run.
pub(super) fn averaged(label: &RunLabel, intervals: &[FileInterval]) -> Average<FileTotals> {
    output::average(
        label,
        intervals,
        |interval| interval.length_s,
        |measured: &mut FileTotals, interval| measured.add_for_run(label, interval),
        |measured| measured.tally.requested.count,
    )
}

/// Whether an entry is stored; single kinds of operation are stored by interval only.
fn is_kept(entry: &MeasurementEntry) -> bool {
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
fn base(phase: &FilePhase) -> Option<usize> {
    match phase.workload.load {
        FileLoad::ShareOf { phase, .. } => Some(phase),
        FileLoad::Closed | FileLoad::Open { .. } => None,
    }
}

/// Waits, unless the user stops the run.
fn pause(seconds: f64, stop: &AtomicBool) {
    const SLICE: Duration = Duration::from_millis(50);
    let began = Instant::now();
    while !stop.load(Ordering::Relaxed) && began.elapsed().as_secs_f64() < seconds {
        std::thread::sleep(SLICE);
    }
}
