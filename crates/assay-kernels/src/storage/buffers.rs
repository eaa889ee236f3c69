//! I/O memory of one worker: a part per slot, aligned for direct I/O, touched before the start.
//!
//! Read and write parts are separate, so that data read never becomes data written.

use assay_model::workload::storage::WriteContent;

use crate::mapping::{MapError, Mapping, PageAdvice};

use super::content;

/// Alignment of parts: the page, which satisfies every device's memory alignment.
const ALIGNMENT_BYTES: usize = 4096;
/// Minimum size of a slab for huge pages.
const MIN_HUGE_BYTES: usize = 2 << 20;

/// Requirements of a worker's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct BufferSpec<'a> {
    /// Parts for each direction.
    pub(super) slots: u32,
    /// Size of the largest I/O.
    pub(super) bytes: u64,
    /// Whether data is read.
    pub(super) reads: bool,
    /// Compressible share of the data written; `None` = nothing is written.
    pub(super) writes: Option<f64>,
    /// Contents of the data, if they are not unique numbers.
    pub(super) content: Option<&'a WriteContent>,
    /// Seed of the data.
    pub(super) seed: u64,
    /// Whether large buffers use huge pages.
    pub(super) huge: bool,
}

/// Read and write memory of a worker.
#[derive(Debug)]
pub(super) struct IoBuffers {
    slab: Mapping,
    stride: usize,
    /// Offset of the first write part.
    write_offset: usize,
}

impl IoBuffers {
    /// Maps, touches and fills the memory.
    pub(super) fn new(need: BufferSpec<'_>) -> Result<Self, MapError> {
        let stride = (need.bytes as usize).next_multiple_of(ALIGNMENT_BYTES);
        let half = stride * need.slots as usize;
        let writes_at = if need.reads { half } else { 0 };
        let all = writes_at + if need.writes.is_some() { half } else { 0 };
        let advice = if need.huge && all >= MIN_HUGE_BYTES {
            PageAdvice::Huge
        } else {
            PageAdvice::Default
        };
        let mut slab = Mapping::new(all.max(ALIGNMENT_BYTES), advice)?;
        let memory = slab.as_mut_slice::<u8>();
        memory.iter_mut().step_by(ALIGNMENT_BYTES).for_each(|byte| *byte = 0);
        if let Some(compressible) = need.writes {
            fill_parts(&mut memory[writes_at..], stride, compressible, need);
        }
        Ok(Self { slab, stride, write_offset: writes_at })
    }

    /// Returns start and length of all memory, for an engine.
    pub(super) fn slab(&self) -> (*mut u8, usize) {
        (self.slab.as_ptr(), self.slab.len_bytes())
    }

    /// Returns the address that slot `slot` reads to.
    #[inline]
    pub(super) fn read_part(&self, slot: u32) -> *mut u8 {
        self.slab.as_ptr().wrapping_add(slot as usize * self.stride)
    }

    /// Returns the address that slot `slot` writes from.
    #[inline]
    pub(super) fn write_part(&self, slot: u32) -> *mut u8 {
        self.slab.as_ptr().wrapping_add(self.write_offset + slot as usize * self.stride)
    }

    /// Returns the data that slot `slot` has read; the slot must not be in flight.
    pub(super) fn readable(&self, slot: u32, bytes: usize) -> &[u8] {
        assert!(bytes <= self.stride, "a part holds the maximum I/O");
        // SAFETY: the part is within the slab, is initialised, and no longer used by the kernel.
        unsafe { std::slice::from_raw_parts(self.read_part(slot), bytes) }
    }

    /// Returns the memory that slot `slot` will write; the slot must not be in flight.
    pub(super) fn writable(&mut self, slot: u32, bytes: usize) -> &mut [u8] {
        assert!(bytes <= self.stride, "a part holds the maximum I/O");
        // SAFETY: as for `readable`; `&mut self` excludes other views of this thread, and parts of
        // other slots, which the kernel may be reading, do not overlap.
        unsafe { std::slice::from_raw_parts_mut(self.write_part(slot), bytes) }
    }
}

/// Fills the write parts. Parts that may repeat one another begin with equal contents.
fn fill_parts(memory: &mut [u8], stride: usize, compressible: f64, need: BufferSpec<'_>) {
    let Some(content) = need.content else {
        return content::fill(memory, compressible, need.seed);
    };
    for part in memory.chunks_mut(stride) {
        match content.pattern.is_empty() {
            true => content::fill(part, compressible, need.seed),
            false => {
                content::fill_pattern(part, &content.pattern);
            }
        }
    }
}
