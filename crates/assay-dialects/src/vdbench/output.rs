//! Vdbench's reports of a run: header, table, average, flat file, histogram, status.
//!
//! This module formats values as text; the caller provides clocks and folders.

use std::fmt::Write as _;

use super::{RateLabel, RunLabel};

mod average;
pub mod files;
pub mod flat_file;
pub mod histogram;
pub mod pages;
pub mod skew;
mod totals;

pub use average::{Average, average, is_full_length};
pub use totals::StorageTotals;

/// Time of day at the start of every line, like `15:28:54.017`.
pub type TimeOfDay<'a> = &'a str;

/// Lines between two headings of the table.
pub const LINES_PER_HEADING: usize = 30;

/// Time at which a row of the flat file was written.
#[derive(Debug, Clone, Copy)]
pub struct RowTime<'a> {
    /// Time of day.
    pub tod: TimeOfDay<'a>,
    /// Date, time and zone: `11/21/2026-17:20:02-UTC`.
    pub timestamp: &'a str,
}

/// Formats `Starting RD=…` without the time of day; `rate_per_s` is the run's rate, once known.
pub fn starting_line(label: &RunLabel, rate_per_s: Option<f64>) -> String {
    format!("Starting {}", describe_run(label, rate_per_s))
}

/// Formats `Simulating RD=…`, as for `-s`.
pub fn simulating_line(label: &RunLabel) -> String {
    format!("Simulating {}", describe_run(label, None))
}

fn describe_run(label: &RunLabel, rate_per_s: Option<f64>) -> String {
    let mut text = format!(
        "RD={}; I/O rate: {}; elapsed={}",
        label.name,
        format_rate(label.rate, rate_per_s),
        // A run without a time limit ends when its work is complete.
        if label.elapsed_s > 0.0 { label.elapsed_s.to_string() } else { "(none)".into() }
    );
    if label.warmup_s > 0.0 {
        let _ = write!(text, " warmup={}", label.warmup_s);
    }
    let _ = write!(text, "; For loops: {}", format_loops(label));
    text
}

/// Formats the loops as `threads=32 xfersize=8k`, or `None`.
pub fn format_loops(label: &RunLabel) -> String {
    if label.loops.is_empty() {
        return "None".into();
    }
    let pairs: Vec<String> =
        label.loops.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(" ")
}

/// Formats the rate in Vdbench's words.
pub fn format_rate(label: RateLabel, rate_per_s: Option<f64>) -> String {
    match (label, rate_per_s) {
        (RateLabel::UncontrolledMax, _) => "Uncontrolled MAX".into(),
        (RateLabel::ControlledMax, _) => "Controlled MAX".into(),
        (RateLabel::UncontrolledCurve, _) => "Uncontrolled curve".into(),
        (RateLabel::ControlledCurve, _) => "Controlled curve".into(),
        (RateLabel::PerSecond(rate), _) | (RateLabel::Percent(_), Some(rate)) => {
            format!("{rate}")
        }
        (RateLabel::Percent(percent), None) => format!("{percent}% of the rate observed"),
    }
}

/// Formats the two lines above the table; `date` is like `Nov 21, 2026`.
pub fn heading(date: &str) -> String {
    let above = [
        "interval", "i/o", "MB/sec", "bytes", "read", "resp", "read", "write", "resp", "resp",
        "queue", "cpu%", "cpu%",
    ];
    let below = [
        "", "rate", "1024**2", "i/o", "pct", "time", "resp", "resp", "max", "stddev", "depth",
        "sys+u", "sys",
    ];
    format!(
        "{}\n{}",
        format_columns(&format!("{date:<12}"), &above),
        format_columns(&" ".repeat(12), &below)
    )
}

/// Formats one line of the table: an interval (its number) or an average (`avg_61-660`).
pub fn table_line(tod: TimeOfDay<'_>, label: &str, measured: &StorageTotals) -> String {
    let cells = [
        label.to_owned(),
        format!("{:.2}", measured.rate_per_s()),
        format!("{:.2}", measured.mebibytes_per_s()),
        format!("{:.0}", measured.bytes_per_io()),
        format!("{:.2}", measured.read_percent()),
        format!("{:.3}", measured.response_ms()),
        format!("{:.3}", measured.read_response_ms()),
        format!("{:.3}", measured.write_response_ms()),
        format!("{:.3}", measured.max_response_ms()),
        format!("{:.3}", measured.response_deviation_ms()),
        format!("{:.1}", measured.queue_depth()),
        format!("{:.1}", measured.cpu_percent()),
        format!("{:.1}", measured.cpu_system_percent()),
    ];
    format_columns(tod, &cells.each_ref().map(String::as_str))
}

/// Formats the label of an average over intervals, counted from 1.
pub fn average_label(first: usize, last: usize) -> String {
    format!("avg_{first}-{last}")
}

/// Returns the first interval of the average: the one after the warm-up, or the second without a
/// warm-up.
pub fn first_averaged_interval(label: &RunLabel) -> usize {
    if label.warmup_s > 0.0 {
        ((label.warmup_s / label.interval_s).round() as usize).saturating_add(1)
    } else {
        2
    }
}

/// Whether a run completed significantly fewer operations than its rate requires.
///
/// The number of independent arrivals in a given time has a standard deviation of √expected
/// (Poisson). A run misses its rate if more than three of them, and more than three per cent, are
/// missing.
pub fn is_rate_missed(rate_per_s: f64, count: u64, seconds: f64) -> bool {
    /// Below this share of the requested rate, the rate counts as missed.
    const REACHED: f64 = 0.97;
    let (expected, count) = (rate_per_s * seconds, count as f64);
    count < REACHED * expected && expected - count > 3.0 * expected.sqrt()
}

/// Formats cells in the columns of Vdbench up to 5.04.06.
fn format_columns(first: &str, cells: &[&str; 13]) -> String {
    const WIDTHS: [usize; 13] = [10, 10, 8, 7, 6, 8, 8, 8, 8, 8, 5, 5, 5];
    let cells: Vec<String> =
        cells.iter().zip(WIDTHS).map(|(cell, width)| format!("{cell:>width$}")).collect();
    // No blank separates the time of day from the first, wide column.
    format!("{first}{}", cells.join(" "))
}
