//! Comparison of hosts, and of pairs of hosts, within a run: adds a doubt to results that are worse
//! than those of their peers.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue, Role};
use assay_model::doubt::Doubt;
use assay_model::summary::MetricEstimate;

use crate::outliers::{self, HostMeasurement};
use crate::quantile;

/// Probability of any false detection in a run whose hosts are all alike.
const RISK: f64 = 0.02;

/// Adds a doubt to results that are worse than their peers. `measured` has one measurement per
/// result, in the same order.
pub(super) fn attach(results: &mut [MetricEstimate], measured: &[HostMeasurement]) {
    let mut groups: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
    for (index, estimate) in results.iter().enumerate() {
        if !estimate.spans_hosts() && estimate.parameters.contains_key(&Attribute::Host) {
            groups.entry(peer_group_key(estimate)).or_default().push(index);
        }
    }
    groups.retain(|_, indices| indices.len() >= outliers::MIN_HOSTS);
    // Every metric is a separate test with a chance of false detection.
    let risk = RISK / groups.len().max(1) as f64;
    for indices in groups.values() {
        let hosts: Vec<HostMeasurement> =
            indices.iter().map(|index| measured[*index]).collect();
        let median = quantile::unsorted_median(hosts.iter().map(|it| it.value));
        let median = median.unwrap_or(f64::NAN);
        for worst in outliers::worse_hosts(&hosts, results[indices[0]].better, risk) {
            let estimate = &mut results[indices[worst]];
            let (host, value, unit) = (estimate.host.clone(), estimate.median, estimate.unit);
            let peer =
                estimate.parameters.get(&Attribute::Peer).and_then(AttributeValue::as_text);
            let doubt = match peer {
                None => Doubt::WorseThanPeers { host, value, median, unit, hosts: hosts.len() },
                Some(to) => Doubt::WorseThanPairs {
                    from: host,
                    to: to.to_owned(),
                    value,
                    median,
                    unit,
                    pairs: hosts.len(),
                },
            };
            estimate.warnings.push(doubt);
        }
    }
}

/// Returns the key that comparable results of different hosts share. Every pair has cases of its
/// own with the same workload, so the case is not part of its key.
fn peer_group_key(estimate: &MetricEstimate) -> (String, String, String) {
    let is_identity =
        |name: &Attribute| name.row().role == Role::Identity && *name != Attribute::Peer;
    let identity = estimate.parameters.iter().filter(|(name, _)| is_identity(name));
    let identity: Vec<String> = identity.map(|it| format!("{it:?}")).collect();
    let case = match estimate.parameters.contains_key(&Attribute::Peer) {
        true => format!("{} {}", estimate.benchmark, estimate.tool.name),
        false => estimate.case.clone(),
    };
    (case, estimate.metric.clone(), identity.join(" "))
}
