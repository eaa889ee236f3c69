//! The runs of a parameter file, one after another: rates that depend on earlier runs, the ends of
//! curves, and the verdict.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use assay_dialects::vdbench::output::{self, flat_file};
use assay_dialects::vdbench::{Execution, RunLabel};
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{
    AccessPattern, AtEnd, Load, StoragePhase, StoragePlan, StorageWorkload,
};

use super::ending::{self, Ending};
use super::folder::Folder;
use super::repeat::Repeat;
use super::report::Report;
use super::{Read, around};
use crate::arguments::vdbench::VdbenchArguments;
use crate::signals;
use crate::terminal::Terminal;
use assay_run::failure::Failure;
use assay_run::storage::runner::{self, RunOptions, StorageEvent};

/// What people who know Vdbench must know of these results.
const DIFFERENCES: [&str; 9] = [
    "response times are from submission to completion, as Vdbench's; with a rate, times from the intended \
     start are told beside them",
    "o_sync and o_rsync mean O_SYNC; Vdbench makes O_DSYNC of them",
    "files that the first run writes from start to end (seekpct=eof) are not written once before",
    "random offsets have 64 bits; Vdbench's 32768 values leave blocks of large files untouched",
    "one process does all I/O; jvms= has no effect",
    "a full queue at one SD does not hold up the others",
    "the histogram leaves the warm-up out; Vdbench counts it",
    "a rate that is not reached is said so",
    "pages of single SDs and WDs hold averages over all time that counts",
];

/// Carries the runs out.
pub(super) fn execute(
    typed: &VdbenchArguments,
    execution: &Execution,
    (files, scan): (&Read, &str),
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let stop = signals::cancel_on_signals()?;
    let folder = Folder::make(&typed.output)?;
    let mut report = Report::new(folder, terminal, &execution.runs);
    open(&mut report, execution, (files, scan));
    let options = RunOptions {
        destroy_data: typed.destroy_data.clone(),
        allow_unmounted: typed.allow_unmounted,
        keep: true,
        writers_make_files: first_run_fills_all(&execution.plan),
        store: typed.store.folder.clone(),
        ..RunOptions::default()
    };
    let repeat = Repeat::read(typed.again.as_ref())?.or(execution.repetition);
    let verdict = all_runs(execution, (&options, repeat), &stop, &mut report);
    if typed.test.is_some() {
        // Vdbench's proof of installation leaves nothing behind.
        runner::remove_made(&options)?;
    }
    close(report, verdict)
}

/// The runs with what is to be done around them, once or over and over.
fn all_runs(
    execution: &Execution,
    (options, repeat): (&RunOptions, Repeat),
    stop: &AtomicBool,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    around::run(execution.commands.start.as_ref(), report, stop)?;
    let (began, mut done) = (Instant::now(), 0);
    loop {
        if execution.files.phases.is_empty() {
            raw(execution, options.clone(), stop, report)?;
        } else {
            super::files::all(execution, options, stop, report)?;
        }
        done += 1;
        if report.is_over || !repeat.again(began, done) {
            break;
        }
    }
    around::run(execution.commands.end.as_ref(), report, stop)
}

/// The last words.
fn close(mut report: Report<'_>, verdict: Result<(), Failure>) -> Result<u8, Failure> {
    report.folder.failure()?;
    let words = match &verdict {
        Ok(()) => "Vdbench execution completed successfully.",
        Err(_) => "Vdbench execution abnormally terminated.",
    };
    let output = report.folder.path.display().to_string();
    report.status("Shutting down slaves", None);
    report.status("Vdbench complete", None);
    report.say_now(&format!("{words} Output directory: {output}"));
    verdict.map(|()| 0)
}

fn raw(
    execution: &Execution,
    options: RunOptions,
    stop: &AtomicBool,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let mut runs = Runs {
        execution,
        options,
        stop,
        report,
        done: vec![None; execution.runs.len()],
        errors: 0,
    };
    runs.all()
}

/// What stands in the pages before the first run.
fn open(report: &mut Report<'_>, execution: &Execution, (files, scan): (&Read, &str)) {
    let heading = match execution.files.phases.is_empty() {
        true => flat_file::heading(),
        false => output::files::flat_heading(),
    };
    report.heads();
    report.folder.flat_file.line(&heading);
    for (path, bytes) in files {
        report.folder.parameters.line(&format!("* {}", path.display()));
        report.folder.parameters.line(&String::from_utf8_lossy(bytes));
    }
    report.folder.scan.line(scan);
    report.folder.log.line("Differences from Vdbench:");
    for difference in DIFFERENCES {
        report.folder.log.line(&format!("- {difference}"));
    }
    for note in &execution.notes {
        report.folder.log.line(&note.to_string());
    }
    report.status("Starting slaves", None);
    report.status("Slaves connected", None);
}

/// Runs and what they reached.
struct Runs<'r, 't> {
    execution: &'r Execution,
    options: RunOptions,
    stop: &'r AtomicBool,
    report: &'r mut Report<'t>,
    done: Vec<Option<Reached>>,
    /// I/O that failed so far.
    errors: u64,
}

/// What a run reached, for the runs that depend on it.
#[derive(Debug, Clone)]
struct Reached {
    rate_per_s: f64,
    /// Share of each stream.
    shares: Vec<f64>,
}

/// Whether there is more to run.
enum Next {
    Run,
    /// The rest of the curve that begins with this run is left out.
    SkipCurve(usize),
    End,
}

impl Runs<'_, '_> {
    fn all(&mut self) -> Result<(), Failure> {
        let plan = &self.execution.plan;
        let first = &self.execution.runs[0];
        let report = &mut *self.report;
        runner::prepare(plan, &self.options, self.stop, &mut |event| {
            report.event(&event, first);
        })?;
        let mut skipped = None;
        for (index, (phase, label)) in plan.phases.iter().zip(&self.execution.runs).enumerate()
        {
            if skipped.is_some() && skipped == base(phase) {
                continue;
            }
            let next = self.one(index, phase, label)?;
            // Only the first run is known to fill what it makes.
            self.options.writers_make_files = false;
            match next {
                Next::Run => {}
                Next::SkipCurve(of) => skipped = Some(of),
                Next::End => break,
            }
        }
        match self.errors {
            0 => Ok(()),
            1 => Err(Failure::measurement("one I/O failed").advise("see errorlog.html")),
            more => {
                Err(Failure::measurement(format!("{more} I/O failed"))
                    .advise("see errorlog.html"))
            }
        }
    }

    fn one(
        &mut self,
        index: usize,
        phase: &StoragePhase,
        label: &RunLabel,
    ) -> Result<Next, Failure> {
        let mut phase = phase.clone();
        if let Some(of) = base(&phase) {
            let Some(workload) = self.at_share(&phase.workload, label)? else {
                let what = format!("RD={} is left out: its rate would be 0", label.name);
                self.report.say_now(&what);
                return Ok(Next::SkipCurve(of));
            };
            phase.workload = workload;
        }
        around::run(label.commands.start.as_ref(), self.report, self.stop)?;
        let plan = StoragePlan { phases: vec![phase] };
        let outcome = self.carry_out(&plan, label)?;
        let next = match plan.phases.first() {
            Some(phase) => self.judge(index, phase, label, &outcome)?,
            None => Next::End,
        };
        around::run(label.commands.end.as_ref(), self.report, self.stop)?;
        Ok(if self.report.is_over { Next::End } else { next })
    }

    /// Carries out a plan of one phase, which bytes or a watched file may end early.
    fn carry_out(
        &mut self,
        plan: &StoragePlan,
        label: &RunLabel,
    ) -> Result<StorageOutcome, Failure> {
        let ends = AtomicBool::new(false);
        let mut ending = Ending::new(label.limits, self.execution.monitor.as_ref());
        let mut outcome = None;
        let report = &mut *self.report;
        let mut on = |event: StorageEvent<'_>| {
            report.event(&event, label);
            match event {
                StorageEvent::Interval { tally } => {
                    let (read, written) = (tally.reads.bytes, tally.writes.bytes);
                    if ending.interval(tally.warmup, read, written) {
                        ends.store(true, Ordering::Relaxed);
                    }
                }
                StorageEvent::PhaseDone { outcome: done } => outcome = Some(done.clone()),
                _ => {}
            }
        };
        let done = ending::following(self.stop, &ends, || {
            runner::carry_out(plan, &self.options, &ends, &mut on)
        });
        let is_stopped = self.stop.load(Ordering::Relaxed);
        // What ends a run before its time is no failure, and what was measured until then is told.
        if outcome.is_none() || !(is_stopped || ending.reason.is_some()) {
            done?;
        }
        if let Some(reason) = ending.reason.filter(|_| !is_stopped) {
            self.report.say_now(&reason);
            self.report.is_over |= ending.is_last;
        }
        outcome.ok_or_else(|| Failure::measurement(format!("RD={} did no I/O", label.name)))
    }

    /// What a run that is over means for those to come.
    fn judge(
        &mut self,
        index: usize,
        phase: &StoragePhase,
        label: &RunLabel,
        outcome: &StorageOutcome,
    ) -> Result<Next, Failure> {
        let is_stopped = self.stop.load(Ordering::Relaxed);
        let measured = self.report.done(&phase.workload, outcome, is_stopped);
        self.report.failed_io(phase, outcome);
        self.errors += outcome.error_count;
        if self.errors >= self.execution.data_errors.max(1) {
            return Err(Failure::measurement(format!("{} I/O failed", self.errors))
                .explain(format!(
                    "data_errors allows fewer than {}",
                    self.execution.data_errors
                ))
                .advise("see errorlog.html"));
        }
        if is_stopped {
            return Err(runner::interrupted());
        }
        let Some(measured) = measured else {
            return Err(Failure::measurement(format!("RD={} did no I/O", label.name))
                .advise("lengthen elapsed=, or see errorlog.html"));
        };
        self.done[index] = Some(reached(phase, outcome, measured.rate_per_s()));
        let is_slow =
            label.stop_curve_ms.is_some_and(|limit_ms| measured.response_ms() > limit_ms);
        if is_slow {
            self.report.say_now("stopcurve: the response time is greater; the execution ends");
            return Ok(Next::End);
        }
        Ok(Next::Run)
    }

    /// The workload at the rate that an earlier run decides; `None` when that is nothing.
    fn at_share(
        &self,
        workload: &StorageWorkload,
        label: &RunLabel,
    ) -> Result<Option<StorageWorkload>, Failure> {
        let Load::ShareOf { phase, percent, rounding, arrivals } = workload.load else {
            return Ok(Some(workload.clone()));
        };
        let reached = self.done[phase].as_ref().ok_or_else(|| {
            Failure::measurement(format!(
                "there is no rate that RD={} is a share of",
                label.name
            ))
            .explain("the run before it was left out")
        })?;
        let rate_per_s = rounding.share(reached.rate_per_s, percent);
        if rate_per_s <= 0.0 {
            return Ok(None);
        }
        let mut workload = workload.clone();
        workload.load = Load::Open { rate_per_s, arrivals };
        if label.shares_observed && reached.shares.len() == workload.streams.len() {
            for (stream, share) in workload.streams.iter_mut().zip(&reached.shares) {
                stream.rate_share = *share;
            }
        }
        Ok(Some(workload))
    }
}

/// The run that a run's rate is a share of.
fn base(phase: &StoragePhase) -> Option<usize> {
    match phase.workload.load {
        Load::ShareOf { phase, .. } => Some(phase),
        Load::Closed | Load::Balanced | Load::Open { .. } | Load::Capped { .. } => None,
    }
}

fn reached(phase: &StoragePhase, outcome: &StorageOutcome, rate_per_s: f64) -> Reached {
    let mut counts = vec![0u64; phase.workload.streams.len()];
    for tally in &outcome.tallies {
        counts[tally.stream] += tally.tally.count;
    }
    let total = counts.iter().sum::<u64>().max(1) as f64;
    let shares = counts.into_iter().map(|count| count as f64 / total).collect();
    Reached { rate_per_s, shares }
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

/// Whether the first run itself writes every file of all runs, so that none is laid out before it.
fn first_run_fills_all(plan: &StoragePlan) -> bool {
    let Some((first, others)) = plan.phases.split_first() else { return false };
    let paths = |phase: &StoragePhase| -> BTreeSet<PathBuf> {
        phase.workload.targets.iter().map(|target| Path::to_path_buf(&target.path)).collect()
    };
    let filled = paths(first);
    fills(&first.workload) && others.iter().all(|phase| paths(phase).is_subset(&filled))
}
