//! Derivation of seeds: all random numbers of a run derive from one seed, and no two parts share a
//! sequence.

/// Increment of splitmix64: 2⁶⁴ / golden ratio, odd.
pub const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// Spreads every bit of `word` over the result; a bijection.
///
/// The output function of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// OOPSLA 2014).
#[inline]
pub const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Derives the seed of part `nth` of a parent seed: one for each step of a case or phase of a plan.
pub const fn derive_seed(seed: u64, nth: u64) -> u64 {
    mix(mix(seed).wrapping_add(GAMMA.wrapping_mul(nth.wrapping_add(1))))
}

/// Derives a seed from a name, independent of its position among others.
pub fn derive_named_seed(seed: u64, name: &str) -> u64 {
    name.bytes().fold(mix(seed), |seed, byte| derive_seed(seed, u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn derived_seeds_differ() {
        let parts = (0..100).flat_map(|seed| (0..100).map(move |nth| derive_seed(seed, nth)));
        assert_eq!(parts.collect::<BTreeSet<u64>>().len(), 10_000);
        assert_eq!(derive_named_seed(7, "storage/a"), derive_named_seed(7, "storage/a"));
        let names = ["storage/a", "storage/b", "storage/ab", "storage/ba", ""];
        let named: BTreeSet<u64> =
            names.iter().map(|name| derive_named_seed(7, name)).collect();
        assert_eq!(named.len(), names.len());
    }
}
