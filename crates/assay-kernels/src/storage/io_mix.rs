//! Properties of the next I/O: read or write, size, and whether it goes to the hot area.
//!
//! Independent of files; does not choose offsets outside the hot area.

use assay_model::storage_outcome::IoOperation;
use assay_model::workload::storage::{HitArea, SizeShare, StorageStream};

use super::offset_pattern::ByteRange;
use super::random::RandomStream;

/// Proportions of one stream on one target.
#[derive(Debug, Clone)]
pub(super) struct IoMix {
    read_share: f64,
    sizes: Vec<SizeShare>,
    /// Sizes of writes; empty = as for reads.
    write_sizes: Vec<SizeShare>,
    hot_area: Option<(HitArea, ByteRange)>,
}

impl IoMix {
    /// Creates the proportions of `stream` within `area`.
    pub(super) fn new(stream: &StorageStream, area: ByteRange) -> Self {
        let hot_area = stream.hit_area.map(|hit| {
            let end = area.start.saturating_add(hit.bytes).min(area.end);
            (hit, ByteRange { end, ..area })
        });
        Self {
            read_share: stream.read_share,
            sizes: stream.sizes.clone(),
            write_sizes: stream.conduct.write_sizes.clone(),
            hot_area,
        }
    }

    /// Draws the operation.
    #[inline]
    pub(super) fn draw_operation(&self, draws: &mut RandomStream) -> IoOperation {
        if draws.chance(self.read_share) { IoOperation::Read } else { IoOperation::Write }
    }

    /// Draws the size in bytes.
    #[inline]
    pub(super) fn draw_bytes(&self, operation: IoOperation, draws: &mut RandomStream) -> u64 {
        let sizes = match operation {
            IoOperation::Write if !self.write_sizes.is_empty() => &self.write_sizes,
            IoOperation::Read | IoOperation::Write => &self.sizes,
        };
        match sizes.as_slice() {
            [only] => draw_in_range(only, draws),
            several => draw_size(several, draws),
        }
    }

    /// Returns the hot area, if this I/O goes there.
    #[inline]
    pub(super) fn draw_hit(
        &self,
        operation: IoOperation,
        draws: &mut RandomStream,
    ) -> Option<ByteRange> {
        let (hit, area) = self.hot_area.as_ref()?;
        let share = match operation {
            IoOperation::Read => hit.read_share,
            IoOperation::Write => hit.write_share,
        };
        draws.chance(share).then_some(*area)
    }

    /// Returns the area of I/O that does not go to the hot area.
    pub(super) fn cold_area(&self, area: ByteRange) -> ByteRange {
        match self.hot_area {
            Some((_, hot)) if hot.end < area.end => ByteRange { start: hot.end, ..area },
            _ => area,
        }
    }
}

fn draw_size(sizes: &[SizeShare], draws: &mut RandomStream) -> u64 {
    let mut left = draws.uniform_unit() * sizes.iter().map(|size| size.share).sum::<f64>();
    let by_share = sizes.iter().find(|size| {
        left -= size.share;
        left < 0.0
    });
    // Rounding may leave a remainder of the last share.
    by_share.or(sizes.last()).map_or(0, |size| draw_in_range(size, draws))
}

#[inline]
fn draw_in_range(size: &SizeShare, draws: &mut RandomStream) -> u64 {
    if size.min_bytes >= size.max_bytes {
        return size.min_bytes;
    }
    let steps = (size.max_bytes - size.min_bytes) / size.step_bytes.max(1);
    size.min_bytes + draws.uniform_below(steps + 1) * size.step_bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn draws_sizes_by_share() {
        let size = |min_bytes, max_bytes, step_bytes, share| SizeShare {
            min_bytes,
            max_bytes,
            step_bytes,
            share,
        };
        let sizes = [size(4096, 4096, 0, 0.5), size(8192, 16_384, 4096, 0.5)];
        let mut draws = RandomStream::new(1, 2);
        let mut seen = BTreeMap::new();
        for _ in 0..60_000 {
            *seen.entry(draw_size(&sizes, &mut draws)).or_insert(0_u32) += 1;
        }
        for (bytes, expected) in
            [(4096, 30_000_u32), (8192, 10_000), (12_288, 10_000), (16_384, 10_000)]
        {
            assert!(seen[&bytes].abs_diff(expected) < 500, "{seen:?}");
        }
        assert_eq!(seen.len(), 4);
    }
}
