//! Elements that the pages share: links between them, anchors of runs, warnings in a box.
//!
//! Browsers follow the links; scripts search for the same words behind them.

use std::fmt::Write as _;

use assay_model::cpu_times::BUSY_SHARE;
use assay_model::sanitize::escape_tags;

use super::format_loops;
use crate::vdbench::RunLabel;

/// Formats a line with a link: `Run totals: <A HREF="totals.html">totals</A>`.
pub fn link(words: &str, name: &str) -> String {
    let name = escape_tags(name).replace('"', "&quot;");
    format!("{words:<32} <A HREF=\"{name}.html\">{name}</A>")
}

/// Formats links to all runs of a page. A run that differs from the previous one only by its loops
/// omits the name.
pub fn run_links(runs: &[RunLabel]) -> String {
    let mut text = String::from("\n");
    let mut before = None;
    for (number, run) in runs.iter().enumerate() {
        let words = if number == 0 { "Link to Run Definitions:" } else { "" };
        let name = if before == Some(&run.name) {
            format_loops(run)
        } else {
            format!("{} For loops: {}", run.name, format_loops(run))
        };
        let indent = if before == Some(&run.name) { run.name.len() + 12 } else { 0 };
        let name = escape_tags(&name);
        let _ = writeln!(text, "{words:<32} {:indent$}<A HREF=\"#_{number}\">{name}</A>", "");
        before = Some(&run.name);
    }
    text
}

/// Formats the line that begins a run on a page, with the anchor of its link.
pub fn anchor(number: usize, line: &str) -> String {
    let line = escape_tags(line);
    format!("\n<a name=\"_{number}\"></a><i><b>{line}</b></i>\n")
}

/// Formats the warning that the CPUs were busy, line by line; `None` below the threshold.
pub fn busy_warning(host: &str, cpu_percent: f64) -> Option<Vec<String>> {
    if cpu_percent < 100.0 * BUSY_SHARE {
        return None;
    }
    let lines = [
        format!("Warning for host={host}: average processor utilization {cpu_percent:.1}%"),
        "Above 80% the machine itself may be what limits the rate.".to_owned(),
    ];
    let width = lines.iter().map(String::len).max().unwrap_or(0);
    let edge = "*".repeat(width + 4);
    let inside = lines.iter().map(|line| format!("* {line:<width$} *"));
    Some(std::iter::once(edge.clone()).chain(inside).chain([edge]).collect())
}
