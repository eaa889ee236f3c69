//! File-system runs, one after another, with Vdbench's reports of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assay_dialects::vdbench::output::files::{self as output, FileMeasured};
use assay_dialects::vdbench::output::{self as shared, LINES_PER_HEADING, Moment, histogram};
use assay_dialects::vdbench::{Execution, RunLabel};
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::workload::file_set::{FileLoad, FileOperation, FilePhase};

use super::around;
use super::ending::{self, Ending};
use super::report::{FULL, Report, time_of_day, timestamp, today};
use assay_run::failure::Failure;
use assay_run::storage::file_trees;
use assay_run::storage::runner::{RunOptions, interrupted};

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
        shown: output::shown(&execution.files),
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
    /// Operations with columns of their own.
    shown: Vec<FileOperation>,
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
    shown: &'r [FileOperation],
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
        around::run(label.commands.start.as_ref(), self.report, self.stop)?;
        let ends = AtomicBool::new(false);
        let mut ending = Ending::new(label.limits, self.execution.monitor.as_ref());
        let mut table = Table::begin(self.report, label, per_s, &self.shown);
        let left = self.execution.data_errors.saturating_sub(self.errors).max(1);
        let mut on_interval = |interval: &FileInterval| {
            table.interval(interval);
            let tally = &interval.tally;
            if ending.interval(interval.warmup, tally.read_bytes, tally.written_bytes) {
                ends.store(true, Ordering::Relaxed);
            }
        };
        let outcome = ending::following(self.stop, &ends, || {
            file_trees::run_phase(&phase, &ends, left, &mut on_interval)
        })?;
        let is_stopped = self.stop.load(Ordering::Relaxed);
        let measured = table.end(is_stopped);
        if let Some(reason) = ending.reason.filter(|_| !is_stopped) {
            self.report.say_now(&reason);
            self.report.is_over |= ending.is_last;
        }
        let next = self.judge(index, &phase, label, &outcome, &measured)?;
        around::run(label.commands.end.as_ref(), self.report, self.stop)?;
        Ok(if self.report.is_over { Next::End } else { next })
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
            return Err(interrupted());
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
    fn begin(
        report: &'r mut Report<'t>,
        label: &'r RunLabel,
        per_s: Option<f64>,
        shown: &'r [FileOperation],
    ) -> Self {
        report.begins(&output::starting(label, per_s), label, &table_heading(shown));
        Self {
            report,
            label,
            per_s,
            shown,
            number: 0,
            full: 0,
            counted: FileMeasured::default(),
            whole: FileMeasured::default(),
        }
    }

    fn interval(&mut self, interval: &FileInterval) {
        if self.number.is_multiple_of(LINES_PER_HEADING) {
            self.report.say(&table_heading(self.shown));
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
        self.report.say(&output::line(&tod, &number, &measured, self.shown));
        self.flat_row(&tod, &number, &measured);
        if self.number == 1 {
            self.report.status("Warmup done", Some(self.label));
        }
    }

    fn flat_row(&mut self, tod: &str, interval: &str, measured: &FileMeasured) {
        let moment = Moment { tod, timestamp: &timestamp() };
        let row = output::flat_row(moment, self.label, interval, self.per_s, measured);
        self.report.folder.flat_file.line(&row);
    }

    /// The average, and what Vdbench does not tell. Of a run that the user stopped nothing is said while it
    /// warms up, and never that it is done.
    fn end(mut self, is_stopped: bool) -> FileMeasured {
        if is_stopped && self.counted.tally.requested.count == 0 {
            return self.whole;
        }
        let first = shared::first_counted(self.label);
        let (measured, average) = if self.counted.tally.requested.count > 0 {
            (
                std::mem::take(&mut self.counted),
                shared::average_label(first, self.full.max(first)),
            )
        } else {
            (std::mem::take(&mut self.whole), shared::average_label(1, self.number.max(1)))
        };
        let tod = time_of_day();
        let line = output::line(&tod, &average, &measured, self.shown);
        self.report.say(&line);
        self.report.folder.totals.line(&line);
        self.flat_row(&tod, &average, &measured);
        let sections = histogram::of_operations(measured.tally.service_ns.as_ref());
        self.report.folder.histogram.line(&sections);
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
        self.report.busy(measured.cpu_percent().0);
        if !is_stopped {
            self.report.status("Workload done", Some(self.label));
            self.report.status("Slaves done", Some(self.label));
        }
        measured
    }
}

/// The heading of the table with today's date, behind an empty line.
fn table_heading(shown: &[FileOperation]) -> String {
    format!("\n{}", output::heading(&today(), shown))
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
