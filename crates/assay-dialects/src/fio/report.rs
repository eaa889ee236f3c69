//! Renders fio's output in the requested formats.

use super::outcome::FioOutcome;
use super::request::FioFormat;
use super::{json, terse, text};

/// Renders the outcome in these formats, in order.
pub fn render(outcome: &FioOutcome, formats: &[FioFormat]) -> String {
    let start = match formats.contains(&FioFormat::Normal) {
        true => text::render_start(&outcome.jobs, &outcome.info.version),
        false => String::new(),
    };
    start + &render_status(outcome, formats)
}

/// Renders results so far: without the text before the first job begins.
pub fn render_status(outcome: &FioOutcome, formats: &[FioFormat]) -> String {
    let FioOutcome { info, terse_version, entries, .. } = outcome;
    let mut output = String::new();
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
