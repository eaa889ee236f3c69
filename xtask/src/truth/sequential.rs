//! Wald's sequential probability ratio test over single tries: decides between sound and faulty as
//! early as possible.
//!
//! Every try adds ln(P(outcome | faulty) / P(outcome | sound)) to a sum. Assumes independent tries
//! with a constant probability of a miss. A. Wald, Sequential Tests of Statistical Hypotheses, Ann.
//! Math. Statist. 16 (1945) 117.

/// Maximum probability of a miss by a sound measurement, on a machine quiet enough for the peer.
const SOUND_MISS_RATE: f64 = 0.05;
/// Minimum probability of a miss by a faulty measurement: a bias affects every try.
const FAULTY_MISS_RATE: f64 = 0.95;
/// Probability that a sound measurement is called faulty, or a faulty one sound.
const ERROR_RATE: f64 = 0.01;

/// Decision after the tries so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// More tries are needed.
    Open,
    /// The measurement meets the truth.
    Sound,
    /// The measurement misses the truth.
    Faulty,
}

/// Decides after `hits` hits and `misses` misses.
pub(super) fn decide(hits: u32, misses: u32) -> Decision {
    // Wald's bounds: neither error exceeds its rate, except for the overshoot.
    let bound = ((1.0 - ERROR_RATE) / ERROR_RATE).ln();
    match log_likelihood_ratio(hits, misses) {
        sum if sum >= bound => Decision::Faulty,
        sum if sum <= -bound => Decision::Sound,
        _ => Decision::Open,
    }
}

/// Returns the log-likelihood ratio: above 0 when a fault is more likely.
pub(super) fn log_likelihood_ratio(hits: u32, misses: u32) -> f64 {
    let per_miss = (FAULTY_MISS_RATE / SOUND_MISS_RATE).ln();
    let per_hit = ((1.0 - FAULTY_MISS_RATE) / (1.0 - SOUND_MISS_RATE)).ln();
    f64::from(misses) * per_miss + f64::from(hits) * per_hit
}

/// Describes the test with its parameters.
pub(super) fn describe() -> String {
    format!(
        "Wald's sequential test of single tries: sound = at most {:.0} % miss, faulty = at least {:.0} % miss, \
         either error in at most {:.0} % of all decisions; a miss shared by the peer counts for neither",
        SOUND_MISS_RATE * 100.0,
        FAULTY_MISS_RATE * 100.0,
        ERROR_RATE * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decides_as_early_as_error_rates_allow() {
        for (hits, misses, expected) in [
            (0, 0, Decision::Open),
            (1, 0, Decision::Open),
            (2, 0, Decision::Sound),
            (0, 1, Decision::Open),
            (0, 2, Decision::Faulty),
            (2, 1, Decision::Open),
            (3, 1, Decision::Sound),
            (1, 3, Decision::Faulty),
        ] {
            assert_eq!(decide(hits, misses), expected, "{hits} hits, {misses} misses");
        }
    }

    /// Returns the probabilities of both decisions for a given miss rate, summed over all sequences
    /// of tries.
    fn probabilities(miss_rate: f64) -> (f64, f64) {
        let (mut open, mut sound, mut faulty) = (vec![((0, 0), 1.0)], 0.0, 0.0);
        for _ in 0..60 {
            let mut next = std::collections::BTreeMap::new();
            for ((hits, misses), probability) in open {
                for (state, share) in
                    [((hits + 1, misses), 1.0 - miss_rate), ((hits, misses + 1), miss_rate)]
                {
                    match decide(state.0, state.1) {
                        Decision::Sound => sound += probability * share,
                        Decision::Faulty => faulty += probability * share,
                        Decision::Open => {
                            *next.entry(state).or_insert(0.0) += probability * share;
                        }
                    }
                }
            }
            open = next.into_iter().collect();
        }
        (sound, faulty)
    }

    #[test]
    fn keeps_error_rates() {
        let (sound, faulty) = probabilities(SOUND_MISS_RATE);
        assert!(faulty <= ERROR_RATE && sound > 1.0 - ERROR_RATE, "{sound} {faulty}");
        let (sound, faulty) = probabilities(FAULTY_MISS_RATE);
        assert!(sound <= ERROR_RATE && faulty > 1.0 - ERROR_RATE, "{sound} {faulty}");
    }
}
