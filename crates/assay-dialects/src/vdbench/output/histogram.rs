//! `histogram.html`: counts of response times by range.

use std::fmt::Write as _;

use hdrhistogram::Histogram;

use super::StorageTotals;

/// Vdbench's default upper limits, in microseconds.
const LIMITS_US: [u64; 26] = [
    20, 40, 60, 80, 100, 200, 400, 600, 800, 1000, 2000, 4000, 6000, 8000, 10_000, 20_000,
    40_000, 60_000, 80_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000, 2_000_000,
];

/// Percent per character of a bar.
const PERCENT_PER_MARK: f64 = 2.0;

/// Formats the sections of one run.
pub fn format_sections(measured: &StorageTotals) -> String {
    let ends_ns = LIMITS_US.map(|us| us * 1000);
    let mut text = String::new();
    for (title, reads, writes) in
        [("Reads and writes:", true, true), ("Reads:", true, false), ("Writes:", false, true)]
    {
        append_section(&mut text, title, &measured.counts_up_to(&ends_ns, reads, writes));
    }
    text_or_placeholder(text)
}

/// Formats the section of requested file operations.
pub fn operation_section(service_ns: Option<&Histogram<u64>>) -> String {
    let ends_ns = LIMITS_US.map(|us| us * 1000);
    let mut counts = vec![0; ends_ns.len() + 1];
    for entry in service_ns.into_iter().flat_map(|histogram| histogram.iter_recorded()) {
        let place = ends_ns.partition_point(|end| *end < entry.value_iterated_to());
        counts[place] += entry.count_at_value();
    }
    let mut text = String::new();
    append_section(&mut text, "Total of all requested operations:", &counts);
    text_or_placeholder(text)
}

fn text_or_placeholder(text: String) -> String {
    if text.is_empty() { "No statistics generated for this run.\n".into() } else { text }
}

fn append_section(text: &mut String, title: &str, counts: &[u64]) {
    let total: u64 = counts.iter().sum();
    if total == 0 {
        return;
    }
    let _ = writeln!(text, "{title}");
    let _ = writeln!(
        text,
        "  min(ms) <     max(ms)        count       %%    cum%%  \
         '+': Individual%; '+-': Cumulative%\n"
    );
    let (mut before_us, mut cumulative) = (0, 0);
    for (index, count) in counts.iter().enumerate() {
        let percent = |n: u64| 100.0 * n as f64 / total as f64;
        let bar = bar('+', percent(*count)) + &bar('-', percent(cumulative));
        cumulative += count;
        let end = LIMITS_US.get(index);
        let shown = end.map_or("max".into(), |us| format!("{:.3}", *us as f64 / 1000.0));
        let _ = writeln!(
            text,
            "{:>9.3} < {shown:>11} {:>12} {:>8.4} {:>8.4}  {bar}",
            before_us as f64 / 1000.0,
            group_thousands(*count),
            percent(*count),
            percent(cumulative)
        );
        before_us = end.copied().unwrap_or(before_us);
    }
    text.push('\n');
}

fn bar(mark: char, percent: f64) -> String {
    std::iter::repeat_n(mark, (percent / PERCENT_PER_MARK) as usize).collect()
}

/// Formats a count with thousands separators: `1,541`.
fn group_thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
