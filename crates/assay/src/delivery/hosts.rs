//! Demands on the hosts of a run: evenness, and the list of hosts to drain.

use std::collections::BTreeSet;
use std::path::Path;

use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::summary::RunSummary;
use assay_run::failure::CommandFailure;

use crate::output_file;

/// Writes the names of lost hosts and `others` to a file, each once, as a host list in one line.
pub(super) fn write_drain_list<'s>(
    file: &Path,
    summary: &'s RunSummary,
    others: impl Iterator<Item = &'s str>,
) -> Result<(), CommandFailure> {
    let lost = summary.warnings.iter().filter_map(lost_host);
    let mut hosts: Vec<&str> = lost.chain(others).collect();
    let mut seen = BTreeSet::new();
    hosts.retain(|host| seen.insert(*host));
    let line = if hosts.is_empty() {
        String::new()
    } else {
        host_names::format_host_list(&hosts) + "\n"
    };
    output_file::write(file, &line)
}

fn lost_host(doubt: &Doubt) -> Option<&str> {
    if let Doubt::HostLost { host, .. } = doubt { Some(host) } else { None }
}

/// Returns the hosts that a result marks as worse than their peers.
pub(super) fn worse_than_peers(summary: &RunSummary) -> impl Iterator<Item = &str> {
    summary.results.iter().flat_map(|estimate| &estimate.warnings).filter_map(|doubt| {
        if let Doubt::WorseThanPeers { host, .. } = doubt { Some(host.as_str()) } else { None }
    })
}

/// Whether a host is worse than its peers, or worse in its pairs than others.
pub(super) fn is_uneven(summary: &RunSummary) -> bool {
    let mut doubts = summary.results.iter().flat_map(|estimate| &estimate.warnings);
    doubts.any(|doubt| {
        matches!(doubt, Doubt::WorseThanPeers { .. } | Doubt::WorseThanPairs { .. })
    })
}
