//! Layout of files: writes them in full before they are read, without holes or unwritten extents.
//!
//! Reads of holes and unwritten extents need no I/O, and would be measured as a fast device. Does
//! not decide whether a file may be overwritten.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use assay_model::storage_outcome::EndReason;
use assay_model::workload::storage::{
    AccessPattern, AtEnd, Cursor, NewFile, StorageData, StorageStream, StorageTarget,
    StorageTiming, StorageWorkload, TargetOpening, Verify, WriteSync,
};

use super::error::StorageError;
use super::hard_links;
use super::{OpenTargets, PhaseControl, run};
use super::{address_content, content};

mod gaps;

/// Size of one write: large enough for a device's full bandwidth, and a multiple of every device's
/// granule.
const WRITE_BYTES: u64 = 1 << 20;
/// Writes in flight.
const DEPTH: u32 = 8;

/// Completes a file, so that later reads find written blocks: no holes and no unwritten extents.
/// Creates it if necessary; earlier contents stay, unless the file system does not tell where it is.
/// `on_progress` receives the bytes done and the total.
///
/// # Errors
/// [`StorageError`]; the data written until then stays.
pub fn lay_out(
    target: &StorageTarget,
    data: &StorageData,
    seed: u64,
    control: (&AtomicBool, &OpenTargets),
    on_progress: &mut dyn FnMut(u64, u64),
) -> Result<(), StorageError> {
    let Some(size_bytes) = target.size_bytes.filter(|&size| size > 0) else {
        return Err(StorageError::NoSize { path: target.path.clone() });
    };
    let failed = |source| StorageError::Open { path: target.path.clone(), source };
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o644)
        .open(control.1.open_path(&target.path))
        .map_err(failed)?;
    hard_links::refuse(&file, &target.path)?;
    let contents = NewContents { target, data, seed };
    let gaps = gaps::find(&file, size_bytes);
    reserve(&file, size_bytes, 0)
        .map_err(|error| layout_error(target, 0, &error.to_string()))?;
    if let Some(gaps) = gaps {
        let progress = &mut |done| on_progress(done, size_bytes);
        return gaps::fill(&file, &gaps, contents, control.0, progress)
            .map_err(|error| layout_error(target, 0, &error.to_string()));
    }
    let whole = size_bytes / WRITE_BYTES * WRITE_BYTES;
    on_progress(0, size_bytes);
    if whole > 0 {
        write_pieces(target, data, (seed, whole, size_bytes), control, on_progress)?;
    }
    write_rest(&file, whole, size_bytes, contents)
        .and_then(|()| file.sync_all())
        .map_err(|error| layout_error(target, whole, &error.to_string()))?;
    drop_from_cache(&file);
    on_progress(size_bytes, size_bytes);
    Ok(())
}

/// Creates a file of the target's size without writing it.
///
/// # Errors
/// [`StorageError`] if the file system has no space, or refuses.
pub fn create_unwritten(
    target: &StorageTarget,
    held: &OpenTargets,
) -> Result<(), StorageError> {
    let Some(size_bytes) = target.size_bytes.filter(|&size| size > 0) else {
        return Err(StorageError::NoSize { path: target.path.clone() });
    };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o644);
    let file = options
        .open(held.open_path(&target.path))
        .map_err(|source| StorageError::Open { path: target.path.clone(), source })?;
    hard_links::refuse(&file, &target.path)?;
    let made = match target.opening.new_file {
        NewFile::Written | NewFile::Allocated => reserve(&file, size_bytes, 0),
        NewFile::AllocatedPastEnd => reserve(&file, size_bytes, libc::FALLOC_FL_KEEP_SIZE),
        NewFile::Hole => file.set_len(size_bytes),
        NewFile::Empty => Ok(()),
    };
    made.map_err(|error| layout_error(target, 0, &error.to_string()))
}

/// Contents of a new file.
#[derive(Debug, Clone, Copy)]
struct NewContents<'d> {
    target: &'d StorageTarget,
    data: &'d StorageData,
    seed: u64,
}

/// Writes all whole pieces, with an engine.
fn write_pieces(
    target: &StorageTarget,
    data: &StorageData,
    (seed, whole, all): (u64, u64, u64),
    (stop, held): (&AtomicBool, &OpenTargets),
    on_progress: &mut dyn FnMut(u64, u64),
) -> Result<(), StorageError> {
    let mut done = 0;
    let mut on_interval = |entry: &assay_model::storage_outcome::IntervalTally| {
        done += entry.writes.bytes;
        on_progress(done, all);
    };
    let mut control =
        PhaseControl { stop, held, on_ready: None, on_interval: &mut on_interval };
    let workload = fill_workload(target, *data, seed, whole);
    let outcome = match run(&workload, &mut control) {
        // Uses the page cache if direct I/O is not supported.
        Err(StorageError::Direct { .. }) => {
            let buffered = StorageTarget { direct: false, ..target.clone() };
            run(&fill_workload(&buffered, *data, seed, whole), &mut control)?
        }
        other => other?,
    };
    if let Some(first) = outcome.errors.first() {
        return Err(layout_error(target, first.offset, &first.reason));
    }
    if outcome.ended == EndReason::Interrupted {
        Err(StorageError::Interrupted)
    } else {
        Ok(())
    }
}

/// Returns a workload of one sequential pass of writes over the first `bytes`.
fn fill_workload(
    target: &StorageTarget,
    data: StorageData,
    seed: u64,
    bytes: u64,
) -> StorageWorkload {
    let verify = if data.verify == Verify::Off { Verify::Off } else { Verify::OnRead };
    StorageWorkload {
        timing: StorageTiming { interval_s: 0.25, ..StorageTiming::new(None) },
        data: StorageData { verify, ..data },
        seed,
        ..StorageWorkload::new(
            vec![StorageTarget {
                range_bytes: Some((0, bytes)),
                align_bytes: None,
                sync: WriteSync::None,
                sync_at_end: false,
                opening: TargetOpening::default(),
                ..target.clone()
            }],
            vec![StorageStream {
                name: "layout".to_owned(),
                in_flight_per_target: DEPTH,
                ..StorageStream::new(
                    AccessPattern::Sequential {
                        cursor: Cursor::Shared,
                        at_end: AtEnd::Stop,
                        gap_bytes: 0,
                    },
                    WRITE_BYTES,
                    0.0,
                )
            }],
            None,
        )
    }
}

/// Writes the rest after the last whole piece, through the page cache.
fn write_rest(file: &File, from: u64, to: u64, contents: NewContents<'_>) -> io::Result<()> {
    // The rest is smaller than one piece.
    let mut memory = vec![0; (to - from) as usize];
    write_piece(file, &mut memory, from, contents)
}

/// Writes one piece of new contents.
fn write_piece(
    file: &File,
    memory: &mut [u8],
    from: u64,
    contents: NewContents<'_>,
) -> io::Result<()> {
    let NewContents { target, data, seed } = contents;
    if let Some(seed) = target.data_seed {
        address_content::fill(memory, from, seed, false);
        return file.write_all_at(memory, from);
    }
    match &target.duplicates {
        Some(duplicates) => {
            content::fill_blocks(memory, from, data.compressible, duplicates, (seed, 0));
        }
        None => content::fill(memory, data.compressible, seed ^ from),
    }
    if data.verify != Verify::Off {
        content::stamp_sectors(memory, from, 0);
    }
    file.write_all_at(memory, from)
}

/// Reserves space for the whole file at once, so that it is contiguous. If the file system does not
/// support that, space is allocated as the file grows.
fn reserve(file: &File, size_bytes: u64, mode: libc::c_int) -> io::Result<()> {
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    // SAFETY: the call takes numbers only.
    let result =
        unsafe { libc::fallocate(file.as_raw_fd(), mode, 0, size_bytes as libc::off_t) };
    if result == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

/// Drops the file from the page cache, so that a buffered phase begins with device reads.
fn drop_from_cache(file: &File) {
    // SAFETY: the call takes numbers only. It is advice; a refusal affects no measurement without
    // the cache.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

fn layout_error(target: &StorageTarget, offset: u64, reason: &str) -> StorageError {
    let path: PathBuf = target.path.clone();
    StorageError::LayOut { path, offset, reason: reason.to_owned() }
}
