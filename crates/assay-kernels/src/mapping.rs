//! Memory for kernels: anonymous, private and page aligned. A kernel's own thread touches it first,
//! so that the system places each page near the thread that uses it.
//!
//! Huge pages are requested, and the number granted is reported. `MAP_HUGETLB` is never tried,
//! because its pool belongs to the administrator. A guard page at each end catches overruns. It
//! also keeps the kernel from merging neighbouring mappings, whose pages could then not be
//! distinguished.

use std::io;
use std::ptr::{self, NonNull};
use std::slice;

/// Alignment of guard pages and small mappings: at least the base page everywhere (4 KiB on x86-64;
/// 4, 16 or 64 KiB on `aarch64`).
const GUARD_BYTES: usize = 64 << 10;
/// Size of a transparent huge page with 4 KiB base pages.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Kind of pages to request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageAdvice {
    /// The system's default; with `transparent_hugepage` at `always` that can be huge pages.
    Default,
    /// Transparent huge pages by `madvise`; the mapping is then aligned and rounded up to 2 MiB.
    Huge,
}

impl PageAdvice {
    /// Returns the advice for a choice of huge pages.
    pub const fn from_huge_pages(huge_pages: bool) -> Self {
        if huge_pages { Self::Huge } else { Self::Default }
    }
}

/// Error of a mapping that could not be created.
#[derive(Debug, thiserror::Error)]
#[error("cannot map {bytes} B of memory")]
pub struct MapError {
    /// Bytes requested.
    pub bytes: usize,
    /// The system's reason.
    pub source: io::Error,
}

/// Element types that a mapping can be viewed as.
///
/// # Safety
/// Every bit pattern, all zeros included, must be a value of the type, and it must have no padding.
pub unsafe trait MappedElement: Copy + Send + Sync + 'static {}
// SAFETY: every bit pattern of these is a value, and they have no padding.
unsafe impl MappedElement for u8 {}
// SAFETY: as above.
unsafe impl MappedElement for u32 {}
// SAFETY: as above.
unsafe impl MappedElement for u64 {}
// SAFETY: as above.
unsafe impl MappedElement for usize {}
// SAFETY: as above.
unsafe impl MappedElement for f32 {}
// SAFETY: as above.
unsafe impl MappedElement for f64 {}

/// Owned, zero-filled memory. Unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len_bytes: usize,
    /// Kept for its drop, which unmaps everything, guard pages included.
    _reserved: Reserved,
}

// SAFETY: a mapping owns its memory as a `Vec<u8>` does; sharing follows `&` and `&mut`.
unsafe impl Send for Mapping {}
// SAFETY: as above; through `&Mapping` memory is only read by safe code.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len_bytes` bytes (at least one) without touching them. The start is aligned to 64 KiB,
    /// or to 2 MiB with [`PageAdvice::Huge`]. A system that refuses the advice still provides the
    /// memory: call [`Mapping::huge_bytes`] after the first touch.
    ///
    /// # Errors
    /// [`MapError`] when `len_bytes` is 0 or the system does not promise that much memory.
    pub fn new(len_bytes: usize, advice: PageAdvice) -> Result<Self, MapError> {
        let failed = |source| MapError { bytes: len_bytes, source };
        let invalid = || failed(io::Error::from(io::ErrorKind::InvalidInput));
        let too_large = || failed(io::Error::from_raw_os_error(libc::ENOMEM));
        if len_bytes == 0 {
            return Err(invalid());
        }
        let alignment = match advice {
            PageAdvice::Default => GUARD_BYTES,
            PageAdvice::Huge => HUGE_PAGE_BYTES,
        };
        let usable = len_bytes.checked_next_multiple_of(alignment).ok_or_else(too_large)?;
        let total = usable.checked_add(alignment + 2 * GUARD_BYTES).ok_or_else(too_large)?;
        let reserved = Reserved::new(total).map_err(failed)?;
        let base = reserved.first_aligned(GUARD_BYTES, alignment);
        make_accessible(base, usable, advice).map_err(failed)?;
        Ok(Self { base, len_bytes, _reserved: reserved })
    }

    /// Bytes requested.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Returns a pointer to the first byte, for kernels that give disjoint parts to several threads
    /// themselves. Valid for reads and writes of [`Mapping::len_bytes`] bytes while the mapping
    /// lives; the caller must prevent data races.
    pub fn as_ptr(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Returns the memory as elements; a remainder smaller than one element is left out.
    pub fn as_slice<T: MappedElement>(&self) -> &[T] {
        // SAFETY: the base is aligned to 64 KiB, more than any element; the length is within the
        // mapping; the memory is zero-filled or written as elements, and `MappedElement` allows any
        // bits; no thread writes while `&self` is borrowed, except through `as_ptr`, whose
        // documentation requires the caller to prevent data races.
        unsafe {
            slice::from_raw_parts(self.base.as_ptr().cast(), self.len_bytes / size_of::<T>())
        }
    }

    /// Returns the memory as mutable elements; use `split_at_mut` and the like to give parts to
    /// threads.
    pub fn as_mut_slice<T: MappedElement>(&mut self) -> &mut [T] {
        let len = self.len_bytes / size_of::<T>();
        // SAFETY: as for `as_slice`; `&mut self` makes this the only view.
        unsafe { slice::from_raw_parts_mut(self.base.as_ptr().cast(), len) }
    }

    /// Returns the bytes of this mapping that are in huge pages now, at most
    /// [`Mapping::len_bytes`]. Only touched pages count, so call it after the first touch.
    ///
    /// # Errors
    /// `/proc/self/smaps` cannot be read.
    pub fn huge_bytes(&self) -> io::Result<usize> {
        let smaps = std::fs::read_to_string("/proc/self/smaps")?;
        let start = self.base.as_ptr() as usize;
        Ok(anonymous_huge_bytes(&smaps, start, start + self.len_bytes).min(self.len_bytes))
    }
}

/// Makes `usable` bytes from `base` readable and writable and applies the advice.
fn make_accessible(base: NonNull<u8>, usable: usize, advice: PageAdvice) -> io::Result<()> {
    // SAFETY: the range is inside our own reservation, at page boundaries, and not in use yet.
    let result = unsafe {
        libc::mprotect(base.as_ptr().cast(), usable, libc::PROT_READ | libc::PROT_WRITE)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    if advice == PageAdvice::Huge {
        // SAFETY: the same range; this advice changes no contents. A refusal (a kernel without huge
        // pages) is not an error: `huge_bytes` reports the pages that were granted.
        unsafe { libc::madvise(base.as_ptr().cast(), usable, libc::MADV_HUGEPAGE) };
    }
    Ok(())
}

/// Address space without access rights, from which a mapping takes its aligned middle.
#[derive(Debug)]
struct Reserved {
    start: NonNull<u8>,
    len_bytes: usize,
}

impl Reserved {
    fn new(len_bytes: usize) -> io::Result<Self> {
        // SAFETY: a new anonymous mapping at an address of the system's choice touches nothing of ours.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len_bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, len_bytes })
    }

    /// Returns the first aligned address at least `skip` bytes after the start.
    fn first_aligned(&self, skip: usize, alignment: usize) -> NonNull<u8> {
        let address = self.start.as_ptr() as usize;
        let offset = (address + skip).next_multiple_of(alignment) - address;
        // SAFETY: the caller reserved `skip + alignment` bytes more than it uses after this address.
        unsafe { self.start.add(offset) }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the range is the one `mmap` gave, and nothing can refer to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len_bytes) };
    }
}

/// Returns the sum of `AnonHugePages` over the areas of `smaps` that overlap `[start, end)`, in
/// bytes.
fn anonymous_huge_bytes(smaps: &str, start: usize, end: usize) -> usize {
    let mut inside = false;
    let mut sum = 0;
    for line in smaps.lines() {
        if let Some((area_start, area_end)) = parse_area(line) {
            inside = area_start < end && start < area_end;
        } else if inside && let Some(value) = line.strip_prefix("AnonHugePages:") {
            sum += parse_kibibytes(value).unwrap_or(0) * 1024;
        }
    }
    sum
}

/// Parses the address range of an area's first line, such as `7f12-7f34 rw-p …`.
fn parse_area(line: &str) -> Option<(usize, usize)> {
    let (start, rest) = line.split_once('-')?;
    let (end, _) = rest.split_once(' ')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

/// Parses a value such as ` 2048 kB`; the kernel's `kB` are KiB.
fn parse_kibibytes(value: &str) -> Option<usize> {
    value.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_zero_and_writable_to_its_end() {
        for (len_bytes, advice, alignment) in [
            (1, PageAdvice::Default, GUARD_BYTES),
            (GUARD_BYTES, PageAdvice::Default, GUARD_BYTES),
            (GUARD_BYTES + 1, PageAdvice::Default, GUARD_BYTES),
            (1, PageAdvice::Huge, HUGE_PAGE_BYTES),
            (HUGE_PAGE_BYTES + 4096, PageAdvice::Huge, HUGE_PAGE_BYTES),
        ] {
            let mut mapping = Mapping::new(len_bytes, advice).unwrap();
            assert_eq!(mapping.as_ptr() as usize % alignment, 0);
            assert_eq!(mapping.len_bytes(), len_bytes);
            assert!(mapping.as_slice::<u8>().iter().all(|&byte| byte == 0));
            mapping.as_mut_slice::<u8>().fill(7);
            assert_eq!(
                mapping.as_slice::<u8>().iter().map(|&b| usize::from(b)).sum::<usize>(),
                { 7 * len_bytes }
            );
            assert_eq!(mapping.as_slice::<f64>().len(), len_bytes / 8);
        }
    }

    #[test]
    fn rejects_impossible_sizes() {
        for bytes in [0, 1 << 60, usize::MAX] {
            let error = Mapping::new(bytes, PageAdvice::Default).unwrap_err();
            assert_eq!(error.bytes, bytes);
            assert!(error.to_string().contains(&bytes.to_string()));
        }
    }

    #[test]
    fn huge_pages_are_counted_after_the_first_touch_only() {
        let mut mapping = Mapping::new(3 * HUGE_PAGE_BYTES + 4096, PageAdvice::Huge).unwrap();
        assert_eq!(mapping.huge_bytes().unwrap(), 0);
        mapping.as_mut_slice::<u8>().fill(1);
        assert!(mapping.huge_bytes().unwrap() <= mapping.len_bytes());
    }

    #[test]
    fn sums_huge_pages_of_overlapping_areas() {
        let smaps = "1000-2000 rw-p 00000000 00:00 0 \nAnonHugePages:      2048 kB\nVmFlags: rd\n\
                     2000-4000 rw-p 00000000 00:00 0 \nAnonHugePages:         4 kB\n\
                     7fff-8fff r--p 00000000 00:00 0   [heap]\nAnonHugePages:         8 kB\n";
        for (start, end, bytes) in [
            (0x1000, 0x2000, 2048 * 1024),
            (0x1fff, 0x2001, 2052 * 1024),
            (0x4000, 0x7fff, 0),
            (0x8000, 0x8001, 8 * 1024),
            (0, 0x1000, 0),
        ] {
            assert_eq!(anonymous_huge_bytes(smaps, start, end), bytes, "{start:x}-{end:x}");
        }
    }
}
