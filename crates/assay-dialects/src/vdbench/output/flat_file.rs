//! `flatfile.html`: one row per interval, columns by name, for spreadsheets and scripts.

use std::fmt::Write as _;

use super::{RowTime, StorageTotals};
use crate::vdbench::{RateLabel, RunLabel};

/// Columns after `tod`, `timestamp`, `Run` and `Interval`.
const COLUMNS: [&str; 26] = [
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
    "cpu_idle",
];

/// Vdbench's value of `reqrate` for a run without a rate.
const MAX_RATE: f64 = 9_999_988.0;
/// Vdbench's value of `reqrate` for the first run of a curve.
const CURVE_RATE: f64 = 9_999_977.0;
/// Bytes of the gigabytes in `lunsize`.
const GIBIBYTE: f64 = 1_073_741_824.0;

/// Formats the heading: a few comment lines, then the column names.
pub fn heading() -> String {
    format_heading(COLUMNS.into_iter())
}

/// Formats the heading for other columns after `Interval`.
pub(super) fn format_heading<'c>(columns: impl Iterator<Item = &'c str>) -> String {
    let mut text = String::from(
        "*
* One row per interval and one per average; columns are found by their names below.
\
         * MB are 1024*1024 bytes, times are milliseconds, lunsize is in 1024**3 bytes.
\
         * 'n/a': not known, or not the same for all workloads of the run.
*
",
    );
    let _ = write!(text, "{:>12} {:>23} {:>10} {:>10}", "tod", "timestamp", "Run", "Interval");
    for column in columns {
        let _ = write!(text, " {column:>10}");
    }
    text.push(' ');
    text
}

/// Formats the first cells of a row.
pub(super) fn row_prefix(moment: RowTime<'_>, label: &RunLabel, interval: &str) -> String {
    format!("{:>12} {:>23} {:>10} {interval:>10}", moment.tod, moment.timestamp, label.name)
}

/// Returns the requested rate, or Vdbench's number for none.
pub(super) fn requested_rate(label: &RunLabel, rate_per_s: Option<f64>) -> Option<f64> {
    match (label.rate, rate_per_s) {
        (RateLabel::UncontrolledMax | RateLabel::ControlledMax, _) => Some(MAX_RATE),
        (RateLabel::UncontrolledCurve | RateLabel::ControlledCurve, _) => Some(CURVE_RATE),
        (RateLabel::PerSecond(rate), _) => Some(rate),
        (RateLabel::Percent(_), rate) => rate,
    }
}

/// Formats one row; `rate_per_s` is the requested rate, if any.
pub fn row(
    moment: RowTime<'_>,
    label: &RunLabel,
    interval: &str,
    rate_per_s: Option<f64>,
    measured: &StorageTotals,
) -> String {
    let parameters = &label.parameters;
    let mut text = row_prefix(moment, label, interval);
    text.push_str(&format_cell(requested_rate(label, rate_per_s)));
    text.push_str(&format_cell(Some(measured.rate_per_s())));
    text.push_str(&format_cell(Some(measured.mebibytes_per_s())));
    text.push_str(&format_whole_cell(Some(measured.bytes_per_io())));
    for value in [
        measured.read_percent(),
        measured.response_ms(),
        measured.read_response_ms(),
        measured.write_response_ms(),
        measured.max_response_ms(),
        measured.response_deviation_ms(),
    ] {
        text.push_str(&format_cell(Some(value)));
    }
    text.push_str(&format_whole_cell(parameters.xfer_bytes));
    for value in [
        parameters.threads,
        parameters.read_percent,
        parameters.read_hit_percent,
        parameters.write_hit_percent,
        parameters.seek_percent,
        Some(parameters.storage_bytes as f64 / GIBIBYTE),
    ] {
        text.push_str(&format_cell(value));
    }
    let _ = write!(text, " {:>10}", concat!("assay", env!("CARGO_PKG_VERSION")));
    for value in [
        parameters.compression,
        parameters.dedup_ratio,
        Some(measured.queue_depth()),
        Some(measured.cpu_percent()),
        Some(measured.cpu_user_percent()),
        Some(measured.cpu_system_percent()),
        // Waiting is not distinguished from idling.
        None,
        Some((100.0 - measured.cpu_percent()).max(0.0)),
    ] {
        text.push_str(&format_cell(value));
    }
    text
}

pub(super) fn format_cell(value: Option<f64>) -> String {
    match value {
        Some(value) => format!(" {value:>10.4}"),
        None => format!(" {:>10}", "n/a"),
    }
}

/// Formats bytes of an I/O without decimals.
pub(super) fn format_whole_cell(value: Option<f64>) -> String {
    match value {
        Some(value) => format!(" {value:>10.0}"),
        None => format_cell(None),
    }
}
