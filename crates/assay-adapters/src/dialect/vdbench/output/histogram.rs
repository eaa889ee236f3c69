//! `histogram.html`: how many response times lie in which range.

use std::fmt::Write as _;

use super::Measured;

/// Vdbench's default upper limits, in microseconds.
const LIMITS_US: [u64; 26] = [
    20, 40, 60, 80, 100, 200, 400, 600, 800, 1000, 2000, 4000, 6000, 8000, 10_000, 20_000,
    40_000, 60_000, 80_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000, 2_000_000,
];

/// The three sections of one run.
#[must_use]
pub fn sections(measured: &Measured) -> String {
    let mut text = String::new();
    for (title, reads, writes) in
        [("Reads and writes:", true, true), ("Reads:", true, false), ("Writes:", false, true)]
    {
        section(
            &mut text,
            title,
            &measured.counts_up_to(&LIMITS_US.map(|us| us * 1000), reads, writes),
        );
    }
    text
}

fn section(text: &mut String, title: &str, counts: &[u64]) {
    let total: u64 = counts.iter().sum();
    if total == 0 {
        return;
    }
    let _ = writeln!(text, "{title}");
    let _ = writeln!(
        text,
        "{:>12} < {:>12} {:>12} {:>8} {:>8}",
        "min(ms)", "max(ms)", "count", "%", "cum%"
    );
    let (mut before_us, mut cumulative) = (0, 0);
    for (index, count) in counts.iter().enumerate() {
        cumulative += count;
        let end = LIMITS_US.get(index);
        let shown = end.map_or("max".into(), |us| format!("{:.3}", *us as f64 / 1000.0));
        let percent = |n: u64| 100.0 * n as f64 / total as f64;
        let _ = writeln!(
            text,
            "{:>12.3} < {shown:>12} {count:>12} {:>8.4} {:>8.4}",
            before_us as f64 / 1000.0,
            percent(*count),
            percent(cumulative)
        );
        before_us = end.copied().unwrap_or(before_us);
    }
    text.push('\n');
}
