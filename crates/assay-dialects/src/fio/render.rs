//! fio's output in all of its formats.

use super::command_line::FioFormat;
use super::outcome::FioOutcome;
use super::{json, terse, text};

/// Renders fio's output in these formats, in order.
#[must_use]
pub fn render(outcome: &FioOutcome, formats: &[FioFormat]) -> String {
    let FioOutcome { info, terse_version, jobs, entries, .. } = outcome;
    let mut output = String::new();
    if formats.contains(&FioFormat::Normal) {
        output.push_str(&text::render_start(jobs, &info.version));
    }
    for format in formats {
        output.push_str(&match format {
            FioFormat::Normal => text::render_end(entries, info),
            FioFormat::Json => json::document(outcome, false),
            FioFormat::JsonPlus => json::document(outcome, true),
            FioFormat::Terse => terse::lines(entries, info, *terse_version),
        });
    }
    output
}
