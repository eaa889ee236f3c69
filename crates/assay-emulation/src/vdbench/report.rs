//! Vdbench's console output and the pages of its output folder, for live and stored runs.

use assay_dialects::vdbench::commands::CommandOutput;
use assay_dialects::vdbench::output::{
    self, Average, RowTime, StorageTotals, flat_file, histogram, pages, skew,
};
use assay_dialects::vdbench::{RateLabel, RunLabel};
use assay_model::sanitize;
use assay_model::storage_outcome::{IntervalTally, StorageOutcome};
use assay_model::workload::file_set::FileOperation;
use assay_model::workload::storage::StoragePhase;
use assay_report::words;
use assay_run::storage::vdbench::outcome::{TimedVdbenchEvent, VdbenchEvent, VdbenchOpening};
use assay_run::storage::vdbench::run_notes::RunNote;
use jiff::{Timestamp, Zoned, tz::TimeZone};

use super::output_folder::OutputFolder;
use crate::terminal::Terminal;

mod hosts;
mod trees;

/// Console output and output folder of an execution.
pub(super) struct VdbenchReport<'t> {
    pub(super) folder: OutputFolder,
    pub(super) terminal: &'t mut Terminal,
    /// Time of the current event.
    time: Zoned,
    current: Option<CurrentRun>,
    /// Links to the anchors of all runs, at the top of a page.
    run_links: String,
    /// Number of started runs.
    started_runs: usize,
    /// Pages of the hosts of a distributed execution.
    hosts: hosts::HostPages,
    /// File operations that have their own columns.
    operation_columns: Vec<FileOperation>,
}

/// Run in progress.
struct CurrentRun {
    label: RunLabel,
    rate_per_s: Option<f64>,
    /// Number of intervals so far.
    number: usize,
    is_warmed_up: bool,
}

impl<'t> VdbenchReport<'t> {
    pub(super) fn new(
        folder: OutputFolder,
        terminal: &'t mut Terminal,
        opening: &VdbenchOpening,
    ) -> Self {
        Self {
            folder,
            terminal,
            time: local_time(opening.began_us),
            current: None,
            run_links: pages::run_links(&opening.runs),
            started_runs: 0,
            hosts: hosts::HostPages::new(&opening.hosts),
            operation_columns: opening.operation_columns.clone(),
        }
    }

    /// Writes the output for an event.
    pub(super) fn handle_event(&mut self, event: &TimedVdbenchEvent) {
        self.time = local_time(event.at_us);
        match &event.event {
            VdbenchEvent::Note(reported) => self.print_note(reported),
            VdbenchEvent::Starts { label, rate_per_s } => self.start_run(label, *rate_per_s),
            VdbenchEvent::HostInterval { host, tally } => self.add_host_interval(host, tally),
            VdbenchEvent::Interval(tally) => self.write_interval(tally),
            VdbenchEvent::Done { phase, outcome, average, is_stopped } => {
                let current = self.current.take();
                if let (Some(current), Some(average)) = (current, average) {
                    self.write_average(&current, (phase, outcome), average, *is_stopped);
                }
                self.write_failed_io(phase, outcome);
            }
            VdbenchEvent::TreesStart { label, rate_per_s } => {
                self.start_trees_run(label, *rate_per_s);
            }
            VdbenchEvent::TreesHostInterval { host, interval } => {
                self.add_trees_host_interval(host, interval);
            }
            VdbenchEvent::TreesInterval(interval) => self.write_trees_interval(interval),
            VdbenchEvent::TreesDone { outcome, average, is_stopped } => {
                self.end_trees_run(outcome, average.as_deref(), *is_stopped);
            }
            VdbenchEvent::End => {}
        }
    }

    fn print_note(&mut self, note: &RunNote) {
        match note {
            RunNote::LayingOut { path, bytes } => {
                let bytes = assay_model::quantity::Bytes(*bytes).to_quantity();
                self.print_timed(&format!("Laying out {} ({bytes})", path.display()));
            }
            RunNote::Noted { host, text } => self.print_timed(&format!("{host}: {text}")),
            RunNote::Doubted { doubt } => {
                let message = words::doubt(doubt).without_no_break_spaces();
                self.print_timed(&format!("{}; {}", message.text, message.advice));
            }
            RunNote::LaidOut => {
                self.folder.log.write_text(&format!("{} done", self.time_of_day()));
            }
            RunNote::Command { line } => {
                self.print_timed(&format!("Start/end command: executing '{line}'"));
            }
            RunNote::Printed { to, line } => {
                let line = format!("{} Cmd: {line}", self.time_of_day());
                match to {
                    CommandOutput::Console => self.print_line(&line),
                    CommandOutput::Summary => self.folder.summary.write_text(&line),
                    CommandOutput::Log => self.folder.log.write_text(&line),
                }
            }
            RunNote::LimitReached { limit } => {
                self.print_timed(&format!("Reached {limit}; the run ends"));
            }
            RunNote::MonitorEndsRun => self.print_timed("The monitor file ends the run"),
            RunNote::MonitorEndsAll => {
                self.print_timed("The monitor file ends the execution");
            }
            RunNote::LeftOut { run } => {
                self.print_timed(&format!("RD={run} is skipped: its rate would be 0"));
            }
            RunNote::CurveEnds => {
                self.print_timed("stopcurve: the response time is greater; the execution ends");
            }
        }
    }

    /// Writes the first lines of each page.
    pub(super) fn write_heads(&mut self) {
        let created = self.time.strftime("%H:%M:%S %b %d %Y %Z");
        self.folder.summary.write_text(&format!("Vdbench summary report, created {created}\n"));
        for (words, name) in LINKS {
            self.folder.summary.write_markup(&pages::link(words, name));
        }
        self.hosts.links().for_each(|link| self.folder.summary.write_markup(&link));
        let contents = &self.run_links;
        self.folder.summary.write_markup(contents);
        self.folder.totals.write_markup(&format!("Run totals\n{contents}"));
        self.folder
            .histogram
            .write_markup(&format!("Total response time histogram.\n{contents}"));
        self.folder.skew.write_markup(&format!("Workload skew report\n{contents}"));
        let nothing = "If there are no lines below, no I/O failed and no data was wrong.";
        self.folder
            .errors
            .write_text(&format!("Vdbench error log, created {created}\n{nothing}\n"));
        self.folder.status.write_text(
            "* Vdbench status: events with their times, for monitoring programs; the values of a line \
             are separated by tabs.\n",
        );
    }

    /// Writes the line that starts a run: on the console, in the log, and as an anchor on each page
    /// with a section per run.
    pub(super) fn begin_run(&mut self, header: &str, label: &RunLabel, table: &str) {
        let line = format!("{} {header}", self.time_of_day());
        let anchor = pages::anchor(label.number, &line);
        self.terminal.print_line(&line);
        self.folder.log.write_text(&line);
        for page in [
            &mut self.folder.summary,
            &mut self.folder.totals,
            &mut self.folder.histogram,
            &mut self.folder.skew,
        ] {
            page.write_markup(&anchor);
        }
        // The totals page has one table heading for all runs.
        if self.started_runs == 0 {
            self.folder.totals.write_text(table);
        }
        self.started_runs += 1;
        self.write_status("Starting", Some(label));
    }

    /// Warns about a host whose CPUs were busy.
    pub(super) fn warn_if_busy(&mut self, host: &str, cpu_percent: f64) {
        for line in pages::busy_warning(host, cpu_percent).into_iter().flatten() {
            self.print_timed(&line);
        }
    }

    /// Prints a line on the console, in the summary and in the log.
    pub(super) fn print_line(&mut self, text: &str) {
        self.terminal.print_line(text);
        self.folder.summary.write_text(text);
        self.folder.log.write_text(text);
    }

    /// Prints a line that starts with the time of day.
    pub(super) fn print_timed(&mut self, text: &str) {
        self.print_line(&format!("{} {text}", self.time_of_day()));
    }

    /// Returns the time of day for the start of a line.
    fn time_of_day(&self) -> String {
        self.time.strftime("%H:%M:%S%.3f").to_string()
    }

    /// Returns date, time and zone in the format of the files for scripts.
    fn timestamp(&self) -> String {
        self.time.strftime("%m/%d/%Y-%H:%M:%S-%Z").to_string()
    }

    /// Returns the date, such as `Nov 21, 2026`.
    fn today(&self) -> String {
        self.time.strftime("%b %d, %Y").to_string()
    }

    /// Returns the table heading with the date, after an empty line.
    fn table_heading(&self) -> String {
        format!("\n{}", output::heading(&self.today()))
    }

    /// Writes a line of the status page.
    pub(super) fn write_status(&mut self, event: &str, label: Option<&RunLabel>) {
        let run = label.map_or_else(String::new, |label| {
            format!("\trd={}\tFor loops: {}", label.name, output::format_loops(label))
        });
        self.folder.status.write_text(&format!("{} \t{event}{run}", self.timestamp()));
    }

    fn start_run(&mut self, label: &RunLabel, rate_per_s: Option<f64>) {
        let rate_per_s = match label.rate {
            RateLabel::PerSecond(rate) => Some(rate),
            _ => rate_per_s,
        };
        let heading = self.table_heading();
        self.begin_run(&output::starting_line(label, rate_per_s), label, &heading);
        self.set_current(label, rate_per_s);
    }

    fn set_current(&mut self, label: &RunLabel, rate_per_s: Option<f64>) {
        let label = label.clone();
        self.current = Some(CurrentRun { label, rate_per_s, number: 0, is_warmed_up: false });
    }

    fn write_interval(&mut self, tally: &IntervalTally) {
        let Some(mut current) = self.current.take() else { return };
        if current.number.is_multiple_of(output::LINES_PER_HEADING) {
            self.print_line(&self.table_heading());
        }
        if !tally.warmup && !std::mem::replace(&mut current.is_warmed_up, true) {
            self.write_status("Warmup done", Some(&current.label));
        }
        current.number += 1;
        let measured = StorageTotals::from_interval(tally);
        let (tod, number) = (self.time_of_day(), current.number.to_string());
        self.print_line(&output::table_line(&tod, &number, &measured));
        self.write_flat_row(&tod, &current, &number, &measured);
        self.current = Some(current);
    }

    /// Writes the average of a run on the console and on all pages. A run that the user stopped
    /// (`is_stopped`) is not reported as done.
    fn write_average(
        &mut self,
        current: &CurrentRun,
        (phase, outcome): (&StoragePhase, &StorageOutcome),
        average: &Average<StorageTotals>,
        is_stopped: bool,
    ) {
        let Average { totals: measured, label, .. } = average;
        let tod = self.time_of_day();
        let line = output::table_line(&tod, label, measured);
        self.print_line(&line);
        self.folder.totals.write_text(&line);
        self.write_flat_row(&tod, current, label, measured);
        self.folder.histogram.write_text(&histogram::format_sections(measured));
        self.write_definition_pages(&tod, current, (phase, outcome), average);
        let busy = self.write_host_pages(&tod, current, average);
        self.print_additions(measured, current.rate_per_s);
        for (host, cpu_percent) in busy {
            self.warn_if_busy(&host, cpu_percent);
        }
        let reason = assay_report::words::engine_reason(&outcome.engine_reason);
        let engine = format!("Engine: {}; {reason}", outcome.engine);
        self.folder.log.write_text(&format!("{tod} {engine}"));
        if !is_stopped {
            self.write_status("Workload done", Some(&current.label));
            self.write_status("Slaves done", Some(&current.label));
        }
    }

    fn write_flat_row(
        &mut self,
        tod: &str,
        current: &CurrentRun,
        interval: &str,
        measured: &StorageTotals,
    ) {
        let time = RowTime { tod, timestamp: &self.timestamp() };
        let row = flat_file::row(time, &current.label, interval, current.rate_per_s, measured);
        self.folder.flat_file.write_text(&row);
    }

    /// Writes the skew page and the page of each storage and workload definition.
    fn write_definition_pages(
        &mut self,
        tod: &str,
        current: &CurrentRun,
        (phase, outcome): (&StoragePhase, &StorageOutcome),
        average: &Average<StorageTotals>,
    ) {
        let Average { totals: measured, full_intervals: full, .. } = average;
        let storage = skew::storage_totals(&phase.workload, outcome, measured);
        let workloads = skew::workload_totals(&phase.workload, outcome, measured);
        let report = skew::report(tod, &current.label, (&storage, &workloads));
        self.folder.skew.write_text(&report);
        let label = &current.label;
        let header = output::starting_line(label, current.rate_per_s);
        let anchor = pages::anchor(label.number, &format!("{tod} {header}"));
        let first = ((label.warmup_s / label.interval_s).round() as usize).saturating_add(1);
        let average = output::average_label(first, (*full).max(first));
        let groups = [("SD report for sd=", storage), ("Workload Report for wd=", workloads)];
        for (title, parts) in groups {
            for skew::DefinitionTotals { name, totals: measured, .. } in parts {
                let line = output::table_line(tod, &average, &measured);
                let escaped = sanitize::escape_tags(&name);
                let head = format!("{title}{escaped}\n\n{}\n", histogram_link(&name));
                let text = format!("{anchor}\n{}\n{line}", self.table_heading());
                self.folder.append_to_page(&name, &head, &text);
                let head = format!("{title}{escaped}: response time histogram.\n");
                let text = format!("{anchor}\n{}", histogram::format_sections(&measured));
                self.folder.append_to_page(&format!("{name}.histogram"), &head, &text);
            }
        }
    }

    /// Prints values that Vdbench does not report: a missed rate, and latency from the intended
    /// start of each I/O.
    fn print_additions(&mut self, measured: &StorageTotals, rate_per_s: Option<f64>) {
        if let Some((mean_ms, p99_ms)) = measured.intended_latency_ms() {
            self.print_timed(&format!(
                "From the intended start of each I/O: mean {mean_ms:.3} ms, p99 {p99_ms:.3} ms"
            ));
        }
        let rate_reached = measured.rate_per_s();
        let is_missed =
            |rate: &f64| output::is_rate_missed(*rate, measured.count(), measured.seconds());
        if let Some(rate) = rate_per_s.filter(is_missed) {
            self.print_timed(&format!(
                "Rate not reached: {rate_reached:.1} of the {rate:.1} I/O per second asked for"
            ));
        }
    }

    /// Writes the first few failed I/Os to the error log and prints the total count.
    fn write_failed_io(&mut self, phase: &StoragePhase, outcome: &StorageOutcome) {
        for error in &outcome.errors {
            let target = phase.workload.targets.get(error.target);
            let target = target.map_or_else(String::new, |it| it.path.display().to_string());
            let operation = error.operation.name();
            let line = format!(
                "{} op: {operation} lun: {target} lba: {} 0x{:X} xfer: {} errno: {}",
                self.time_of_day(),
                error.offset,
                error.offset,
                error.bytes,
                error.reason
            );
            self.folder.errors.write_text(&line);
            self.folder.log.write_text(&line);
        }
        if outcome.error_count > 0 {
            let count = outcome.error_count;
            self.print_timed(&format!("{count} I/O failed; see errorlog.html"));
        }
    }
}

/// Returns the local time of a number of microseconds since 1970.
fn local_time(us: i64) -> Zoned {
    Timestamp::from_microsecond(us).unwrap_or_default().to_zoned(TimeZone::system())
}

/// Links at the top of the summary.
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
