//! The cells that all tables of results have in common.

use assay_model::attribute::Attribute;
use assay_model::summary::Estimate;

use super::context::Context;
use super::words;
use crate::document::{Cell, Line};
use crate::locale::{details, grouped, word};
use crate::precision::{self, Prefixes};
use crate::units;

/// What is above the intervals of these results.
pub(super) fn interval_title(estimates: &[&Estimate]) -> String {
    let level = estimates.first().map(|estimate| estimate.ci_level);
    let same =
        |estimate: &&Estimate| Some(estimate.ci_level.to_bits()) == level.map(f64::to_bits);
    words::interval(level.filter(|_| estimates.iter().all(same)))
}

/// The value and its interval, in the units of their columns.
pub(super) fn estimate(estimate: &Estimate, prefixes: &Prefixes) -> [Cell; 2] {
    // One that is wider than anybody can use is one nevertheless, and its doubt says how wide.
    let missing = if estimate.ci.is_some() { "–" } else { word("no-interval") };
    let interval = prefixes.interval(estimate).unwrap_or_else(|| missing.to_owned());
    let interval = Cell::with_short(interval, precision::relative(estimate));
    [prefixes.value(estimate).into(), interval]
}

/// Samples, and in brackets what they are worth if that is clearly less.
pub(super) fn samples(estimate: &Estimate) -> Cell {
    let worth = estimate.n_effective.round();
    if worth.is_finite() && worth < estimate.n as f64 * 0.9 {
        format!("{}\u{a0}({})", grouped(&estimate.n.to_string()), grouped(&worth.to_string()))
            .into()
    } else {
        grouped(&estimate.n.to_string()).into()
    }
}

/// Who measured, where that is not the same for all.
pub(super) fn measurer(context: &Context<'_>, estimate: &Estimate) -> Cell {
    if context.several_measurers { estimate.tool.name.clone().into() } else { Cell::default() }
}

/// The same with the host, in tables that do not say elsewhere which of several it was.
pub(super) fn host_and_measurer(context: &Context<'_>, estimate: &Estimate) -> Cell {
    // A pair has its hosts in its name.
    let is_pair = estimate.parameters.contains_key(&Attribute::Peer);
    let host = (context.several_hosts && !is_pair).then(|| estimate.host.clone());
    let tool = context.several_measurers.then(|| estimate.tool.name.clone());
    details(&host.into_iter().chain(tool).collect::<Vec<_>>()).into()
}

/// Numbers of the notes about it.
pub(super) fn notes(context: &Context<'_>, estimate: &Estimate) -> Cell {
    Cell::marks(context.notes.marks(estimate))
}

/// A share in percent; nothing where it is not known or no number.
pub(super) fn percent(value: Option<f64>) -> Cell {
    value.filter(|value| value.is_finite()).map(units::percent).unwrap_or_default().into()
}

/// The limit of these results as a line in their picture, where it is the same of all that have one.
pub(super) fn limit_line(estimates: &[&Estimate]) -> Option<Line> {
    let mut limits = estimates.iter().filter_map(|it| Some(it.limit.as_ref()?.value));
    let value = limits.next()?;
    let shared = limits.all(|other| other.to_bits() == value.to_bits());
    let shown = units::quantity(value, estimates.first()?.unit, 4);
    shared.then(|| Line { label: say!("limit-line", limit = shown), value })
}
