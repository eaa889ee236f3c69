//! Open targets: descriptors, size, and the granule that direct I/O requires.
//!
//! Does not check whether a target may be written: the caller has checked that.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use assay_model::workload::storage::{ExpectedOrder, FileCall, StorageTarget, WriteSync};

use crate::mapping::{Mapping, PageAdvice};

use super::content::SECTOR_BYTES;
use super::engine::{FileCaller, FileIdentity, MappedFile, TargetDescriptors};
use super::error::StorageError;
use super::hard_links;
use super::offset_pattern::ByteRange;
use super::positioned_io::{self, AttributeRefresh};

/// Access that a target is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TargetAccess {
    /// Whether a stream reads it.
    pub(super) read: bool,
    /// Whether a stream writes it.
    pub(super) write: bool,
    /// Whether a stream copies to and from a mapping of it.
    pub(super) map: bool,
}

/// Access of a check.
const READ_ONLY: TargetAccess = TargetAccess { read: true, write: false, map: false };

/// Open target. A target of the null engine has no file.
#[derive(Debug)]
pub(super) struct OpenedTarget {
    files: Option<(File, Option<File>)>,
    /// Mapping for the streams that copy, which are its only users.
    mapping: Option<Arc<MappedFile>>,
    /// Call of the streams that make one instead of I/O.
    caller: Option<Arc<FileCaller>>,
    /// Used part of the target.
    pub(super) area: ByteRange,
    /// Divisor of all offsets and lengths of I/O, in bytes; 1 with the page cache.
    pub(super) granule: u64,
    /// Whether `io_uring` may fall back to kernel threads, because the target does not report that
    /// an I/O would block.
    pub(super) may_fall_back: bool,
    /// Whether the target is on another host.
    pub(super) is_remote: bool,
}

impl OpenedTarget {
    /// Creates a target of the null engine: an address range.
    pub(super) fn without_file(target: &StorageTarget) -> Result<Self, StorageError> {
        Self::for_future_file(target, 1)
    }

    /// Creates a target with the expected granule, for a file that does not have its size yet.
    pub(super) fn for_future_file(
        target: &StorageTarget,
        granule: u64,
    ) -> Result<Self, StorageError> {
        let area = used_area(target, target.size_bytes.unwrap_or(0))?;
        Ok(Self {
            files: None,
            mapping: None,
            caller: None,
            area,
            granule,
            may_fall_back: false,
            is_remote: false,
        })
    }

    /// Creates a target whose name is passed to a call, and which is not opened. A deletion deletes
    /// only the `known` file.
    pub(super) fn for_call(
        target: &StorageTarget,
        call: FileCall,
        known: Option<FileIdentity>,
    ) -> Result<Self, StorageError> {
        let failed = |source| StorageError::Open { path: target.path.clone(), source };
        let end = target.range_bytes.map_or(0, |(_, end)| end);
        let area = used_area(target, target.size_bytes.unwrap_or(end))?;
        let caller = FileCaller::new(&target.path, call, known).map_err(failed)?;
        Ok(Self {
            files: None,
            mapping: None,
            caller: Some(Arc::new(caller)),
            area,
            granule: 1,
            may_fall_back: false,
            is_remote: false,
        })
    }

    /// Opens a target at `path`: its own path, or the path of an open descriptor.
    pub(super) fn open(
        target: &StorageTarget,
        path: &Path,
        access: TargetAccess,
    ) -> Result<Self, StorageError> {
        let failed = |source| StorageError::Open { path: target.path.clone(), source };
        let is_nfs = file_system_magic(path) == Some(NFS);
        // NFS serves read-only descriptors without falling back (since Linux 7.1), and no others.
        // A mapping needs one for both.
        let needs_two_files = is_nfs && access.read && access.write && !access.map;
        let read_only = TargetAccess { write: false, ..access };
        let first = open_file(target, path, if needs_two_files { read_only } else { access })?;
        let second = match needs_two_files {
            true => Some(open_file(target, path, TargetAccess { read: false, ..access })?),
            false => None,
        };
        let size_bytes = (&first).seek(SeekFrom::End(0)).map_err(failed)?;
        let granule = if target.direct { direct_granule(&first).map_err(failed)? } else { 1 };
        let area = used_area(target, target.size_bytes.unwrap_or(size_bytes))?;
        for file in std::iter::once(&first).chain(&second) {
            prepare_file(file, target, area).map_err(failed)?;
        }
        if target.opening.pre_reads && !target.direct {
            read_into_cache(path, area).map_err(failed)?;
        }
        let mapping = match access.map {
            true => Some(Arc::new(MappedFile::new(&first).map_err(failed)?)),
            false => None,
        };
        let may_fall_back =
            (is_nfs && access.write) || !supports_nowait(path, granule, size_bytes);
        Ok(Self {
            files: Some((first, second)),
            mapping,
            caller: None,
            area,
            granule,
            may_fall_back,
            is_remote: is_nfs,
        })
    }

    /// Drops the used part from the page cache. Dirty pages stay.
    #[cold]
    pub(super) fn drop_cache(&self) {
        // The cache keeps pages that are mapped.
        if let Some(mapping) = &self.mapping {
            mapping.unmap_pages();
        }
        if let Some((first, _)) = &self.files {
            // A refusal leaves the cache unchanged, as in fio.
            let _ = drop_clean_pages(first, self.area);
        }
    }

    /// Returns the mapping, if a stream copies to and from it.
    pub(super) fn mapping(&self) -> Option<Arc<MappedFile>> {
        self.mapping.clone()
    }

    /// Returns the call that is made on its name.
    pub(super) fn caller(&self) -> Option<Arc<FileCaller>> {
        self.caller.clone()
    }

    /// Returns the descriptors for an engine.
    pub(super) fn descriptors(&self) -> TargetDescriptors {
        let Some((first, second)) = &self.files else {
            return TargetDescriptors { read: -1, write: -1 };
        };
        TargetDescriptors {
            read: first.as_raw_fd(),
            write: second.as_ref().unwrap_or(first).as_raw_fd(),
        }
    }

    /// Reads one sector with the alignment that direct I/O requires. `None` if the target is not
    /// open for reading or is shorter.
    pub(super) fn read_sector(&self, offset: u64) -> Option<[u8; SECTOR_BYTES]> {
        let (file, _) = self.files.as_ref()?;
        let granule = self.granule.max(SECTOR_BYTES as u64);
        let start = offset / granule * granule;
        let mut memory = Mapping::new(granule as usize, PageAdvice::Default).ok()?;
        let block = memory.as_mut_slice::<u8>();
        file.read_exact_at(block, start).ok()?;
        let from = (offset - start) as usize;
        block.get(from..from + SECTOR_BYTES)?.try_into().ok()
    }

    /// Waits until all data written to the file system of the target is on stable storage.
    pub(super) fn sync_file_system(&self) -> io::Result<()> {
        let Some((file, _)) = &self.files else { return Ok(()) };
        // SAFETY: the call takes the descriptor of an open file.
        if unsafe { libc::syncfs(file.as_raw_fd()) } == 0 {
            return Ok(());
        }
        Err(io::Error::last_os_error())
    }

    /// Waits until all written data is on stable storage.
    pub(super) fn sync(&self) -> io::Result<()> {
        match &self.files {
            Some((first, second)) => second.as_ref().unwrap_or(first).sync_all(),
            None => Ok(()),
        }
    }
}

/// Prepares a target before its first I/O.
fn prepare_file(file: &File, target: &StorageTarget, area: ByteRange) -> io::Result<()> {
    if target.opening.drops_cache {
        drop_clean_pages(file, area)?;
    }
    let advice = match target.opening.expects {
        None => return Ok(()),
        Some(ExpectedOrder::Random) => libc::POSIX_FADV_RANDOM,
        Some(ExpectedOrder::Sequential) => libc::POSIX_FADV_SEQUENTIAL,
    };
    advise(file, area, advice);
    Ok(())
}

/// Reads an area of a file into the page cache.
fn read_into_cache(path: &Path, area: ByteRange) -> io::Result<()> {
    const PART_BYTES: u64 = 1 << 20;
    let file = File::open(path)?;
    let mut memory = vec![0; PART_BYTES as usize];
    let mut at = area.start;
    while at < area.end {
        let bytes = PART_BYTES.min(area.end - at);
        let read = file.read_at(&mut memory[..bytes as usize], at)?;
        if read == 0 {
            // The rest is not written yet.
            return Ok(());
        }
        at += read as u64;
    }
    Ok(())
}

/// Drops clean pages from the cache: those of the area for a file, all for a device, which needs
/// privileges.
fn drop_clean_pages(file: &File, area: ByteRange) -> io::Result<()> {
    /// `_IO(0x12, 97)` of `linux/fs.h`: writes back and drops the cache of a block device.
    const BLKFLSBUF: libc::Ioctl = 0x1261;
    if !file.metadata()?.file_type().is_block_device() {
        advise(file, area, libc::POSIX_FADV_DONTNEED);
        return Ok(());
    }
    // SAFETY: the request takes no argument.
    if unsafe { libc::ioctl(file.as_raw_fd(), BLKFLSBUF, 0) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // A user without privileges gets no error, as in fio.
        Some(libc::EACCES | libc::EPERM) => Ok(()),
        _ => Err(error),
    }
}

/// Gives advice about an area; file systems without support for it ignore it.
fn advise(file: &File, area: ByteRange, advice: libc::c_int) {
    let (from, bytes) = (area.start as libc::off_t, (area.end - area.start) as libc::off_t);
    // SAFETY: the call takes numbers only.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), from, bytes, advice) };
}

fn used_area(target: &StorageTarget, size_bytes: u64) -> Result<ByteRange, StorageError> {
    if size_bytes == 0 {
        return Err(StorageError::NoSize { path: target.path.clone() });
    }
    let (start, end) = target.range_bytes.unwrap_or((0, size_bytes));
    let area = ByteRange { start, end: end.min(size_bytes) };
    if area.start >= area.end {
        let what = format!(
            "{}: the range from byte {start} to {end} is outside its {size_bytes} B",
            target.path.display()
        );
        return Err(StorageError::Workload { what });
    }
    Ok(area)
}

fn open_file(
    target: &StorageTarget,
    path_to_open: &Path,
    access: TargetAccess,
) -> Result<File, StorageError> {
    let sync = match target.sync {
        WriteSync::None => 0,
        WriteSync::Data => libc::O_DSYNC,
        WriteSync::All => libc::O_SYNC,
    };
    let direct = if target.direct { libc::O_DIRECT } else { 0 };
    let mut options = OpenOptions::new();
    options.read(access.read).write(access.write).custom_flags(direct | sync);
    let is_device = std::fs::metadata(path_to_open).is_ok_and(|data| {
        data.file_type().is_block_device() || data.file_type().is_char_device()
    });
    options.create(access.write && !is_device).mode(0o644);
    // O_NOATIME saves the kernel's check of the access time at each read (zram, 4 KiB: 2.35 µs
    // instead of 2.50 µs). Only the file's owner may request it.
    let mut without_access_time = options.clone();
    without_access_time.custom_flags(direct | sync | libc::O_NOATIME);
    let is_refused = |error: &io::Error| error.raw_os_error() == Some(libc::EPERM);
    let opened = match without_access_time.open(path_to_open) {
        Err(error) if is_refused(&error) => options.open(path_to_open),
        other => other,
    };
    let file = opened.map_err(|source| {
        let path = target.path.clone();
        if target.direct && source.raw_os_error() == Some(libc::EINVAL) {
            StorageError::Direct { path, source }
        } else {
            StorageError::Open { path, source }
        }
    })?;
    if access.write {
        hard_links::refuse(&file, &target.path)?;
    }
    Ok(file)
}

/// Returns the granule of direct I/O for the target; `None` if it cannot be determined now.
pub(super) fn find_granule(target: &StorageTarget) -> Result<Option<u64>, StorageError> {
    match open_file(target, &target.path, READ_ONLY) {
        Ok(file) => Ok(direct_granule(&file).ok()),
        Err(error @ StorageError::Direct { .. }) => Err(error),
        Err(StorageError::Open { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            granule_in_folder(target)
        }
        Err(_) => Ok(None),
    }
}

/// Determines the granule for a missing file from an unnamed one in its folder, which disappears
/// when it is closed. `None` if the file system does not support such files (open(2), `O_TMPFILE`).
fn granule_in_folder(target: &StorageTarget) -> Result<Option<u64>, StorageError> {
    let folder = target.path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let open_unnamed = |flags| {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600).custom_flags(libc::O_TMPFILE | flags);
        options.open(folder.unwrap_or(Path::new(".")))
    };
    match open_unnamed(libc::O_DIRECT) {
        Ok(file) => Ok(direct_granule(&file).ok()),
        Err(source)
            if source.raw_os_error() == Some(libc::EINVAL) && open_unnamed(0).is_ok() =>
        {
            Err(StorageError::Direct { path: target.path.clone(), source })
        }
        Err(_) => Ok(None),
    }
}

/// Returns the granule of direct I/O: from `statx` since Linux 6.1, otherwise the logical block of
/// a device, otherwise 4096 B, which every current device accepts.
fn direct_granule(file: &File) -> io::Result<u64> {
    const SAFE: u64 = 4096;
    let stats = positioned_io::statx(
        file.as_raw_fd(),
        libc::STATX_DIOALIGN,
        AttributeRefresh::AsUsual,
    )?;
    if stats.stx_mask & libc::STATX_DIOALIGN != 0 && stats.stx_dio_offset_align > 0 {
        return Ok(u64::from(stats.stx_dio_offset_align));
    }
    let mut sector: libc::c_int = 0;
    // SAFETY: the request writes one `int` to the pointer, or fails for a file that is not a block
    // device.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::BLKSSZGET, &raw mut sector) };
    Ok(u64::try_from(sector).ok().filter(|&bytes| result == 0 && bytes > 0).unwrap_or(SAFE))
}

/// Returns whether the target supports `RWF_NOWAIT`; true if it cannot be tested. `io_uring` tries
/// every I/O with it first, and falls back to a kernel thread if it is not supported.
fn supports_nowait(path: &Path, granule: u64, size_bytes: u64) -> bool {
    let mut options = OpenOptions::new();
    let direct = if granule > 1 { libc::O_DIRECT } else { 0 };
    let Ok(file) = options.read(true).custom_flags(direct).open(path) else { return true };
    let bytes = granule.max(SECTOR_BYTES as u64) as usize;
    let Ok(memory) = Mapping::new(bytes, PageAdvice::Default) else { return true };
    let part = libc::iovec { iov_base: memory.as_ptr().cast(), iov_len: bytes };
    // A read within the file would start read-ahead into the page cache, from which the first I/O
    // would be served.
    let offset = if granule > 1 { 0 } else { size_bytes as libc::off_t };
    let (descriptor, flags) = (file.as_raw_fd(), libc::RWF_NOWAIT);
    // SAFETY: `part` refers to memory of ours that nothing else uses during the call.
    let result = unsafe { positioned_io::preadv2(descriptor, &part, offset, flags) };
    result >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EOPNOTSUPP)
}

/// Magic number of NFS (`linux/magic.h`).
const NFS: i64 = 0x6969;

fn file_system_magic(path: &Path) -> Option<i64> {
    use std::os::unix::ffi::OsStrExt;
    // A missing file will be on the file system of its folder.
    let path = if path.exists() { path } else { path.parent()? };
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut stats = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path is terminated, `stats` is writable, and all-zero bytes are a valid `statfs`.
    let stats = unsafe {
        if libc::statfs(path.as_ptr(), stats.as_mut_ptr()) != 0 {
            return None;
        }
        stats.assume_init()
    };
    #[expect(clippy::allow_attributes, reason = "the width differs between architectures")]
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    Some(stats.f_type as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the pages of the file in the page cache.
    fn cached_pages(file: &File, bytes: usize) -> usize {
        let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping of a file that is open; nothing is read through it.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, read, shared, file.as_raw_fd(), 0)
        };
        assert_ne!(start, libc::MAP_FAILED);
        let mut pages = vec![0u8; bytes.div_ceil(4096)];
        // SAFETY: the mapping has `bytes` bytes, and there is a byte for each of its pages.
        let result = unsafe { libc::mincore(start, bytes, pages.as_mut_ptr()) };
        assert_eq!(result, 0);
        // SAFETY: the mapping made above, which is not used any more.
        unsafe { libc::munmap(start, bytes) };
        pages.iter().filter(|page| **page & 1 == 1).count()
    }

    #[test]
    fn nowait_check_leaves_nothing_in_the_cache() {
        const BYTES: usize = 1 << 20;
        let path = std::env::temp_dir().join(format!("assay-question-{}", std::process::id()));
        std::fs::write(&path, vec![1; BYTES]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        advise(&file, ByteRange { start: 0, end: BYTES as u64 }, libc::POSIX_FADV_DONTNEED);
        let before = cached_pages(&file, BYTES);
        supports_nowait(&path, 1, BYTES as u64);
        // Read-ahead, if started, runs in the background.
        std::thread::sleep(std::time::Duration::from_millis(100));
        let after = cached_pages(&file, BYTES);
        std::fs::remove_file(&path).unwrap();
        if before > 0 {
            eprintln!(
                "SKIPPED nowait_check_leaves_nothing_in_the_cache: its cache cannot be dropped"
            );
            return;
        }
        assert_eq!(after, 0);
    }
}
