//! What several hosts did together: of storage and network, which they share, rates add up moment by moment, and every
//! single I/O or message is one of a common distribution.
//!
//! Hosts begin a case, a round and a point of a curve at one moment, so their nth stretches are the same time.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, Attributes, Role, Value};
use assay_model::benchmark::{Better, Metric, Section};
use assay_model::event::Sample;
use assay_model::quantity::Unit;
use assay_model::run::{ALL_HOSTS, CaseRecord, SeriesRecord};

use super::has_not_failed;

/// The totals of a case as if they were those of another host. `None` where there are none: of one host, of what hosts
/// do not share, and where a host failed, because a sum of fewer hosts looks like one of all.
pub(super) fn of(record: &CaseRecord) -> Option<CaseRecord> {
    let definition = record.case.workload.benchmark().definition();
    let is_shared = matches!(definition.section, Section::Storage | Section::Network);
    if !is_shared || !record.failed_on.is_empty() {
        return None;
    }
    let hosts: BTreeSet<&str> = record.series.iter().filter_map(host).collect();
    if hosts.len() < 2 {
        return None;
    }
    let mut groups: BTreeMap<(usize, String), Vec<&SeriesRecord>> = BTreeMap::new();
    for series in record.series.iter().filter(|it| has_not_failed(record, it)) {
        let Some(metric) = definition.metrics.iter().position(|it| it.name == series.metric)
        else {
            continue;
        };
        if series.dimensions.keys().all(|name| !is_part(*name)) {
            groups.entry((metric, asked(&series.dimensions))).or_default().push(series);
        }
    }
    let total = |((metric, _), group): ((usize, String), Vec<&SeriesRecord>)| {
        let whole = group.len() == hosts.len();
        let metric = &definition.metrics[metric];
        whole.then(|| together(metric, &group)).flatten()
    };
    let series: Vec<SeriesRecord> = groups.into_iter().filter_map(total).collect();
    (!series.is_empty()).then(|| CaseRecord {
        series,
        raw: BTreeMap::new(),
        doubts: Vec::new(),
        facts_on: BTreeMap::new(),
        ..record.clone()
    })
}

fn host(series: &SeriesRecord) -> Option<&str> {
    series.dimensions.get(&Attribute::Host).and_then(Value::text)
}

/// Steps have totals, too.
fn is_part(name: Attribute) -> bool {
    name.row().role == Role::Part && name != Attribute::Step
}

/// What tells one series of a host from another.
fn asked(dimensions: &Attributes) -> String {
    let is_asked = |name: &Attribute| {
        matches!(name.row().role, Role::Identity) || *name == Attribute::Step
    };
    let asked = dimensions.iter().filter(|(name, _)| is_asked(name));
    asked.map(|it| format!("{it:?}")).collect::<Vec<_>>().join(" ")
}

/// One series of all hosts; `None` of a metric that neither adds up nor is one of single I/O.
fn together(metric: &Metric, group: &[&SeriesRecord]) -> Option<SeriesRecord> {
    let is_latency = matches!(metric.name, "latency" | "latency_from_intended");
    let is_rate = metric.better == Better::Higher
        && matches!(metric.unit, Unit::IoPerSecond | Unit::BytePerSecond | Unit::BitPerSecond);
    let samples = match (is_rate, is_latency) {
        (true, _) => sums(group)?,
        (_, true) => group.iter().flat_map(|it| it.samples.iter().copied()).collect(),
        _ => return None,
    };
    let mut dimensions = group[0].dimensions.clone();
    let names: Vec<&str> = group.iter().filter_map(|it| host(it)).collect();
    dimensions.insert(Attribute::Host, ALL_HOSTS.into());
    dimensions.insert(Attribute::Hosts, names.join(",").into());
    Some(SeriesRecord {
        metric: group[0].metric.clone(),
        dimensions,
        samples,
        distributions: group.iter().flat_map(|it| it.distributions.iter().cloned()).collect(),
        ..SeriesRecord::default()
    })
}

/// Rates of the same moments added up, as far as all hosts have them.
fn sums(group: &[&SeriesRecord]) -> Option<Vec<Sample>> {
    let moments = group.iter().map(|it| it.samples.len()).min().filter(|count| *count > 0)?;
    let sum = |nth: usize| {
        let of = || group.iter().map(|it| it.samples[nth]);
        Sample {
            value: of().map(|it| it.value).sum(),
            weight: of().map(|it| it.weight).sum::<f64>() / group.len() as f64,
            at_ns: of().map(|it| it.at_ns).max().unwrap_or(0),
            ..group[0].samples[nth]
        }
    };
    Some((0..moments).map(sum).collect())
}
