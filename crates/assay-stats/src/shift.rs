//! Shift between two groups of values: Hodges and Lehmann's estimate with its interval, and the p
//! value under no difference.
//!
//! The values are those of whole runs, on a scale on which a difference has the same meaning
//! everywhere: on a logarithmic scale, a difference is a ratio. From [`MIN_RANKED`] values on,
//! nothing is assumed about their distribution. With fewer values, ranks cannot be significant at
//! 95 %; Student's t is used instead, which assumes a normal distribution.

use crate::quantile::{self, unsorted_median};
use crate::rank_statistic::RankStatistic;
use crate::student;

/// Minimum number of values on a side for an interval.
pub const MIN_SHIFT_VALUES: usize = 3;
/// Minimum number of pairs whose ranks can be significant: 2 / 2⁶ = 3 %.
pub const MIN_RANKED: usize = 6;

/// Shift with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Difference of the second group from the first.
    pub amount: f64,
    /// Interval and p value of the shift; `None` with too few values.
    pub significance: Option<ShiftSignificance>,
}

/// Interval and p value of a shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShiftSignificance {
    /// Interval of the shift.
    pub interval: [f64; 2],
    /// Two-sided probability of a shift at least as large, if nothing differs.
    pub p: f64,
}

/// Returns the shift of paired values, from their differences; `None` without one.
///
/// The estimate is the median of the means of every two differences, with the interval of the same
/// means that Wilcoxon's signed-rank test does not reject (Hollander, Wolfe and Chicken, 3rd ed.,
/// 3.2 and 3.3).
pub fn paired_shift(differences: &[f64], level: f64) -> Option<Shift> {
    let risk = 1.0 - level;
    match differences.len() {
        0 => None,
        n if n < MIN_SHIFT_VALUES => Some(Shift {
            amount: unsorted_median(differences.iter().copied())?,
            significance: None,
        }),
        n if n < MIN_RANKED => Some(paired_student_shift(differences, level)),
        n => {
            let pairs = (0..n).flat_map(|i| (i..n).map(move |j| (i, j)));
            let means = pairs.map(|(i, j)| 0.5 * (differences[i] + differences[j]));
            let distribution = RankStatistic::signed_rank(n);
            let (by, interval) = ranked_interval(means.collect(), &distribution, risk)?;
            Some(Shift {
                amount: by,
                significance: Some(ShiftSignificance {
                    interval,
                    p: signed_rank_p(differences),
                }),
            })
        }
    }
}

/// Returns the mean of two or more differences with Student's t.
pub(crate) fn paired_student_shift(differences: &[f64], level: f64) -> Shift {
    let n = differences.len();
    let (mean, variance) = moments(differences);
    let error = (variance / n as f64).sqrt();
    let minimum = 2.0 * 0.5_f64.powi(n as i32);
    student_shift(mean, error, n as u32 - 1, (1.0 - level, minimum))
}

/// Returns the shift between two independent groups; `None` if one is empty.
///
/// The estimate is the median of all differences, with the interval of those that the rank-sum test
/// does not reject (Hollander, Wolfe and Chicken, 3rd ed., 4.2 and 4.3); with few values, Welch's t
/// with degrees of freedom rounded down.
pub fn group_shift(a: &[f64], b: &[f64], level: f64) -> Option<Shift> {
    let risk = 1.0 - level;
    let differences = || b.iter().flat_map(|b| a.iter().map(move |a| b - a));
    match a.len().min(b.len()) {
        0 => None,
        n if n < MIN_SHIFT_VALUES => {
            Some(Shift { amount: unsorted_median(differences())?, significance: None })
        }
        n if n < MIN_RANKED => {
            let ((mean_a, of_a), (mean_b, of_b)) = (moments(a), moments(b));
            let (of_a, of_b) = (of_a / a.len() as f64, of_b / b.len() as f64);
            let share = |of: f64, n: usize| of.powi(2) / (n as f64 - 1.0);
            let freedom = (of_a + of_b).powi(2) / (share(of_a, a.len()) + share(of_b, b.len()));
            let freedom = if freedom.is_finite() { freedom as u32 } else { n as u32 - 1 };
            let minimum = RankStatistic::rank_sum(a.len(), b.len()).minimum_p();
            let error = (of_a + of_b).sqrt();
            Some(student_shift(mean_b - mean_a, error, freedom.max(1), (risk, minimum)))
        }
        _ => {
            let distribution = RankStatistic::rank_sum(a.len(), b.len());
            let (by, interval) = ranked_interval(differences().collect(), &distribution, risk)?;
            let above: f64 = differences().map(|it| 0.5 * (1.0 + sign(it))).sum();
            Some(Shift {
                amount: by,
                significance: Some(ShiftSignificance {
                    interval,
                    p: distribution.two_sided_p(above),
                }),
            })
        }
    }
}

/// Returns a shift with Student's t. `minimum` replaces a p value of 0: values without any spread
/// are no proof, because few coarse values may agree by chance.
fn student_shift(mean: f64, error: f64, freedom: u32, (risk, minimum): (f64, f64)) -> Shift {
    let half = student::critical_t(risk, freedom) * error;
    // Tolerates rounding between equal values.
    let are_equal = error <= 1e-12 * mean.abs();
    let p = match (mean == 0.0, are_equal) {
        (true, _) => 1.0,
        (false, true) => minimum,
        (false, false) => student::two_sided_p(mean / error, freedom),
    };
    Shift {
        amount: mean,
        significance: Some(ShiftSignificance { interval: [mean - half, mean + half], p }),
    }
}

/// Returns the median of `values`, and the interval between the values of the same rank from either
/// end.
fn ranked_interval(
    mut values: Vec<f64>,
    distribution: &RankStatistic,
    risk: f64,
) -> Option<(f64, [f64; 2])> {
    values.sort_unstable_by(f64::total_cmp);
    let rank = distribution.interval_rank(risk)?;
    let ends = [*values.get(rank - 1)?, *values.get(values.len().checked_sub(rank)?)?];
    Some((quantile::median(&values)?, ends))
}

/// Returns the p value of Wilcoxon's signed-rank test. Differences of 0 have no sign and are left
/// out.
fn signed_rank_p(differences: &[f64]) -> f64 {
    let differences: Vec<f64> =
        differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if differences.is_empty() {
        return 1.0;
    }
    let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    let ranks = crate::rank::mid_ranks(&sizes);
    let above = ranks.iter().zip(&differences).filter(|(_, difference)| **difference > 0.0);
    RankStatistic::signed_rank(differences.len()).two_sided_p(above.map(|(rank, _)| rank).sum())
}

/// Returns mean and variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    (mean, squares.sum::<f64>() / (n - 1.0))
}

fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn few_values_have_no_interval() {
        assert_eq!(paired_shift(&[], 0.95), None);
        assert_eq!(group_shift(&[1.0], &[], 0.95), None);
        assert_eq!(
            paired_shift(&[1.0, 2.0], 0.95),
            Some(Shift { amount: 1.5, significance: None })
        );
        assert_eq!(
            group_shift(&[1.0], &[2.0; 9], 0.95),
            Some(Shift { amount: 1.0, significance: None })
        );
    }

    /// Darwin's maize (15 pairs, from Hollander, Wolfe and Chicken), and a table of Student's t.
    #[test]
    fn shifts_match_textbooks() {
        let darwin = [
            49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0,
            -48.0,
        ];
        let shift = paired_shift(&darwin, 0.95).unwrap();
        let known = shift.significance.unwrap();
        assert!((known.p - 0.0413).abs() < 5e-4, "{known:?}");
        assert!(
            known.interval[0] > 0.0 && known.interval[1] < 50.0 && shift.amount > 20.0,
            "{shift:?}"
        );
        let three = paired_shift(&[1.0, 2.0, 3.0], 0.95).unwrap().significance.unwrap();
        let half = 4.302_65 / 3.0_f64.sqrt();
        assert!((three.interval[0] - (2.0 - half)).abs() < 1e-4, "{three:?}");
    }

    #[test]
    fn equal_values_are_not_significant() {
        let same = paired_shift(&[0.0; 8], 0.95).unwrap();
        assert_eq!(same.significance, Some(ShiftSignificance { interval: [0.0, 0.0], p: 1.0 }));
        for few in [paired_shift(&[0.1; 3], 0.95), group_shift(&[0.0; 3], &[0.1; 3], 0.95)] {
            assert!(few.unwrap().significance.unwrap().p >= 0.1, "{few:?}");
        }
    }

    /// Miss rate of the interval and rejection rate of the test, for 3 to 14 normal values; three
    /// standard errors of 2,000 trials.
    #[test]
    fn interval_covers_shift_and_test_keeps_rate() {
        let mut random = Random::new(5);
        let mut normal = || random.normal();
        for n in [3, 5, 6, 14] {
            let mut rates = [0; 4];
            for _ in 0..2000 {
                let a: Vec<f64> = (0..n).map(|_| normal()).collect();
                let b: Vec<f64> = (0..n).map(|_| 1.0 + normal()).collect();
                let pairs: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
                let null: Vec<f64> = pairs.iter().map(|it| it - 1.0).collect();
                let nulls: Vec<f64> = b.iter().map(|it| it - 1.0).collect();
                let misses = |shift: Shift| {
                    let [low, high] = shift.significance.unwrap().interval;
                    usize::from(low > 1.0 || high < 1.0)
                };
                let rejects = |shift: Shift| usize::from(shift.significance.unwrap().p <= 0.05);
                rates[0] += misses(paired_shift(&pairs, 0.95).unwrap());
                rates[1] += misses(group_shift(&a, &b, 0.95).unwrap());
                rates[2] += rejects(paired_shift(&null, 0.95).unwrap());
                rates[3] += rejects(group_shift(&a, &nulls, 0.95).unwrap());
            }
            assert!(rates.iter().all(|times| *times < 130), "{n}: {rates:?} of 2000");
        }
    }
}
