//! Short labels of the attributes that distinguish the cases of one metric and by which `compare`
//! matches them.

use assay_model::attribute::{Attribute, AttributeValue, Attributes, identity_attributes};
use assay_model::benchmark::{Benchmark, ReportSection};

use crate::build::run::estimate_parts::name_metric;
use crate::build::run::{network_labels, words as run_words};
use crate::locale::{comma, word};
use crate::words::dimension;
use crate::{precision, units};

/// Stored point of a response curve that has no requested rate.
const MAXIMUM: &str = "max";
/// Stored way to wait for messages without using a CPU.
const SLEEPING: &str = "sleep";

/// Names a metric, or a program's figure as its user named it.
pub(in crate::build) fn figure_name(
    (benchmark, metric): (&str, &str),
    attributes: &Attributes,
) -> String {
    let own = attributes.get(&Attribute::Test);
    match own.filter(|_| section(benchmark) == Some(ReportSection::Programs)) {
        Some(own) => units::with_no_break_spaces(&own.to_string()),
        None => name_metric(metric),
    }
}

/// Names a metric with its protocol or benchmark: `TCP goodput`, `Triad (memory.stream)`.
pub(in crate::build) fn result_name(
    (benchmark, metric): (&str, &str),
    attributes: &Attributes,
) -> String {
    let name = figure_name((benchmark, metric), attributes);
    match section(benchmark) {
        Some(ReportSection::Network) => network_labels::protocol_metric(benchmark, &name),
        Some(ReportSection::Programs) => name,
        _ => format!("{name} ({benchmark})"),
    }
}

/// Returns the label of the cases of a benchmark. The test of a program's figure is its name.
pub(in crate::build) fn result_label(benchmark: &str, attributes: &Attributes) -> String {
    let mut attributes = attributes.clone();
    if section(benchmark) == Some(ReportSection::Programs) {
        attributes.remove(&Attribute::Test);
    }
    label(&attributes)
}

fn section(benchmark: &str) -> Option<ReportSection> {
    Benchmark::from_id(benchmark).map(|it| it.definition().section)
}

/// Returns a label such as `node, 8 threads`; empty if no attribute distinguishes cases.
pub(in crate::build) fn label(attributes: &Attributes) -> String {
    let shared = identity_attributes(attributes);
    let reported = attributes
        .iter()
        .filter(|(name, _)| shared.contains_key(name) || **name == Attribute::Threads);
    // A test may have the name of its operation.
    let mut names: Vec<String> = Vec::new();
    let labels = reported.filter(|(attribute, value)| {
        let is_name =
            matches!(attribute, Attribute::Test | Attribute::Phase | Attribute::Operation);
        let Some(name) = value.as_text().filter(|_| is_name) else { return true };
        let is_new = names.iter().all(|known| known != name);
        names.push(name.to_owned());
        is_new
    });
    let labels = labels.filter_map(|(name, value)| attribute_label(*name, value));
    labels.collect::<Vec<_>>().join(comma())
}

fn attribute_label(name: Attribute, value: &AttributeValue) -> Option<String> {
    let shown = units::format_attribute(name, value);
    let plain = || dimension(name);
    Some(match (name, value) {
        (Attribute::Concurrent, AttributeValue::Flag(false)) => return None,
        (Attribute::Concurrent, _) => word("all-at-once").to_owned(),
        (_, AttributeValue::Flag(true)) => plain().to_owned(),
        (_, AttributeValue::Flag(false)) => message!("attribute-not", what = plain()),
        (Attribute::LoadStreams, AttributeValue::Integer(0)) => return None,
        (Attribute::Threads, _) => run_words::threads(value.as_number()? as usize),
        (
            Attribute::AskedGidIndex
            | Attribute::AskedPathMtuBytes
            | Attribute::ServiceLevel
            | Attribute::PauseS,
            _,
        ) => format!("{} {shown}", plain()),
        (Attribute::Streams, _) => message!("streams", n = value.as_number()? as u64),
        (Attribute::LoadStreams, _) => message!("under-load", n = value.as_number()? as u64),
        (Attribute::Ranks, _) => message!("ranks", ranks = shown),
        (Attribute::N, _) => format!("N = {shown}"),
        (Attribute::Depth, _) => message!("attribute-in-flight", n = shown),
        (Attribute::End, _) => run_words::end(&shown),
        (Attribute::Direction, _) => run_words::direction(&shown),
        (Attribute::Operation, _) => run_words::operation(&shown),
        (Attribute::Pattern, _) => run_words::pattern(&shown),
        (Attribute::Path | Attribute::To, _) => network_labels::far_end(&shown),
        (Attribute::Point, _) if shown == MAXIMUM => word("rate-max").to_owned(),
        // The usual way to wait; the other one is named.
        (Attribute::Waiting, _) if shown == SLEEPING => return None,
        (Attribute::ReadShare, _) => {
            message!(
                "attribute-reads",
                share = precision::format_percent_setting(100.0 * value.as_number()?)
            )
        }
        (Attribute::MessagesPerS, _) => message!("per-second", rate = shown),
        (Attribute::PreconditionPasses, _) => message!("attribute-passes", n = shown),
        _ => shown,
    })
}
