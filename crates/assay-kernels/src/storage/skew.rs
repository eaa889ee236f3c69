//! Random offsets that are not uniformly distributed over one area.
//!
//! Draws come directly from the distribution, without a table.

use assay_model::workload::storage::Skew;

use super::offset_pattern::ByteRange;
use super::random::RandomStream;

/// Distribution over one area.
#[derive(Debug, Clone)]
pub(super) struct SkewedOffsets {
    area: ByteRange,
    skew: Skew,
}

impl SkewedOffsets {
    /// Creates the distribution of `skew` over `area`.
    pub(super) const fn new(skew: Skew, area: ByteRange) -> Self {
        Self { area, skew }
    }

    /// Draws the offset of an I/O of `bytes` that starts at a multiple of `align`; `None` if none
    /// fits.
    pub(super) fn draw_offset(
        &self,
        (bytes, align): (u64, u64),
        draws: &mut RandomStream,
    ) -> Option<u64> {
        let first = self.area.start.next_multiple_of(align);
        let slots = self.area.end.checked_sub(first)?.checked_sub(bytes)? / align + 1;
        let Skew::Exponential { mean_share } = self.skew else { return None };
        // −ln u of a uniform u above 0 is exponential with mean 1.
        let drawn = -(1.0 - draws.uniform_unit()).ln() * mean_share * slots as f64;
        Some(first + drawn as u64 % slots * align)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 200_000;

    fn shares(mean_share: f64, slots: u64) -> Vec<f64> {
        let area = ByteRange { start: 4096, end: 4096 * (slots + 1) };
        let offsets = SkewedOffsets::new(Skew::Exponential { mean_share }, area);
        let mut draws = RandomStream::new(1, 1);
        let mut hits = vec![0.0; slots as usize];
        for _ in 0..COUNT {
            let offset = offsets.draw_offset((4096, 4096), &mut draws).unwrap();
            assert_eq!(offset % 4096, 0);
            hits[(offset / 4096 - 1) as usize] += 1.0 / f64::from(COUNT);
        }
        hits
    }

    #[test]
    fn exponential_wraps_at_the_end() {
        let measured = shares(1.0 / 3.0, 1000);
        // Truncated at three means: half of it is below −ln(1 − 0.5 (1 − e⁻³)) / 3 = 0.2148 of the
        // range.
        let near: f64 = measured[..215].iter().sum();
        assert!((near - 0.5).abs() < 0.01, "{near}");
        assert!(measured[999] > 0.0);
    }

    #[test]
    fn accepts_a_range_of_one_offset() {
        assert_eq!(shares(0.3, 1).len(), 1);
    }
}
