//! State shared by all workers of a phase: targets, remaining work, and the end.
//!
//! All mutable state is atomic; nothing here ever waits.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use assay_model::workload::storage::{
    AccessPattern, JobOrder, StorageStream, StorageWorkload, Verify,
};

use super::balance::ShareBalance;
use super::content::{self, ExpectedStamp};
use super::generations::BlockGenerations;
use super::target::OpenedTarget;

/// Number of failures after which a target is given up: it will not recover, and the others need
/// the time.
const MAX_TARGET_FAILURES: u32 = 100;

/// State shared by all workers.
#[derive(Debug)]
pub(super) struct PhaseState<'a> {
    /// Workload of the phase.
    pub(super) workload: &'a StorageWorkload,
    /// Targets in the workload's order.
    pub(super) targets: Vec<PhaseTarget<'a>>,
    /// Time after which no I/O starts; moved forward to end the phase early.
    pub(super) end_ns: AtomicU64,
    /// Whether I/O that completes after the end counts, because the `fsync` at the end is measured.
    pub(super) late_counts: bool,
    /// Remaining bytes, of the phase and of each stream.
    phase_left: Option<AtomicU64>,
    /// Bytes of the warm-up that streams have in common.
    pub(super) warm_up_bytes: AtomicU64,
    stream_left: Vec<Option<AtomicU64>>,
    /// Balance between the streams' shares; `None` = no shares to keep.
    pub(super) balance: Option<ShareBalance>,
}

/// Target, as shared by all workers.
#[derive(Debug)]
pub(super) struct PhaseTarget<'a> {
    /// Descriptors of the target.
    pub(super) opened: &'a OpenedTarget,
    /// Verification state of its blocks, if they are verified.
    pub(super) generations: Option<BlockGenerations>,
    failures: AtomicU32,
}

impl PhaseTarget<'_> {
    /// Returns whether the target failed too often.
    #[inline]
    pub(super) fn is_given_up(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= MAX_TARGET_FAILURES
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

impl<'a> PhaseState<'a> {
    /// Creates the state of a phase that has not begun.
    pub(super) fn new(
        workload: &'a StorageWorkload,
        opened: &'a [OpenedTarget],
        mark: u64,
    ) -> Self {
        let verified = |(index, opened): (usize, &'a OpenedTarget)| PhaseTarget {
            opened,
            generations: is_stamped(workload, index).then(|| {
                let bytes = block_bytes(workload, index, opened.area.start);
                let unwritten = match workload.data.verify {
                    Verify::Stamped => ExpectedStamp::Stamped,
                    Verify::Off | Verify::OnRead | Verify::AfterWrite => {
                        unwritten_stamp(opened)
                    }
                };
                BlockGenerations::new(opened.area, bytes, mark, unwritten)
            }),
            failures: AtomicU32::new(0),
        };
        Self {
            workload,
            targets: opened.iter().enumerate().map(verified).collect(),
            end_ns: AtomicU64::new(u64::MAX),
            late_counts: counts_late_io(workload),
            phase_left: workload.timing.stop_after_bytes.map(AtomicU64::new),
            warm_up_bytes: AtomicU64::new(0),
            stream_left: workload
                .streams
                .iter()
                .map(|stream| stream.stop_after_bytes.map(AtomicU64::new))
                .collect(),
            balance: ShareBalance::for_workload(workload),
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
    pub(super) fn end_no_later_than(&self, ns: u64) {
        self.end_ns.fetch_min(ns, Ordering::Relaxed);
    }

    /// Returns whether every target has been given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.targets.iter().all(PhaseTarget::is_given_up)
    }
}

/// Whether the data of a target is verified by stamps.
pub(super) fn is_stamped(workload: &StorageWorkload, target: usize) -> bool {
    workload.data.verify != Verify::Off && workload.targets[target].data_seed.is_none()
}

/// Returns the largest block size that divides all offsets and lengths of I/O to a target, whose
/// used part begins at `start`.
pub(super) fn block_bytes(workload: &StorageWorkload, index: usize, start: u64) -> u64 {
    let mut block_bytes = workload.targets[index].align_bytes.unwrap_or(0);
    for stream in workload.streams.iter().filter(|stream| stream.targets.contains(&index)) {
        for size in stream.all_sizes() {
            block_bytes = gcd(block_bytes, size.min_bytes);
            if size.max_bytes > size.min_bytes {
                block_bytes = gcd(block_bytes, size.step_bytes);
            }
        }
        block_bytes = gcd(block_bytes, stream.hit_area.map_or(0, |hit| hit.bytes));
        if let AccessPattern::Sequential { gap_bytes, .. } = stream.pattern {
            block_bytes = gcd(block_bytes, gap_bytes);
        }
        if let AccessPattern::Blocks { stride_bytes: stride, .. }
        | AccessPattern::Strides { least_bytes: stride, .. } = stream.pattern
        {
            block_bytes = gcd(block_bytes, stride);
        }
        if let Some(order) = &stream.conduct.order {
            block_bytes = order_steps(order).fold(block_bytes, gcd);
        }
    }
    // Random offsets are multiples of the size from the start of the target, not of the area.
    gcd(block_bytes, start)
}

/// Returns all distances that the offsets of a job's order are sums of.
pub(super) fn order_steps(order: &JobOrder) -> impl Iterator<Item = u64> {
    let zone_bytes = order.zones.map_or(0, |zones| zones.range_bytes + zones.skip_bytes);
    order.align_bytes.into_iter().chain([order.gap_bytes.unsigned_abs(), zone_bytes])
}

/// Returns the greatest common divisor; that of 0 and a number is the number.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Determines whether a target was stamped throughout before this phase: of 64 sectors over all of
/// its area, at least 61 have a stamp. The others may be damaged, which verification then finds.
fn unwritten_stamp(opened: &OpenedTarget) -> ExpectedStamp {
    const PLACES: u64 = 64;
    const ENOUGH: usize = 61;
    let area = opened.area;
    let sectors = (area.end - area.start) / content::SECTOR_BYTES as u64;
    let stamped = (0..PLACES).filter(|nth| {
        let sector = sectors.saturating_sub(1) * nth / (PLACES - 1);
        let offset = area.start + sector * content::SECTOR_BYTES as u64;
        opened.read_sector(offset).is_some_and(|sector| content::is_stamped(&sector, offset))
    });
    if stamped.count() >= ENOUGH { ExpectedStamp::Stamped } else { ExpectedStamp::Unknown }
}
/// Whether I/O that has begun before a deadline counts although it ends later: with `fsync` at the end, whose time
/// counts, too, and in the blocks of IOR, which looks at the clock after each transfer.
fn counts_late_io(workload: &StorageWorkload) -> bool {
    let has_blocks =
        |stream: &StorageStream| matches!(stream.pattern, AccessPattern::Blocks { .. });
    workload.targets.iter().any(|target| target.sync_at_end)
        || workload.streams.iter().any(has_blocks)
}
