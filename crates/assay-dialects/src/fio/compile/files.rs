//! Resolves the files that a clone of a job uses, and the region of each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assay_model::path_text;
use assay_model::workload::storage::{
    ExpectedOrder, FileExtent, NewFile, SizeShare, StorageTarget, TargetOpening, WriteSync,
};

use super::super::job_error::FioJobError;
use super::super::section_options::{
    FadviseHint, FioOptions, OffsetDistribution, OffsetGenerator,
};
use super::super::value::SizeOrPercent;
use super::{FioCompileEnv, LocatedOptions, MMAP, conflict, file_calls, join_path, name_hash};

/// Maximum number of files of a job, each of which is opened; more are probably a mistake.
const MAX_FILES: u64 = 100_000;

/// Targets of a phase; the same region of the same file is listed once.
#[derive(Debug, Default)]
pub(super) struct TargetTable {
    pub(super) list: Vec<StorageTarget>,
    /// Sizes of the files of all jobs so far: fio creates them before the first I/O.
    pub(super) created: HashMap<PathBuf, u64>,
    known: HashMap<(PathBuf, Option<(u64, u64)>), usize>,
}

/// Targets that a clone uses.
#[derive(Debug, Default)]
pub(super) struct CloneFiles {
    /// Indices of its targets.
    pub(super) targets: Vec<usize>,
    /// Used part of each.
    pub(super) extents: Vec<FileExtent>,
    /// fio's hash of the name of each.
    pub(super) name_hashes: Vec<u32>,
    /// Bytes of a pass: fio's `size`.
    pub(super) pass_bytes: u64,
}

impl TargetTable {
    /// Creates an empty table; these files exist when its phase begins.
    pub(super) fn with_created(created: HashMap<PathBuf, u64>) -> Self {
        Self { created, ..Self::default() }
    }

    pub(super) fn intern(&mut self, target: StorageTarget) -> usize {
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
    check_file_count(options)?;
    let paths = file_paths(job, clone);
    let mut clone_files = CloneFiles::default();
    let count = paths.len() as u64;
    let mut usable_bytes = 0_u64;
    for (nth, path) in (0..).zip(paths) {
        let existing_bytes = match job.engine.as_str() {
            "null" => None,
            // Its files have no contents; fio gives each one block.
            file_calls::CREATE => Some(all_smallest_io(job)),
            _ => (env.size_of)(&path),
        };
        let created_bytes = targets.created.get(&path).copied();
        let file = FileToUse { existing_bytes: existing_bytes.max(created_bytes), nth, count };
        let start = file.start(job, clone);
        let bytes = file.io_bytes(options, start, env.assumed_bytes)?;
        let needed_bytes = start.saturating_add(bytes);
        if job.engine != "null" && job.engine != file_calls::CREATE {
            let created_bytes = targets.created.entry(path.clone()).or_default();
            *created_bytes = needed_bytes.max(*created_bytes);
        }
        let size_bytes = needed_bytes.max(existing_bytes.unwrap_or(0));
        let created = FileToUse { existing_bytes: Some(size_bytes), ..file };
        let extent =
            FileExtent { start, later_start: created.start(job, clone), bytes, size_bytes };
        let end = usable_end(job, extent);
        let minimum = largest_io(job);
        if end.saturating_sub(start) < minimum {
            let reason = format!(
                "{bytes} B of {} are too small for an I/O of {minimum} B",
                path.display()
            );
            return Err(conflict(options, reason, "raise size= or lower bs="));
        }
        let exists = existing_bytes.is_some_and(|size| size >= needed_bytes);
        if !exists && created_bytes.is_none_or(|size| size < needed_bytes) {
            check_pre_read(options)?;
        }
        let size_bytes = (!exists).then_some(needed_bytes);
        let hash = name_hash::hash_name(fio_name(job, clone, &path).as_bytes());
        let target = build_target(job, path, size_bytes, (start, end));
        clone_files.targets.push(targets.intern(target));
        clone_files.extents.push(extent);
        clone_files.name_hashes.push(hash);
        let limited = match job.io_size {
            Some(SizeOrPercent::Percent(percent)) => (bytes as f64 * percent / 100.0) as u64,
            Some(SizeOrPercent::Bytes(_)) | None => bytes,
        };
        usable_bytes = usable_bytes.saturating_add(limited);
    }
    // `size` is no more than the files have, and limits the I/O even beside `filesize`.
    clone_files.pass_bytes = match job.size {
        Some(SizeOrPercent::Bytes(bytes)) if bytes > 0 => bytes.min(usable_bytes),
        _ => usable_bytes,
    };
    Ok(clone_files)
}

/// Refuses more files than a job may have.
fn check_file_count(options: &LocatedOptions) -> Result<(), FioJobError> {
    let (job, _) = options;
    let total_files =
        (job.files.len() as u64).max(job.file_count).saturating_mul(job.clones.into());
    if total_files <= MAX_FILES {
        return Ok(());
    }
    let reason = format!("its clones use {total_files} files");
    Err(conflict(options, reason, "lower nrfiles= or numjobs= to at most 100,000 files"))
}

/// Returns the target of a file; `size_bytes` is the size to create it with.
pub(super) fn build_target(
    job: &FioOptions,
    path: PathBuf,
    size_bytes: Option<u64>,
    range_bytes: (u64, u64),
) -> StorageTarget {
    let align = &job.align_bytes;
    let makes_calls = file_calls::file_call(job).is_some();
    StorageTarget {
        name: path.display().to_string(),
        size_bytes,
        range_bytes: Some(range_bytes),
        path,
        align_bytes: if job.rw.reads { align.read } else { align.write },
        direct: job.direct && !makes_calls,
        sync: if makes_calls { WriteSync::None } else { job.sync },
        sync_at_end: job.sync_at_end && job.rw.writes && !makes_calls,
        data_seed: None,
        opening: opening(job),
        duplicates: None,
    }
}

/// Returns the end of the part of a file that I/O of the job can reach.
///
/// An I/O begins within the used bytes. One whose size is fixed may end after them in a larger file.
fn usable_end(job: &FioOptions, extent: FileExtent) -> u64 {
    let (smallest, largest) = (smallest_io(job).max(1), largest_io(job));
    let FileExtent { start, later_start, bytes, size_bytes } = extent;
    if job.behaviour.strided || later_start != start {
        // Zones follow one another to the end of the file; later passes begin elsewhere.
        return size_bytes;
    }
    let whole = start.saturating_add(bytes - bytes % smallest);
    let whole =
        start.saturating_add(last_end(job, bytes, size_bytes.saturating_sub(start))).max(whole);
    if smallest != largest || bytes == 0 {
        return whole;
    }
    if bytes.is_multiple_of(largest) && job.rw.gap_bytes == 0 {
        return whole;
    }
    // Offsets are multiples of the size and the gap from the start.
    let step = greatest_common_divisor(largest, job.rw.gap_bytes.unsigned_abs());
    let last = (bytes - 1) / step * step;
    let most = start.saturating_add(last).saturating_add(largest);
    match job.rw.gap_bytes {
        0 if most > size_bytes => whole,
        _ => most.min(size_bytes),
    }
}

/// Returns the end of the last I/O of a direction of one size that begins within the used bytes, at a
/// multiple of its alignment, and ends within the bytes up to the end of the file: fio does not cut it.
/// Uniform draws leave room for it.
fn last_end(job: &FioOptions, bytes: u64, bytes_to_end: u64) -> u64 {
    let is_uniform = job.generator != OffsetGenerator::Lfsr
        && job.behaviour.distribution == OffsetDistribution::Uniform;
    if (job.rw.random && is_uniform) || bytes < largest_io(job) {
        return 0;
    }
    let (reads, writes) = job.uses_sizes();
    let [of_reads, of_writes] = align_bytes(job);
    let ways = [(reads, &job.sizes.read, of_reads), (writes, &job.sizes.write, of_writes)];
    let end = |(is_used, sizes, align): (bool, &Vec<SizeShare>, u64)| match sizes.as_slice() {
        [it] if is_used && it.min_bytes == it.max_bytes => {
            let last = bytes_to_end.checked_sub(it.max_bytes)?.min(bytes.checked_sub(1)?);
            Some(last / align.max(1) * align + it.max_bytes)
        }
        _ => None,
    };
    ways.into_iter().filter_map(end).max().unwrap_or(0)
}

pub(super) fn least_bytes(job: &FioOptions) -> [u64; 2] {
    [&job.sizes.read, &job.sizes.write]
        .map(|sizes| sizes.iter().map(|size| size.min_bytes).min().unwrap_or(1).max(1))
}

/// Returns the alignment of random offsets: that of each direction, or its smallest I/O.
pub(super) fn align_bytes(job: &FioOptions) -> [u64; 2] {
    let [read, write] = least_bytes(job);
    [job.align_bytes.read.unwrap_or(read), job.align_bytes.write.unwrap_or(write)]
}

pub(super) fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// Refuses to read a new file before it is written, if it has no size until then.
fn check_pre_read(options: &LocatedOptions) -> Result<(), FioJobError> {
    let (job, _) = options;
    let TargetOpening { pre_reads, new_file, .. } = opening(job);
    if !pre_reads || !matches!(new_file, NewFile::AllocatedPastEnd | NewFile::Empty) {
        return Ok(());
    }
    let (cause, hint) = match (job.behaviour.creates_on_open, job.behaviour.ends_when_full) {
        (true, _) => ("create_on_open", "leave out create_on_open or pre_read"),
        (false, true) => ("fill_device", "leave out fill_device or pre_read"),
        (false, false) => ("fallocate", "leave out pre_read, or add fallocate=native"),
    };
    let why = format!(
        "pre_read reads its file before the first write, and {cause} leaves it empty until \
         then; fio fails"
    );
    Err(conflict(options, why, hint))
}

/// Returns fio's steps before the first I/O: `td_io_open_file` (ioengines.c) drops the cache and
/// advises the kernel of the access order. `extend_file` (filesetup.c) writes a new file only for
/// jobs that read or overwrite it, and otherwise allocates it.
fn opening(job: &FioOptions) -> TargetOpening {
    if job.engine == "null" {
        return TargetOpening::default();
    }
    let behaviour = &job.behaviour;
    // A mapped file has its size before it is written. One to append to keeps its contents.
    let lays_out = (behaviour.overwrites || job.engine == MMAP) && !behaviour.appends;
    let reads = job.rw.reads && !job.rw.trims_first;
    let is_written = reads || (job.rw.writes && !job.rw.trims && lays_out);
    let by_order =
        if job.rw.random { ExpectedOrder::Random } else { ExpectedOrder::Sequential };
    TargetOpening {
        // What is read before is not to be dropped, as in fio.
        drops_cache: !behaviour.keeps_cache && !behaviour.pre_reads,
        pre_reads: behaviour.pre_reads,
        expects: match behaviour.hint {
            FadviseHint::ByOrder => Some(by_order),
            FadviseHint::Always(order) => Some(order),
            FadviseHint::None => None,
        },
        new_file: match (is_written, behaviour.ends_when_full || behaviour.creates_on_open) {
            (true, _) => NewFile::Written,
            // Allocated, it could not fill its target while it is written; fio lays out no file
            // that is created when it is opened.
            (false, true) => NewFile::Empty,
            (false, false) => behaviour.new_file,
        },
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

/// Returns the name of a file as fio has it: the folder, a slash and the rest.
fn fio_name(job: &FioOptions, clone: u32, path: &Path) -> String {
    let folder = job.directories.get(clone as usize % job.directories.len().max(1));
    let rest = folder.and_then(|it| path.strip_prefix(path_text::decode_path(it)).ok());
    match (folder, rest) {
        (Some(folder), Some(rest)) => format!("{folder}/{}", rest.display()),
        _ => path.display().to_string(),
    }
}

/// File of a clone: its size if it exists, its number, and the number of files.
struct FileToUse {
    existing_bytes: Option<u64>,
    nth: u64,
    count: u64,
}

impl FileToUse {
    /// Returns the size before the run: a missing file has none, and one that is never opened its
    /// part of `size`.
    fn size_bytes(&self, job: &FioOptions) -> u64 {
        let part = match job.size {
            Some(SizeOrPercent::Bytes(bytes)) if job.engine == "null" => {
                bytes / self.count.max(1)
            }
            Some(SizeOrPercent::Bytes(_) | SizeOrPercent::Percent(_)) | None => 0,
        };
        self.existing_bytes.unwrap_or(part)
    }

    /// Returns the first byte in use: the end of a file to append to, or `offset`. A percentage is
    /// rounded up to a block or to `offset_align`.
    fn start(&self, job: &FioOptions, clone: u32) -> u64 {
        if job.behaviour.appends {
            return self.size_bytes(job);
        }
        let mut is_aligned = false;
        let mut bytes = |size: SizeOrPercent| match size {
            SizeOrPercent::Bytes(bytes) => bytes,
            SizeOrPercent::Percent(percent) => {
                is_aligned = true;
                (self.size_bytes(job) as f64 * percent / 100.0) as u64
            }
        };
        let step = bytes(job.offset_increment).saturating_mul(u64::from(clone));
        let start = bytes(job.offset).saturating_add(step);
        let block = job.behaviour.offset_align_bytes.unwrap_or_else(|| all_smallest_io(job));
        if is_aligned { start.checked_next_multiple_of(block).unwrap_or(start) } else { start }
    }

    /// Returns the bytes in use from `start` on.
    fn io_bytes(
        &self,
        options: &LocatedOptions,
        start: u64,
        assumed_bytes: Option<u64>,
    ) -> Result<u64, FioJobError> {
        let (job, _) = options;
        let rest = || {
            let size_bytes = self.existing_bytes.or(assumed_bytes);
            let rest = size_bytes.map(|size| size.saturating_sub(start));
            rest.filter(|bytes| *bytes > 0).ok_or_else(|| {
                conflict(options, "it has no size, and its file does not exist", "add size=1g")
            })
        };
        let bytes = match (job.file_size_bytes, job.size) {
            (Some(bytes), _) => bytes.saturating_sub(start),
            (None, Some(SizeOrPercent::Bytes(bytes))) if bytes > 0 => {
                let each = bytes / self.count.max(1);
                // The first files share what is left over, a block each.
                let extra = (bytes - each * self.count) / all_smallest_io(job);
                each + if self.nth < extra { all_smallest_io(job) } else { 0 }
            }
            (None, Some(SizeOrPercent::Percent(percent))) if self.existing_bytes.is_none() => {
                return percent_of_file(options, percent, assumed_bytes);
            }
            (None, _) => rest()?,
        };
        match job.size {
            Some(SizeOrPercent::Percent(percent)) if percent < 100.0 => {
                let file_bytes = bytes.saturating_add(start);
                let part = (file_bytes as f64 * percent / 100.0) as u64;
                let part = part.min(bytes);
                Ok(part - part % all_smallest_io(job))
            }
            _ => Ok(bytes),
        }
    }
}

fn percent_of_file(
    options: &LocatedOptions,
    percent: f64,
    size_bytes: Option<u64>,
) -> Result<u64, FioJobError> {
    let size = size_bytes.ok_or_else(|| {
        let reason = format!("a size of {percent}% needs an existing file");
        conflict(options, reason, "give a size in bytes, like size=1g")
    })?;
    Ok((size as f64 * percent / 100.0) as u64)
}

/// Returns the smallest I/O of all directions, even of those that the job does not use; fio's sizes
/// and maps are in units of it.
pub(super) fn all_smallest_io(job: &FioOptions) -> u64 {
    let sizes = [&job.sizes.read, &job.sizes.write, &job.sizes.trim];
    let least = sizes.into_iter().flatten().map(|size| size.min_bytes).min();
    least.unwrap_or(1).max(1)
}

/// Returns the largest I/O of all directions, even of those that the job does not use.
pub(super) fn all_largest_io(job: &FioOptions) -> u64 {
    let sizes = [&job.sizes.read, &job.sizes.write, &job.sizes.trim];
    sizes.into_iter().flatten().map(|size| size.max_bytes).max().unwrap_or(1)
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
    let (reads, writes) = job.uses_sizes();
    let of_reads = job.sizes.read.iter().filter(move |_| reads);
    of_reads.chain(job.sizes.write.iter().filter(move |_| writes))
}
