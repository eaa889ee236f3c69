//! Hosts of a run that are uneven, lost or beyond a gate.

use std::collections::BTreeSet;

use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::summary::RunSummary;

use crate::gates::JudgedHosts;

/// Lists the hosts to drain in one line, each once: lost ones, those that are worse than their peers,
/// and those beyond a gate.
pub fn drain_list(summary: &RunSummary, judged: Option<&JudgedHosts<'_>>) -> String {
    let lost = summary.warnings.iter().filter_map(lost_host);
    let beyond = judged.into_iter().flat_map(JudgedHosts::failed_hosts);
    let mut hosts: Vec<&str> = lost.chain(worse_than_peers(summary)).chain(beyond).collect();
    let mut seen = BTreeSet::new();
    hosts.retain(|host| seen.insert(*host));
    match hosts.is_empty() {
        true => String::new(),
        false => host_names::format_host_list(&hosts) + "\n",
    }
}

fn lost_host(doubt: &Doubt) -> Option<&str> {
    if let Doubt::HostLost { host, .. } = doubt { Some(host) } else { None }
}

/// Returns the hosts that a result marks as worse than their peers.
fn worse_than_peers(summary: &RunSummary) -> impl Iterator<Item = &str> {
    summary.results.iter().flat_map(|estimate| &estimate.warnings).filter_map(|doubt| {
        if let Doubt::WorseThanPeers { host, .. } = doubt { Some(host.as_str()) } else { None }
    })
}

/// Whether a host is worse than its peers, or worse in its pairs than others.
pub fn is_uneven(summary: &RunSummary) -> bool {
    let mut doubts = summary.results.iter().flat_map(|estimate| &estimate.warnings);
    doubts.any(|doubt| {
        matches!(doubt, Doubt::WorseThanPeers { .. } | Doubt::WorseThanPairs { .. })
    })
}
