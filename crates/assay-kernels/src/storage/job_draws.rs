//! Random draws of one job: a generator for each purpose, seeded from the job's seed and number.

use assay_model::workload::storage::{JobOrder, SizeShare};

use super::tausworthe::Tausworthe;

/// Generators of a job.
#[derive(Debug, Clone)]
pub(super) struct JobDraws {
    sizes: [Tausworthe; 2],
    mix: Tausworthe,
    file: Tausworthe,
    offset: Tausworthe,
    order: [Tausworthe; 2],
    zone: Tausworthe,
    priority: Tausworthe,
    /// Whether sizes need not be multiples of the smallest.
    any_bytes: bool,
}

/// Numbers of the seeds of fio's generators.
const SIZES_SEED: usize = 0;
const WRITE_SIZES_SEED: usize = 1;
const MIX_SEED: usize = 4;
const FILE_SEED: usize = 5;
const ORDER_SEED: usize = 10;
const ZONE_SEED: usize = 16;
const PRIORITY_SEED: usize = 19;

impl JobDraws {
    /// Creates the generators at the beginning of a pass.
    pub(super) fn new(order: &JobOrder) -> Self {
        let seeds = order.seeds();
        // Writes draw equal sizes where reads are to verify them.
        let write_sizes = if order.has_equal_sizes { SIZES_SEED } else { WRITE_SIZES_SEED };
        // Trims draw the sizes of the writes that follow them.
        let read_sizes = if order.trims_first { write_sizes } else { SIZES_SEED };
        let narrow = |seed: usize| Tausworthe::new(seeds[seed], false);
        let wide = |seed: usize| Tausworthe::new(seeds[seed], order.is_wide);
        Self {
            sizes: [wide(read_sizes), wide(write_sizes)],
            mix: narrow(MIX_SEED),
            file: wide(FILE_SEED),
            offset: wide(JobOrder::OFFSETS),
            order: [narrow(ORDER_SEED), narrow(ORDER_SEED)],
            zone: narrow(ZONE_SEED),
            priority: narrow(PRIORITY_SEED),
            any_bytes: order.any_bytes,
        }
    }

    /// Returns true for `percent` of all draws of the mix.
    pub(super) fn draw_mix(&mut self, percent: f64) -> bool {
        self.mix.next_share() * 100.0 < percent
    }

    /// Returns true for `percent` of all draws of a direction's order.
    pub(super) fn draw_order(&mut self, direction: usize, percent: f64) -> bool {
        percent >= 100.0 || self.order[direction].next_share() * 100.0 < percent
    }

    /// Returns a block below `blocks`.
    pub(super) fn draw_block(&mut self, blocks: u64) -> u64 {
        (blocks as f64 * self.offset.next_share()) as u64
    }

    /// Returns a whole percentage below 100, which selects a zone.
    pub(super) fn draw_zone_percent(&mut self) -> u64 {
        (100.0 * self.zone.next_share()) as u64
    }

    /// Returns a whole percentage below 100, which selects a priority.
    pub(super) fn draw_priority_percent(&mut self) -> u64 {
        (100.0 * self.priority.next_share()) as u64
    }

    /// Returns the index of one of `count` files.
    pub(super) fn draw_file(&mut self, count: usize) -> usize {
        (count as f64 * self.file.next_share()) as usize
    }

    /// Returns a size of a direction that `fits`, usually a multiple of the smallest, which fits.
    pub(super) fn draw_bytes(
        &mut self,
        direction: usize,
        sizes: &[SizeShare],
        fits: impl Fn(u64) -> bool,
    ) -> u64 {
        let least = sizes.iter().map(|size| size.min_bytes).min().unwrap_or(1).max(1);
        let most = sizes.iter().map(|size| size.max_bytes).max().unwrap_or(1);
        if least == most {
            return least;
        }
        loop {
            let drawn = match sizes {
                [range] => {
                    range.min_bytes
                        + (range.max_bytes as f64 * self.sizes[direction].next_share()) as u64
                }
                split => self.draw_of_split(direction, split, &fits),
            };
            let excess = if self.any_bytes { 0 } else { drawn % least };
            let bytes = (drawn - excess).min(most);
            if fits(bytes) {
                return bytes;
            }
        }
    }

    fn draw_of_split(
        &mut self,
        direction: usize,
        split: &[SizeShare],
        fits: &impl Fn(u64) -> bool,
    ) -> u64 {
        let draws = &mut self.sizes[direction];
        let word = draws.next_word();
        let limit = draws.max_word() / 100;
        let mut percent = 0;
        let mut bytes = 0;
        for size in split {
            bytes = size.min_bytes;
            percent += (size.share * 100.0).round() as u64;
            if word / percent.max(1) <= limit && fits(bytes) {
                break;
            }
        }
        bytes
    }
}
