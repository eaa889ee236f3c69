//! Matching of results that each condition has by a tool of its own: the same request, measured by
//! assay in one and by another tool in the other.

use std::collections::BTreeMap;

use assay_model::attribute::identity_attributes;
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
    pairs.extend(pair_unique(&open(a, &in_a), &open(b, &in_b), request_name));
    pairs
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
