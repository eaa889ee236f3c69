//! `flatfile.html`: one row per interval, columns by name, for spreadsheets and scripts.

use std::fmt::Write as _;

use super::{Measured, TimeOfDay};
use crate::dialect::vdbench::{RateLabel, RunLabel};

/// Columns behind `tod`, `Run` and `Interval`, in their order.
const COLUMNS: [&str; 25] = [
    "reqrate",
    "rate",
    "MB/sec",
    "bytes/io",
    "read%",
    "resp",
    "read_resp",
    "write_resp",
    "resp_max",
    "resp_std",
    "xfersize",
    "threads",
    "rdpct",
    "rhpct",
    "whpct",
    "seekpct",
    "lunsize",
    "version",
    "compratio",
    "dedupratio",
    "queue_depth",
    "cpu_used",
    "cpu_user",
    "cpu_kernel",
    "cpu_wait",
];

/// What Vdbench writes as the requested rate of a run without one, up to 5.04.06.
const MAX_RATE: f64 = 999_988.0;
/// The same for the first run of a curve.
const CURVE_RATE: f64 = 999_977.0;

/// The line of column names.
#[must_use]
pub fn heading() -> String {
    let mut text = format!("{:<12} {:<20} {:<12}", "tod", "Run", "Interval");
    for column in COLUMNS.iter().chain(&["cpu_idle"]) {
        let _ = write!(text, " {column:>10}");
    }
    text
}

/// One row; `rate_per_s` is the rate that was asked for, where there is one.
#[must_use]
pub fn row(
    tod: TimeOfDay<'_>,
    label: &RunLabel,
    interval: &str,
    rate_per_s: Option<f64>,
    measured: &Measured,
) -> String {
    let requested = match (label.rate, rate_per_s) {
        (RateLabel::UncontrolledMax | RateLabel::ControlledMax, _) => Some(MAX_RATE),
        (RateLabel::UncontrolledCurve, _) => Some(CURVE_RATE),
        (RateLabel::PerSecond(rate), _) => Some(rate),
        (RateLabel::Percent(_), rate) => rate,
    };
    let of = &label.parameters;
    let before_version = [
        requested,
        Some(measured.rate_per_s()),
        Some(measured.mebibytes_per_s()),
        Some(measured.bytes_per_io()),
        Some(measured.read_percent()),
        Some(measured.response_ms()),
        Some(measured.read_response_ms()),
        Some(measured.write_response_ms()),
        Some(measured.max_response_ms()),
        Some(measured.response_deviation_ms()),
        of.xfer_bytes,
        of.threads,
        of.read_percent,
        of.read_hit_percent,
        of.write_hit_percent,
        of.seek_percent,
        of.lun_bytes,
    ];
    let behind_version = [
        of.compression,
        // Every block is written unique.
        Some(1.0),
        Some(measured.queue_depth()),
        Some(measured.cpu_percent()),
        Some(measured.cpu_user_percent()),
        Some(measured.cpu_system_percent()),
        // Waiting is not told apart from idling.
        None,
        Some(100.0 - measured.cpu_percent()),
    ];
    let mut text = format!("{tod:<12} {:<20} {interval:<12}", label.name);
    for value in before_version {
        text.push_str(&cell(value));
    }
    let _ = write!(text, " {:>10}", concat!("assay", env!("CARGO_PKG_VERSION")));
    for value in behind_version {
        text.push_str(&cell(value));
    }
    text
}

fn cell(value: Option<f64>) -> String {
    match value {
        Some(value) => format!(" {value:>10.4}"),
        None => format!(" {:>10}", "n/a"),
    }
}
