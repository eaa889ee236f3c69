//! Assignment of file trees, and of parts of shared trees, to hosts.
//!
//! The rules are Vdbench's (`createFwgListForOneRd` and `createFormatList` of `RD_entry`,
//! `createFileList` of `FileAnchor`). A tree with several hosts must be shared; its files are then
//! divided round robin among the hosts, and it is not removed and created in one run.

use std::collections::BTreeSet;

use assay_model::path_text;
use assay_model::workload::file_set::{FileTree, TreePart};

use super::super::definitions::FileWorkloadDefinition;
use super::super::runs::{RunDefinition, TreeFormat};
use super::Compiler;

/// Workloads, each with the indices of its trees.
pub(super) type WorkloadTrees = Vec<(FileWorkloadDefinition, Vec<usize>)>;

/// Trees of a run, once per host when hosts are distributed.
pub(super) struct PlacedTrees {
    pub(super) list: Vec<FileTree>,
    /// Host of each tree, when hosts are distributed.
    pub(super) hosts: Vec<usize>,
}

impl Compiler<'_, '_> {
    /// Selects the hosts that a workload names, or all, and marks them as used.
    pub(super) fn select_file_hosts(
        &mut self,
        workload: &FileWorkloadDefinition,
    ) -> Option<Vec<usize>> {
        if self.hosts.is_empty() {
            return Some(Vec::new());
        }
        let selected = match workload.hosts.is_empty() {
            true => (0..self.definitions.hosts.len()).collect(),
            false => self.hosts.select(self.lines, "host (hd)", &workload.hosts)?,
        };
        self.used_hosts.extend(&selected);
        Some(selected)
    }

    /// Reports trees that lie within another tree.
    pub(super) fn check_nested_anchors(&mut self, systems: Vec<usize>) {
        let systems = systems.into_iter().map(|system| &self.definitions.file_systems[system]);
        let mut anchors: Vec<_> = systems
            .filter_map(|system| {
                Some((path_text::decode_path(&system.anchor.as_ref()?.text), system))
            })
            .collect();
        anchors.sort_by(|a, b| a.0.cmp(&b.0));
        for pair in anchors.windows(2) {
            let [(outer, _), (inner, system)] = pair else { continue };
            if inner.starts_with(outer) {
                let message = format!(
                    "the anchor `{}` lies in `{}`, which is an anchor too",
                    inner.display(),
                    outer.display()
                );
                self.lines
                    .report_error("V158", system.name.spot, message)
                    .add_help("give each fsd a folder of its own");
            }
        }
    }

    /// Repeats each tree for every host that works on it, and updates the tree indices of each
    /// workload.
    pub(super) fn place_trees(
        &mut self,
        run: &RunDefinition,
        (systems, trees): (&[usize], Vec<FileTree>),
        (workloads, hosts): (&mut WorkloadTrees, &[Vec<usize>]),
    ) -> Option<PlacedTrees> {
        let mut users = vec![BTreeSet::new(); trees.len()];
        for ((_, own_trees), hosts) in workloads.iter().zip(hosts) {
            own_trees.iter().for_each(|tree| users[*tree].extend(hosts.iter().copied()));
        }
        for host in 0..self.definitions.hosts.len() {
            let own_trees =
                systems.iter().zip(&users).filter(|(_, users)| users.contains(&host));
            self.check_nested_anchors(own_trees.map(|(system, _)| *system).collect());
        }
        let mut placed = PlacedTrees { list: Vec::new(), hosts: Vec::new() };
        let mut positions = Vec::new();
        for ((tree, users), system) in trees.into_iter().zip(&users).zip(systems) {
            let host_count = users.len() as u64;
            if host_count > 1 && !self.definitions.file_systems[*system].is_shared {
                self.report_unshared(run, *system, users);
                return None;
            }
            for (part_index, host) in (0..).zip(users) {
                positions.push((*system, *host));
                placed.hosts.push(*host);
                let part =
                    (host_count > 1).then_some(TreePart { nth: part_index, of: host_count });
                placed.list.push(FileTree { part, ..tree.clone() });
            }
        }
        for ((_, own_trees), hosts) in workloads.iter_mut().zip(hosts) {
            let find_position = |tree: &usize, host: &usize| {
                positions.iter().position(|position| *position == (systems[*tree], *host))
            };
            *own_trees = own_trees
                .iter()
                .flat_map(|tree| hosts.iter().filter_map(move |host| find_position(tree, host)))
                .collect();
        }
        Some(placed)
    }

    fn report_unshared(&mut self, run: &RunDefinition, system: usize, users: &BTreeSet<usize>) {
        let names: Vec<&str> =
            users.iter().map(|host| self.definitions.hosts[*host].label.as_str()).collect();
        let name = &self.definitions.file_systems[system].name;
        let message = format!(
            "`{}` is not shared, and {} work on it in the run `{}`",
            name.text,
            names.join(" and "),
            run.name.text
        );
        let help = "add shared=yes to it, or host= to each fwd and an fsd for each host";
        self.lines.report_error("V170", name.spot, message).advise(help, "stops");
    }

    /// Rejects a run that removes and creates a shared tree: the first host to finish removing
    /// would disturb the others while creating.
    pub(super) fn check_shared_format(
        &mut self,
        run: &RunDefinition,
        trees: &PlacedTrees,
        format: TreeFormat,
    ) -> Option<()> {
        let creates = format.creates_directories || format.creates_files;
        let shared = trees.list.iter().find(|tree| tree.part.is_some());
        let Some(tree) = shared.filter(|_| format.removes && creates) else { return Some(()) };
        let message = format!(
            "the run `{}` removes and creates `{}`, which hosts share",
            run.name.text, tree.name
        );
        let help =
            "split it into two runs: format=(clean,only) first, then format=(restart,only)";
        self.lines.report_error("V174", run.name.spot, message).advise(help, "stops");
        None
    }
}

/// Returns a tree as a format creates or removes it. Creation covers all files, not only those used
/// later. For removal every host covers the whole tree, so that the first to reach a file removes
/// it and none waits.
pub(super) fn format_tree(tree: &FileTree, format: TreeFormat) -> FileTree {
    let whole_tree = TreePart { nth: 0, of: 1 };
    let part = tree.part.map(|part| if format.removes { whole_tree } else { part });
    FileTree { used_files: None, part, ..tree.clone() }
}
