//! Vdbench's console output and pages of runs on file trees.

use assay_dialects::vdbench::RunLabel;
use assay_dialects::vdbench::output::files::{self as output, FileTotals};
use assay_dialects::vdbench::output::{self as shared, Average, RowTime, histogram};
use assay_model::file_outcome::{FileInterval, FileOutcome};

use super::{CurrentRun, VdbenchReport};

impl VdbenchReport<'_> {
    pub(super) fn start_trees_run(&mut self, label: &RunLabel, rate_per_s: Option<f64>) {
        let heading = self.trees_heading();
        self.begin_run(&output::starting_line(label, rate_per_s), label, &heading);
        self.set_current(label, rate_per_s);
    }

    pub(super) fn write_trees_interval(&mut self, interval: &FileInterval) {
        let Some(mut current) = self.current.take() else { return };
        if current.number.is_multiple_of(shared::LINES_PER_HEADING) {
            self.print_line(&self.trees_heading());
        }
        current.number += 1;
        let mut measured = FileTotals::default();
        measured.add_for_run(&current.label, interval);
        let (tod, number) = (self.time_of_day(), current.number.to_string());
        self.print_line(&output::table_line(&tod, &number, &measured, &self.operation_columns));
        self.write_trees_flat_row(&tod, &current, &number, &measured);
        if current.number == 1 {
            self.write_status("Warmup done", Some(&current.label));
        }
        self.current = Some(current);
    }

    fn write_trees_flat_row(
        &mut self,
        tod: &str,
        current: &CurrentRun,
        interval: &str,
        measured: &FileTotals,
    ) {
        let time = RowTime { tod, timestamp: &self.timestamp() };
        let row =
            output::flat_row(time, &current.label, interval, current.rate_per_s, measured);
        self.folder.flat_file.write_text(&row);
    }

    /// Writes the average of a run, values that Vdbench does not report, and failed operations. A
    /// run that the user stopped is not reported as done.
    pub(super) fn end_trees_run(
        &mut self,
        outcome: &FileOutcome,
        average: Option<&Average<FileTotals>>,
        is_stopped: bool,
    ) {
        if let (Some(current), Some(average)) = (self.current.take(), average) {
            self.write_trees_average(&current, average);
            if !is_stopped {
                self.write_status("Workload done", Some(&current.label));
                self.write_status("Slaves done", Some(&current.label));
            }
        }
        for error in &outcome.errors {
            let line = format!(
                "{} op: {} file: {} errno: {}",
                self.time_of_day(),
                error.operation.name(),
                error.path.display(),
                error.reason
            );
            self.folder.errors.write_text(&line);
            self.folder.log.write_text(&line);
        }
    }

    fn write_trees_average(&mut self, current: &CurrentRun, average: &Average<FileTotals>) {
        let Average { totals: measured, label, .. } = average;
        let tod = self.time_of_day();
        let line = output::table_line(&tod, label, measured, &self.operation_columns);
        self.print_line(&line);
        self.folder.totals.write_text(&line);
        self.write_trees_flat_row(&tod, current, label, measured);
        let busy_hosts = self.write_trees_host_pages(&tod, current, average);
        let sections = histogram::operation_section(measured.tally.service_ns.as_ref());
        self.folder.histogram.write_text(&sections);
        if let Some((mean_ms, p99_ms)) = measured.intended_latency_ms() {
            self.print_timed(&format!(
                "From the intended start of each operation: mean {mean_ms:.3} ms, p99 {p99_ms:.3} ms"
            ));
        }
        let rate_per_s = measured.rate_per_s();
        let count = measured.tally.requested.count;
        let is_missed = |rate: &f64| shared::is_rate_missed(*rate, count, measured.seconds());
        if let Some(rate) = current.rate_per_s.filter(is_missed) {
            self.print_timed(&format!(
                "Rate not reached: {rate_per_s:.1} of the {rate:.1} operations per second asked for"
            ));
        }
        for (host, cpu_percent) in busy_hosts {
            self.warn_if_busy(&host, cpu_percent);
        }
    }

    /// Returns the table heading with the date, after an empty line.
    pub(super) fn trees_heading(&self) -> String {
        format!("\n{}", output::heading(&self.today(), &self.operation_columns))
    }
}
