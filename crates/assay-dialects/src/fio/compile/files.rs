//! Files that a clone of a job uses, and the region of each.

use std::collections::HashMap;
use std::path::PathBuf;

use assay_model::workload::storage::{ExpectedOrder, NewFile, Opening, StorageTarget};

use super::super::fault::Fault;
use super::super::value::Size;
use super::super::worker::{Hint, Worker};
use super::{Placed, Places, combine, path};

/// Maximum number of files of a job: each is opened, and more are probably a mistake.
const MOST_FILES: u64 = 100_000;

/// Targets of a phase; the same region of the same file is listed once.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub(super) list: Vec<StorageTarget>,
    known: HashMap<(PathBuf, Option<(u64, u64)>), usize>,
}

/// Targets that a clone uses.
#[derive(Debug)]
pub(super) struct Used {
    /// Indices of its targets.
    pub(super) targets: Vec<usize>,
    /// Total bytes of its regions.
    pub(super) region_bytes: u64,
}

impl Targets {
    fn index(&mut self, target: StorageTarget) -> usize {
        let place = (target.path.clone(), target.range_bytes);
        if let Some(index) = self.known.get(&place)
            && self.list[*index] == target
        {
            return *index;
        }
        self.known.insert(place, self.list.len());
        self.list.push(target);
        self.list.len() - 1
    }
}

pub(super) fn of_clone(
    placed: &Placed,
    clone: u32,
    places: &Places<'_>,
    targets: &mut Targets,
) -> Result<Used, Fault> {
    let (job, _) = placed;
    let all = (job.files.len() as u64).max(job.file_count).saturating_mul(job.clones.into());
    if all > MOST_FILES {
        let why = format!("its clones use {all} files");
        return Err(combine(
            placed,
            why,
            "100,000 files are the most; lower nrfiles= or numjobs=",
        ));
    }
    let paths = paths(job, clone);
    let mut used = Used { targets: vec![], region_bytes: 0 };
    let count = paths.len() as u64;
    for path in paths {
        let exists = if job.engine == "null" { None } else { (places.size_of)(&path) };
        let offset = at_block(job, offset(placed, clone, exists)?);
        let whole = region(placed, count, exists, offset)?;
        // The file includes an incomplete last block, but no I/O uses it, as in fio (`setup_files`
        // in filesetup.c).
        let region = whole - whole % smallest_io(job).max(1);
        let minimum = largest_io(job);
        if region < minimum {
            let why = format!("{whole} B of {} hold no I/O of {minimum} B", path.display());
            return Err(combine(placed, why, "raise size= or lower bs="));
        }
        let needed = offset.saturating_add(whole);
        let target = StorageTarget {
            name: path.display().to_string(),
            size_bytes: if exists.is_some_and(|size| size >= needed) {
                None
            } else {
                Some(needed)
            },
            range_bytes: Some((offset, offset.saturating_add(region))),
            path,
            align_bytes: job.align_bytes,
            direct: job.direct,
            sync: job.sync,
            sync_at_end: job.sync_at_end && job.way.writes,
            opening: opening(job),
        };
        used.targets.push(targets.index(target));
        used.region_bytes = used.region_bytes.saturating_add(region);
    }
    Ok(used)
}

/// Returns fio's steps before the first I/O: `td_io_open_file` (ioengines.c) drops the cache and
/// advises the kernel of the access order. `extend_file` (filesetup.c) writes a new file only for
/// jobs that read or overwrite it, and otherwise allocates it.
fn opening(job: &Worker) -> Opening {
    if job.engine == "null" {
        return Opening::default();
    }
    let manner = &job.manner;
    let is_written = job.way.reads || (job.way.writes && !job.way.trims && manner.overwrites);
    let by_order =
        if job.way.random { ExpectedOrder::Random } else { ExpectedOrder::Sequential };
    Opening {
        drops_cache: !manner.keeps_cache,
        expects: match manner.hint {
            Hint::ByOrder => Some(by_order),
            Hint::Always(order) => Some(order),
            Hint::None => None,
        },
        new_file: if is_written { NewFile::Written } else { manner.new_file },
    }
}

/// Returns the file paths: the given names, or fio's `job.clone.file`.
fn paths(job: &Worker, clone: u32) -> Vec<PathBuf> {
    let folders = &job.directories;
    let folder = folders.get(clone as usize % folders.len().max(1));
    if !job.files.is_empty() {
        return job.files.iter().map(|file| path(folder, file)).collect();
    }
    let format = match job.name_format.as_str() {
        "" => "$jobname.$jobnum.$filenum",
        format => format,
    };
    // A job name may contain a slash, which would otherwise create a folder.
    let safe = job.name.replace('/', "_");
    let name = |file: u64| {
        let name = format.replace("$jobname", &safe).replace("$jobnum", &clone.to_string());
        path(folder, &name.replace("$filenum", &file.to_string()))
    };
    (0..job.file_count).map(name).collect()
}

fn offset(placed: &Placed, clone: u32, exists: Option<u64>) -> Result<u64, Fault> {
    let (job, _) = placed;
    let bytes = |size: Size| match size {
        Size::Bytes(bytes) => Ok(bytes),
        Size::Percent(percent) => share(placed, percent, exists),
    };
    let step = bytes(job.offset_increment)?.saturating_mul(u64::from(clone));
    Ok(bytes(job.offset)?.saturating_add(step))
}

/// Rounds the offset down to a multiple of the I/O size.
fn at_block(job: &Worker, offset: u64) -> u64 {
    let block = job.align_bytes.unwrap_or_else(|| smallest_io(job)).max(1);
    offset / block * block
}

/// Returns the size of the region in one of `count` files.
fn region(placed: &Placed, count: u64, exists: Option<u64>, offset: u64) -> Result<u64, Fault> {
    let (job, _) = placed;
    let rest = exists.map(|size| size.saturating_sub(offset));
    match (job.file_size_bytes, job.size) {
        (Some(bytes), _) => Ok(bytes.saturating_sub(offset)),
        (None, Some(Size::Bytes(bytes))) => Ok(bytes / count.max(1)),
        (None, Some(Size::Percent(percent))) => {
            let bytes = share(placed, percent, exists)?;
            Ok(bytes.min(rest.unwrap_or(bytes)))
        }
        (None, None) => rest.filter(|bytes| *bytes > 0).ok_or_else(|| {
            combine(placed, "it has no size, and its file does not exist", "add size=1g")
        }),
    }
}

fn share(placed: &Placed, percent: f64, exists: Option<u64>) -> Result<u64, Fault> {
    let size = exists.ok_or_else(|| {
        let why = format!("{percent}% of a file that does not exist is no size");
        combine(placed, why, "give a size in bytes, like size=1g")
    })?;
    Ok((size as f64 * percent / 100.0) as u64)
}

fn largest_io(job: &Worker) -> u64 {
    each_io(job).map(|size| size.max_bytes).max().unwrap_or(1)
}

fn smallest_io(job: &Worker) -> u64 {
    each_io(job).map(|size| size.min_bytes).min().unwrap_or(1)
}

fn each_io(job: &Worker) -> impl Iterator<Item = &assay_model::workload::storage::SizeShare> {
    let reads = job.sizes.read.iter().filter(|_| job.way.reads);
    reads.chain(job.sizes.write.iter().filter(|_| job.way.writes))
}
