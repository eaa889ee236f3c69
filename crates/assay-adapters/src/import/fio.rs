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
    ).with_contents("rate, bandwidth, latency with its percentiles, CPU time; each group, client and direction", "earlier states of a cumulative file, percentiles that the file lacks"),
    format("fio-text", "fio", "fio 2 and 3: text output", text::is_fio_text, text::read).with_contents("the same, as far as it is printed", "sums of groups, fsync latency, reads that only verify"),
    format(
        "fio-terse",
        "fio",
        "fio --minimal: terse output, versions 2 to 5",
        terse::is_fio_terse,
        terse::read,
    ).with_contents("the same, in whole microseconds", "earlier states of one run"),
];

#[cfg(test)]
mod tests;
