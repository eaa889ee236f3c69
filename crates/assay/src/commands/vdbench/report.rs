//! What is printed and written while the runs go on, as Vdbench prints and writes it.

use std::path::PathBuf;

use assay_adapters::dialect::vdbench::output::{self, Measured, flat_file, histogram};
use assay_adapters::dialect::vdbench::{RateLabel, RunLabel};
use assay_model::storage_outcome::{IntervalTally, Operation, StorageOutcome};
use assay_model::workload::storage::StoragePhase;
use jiff::Zoned;

use super::folder::Folder;
use crate::storage::runner::StorageEvent;
use crate::terminal::Terminal;

/// From this share of its length on, an interval counts as whole: a busy machine looks at its clock a
/// little late, which makes the next interval a little shorter.
pub(super) const FULL: f64 = 0.5;

/// The console and the folder.
pub(super) struct Report<'t> {
    pub(super) folder: Folder,
    pub(super) terminal: &'t mut Terminal,
    current: Option<Current>,
    laying_out: Option<PathBuf>,
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
    pub(super) fn new(folder: Folder, terminal: &'t mut Terminal) -> Self {
        Self { folder, terminal, current: None, laying_out: None }
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
        let now = Zoned::now().strftime("%m/%d/%Y-%H:%M:%S-%Z");
        let run = label.map_or_else(String::new, |label| {
            format!("\trd={}\t{}", label.name, output::loops(label))
        });
        self.folder.status.line(&format!("{now}\t{event}{run}"));
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
        let header = output::starting(label, rate_per_s);
        self.say("");
        self.say_now(&header);
        let totals = format!("\n{} {header}", time_of_day());
        self.folder.totals.line(&totals);
        self.status("Starting", Some(label));
        self.current = Some(Current {
            label: label.clone(),
            rate_per_s,
            number: 0,
            full: 0,
            lines: 0,
            is_warm: label.warmup_s <= 0.0,
            counted: Measured::default(),
            whole: Measured::default(),
        });
    }

    fn interval(&mut self, tally: &IntervalTally) {
        let Some(mut current) = self.current.take() else { return };
        if current.lines.is_multiple_of(output::LINES_PER_HEADING) {
            let date = Zoned::now().strftime("%b %d, %Y").to_string();
            self.say(&format!("\n{}", output::heading(&date)));
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
        let row = flat_file::row(&tod, &current.label, &number, current.rate_per_s, &measured);
        self.folder.flat_file.line(&row);
        self.current = Some(current);
    }

    /// The average and what is to be said about it; `None` when nothing was measured.
    pub(super) fn done(&mut self, outcome: &StorageOutcome) -> Option<Measured> {
        let current = self.current.take()?;
        let first = output::first_counted(&current.label);
        let (measured, label) = if current.counted.count() > 0 {
            (current.counted, output::average_label(first, current.full.max(first)))
        } else {
            (current.whole, output::average_label(1, current.number.max(1)))
        };
        if measured.count() == 0 {
            return None;
        }
        let tod = time_of_day();
        let line = output::line(&tod, &label, &measured);
        self.say(&line);
        self.folder.totals.line(&line);
        let row = flat_file::row(&tod, &current.label, &label, current.rate_per_s, &measured);
        self.folder.flat_file.line(&row);
        let header = output::starting(&current.label, current.rate_per_s);
        let sections = histogram::sections(&measured);
        self.folder.histogram.line(&format!("{tod} {header}\n\n{sections}"));
        self.beyond_vdbench(&measured, current.rate_per_s);
        let engine = format!("Engine: {}; {}", outcome.engine, outcome.engine_reason);
        self.folder.log.line(&format!("{tod} {engine}"));
        self.status("Workload done", Some(&current.label));
        Some(measured)
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

/// The time of day that opens every line.
pub(super) fn time_of_day() -> String {
    Zoned::now().strftime("%H:%M:%S%.3f").to_string()
}
