//! Reproducible random words: word `n` of stream `id` depends only on these and the seed.
//!
//! Not for secrets, and never shared between threads.

pub(super) use assay_model::seed::mix;

use assay_model::seed::GAMMA;

/// Random words of one stream, in order.
///
/// Splitmix64 (Steele, Lea, Flood 2014): word n = mix(key + n·γ), so the counter is the whole
/// state.
#[derive(Debug, Clone)]
pub(super) struct RandomStream {
    state: u64,
}

impl RandomStream {
    /// Creates the stream `id` of `seed`.
    pub(super) fn new(seed: u64, id: u64) -> Self {
        Self { state: mix(seed.wrapping_add(GAMMA)) ^ mix(id.wrapping_mul(GAMMA)) }
    }

    /// Returns the next word, uniformly distributed.
    #[inline]
    pub(super) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Returns a uniformly distributed number below `bound`, which is at least 1.
    ///
    /// Multiply and shift (Lemire 2019) without the rejection: the bias is below bound / 2⁶⁴.
    #[inline]
    pub(super) fn uniform_below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a uniformly distributed number in [0, 1).
    #[inline]
    pub(super) fn uniform_unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Returns true with probability `share`; draws no word if the result is certain.
    #[inline]
    pub(super) fn chance(&mut self, share: f64) -> bool {
        share >= 1.0 || (share > 0.0 && self.uniform_unit() < share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_stream_give_the_same_words() {
        let words = |seed, id| -> Vec<u64> {
            let mut draws = RandomStream::new(seed, id);
            (0..100).map(|_| draws.next_u64()).collect()
        };
        assert_eq!(words(1, 2), words(1, 2));
        assert_ne!(words(1, 2), words(1, 3));
        assert_ne!(words(1, 2), words(2, 2));
    }

    #[test]
    fn uniform_below_is_uniform() {
        let mut draws = RandomStream::new(7, 0);
        let mut hits = [0_u32; 10];
        for _ in 0..100_000 {
            hits[draws.uniform_below(10) as usize] += 1;
        }
        // χ² with 9 degrees of freedom exceeds 33.7 once in 10,000 seeds.
        let chi: f64 = hits.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 33.7, "{hits:?}");
    }

    #[test]
    fn chance_of_zero_or_one_is_certain() {
        let mut draws = RandomStream::new(0, 0);
        assert!((0..1000).all(|_| draws.chance(1.0) && !draws.chance(0.0)));
        let half = (0..10_000).filter(|_| draws.chance(0.5)).count();
        assert!((4700..5300).contains(&half), "{half}");
    }
}
