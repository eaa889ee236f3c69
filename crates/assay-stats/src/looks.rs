//! Looks at conditions in turns after each block, so that a clear comparison ends early.
//!
//! The error is divided between the looks (alpha spending; Lan and others, Biometrika 70:659, 1983),
//! and no look may spend more than its share. By Boole's inequality the sum holds for any rule that
//! decides when to end, for any number of metrics, and for intervals as for tests (repeated
//! confidence intervals; Jennison and Turnbull, J. R. Statist. Soc. B 51:305, 1989). Early looks use
//! Student's t, because ranks of few blocks cannot be significant; the last one uses ranks.
//! [`crate::simulation`] counts the errors.

use crate::shift::{self, Shift, ShiftSignificance};

/// Blocks before the first look: the fewest whose medians have intervals from order statistics.
pub const FIRST_LOOK: usize = 6;
/// Blocks after which a comparison ends, whether it is decided or not.
pub const LAST_LOOK: usize = 14;
/// Share of the error that the last look may spend; enough for a shift of 3 % in one of 50 metrics.
const LAST_SHARE: f64 = 0.4;

/// Returns whether a comparison of this many blocks is looked at before it ends by itself.
pub const fn is_early_look(blocks: usize) -> bool {
    FIRST_LOOK <= blocks && blocks < LAST_LOOK
}

/// Returns the share of the error that the look after this many blocks may spend: proportional to
/// n⁻³ before the last one. Fewer blocks than [`FIRST_LOOK`] are not looked at on the way, and may
/// spend all of it.
pub fn error_share(blocks: usize) -> f64 {
    if blocks < FIRST_LOOK {
        return 1.0;
    }
    if blocks >= LAST_LOOK {
        return LAST_SHARE;
    }
    let weight = |n: usize| (n as f64).powi(-3);
    let all: f64 = (FIRST_LOOK..LAST_LOOK).map(weight).sum();
    (1.0 - LAST_SHARE) * weight(blocks) / all
}

/// Returns the shift of paired values as seen by the latest look, from their differences in order of
/// time; `None` without one.
///
/// The interval covers the shift at `level` over all looks together. The p-value is the smallest of
/// all looks so far that saw the same direction, each divided by its share of the error: a difference
/// once shown stays shown.
pub fn sequential_shift(differences: &[f64], level: f64) -> Option<Shift> {
    let n = differences.len();
    if n < FIRST_LOOK {
        return shift::paired_shift(differences, level);
    }
    let level_here = 1.0 - (1.0 - level) * error_share(n);
    let latest = match n < LAST_LOOK {
        true => shift::paired_student_shift(differences, level_here),
        false => shift::paired_shift(differences, level_here)?,
    };
    let p_here = latest.significance?.p / error_share(n);
    let earlier = (FIRST_LOOK..n.min(LAST_LOOK)).filter_map(|blocks| {
        let seen = shift::paired_student_shift(&differences[..blocks], level);
        let is_same = (seen.amount > 0.0) == (latest.amount > 0.0);
        Some(seen.significance?.p / error_share(blocks)).filter(|_| is_same)
    });
    let p = earlier.fold(p_here.min(1.0), f64::min);
    let significance = latest.significance.map(|known| ShiftSignificance { p, ..known });
    Some(Shift { significance, ..latest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn shares_add_up_to_the_whole_error() {
        let all: f64 = (FIRST_LOOK..=LAST_LOOK).map(error_share).sum();
        assert!((all - 1.0).abs() < 1e-12, "{all}");
        assert!(!is_early_look(5) && is_early_look(6) && is_early_look(13));
        assert!(!is_early_look(LAST_LOOK));
    }

    /// Share of series without a shift whose p-value or interval errs at any look, of 3,000.
    #[test]
    fn errors_over_all_looks_stay_below_their_level() {
        let mut random = Random::new(11);
        let (mut rejected, mut missed) = (0, 0);
        for _ in 0..3000 {
            let values: Vec<f64> = (0..LAST_LOOK).map(|_| random.normal()).collect();
            let looks = (FIRST_LOOK..=LAST_LOOK)
                .filter_map(|n| sequential_shift(&values[..n], 0.95)?.significance);
            let looks: Vec<ShiftSignificance> = looks.collect();
            assert_eq!(looks.len(), 9);
            rejected += u32::from(looks.iter().any(|look| look.p <= 0.05));
            let misses = |it: &ShiftSignificance| it.interval[0] > 0.0 || it.interval[1] < 0.0;
            missed += u32::from(looks.iter().any(misses));
        }
        // At most 5 %, and not so few that the error is wasted.
        assert!(
            (45..=150).contains(&rejected) && (45..=150).contains(&missed),
            "{rejected} {missed}"
        );
    }

    #[test]
    fn a_difference_once_shown_stays_shown() {
        let mut values = vec![1.0, 1.01, 0.99, 1.0, 1.02, 0.98];
        let first = sequential_shift(&values, 0.95).unwrap().significance.unwrap().p;
        values.extend([-3.0, 4.0]);
        let later = sequential_shift(&values, 0.95).unwrap();
        assert!(later.significance.unwrap().p <= first, "{later:?}");
        assert!(later.significance.unwrap().interval[0] < 0.0, "{later:?}");
    }
}
