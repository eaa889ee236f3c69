//! Import of fio's results.

use super::{ImportFormat, format};

mod conditions;
mod json;
mod omissions;
pub(super) mod options;
mod progress;
mod terse;
mod text;

/// Formats of this family. One file may hold several formats of the same run; the most exact counts.
pub(super) const FORMATS: &[ImportFormat] = &[
    format(
        "fio-json",
        "fio",
        "fio 2 and 3 --output-format=json or json+, also of --client",
        json::is_fio_json,
        json::read,
    ),
    format("fio-text", "fio", "fio 2 and 3: text output", text::is_fio_text, text::read),
    format(
        "fio-terse",
        "fio",
        "fio --minimal: terse output, versions 2 to 5",
        terse::is_fio_terse,
        terse::read,
    ),
];

#[cfg(test)]
mod tests;
