//! Vdbench's reports for file-system workloads: a rate and a response time per operation.

use std::fmt::Write as _;

use assay_model::file_outcome::{FileInterval, FileTally};
use assay_model::workload::file_set::{FileOperation, FilePlan};
use serde::{Deserialize, Serialize};

use super::{RowTime, TimeOfDay, flat_file};
use crate::vdbench::{RateLabel, RunLabel};

/// Operations that always have their own columns, after reads and writes.
const STANDARD_OPERATIONS: [FileOperation; 6] = [
    FileOperation::Mkdir,
    FileOperation::Rmdir,
    FileOperation::Create,
    FileOperation::Open,
    FileOperation::Close,
    FileOperation::Delete,
];
/// Operations that have columns in the table only if a workload uses them, but always in the flat
/// file.
const OPTIONAL_OPERATIONS: [FileOperation; 3] =
    [FileOperation::Getattr, FileOperation::Setattr, FileOperation::Access];
/// Columns of the flat file after `Interval`.
const LEADING_COLUMNS: [&str; 11] = [
    "reqrate",
    "rate",
    "resp",
    "MB/sec",
    "Read_rate",
    "Read_resp",
    "Write_rate",
    "Write_resp",
    "MB_read",
    "MB_write",
    "Xfersize",
];
/// Columns of operations that are not supported.
const UNSUPPORTED_COLUMNS: [&str; 4] = ["Copy_rate", "Copy_resp", "Move_rate", "Move_resp"];
/// Columns of the flat file after the operations.
const TRAILING_COLUMNS: [&str; 7] =
    ["compratio", "dedupratio", "cpu_used", "cpu_user", "cpu_kernel", "cpu_wait", "cpu_idle"];
/// Bytes of a MiB, for which Vdbench prints MB.
const MEBIBYTE: f64 = 1_048_576.0;

/// Sums over one interval or several.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FileTotals {
    /// Counts and times of the operations.
    pub tally: FileTally,
    seconds: f64,
    /// CPU use × seconds, user and kernel, as a share of all CPUs.
    cpu_s: (f64, f64),
}

impl FileTotals {
    /// Adds an interval.
    fn add(&mut self, interval: &FileInterval) {
        self.tally.merge(&interval.tally);
        self.seconds += interval.length_s;
        self.cpu_s.0 += interval.cpu_user * interval.length_s;
        self.cpu_s.1 += interval.cpu_system * interval.length_s;
    }

    /// Adds an interval of the run `label`. Vdbench defines the rate of a format as that of its
    /// writes, and ignores its other operations (`getTotalRate` of `FwdStats`).
    pub fn add_for_run(&mut self, label: &RunLabel, interval: &FileInterval) {
        self.add(interval);
        if label.is_format() {
            self.tally.requested = self.tally.count_of(FileOperation::Write);
        }
    }

    /// Total length in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Requested operations per second.
    pub fn rate_per_s(&self) -> f64 {
        self.per_s(self.tally.requested.count as f64)
    }

    /// Mean and 99th percentile of the latency from the intended start, in ms; `None` in a closed
    /// loop.
    pub fn intended_latency_ms(&self) -> Option<(f64, f64)> {
        let histogram = self.tally.from_intended_ns.as_ref().filter(|it| !it.is_empty())?;
        Some((histogram.mean() / 1e6, histogram.value_at_quantile(0.99) as f64 / 1e6))
    }

    fn per_s(&self, amount: f64) -> f64 {
        if self.seconds > 0.0 { amount / self.seconds } else { 0.0 }
    }

    /// CPU use in percent of all CPUs: total, user, kernel.
    pub fn cpu_percent(&self) -> (f64, f64, f64) {
        let (user, system) =
            (100.0 * self.per_s(self.cpu_s.0), 100.0 * self.per_s(self.cpu_s.1));
        (user + system, user, system)
    }

    /// Share of reads among reads and writes, in percent.
    fn read_percent(&self) -> f64 {
        let reads = self.tally.count_of(FileOperation::Read).count as f64;
        let both = reads + self.tally.count_of(FileOperation::Write).count as f64;
        if both > 0.0 { 100.0 * reads / both } else { 0.0 }
    }

    /// Mean bytes of a read or write.
    fn transfer_bytes(&self) -> f64 {
        let count = self.tally.count_of(FileOperation::Read).count
            + self.tally.count_of(FileOperation::Write).count;
        let bytes = self.tally.read_bytes + self.tally.written_bytes;
        if count > 0 { bytes as f64 / count as f64 } else { 0.0 }
    }
}

/// Formats `Starting RD=…` without the time of day.
pub fn starting_line(label: &RunLabel, per_s: Option<f64>) -> String {
    format!("Starting {}", describe_run(label, per_s))
}

/// Formats `Simulating RD=…`, as for `-s`.
pub fn simulating_line(label: &RunLabel) -> String {
    format!("Simulating {}", describe_run(label, None))
}

fn describe_run(label: &RunLabel, per_s: Option<f64>) -> String {
    if label.elapsed_s <= 0.0 {
        return format!("RD={}", label.name);
    }
    // A word ends with a full stop, a number with a semicolon.
    let rate = match (label.rate, per_s) {
        (RateLabel::UncontrolledMax | RateLabel::ControlledMax, _) => "max.".into(),
        (RateLabel::UncontrolledCurve | RateLabel::ControlledCurve, _) => "curve.".into(),
        (RateLabel::PerSecond(rate), _) | (RateLabel::Percent(_), Some(rate)) => {
            format!("{rate};")
        }
        (RateLabel::Percent(percent), None) => format!("{percent}%;"),
    };
    let mut text = format!("RD={}; elapsed={}", label.name, label.elapsed_s);
    if label.warmup_s > 0.0 {
        let _ = write!(text, " warmup={}", label.warmup_s);
    }
    let _ = write!(text, "; fwdrate={rate} For loops: {}", super::format_loops(label));
    text
}

/// Returns the operations with their own columns in the table of a plan.
pub fn table_operations(plan: &FilePlan) -> Vec<FileOperation> {
    let streams = || plan.phases.iter().flat_map(|phase| &phase.workload.streams);
    let is_used = |operation| streams().any(|stream| stream.operation == operation);
    let seldom = OPTIONAL_OPERATIONS.into_iter().filter(|operation| is_used(*operation));
    STANDARD_OPERATIONS.into_iter().chain(seldom).collect()
}

/// Formats the two lines above the table; `date` is like `Nov 21, 2026`.
pub fn heading(date: &str, shown: &[FileOperation]) -> String {
    let groups = [
        ("Interval", 10),
        ("ReqstdOps.", 13),
        ("cpu%", 10),
        (" read", 5),
        ("read", 13),
        ("write", 13),
        ("mb/sec", 11),
        ("mb/sec", 6),
        ("xfer", 7),
    ];
    let mut above = format!("{date:<12}");
    let operations = shown.iter().map(|operation| (operation.name(), 12));
    for (name, width) in groups.into_iter().chain(operations) {
        let _ = write!(above, " {name:.^width$}");
    }
    let mut below = format!(
        "{:24}  rate   resp total  sys   pct   rate   resp   rate   resp  read write  total    size",
        ""
    );
    for _ in shown {
        below.push_str("  rate   resp");
    }
    format!("{above}\n{below}")
}

/// Formats one line of the table.
pub fn table_line(
    tod: TimeOfDay<'_>,
    label: &str,
    measured: &FileTotals,
    shown: &[FileOperation],
) -> String {
    let tally = &measured.tally;
    let (reads, writes) =
        (tally.count_of(FileOperation::Read), tally.count_of(FileOperation::Write));
    let (cpu, _, cpu_system) = measured.cpu_percent();
    let mut text = format!(
        "{tod:<12} {label:>10} {:>6.1} {:>6.3} {cpu:>5.1} {cpu_system:>4.1} {:>5.1} {:>6.1} \
         {:>6.3} {:>6.1} {:>6.3} {:>5.2} {:>5.2} {:>6.2} {:>7.0}",
        measured.rate_per_s(),
        tally.requested.mean_ms(),
        measured.read_percent(),
        measured.per_s(reads.count as f64),
        reads.mean_ms(),
        measured.per_s(writes.count as f64),
        writes.mean_ms(),
        measured.per_s(tally.read_bytes as f64 / MEBIBYTE),
        measured.per_s(tally.written_bytes as f64 / MEBIBYTE),
        measured.per_s((tally.read_bytes + tally.written_bytes) as f64 / MEBIBYTE),
        measured.transfer_bytes(),
    );
    for operation in shown {
        let count = tally.count_of(*operation);
        let rate = measured.per_s(count.count as f64);
        let _ = write!(text, " {rate:>5.1} {:>6.3}", count.mean_ms());
    }
    text
}

/// Formats the heading of the flat file.
pub fn flat_heading() -> String {
    let operations =
        STANDARD_OPERATIONS.iter().chain(&OPTIONAL_OPERATIONS).flat_map(|operation| {
            let mut name = operation.name().to_owned();
            name[..1].make_ascii_uppercase();
            [format!("{name}_rate"), format!("{name}_resp")]
        });
    let columns: Vec<String> = LEADING_COLUMNS
        .map(str::to_owned)
        .into_iter()
        .chain(operations)
        .chain(UNSUPPORTED_COLUMNS.map(str::to_owned))
        .chain(TRAILING_COLUMNS.map(str::to_owned))
        .collect();
    flat_file::format_heading(columns.iter().map(String::as_str))
}

/// Formats one row of the flat file.
pub fn flat_row(
    moment: RowTime<'_>,
    label: &RunLabel,
    interval: &str,
    per_s: Option<f64>,
    measured: &FileTotals,
) -> String {
    let tally = &measured.tally;
    let (reads, writes) =
        (tally.count_of(FileOperation::Read), tally.count_of(FileOperation::Write));
    let megabytes = |bytes: u64| measured.per_s(bytes as f64 / MEBIBYTE);
    let mut text = flat_file::row_prefix(moment, label, interval);
    text.push_str(&flat_file::format_cell(flat_file::requested_rate(label, per_s)));
    for value in [
        measured.rate_per_s(),
        tally.requested.mean_ms(),
        megabytes(tally.read_bytes + tally.written_bytes),
        measured.per_s(reads.count as f64),
        reads.mean_ms(),
        measured.per_s(writes.count as f64),
        writes.mean_ms(),
        megabytes(tally.read_bytes),
        megabytes(tally.written_bytes),
    ] {
        text.push_str(&flat_file::format_cell(Some(value)));
    }
    text.push_str(&flat_file::format_whole_cell(Some(measured.transfer_bytes())));
    for operation in STANDARD_OPERATIONS.into_iter().chain(OPTIONAL_OPERATIONS) {
        let count = tally.count_of(operation);
        text.push_str(&flat_file::format_cell(Some(measured.per_s(count.count as f64))));
        text.push_str(&flat_file::format_cell(Some(count.mean_ms())));
    }
    for _ in UNSUPPORTED_COLUMNS {
        text.push_str(&flat_file::format_cell(Some(0.0)));
    }
    let (cpu, user, system) = measured.cpu_percent();
    // Every block is written unique, and waiting is not distinguished from idling.
    let last = [label.parameters.compression, None, Some(cpu), Some(user), Some(system), None];
    for value in last.into_iter().chain([Some((100.0 - cpu).max(0.0))]) {
        text.push_str(&flat_file::format_cell(value));
    }
    text
}
