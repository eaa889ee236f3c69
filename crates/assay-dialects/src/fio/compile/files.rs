//! Resolves the files that a clone of a job uses, and the region of each.

use std::collections::HashMap;
use std::path::PathBuf;

use assay_model::workload::storage::{ExpectedOrder, NewFile, StorageTarget, TargetOpening};

use super::super::job_error::FioJobError;
use super::super::section_options::{FadviseHint, FioOptions};
use super::super::value::SizeOrPercent;
use super::{FioCompileEnv, LocatedOptions, conflict, join_path};

/// Maximum number of files of a job, each of which is opened; more are probably a mistake.
const MAX_FILES: u64 = 100_000;

/// Targets of a phase; the same region of the same file is listed once.
#[derive(Debug, Default)]
pub(super) struct TargetTable {
    pub(super) list: Vec<StorageTarget>,
    known: HashMap<(PathBuf, Option<(u64, u64)>), usize>,
}

/// Targets that a clone uses.
#[derive(Debug)]
pub(super) struct CloneFiles {
    /// Indices of its targets.
    pub(super) targets: Vec<usize>,
    /// Total bytes of its regions.
    pub(super) region_bytes: u64,
}

impl TargetTable {
    fn intern(&mut self, target: StorageTarget) -> usize {
        let key = (target.path.clone(), target.range_bytes);
        if let Some(index) = self.known.get(&key)
            && self.list[*index] == target
        {
            return *index;
        }
        self.known.insert(key, self.list.len());
        self.list.push(target);
        self.list.len() - 1
    }
}

pub(super) fn resolve_clone_files(
    options: &LocatedOptions,
    clone: u32,
    env: &FioCompileEnv<'_>,
    targets: &mut TargetTable,
) -> Result<CloneFiles, FioJobError> {
    let (job, _) = options;
    let total_files =
        (job.files.len() as u64).max(job.file_count).saturating_mul(job.clones.into());
    if total_files > MAX_FILES {
        let reason = format!("its clones use {total_files} files");
        return Err(conflict(
            options,
            reason,
            "lower nrfiles= or numjobs= to at most 100,000 files",
        ));
    }
    let paths = file_paths(job, clone);
    let mut clone_files = CloneFiles { targets: vec![], region_bytes: 0 };
    let count = paths.len() as u64;
    for path in paths {
        let existing_bytes = if job.engine == "null" { None } else { (env.size_of)(&path) };
        let offset = round_down_to_block(job, offset(options, clone, existing_bytes)?);
        let region_bytes = region(options, count, existing_bytes, offset)?;
        // The file includes an incomplete last block, but no I/O uses it, as in fio (`setup_files`
        // in filesetup.c).
        let region = region_bytes - region_bytes % smallest_io(job).max(1);
        let minimum = largest_io(job);
        if region < minimum {
            let reason = format!(
                "{region_bytes} B of {} are too small for an I/O of {minimum} B",
                path.display()
            );
            return Err(conflict(options, reason, "raise size= or lower bs="));
        }
        let needed_bytes = offset.saturating_add(region_bytes);
        let target = StorageTarget {
            name: path.display().to_string(),
            size_bytes: if existing_bytes.is_some_and(|size| size >= needed_bytes) {
                None
            } else {
                Some(needed_bytes)
            },
            range_bytes: Some((offset, offset.saturating_add(region))),
            path,
            align_bytes: job.align_bytes,
            direct: job.direct,
            sync: job.sync,
            sync_at_end: job.sync_at_end && job.rw.writes,
            opening: opening(job),
        };
        clone_files.targets.push(targets.intern(target));
        clone_files.region_bytes = clone_files.region_bytes.saturating_add(region);
    }
    Ok(clone_files)
}

/// Returns fio's steps before the first I/O: `td_io_open_file` (ioengines.c) drops the cache and
/// advises the kernel of the access order. `extend_file` (filesetup.c) writes a new file only for
/// jobs that read or overwrite it, and otherwise allocates it.
fn opening(job: &FioOptions) -> TargetOpening {
    if job.engine == "null" {
        return TargetOpening::default();
    }
    let behaviour = &job.behaviour;
    let is_written = job.rw.reads || (job.rw.writes && !job.rw.trims && behaviour.overwrites);
    let by_order =
        if job.rw.random { ExpectedOrder::Random } else { ExpectedOrder::Sequential };
    TargetOpening {
        drops_cache: !behaviour.keeps_cache,
        expects: match behaviour.hint {
            FadviseHint::ByOrder => Some(by_order),
            FadviseHint::Always(order) => Some(order),
            FadviseHint::None => None,
        },
        new_file: if is_written { NewFile::Written } else { behaviour.new_file },
    }
}

/// Returns the file paths: the given names, or fio's `job.clone.file`.
fn file_paths(job: &FioOptions, clone: u32) -> Vec<PathBuf> {
    let folders = &job.directories;
    let folder = folders.get(clone as usize % folders.len().max(1));
    if !job.files.is_empty() {
        return job.files.iter().map(|file| join_path(folder, file)).collect();
    }
    let format = match job.name_format.as_str() {
        "" => "$jobname.$jobnum.$filenum",
        format => format,
    };
    // A job name may contain a slash, which would otherwise create a folder.
    let safe_name = job.name.replace('/', "_");
    let name = |file: u64| {
        let name =
            format.replace("$jobname", &safe_name).replace("$jobnum", &clone.to_string());
        join_path(folder, &name.replace("$filenum", &file.to_string()))
    };
    (0..job.file_count).map(name).collect()
}

fn offset(
    options: &LocatedOptions,
    clone: u32,
    existing_bytes: Option<u64>,
) -> Result<u64, FioJobError> {
    let (job, _) = options;
    let bytes = |size: SizeOrPercent| match size {
        SizeOrPercent::Bytes(bytes) => Ok(bytes),
        SizeOrPercent::Percent(percent) => percent_of_file(options, percent, existing_bytes),
    };
    let step = bytes(job.offset_increment)?.saturating_mul(u64::from(clone));
    Ok(bytes(job.offset)?.saturating_add(step))
}

/// Rounds the offset down to a multiple of the I/O size.
fn round_down_to_block(job: &FioOptions, offset: u64) -> u64 {
    let block = job.align_bytes.unwrap_or_else(|| smallest_io(job)).max(1);
    offset / block * block
}

/// Returns the size of the region in one of `count` files.
fn region(
    options: &LocatedOptions,
    count: u64,
    existing_bytes: Option<u64>,
    offset: u64,
) -> Result<u64, FioJobError> {
    let (job, _) = options;
    let remaining_bytes = existing_bytes.map(|size| size.saturating_sub(offset));
    match (job.file_size_bytes, job.size) {
        (Some(bytes), _) => Ok(bytes.saturating_sub(offset)),
        (None, Some(SizeOrPercent::Bytes(bytes))) => Ok(bytes / count.max(1)),
        (None, Some(SizeOrPercent::Percent(percent))) => {
            let bytes = percent_of_file(options, percent, existing_bytes)?;
            Ok(bytes.min(remaining_bytes.unwrap_or(bytes)))
        }
        (None, None) => remaining_bytes.filter(|bytes| *bytes > 0).ok_or_else(|| {
            conflict(options, "it has no size, and its file does not exist", "add size=1g")
        }),
    }
}

fn percent_of_file(
    options: &LocatedOptions,
    percent: f64,
    existing_bytes: Option<u64>,
) -> Result<u64, FioJobError> {
    let size = existing_bytes.ok_or_else(|| {
        let reason = format!("a size of {percent}% needs an existing file");
        conflict(options, reason, "give a size in bytes, like size=1g")
    })?;
    Ok((size as f64 * percent / 100.0) as u64)
}

fn largest_io(job: &FioOptions) -> u64 {
    io_sizes(job).map(|size| size.max_bytes).max().unwrap_or(1)
}

fn smallest_io(job: &FioOptions) -> u64 {
    io_sizes(job).map(|size| size.min_bytes).min().unwrap_or(1)
}

fn io_sizes(
    job: &FioOptions,
) -> impl Iterator<Item = &assay_model::workload::storage::SizeShare> {
    let reads = job.sizes.read.iter().filter(|_| job.rw.reads);
    reads.chain(job.sizes.write.iter().filter(|_| job.rw.writes))
}
