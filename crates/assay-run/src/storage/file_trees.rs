//! File trees: checks permission and space, and runs their phases one by one.
//!
//! A tree is written only in a folder that was empty or has assay's mark. The contents of other
//! folders stay unless `--destroy-data` names them.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_fleet::mounts::{self, Mount};
use assay_fleet::remote::TreeMark;
use assay_fleet::root::Root;
use assay_kernels::storage::StorageError;
use assay_kernels::storage::files::{self as kernel, FileControl};
use assay_model::failure::FailureReason;
use assay_model::file_outcome::FileOutcome;
use assay_model::workload::file_set::{
    FileOperation, FilePhase, FilePlan, FileStream, FileTest, FileTree, FileWorkload,
};
use assay_model::workload::storage::StoragePlan;
use fs_err as fs;

use super::created_files::{CreatedFiles, CreatedKind};
use super::options::RunOptions;
use super::safety;
use crate::failure::CommandFailure;

mod foreign_contents;

/// Name of the mark in a tree's folder, the same as Vdbench's.
const MARK_FILE: &str = "vdb_control.file";
/// Contents of the mark.
const MARK_TEXT: &str = "assay made the directories and files below this folder\n";

/// Policy for missing parent folders of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingParents {
    Create,
    /// Refused, with advice in the terms of the language.
    Refuse {
        advice: &'static str,
    },
}

impl MissingParents {
    /// Default for languages without such an option.
    pub const REFUSE: Self =
        Self::Refuse { advice: "make the folder above it, or mount the volume, first" };

    /// Returns the policy of Vdbench's `create_anchors`.
    pub const fn from_create_anchors(creates_anchors: bool) -> Self {
        const ADVICE: &str =
            "make the folder above it, or mount the volume, first; create_anchors=yes makes it";
        if creates_anchors { Self::Create } else { Self::Refuse { advice: ADVICE } }
    }
}

/// Refuses trees that must not be written or do not fit, before anything is written. `stop` ends
/// the look at their files.
pub fn check(
    plan: &FilePlan,
    options: &RunOptions,
    above: MissingParents,
    stop: &AtomicBool,
) -> Result<(), CommandFailure> {
    let uses = tree_uses(plan);
    super::volume::check(&StoragePlan::default(), plan, options)?;
    let created = CreatedFiles::open(options.store.as_deref())?;
    let mounts = mounts::read(&Root::machine());
    for (anchor, usage) in &uses {
        let may_be_made = || match above {
            MissingParents::Refuse { advice } => check_parent_exists(anchor, advice),
            MissingParents::Create => Ok(()),
        };
        check_permission(usage, options, &created)
            .and_then(|()| may_be_made())
            .and_then(|()| refuse_kernel_folders(usage, &mounts))
            .and_then(|()| refuse_mounts(usage))
            .map_err(|failure| failure.with_target(anchor))?;
    }
    check_space(&uses, &created, stop)?;
    foreign_contents::refuse_hard_links(plan, stop)
}

/// Checks all trees of a plan, and creates and marks their folders.
pub fn prepare(
    plan: &FilePlan,
    options: &RunOptions,
    above: MissingParents,
    stop: &AtomicBool,
) -> Result<(), CommandFailure> {
    check(plan, options, above, stop)?;
    let uses = tree_uses(plan);
    let created = CreatedFiles::open(options.store.as_deref())?;
    for usage in uses.values().filter(|usage| usage.is_written) {
        create_and_mark(&usage.tree.anchor, above, &created)?;
    }
    Ok(())
}

/// Refuses written trees that are not the ones another host has created or marked.
pub fn check_shared(
    plan: &FilePlan,
    options: &RunOptions,
    theirs: &[TreeMark],
) -> Result<(), CommandFailure> {
    super::volume::check(&StoragePlan::default(), plan, options)?;
    let ours = tree_marks(plan);
    for (anchor, _) in tree_uses(plan).iter().filter(|(_, usage)| usage.is_written) {
        let of = |marks: &[TreeMark]| marks.iter().find(|it| it.anchor == *anchor).cloned();
        let mark = of(&ours);
        foreign_contents::refuse_mounts(anchor)?;
        if mark.is_none() || mark != of(theirs) {
            let path = anchor.display();
            return Err(CommandFailure::measurement(format!(
                "{path} is another folder than on the first host"
            ))
            .with_reason("shared=yes is for a file system that all of its hosts have mounted")
            .advise("mount it there, or give each host an fsd of its own"));
        }
    }
    Ok(())
}

/// Returns the marks of the trees that are written.
pub fn tree_marks(plan: &FilePlan) -> Vec<TreeMark> {
    let written = tree_uses(plan).into_iter().filter(|(_, usage)| usage.is_written);
    let mark = |(anchor, _): (&Path, TreeUse<'_>)| {
        let found = anchor
            .join(MARK_FILE)
            .symlink_metadata()
            .ok()
            .filter(std::fs::Metadata::is_file)?;
        Some(TreeMark {
            anchor: anchor.to_path_buf(),
            inode: found.ino(),
            changed: (found.mtime(), found.mtime_nsec()),
        })
    };
    written.filter_map(mark).collect()
}

/// Returns the phases of a test in order.
pub fn phases(test: &FileTest) -> Vec<FilePhase> {
    test.before.iter().chain([&test.workload]).map(to_phase).collect()
}

/// Returns a phase with only this workload.
pub fn to_phase(workload: &FileWorkload) -> FilePhase {
    let name = workload.streams.first().map(|stream| stream.name.clone());
    let (name, workload) = (name.unwrap_or_default(), workload.clone());
    FilePhase { name, pause_before_s: 0.0, workload }
}

/// Runs one phase whose rate is known.
pub fn run_phase(
    phase: &FilePhase,
    control: &mut FileControl<'_>,
) -> Result<FileOutcome, CommandFailure> {
    kernel::run(&phase.workload, control).map_err(|error| match error {
        StorageError::Interrupted => CommandFailure::interrupted(),
        error => CommandFailure::measurement(format!("phase {} failed", phase.name))
            .with_cause(&error)
            .with_known_advice(),
    })
}

/// Returns the failure for failed operations of a phase; `None` if all succeeded.
pub fn operation_failure(outcome: &FileOutcome) -> Option<FailureReason> {
    let first = outcome.errors.first()?;
    Some(FailureReason::FileOperationFailed {
        count: outcome.error_count,
        operation: first.operation.name().to_owned(),
        path: first.path.display().to_string(),
        causes: vec![first.reason.clone()],
    })
}

/// Use of one tree by a plan; for trees that share a folder, the largest.
struct TreeUse<'p> {
    tree: &'p FileTree,
    is_written: bool,
    is_created: bool,
}

fn tree_uses(plan: &FilePlan) -> BTreeMap<&Path, TreeUse<'_>> {
    let mut uses: BTreeMap<&Path, TreeUse<'_>> = BTreeMap::new();
    for workload in plan.phases.iter().map(|phase| &phase.workload) {
        let mut streams_by_tree: BTreeMap<usize, Vec<&FileStream>> = BTreeMap::new();
        for stream in &workload.streams {
            streams_by_tree.entry(stream.tree).or_default().push(stream);
        }
        for (index, tree) in workload.trees.iter().enumerate() {
            let streams = || streams_by_tree.get(&index).into_iter().flatten();
            let usage = uses.entry(&tree.anchor).or_insert(TreeUse {
                tree,
                is_written: false,
                is_created: false,
            });
            if tree.bytes() > usage.tree.bytes() {
                usage.tree = tree;
            }
            usage.is_written |= streams().any(|it| changes_tree(it));
            // A sequential write may create a new file.
            usage.is_created |= streams().any(|it| {
                let fills = it.operation == FileOperation::Create && it.stop_after.is_none();
                fills || it.operation == FileOperation::Write
            });
        }
    }
    uses
}

fn changes_tree(stream: &FileStream) -> bool {
    stream.operations().into_iter().any(|operation| match operation {
        FileOperation::Read
        | FileOperation::Open
        | FileOperation::Close
        | FileOperation::Getattr
        | FileOperation::Access => false,
        FileOperation::Write
        | FileOperation::Mkdir
        | FileOperation::Rmdir
        | FileOperation::Create
        | FileOperation::Delete
        | FileOperation::Setattr => true,
    })
}

fn check_permission(
    usage: &TreeUse<'_>,
    options: &RunOptions,
    created: &CreatedFiles,
) -> Result<(), CommandFailure> {
    let anchor = &usage.tree.anchor;
    let resolved = anchor.canonicalize().unwrap_or_else(|_| anchor.clone());
    if !usage.is_written || is_marked(anchor, created) {
        return Ok(());
    }
    let is_named = options
        .destroy_data
        .iter()
        .any(|named| named.canonicalize().is_ok_and(|named| named == resolved));
    let is_empty = match std::fs::read_dir(anchor) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let file = anchor.ancestors().find(|it| it.exists()).unwrap_or(anchor).display();
            return Err(CommandFailure::usage(format!("{file} is not a folder"))
                .with_reason("a file tree needs a folder")
                .advise(format!(
                    "name a folder; `assay storage read {file}` measures a file"
                )));
        }
        Err(error) => {
            let what = format!("the folder {} cannot be used", anchor.display());
            return Err(CommandFailure::measurement(what).with_cause(&error));
        }
    };
    if is_empty || is_named {
        return Ok(());
    }
    let path = anchor.display();
    Err(CommandFailure::usage(format!("{path} is not written without permission"))
        .with_reason(
            "assay did not create the contents of this folder, and files in it would be lost",
        )
        .advise(format!("choose an empty folder, or permit it with --destroy-data={path}")))
}

/// Refuses to create missing parent folders: a mistyped name would create unwanted ones.
pub(super) fn check_parent_exists(anchor: &Path, advice: &str) -> Result<(), CommandFailure> {
    let above = anchor.parent().filter(|above| !above.as_os_str().is_empty());
    let Some(above) = above.filter(|above| !anchor.is_dir() && !above.is_dir()) else {
        return Ok(());
    };
    Err(CommandFailure::usage(format!("the folder {} cannot be made", anchor.display()))
        .with_reason(format!("there is no folder {}", above.display()))
        .advise(advice))
}

/// Returns the innermost existing folder of an anchor, even for a relative name.
pub(super) fn existing_folder(anchor: &Path) -> Option<PathBuf> {
    let anchor = std::path::absolute(anchor).ok()?;
    anchor.ancestors().find(|folder| folder.is_dir()).map(Path::to_path_buf)
}

fn refuse_kernel_folders(usage: &TreeUse<'_>, mounts: &[Mount]) -> Result<(), CommandFailure> {
    if usage.is_written { refuse_kernel_folder(&usage.tree.anchor, mounts) } else { Ok(()) }
}

/// Refuses to write below `/proc` or `/dev`, which are not on a disk.
pub(super) fn refuse_kernel_folder(
    anchor: &Path,
    mounts: &[Mount],
) -> Result<(), CommandFailure> {
    let folder = existing_folder(anchor).and_then(|it| it.canonicalize().ok());
    match folder.and_then(|folder| safety::kernel_mount_point(mounts, &folder)) {
        None => Ok(()),
        Some(point) => Err(CommandFailure::usage(format!(
            "the folder {} cannot be used",
            anchor.display()
        ))
        .with_reason(format!("nothing is made below {point}, which is not on a disk"))
        .advise("name a folder on a disk")),
    }
}

fn refuse_mounts(usage: &TreeUse<'_>) -> Result<(), CommandFailure> {
    if usage.is_written { foreign_contents::refuse_mounts(&usage.tree.anchor) } else { Ok(()) }
}

/// Whether assay created the mark and it is unchanged; the mark in a copy of a tree does not count.
fn is_marked(anchor: &Path, created: &CreatedFiles) -> bool {
    let mark = anchor.canonicalize().ok().and_then(|it| created.find(&it.join(MARK_FILE)));
    mark.is_some_and(|mark| mark.is_tree())
}

fn create_and_mark(
    anchor: &Path,
    above: MissingParents,
    created: &CreatedFiles,
) -> Result<(), CommandFailure> {
    if is_marked(anchor, created) {
        return Ok(());
    }
    let is_there = anchor.is_dir();
    let made = match is_there {
        true => Ok(()),
        false if above == MissingParents::Create => fs::create_dir_all(anchor),
        false => fs::create_dir(anchor),
    };
    let folder = made.and_then(|()| anchor.canonicalize()).map_err(|error| {
        CommandFailure::measurement(format!("the folder {} cannot be made", anchor.display()))
            .with_cause(&error)
    })?;
    let mark = folder.join(MARK_FILE);
    if mark.symlink_metadata().is_ok() {
        // The user permitted this folder; a mark from another program stays.
        return Ok(());
    }
    let made = if is_there { CreatedKind::Tree } else { CreatedKind::TreeAndFolder };
    created.create_mark(&mark, MARK_TEXT, made)
}

/// Checks that all trees on one file system fit together.
fn check_space(
    uses: &BTreeMap<&Path, TreeUse<'_>>,
    created: &CreatedFiles,
    stop: &AtomicBool,
) -> Result<(), CommandFailure> {
    let mut needs: BTreeMap<u64, (f64, PathBuf, &Path)> = BTreeMap::new();
    for usage in uses.values().filter(|usage| usage.is_created) {
        let tree = usage.tree;
        let Some(folder) = existing_folder(&tree.anchor) else { continue };
        let Ok(found) = std::fs::metadata(&folder) else { continue };
        let files =
            if is_marked(&tree.anchor, created) { tree.file_count().unwrap_or(0) } else { 0 };
        // Block counts are in units of 512 bytes on every file system.
        let has: u64 = (0..files)
            .take_while(|_| !stop.load(Ordering::Relaxed))
            .filter_map(|number| std::fs::metadata(tree.file(number)).ok())
            .map(|found| found.blocks() * 512)
            .sum();
        if stop.load(Ordering::Relaxed) {
            return Err(CommandFailure::interrupted());
        }
        let need = (tree.bytes() - has as f64).max(0.0);
        let first = (0.0, folder, tree.anchor.as_path());
        needs.entry(found.dev()).or_insert(first).0 += need;
    }
    for (need, folder, anchor) in needs.into_values() {
        safety::check_fits(&folder, need as u64, "give smaller sizes, or another anchor")
            .map_err(|failure| failure.with_target(anchor))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
