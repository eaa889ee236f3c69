//! Divides a workload on file trees into shares of several hosts, and merges their results.
//!
//! Every tree, or part of a shared tree, belongs to one host, and its streams run there. Threads
//! and rates are therefore not divided.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::file_outcome::{FileFailure, FileInterval, FileOutcome, FileTally};
use assay_model::seed;
use assay_model::workload::file_set::{
    FilePhase, FilePlan, FileStream, FileTree, FileWorkload,
};

/// Returns the share of `host`; `places` holds the host of each tree. `None` if the host has
/// nothing to do.
pub(super) fn host_share(
    whole: &FilePhase,
    places: &[usize],
    host: usize,
) -> Option<FilePhase> {
    filter_phase(whole, host, |tree, _| places.get(tree) == Some(&host))
}

fn filter_phase(
    whole: &FilePhase,
    host: usize,
    is_wanted: impl Fn(usize, &FileTree) -> bool,
) -> Option<FilePhase> {
    let work = &whole.workload;
    let own: Vec<usize> =
        (0..work.trees.len()).filter(|tree| is_wanted(*tree, &work.trees[*tree])).collect();
    let mine = |stream: &FileStream| {
        let tree = own.binary_search(&stream.tree).ok()?;
        Some(FileStream { tree, ..stream.clone() })
    };
    let streams: Vec<FileStream> = work.streams.iter().filter_map(mine).collect();
    if streams.is_empty() {
        return None;
    }
    let workload = FileWorkload {
        trees: own.iter().map(|tree| work.trees[*tree].clone()).collect(),
        streams,
        seed: seed::derive_seed(work.seed, host as u64 + 1),
        ..work.clone()
    };
    Some(FilePhase { workload, ..whole.clone() })
}

/// Assignment of the preparation: every host prepares its own trees, and one host those that it
/// shares with others.
pub(super) struct TreePreparation<'p> {
    plan: &'p FilePlan,
    places: &'p [Vec<usize>],
    first: BTreeMap<&'p PathBuf, usize>,
}

impl<'p> TreePreparation<'p> {
    pub(super) fn new(plan: &'p FilePlan, places: &'p [Vec<usize>]) -> Self {
        let mut first: BTreeMap<&PathBuf, usize> = BTreeMap::new();
        for (phase, places) in plan.phases.iter().zip(places) {
            let placed = phase.workload.trees.iter().zip(places);
            for (tree, host) in placed.filter(|(tree, _)| tree.part.is_some()) {
                let first = first.entry(&tree.anchor).or_insert(*host);
                *first = (*first).min(*host);
            }
        }
        Self { plan, places, first }
    }

    /// Returns the plan of the trees that `host` creates and marks.
    pub(super) fn plan_to_create(&self, host: usize) -> FilePlan {
        self.plan_of(host, |tree| self.is_first(tree, host))
    }

    /// Returns the plan of the trees that another host has created and marked.
    pub(super) fn plan_to_check(&self, host: usize) -> FilePlan {
        self.plan_of(host, |tree| !self.is_first(tree, host))
    }

    fn is_first(&self, tree: &FileTree, host: usize) -> bool {
        tree.part.is_none() || self.first.get(&tree.anchor) == Some(&host)
    }

    fn plan_of(&self, host: usize, is_wanted: impl Fn(&FileTree) -> bool) -> FilePlan {
        let phases = self.plan.phases.iter().zip(self.places).filter_map(|(phase, places)| {
            filter_phase(phase, host, |at, tree| {
                places.get(at) == Some(&host) && is_wanted(tree)
            })
        });
        FilePlan { phases: phases.collect() }
    }
}

/// Returns an interval without activity.
pub(super) fn idle_interval(like: &FileInterval) -> FileInterval {
    FileInterval { tally: FileTally::default(), cpu_user: 0.0, cpu_system: 0.0, ..*like }
}

/// Merges the same interval of several hosts.
pub(super) fn merge_intervals(parts: &[&FileInterval], start_s: f64) -> Option<FileInterval> {
    let first = parts.first()?;
    let length_s = super::common_length_s(parts.iter().map(|it| it.length_s));
    let mut all = FileInterval { start_s, length_s, ..idle_interval(first) };
    for part in parts {
        all.tally.merge(&part.tally);
        all.cpu_user += part.cpu_user / parts.len() as f64;
        all.cpu_system += part.cpu_system / parts.len() as f64;
    }
    Some(all)
}

/// Merges the outcomes of all hosts; `None` without any.
pub(super) fn merge_outcomes(parts: Vec<(&str, FileOutcome)>) -> Option<FileOutcome> {
    if parts.is_empty() {
        return None;
    }
    let mut all = FileOutcome {
        elapsed_s: 0.0,
        total: FileTally::default(),
        errors: Vec::new(),
        error_count: 0,
        ended: super::combine_ends(&parts.iter().map(|(_, it)| it.ended).collect::<Vec<_>>()),
    };
    for (host, part) in parts {
        all.elapsed_s = all.elapsed_s.max(part.elapsed_s);
        all.total.merge(&part.total);
        all.error_count = all.error_count.saturating_add(part.error_count);
        let of_host =
            |it: FileFailure| FileFailure { reason: format!("{host}: {}", it.reason), ..it };
        all.errors.extend(part.errors.into_iter().map(of_host));
    }
    Some(all)
}
