//! What is printed and written while the runs go on, as Vdbench prints and writes it.

use std::path::PathBuf;

use assay_dialects::vdbench::output::{
    self, Measured, Moment, flat_file, histogram, pages, skew,
};
use assay_dialects::vdbench::{RateLabel, RunLabel};
use assay_model::storage_outcome::{IntervalTally, Operation, StorageOutcome};
use assay_model::workload::storage::{StoragePhase, StorageWorkload};
use jiff::Zoned;

use super::folder::Folder;
use crate::terminal::Terminal;
use assay_run::storage::runner::StorageEvent;

/// From this share of its length on, an interval counts as whole: a busy machine looks at its clock a
/// little late, which makes the next interval a little shorter.
pub(super) const FULL: f64 = 0.5;

/// The console and the folder.
pub(super) struct Report<'t> {
    pub(super) folder: Folder,
    pub(super) terminal: &'t mut Terminal,
    current: Option<Current>,
    laying_out: Option<PathBuf>,
    /// Links to all runs.
    contents: String,
    /// Runs that began.
    begun: usize,
    /// Whether no run is to follow.
    pub(super) is_over: bool,
}

/// The run that is going on.
struct Current {
    label: RunLabel,
    rate_per_s: Option<f64>,
    /// Intervals so far.
    number: usize,
    /// Intervals of full length so far.
    full: usize,
    lines: usize,
    is_warm: bool,
    counted: Measured,
    whole: Measured,
}

impl<'t> Report<'t> {
    pub(super) fn new(folder: Folder, terminal: &'t mut Terminal, runs: &[RunLabel]) -> Self {
        let contents = pages::contents(runs);
        Self {
            folder,
            terminal,
            current: None,
            laying_out: None,
            contents,
            begun: 0,
            is_over: false,
        }
    }

    /// What stands on the pages before the first run.
    pub(super) fn heads(&mut self) {
        let created = Zoned::now().strftime("%H:%M:%S %b %d %Y %Z");
        self.folder.summary.line(&format!("Vdbench summary report, created {created}\n"));
        for (words, name) in LINKS {
            self.folder.summary.line(&pages::link(words, name));
        }
        let contents = &self.contents;
        self.folder.summary.line(contents);
        self.folder.totals.line(&format!("Run totals\n{contents}"));
        self.folder.histogram.line(&format!("Total response time histogram.\n{contents}"));
        self.folder.skew.line(&format!("Workload skew report\n{contents}"));
        let nothing = "If there are no lines below, no I/O failed and no data was wrong.";
        self.folder.errors.line(&format!("Vdbench error log, created {created}\n{nothing}\n"));
        self.folder.status.line(
            "* Vdbench status: what happened when, for programs that watch; the values of a line \
             are separated by tabs.\n",
        );
    }

    /// The line that begins a run, on the console and on every page about runs.
    pub(super) fn begins(&mut self, header: &str, label: &RunLabel, table: &str) {
        let line = format!("{} {header}", time_of_day());
        let anchor = pages::anchor(label.number, &line);
        self.terminal.print_line(&line);
        self.folder.log.line(&line);
        for page in [
            &mut self.folder.summary,
            &mut self.folder.totals,
            &mut self.folder.histogram,
            &mut self.folder.skew,
        ] {
            page.line(&anchor);
        }
        // Totals have one heading for all runs.
        if self.begun == 0 {
            self.folder.totals.line(table);
        }
        self.begun += 1;
        self.status("Starting", Some(label));
    }

    /// A warning when the machine itself was busy.
    pub(super) fn busy(&mut self, cpu_percent: f64) {
        for line in pages::busy("localhost", cpu_percent).into_iter().flatten() {
            self.say_now(&line);
        }
    }

    /// A line on the console, in the summary and in the log.
    pub(super) fn say(&mut self, text: &str) {
        self.terminal.print_line(text);
        self.folder.summary.line(text);
        self.folder.log.line(text);
    }

    /// A line with the time of day.
    pub(super) fn say_now(&mut self, text: &str) {
        self.say(&format!("{} {text}", time_of_day()));
    }

    /// A line of the status page.
    pub(super) fn status(&mut self, event: &str, label: Option<&RunLabel>) {
        let run = label.map_or_else(String::new, |label| {
            format!("\trd={}\tFor loops: {}", label.name, output::loops(label))
        });
        self.folder.status.line(&format!("{} \t{event}{run}", timestamp()));
    }

    pub(super) fn event(&mut self, event: &StorageEvent<'_>, label: &RunLabel) {
        match event {
            StorageEvent::LayingOut { target, done_bytes, total_bytes } => {
                if self.laying_out.as_ref() != Some(&target.path) {
                    self.laying_out = Some(target.path.clone());
                    let bytes = assay_model::quantity::Bytes(*total_bytes).quantity();
                    self.say_now(&format!("Laying out {} ({bytes})", target.path.display()));
                }
                if done_bytes == total_bytes {
                    self.folder.log.line(&format!("{} done", time_of_day()));
                }
            }
            StorageEvent::PhaseStarts { rate_per_s, .. } => self.starts(label, *rate_per_s),
            StorageEvent::Interval { tally, .. } => self.interval(tally),
            // The outcome is judged by whoever runs the plan, which also gets the failures.
            StorageEvent::PhaseDone { .. } | StorageEvent::PhaseFailed { .. } => {}
        }
    }

    fn starts(&mut self, label: &RunLabel, rate_per_s: Option<f64>) {
        let rate_per_s = match label.rate {
            RateLabel::PerSecond(rate) => Some(rate),
            _ => rate_per_s,
        };
        self.begins(&output::starting(label, rate_per_s), label, &table_heading());
        self.current = Some(Current {
            label: label.clone(),
            rate_per_s,
            number: 0,
            full: 0,
            lines: 0,
            is_warm: false,
            counted: Measured::default(),
            whole: Measured::default(),
        });
    }

    fn interval(&mut self, tally: &IntervalTally) {
        let Some(mut current) = self.current.take() else { return };
        if current.lines.is_multiple_of(output::LINES_PER_HEADING) {
            self.say(&table_heading());
        }
        if !tally.warmup && !std::mem::replace(&mut current.is_warm, true) {
            self.status("Warmup done", Some(&current.label));
        }
        current.lines += 1;
        current.number += 1;
        // Of an interval that was cut short a rate can be told, but no average is made of it.
        let is_full = tally.length_s >= FULL * current.label.interval_s;
        current.full += usize::from(is_full);
        current.whole.add(tally);
        if is_full && current.number >= output::first_counted(&current.label) {
            current.counted.add(tally);
        }
        let measured = Measured::of(tally);
        let (tod, number) = (time_of_day(), current.number.to_string());
        self.say(&output::line(&tod, &number, &measured));
        self.flat_row(&tod, &current, &number, &measured);
        self.current = Some(current);
    }

    /// The average and what is to be said about it; `None` when nothing was measured. Of a run that the
    /// user stopped (`is_stopped`) nothing is said while it warms up, and never that it is done.
    pub(super) fn done(
        &mut self,
        workload: &StorageWorkload,
        outcome: &StorageOutcome,
        is_stopped: bool,
    ) -> Option<Measured> {
        let mut current = self.current.take()?;
        if is_stopped && current.counted.count() == 0 {
            return None;
        }
        let first = output::first_counted(&current.label);
        let (measured, label) = if current.counted.count() > 0 {
            (
                std::mem::take(&mut current.counted),
                output::average_label(first, current.full.max(first)),
            )
        } else {
            (
                std::mem::take(&mut current.whole),
                output::average_label(1, current.number.max(1)),
            )
        };
        if measured.count() == 0 {
            return None;
        }
        let tod = time_of_day();
        let line = output::line(&tod, &label, &measured);
        self.say(&line);
        self.folder.totals.line(&line);
        self.flat_row(&tod, &current, &label, &measured);
        self.folder.histogram.line(&histogram::sections(&measured));
        self.parts(&tod, &current, workload, outcome, &measured);
        self.beyond_vdbench(&measured, current.rate_per_s);
        self.busy(measured.cpu_percent());
        let engine = format!("Engine: {}; {}", outcome.engine, outcome.engine_reason);
        self.folder.log.line(&format!("{tod} {engine}"));
        if !is_stopped {
            self.status("Workload done", Some(&current.label));
            self.status("Slaves done", Some(&current.label));
        }
        Some(measured)
    }

    fn flat_row(&mut self, tod: &str, current: &Current, interval: &str, measured: &Measured) {
        let moment = Moment { tod, timestamp: &timestamp() };
        let row =
            flat_file::row(moment, &current.label, interval, current.rate_per_s, measured);
        self.folder.flat_file.line(&row);
    }

    /// Who did how much: the skew page, and the page of each storage and workload definition.
    fn parts(
        &mut self,
        tod: &str,
        current: &Current,
        workload: &StorageWorkload,
        outcome: &StorageOutcome,
        measured: &Measured,
    ) {
        let storage = skew::of_storage(workload, outcome, measured);
        let workloads = skew::of_workloads(workload, outcome, measured);
        let report = skew::report(tod, &current.label, (&storage, &workloads));
        self.folder.skew.line(&report);
        let label = &current.label;
        let header = output::starting(label, current.rate_per_s);
        let anchor = pages::anchor(label.number, &format!("{tod} {header}"));
        let first = (label.warmup_s / label.interval_s).round() as usize + 1;
        let average = output::average_label(first, current.full.max(first));
        let kinds = [("SD report for sd=", storage), ("Workload Report for wd=", workloads)];
        for (title, parts) in kinds {
            for skew::Part { name, measured, .. } in parts {
                let line = output::line(tod, &average, &measured);
                let head = format!("{title}{name}\n\n{}\n", histogram_link(&name));
                let text = format!("{anchor}\n{}\n{line}", table_heading());
                self.folder.part(&name, &head, &text);
                let head = format!("{title}{name}: response time histogram.\n");
                let text = format!("{anchor}\n{}", histogram::sections(&measured));
                self.folder.part(&format!("{name}.histogram"), &head, &text);
            }
        }
    }

    /// What Vdbench does not tell: a rate that was missed, and the wait before an I/O could start.
    fn beyond_vdbench(&mut self, measured: &Measured, rate_per_s: Option<f64>) {
        if let Some((mean_ms, p99_ms)) = measured.from_intended_ms() {
            self.say_now(&format!(
                "From the intended start of each I/O: mean {mean_ms:.3} ms, p99 {p99_ms:.3} ms"
            ));
        }
        let reached = measured.rate_per_s();
        let is_missed =
            |rate: &f64| output::is_missed(*rate, measured.count(), measured.seconds());
        if let Some(rate) = rate_per_s.filter(is_missed) {
            self.say_now(&format!(
                "Rate not reached: {reached:.1} of the {rate:.1} I/O per second asked for"
            ));
        }
    }

    /// I/O that failed, in the error log; all are counted, the first few are told.
    pub(super) fn failed_io(&mut self, phase: &StoragePhase, outcome: &StorageOutcome) {
        for error in &outcome.errors {
            let target = &phase.workload.targets[error.target];
            let operation = match error.operation {
                Operation::Read => "read",
                Operation::Write => "write",
            };
            let line = format!(
                "{} op: {operation} lun: {} lba: {} 0x{:X} xfer: {} errno: {}",
                time_of_day(),
                target.path.display(),
                error.offset,
                error.offset,
                error.bytes,
                error.reason
            );
            self.folder.errors.line(&line);
            self.folder.log.line(&line);
        }
        if outcome.error_count > 0 {
            let count = outcome.error_count;
            self.say_now(&format!("{count} I/O failed; see errorlog.html"));
        }
    }
}

/// The links at the top of the summary.
const LINKS: [(&str, &str); 9] = [
    ("Link to logfile:", "logfile"),
    ("Run totals:", "totals"),
    ("Vdbench status:", "status"),
    ("Copy of input parameter files:", "parmfile"),
    ("Copy of parameter scan detail:", "parmscan"),
    ("Link to errorlog:", "errorlog"),
    ("Link to flatfile:", "flatfile"),
    ("Link to response time histogram:", "histogram"),
    ("Link to workload skew report:", "skew"),
];

fn histogram_link(name: &str) -> String {
    pages::link("Link to response time histogram:", &format!("{name}.histogram"))
}

/// The heading of the table with today's date, behind an empty line.
fn table_heading() -> String {
    format!("\n{}", output::heading(&today()))
}

/// `Nov 21, 2026`.
pub(super) fn today() -> String {
    Zoned::now().strftime("%b %d, %Y").to_string()
}

/// Date, time and zone, as files for scripts have them.
pub(super) fn timestamp() -> String {
    Zoned::now().strftime("%m/%d/%Y-%H:%M:%S-%Z").to_string()
}

/// The time of day that opens every line.
pub(super) fn time_of_day() -> String {
    Zoned::now().strftime("%H:%M:%S%.3f").to_string()
}
