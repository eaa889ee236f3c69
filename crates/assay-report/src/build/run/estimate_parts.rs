//! Parts of a result as text and numbers: its metric, domain, attributes and section.

use assay_model::attribute::{Attribute, AttributeValue, Role};
use assay_model::benchmark::{Benchmark, ReportSection};
use assay_model::summary::MetricEstimate;

use crate::units;

/// Returns the display name of a metric in the current language; the English ones are here.
pub(in crate::build) fn metric_name(estimate: &MetricEstimate) -> String {
    name_metric(&estimate.metric)
}

/// Returns the display name of a metric by its stored name.
pub(in crate::build) fn name_metric(stored: &str) -> String {
    if let Some(translated) = crate::words::metric(stored) {
        return units::with_no_break_spaces(translated);
    }
    let known = match stored {
        "copy" => "Copy",
        "scale" => "Scale",
        "add" => "Add",
        "triad" => "Triad",
        "fp64" => return message!("answer-peak", label = "FP64"),
        "fp32" => return message!("answer-peak", label = "FP32"),
        "core_clock" => "core clock",
        "rmax" => "Rmax",
        "cpu_load" => "CPU load",
        "cpu_time" => "CPU time",
        "cpu_per_io" => "CPU time per I/O",
        // Long enough to wrap in narrow tables.
        "cpu_per_byte" => return "CPU time per\u{a0}byte".to_owned(),
        other => return units::with_no_break_spaces(&other.replace('_', " ")),
    };
    units::with_no_break_spaces(known)
}

/// Returns the name of a benchmark: that of its headline, or else its identifier.
pub(in crate::build) fn benchmark_name(id: &str) -> String {
    let headline = Benchmark::from_id(id)
        .and_then(|it| it.definition().metrics.iter().find_map(|metric| metric.headline));
    headline.map_or_else(|| id.to_owned(), crate::words::headline)
}

/// Returns the user's name of a figure that a program printed, or else that of the metric.
pub(in crate::build) fn figure_name(estimate: &MetricEstimate) -> String {
    let own = if is_program_figure(estimate) { text(estimate, Attribute::Test) } else { None };
    own.map_or_else(|| metric_name(estimate), |own| units::with_no_break_spaces(&own))
}

/// Whether a program printed the figure: its test is the name of the figure. Tests of other benchmarks
/// have several metrics.
pub(in crate::build) fn is_program_figure(estimate: &MetricEstimate) -> bool {
    section_of(estimate) == Some(ReportSection::Programs)
}

/// Returns the domain of a result, after the source of its data if it has one.
pub(in crate::build) fn domain_label(estimate: &MetricEstimate) -> Option<String> {
    let placement = text(estimate, Attribute::Placement)?;
    Some(match text(estimate, Attribute::Source) {
        Some(source) => units::with_no_break_spaces(&format!("{source} → {placement}")),
        None => placement,
    })
}

/// Returns an attribute as display text.
pub(in crate::build) fn text(estimate: &MetricEstimate, name: Attribute) -> Option<String> {
    estimate.parameters.get(&name).map(|value| units::format_attribute(name, value))
}

/// Returns an attribute as a number.
pub(in crate::build) fn number(estimate: &MetricEstimate, name: Attribute) -> Option<f64> {
    estimate.parameters.get(&name).and_then(AttributeValue::as_number)
}

/// Returns the section that prints a result; `None` for benchmarks unknown to this version.
pub(in crate::build) fn section_of(estimate: &MetricEstimate) -> Option<ReportSection> {
    Benchmark::from_id(&estimate.benchmark).map(|it| it.definition().section)
}

/// Whether several domains were measured at the same time.
pub(in crate::build) fn is_concurrent(estimate: &MetricEstimate) -> bool {
    match estimate.parameters.get(&Attribute::Concurrent) {
        Some(AttributeValue::Flag(concurrent)) => *concurrent,
        Some(value) => value.as_number().is_some_and(|domains| domains > 1.0),
        None => false,
    }
}

/// Returns the dimensions in which these results differ, in the order of the table of attributes.
pub(in crate::build) fn differing_dimensions(estimates: &[&MetricEstimate]) -> Vec<Attribute> {
    let differs = |name: &Attribute| {
        let value = |estimate: &MetricEstimate| estimate.parameters.get(name).cloned();
        name.row().role != Role::Fact
            && estimates.windows(2).any(|pair| value(pair[0]) != value(pair[1]))
    };
    Attribute::ALL.iter().copied().filter(differs).collect()
}
