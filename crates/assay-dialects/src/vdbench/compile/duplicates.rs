//! Blocks with equal contents: divides the blocks of all storage with the same parameters into unique
//! ones and sets of duplicates, as Vdbench does.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::workload::storage::{BlockDuplicates, StorageTarget, Verify};

use super::super::definitions::DuplicateParameters;
use super::Compiler;
use super::phase::common_value;

/// Storage whose blocks are divided together: all that has the general parameters, or that of one
/// definition.
type StorageGroup = Option<usize>;
/// Target of the group, with its host.
type Member = (Option<usize>, PathBuf);

impl Compiler<'_, '_> {
    /// Sets the equal blocks of all targets.
    pub(super) fn add_duplicates(&mut self) {
        let definitions = self.definitions;
        let general = definitions.general.duplicates;
        let is_asked = general.is_some()
            || definitions.general.duplicate_unit.is_some()
            || definitions.storages.iter().any(|storage| storage.duplicates.is_some());
        if !is_asked {
            return;
        }
        if let (Some(parameters), false) = (general, self.execution.files.phases.is_empty()) {
            let message = "`dedupratio` has no effect on file trees: their blocks are unique";
            self.lines.report_warning("V114", parameters.spot, message).advise(
                "storage that deduplicates stores more",
                "repeats blocks of files, too",
            );
            return;
        }
        let mut resolved: BTreeMap<Member, BlockDuplicates> = BTreeMap::new();
        let mut ratios: BTreeMap<Member, Option<f64>> = BTreeMap::new();
        for (group, members) in self.storage_groups() {
            let own = group.and_then(|index| definitions.storages[index].duplicates);
            let completed = own.map(|own| own.inherit(general)).or(general);
            let Some(parameters) = completed else { continue };
            let Some(divided) = self.divide_blocks(&parameters, group, &members) else {
                return;
            };
            resolved.extend(divided);
            ratios.extend(members.into_iter().map(|(member, _)| (member, parameters.ratio)));
        }
        let hosts = self.execution.host_indices.clone();
        let runs = self.execution.plan.phases.iter_mut().zip(&mut self.execution.runs);
        for ((phase, label), index) in runs.zip(0_usize..) {
            let hosts: Option<&Vec<usize>> = hosts.get(index);
            let mut found = Vec::new();
            for (target, position) in phase.workload.targets.iter_mut().zip(0..) {
                let member = (hosts.map(|it| it[position]), target.path.clone());
                target.duplicates = resolved.get(&member).copied();
                found.push(ratios.get(&member).copied().flatten());
            }
            label.parameters.dedup_ratio = common_value(found.into_iter());
        }
    }

    /// Returns the targets of each group with their sizes, in the order of Vdbench: by the names of the
    /// definitions.
    fn storage_groups(&self) -> BTreeMap<StorageGroup, Vec<(Member, u64)>> {
        let mut named: BTreeMap<(&str, Member), &StorageTarget> = BTreeMap::new();
        for (host, target) in self.execution.placed_targets() {
            let member = (host, target.path.clone());
            named.entry((&target.name, member)).or_insert(target);
        }
        let mut groups: BTreeMap<StorageGroup, Vec<(Member, u64)>> = BTreeMap::new();
        for ((name, member), target) in named {
            let storages = &self.definitions.storages;
            let own = storages.iter().position(|it| it.name.text == name);
            let group = own.filter(|index| storages[*index].duplicates.is_some());
            groups.entry(group).or_default().push((member, target.size_bytes.unwrap_or(0)));
        }
        groups
    }

    /// Divides the blocks of a group; `None` after a reported error.
    fn divide_blocks(
        &mut self,
        parameters: &DuplicateParameters,
        group: StorageGroup,
        members: &[(Member, u64)],
    ) -> Option<Vec<(Member, BlockDuplicates)>> {
        let spot = parameters.spot;
        let (Some(ratio), Some(unit_bytes)) =
            (parameters.ratio, self.definitions.general.duplicate_unit)
        else {
            self.lines
                .report_error("V123", spot, "deduplication needs dedupratio and dedupunit")
                .add_help("write both before the first definition: dedupratio=2,dedupunit=4k");
            return None;
        };
        if self.verify() != Verify::Off {
            self.lines
                .report_error("V114", spot, "dedupratio with data validation is not supported")
                .advise(
                    "validated sectors contain their address",
                    "writes two versions of each set",
                );
            return None;
        }
        let blocks: u64 = members.iter().map(|(_, bytes)| bytes / unit_bytes).sum();
        let sets = parameters.sets();
        let wanted = match sets.is_percent {
            true => blocks as f64 * sets.value / 100.0,
            false => sets.value,
        };
        let different = blocks as f64 / ratio;
        if ratio > 1.0 && blocks > 0 && wanted > different {
            let message = format!(
                "{wanted:.0} sets of duplicates are more than the {different:.0} different blocks of {blocks}"
            );
            self.lines
                .report_error("V123", spot, message)
                .add_help("set a smaller dedupsets or dedupratio");
            return None;
        }
        // Without a ratio above 1 all blocks are unique.
        if ratio <= 1.0 || blocks == 0 {
            return Some(Vec::new());
        }
        let mut first_block = 0;
        let divided = members.iter().map(|(member, bytes)| {
            let duplicates = BlockDuplicates {
                unit_bytes,
                group: group.map_or(0, |index| index as u64 + 1),
                first_block,
                blocks,
                unique: (different - wanted) as u64,
                sets: (wanted as u64).max(1),
            };
            first_block += bytes / unit_bytes;
            (member.clone(), duplicates)
        });
        Some(divided.collect())
    }
}
