//! Import of sockperf's text.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;

use super::super::{ImportedMeasurement, missing, word_after};
use crate::limits::check_limit;
use crate::outputs::{ParsedOutput, ToolError, parse_positive};

/// Maximum number of summaries in one file of sockperf, which prints one.
const MAX_SUMMARIES: usize = 10;

pub(super) fn is_sockperf(text: &str) -> bool {
    text.contains("sockperf:") && text.contains("Summary:")
}

/// Reads sockperf's summary. Its latency is half a round trip unless started with `--full-rtt`, and
/// its `BandWidth` is in 2²⁰ B/s despite its label (sockperf's client.cpp divides by 1024 twice).
pub(super) fn read_sockperf(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let text: String = text.lines().map(strip_colours).collect::<Vec<_>>().join("\n");
    let benchmark =
        if text.contains("# TCP") { Benchmark::NetworkTcp } else { Benchmark::NetworkUdp };
    let version =
        word_after(&text, "== version #").map(|text| text.trim_end_matches('=').to_owned());
    let mut parsed = ParsedOutput { version, ..ParsedOutput::default() };
    let summary = text.lines().filter_map(|line| line.split_once("Summary:")).map(|it| it.1);
    let mut dimensions = Attributes::new();
    for line in summary {
        // Each summary reads its percentiles from the whole text.
        check_limit(parsed.values.len() + 1, ("summaries", MAX_SUMMARIES))?;
        if let Some(value) = word_after(line, "Latency is") {
            add_latency("half_round_trip", value, &text, &mut parsed)?;
            dimensions.insert(Attribute::LoadStreams, 0_u64.into());
        } else if let Some(value) = word_after(line, "Round trip is") {
            add_latency("round_trip", value, &text, &mut parsed)?;
            dimensions.insert(Attribute::LoadStreams, 0_u64.into());
        } else if let Some(value) = word_after(line, "BandWidth is") {
            let mib_per_s = parse_positive("BandWidth", value)?;
            parsed.add_samples("goodput", vec![mib_per_s * 1024.0 * 1024.0 * 8.0]);
            dimensions.insert(Attribute::Streams, 1_u64.into());
        }
    }
    let bytes = word_after(&text, "--msg-size").or_else(|| word_after(&text, "; msg-size"));
    let bytes = bytes.and_then(|text| text.trim_end_matches(';').parse::<u64>().ok());
    dimensions.extend(bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    if parsed.values.is_empty() {
        return Err(missing("summary of latency or bandwidth"));
    }
    let name = "sockperf".to_owned();
    Ok(vec![ImportedMeasurement {
        name,
        benchmark,
        dimensions,
        system: None,
        began: None,
        lines: None,
        parsed,
    }])
}

fn add_latency(
    metric: &'static str,
    value: &str,
    text: &str,
    parsed: &mut ParsedOutput,
) -> Result<(), ToolError> {
    let mean_s = parse_positive("the latency", value)? * 1e-6;
    let percentile = |name: &str| {
        let line = text.lines().find(|line| line.contains(name))?;
        Some(parse_positive(name, line.rsplit('=').next()?).ok()? * 1e-6)
    };
    parsed.add_samples(metric, vec![percentile("percentile 50.000").unwrap_or(mean_s)]);
    let statistic = if percentile("percentile 50.000").is_some() { "median" } else { "mean" };
    parsed.set_metric_attribute(metric, Attribute::Statistic, statistic);
    let p99 = percentile("percentile 99.000").map(|value| ("p99".to_owned(), value));
    let figures = ToolFigures {
        min: percentile("<MIN> observation"),
        mean: Some(mean_s),
        max: percentile("<MAX> observation"),
        percentiles: p99.into_iter().collect(),
    };
    parsed.set_figures(metric, figures);
    Ok(())
}

/// Removes the colours of a terminal from a line; sockperf also writes them into files.
fn strip_colours(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = behind.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}
