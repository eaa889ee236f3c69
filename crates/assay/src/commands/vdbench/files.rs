//! File-system runs, one after another, with Vdbench's reports of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_adapters::dialect::vdbench::output::files::{self as output, FileMeasured};
use assay_adapters::dialect::vdbench::output::{self as shared, LINES_PER_HEADING};
use assay_adapters::dialect::vdbench::{Execution, RunLabel};
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::workload::file_set::{FileLoad, FilePhase};
use jiff::Zoned;

use super::report::{FULL, Report, time_of_day};
use crate::failure::Failure;
use crate::storage::file_trees;
use crate::storage::runner::RunOptions;

/// Carries out all file-system runs of a parameter file.
pub(super) fn all(
    execution: &Execution,
    options: &RunOptions,
    stop: &AtomicBool,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    file_trees::prepare(&execution.files, options, execution.create_anchors)?;
    let mut runs = Runs {
        execution,
        stop,
        report,
        reached_per_s: vec![None; execution.runs.len()],
        errors: 0,
    };
    let mut left_out = None;
    for (index, (phase, label)) in
        execution.files.phases.iter().zip(&execution.runs).enumerate()
    {
        if left_out.is_some() && left_out == base(phase) {
            continue;
        }
        pause(phase.pause_before_s, stop);
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

struct Runs<'r, 't> {
    execution: &'r Execution,
    stop: &'r AtomicBool,
    report: &'r mut Report<'t>,
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

/// The table of one run as it grows.
struct Table<'r, 't> {
    report: &'r mut Report<'t>,
    label: &'r RunLabel,
    per_s: Option<f64>,
    number: usize,
    full: usize,
    counted: FileMeasured,
    whole: FileMeasured,
}

impl Runs<'_, '_> {
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
                    let what = format!("RD={} is left out: its rate would be 0", label.name);
                    self.report.say_now(&what);
                    return Ok(Next::SkipCurve);
                }
                FileLoad::Open { per_s, arrivals }
            }
            load => load,
        };
        let per_s = match phase.workload.load {
            FileLoad::Open { per_s, .. } => Some(per_s),
            FileLoad::Closed | FileLoad::ShareOf { .. } => None,
        };
        let mut table = Table::begin(self.report, label, per_s);
        let left = self.execution.data_errors.saturating_sub(self.errors).max(1);
        let mut on_interval = |interval: &FileInterval| table.interval(interval);
        let outcome = file_trees::run_phase(&phase, self.stop, left, &mut on_interval)?;
        let measured = table.end();
        self.judge(index, &phase, label, &outcome, &measured)
    }

    fn judge(
        &mut self,
        index: usize,
        phase: &FilePhase,
        label: &RunLabel,
        outcome: &FileOutcome,
        measured: &FileMeasured,
    ) -> Result<Next, Failure> {
        for error in &outcome.errors {
            let line = format!(
                "{} op: {} file: {} errno: {}",
                time_of_day(),
                error.operation.name(),
                error.path.display(),
                error.reason
            );
            self.report.folder.errors.line(&line);
            self.report.folder.log.line(&line);
        }
        self.errors += outcome.error_count;
        if self.errors >= self.execution.data_errors.max(1) {
            return Err(Failure::measurement(format!("{} operations failed", self.errors))
                .explain(format!(
                    "data_errors allows fewer than {}",
                    self.execution.data_errors
                ))
                .advise("see errorlog.html"));
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failure::measurement("the run was interrupted"));
        }
        // A format has nothing to do where everything is there already.
        if measured.tally.requested.count == 0 && !phase.workload.in_turn {
            return Err(Failure::measurement(format!("RD={} did nothing", label.name))
                .explain("there is no file or directory that its operations could work on")
                .advise("format=yes makes the files, format=restart those that are missing"));
        }
        let reached_per_s = measured.rate_per_s();
        self.reached_per_s[index] = Some(reached_per_s);
        let mean_ms = measured.tally.requested.mean_ms();
        if label.stop_curve_ms.is_some_and(|limit_ms| mean_ms > limit_ms) {
            self.report.say_now("stopcurve: the response time is greater; the execution ends");
            return Ok(Next::End);
        }
        Ok(Next::Run)
    }
}

impl<'r, 't> Table<'r, 't> {
    fn begin(report: &'r mut Report<'t>, label: &'r RunLabel, per_s: Option<f64>) -> Self {
        let header = output::starting(label, per_s);
        report.say("");
        report.say_now(&header);
        report.folder.totals.line(&format!("\n{} {header}", time_of_day()));
        report.status("Starting", Some(label));
        Self {
            report,
            label,
            per_s,
            number: 0,
            full: 0,
            counted: FileMeasured::default(),
            whole: FileMeasured::default(),
        }
    }

    fn interval(&mut self, interval: &FileInterval) {
        if self.number.is_multiple_of(LINES_PER_HEADING) {
            let date = Zoned::now().strftime("%b %d, %Y").to_string();
            self.report.say(&format!("\n{}", output::heading(&date)));
        }
        self.number += 1;
        let is_full = interval.length_s >= FULL * self.label.interval_s;
        self.full += usize::from(is_full);
        self.whole.add(interval);
        if is_full && self.number >= shared::first_counted(self.label) {
            self.counted.add(interval);
        }
        let mut measured = FileMeasured::default();
        measured.add(interval);
        let (tod, number) = (time_of_day(), self.number.to_string());
        self.report.say(&output::line(&tod, &number, &measured));
        let row = output::flat_row(&tod, self.label, &number, self.per_s, &measured);
        self.report.folder.flat_file.line(&row);
    }

    /// The average, and what Vdbench does not tell.
    fn end(self) -> FileMeasured {
        let first = shared::first_counted(self.label);
        let (measured, average) = if self.counted.tally.requested.count > 0 {
            (self.counted, shared::average_label(first, self.full.max(first)))
        } else {
            (self.whole, shared::average_label(1, self.number.max(1)))
        };
        let tod = time_of_day();
        let line = output::line(&tod, &average, &measured);
        self.report.say(&line);
        self.report.folder.totals.line(&line);
        let row = output::flat_row(&tod, self.label, &average, self.per_s, &measured);
        self.report.folder.flat_file.line(&row);
        if let Some((mean_ms, p99_ms)) = measured.from_intended_ms() {
            self.report.say_now(&format!(
                "From the intended start of each operation: mean {mean_ms:.3} ms, p99 {p99_ms:.3} ms"
            ));
        }
        let reached = measured.rate_per_s();
        let count = measured.tally.requested.count;
        let is_missed = |rate: &f64| shared::is_missed(*rate, count, measured.seconds());
        if let Some(rate) = self.per_s.filter(is_missed) {
            self.report.say_now(&format!(
                "Rate not reached: {reached:.1} of the {rate:.1} operations per second asked for"
            ));
        }
        self.report.status("Workload done", Some(self.label));
        measured
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
