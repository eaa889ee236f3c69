//! Reproducible random numbers: orders and permutations can be repeated from their seed.
//!
//! Not for cryptography, and not for storage workloads, which have their own generator.

use assay_model::seed;

/// `SplitMix64` generator (Steele, Lea and Flood, OOPSLA 2014): a counter whose bits are mixed, so
/// that any seed is a good one.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates the sequence of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub const fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(seed::GAMMA);
        seed::mix(self.0)
    }

    /// Returns a number below `end`, which is above 0: the upper half of a product (Lemire, ACM
    /// TOMACS 29:3, 2019), with a negligible bias of `end` / 2⁶⁴.
    pub const fn next_below(&mut self, end: usize) -> usize {
        ((self.next_bits() as u128 * end as u128) >> 64) as usize
    }

    /// Returns a uniformly distributed number between 0 and 1, both excluded.
    pub fn uniform(&mut self) -> f64 {
        ((self.next_bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Returns a standard normal number (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Shuffles the values; all orders are equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.next_below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_is_uniform() {
        let mut random = Random::new(3);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut values = [1, 2, 3];
            random.shuffle(&mut values);
            *seen.entry(values).or_insert(0) += 1;
        }
        // Five standard deviations of a share of one in six.
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|times| (855..1145).contains(times)), "{seen:?}");
    }

    #[test]
    fn seed_determines_numbers() {
        let mut random = Random::new(0);
        assert_eq!(
            [random.next_bits(), random.next_bits()],
            [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]
        );
    }
}
