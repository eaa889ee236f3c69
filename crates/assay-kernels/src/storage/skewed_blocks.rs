//! Blocks of a file from fio's distributions: the same seed gives the same blocks.
//!
//! Zipf as drawn by Gray and others (SIGMOD 1994), self-similar, and bell; ranks are scattered by a
//! multiplicative hash.

use assay_model::workload::storage::{OffsetLaw, OffsetSkew};

use super::tausworthe::Tausworthe;

/// Factor of the hash: 2⁶⁴ (1 − 1/φ), made odd.
const SCATTER: u64 = 0x61c8_8646_80b5_83eb;
/// Terms of the sum ζ(n, θ) that fio adds up.
const MOST_TERMS: u64 = 10_000_000;
/// Uniform draws of which a bell is the mean.
const BELL_DRAWS: u64 = 12;
const MAX_WORD: f64 = u32::MAX as f64;

/// Distribution over the blocks of a file.
#[derive(Debug, Clone)]
pub(super) struct SkewedBlocks {
    blocks: u64,
    shift: u64,
    draws: Tausworthe,
    law: BlockLaw,
}

#[derive(Debug, Clone)]
enum BlockLaw {
    /// `second` is the sum of the first two terms of ζ.
    Zipf {
        zeta: f64,
        second: f64,
        eta: f64,
        alpha: f64,
    },
    SelfSimilar {
        power: f64,
    },
    Bell {
        deviation: u32,
    },
}

impl SkewedBlocks {
    /// Creates the distribution of the file with this number; `None` for zones, and for no blocks.
    pub(super) fn new(skew: &OffsetSkew, file: usize, blocks: u64) -> Option<Self> {
        if blocks == 0 {
            return None;
        }
        let seed = skew.seeds.get(file).copied().unwrap_or(0);
        let mut draws = Tausworthe::new(u64::from(seed), false);
        let law = match skew.law {
            OffsetLaw::Zipf { theta } => zipf(theta, blocks),
            OffsetLaw::SelfSimilar { area } => {
                BlockLaw::SelfSimilar { power: area.ln() / (1.0 - area).ln() }
            }
            OffsetLaw::Bell { percent } => {
                let deviation = (blocks as f64 * percent / 100.0).ceil() as u32;
                let most = u32::try_from(blocks / 2).unwrap_or(u32::MAX);
                BlockLaw::Bell { deviation: deviation.min(most) }
            }
            OffsetLaw::Zones { .. } => return None,
        };
        let shift = match (&law, skew.centre) {
            (BlockLaw::Bell { .. }, None) => 0,
            // fio stores it in 32 bits.
            (BlockLaw::Bell { .. }, Some(centre)) => {
                u64::from((blocks as f64 * (centre - 0.5)) as i64 as u32)
            }
            // Drawn even if it is not used.
            (_, centre) => {
                let drawn = draws.next_word();
                centre.map_or(drawn, |centre| (blocks as f64 * centre) as u64)
            }
        };
        Some(Self { blocks, shift, draws, law })
    }

    /// Draws a block.
    pub(super) fn draw_block(&mut self) -> u64 {
        let rank = match self.law {
            BlockLaw::Zipf { zeta, second, eta, alpha } => {
                let share = self.draws.next_word() as f64 / MAX_WORD;
                let sum = share * zeta;
                if sum < 1.0 {
                    0
                } else if sum < second {
                    1
                } else {
                    (self.blocks as f64 * (eta * share - eta + 1.0).powf(alpha)) as u64
                }
            }
            BlockLaw::SelfSimilar { power } => {
                let share = self.draws.next_word() as f64 / MAX_WORD;
                ((self.blocks - 1) as f64 * share.powf(power)) as u64
            }
            BlockLaw::Bell { deviation } => self.draw_bell(deviation),
        };
        rank.wrapping_mul(SCATTER).wrapping_add(self.shift) % self.blocks
    }

    fn draw_bell(&mut self, deviation: u32) -> u64 {
        let sum: u64 =
            (0..BELL_DRAWS).map(|_| self.draws.next_word() % (self.blocks + 1)).sum();
        let mean = sum.div_ceil(BELL_DRAWS);
        if deviation == 0 {
            return mean;
        }
        let drawn = (f64::from(deviation) * self.draws.next_share()) as i64;
        let mut moved = drawn - i64::from(deviation / 2);
        // A number below 0 is past the end, too.
        while mean.wrapping_add_signed(moved) >= self.blocks && moved != 0 {
            moved /= 2;
        }
        mean.wrapping_add_signed(moved)
    }
}

fn zipf(theta: f64, blocks: u64) -> BlockLaw {
    let terms = blocks.min(MOST_TERMS);
    let zeta: f64 = (1..=terms).map(|k| (1.0 / k as f64).powf(theta)).sum();
    let half = 0.5_f64.powf(theta);
    let second = 1.0 + half;
    let eta = (1.0 - (2.0 / blocks as f64).powf(1.0 - theta)) / (1.0 - second / zeta);
    BlockLaw::Zipf { zeta, second, eta, alpha: 1.0 / (1.0 - theta) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u32 = 200_000;

    /// Returns the shares of the blocks, the largest first.
    fn shares(law: OffsetLaw, blocks: u64) -> Vec<f64> {
        let skew = OffsetSkew { law, centre: None, seeds: vec![7] };
        let mut skewed = SkewedBlocks::new(&skew, 0, blocks).unwrap();
        let mut hits = vec![0.0; blocks as usize];
        for _ in 0..COUNT {
            hits[skewed.draw_block() as usize] += 1.0 / f64::from(COUNT);
        }
        hits.sort_by(|one: &f64, other| other.total_cmp(one));
        hits
    }

    #[test]
    fn zipf_follows_its_distribution() {
        for theta in [0.5, 0.99, 1.2] {
            let measured = shares(OffsetLaw::Zipf { theta }, 101);
            let sum: f64 = (1..=101).map(|k| f64::from(k).powf(-theta)).sum();
            for k in [1_u32, 2] {
                let expected = f64::from(k).powf(-theta) / sum;
                let error = (measured[k as usize - 1] - expected).abs();
                assert!(error < 0.01, "{theta} {k}: {} {expected}", measured[k as usize - 1]);
            }
        }
    }

    #[test]
    fn self_similar_hot_area_gets_its_share() {
        let measured = shares(OffsetLaw::SelfSimilar { area: 0.2 }, 1009);
        let hot: f64 = measured[..202].iter().sum();
        assert!((hot - 0.8).abs() < 0.03, "{hot}");
    }

    #[test]
    fn accepts_a_single_block_and_none() {
        for law in [
            OffsetLaw::Zipf { theta: 1.2 },
            OffsetLaw::SelfSimilar { area: 0.2 },
            OffsetLaw::Bell { percent: 50.0 },
        ] {
            assert_eq!(shares(law.clone(), 1).len(), 1);
            let skew = OffsetSkew { law, centre: Some(0.9), seeds: vec![] };
            assert!(SkewedBlocks::new(&skew, 0, 0).is_none());
        }
    }
}
