//! The same reports for file-system workloads: a rate and a response time per operation.

use std::fmt::Write as _;

use assay_model::file_outcome::{FileInterval, FileTally};
use assay_model::workload::file_set::FileOperation;

use super::TimeOfDay;
use crate::dialect::vdbench::{RateLabel, RunLabel};

/// Operations that have columns of their own, behind reads and writes.
const SHOWN: [FileOperation; 8] = [
    FileOperation::Mkdir,
    FileOperation::Rmdir,
    FileOperation::Create,
    FileOperation::Open,
    FileOperation::Close,
    FileOperation::Delete,
    FileOperation::Getattr,
    FileOperation::Setattr,
];
/// Bytes of a MiB, which Vdbench calls MB.
const MEBIBYTE: f64 = 1_048_576.0;

/// What was measured over one interval or several.
#[derive(Debug, Clone, Default)]
pub struct FileMeasured {
    /// What was done.
    pub tally: FileTally,
    seconds: f64,
    /// Share of the CPUs × seconds, user and kernel.
    cpu_s: (f64, f64),
}

impl FileMeasured {
    /// One interval more.
    pub fn add(&mut self, interval: &FileInterval) {
        self.tally.join(&interval.tally);
        self.seconds += interval.length_s;
        self.cpu_s.0 += interval.cpu_user * interval.length_s;
        self.cpu_s.1 += interval.cpu_system * interval.length_s;
    }

    /// Seconds it took.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Requested operations per second.
    #[must_use]
    pub fn rate_per_s(&self) -> f64 {
        self.per_s(self.tally.requested.count as f64)
    }

    /// Mean and 99th percentile from the intended start in ms; `None` in a closed loop.
    #[must_use]
    pub fn from_intended_ms(&self) -> Option<(f64, f64)> {
        let histogram = self.tally.from_intended_ns.as_ref().filter(|it| !it.is_empty())?;
        Some((histogram.mean() / 1e6, histogram.value_at_quantile(0.99) as f64 / 1e6))
    }

    fn per_s(&self, amount: f64) -> f64 {
        if self.seconds > 0.0 { amount / self.seconds } else { 0.0 }
    }

    /// Percent of the CPUs: all, user, kernel.
    fn cpu_percent(&self) -> (f64, f64, f64) {
        let (user, system) =
            (100.0 * self.per_s(self.cpu_s.0), 100.0 * self.per_s(self.cpu_s.1));
        (user + system, user, system)
    }

    /// Percent of reads and writes that are reads.
    fn read_percent(&self) -> f64 {
        let reads = self.tally.of(FileOperation::Read).count as f64;
        let both = reads + self.tally.of(FileOperation::Write).count as f64;
        if both > 0.0 { 100.0 * reads / both } else { 0.0 }
    }

    /// Mean bytes of a read or write.
    fn transfer_bytes(&self) -> f64 {
        let count = self.tally.of(FileOperation::Read).count
            + self.tally.of(FileOperation::Write).count;
        let bytes = self.tally.read_bytes + self.tally.written_bytes;
        if count > 0 { bytes as f64 / count as f64 } else { 0.0 }
    }
}

/// `Starting RD=…` without the time of day.
#[must_use]
pub fn starting(label: &RunLabel, per_s: Option<f64>) -> String {
    if label.elapsed_s <= 0.0 {
        return format!("Starting RD={}", label.name);
    }
    let rate = match (label.rate, per_s) {
        (RateLabel::UncontrolledMax | RateLabel::ControlledMax, _) => "max".into(),
        (RateLabel::UncontrolledCurve, _) => "curve".into(),
        (RateLabel::PerSecond(rate), _) | (RateLabel::Percent(_), Some(rate)) => {
            rate.to_string()
        }
        (RateLabel::Percent(percent), None) => format!("{percent}%"),
    };
    let mut text = format!("Starting RD={}; elapsed={}", label.name, label.elapsed_s);
    if label.warmup_s > 0.0 {
        let _ = write!(text, " warmup={}", label.warmup_s);
    }
    let _ = write!(text, "; fwdrate={rate}. For loops: {}", super::loops(label));
    text
}

/// The two lines above the table; `date` like `Nov 21, 2026`.
#[must_use]
pub fn heading(date: &str) -> String {
    let mut above = format!(
        "{date:<12}{:>12} {:>16} {:>12} {:>6} {:>16} {:>16} {:>16} {:>9} {:>7}",
        "Interval",
        "ReqstdOps...",
        "cpu%...",
        "read",
        "read...",
        "write...",
        "mb/sec...",
        "mb/sec",
        "xfer",
    );
    let mut below = format!(
        "{:24} {:>8} {:>7} {:>6} {:>5} {:>6} {:>8} {:>7} {:>8} {:>7} {:>8} {:>7} {:>9} {:>7}",
        "",
        "rate",
        "resp",
        "total",
        "sys",
        "pct",
        "rate",
        "resp",
        "rate",
        "resp",
        "read",
        "write",
        "total",
        "size",
    );
    for operation in SHOWN {
        let _ = write!(above, " {:>16}", format!("{}...", operation.name()));
        let _ = write!(below, " {:>8} {:>7}", "rate", "resp");
    }
    format!("{above}\n{below}")
}

/// One line of the table.
#[must_use]
pub fn line(tod: TimeOfDay<'_>, label: &str, measured: &FileMeasured) -> String {
    let tally = &measured.tally;
    let (reads, writes) = (tally.of(FileOperation::Read), tally.of(FileOperation::Write));
    let (cpu, _, cpu_system) = measured.cpu_percent();
    let mut text = format!(
        "{tod:<12}{label:>12} {:>8.1} {:>7.3} {cpu:>6.1} {cpu_system:>5.1} {:>6.1} {:>8.1} \
         {:>7.3} {:>8.1} {:>7.3} {:>8.2} {:>7.2} {:>9.2} {:>7.0}",
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
    for operation in SHOWN {
        let count = tally.of(operation);
        let rate = measured.per_s(count.count as f64);
        let _ = write!(text, " {rate:>8.1} {:>7.3}", count.mean_ms());
    }
    text
}

/// The line of column names of the flat file.
#[must_use]
pub fn flat_heading() -> String {
    let mut text = format!("{:<12} {:<20} {:<12}", "tod", "Run", "Interval");
    let first = [
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
    let operations = SHOWN.into_iter().flat_map(|operation| {
        let mut name = operation.name().to_owned();
        name[..1].make_ascii_uppercase();
        [format!("{name}_rate"), format!("{name}_resp")]
    });
    let last = [
        "compratio",
        "dedupratio",
        "cpu_used",
        "cpu_user",
        "cpu_kernel",
        "cpu_wait",
        "cpu_idle",
    ];
    for column in
        first.map(str::to_owned).into_iter().chain(operations).chain(last.map(str::to_owned))
    {
        let _ = write!(text, " {column:>12}");
    }
    text
}

/// One row of the flat file.
#[must_use]
pub fn flat_row(
    tod: TimeOfDay<'_>,
    label: &RunLabel,
    interval: &str,
    per_s: Option<f64>,
    measured: &FileMeasured,
) -> String {
    let tally = &measured.tally;
    let (reads, writes) = (tally.of(FileOperation::Read), tally.of(FileOperation::Write));
    let megabytes = |bytes: u64| measured.per_s(bytes as f64 / MEBIBYTE);
    let mut values = vec![
        // As the flat file of raw workloads says it.
        Some(per_s.unwrap_or(999_988.0)),
        Some(measured.rate_per_s()),
        Some(tally.requested.mean_ms()),
        Some(megabytes(tally.read_bytes + tally.written_bytes)),
        Some(measured.per_s(reads.count as f64)),
        Some(reads.mean_ms()),
        Some(measured.per_s(writes.count as f64)),
        Some(writes.mean_ms()),
        Some(megabytes(tally.read_bytes)),
        Some(megabytes(tally.written_bytes)),
        Some(measured.transfer_bytes()),
    ];
    for operation in SHOWN {
        let count = tally.of(operation);
        values.extend([Some(measured.per_s(count.count as f64)), Some(count.mean_ms())]);
    }
    let (cpu, user, system) = measured.cpu_percent();
    // Waiting is not told apart from idling, and every block is written unique.
    let idle = Some(100.0 - cpu);
    values.extend([label.parameters.compression, Some(1.0)]);
    values.extend([Some(cpu), Some(user), Some(system), None, idle]);
    let mut text = format!("{tod:<12} {:<20} {interval:<12}", label.name);
    for value in values {
        let _ = match value {
            Some(value) => write!(text, " {value:>12.4}"),
            None => write!(text, " {:>12}", "n/a"),
        };
    }
    text
}
