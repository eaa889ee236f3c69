//! File trees: checks permission and space, and runs their phases one by one.
//!
//! A tree is written only in a folder that was empty or has assay's mark. The contents of other
//! folders stay unless `--destroy-data` names them.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_fleet::mounts::{self, Mount};
use assay_fleet::remote::TreeMark;
use assay_fleet::root::Root;
use assay_kernels::storage::files::{self as kernel, FileControl};
use assay_model::failure::FailureReason as CaseFailure;
use assay_model::file_outcome::FileOutcome;
use assay_model::workload::file_set::{
    FileOperation, FilePhase, FilePlan, FileStream, FileTest, FileTree, FileWorkload,
};
use assay_model::workload::storage::StoragePlan;
use fs_err as fs;

use super::created::{Created, Made};
use super::made_tree;
use super::options::RunOptions;
use super::safety;
use crate::failure::CommandFailure;

mod others;

/// Name of the mark in a tree's folder, the same as Vdbench's.
const MARK: &str = "vdb_control.file";
/// Contents of the mark.
const WORDS: &str = "assay made the directories and files below this folder\n";

/// Policy for missing parent folders of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldersAbove {
    Made,
    /// Refused, with advice in the terms of the language.
    Refused {
        advice: &'static str,
    },
}

impl FoldersAbove {
    /// Default for languages without such an option.
    pub const REFUSED: Self =
        Self::Refused { advice: "make the folder above it, or mount the volume, first" };

    /// Returns the policy of Vdbench's `create_anchors`.
    #[must_use]
    pub const fn of_vdbench(creates_anchors: bool) -> Self {
        const ADVICE: &str =
            "make the folder above it, or mount the volume, first; create_anchors=yes makes it";
        if creates_anchors { Self::Made } else { Self::Refused { advice: ADVICE } }
    }
}

/// Refuses trees that must not be written or do not fit, before anything is written.
pub fn check(
    plan: &FilePlan,
    options: &RunOptions,
    above: FoldersAbove,
) -> Result<(), CommandFailure> {
    let uses = uses(plan);
    super::volume::check(&StoragePlan::default(), plan, options)?;
    let created = Created::open(options.store.as_deref())?;
    let mounts = mounts::read(&Root::machine());
    for (anchor, usage) in &uses {
        let may_be_made = || match above {
            FoldersAbove::Refused { advice } => refuse_to_make_above(anchor, advice),
            FoldersAbove::Made => Ok(()),
        };
        may_use(usage, options, &created)
            .and_then(|()| may_be_made())
            .and_then(|()| refuse_where_only_the_kernel_makes_files(usage, &mounts))
            .and_then(|()| refuse_mounts(usage))
            .map_err(|failure| failure.with_target(anchor))?;
    }
    enough_space(&uses, &created)?;
    others::refuse_hard_links(plan)
}

/// Checks all trees of a plan, and creates and marks their folders.
pub fn prepare(
    plan: &FilePlan,
    options: &RunOptions,
    above: FoldersAbove,
) -> Result<(), CommandFailure> {
    check(plan, options, above)?;
    let uses = uses(plan);
    let created = Created::open(options.store.as_deref())?;
    for anchor in uses.keys().filter(|anchor| is_marked(anchor, &created)) {
        made_tree::rename(anchor).map_err(|error| {
            CommandFailure::measurement(format!(
                "folders in {} cannot be renamed",
                anchor.display()
            ))
            .with_cause(&error)
        })?;
    }
    for usage in uses.values().filter(|usage| usage.is_written) {
        make_and_mark(&usage.tree.anchor, above, &created)?;
    }
    Ok(())
}

/// Refuses written trees that are not the ones another host has created or marked.
pub fn join(
    plan: &FilePlan,
    options: &RunOptions,
    theirs: &[TreeMark],
) -> Result<(), CommandFailure> {
    super::volume::check(&StoragePlan::default(), plan, options)?;
    let ours = marks(plan);
    for (anchor, _) in uses(plan).iter().filter(|(_, usage)| usage.is_written) {
        let of = |marks: &[TreeMark]| marks.iter().find(|it| it.anchor == *anchor).cloned();
        let mark = of(&ours);
        others::refuse_mounts(anchor)?;
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
pub fn marks(plan: &FilePlan) -> Vec<TreeMark> {
    let written = uses(plan).into_iter().filter(|(_, usage)| usage.is_written);
    let mark = |(anchor, _): (&Path, Use<'_>)| {
        let found =
            anchor.join(MARK).symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
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
    test.before.iter().chain([&test.workload]).map(phase_of).collect()
}

/// Returns a phase with only this workload.
pub fn phase_of(workload: &FileWorkload) -> FilePhase {
    let name = workload.streams.first().map(|stream| stream.name.clone());
    let (name, workload) = (name.unwrap_or_default(), workload.clone());
    FilePhase { name, pause_before_s: 0.0, workload }
}

/// Runs one phase whose rate is known.
pub fn run_phase(
    phase: &FilePhase,
    control: &mut FileControl<'_>,
) -> Result<FileOutcome, CommandFailure> {
    kernel::run(&phase.workload, control).map_err(|error| {
        CommandFailure::measurement(format!("phase {} failed", phase.name))
            .with_cause(&error)
            .with_known_advice()
    })
}

/// Returns the failure for failed operations of a phase; `None` if all succeeded.
pub fn failure(outcome: &FileOutcome) -> Option<CaseFailure> {
    let first = outcome.errors.first()?;
    Some(CaseFailure::FileOperationFailed {
        count: outcome.error_count,
        operation: first.operation.name().to_owned(),
        path: first.path.display().to_string(),
        causes: vec![first.reason.clone()],
    })
}

/// Use of one tree by a plan; for trees that share a folder, the largest.
struct Use<'p> {
    tree: &'p FileTree,
    is_written: bool,
    is_made: bool,
}

fn uses(plan: &FilePlan) -> BTreeMap<&Path, Use<'_>> {
    let mut uses: BTreeMap<&Path, Use<'_>> = BTreeMap::new();
    for workload in plan.phases.iter().map(|phase| &phase.workload) {
        for (index, tree) in workload.trees.iter().enumerate() {
            let streams = || workload.streams.iter().filter(|stream| stream.tree == index);
            let usage = uses.entry(&tree.anchor).or_insert(Use {
                tree,
                is_written: false,
                is_made: false,
            });
            if tree.bytes() > usage.tree.bytes() {
                usage.tree = tree;
            }
            usage.is_written |= streams().any(writes);
            // A sequential write may create a new file.
            usage.is_made |= streams().any(|it| {
                let fills = it.operation == FileOperation::Create && it.stop_after.is_none();
                fills || it.operation == FileOperation::Write
            });
        }
    }
    uses
}

fn writes(stream: &FileStream) -> bool {
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

fn may_use(
    usage: &Use<'_>,
    options: &RunOptions,
    created: &Created,
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
            return Err(CommandFailure::usage(format!("{file} is no folder"))
                .with_reason("a tree of files is made in a folder")
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
    Err(CommandFailure::usage(format!("{path} is not written without your word"))
        .with_reason("assay did not make what is in this folder, and files in it would be lost")
        .advise(format!("choose an empty folder, or say --destroy-data={path}")))
}

/// Refuses to create missing parent folders: a mistyped name would create unwanted ones.
fn refuse_to_make_above(anchor: &Path, advice: &str) -> Result<(), CommandFailure> {
    let above = anchor.parent().filter(|above| !above.as_os_str().is_empty());
    let Some(above) = above.filter(|above| !anchor.is_dir() && !above.is_dir()) else {
        return Ok(());
    };
    Err(CommandFailure::usage(format!("the folder {} cannot be made", anchor.display()))
        .with_reason(format!("there is no folder {}", above.display()))
        .advise(advice))
}

/// Returns the innermost existing folder of an anchor, even for a relative name.
fn folder_there(anchor: &Path) -> Option<PathBuf> {
    let anchor = std::path::absolute(anchor).ok()?;
    anchor.ancestors().find(|folder| folder.is_dir()).map(Path::to_path_buf)
}

/// Refuses folders below `/proc` or `/dev`, which are not on a disk.
fn refuse_where_only_the_kernel_makes_files(
    usage: &Use<'_>,
    mounts: &[Mount],
) -> Result<(), CommandFailure> {
    let anchor = &usage.tree.anchor;
    let folder = folder_there(anchor).and_then(|it| it.canonicalize().ok());
    match folder.and_then(|folder| safety::of_the_kernel(mounts, &folder)) {
        Some(point) if usage.is_written => Err(CommandFailure::usage(format!(
            "the folder {} cannot be used",
            anchor.display()
        ))
        .with_reason(format!("nothing is made below {point}, which is not on a disk"))
        .advise("name a folder on a disk")),
        _ => Ok(()),
    }
}

fn refuse_mounts(usage: &Use<'_>) -> Result<(), CommandFailure> {
    if usage.is_written { others::refuse_mounts(&usage.tree.anchor) } else { Ok(()) }
}

/// Whether assay created the mark and it is unchanged; the mark in a copy of a tree does not count.
fn is_marked(anchor: &Path, created: &Created) -> bool {
    let mark = anchor.canonicalize().ok().and_then(|it| created.find(&it.join(MARK)));
    mark.is_some_and(|mark| mark.is_of_tree())
}

fn make_and_mark(
    anchor: &Path,
    above: FoldersAbove,
    created: &Created,
) -> Result<(), CommandFailure> {
    if is_marked(anchor, created) {
        return Ok(());
    }
    let is_there = anchor.is_dir();
    let made = match is_there {
        true => Ok(()),
        false if above == FoldersAbove::Made => fs::create_dir_all(anchor),
        false => fs::create_dir(anchor),
    };
    let folder = made.and_then(|()| anchor.canonicalize()).map_err(|error| {
        CommandFailure::measurement(format!("the folder {} cannot be made", anchor.display()))
            .with_cause(&error)
    })?;
    let mark = folder.join(MARK);
    if mark.symlink_metadata().is_ok() {
        // The user permitted this folder; a mark from another program stays.
        return Ok(());
    }
    let made = if is_there { Made::Tree } else { Made::TreeAndFolder };
    created.mark(&mark, WORDS, made)
}

/// Checks that all trees on one file system fit together.
fn enough_space(
    uses: &BTreeMap<&Path, Use<'_>>,
    created: &Created,
) -> Result<(), CommandFailure> {
    let mut needs: BTreeMap<u64, (f64, PathBuf, &Path)> = BTreeMap::new();
    for usage in uses.values().filter(|usage| usage.is_made) {
        let tree = usage.tree;
        let Some(folder) = folder_there(&tree.anchor) else { continue };
        let Ok(found) = std::fs::metadata(&folder) else { continue };
        let files =
            if is_marked(&tree.anchor, created) { tree.file_count().unwrap_or(0) } else { 0 };
        // Block counts are in units of 512 bytes on every file system.
        let has: u64 = (0..files)
            .filter_map(|number| std::fs::metadata(tree.file(number)).ok())
            .map(|found| found.blocks() * 512)
            .sum();
        let need = (tree.bytes() - has as f64).max(0.0);
        let first = (0.0, folder, tree.anchor.as_path());
        needs.entry(found.dev()).or_insert(first).0 += need;
    }
    for (need, folder, anchor) in needs.into_values() {
        safety::must_fit(&folder, need as u64, "give smaller sizes, or another anchor")
            .map_err(|failure| failure.with_target(anchor))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
