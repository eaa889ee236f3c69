//! Properties of the next I/O: read or write, size, and whether it goes to the hot area.
//!
//! Independent of files; does not choose offsets outside the hot area.

use assay_model::storage_outcome::Operation;
use assay_model::workload::storage::{HitArea, SizeShare, StorageStream};

use super::places::Area;
use super::random::Draws;

/// Proportions of one stream on one target.
#[derive(Debug, Clone)]
pub(super) struct Mix {
    read_share: f64,
    sizes: Vec<SizeShare>,
    /// Sizes of writes; empty = as for reads.
    write_sizes: Vec<SizeShare>,
    hits: Option<(HitArea, Area)>,
}

impl Mix {
    /// Creates the proportions of `stream` within `area`.
    pub(super) fn new(stream: &StorageStream, area: Area) -> Self {
        let hits = stream.hit_area.map(|hit| {
            let end = area.start.saturating_add(hit.bytes).min(area.end);
            (hit, Area { end, ..area })
        });
        Self {
            read_share: stream.read_share,
            sizes: stream.sizes.clone(),
            write_sizes: stream.conduct.write_sizes.clone(),
            hits,
        }
    }

    /// Draws the operation.
    #[inline]
    pub(super) fn operation(&self, draws: &mut Draws) -> Operation {
        if draws.chance(self.read_share) { Operation::Read } else { Operation::Write }
    }

    /// Draws the size in bytes.
    #[inline]
    pub(super) fn bytes(&self, operation: Operation, draws: &mut Draws) -> u64 {
        let sizes = match operation {
            Operation::Write if !self.write_sizes.is_empty() => &self.write_sizes,
            Operation::Read | Operation::Write => &self.sizes,
        };
        match sizes.as_slice() {
            [only] => within(only, draws),
            several => chosen(several, draws),
        }
    }

    /// Returns the hot area, if this I/O goes there.
    #[inline]
    pub(super) fn hit(&self, operation: Operation, draws: &mut Draws) -> Option<Area> {
        let (hit, area) = self.hits.as_ref()?;
        let share = match operation {
            Operation::Read => hit.read_share,
            Operation::Write => hit.write_share,
        };
        draws.chance(share).then_some(*area)
    }

    /// Returns the area of I/O that does not go to the hot area.
    pub(super) fn rest(&self, area: Area) -> Area {
        match self.hits {
            Some((_, hot)) if hot.end < area.end => Area { start: hot.end, ..area },
            _ => area,
        }
    }
}

fn chosen(sizes: &[SizeShare], draws: &mut Draws) -> u64 {
    let mut left = draws.unit() * sizes.iter().map(|size| size.share).sum::<f64>();
    let by_share = sizes.iter().find(|size| {
        left -= size.share;
        left < 0.0
    });
    // Rounding may leave a remainder of the last share.
    by_share.or(sizes.last()).map_or(0, |size| within(size, draws))
}

#[inline]
fn within(size: &SizeShare, draws: &mut Draws) -> u64 {
    if size.min_bytes >= size.max_bytes {
        return size.min_bytes;
    }
    let steps = (size.max_bytes - size.min_bytes) / size.step_bytes.max(1);
    size.min_bytes + draws.below(steps + 1) * size.step_bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn sizes_come_in_their_shares() {
        let size = |min_bytes, max_bytes, step_bytes, share| SizeShare {
            min_bytes,
            max_bytes,
            step_bytes,
            share,
        };
        let sizes = [size(4096, 4096, 0, 0.5), size(8192, 16_384, 4096, 0.5)];
        let mut draws = Draws::new(1, 2);
        let mut seen = BTreeMap::new();
        for _ in 0..60_000 {
            *seen.entry(chosen(&sizes, &mut draws)).or_insert(0_u32) += 1;
        }
        for (bytes, expected) in
            [(4096, 30_000_u32), (8192, 10_000), (12_288, 10_000), (16_384, 10_000)]
        {
            assert!(seen[&bytes].abs_diff(expected) < 500, "{seen:?}");
        }
        assert_eq!(seen.len(), 4);
    }
}
