//! Pages of the hosts of a distributed execution: the intervals and averages of each host, whose sum
//! is in the summary.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_dialects::vdbench::output::files::{self, FileTotals};
use assay_dialects::vdbench::output::{self, Average, StorageTotals, pages};
use assay_model::file_outcome::FileInterval;
use assay_model::sanitize;
use assay_model::storage_outcome::IntervalTally;

use super::{CurrentRun, VdbenchReport};

/// Pages of all hosts, in their order.
pub(super) struct HostPages {
    names: Vec<String>,
    /// Intervals of the current run by host.
    parts: BTreeMap<String, HostPart<StorageTotals>>,
    /// Intervals of the current run on file trees by host.
    tree_parts: BTreeMap<String, HostPart<FileTotals>>,
}

/// Part of one host in the current run.
#[derive(Default)]
struct HostPart<M> {
    /// Table lines of its intervals.
    lines: String,
    /// Sum of the intervals in the average: neither warm-up nor shortened.
    averaged_sum: M,
    /// Sum of all intervals.
    total_sum: M,
}

impl<M> HostPart<M> {
    /// Adds the line of an interval, and by `add` its figures to the sums.
    fn add(&mut self, line: &str, is_averaged: bool, add: impl Fn(&mut M)) {
        // Writing to memory does not fail.
        let _ = writeln!(self.lines, "{line}");
        add(&mut self.total_sum);
        if is_averaged {
            add(&mut self.averaged_sum);
        }
    }

    /// Returns the sum for the average of the run, which may include the warm-up.
    const fn sum_for_average(&self, excludes_warmup: bool) -> &M {
        if excludes_warmup { &self.averaged_sum } else { &self.total_sum }
    }
}

impl HostPages {
    pub(super) fn new(names: &[String]) -> Self {
        Self { names: names.to_vec(), parts: BTreeMap::new(), tree_parts: BTreeMap::new() }
    }

    pub(super) fn links(&self) -> impl Iterator<Item = String> {
        self.names.iter().map(|name| pages::link("Host report:", name))
    }
}

impl VdbenchReport<'_> {
    pub(super) fn add_host_interval(&mut self, host: &str, tally: &IntervalTally) {
        let Some(current) = &self.current else { return };
        let number = current.number + 1;
        let measured = StorageTotals::from_interval(tally);
        let line = output::table_line(&self.time_of_day(), &number.to_string(), &measured);
        let is_averaged = number >= output::first_averaged_interval(&current.label)
            && output::is_full_length(&current.label, tally.length_s);
        let part = self.hosts.parts.entry(host.to_owned()).or_default();
        part.add(&line, is_averaged, |sum| sum.add(tally));
    }

    /// Writes the average to the page of each host. Returns the CPU utilization of each host in
    /// percent.
    pub(super) fn write_host_pages(
        &mut self,
        tod: &str,
        current: &CurrentRun,
        average: &Average<StorageTotals>,
    ) -> Vec<(String, f64)> {
        if self.hosts.names.is_empty() {
            return vec![("localhost".to_owned(), average.totals.cpu_percent())];
        }
        let mut cpu_by_host = Vec::new();
        let parts = std::mem::take(&mut self.hosts.parts);
        let header = output::starting_line(&current.label, current.rate_per_s);
        for (host, part) in parts {
            let measured = part.sum_for_average(average.excludes_warmup);
            let line = output::table_line(tod, &average.label, measured);
            let table = format!("{}\n{}{line}", self.table_heading(), part.lines);
            self.write_host_page(&host, tod, (current, &header), &table);
            cpu_by_host.push((host, measured.cpu_percent()));
        }
        cpu_by_host
    }

    fn write_host_page(
        &mut self,
        host: &str,
        tod: &str,
        (current, header): (&CurrentRun, &str),
        table: &str,
    ) {
        let anchor = pages::anchor(current.label.number, &format!("{tod} {header}"));
        let head = format!("Host report for hd={}\n", sanitize::escape_tags(host));
        self.folder.append_to_page(host, &head, &format!("{anchor}\n{table}"));
    }

    pub(super) fn add_trees_host_interval(&mut self, host: &str, interval: &FileInterval) {
        let Some(current) = &self.current else { return };
        let (number, label) = (current.number + 1, current.label.clone());
        let mut measured = FileTotals::default();
        measured.add_for_run(&label, interval);
        let (tod, number_text) = (self.time_of_day(), number.to_string());
        let line = files::table_line(&tod, &number_text, &measured, &self.operation_columns);
        let is_averaged = number >= output::first_averaged_interval(&label)
            && output::is_full_length(&label, interval.length_s);
        let part = self.hosts.tree_parts.entry(host.to_owned()).or_default();
        part.add(&line, is_averaged, |sum| sum.add_for_run(&label, interval));
    }

    /// Writes the average of a run on file trees to the page of each host. Returns the CPU
    /// utilization of each host in percent.
    pub(super) fn write_trees_host_pages(
        &mut self,
        tod: &str,
        current: &CurrentRun,
        average: &Average<FileTotals>,
    ) -> Vec<(String, f64)> {
        if self.hosts.names.is_empty() {
            return vec![("localhost".to_owned(), average.totals.cpu_percent().0)];
        }
        let mut cpu_by_host = Vec::new();
        let parts = std::mem::take(&mut self.hosts.tree_parts);
        let header = files::starting_line(&current.label, current.rate_per_s);
        for (host, part) in parts {
            let measured = part.sum_for_average(average.excludes_warmup);
            let line =
                files::table_line(tod, &average.label, measured, &self.operation_columns);
            let table = format!("{}\n{}{line}", self.trees_heading(), part.lines);
            self.write_host_page(&host, tod, (current, &header), &table);
            cpu_by_host.push((host, measured.cpu_percent().0));
        }
        cpu_by_host
    }
}
