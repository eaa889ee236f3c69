//! Wald's sequential probability ratio test of single tries: sound or faulty, as soon as it can be decided.
//!
//! Every try adds ln(P(outcome | faulty) / P(outcome | sound)) to a sum. Assumes independent tries with a
//! constant probability of a miss. A. Wald, Sequential Tests of Statistical Hypotheses, Ann. Math.
//! Statist. 16 (1945) 117.

/// A sound measurement misses the truth at most this often on a machine that is quiet enough for the peer.
const MISSES_IF_SOUND: f64 = 0.05;
/// A faulty one misses it at least this often: a bias is there in every try.
const MISSES_IF_FAULTY: f64 = 0.95;
/// The share of sound measurements that are called faulty, and of faulty ones that are called sound.
const ERROR_RATE: f64 = 0.01;

/// What the tries so far amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// More tries are needed.
    Open,
    /// The truth is found.
    Sound,
    /// It is not.
    Faulty,
}

/// The decision after so many hits and misses.
pub(super) fn decide(hits: u32, misses: u32) -> Decision {
    // Wald's bounds, by which neither error is more frequent than its rate, but for the overshoot.
    let bound = ((1.0 - ERROR_RATE) / ERROR_RATE).ln();
    match evidence_of_fault(hits, misses) {
        sum if sum >= bound => Decision::Faulty,
        sum if sum <= -bound => Decision::Sound,
        _ => Decision::Open,
    }
}

/// The logarithm of the likelihood ratio: above 0 when a fault is the better explanation.
pub(super) fn evidence_of_fault(hits: u32, misses: u32) -> f64 {
    let of_miss = (MISSES_IF_FAULTY / MISSES_IF_SOUND).ln();
    let of_hit = ((1.0 - MISSES_IF_FAULTY) / (1.0 - MISSES_IF_SOUND)).ln();
    f64::from(misses) * of_miss + f64::from(hits) * of_hit
}

/// The test in words, with its numbers.
pub(super) fn described() -> String {
    format!(
        "Wald's sequential test of single tries: sound = at most {:.0} % miss, faulty = at least {:.0} % miss, \
         either error in at most {:.0} % of all decisions; a miss that the peer shares counts for neither",
        MISSES_IF_SOUND * 100.0,
        MISSES_IF_FAULTY * 100.0,
        ERROR_RATE * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_decided_as_early_as_the_error_rates_allow() {
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

    /// The probability of each decision when tries miss so often, by adding up all ways there.
    fn probabilities(misses_of_one: f64) -> (f64, f64) {
        let (mut open, mut sound, mut faulty) = (vec![((0, 0), 1.0)], 0.0, 0.0);
        for _ in 0..60 {
            let mut next = std::collections::BTreeMap::new();
            for ((hits, misses), probability) in open {
                for (state, share) in [
                    ((hits + 1, misses), 1.0 - misses_of_one),
                    ((hits, misses + 1), misses_of_one),
                ] {
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
    fn the_error_rates_are_kept() {
        let (sound, faulty) = probabilities(MISSES_IF_SOUND);
        assert!(faulty <= ERROR_RATE && sound > 1.0 - ERROR_RATE, "{sound} {faulty}");
        let (sound, faulty) = probabilities(MISSES_IF_FAULTY);
        assert!(sound <= ERROR_RATE && faulty > 1.0 - ERROR_RATE, "{sound} {faulty}");
    }
}
