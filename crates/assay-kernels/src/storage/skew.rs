//! Random offsets that are not uniformly distributed: Zipf, self-similar, bell-shaped, exponential,
//! zones.
//!
//! Zipf and self-similar scatter their hot offsets over the range, like the keys of a database.
//! Draws come directly from each distribution, without a table.

use assay_model::storage_outcome::IoOperation;
use assay_model::workload::storage::{Skew, Zone};

use super::offset_pattern::{ByteRange, permute};
use super::random::RandomStream;

/// Distribution over one area.
#[derive(Debug, Clone)]
pub(super) struct SkewedOffsets {
    area: ByteRange,
    seed: u64,
    kind: SkewKind,
}

#[derive(Debug, Clone)]
enum SkewKind {
    Zipf { theta: f64 },
    SelfSimilar { power: f64 },
    Bell { spread: f64 },
    Exponential { mean: f64 },
    Zones { reads: Vec<Zone>, writes: Vec<Zone> },
}

impl SkewedOffsets {
    /// Creates the distribution of `skew` over `area`.
    pub(super) fn new(skew: &Skew, area: ByteRange, seed: u64) -> Self {
        let kind = match skew {
            Skew::Zipf { theta } => SkewKind::Zipf { theta: *theta },
            // The share `a` of all offsets gets 1 − a of the I/O: u^p ≤ a for 1 − a of all u, so p
            // = ln a / ln(1 − a).
            Skew::SelfSimilar { area } => {
                SkewKind::SelfSimilar { power: area.ln() / (-area).ln_1p() }
            }
            Skew::Bell { spread_share } => SkewKind::Bell { spread: *spread_share },
            Skew::Exponential { mean_share } => SkewKind::Exponential { mean: *mean_share },
            Skew::Zones { reads, writes } => {
                SkewKind::Zones { reads: reads.clone(), writes: writes.clone() }
            }
        };
        Self { area, seed, kind }
    }

    /// Draws the offset of an I/O of `bytes` that starts at a multiple of `align`; `None` if none
    /// fits.
    pub(super) fn draw_offset(
        &self,
        operation: IoOperation,
        (bytes, align): (u64, u64),
        draws: &mut RandomStream,
    ) -> Option<u64> {
        if let SkewKind::Zones { reads, writes } = &self.kind {
            let zones = if operation == IoOperation::Read { reads } else { writes };
            return draw_zone(self.area, zones, draws)?.random_offset(bytes, align, draws);
        }
        let first = self.area.start.next_multiple_of(align);
        let slots = self.area.end.checked_sub(first)?.checked_sub(bytes)? / align + 1;
        Some(first + self.draw_slot(slots, draws) * align)
    }

    fn draw_slot(&self, slots: u64, draws: &mut RandomStream) -> u64 {
        let slot_at = |share: f64| ((share * slots as f64) as u64).min(slots - 1);
        match &self.kind {
            SkewKind::Zipf { theta } => {
                permute(draw_zipf(slots, *theta, draws) - 1, slots, self.seed)
            }
            SkewKind::SelfSimilar { power } => {
                permute(slot_at(draws.uniform_unit().powf(*power)), slots, self.seed)
            }
            SkewKind::Bell { spread } => {
                let mean = (0..12).map(|_| draws.uniform_unit()).sum::<f64>() / 12.0;
                slot_at((mean + spread * (draws.uniform_unit() - 0.5)).max(0.0))
            }
            // −ln u of a uniform u above 0 is exponential with mean 1.
            SkewKind::Exponential { mean } => {
                (-(1.0 - draws.uniform_unit()).ln() * mean * slots as f64) as u64 % slots
            }
            SkewKind::Zones { .. } => 0,
        }
    }
}

/// Draws a zone; returns it as a part of `area`.
fn draw_zone(area: ByteRange, zones: &[Zone], draws: &mut RandomStream) -> Option<ByteRange> {
    let mut remainder =
        draws.uniform_unit() * zones.iter().map(|zone| zone.io_share).sum::<f64>();
    let by_share = zones.iter().find(|zone| {
        remainder -= zone.io_share;
        remainder < 0.0
    });
    // Rounding may leave a remainder of the last share.
    let zone = by_share.or(zones.last())?;
    let length = (area.end - area.start) as f64;
    let offset_at = |share: f64| area.start + (share * length) as u64;
    let end = if zone.to_share >= 1.0 { area.end } else { offset_at(zone.to_share) };
    Some(ByteRange { start: offset_at(zone.from_share), end })
}

/// Draws a number k from 1 to `n` with a probability proportional to k^−θ: rejection from the
/// inverse of the integral of x^−θ (Hörmann and Derflinger 1996). Less than 1.2 draws on average.
fn draw_zipf(n: u64, theta: f64, draws: &mut RandomStream) -> u64 {
    let integral = PowerIntegral { theta };
    let maximum = integral.value(n as f64 + 0.5);
    let minimum = integral.value(1.5) - 1.0;
    let squeeze = 2.0 - integral.inverse(integral.value(2.5) - 2.0_f64.powf(-theta));
    loop {
        let y = maximum + draws.uniform_unit() * (minimum - maximum);
        let x = integral.inverse(y);
        let k = x.round().clamp(1.0, n as f64);
        if k - x <= squeeze || y >= integral.value(k + 0.5) - k.powf(-theta) {
            return k as u64;
        }
    }
}

/// ∫ x^−θ dx and its inverse, without loss of digits near θ = 1.
struct PowerIntegral {
    theta: f64,
}

impl PowerIntegral {
    fn value(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.theta) * log;
        log * if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 }
    }

    fn inverse(&self, y: f64) -> f64 {
        let t = (y * (1.0 - self.theta)).max(-1.0);
        (y * if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 }).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 200_000;

    fn shares(skew: &Skew, slots: u64) -> Vec<f64> {
        let area = ByteRange { start: 4096, end: 4096 * (slots + 1) };
        let offsets = SkewedOffsets::new(skew, area, 3);
        let mut draws = RandomStream::new(1, 1);
        let mut hits = vec![0.0; slots as usize];
        for _ in 0..COUNT {
            let offset =
                offsets.draw_offset(IoOperation::Read, (4096, 4096), &mut draws).unwrap();
            assert_eq!(offset % 4096, 0);
            hits[(offset / 4096 - 1) as usize] += 1.0 / f64::from(COUNT);
        }
        hits
    }

    fn sorted(mut shares: Vec<f64>) -> Vec<f64> {
        shares.sort_by(|one, other| other.total_cmp(one));
        shares
    }

    #[test]
    fn zipf_follows_its_distribution() {
        for theta in [0.5, 0.99, 1.0, 1.2, 2.5] {
            let measured = sorted(shares(&Skew::Zipf { theta }, 100));
            let sum: f64 = (1..=100).map(|k| f64::from(k).powf(-theta)).sum();
            for k in [1_u32, 2, 3, 10] {
                let expected = f64::from(k).powf(-theta) / sum;
                let error = (measured[k as usize - 1] - expected).abs();
                // Five standard deviations, and the bias from sorting equal shares.
                let allowed = 5.0 * (expected / f64::from(COUNT)).sqrt() + 0.002;
                assert!(
                    error < allowed,
                    "{theta} {k}: {} {expected}",
                    measured[k as usize - 1]
                );
            }
        }
    }

    #[test]
    fn self_similar_hot_area_gets_its_share() {
        let measured = sorted(shares(&Skew::SelfSimilar { area: 0.2 }, 1000));
        let hot: f64 = measured[..200].iter().sum();
        assert!((hot - 0.8).abs() < 0.01, "{hot}");
    }

    #[test]
    fn bell_is_centred() {
        let measured = shares(&Skew::Bell { spread_share: 0.2 }, 100);
        let middle: f64 = measured[30..70].iter().sum();
        // Variance 1/144 + 0.2²/12: a deviation of 0.101, so 0.2 to each side are two of them.
        assert!((middle - 0.95).abs() < 0.02, "{middle}");
        assert!(measured[0] + measured[99] < 0.001);
    }

    #[test]
    fn exponential_wraps_at_the_end() {
        let measured = shares(&Skew::Exponential { mean_share: 1.0 / 3.0 }, 1000);
        // Truncated at three means: half of it is below −ln(1 − 0.5 (1 − e⁻³)) / 3 = 0.2148 of the
        // range.
        let near: f64 = measured[..215].iter().sum();
        assert!((near - 0.5).abs() < 0.01, "{near}");
        assert!(measured[999] > 0.0);
    }

    #[test]
    fn zones_get_their_shares() {
        let zone = |io_share, from_share, to_share| Zone { io_share, from_share, to_share };
        let reads = vec![zone(0.5, 0.0, 0.05), zone(0.3, 0.05, 0.2), zone(0.2, 0.2, 1.0)];
        let measured = shares(&Skew::Zones { reads, writes: vec![] }, 100);
        for (range, expected) in [(0..5, 0.5), (5..20, 0.3), (20..100, 0.2)] {
            let share: f64 = measured[range.clone()].iter().sum();
            assert!((share - expected).abs() < 0.01, "{range:?}: {share}");
        }
    }

    #[test]
    fn accepts_a_range_of_one_offset() {
        for skew in [
            Skew::Zipf { theta: 1.2 },
            Skew::SelfSimilar { area: 0.2 },
            Skew::Bell { spread_share: 0.0 },
            Skew::Exponential { mean_share: 0.3 },
        ] {
            assert_eq!(shares(&skew, 1).len(), 1);
        }
    }
}
