//! What Vdbench writes about a run: header, table, average, flat file, histogram, status.
//!
//! Everything here is text made of values; clocks and folders belong to the caller.

use std::fmt::Write as _;

use super::{RateLabel, RunLabel};

mod average;
pub mod files;
pub mod flat_file;
pub mod histogram;
mod measured;
pub mod pages;
pub mod skew;

pub use average::{Average, average, is_whole};
pub use measured::Measured;

/// The time of day, `15:28:54.017`, as it opens every line.
pub type TimeOfDay<'a> = &'a str;

/// Lines between two headings of the table.
pub const LINES_PER_HEADING: usize = 30;

/// When a row of a file for scripts was written.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The time of day.
    pub tod: TimeOfDay<'a>,
    /// Date, time and zone: `11/21/2026-17:20:02-UTC`.
    pub timestamp: &'a str,
}

/// `Starting RD=…` without the time of day; `rate_per_s` where the run's rate is known by now.
#[must_use]
pub fn starting(label: &RunLabel, rate_per_s: Option<f64>) -> String {
    format!("Starting {}", described(label, rate_per_s))
}

/// `Simulating RD=…`, as `-s` says it.
#[must_use]
pub fn simulating(label: &RunLabel) -> String {
    format!("Simulating {}", described(label, None))
}

fn described(label: &RunLabel, rate_per_s: Option<f64>) -> String {
    let mut text = format!(
        "RD={}; I/O rate: {}; elapsed={}",
        label.name,
        rate(label.rate, rate_per_s),
        // Without an end in time it goes on until its work is done.
        if label.elapsed_s > 0.0 { label.elapsed_s.to_string() } else { "(none)".into() }
    );
    if label.warmup_s > 0.0 {
        let _ = write!(text, " warmup={}", label.warmup_s);
    }
    let _ = write!(text, "; For loops: {}", loops(label));
    text
}

/// Loop keys and values, `threads=32 xfersize=8k`, or `None`.
#[must_use]
pub fn loops(label: &RunLabel) -> String {
    if label.loops.is_empty() {
        return "None".into();
    }
    let pairs: Vec<String> =
        label.loops.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(" ")
}

/// The rate as Vdbench words it.
#[must_use]
pub fn rate(label: RateLabel, rate_per_s: Option<f64>) -> String {
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

/// The two lines above the table; `date` like `Nov 21, 2026`.
#[must_use]
pub fn heading(date: &str) -> String {
    let above = [
        "interval", "i/o", "MB/sec", "bytes", "read", "resp", "read", "write", "resp", "resp",
        "queue", "cpu%", "cpu%",
    ];
    let below = [
        "", "rate", "1024**2", "i/o", "pct", "time", "resp", "resp", "max", "stddev", "depth",
        "sys+u", "sys",
    ];
    format!("{}\n{}", table(&format!("{date:<12}"), &above), table(&" ".repeat(12), &below))
}

/// One line of the table: of an interval (its number) or an average (`avg_61-660`).
#[must_use]
pub fn line(tod: TimeOfDay<'_>, label: &str, measured: &Measured) -> String {
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
    table(tod, &cells.each_ref().map(String::as_str))
}

/// The name of an average over intervals, counted from 1.
#[must_use]
pub fn average_label(first: usize, last: usize) -> String {
    format!("avg_{first}-{last}")
}

/// The first interval of the average: behind the warm-up, or the second without one.
#[must_use]
pub fn first_counted(label: &RunLabel) -> usize {
    if label.warmup_s > 0.0 {
        (label.warmup_s / label.interval_s).round() as usize + 1
    } else {
        2
    }
}

/// Whether fewer operations were done than a rate asks for, beyond what chance explains.
///
/// With independent arrivals the number in a given time has a standard deviation of √expected
/// (Poisson); three of them, and three per cent, must be missing.
#[must_use]
pub fn is_missed(rate_per_s: f64, count: u64, seconds: f64) -> bool {
    /// Below this share of the requested rate, the rate counts as missed.
    const REACHED: f64 = 0.97;
    let (expected, count) = (rate_per_s * seconds, count as f64);
    count < REACHED * expected && expected - count > 3.0 * expected.sqrt()
}

/// The columns of the table as Vdbench up to 5.04.06 writes them.
fn table(first: &str, cells: &[&str; 13]) -> String {
    const WIDTHS: [usize; 13] = [10, 10, 8, 7, 6, 8, 8, 8, 8, 8, 5, 5, 5];
    let cells: Vec<String> =
        cells.iter().zip(WIDTHS).map(|(cell, width)| format!("{cell:>width$}")).collect();
    // There is no blank between the time of day and the first, wide column.
    format!("{first}{}", cells.join(" "))
}
