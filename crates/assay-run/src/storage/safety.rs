//! Safety checks: permission to write and available space, decided for a whole plan before its
//! first write.
//!
//! A device, or a file that assay did not create, is written only if `--destroy-data` names it. A
//! device that is mounted or otherwise used, or that shares a disk with the system, is never
//! written. Nothing here writes.

use std::collections::BTreeMap;
use std::fs::{FileType, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use assay_fleet::capacity;
use assay_fleet::mounts::{self, Mount};
use assay_kernels::storage::several_hard_links;
use assay_model::failure::os_error;
use assay_model::quantity::Bytes;
use assay_model::workload::storage::{
    AccessPattern, EngineChoice, NewFile, StoragePlan, StorageStream, StorageTarget,
};

use super::created_files::{CreatedFiles, CreatedRecord};
use super::held_targets;
use super::layers::Layers;
use super::options::RunOptions;
use super::target_path::{StreamsByTarget, resolve_path};
use super::volume::Volumes;
use crate::failure::CommandFailure;

/// Space that stays free for the file system's own needs.
const FREE_MARGIN_BYTES: u64 = 64 << 20;

/// File systems in which only the kernel creates files. `/dev` counts as one of them, whatever its
/// type.
const KERNEL_FILE_SYSTEMS: [&str; 8] =
    ["devtmpfs", "proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "configfs"];

/// File that must be created or laid out before the first phase.
#[derive(Debug)]
pub(super) struct FileToLayOut {
    /// Phase whose data fills it.
    pub(super) phase: usize,
    /// Target with its resolved path and the largest requested size.
    pub(super) target: StorageTarget,
    /// Record from an earlier run of assay; `None` if the file is missing or not assay's.
    pub(super) record: Option<CreatedRecord>,
    /// Whether the file does not exist yet.
    pub(super) is_missing: bool,
    /// Whether it is only created empty, because the first phase that uses it writes it from start
    /// to end.
    pub(super) create_only: bool,
    /// Whether that phase writes it from start to end.
    pub(super) is_filled_first: bool,
    /// Whether a call of a stream creates it.
    pub(super) is_made_by_call: bool,
}

/// Use of one path by a plan.
struct PathUse<'p> {
    target: &'p StorageTarget,
    phase: usize,
    size_bytes: Option<u64>,
    is_written: bool,
    is_filled_first: bool,
    /// Whether calls of streams create it, and nothing else uses it.
    is_made_by_calls: bool,
    /// First phase that deletes it.
    deleted_in: Option<usize>,
    /// Last phase that does anything but delete it.
    used_in: Option<usize>,
}

/// Refuses forbidden targets; returns the files that must be laid out.
pub(super) fn check(
    plan: &StoragePlan,
    options: &RunOptions,
    created: &CreatedFiles,
) -> Result<Vec<FileToLayOut>, CommandFailure> {
    let volumes = Volumes::read();
    let mounts = &volumes.mounts;
    let mut missing = Vec::new();
    // Read once, because a plan may have a thousand files.
    let mut records: BTreeMap<PathBuf, Vec<CreatedRecord>> = BTreeMap::new();
    for record in created.list() {
        records.entry(record.path.clone()).or_default().push(record);
    }
    for (path, usage) in path_uses(plan)? {
        let judge =
            PathCheck { path: &path, usage: &usage, options, records: &records, mounts };
        let judged = volumes.refuse_root(&path, options).and_then(|()| judge.check_path());
        missing.extend(judged.map_err(|failure| failure.with_target(&path))?);
    }
    check_space(plan, &missing)?;
    Ok(missing)
}

/// Returns every path of the plan, without links, with all its uses.
fn path_uses(plan: &StoragePlan) -> Result<BTreeMap<PathBuf, PathUse<'_>>, CommandFailure> {
    let mut uses: BTreeMap<PathBuf, PathUse<'_>> = BTreeMap::new();
    for (phase, workload) in plan.phases.iter().map(|phase| &phase.workload).enumerate() {
        if workload.engine == EngineChoice::Null {
            continue;
        }
        let streams = StreamsByTarget::collect(workload);
        for (index, target) in workload.targets.iter().enumerate() {
            let is_written = streams.is_written(index);
            let is_filled_first = is_filled_in_order(streams.users(index));
            let is_made_by_calls = streams.is_made_by_calls(index);
            let path = resolve_path(&target.path).map_err(|it| it.with_target(&target.path))?;
            let found = uses.entry(path.clone()).or_insert_with(|| PathUse {
                target,
                phase,
                size_bytes: None,
                is_written,
                is_filled_first,
                is_made_by_calls,
                deleted_in: None,
                used_in: None,
            });
            found.size_bytes = found.size_bytes.max(target.size_bytes);
            found.is_written |= is_written;
            found.is_made_by_calls &= is_made_by_calls;
            if streams.is_deleted(index) {
                found.deleted_in = found.deleted_in.or(Some(phase));
                refuse_deleted_link(&target.path)?;
            }
            if streams.is_used(index) {
                found.used_in = Some(phase);
            }
            if found.is_used_after_deletion() {
                return Err(used_after_deletion(&path));
            }
        }
    }
    Ok(uses)
}

impl PathUse<'_> {
    fn is_used_after_deletion(&self) -> bool {
        matches!((self.deleted_in, self.used_in), (Some(deleted), Some(used)) if used >= deleted)
    }
}

/// Refuses to delete by the name of a link: the file that it leads to is checked.
fn refuse_deleted_link(path: &Path) -> Result<(), CommandFailure> {
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => Err(CommandFailure::usage(format!(
            "{} is a symbolic link, which is not deleted",
            path.display()
        ))
        .advise("name the file that it leads to")),
        _ => Ok(()),
    }
}

/// A file that has been deleted is not held any more, and may be someone else's the next time.
fn used_after_deletion(path: &Path) -> CommandFailure {
    let what = format!("{} is deleted by one job and used by another", path.display());
    CommandFailure::usage(what)
        .with_reason("after the deletion, the name may lead to the file of someone else")
        .advise("let the job that deletes it run last, behind a stonewall")
}

/// Whether the streams of a target only write it, block after block.
fn is_filled_in_order(streams: &[&StorageStream]) -> bool {
    streams.iter().all(|stream| {
        let in_order = matches!(
            stream.pattern,
            AccessPattern::Sequential { .. }
                | AccessPattern::Permutation
                | AccessPattern::Blocks { .. }
        );
        let has_io = stream.conduct.replay.is_empty() && stream.conduct.file_call.is_none();
        stream.read_share <= 0.0 && in_order && has_io
    })
}

/// Inputs of the check of one path.
struct PathCheck<'a> {
    path: &'a Path,
    usage: &'a PathUse<'a>,
    options: &'a RunOptions,
    records: &'a BTreeMap<PathBuf, Vec<CreatedRecord>>,
    mounts: &'a [Mount],
}

impl PathCheck<'_> {
    fn check_path(&self) -> Result<Option<FileToLayOut>, CommandFailure> {
        match std::fs::metadata(self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.refuse_creation()?;
                // One without a size is created by a call.
                let has_bytes = u64::from(self.usage.is_made_by_calls);
                self.plan_layout(None, has_bytes).map(Some)
            }
            Err(error) => Err(CommandFailure::measurement(self.unusable_text())
                .with_cause(&error)
                .with_known_advice()),
            Ok(found) if found.file_type().is_block_device() => self.check_device(&found),
            Ok(found) if found.is_file() => self.check_file(&found),
            Ok(found) => Err(self
                .cannot_use()
                .with_reason(describe_kind(found.file_type()))
                .advise("name a file, a folder or a block device; `lsblk` lists the devices")),
        }
    }

    fn check_file(&self, found: &Metadata) -> Result<Option<FileToLayOut>, CommandFailure> {
        if self.usage.is_made_by_calls {
            // It exists, and the calls leave it unchanged.
            return Ok(None);
        }
        let mut records = self.records.get(self.path).into_iter().flatten();
        let record = records.find(|it| it.is_unchanged()).cloned();
        let needed = self.usage.size_bytes.unwrap_or(0);
        let is_short = found.len() < needed;
        if self.usage.is_written {
            self.refuse_read_only()?;
            self.refuse_in_use(found)?;
            self.refuse_hard_links(found)?;
        }
        let own = record.as_ref();
        // A file that is created without data need not be laid out once it exists.
        let is_done = self.usage.target.opening.new_file != NewFile::Written
            || own.is_none_or(|it| it.laid_out_bytes.is_some_and(|it| it >= needed));
        if own.is_none() && (self.usage.is_written || is_short) && !self.is_named() {
            return Err(match self.usage.is_written {
                true => self.permission_failure(
                    "assay did not make this file, and its contents would be lost",
                ),
                false => self.too_short(found.len(), needed),
            });
        }
        if found.len() == 0 && needed == 0 {
            return Err(self
                .cannot_use()
                .with_reason("the file is empty")
                .advise("name a file that is not empty, or a new one with --size"));
        }
        if is_short || !is_done {
            self.refuse_hard_links(found)?;
            self.plan_layout(record, found.len()).map(Some)
        } else {
            Ok(None)
        }
    }

    fn check_device(&self, found: &Metadata) -> Result<Option<FileToLayOut>, CommandFailure> {
        if capacity::size(self.path).ok().flatten() == Some(0) {
            return Err(self
                .cannot_use()
                .with_reason("the device holds 0 B: it has no medium, or was not set up")
                .advise("choose a device that `lsblk` shows with a size"));
        }
        if !self.usage.is_written {
            return Ok(None);
        }
        if Layers::read().is_system(found, self.mounts) {
            let why = "it shares a disk with the system";
            return Err(held_targets::protected_target(self.path, why));
        }
        self.refuse_in_use(found)?;
        if !self.is_named() {
            return Err(
                self.permission_failure("it is a device, and its contents would be lost")
            );
        }
        held_targets::claim(&self.options.held, self.path).map(|()| None)
    }

    fn refuse_in_use(&self, found: &Metadata) -> Result<(), CommandFailure> {
        match Layers::read().users(found, self.mounts).first() {
            Some(user) => {
                Err(held_targets::protected_target(self.path, format!("it is in use: {user}")))
            }
            None => Ok(()),
        }
    }

    /// Applies even if the file is named: its other names are not.
    fn refuse_hard_links(&self, found: &Metadata) -> Result<(), CommandFailure> {
        several_hard_links(found)
            .map_or(Ok(()), |links| Err(hard_link_failure(self.path, links)))
    }

    fn is_named(&self) -> bool {
        let same = |named: &PathBuf| named.canonicalize().is_ok_and(|named| named == self.path);
        self.options.destroy_data.iter().any(same)
    }

    /// Refuses to create files where only the kernel does, and through a dangling link.
    fn refuse_creation(&self) -> Result<(), CommandFailure> {
        if std::fs::symlink_metadata(self.path).is_ok() {
            return Err(self
                .cannot_use()
                .with_reason("it is a link to something that is not there")
                .advise("repair the link, or name its intended target"));
        }
        let Some(point) = kernel_mount_point(self.mounts, self.path) else { return Ok(()) };
        Err(self
            .cannot_use()
            .with_reason(format!(
                "it does not exist, and nothing is made below {point}, which is not on a disk"
            ))
            .advise("`lsblk` lists the devices; for a new file name a folder on a disk"))
    }

    /// Refuses targets on a read-only mount.
    fn refuse_read_only(&self) -> Result<(), CommandFailure> {
        let mount = mounts::find_mount(self.mounts, self.path);
        let Some(mount) = mount.filter(|it| it.options.split(',').any(|it| it == "ro")) else {
            return Ok(());
        };
        Err(self
            .cannot_use()
            .with_reason(format!("{} is mounted read-only", mount.point.display()))
            .advise("name a target on a file system that is not mounted read-only"))
    }

    /// Plans to lay out a file of `has_bytes`, or a new one, with the requested size.
    fn plan_layout(
        &self,
        record: Option<CreatedRecord>,
        has_bytes: u64,
    ) -> Result<FileToLayOut, CommandFailure> {
        self.refuse_read_only()?;
        let size_bytes = self.usage.size_bytes.unwrap_or(has_bytes);
        if size_bytes == 0 {
            return Err(self
                .cannot_use()
                .with_reason("there is no such file, and no size to make it with")
                .advise("give a size, like --size 1GiB"));
        }
        let is_missing = record.is_none() && !self.path.exists();
        Ok(FileToLayOut {
            phase: self.usage.phase,
            target: StorageTarget {
                path: self.path.to_path_buf(),
                size_bytes: Some(size_bytes),
                ..self.usage.target.clone()
            },
            record,
            is_missing,
            create_only: self.options.writers_make_files && self.usage.is_filled_first,
            is_filled_first: self.usage.is_filled_first,
            is_made_by_call: self.usage.is_made_by_calls,
        })
    }

    fn cannot_use(&self) -> CommandFailure {
        CommandFailure::usage(self.unusable_text())
    }

    fn unusable_text(&self) -> String {
        format!("the target {} cannot be used", self.path.display())
    }

    fn too_short(&self, there: u64, needed: u64) -> CommandFailure {
        let path = self.path.display();
        let (there, needed) = (Bytes(there), Bytes(needed));
        CommandFailure::usage(format!("{path} holds {there}, and {needed} are to be read"))
            .with_reason("assay did not make this file and does not extend it")
            .advise(format!(
                "leave the size out to read what is there; if it may be overwritten: --destroy-data={path}"
            ))
    }

    fn permission_failure(&self, why: &str) -> CommandFailure {
        let path = self.path.display();
        let failure =
            CommandFailure::usage(format!("{path} is not written without permission"))
                .with_reason(why)
                .advise(format!("if it may be overwritten: --destroy-data={path}"));
        match self.path.is_file() {
            true => failure.advise("otherwise name a new file: assay creates it"),
            false => failure,
        }
    }
}

/// Returns the failure for a file with further hard links.
pub(super) fn hard_link_failure(path: &Path, links: u64) -> CommandFailure {
    CommandFailure::usage(format!("cannot write {}", path.display()))
        .with_reason(format!(
            "it has {links} hard links, and the file under its other names would be overwritten"
        ))
        .advise(os_error::HARD_LINKS)
}

/// Returns the mount point of the path if only the kernel creates files there.
pub(super) fn kernel_mount_point(mounts: &[Mount], path: &Path) -> Option<String> {
    let mount = mounts::find_mount(mounts, path)?;
    let is_kernels =
        mount.point == Path::new("/dev") || KERNEL_FILE_SYSTEMS.contains(&mount.kind.as_str());
    is_kernels.then(|| mount.point.display().to_string())
}

fn describe_kind(found: FileType) -> &'static str {
    match () {
        () if found.is_dir() => "it is a folder; name a file in that folder, or a device",
        () if found.is_char_device() => "it is a character device",
        () if found.is_fifo() => "it is a pipe",
        () if found.is_socket() => "it is a socket",
        () => "it is neither a file nor a device",
    }
}

/// Checks that all files on one file system fit together. A file that grows until a deadline, after
/// it, or until nothing more fits has only a limit.
fn check_space(plan: &StoragePlan, missing: &[FileToLayOut]) -> Result<(), CommandFailure> {
    let mut needs: BTreeMap<u64, (u64, &Path)> = BTreeMap::new();
    let grows = |file: &&FileToLayOut| {
        let is_timed = plan.phases[file.phase].workload.timing.duration_s.is_some();
        file.target.opening.new_file == NewFile::Empty && (is_timed || fills_target(plan, file))
    };
    for file in missing.iter().filter(|file| !grows(file) && !file.is_made_by_call) {
        let path = file.target.path.as_path();
        let folder = path.parent().unwrap_or(path);
        let Ok(found) = std::fs::metadata(folder) else { continue };
        // Block counts are in units of 512 bytes on every file system.
        let has = std::fs::metadata(path).map_or(0, |file| file.blocks() * 512);
        let whole = file.target.size_bytes.unwrap_or(0).saturating_sub(has);
        let need = written_bytes(plan, file).map_or(whole, |written| written.min(whole));
        let (total, _) = needs.entry(found.dev()).or_insert((0, folder));
        *total = total.saturating_add(need);
    }
    for (need, folder) in needs.into_values() {
        check_fits(folder, need, "give smaller sizes, or another target")?;
    }
    Ok(())
}

/// Whether the streams that write a file end when its file system is full.
fn fills_target(plan: &StoragePlan, file: &FileToLayOut) -> bool {
    let workload = &plan.phases[file.phase].workload;
    let is_same = |index: &usize| workload.targets[*index].path == file.target.path;
    let mut streams = workload.streams.iter().filter(|it| it.targets.iter().any(is_same));
    streams.all(|stream| stream.conduct.ends_when_full)
}

/// Returns the bytes that a phase writes to an existing file which is not filled before, if its
/// streams end after a number of bytes.
fn written_bytes(plan: &StoragePlan, file: &FileToLayOut) -> Option<u64> {
    if file.target.opening.new_file != NewFile::Empty || file.is_missing {
        return None;
    }
    let workload = &plan.phases[file.phase].workload;
    let is_same = |index: &usize| workload.targets[*index].path == file.target.path;
    let streams = workload.streams.iter().filter(|stream| stream.targets.iter().any(is_same));
    streams.map(|stream| stream.stop_after_bytes).sum()
}

/// Refuses to write `need_bytes` more below `folder` if they do not fit.
pub(super) fn check_fits(
    folder: &Path,
    need_bytes: u64,
    advice: &'static str,
) -> Result<(), CommandFailure> {
    let free = mounts::free_bytes(folder).map_err(|error| {
        CommandFailure::measurement(format!(
            "the free space of {} is unknown",
            folder.display()
        ))
        .with_cause(&error)
    })?;
    if need_bytes == 0 || need_bytes.saturating_add(FREE_MARGIN_BYTES) <= free {
        return Ok(());
    }
    let what = format!("{} has no room for the files of this plan", folder.display());
    let [need, margin, free] =
        [need_bytes, FREE_MARGIN_BYTES, free].map(|bytes| Bytes(bytes).to_quantity());
    Err(CommandFailure::measurement(what)
        .with_reason(format!(
            "{need:.3} are needed, {margin:.3} more have to stay free, and {free:.3} are free"
        ))
        .advise(advice))
}

#[cfg(test)]
mod tests;
