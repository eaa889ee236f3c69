//! State shared by all workers of a phase: targets, remaining work, and the end.
//!
//! All mutable state is atomic; nothing here ever waits.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use assay_model::workload::storage::{AccessPattern, StorageWorkload, Verify};

use super::balance::Balance;
use super::content::{self, Expected};
use super::generations::Generations;
use super::target::Opened;

/// Number of failures after which a target is given up: it will not recover, and the others need
/// the time.
const GIVEN_UP_AFTER: u32 = 100;

/// State shared by all workers.
#[derive(Debug)]
pub(super) struct Phase<'a> {
    /// Workload of the phase.
    pub(super) workload: &'a StorageWorkload,
    /// Targets in the workload's order.
    pub(super) targets: Vec<Target<'a>>,
    /// Time after which no I/O starts; moved forward to end the phase early.
    pub(super) end_ns: AtomicU64,
    /// Whether I/O that completes after the end counts, because the `fsync` at the end is measured.
    pub(super) late_counts: bool,
    /// Remaining bytes, of the phase and of each stream.
    phase_left: Option<AtomicU64>,
    stream_left: Vec<Option<AtomicU64>>,
    /// Balance between the streams' shares; `None` = no shares to keep.
    pub(super) balance: Option<Balance>,
}

/// Target, as shared by all workers.
#[derive(Debug)]
pub(super) struct Target<'a> {
    /// Descriptors of the target.
    pub(super) opened: &'a Opened,
    /// Verification state of its blocks, if they are verified.
    pub(super) generations: Option<Generations>,
    failures: AtomicU32,
}

impl Target<'_> {
    /// Returns whether the target failed too often.
    #[inline]
    pub(super) fn is_given_up(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= GIVEN_UP_AFTER
    }

    /// Records that the kernel refused an I/O.
    pub(super) fn note_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Claims the blocks of an I/O, if they are verified.
    #[inline]
    pub(super) fn claim(&self, offset: u64, bytes: u64) -> bool {
        self.generations.as_ref().is_none_or(|all| all.claim(offset, bytes))
    }

    /// Releases the blocks of an I/O.
    #[inline]
    pub(super) fn release(&self, offset: u64, bytes: u64) {
        if let Some(all) = &self.generations {
            all.release(offset, bytes);
        }
    }
}

impl<'a> Phase<'a> {
    /// Creates the state of a phase that has not begun.
    pub(super) fn new(workload: &'a StorageWorkload, opened: &'a [Opened], mark: u64) -> Self {
        let verified = |(index, opened): (usize, &'a Opened)| Target {
            opened,
            generations: (workload.data.verify != Verify::Off).then(|| {
                let bytes = block_bytes(workload, index, opened.area.start);
                Generations::new(opened.area, bytes, mark, before(opened))
            }),
            failures: AtomicU32::new(0),
        };
        Self {
            workload,
            targets: opened.iter().enumerate().map(verified).collect(),
            end_ns: AtomicU64::new(u64::MAX),
            late_counts: workload.targets.iter().any(|target| target.sync_at_end),
            phase_left: workload.timing.stop_after_bytes.map(AtomicU64::new),
            stream_left: workload
                .streams
                .iter()
                .map(|stream| stream.stop_after_bytes.map(AtomicU64::new))
                .collect(),
            balance: Balance::of(workload),
        }
    }

    /// Subtracts `bytes` from the remaining bytes of stream and phase; returns false if none remain
    /// in one of them. The last I/O may exceed the limit by less than its own size.
    #[inline]
    pub(super) fn charge(&self, stream: usize, bytes: u64) -> bool {
        let take = |left: &Option<AtomicU64>| {
            left.as_ref().is_none_or(|left| {
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                    (left > 0).then(|| left.saturating_sub(bytes))
                })
                .is_ok()
            })
        };
        take(&self.stream_left[stream]) && take(&self.phase_left)
    }

    /// Ends the phase at `ns`, unless it ends earlier.
    pub(super) fn end_at(&self, ns: u64) {
        self.end_ns.fetch_min(ns, Ordering::Relaxed);
    }

    /// Returns whether every target has been given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.targets.iter().all(Target::is_given_up)
    }
}

/// Returns the largest block size that divides all offsets and lengths of I/O to a target, whose
/// used part begins at `start`.
pub(super) fn block_bytes(workload: &StorageWorkload, index: usize, start: u64) -> u64 {
    let mut block_bytes = workload.targets[index].align_bytes.unwrap_or(0);
    for stream in workload.streams.iter().filter(|stream| stream.targets.contains(&index)) {
        for size in stream.every_size() {
            block_bytes = divisor(block_bytes, size.min_bytes);
            if size.max_bytes > size.min_bytes {
                block_bytes = divisor(block_bytes, size.step_bytes);
            }
        }
        block_bytes = divisor(block_bytes, stream.hit_area.map_or(0, |hit| hit.bytes));
        if let AccessPattern::Sequential { gap_bytes, .. } = stream.pattern {
            block_bytes = divisor(block_bytes, gap_bytes);
        }
        if let AccessPattern::Blocks { stride_bytes: stride, .. }
        | AccessPattern::Strides { least_bytes: stride, .. } = stream.pattern
        {
            block_bytes = divisor(block_bytes, stride);
        }
    }
    // Random offsets are multiples of the size from the start of the target, not of the area.
    divisor(block_bytes, start)
}

/// Returns the greatest common divisor; that of 0 and a number is the number.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Determines whether a target was stamped throughout before this phase: of 64 sectors over all of
/// its area, at least 61 have a stamp. The others may be damaged, which verification then finds.
fn before(opened: &Opened) -> Expected {
    const PLACES: u64 = 64;
    const ENOUGH: usize = 61;
    let area = opened.area;
    let sectors = (area.end - area.start) / content::SECTOR_BYTES as u64;
    let stamped = (0..PLACES).filter(|nth| {
        let sector = sectors.saturating_sub(1) * nth / (PLACES - 1);
        let offset = area.start + sector * content::SECTOR_BYTES as u64;
        opened.sector(offset).is_some_and(|sector| content::is_stamped(&sector, offset))
    });
    if stamped.count() >= ENOUGH { Expected::Stamped } else { Expected::Unknown }
}
