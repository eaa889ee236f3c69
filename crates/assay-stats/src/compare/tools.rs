//! Matching of results that each condition has by a tool of its own: the same request, measured by
//! assay in one and by another tool in the other.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes, identity_attributes};
use assay_model::summary::MetricEstimate;

use super::{ResultKey, format_attributes};

/// Result without a counterpart of its own tool.
pub(super) type OpenResult<'r> = (&'r ResultKey, &'r MetricEstimate);

/// Pairs results of the same request by different tools, where each side has one such result: first
/// by all attributes, then without those that only one tool reports.
pub(super) fn match_tools<'r>(
    a: &[OpenResult<'r>],
    b: &[OpenResult<'r>],
) -> Vec<(&'r ResultKey, &'r ResultKey)> {
    let whole = |it: &MetricEstimate| {
        let identity = identity_attributes(&it.parameters);
        format!("{} {}", request_name(it), format_attributes(&identity))
    };
    let mut pairs = pair_unique(a, b, whole);
    let open = |all: &[OpenResult<'r>], paired: &[&ResultKey]| -> Vec<OpenResult<'r>> {
        all.iter().filter(|(key, _)| !paired.contains(key)).copied().collect()
    };
    let (in_a, in_b): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let estimate = |all: &[OpenResult<'r>], key: &ResultKey| {
        all.iter().find(|(known, _)| *known == key).map(|(_, it)| *it)
    };
    let named = pair_unique(&open(a, &in_a), &open(b, &in_b), request_name);
    pairs.extend(named.into_iter().filter(|(one, other)| {
        let both = estimate(a, one).zip(estimate(b, other));
        both.is_some_and(|(one, other)| have_equal_conditions(one, other))
    }));
    pairs
}

/// Whether the conditions that both tools report are equal, and neither lacks one without which it
/// measures another request.
fn have_equal_conditions(one: &MetricEstimate, other: &MetricEstimate) -> bool {
    const DECIDING: [Attribute; 3] =
        [Attribute::Path, Attribute::RequestedRate, Attribute::RateBitPerS];
    let [one, other] = [one, other].map(|it| identity_attributes(&it.parameters));
    let text = |all: &Attributes, name: &Attribute| {
        all.get(name).map(|it| format_attributes(&[(*name, it.clone())].into()))
    };
    one.keys().chain(other.keys()).all(|name| match (text(&one, name), text(&other, name)) {
        (Some(one), Some(other)) => one == other,
        _ => !DECIDING.contains(name),
    })
}

/// Pairs results whose names are equal and occur once on each side.
fn pair_unique<'r>(
    a: &[OpenResult<'r>],
    b: &[OpenResult<'r>],
    name: impl Fn(&MetricEstimate) -> String,
) -> Vec<(&'r ResultKey, &'r ResultKey)> {
    let group = |all: &[OpenResult<'r>]| {
        let mut named: BTreeMap<String, Vec<OpenResult<'r>>> = BTreeMap::new();
        all.iter().for_each(|it| named.entry(name(it.1)).or_default().push(*it));
        named
    };
    let in_b = group(b);
    let pair = |(name, of_a): (String, Vec<OpenResult<'r>>)| {
        let ([one], [other]) = (&of_a[..], &in_b.get(&name)?[..]) else { return None };
        (one.1.tool.name != other.1.tool.name).then_some((one.0, other.0))
    };
    group(a).into_iter().filter_map(pair).collect()
}

/// Returns benchmark, case and metric, without the tool that ends the name of a case.
fn request_name(estimate: &MetricEstimate) -> String {
    let suffix = format!("/{}", estimate.tool.name);
    let case = estimate.case.strip_suffix(&suffix).unwrap_or(&estimate.case);
    format!("{} {case} {}", estimate.benchmark, estimate.metric)
}
