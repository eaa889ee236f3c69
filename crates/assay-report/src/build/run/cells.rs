//! Table cells common to all sections of results.

use assay_model::attribute::Attribute;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::text;
use super::words;
use crate::document::{ColumnCell, ReferenceLine, TableCell, left, right};
use crate::locale::{group_digits, join_details, word};
use crate::precision::{self, ColumnPrefixes};
use crate::units;
use crate::words::dimension;

/// Returns the heading of the interval column, with the level if all results share it.
pub(super) fn interval_title(estimates: &[&MetricEstimate]) -> String {
    let level = estimates.first().map(|estimate| estimate.ci_level);
    let same = |estimate: &&MetricEstimate| {
        Some(estimate.ci_level.to_bits()) == level.map(f64::to_bits)
    };
    words::interval(level.filter(|_| estimates.iter().all(same)))
}

/// Returns the value and its interval, in the units of their columns, which have these titles.
pub(super) fn value_columns(
    (value, interval): (&str, &str),
    estimate: &MetricEstimate,
    prefixes: &ColumnPrefixes,
) -> [ColumnCell; 2] {
    // An interval too wide to print still exists; its doubt reports the width.
    let missing = if estimate.ci.is_some() { "–" } else { word("no-interval") };
    let width = prefixes.interval(estimate).unwrap_or_else(|| missing.to_owned());
    let width = TableCell::with_short(width, precision::relative_interval(estimate));
    [right(value, prefixes.value(estimate)), right(interval, width)]
}

/// Returns the values of dimensions, each in a column of its name.
pub(super) fn dimension_columns(
    names: &[Attribute],
    estimate: &MetricEstimate,
) -> impl Iterator<Item = ColumnCell> {
    names.iter().map(|name| {
        let value = text(estimate, *name).unwrap_or_default();
        left(dimension(*name), units::with_no_break_spaces(&value))
    })
}

/// Returns the number of samples, with the effective number in parentheses if it is clearly
/// smaller.
pub(super) fn sample_column(estimate: &MetricEstimate) -> ColumnCell {
    let effective = estimate.n_effective.round();
    let n = group_digits(&estimate.n.to_string());
    if effective.is_finite() && effective < estimate.n as f64 * 0.9 {
        right("n", format!("{n}\u{a0}({})", group_digits(&effective.to_string())))
    } else {
        right("n", n)
    }
}

/// Returns a share of the limit in percent.
pub(super) fn limit_column(share: Option<f64>) -> ColumnCell {
    right(word("column-of-limit"), percent(share))
}

/// Returns the measurer, if there are several.
pub(super) fn measurer(context: &ReportContext<'_>, estimate: &MetricEstimate) -> TableCell {
    if context.has_several_measurers {
        estimate.tool.name.clone().into()
    } else {
        TableCell::default()
    }
}

/// Returns the measurer, if there are several.
pub(super) fn measurer_column(
    context: &ReportContext<'_>,
    estimate: &MetricEstimate,
) -> ColumnCell {
    left(word("column-by"), measurer(context, estimate))
}

/// Returns host and measurer, if there are several, for tables without another column for the host.
pub(super) fn host_and_measurer_column(
    context: &ReportContext<'_>,
    estimate: &MetricEstimate,
) -> ColumnCell {
    // The label of a pair contains its hosts.
    let is_pair = estimate.parameters.contains_key(&Attribute::Peer);
    let host = (context.has_several_hosts && !is_pair).then(|| estimate.host.clone());
    let tool = context.has_several_measurers.then(|| estimate.tool.name.clone());
    let parts: Vec<String> = host.into_iter().chain(tool).collect();
    left(word("column-by"), join_details(&parts))
}

/// Returns the numbers of the notes about a result.
pub(super) fn note_column(
    context: &ReportContext<'_>,
    estimate: &MetricEstimate,
) -> ColumnCell {
    left(word("column-note"), notes(context, estimate))
}

/// Returns the numbers of the notes about a result.
pub(super) fn notes(context: &ReportContext<'_>, estimate: &MetricEstimate) -> TableCell {
    TableCell::with_marks(context.notes.marks(estimate))
}

/// Formats a percentage; empty if unknown or not finite.
pub(super) fn percent(value: Option<f64>) -> TableCell {
    value.filter(|value| value.is_finite()).map(units::percent).unwrap_or_default().into()
}

/// Returns the limit line of a plot, if all results with a limit share it.
pub(super) fn limit_line(estimates: &[&MetricEstimate]) -> Option<ReferenceLine> {
    let mut limits = estimates.iter().filter_map(|it| Some(it.limit.as_ref()?.value));
    let value = limits.next()?;
    let shared = limits.all(|other| other.to_bits() == value.to_bits());
    let shown = units::quantity(value, estimates.first()?.unit, 4);
    shared.then(|| ReferenceLine { label: message!("limit-line", limit = shown), value })
}
