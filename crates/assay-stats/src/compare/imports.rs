//! Pairs of imported results with results of the same metric whose conditions they do not contradict.
//!
//! A file of another tool lacks conditions that a run of assay records. They are unknown, not
//! different: the pair is compared, and its unrecorded conditions are listed.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, AttributeValue, Attributes, identity_attributes};
use assay_model::comparison::EnvironmentDifference;
use assay_model::environment::EnvironmentAspect;
use assay_model::summary::MetricEstimate;

use super::{ConditionResults, ResultKey, format_attributes};

/// Partners of results without a counterpart of the same key, by key.
pub(super) type ImportPartners<'k> = BTreeMap<&'k ResultKey, &'k ResultKey>;

/// Pairs results that have no counterpart of the same key, where exactly one result of the other
/// condition fits and one of the two was imported.
pub(super) fn pair_imports<'k>(
    a: &'k ConditionResults<'_>,
    b: &'k ConditionResults<'_>,
) -> ImportPartners<'k> {
    let (of_a, of_b) = (unpaired_results(a, b), unpaired_results(b, a));
    let only_fit = |one: &MetricEstimate, others: &[(&'k ResultKey, &'k MetricEstimate)]| {
        let mut fits: Vec<_> =
            others.iter().filter(|(_, other)| can_be_equal(one, other)).copied().collect();
        retain_equal(one, &mut fits, Attribute::Threads);
        // As many threads as the whole node has are those of the node.
        let has_threads = one.parameters.contains_key(&Attribute::Threads);
        if has_threads && fits.iter().any(|(_, other)| is_of_node(other)) {
            fits.retain(|(_, other)| is_of_node(other));
        }
        retain_equal(one, &mut fits, Attribute::BytesPerArray);
        match fits.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    };
    let partner = |(key, one): &(&'k ResultKey, &'k MetricEstimate)| {
        let (other_key, other) = only_fit(one, &of_b)?;
        let (own_key, _) = only_fit(other, &of_a)?;
        (own_key == *key).then_some((*key, other_key))
    };
    of_a.iter().filter_map(partner).collect()
}

/// Returns the results whose key the other condition lacks.
fn unpaired_results<'k>(
    of: &'k ConditionResults<'_>,
    other: &ConditionResults<'_>,
) -> Vec<(&'k ResultKey, &'k MetricEstimate)> {
    let unpaired = of.order.iter().filter(|key| !other.results.contains_key(key));
    unpaired.filter_map(|key| Some((key, of.results[key].first()?))).collect()
}

/// Whether two results may have the same conditions, as far as they are recorded.
fn can_be_equal(one: &MetricEstimate, other: &MetricEstimate) -> bool {
    let is_same_metric = (&one.benchmark, &one.metric) == (&other.benchmark, &other.metric);
    if !is_same_metric || !(is_imported(one) || is_imported(other)) {
        return false;
    }
    let (of_one, of_other) = (conditions(one), conditions(other));
    // A name that the author of a file chose is no condition; two of them must agree.
    let is_name = |name: Attribute| matches!(name, Attribute::Phase | Attribute::Test);
    let mut names = of_one.keys().chain(of_other.keys());
    names.all(|name| match (of_one.get(name), of_other.get(name)) {
        (Some(one), Some(other)) => one == other,
        (Some(_), None) => is_name(*name) || may_lack(other, *name),
        (None, _) => is_name(*name) || may_lack(one, *name),
    })
}

fn is_of_node(result: &MetricEstimate) -> bool {
    let placement = result.parameters.get(&Attribute::Placement);
    placement.and_then(AttributeValue::as_text) == Some("node")
}

/// Of several results, keeps those of the same size. It is no condition, but distinguishes the results
/// of one run, such as those of a core and of the node.
fn retain_equal(
    one: &MetricEstimate,
    fits: &mut Vec<(&ResultKey, &MetricEstimate)>,
    size: Attribute,
) {
    if fits.len() > 1 {
        fits.retain(|(_, other)| has_equal_size(one, other, size));
    }
}

/// Whether two results have an equal size, as far as both record it.
fn has_equal_size(one: &MetricEstimate, other: &MetricEstimate, size: Attribute) -> bool {
    let [one, other] = [one, other].map(|it| it.parameters.get(&size));
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// Whether a result may lack a condition because its file does. A file that names the far end
/// shows whether the traffic left the host.
fn may_lack(result: &MetricEstimate, name: Attribute) -> bool {
    let has_far_end = result.parameters.contains_key(&Attribute::To);
    is_imported(result) && !(name == Attribute::Path && has_far_end)
}

fn is_imported(result: &MetricEstimate) -> bool {
    result.parameters.contains_key(&Attribute::SourceFormat)
}

/// Returns the conditions as texts, in which 4 and 4.0 are equal.
fn conditions(result: &MetricEstimate) -> BTreeMap<Attribute, String> {
    let identity = identity_attributes(&result.parameters);
    let text = |(name, value): (Attribute, AttributeValue)| {
        (name, format_attributes(&Attributes::from([(name, value)])))
    };
    identity.into_iter().map(text).collect()
}

/// Returns the conditions that only one result of a pair has, with their values.
pub(super) fn unrecorded_conditions(
    pairs: &[(&MetricEstimate, &MetricEstimate)],
) -> Vec<EnvironmentDifference> {
    let mut values: BTreeMap<Attribute, [BTreeSet<String>; 2]> = BTreeMap::new();
    for (a, b) in pairs {
        let sides = [a, b].map(|it| identity_attributes(&it.parameters));
        for (at, side) in sides.iter().enumerate() {
            let lacks = |name: &Attribute| !sides[1 - at].contains_key(name);
            for (name, value) in side.iter().filter(|(name, _)| lacks(name)) {
                values.entry(*name).or_default()[at].insert(format_value(value));
            }
        }
    }
    let join = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(", ");
    let difference = |(name, sides): (Attribute, [BTreeSet<String>; 2])| {
        let [a, b] = sides.map(join);
        let (aspect, of) = (EnvironmentAspect::Unrecorded, name.name().to_owned());
        EnvironmentDifference { aspect, of, a, b }
    };
    values.into_iter().map(difference).collect()
}

fn format_value(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        AttributeValue::Integer(_)
        | AttributeValue::Number(_)
        | AttributeValue::Text(_)
        | AttributeValue::Reason(_)
        | AttributeValue::Pairs(_)
        | AttributeValue::Ranks(_) => value.to_string(),
    }
}
