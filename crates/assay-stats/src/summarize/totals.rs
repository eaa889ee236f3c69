//! Totals of several hosts for storage and network: rates are added stretch by stretch, and single
//! I/O or messages form one common distribution.
//!
//! Hosts begin a case, a round, a point of a curve and a transfer at a common start, so their nth
//! stretches cover the same time.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, AttributeValue, Attributes, Role};
use assay_model::benchmark::{Better, Metric, ReportSection};
use assay_model::distribution::LatencyDistribution;
use assay_model::event::{HostJoined, Sample, StretchRecord};
use assay_model::quantity::Unit;
use assay_model::run::{ALL_HOSTS, CaseOutcome, CaseRecord, Run, SeriesRecord};

use super::mix;
use crate::tails::Tails;

/// Distributions of one host.
type HostStretches<'r> = Vec<&'r StretchRecord<LatencyDistribution>>;

/// Returns the totals of a case as cases of fictitious hosts: one for all hosts that measured it,
/// and one for each group of hosts with a user's label. A single host and unshared resources have
/// no total. A group with a failed host has none, because a sum of fewer hosts would look like one
/// of all.
pub(super) fn host_totals(run: &Run, record: &CaseRecord) -> Vec<CaseRecord> {
    let definition = record.case.workload.benchmark().definition();
    if !definition.section.has_host_totals()
        || !matches!(record.outcome, Some(CaseOutcome::Finished(_)))
    {
        return Vec::new();
    }
    // A host that was lost before it measured anything has no series.
    let measured = record.series.iter().filter_map(series_host);
    let hosts: BTreeSet<&str> = measured.chain(record.hosts_without_result()).collect();
    if hosts.len() < 2 {
        return Vec::new();
    }
    let mut groups: Vec<(&str, BTreeSet<&str>)> = vec![(ALL_HOSTS, hosts.clone())];
    for joined in &run.hosts {
        for label in &joined.labels {
            let has_label = |host: &&HostJoined| host.labels.contains(label);
            let members = run.hosts.iter().filter(has_label).map(|it| it.host.as_str());
            let members: BTreeSet<&str> = members.filter(|it| hosts.contains(it)).collect();
            let has_group = groups.iter().any(|(name, _)| name == label);
            // A label of all hosts would repeat the total.
            if !has_group && !members.is_empty() && members.len() < hosts.len() {
                groups.push((label, members));
            }
        }
    }
    // In the order of the fleet, not of the start.
    let ordered = |members: &BTreeSet<&str>| -> Vec<&str> {
        let fleet = run.hosts.iter().map(|it| it.host.as_str());
        fleet.filter(|it| members.contains(it)).collect()
    };
    let total_of_group =
        |(name, members): &(&str, _)| group_total(record, name, &ordered(members));
    groups.iter().filter_map(total_of_group).collect()
}

fn group_total(record: &CaseRecord, name: &str, members: &[&str]) -> Option<CaseRecord> {
    if record.hosts_without_result().any(|host| members.contains(&host)) {
        return None;
    }
    let definition = record.case.workload.benchmark().definition();
    let is_of_member =
        |it: &&SeriesRecord| series_host(it).is_some_and(|host| members.contains(&host));
    let mut groups: BTreeMap<(usize, String), Vec<&SeriesRecord>> = BTreeMap::new();
    for series in record.series.iter().filter(is_of_member) {
        let Some(metric) = definition.metrics.iter().position(|it| it.name == series.metric)
        else {
            continue;
        };
        if series.dimensions.keys().all(|name| !is_part(*name)) {
            groups.entry((metric, series_key(&series.dimensions))).or_default().push(series);
        }
    }
    // A transfer is recorded at its own end. The stretches of a round of I/O are recorded together,
    // at the end of the round.
    let has_own_times = definition.section == ReportSection::Network;
    let total = |((metric, _), group): ((usize, String), Vec<&SeriesRecord>)| {
        let is_complete = group.len() == members.len();
        let metric = &definition.metrics[metric];
        is_complete
            .then(|| total_series(record, (name, members), metric, &group, has_own_times))
            .flatten()
    };
    let series: Vec<SeriesRecord> = groups.into_iter().filter_map(total).collect();
    let percent_of_max =
        share_of_maximum(record, members).map(|it| (Attribute::PercentOfMax, it.into()));
    // Not `..record.clone()`, which would copy the series of every host.
    (!series.is_empty()).then(|| CaseRecord {
        outcome: record.outcome.clone(),
        facts: record
            .facts
            .iter()
            .map(|(name, value)| (*name, value.clone()))
            .chain(percent_of_max)
            .collect(),
        series,
        ..CaseRecord::new(record.case.clone())
    })
}

/// Returns the requested share of a group's maximum rate, if each host chose its own rate near the
/// knee of its curve: Σr / Σ(r/p). Host rates are r, and p is the share of the host's maximum.
fn share_of_maximum(record: &CaseRecord, members: &[&str]) -> Option<f64> {
    let number = |host: &str, name| {
        record.facts_by_host.get(host)?.get(&name).and_then(AttributeValue::as_number)
    };
    let (mut requested_sum, mut maximum_sum) = (0.0, 0.0);
    for host in members {
        let rate = number(host, Attribute::RequestedRate)?;
        requested_sum += rate;
        maximum_sum += rate / number(host, Attribute::PercentOfMax)?;
    }
    Some(requested_sum / maximum_sum).filter(|it| it.is_finite())
}

fn series_host(series: &SeriesRecord) -> Option<&str> {
    series.dimensions.get(&Attribute::Host).and_then(AttributeValue::as_text)
}

/// Returns whether an attribute marks a part. `Step` does not count, because steps have totals,
/// too.
fn is_part(name: Attribute) -> bool {
    name.row().role == Role::Part && name != Attribute::Step
}

/// Returns a key that is equal for the same series of different hosts: the identity without the
/// peer, and the step.
fn series_key(dimensions: &Attributes) -> String {
    let is_key = |name: &Attribute| {
        let role = name.row().role;
        (role == Role::Identity && *name != Attribute::Peer) || *name == Attribute::Step
    };
    let key_dimensions = dimensions.iter().filter(|(name, _)| is_key(name));
    key_dimensions.map(|it| format!("{it:?}")).collect::<Vec<_>>().join(" ")
}

/// Returns the total series of several hosts; `None` for a metric that is neither additive nor a
/// latency.
fn total_series(
    record: &CaseRecord,
    (name, members): (&str, &[&str]),
    metric: &Metric,
    group: &[&SeriesRecord],
    has_own_times: bool,
) -> Option<SeriesRecord> {
    let is_latency = matches!(metric.name, "latency" | "latency_from_intended");
    let is_rate = metric.better == Better::Higher
        && matches!(metric.unit, Unit::IoPerSecond | Unit::BytePerSecond | Unit::BitPerSecond);
    let samples = match (is_rate, is_latency) {
        (true, _) => sum_rates(group, has_own_times)?,
        (_, true) => common_latencies(record, group),
        _ => return None,
    };
    // A total keeps only the dimensions that all hosts share: not, for example, the path of one.
    let mut dimensions = group[0].dimensions.clone();
    dimensions
        .retain(|name, value| group.iter().all(|it| it.dimensions.get(name) == Some(&*value)));
    dimensions.insert(Attribute::Host, name.into());
    dimensions.insert(Attribute::Hosts, members.join(",").into());
    Some(SeriesRecord {
        metric: group[0].metric.clone(),
        dimensions,
        samples,
        distributions: group.iter().flat_map(|it| it.distributions.iter().cloned()).collect(),
        ..SeriesRecord::default()
    })
}

/// Adds the rates of simultaneous stretches, as far as all hosts have them. The nth stretches of
/// hosts usually coincide. They may not if cases alternate and a host has fewer repetitions in a
/// turn. Samples with their own times are therefore added only if they end at about the same time.
fn sum_rates(group: &[&SeriesRecord], has_own_times: bool) -> Option<Vec<Sample>> {
    let stretches = group.iter().map(|it| it.samples.len()).min()?;
    let is_simultaneous = |index: &usize| {
        let samples = || group.iter().map(|it| it.samples[*index]);
        let ends_ns = || samples().map(|it| it.at_ns);
        let spread_ns =
            ends_ns().max().zip(ends_ns().min()).map_or(0, |(last, first)| last - first);
        let length_s = samples().map(|it| it.weight).fold(f64::INFINITY, f64::min);
        !has_own_times || spread_ns as f64 * 1e-9 < 0.5 * length_s
    };
    let sum = |index: usize| {
        let samples = || group.iter().map(|it| it.samples[index]);
        Sample {
            value: samples().map(|it| it.value).sum(),
            weight: samples().map(|it| it.weight).sum::<f64>() / group.len() as f64,
            at_ns: samples().map(|it| it.at_ns).max().unwrap_or(0),
            ..group[0].samples[index]
        }
    };
    let sums: Vec<Sample> = (0..stretches).filter(is_simultaneous).map(sum).collect();
    (!sums.is_empty()).then_some(sums)
}

/// Returns the medians of all hosts' single values, one for each simultaneous part of their stretches.
/// Without single values, returns the samples of all hosts, the first ones of each before the second.
///
/// The samples of one host after those of another would look like a warm-up if one is slower.
fn common_latencies(record: &CaseRecord, group: &[&SeriesRecord]) -> Vec<Sample> {
    let stretches: Vec<HostStretches<'_>> =
        group.iter().map(|series| mix::counted_distributions(record, series)).collect();
    let preparations: BTreeSet<u32> =
        stretches.iter().flatten().map(|it| it.preparation).collect();
    let medians = preparations.into_iter().map(|it| common_medians(group, &stretches, it));
    if let Some(medians) = medians.collect::<Option<Vec<_>>>().filter(|it| !it.is_empty()) {
        return medians.concat();
    }
    // Samples of storage are recorded together at the end, so that their times say nothing.
    let numbered = group.iter().flat_map(|it| it.samples.iter().copied().enumerate());
    let mut samples: Vec<(usize, Sample)> = numbered.collect();
    samples.sort_by_key(|(number, it)| (it.preparation, *number));
    samples.into_iter().map(|(_, it)| it).collect()
}

/// Returns the common medians of a preparation, as many as each host has samples or, without samples,
/// distributions; `None` if the single values of a host are unknown.
fn common_medians(
    group: &[&SeriesRecord],
    stretches: &[HostStretches<'_>],
    preparation: u32,
) -> Option<Vec<Sample>> {
    let mut parts = usize::MAX;
    let mut stretches_by_host = Vec::new();
    for (series, stretches) in group.iter().zip(stretches) {
        let mut stretches = stretches.clone();
        stretches.retain(|it| it.preparation == preparation);
        stretches.sort_by_key(|it| it.from_ns);
        parts = parts.min(stretches.len());
        if !series.samples.is_empty() {
            let samples = series.samples.iter().filter(|it| it.preparation == preparation);
            parts = parts.min(samples.count());
        }
        stretches_by_host.push(stretches);
    }
    let median = |number: usize| {
        let bound = |whole: usize| number * whole / parts..(number + 1) * whole / parts;
        let of_part =
            stretches_by_host.iter().flat_map(|it| it[bound(it.len())].iter().copied());
        let last = of_part.clone().max_by_key(|it| it.to_ns)?;
        let (series, at_ns) = (last.series, last.to_ns);
        let value = Tails::from_stretches(of_part)?.median;
        Some(Sample { series, value, weight: 1.0, preparation, at_ns })
    };
    let medians: Vec<Sample> = (0..parts).filter_map(median).collect();
    (!medians.is_empty()).then_some(medians)
}
