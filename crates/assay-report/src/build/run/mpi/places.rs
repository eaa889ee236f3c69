//! Cost of distance between ranks: one row per place of a pair of ranks, one column per MPI.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, MpiTest};
use assay_model::plan::expand::pair_distances;
use assay_model::suite::MpiPlacement;
use assay_model::summary::RunSummary;

use super::{MpiGroup, cell};
use crate::document::{Block, Document, ReportTable, Tone, left, right};
use crate::first_seen::distinct;
use crate::locale::word;
use crate::units;

/// Message size that represents small messages: OSU's tables and vendors' figures quote it.
const SMALL_BYTES: u64 = 8;

/// Adds a table for each pair test that was measured at several places.
pub(super) fn add(document: &mut Document, groups: &[MpiGroup<'_>], summary: &RunSummary) {
    if let Some(reported) = impossible_distances(groups, summary) {
        document.paragraph(Tone::Quiet, reported);
    }
    for (test, metric) in [(MpiTest::Latency, "latency"), (MpiTest::Bandwidth, "bandwidth")] {
        let of_test = groups
            .iter()
            .filter(|group| group.benchmark == Benchmark::Mpi(test) && group.metric == metric);
        let places: Vec<&MpiGroup<'_>> = of_test.collect();
        let Some(bytes) = common_size(test, &places) else { continue };
        if places.len() < 2 {
            continue;
        }
        let size = units::size(bytes);
        document.heading(message!("mpi-by-distance", metric = metric, size = size));
        document.blocks.push(Block::Table(table(&places, bytes)));
    }
}

/// Names the distances that no two CPUs of this machine have, which explains their absence.
fn impossible_distances(groups: &[MpiGroup<'_>], summary: &RunSummary) -> Option<String> {
    let all = || MpiPlacement::EVERY_PAIR.into_iter();
    let is_pair = |group: &MpiGroup<'_>| all().any(|which| which.name() == group.place);
    let [host] = summary.hosts.as_slice() else { return None };
    if host.topology.cpus.is_empty() || !groups.iter().any(is_pair) {
        return None;
    }
    let possible = pair_distances(host);
    let measured =
        |which: &MpiPlacement| groups.iter().any(|group| group.place == which.name());
    let missing: Vec<&str> = all()
        .filter(|which| !possible.contains(which) && !measured(which))
        .map(MpiPlacement::name)
        .collect();
    (!missing.is_empty()).then(|| message!("mpi-no-such-pair", distances = missing.join(" / ")))
}

/// Returns a size that was measured at all places: a small one for latency, the largest for
/// bandwidth.
fn common_size(test: MpiTest, places: &[&MpiGroup<'_>]) -> Option<u64> {
    let (first, others) = places.split_first()?;
    let common: Vec<u64> = first
        .sizes()
        .into_iter()
        .filter(|size| others.iter().all(|other| other.sizes().contains(size)))
        .flatten()
        .collect();
    let small = common.iter().find(|bytes| **bytes >= SMALL_BYTES).or_else(|| common.last());
    if test == MpiTest::Latency { small.copied() } else { common.last().copied() }
}

fn table(places: &[&MpiGroup<'_>], bytes: u64) -> ReportTable {
    let names = distinct(places.iter().flat_map(|group| group.columns()));
    let mut table = ReportTable::with_caption("");
    for group in places {
        let best = group.best(Some(bytes));
        let cpus = group.estimates.iter().find_map(|it| super::text(it, Attribute::Cpus));
        let mut row = vec![
            left(word("column-place"), &*group.place),
            left(word("column-cpus"), cpus.unwrap_or_default()),
        ];
        row.extend(names.iter().map(|name| {
            let estimate = group.find(Some(bytes), name);
            right(name, estimate.map(|it| cell(it, best, names.len())).unwrap_or_default())
        }));
        table.push(row);
    }
    table.without_empty_columns()
}
