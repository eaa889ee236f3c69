//! The runs on file trees, one after another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_dialects::vdbench::RunLabel;
use assay_dialects::vdbench::output::files::FileMeasured;
use assay_dialects::vdbench::output::{self, Average};
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::workload::file_set::{FileLoad, FilePhase};

use super::ending::{self, Ending};
use super::told::Told;
use super::{Notice, Underway, around};
use crate::failure::Failure;
use crate::storage::file_trees;
use crate::storage::runner::interrupted;

/// Carries out all of them once.
pub(super) fn all(underway: &mut Underway<'_, '_>) -> Result<(), Failure> {
    let execution = underway.question.execution;
    let reached_per_s = vec![None; execution.runs.len()];
    let mut runs = Runs { underway, reached_per_s, errors: 0 };
    let mut left_out = None;
    for (index, (phase, label)) in
        execution.files.phases.iter().zip(&execution.runs).enumerate()
    {
        if left_out.is_some() && left_out == base(phase) {
            continue;
        }
        pause(phase.pause_before_s, runs.underway.stop);
        match runs.one(index, phase, label)? {
            Next::Run => {}
            Next::SkipCurve => left_out = base(phase),
            Next::End => break,
        }
    }
    match runs.errors {
        0 => Ok(()),
        count => Err(Failure::measurement(format!("{count} operations failed"))
            .advise("see errorlog.html")),
    }
}

struct Runs<'r, 'd, 'l> {
    underway: &'r mut Underway<'d, 'l>,
    /// What each run reached, in operations per second.
    reached_per_s: Vec<Option<f64>>,
    /// Operations that failed so far.
    errors: u64,
}

/// Whether there is more to run.
enum Next {
    Run,
    /// The rest of the curve is left out.
    SkipCurve,
    End,
}

impl Runs<'_, '_, '_> {
    fn one(
        &mut self,
        index: usize,
        phase: &FilePhase,
        label: &RunLabel,
    ) -> Result<Next, Failure> {
        let mut phase = phase.clone();
        phase.workload.load = match phase.workload.load {
            FileLoad::ShareOf { phase: of, percent, rounding, arrivals } => {
                let reached = self.reached_per_s[of].ok_or_else(|| {
                    let what = format!("there is no rate that RD={} is a share of", label.name);
                    Failure::measurement(what).explain("the run before it did nothing")
                })?;
                let per_s = rounding.share(reached, percent);
                if per_s <= 0.0 {
                    self.underway.tell(Told::LeftOut { run: label.name.clone() });
                    return Ok(Next::SkipCurve);
                }
                FileLoad::Open { per_s, arrivals }
            }
            load => load,
        };
        around::run(label.commands.start.as_ref(), self.underway)?;
        let outcome = self.carry_out(&phase, label)?;
        let next = self.judge(index, &phase, label, outcome)?;
        around::run(label.commands.end.as_ref(), self.underway)?;
        Ok(if self.underway.is_over { Next::End } else { next })
    }

    /// Carries out a phase, which bytes or a watched file may end early.
    fn carry_out(
        &mut self,
        phase: &FilePhase,
        label: &RunLabel,
    ) -> Result<(FileOutcome, Average<FileMeasured>), Failure> {
        let rate_per_s = match phase.workload.load {
            FileLoad::Open { per_s, .. } => Some(per_s),
            FileLoad::Closed | FileLoad::ShareOf { .. } => None,
        };
        let underway = &mut *self.underway;
        let (stop, execution) = (underway.stop, underway.question.execution);
        let ends = AtomicBool::new(false);
        let mut ending = Ending::new(label.limits, execution.monitor.as_ref());
        let mut intervals = Vec::new();
        (underway.on)(Notice::TreesStart { label, rate_per_s });
        let left = execution.data_errors.saturating_sub(self.errors).max(1);
        let mut on_interval = |interval: &FileInterval| {
            (underway.on)(Notice::TreesInterval(interval));
            intervals.push(interval.clone());
            let tally = &interval.tally;
            if ending.interval(interval.warmup, tally.read_bytes, tally.written_bytes) {
                ends.store(true, Ordering::Relaxed);
            }
        };
        let outcome = ending::following(stop, &ends, || {
            file_trees::run_phase(phase, &ends, left, &mut on_interval)
        })?;
        let is_stopped = underway.is_stopped();
        let average = output::average(
            label,
            &intervals,
            |interval| interval.length_s,
            FileMeasured::add,
            |measured| measured.tally.requested.count,
        );
        let told = (average.counts || !is_stopped).then_some(&average);
        (underway.on)(Notice::TreesDone {
            label,
            outcome: &outcome,
            average: told,
            is_stopped,
        });
        let reason = ending.reason.filter(|_| !is_stopped);
        underway.ended(reason.as_ref());
        Ok((outcome, average))
    }

    fn judge(
        &mut self,
        index: usize,
        phase: &FilePhase,
        label: &RunLabel,
        (outcome, average): (FileOutcome, Average<FileMeasured>),
    ) -> Result<Next, Failure> {
        self.errors += outcome.error_count;
        let most = self.underway.question.execution.data_errors;
        if self.errors >= most.max(1) {
            return Err(Failure::measurement(format!("{} operations failed", self.errors))
                .explain(format!("data_errors allows fewer than {most}"))
                .advise("see errorlog.html"));
        }
        if self.underway.is_stopped() {
            return Err(interrupted());
        }
        let measured = average.measured;
        // A format has nothing to do where everything is there already.
        if measured.tally.requested.count == 0 && !phase.workload.in_turn {
            return Err(Failure::measurement(format!("RD={} did nothing", label.name))
                .explain("there is no file or directory that its operations could work on")
                .advise("format=yes makes the files, format=restart those that are missing"));
        }
        self.reached_per_s[index] = Some(measured.rate_per_s());
        let mean_ms = measured.tally.requested.mean_ms();
        if label.stop_curve_ms.is_some_and(|limit_ms| mean_ms > limit_ms) {
            self.underway.tell(Told::CurveEnds);
            return Ok(Next::End);
        }
        Ok(Next::Run)
    }
}

/// The run that a run's rate is a share of.
fn base(phase: &FilePhase) -> Option<usize> {
    match phase.workload.load {
        FileLoad::ShareOf { phase, .. } => Some(phase),
        FileLoad::Closed | FileLoad::Open { .. } => None,
    }
}

/// Waits, unless the user wants to stop.
fn pause(seconds: f64, stop: &AtomicBool) {
    const SLICE: Duration = Duration::from_millis(50);
    let began = Instant::now();
    while !stop.load(Ordering::Relaxed) && began.elapsed().as_secs_f64() < seconds {
        std::thread::sleep(SLICE);
    }
}
