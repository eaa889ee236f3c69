//! Refuses file trees with contents of others: files with further hard links, and file systems that
//! are mounted inside.
//!
//! Only checks. Code that opens a file for writing checks the opened file again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_kernels::storage::StorageError;
use assay_kernels::storage::files::Changes;
use assay_model::workload::file_set::{FilePlan, FileTree};

use super::safety;
use crate::failure::CommandFailure;
use crate::storage::created_tree::{self, TreeNames};

/// Refuses the first file of a plan whose change would also affect its other hard links.
///
/// Phases count up to the first one that removes files: files written later are new.
pub(super) fn refuse_hard_links(
    plan: &FilePlan,
    stop: &AtomicBool,
) -> Result<(), CommandFailure> {
    let mut trees: BTreeMap<&Path, (&FileTree, Changes)> = BTreeMap::new();
    for workload in plan.phases.iter().map(|phase| &phase.workload) {
        for (index, tree) in workload.trees.iter().enumerate() {
            let (largest, all) =
                trees.entry(&tree.anchor).or_insert((tree, Changes::default()));
            let now = Changes::from_workload(workload, index);
            if !all.deletes && !now.deletes {
                all.rewrites |= now.rewrites;
                all.fills |= now.fills;
            }
            all.deletes |= now.deletes;
            if tree.file_count() > largest.file_count() {
                *largest = tree;
            }
        }
    }
    // A new tree may have any number of files, and none of them exists.
    let there = trees.into_iter().filter(|(anchor, _)| has_files_of_a_tree(anchor));
    for (anchor, (tree, changes)) in there {
        let before = Changes { deletes: false, ..changes };
        before.refuse_hard_links(tree, stop).map_err(|error| {
            match error {
                StorageError::HardLinks { path, links } => {
                    safety::hard_link_failure(&path, links)
                }
                StorageError::Interrupted => CommandFailure::interrupted(),
                other => {
                    CommandFailure::measurement("the tree cannot be checked").with_cause(&other)
                }
            }
            .with_target(anchor)
        })?;
    }
    Ok(())
}

/// Whether the folder has entries with names of a tree, apart from the mark.
fn has_files_of_a_tree(anchor: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(anchor) else { return false };
    entries.any(|entry| entry.is_ok_and(|it| TreeNames::Vdbench.has(&it.file_name())))
}

/// Refuses to write a tree if a file system is mounted on one of its directories or files.
pub(super) fn refuse_mounts(anchor: &Path) -> Result<(), CommandFailure> {
    // Nothing is mounted inside a folder that does not exist.
    let Ok(folder) = anchor.canonicalize() else { return Ok(()) };
    let cannot =
        || CommandFailure::usage(format!("cannot write the tree in {}", anchor.display()));
    match created_tree::find_mount(&folder, TreeNames::Vdbench) {
        Ok(None) => Ok(()),
        Ok(Some(path)) => {
            let path = path.display();
            Err(cannot()
                .with_reason(format!(
                    "{path} is mounted inside it, and may hold data of others"
                ))
                .advise(format!("unmount it with `umount {path}`, or choose another folder")))
        }
        Err(error) => Err(cannot().with_cause(&error).with_known_advice()),
    }
}
