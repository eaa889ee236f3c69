//! Shift between two groups of values: Hodges and Lehmann's estimate with its interval, and the p
//! value under no difference.
//!
//! The values are those of whole runs, on a scale on which a difference has the same meaning
//! everywhere: on a logarithmic scale, a difference is a ratio. From [`MIN_RANKED`] values on,
//! nothing is assumed about their distribution. With fewer values, ranks cannot be significant at
//! 95 %; Student's t is used instead, which assumes a normal distribution.

use crate::rank_statistic::RankStatistic;
use crate::student;

/// Minimum number of values on a side for an interval.
pub const FEWEST: usize = 3;
/// Minimum number of pairs whose ranks can be significant: 2 / 2⁶ = 3 %.
pub const FEWEST_RANKED: usize = 6;

/// Shift with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Difference of the second group from the first.
    pub by: f64,
    /// Interval and p value of the shift; `None` with too few values.
    pub known: Option<Known>,
}

/// Interval and p value of a shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
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
#[must_use]
pub fn of_pairs(differences: &[f64], level: f64) -> Option<Shift> {
    let risk = 1.0 - level;
    match differences.len() {
        0 => None,
        n if n < FEWEST => Some(Shift { by: middle(differences.to_vec())?, known: None }),
        n if n < FEWEST_RANKED => {
            let (mean, variance) = moments(differences);
            let error = (variance / n as f64).sqrt();
            let minimum = 2.0 / f64::from(1_u32 << n);
            Some(by_student(mean, error, n as u32 - 1, (risk, minimum)))
        }
        n => {
            let pairs = (0..n).flat_map(|i| (i..n).map(move |j| (i, j)));
            let means = pairs.map(|(i, j)| 0.5 * (differences[i] + differences[j]));
            let distribution = RankStatistic::of_pairs(n);
            let (by, interval) = ranked(means.collect(), &distribution, risk)?;
            Some(Shift { by, known: Some(Known { interval, p: signed_rank(differences) }) })
        }
    }
}

/// Returns the shift between two independent groups; `None` if one is empty.
///
/// The estimate is the median of all differences, with the interval of those that the rank-sum test
/// does not reject (Hollander, Wolfe and Chicken, 3rd ed., 4.2 and 4.3); with few values, Welch's t
/// with degrees of freedom rounded down.
#[must_use]
pub fn of_groups(a: &[f64], b: &[f64], level: f64) -> Option<Shift> {
    let risk = 1.0 - level;
    let differences = || b.iter().flat_map(|b| a.iter().map(move |a| b - a));
    match a.len().min(b.len()) {
        0 => None,
        n if n < FEWEST => Some(Shift { by: middle(differences().collect())?, known: None }),
        n if n < FEWEST_RANKED => {
            let ((mean_a, of_a), (mean_b, of_b)) = (moments(a), moments(b));
            let (of_a, of_b) = (of_a / a.len() as f64, of_b / b.len() as f64);
            let share = |of: f64, n: usize| of.powi(2) / (n as f64 - 1.0);
            let freedom = (of_a + of_b).powi(2) / (share(of_a, a.len()) + share(of_b, b.len()));
            let freedom = if freedom.is_finite() { freedom as u32 } else { n as u32 - 1 };
            let minimum = RankStatistic::of_groups(a.len(), b.len()).minimum();
            let error = (of_a + of_b).sqrt();
            Some(by_student(mean_b - mean_a, error, freedom.max(1), (risk, minimum)))
        }
        _ => {
            let distribution = RankStatistic::of_groups(a.len(), b.len());
            let (by, interval) = ranked(differences().collect(), &distribution, risk)?;
            let above: f64 = differences().map(|it| 0.5 * (1.0 + sign(it))).sum();
            Some(Shift {
                by,
                known: Some(Known { interval, p: distribution.two_sided(above) }),
            })
        }
    }
}

/// Returns a shift with Student's t. `minimum` replaces a p value of 0: values without any spread
/// are no proof, because few coarse values may agree by chance.
fn by_student(mean: f64, error: f64, freedom: u32, (risk, minimum): (f64, f64)) -> Shift {
    let half = student::critical(risk, freedom) * error;
    // Tolerates rounding between equal values.
    let are_equal = error <= 1e-12 * mean.abs();
    let p = match (mean == 0.0, are_equal) {
        (true, _) => 1.0,
        (false, true) => minimum,
        (false, false) => student::beyond(mean / error, freedom),
    };
    Shift { by: mean, known: Some(Known { interval: [mean - half, mean + half], p }) }
}

/// Returns the median of `values`, and the interval between the values of the same rank from either
/// end.
fn ranked(
    mut values: Vec<f64>,
    distribution: &RankStatistic,
    risk: f64,
) -> Option<(f64, [f64; 2])> {
    values.sort_unstable_by(f64::total_cmp);
    let rank = distribution.interval_rank(risk)?;
    let ends = [*values.get(rank - 1)?, *values.get(values.len().checked_sub(rank)?)?];
    Some((middle(values)?, ends))
}

/// Returns the p value of Wilcoxon's signed-rank test. Differences of 0 have no sign and are left
/// out.
fn signed_rank(differences: &[f64]) -> f64 {
    let differences: Vec<f64> =
        differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if differences.is_empty() {
        return 1.0;
    }
    let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    let ranks = crate::rank::mid_ranks(&sizes);
    let above = ranks.iter().zip(&differences).filter(|(_, difference)| **difference > 0.0);
    RankStatistic::of_pairs(differences.len()).two_sided(above.map(|(rank, _)| rank).sum())
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    crate::quantile::median(&values)
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
    fn few_values_tell_little() {
        assert_eq!(of_pairs(&[], 0.95), None);
        assert_eq!(of_groups(&[1.0], &[], 0.95), None);
        assert_eq!(of_pairs(&[1.0, 2.0], 0.95), Some(Shift { by: 1.5, known: None }));
        assert_eq!(of_groups(&[1.0], &[2.0; 9], 0.95), Some(Shift { by: 1.0, known: None }));
    }

    /// Darwin's maize (15 pairs, from Hollander, Wolfe and Chicken), and a table of Student's t.
    #[test]
    fn shifts_are_those_of_the_textbooks() {
        let darwin = [
            49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0,
            -48.0,
        ];
        let shift = of_pairs(&darwin, 0.95).unwrap();
        let known = shift.known.unwrap();
        assert!((known.p - 0.0413).abs() < 5e-4, "{known:?}");
        assert!(
            known.interval[0] > 0.0 && known.interval[1] < 50.0 && shift.by > 20.0,
            "{shift:?}"
        );
        let three = of_pairs(&[1.0, 2.0, 3.0], 0.95).unwrap().known.unwrap();
        let half = 4.302_65 / 3.0_f64.sqrt();
        assert!((three.interval[0] - (2.0 - half)).abs() < 1e-4, "{three:?}");
    }

    #[test]
    fn equal_values_are_no_proof() {
        let same = of_pairs(&[0.0; 8], 0.95).unwrap();
        assert_eq!(same.known, Some(Known { interval: [0.0, 0.0], p: 1.0 }));
        for few in [of_pairs(&[0.1; 3], 0.95), of_groups(&[0.0; 3], &[0.1; 3], 0.95)] {
            assert!(few.unwrap().known.unwrap().p >= 0.1, "{few:?}");
        }
    }

    /// Miss rate of the interval and rejection rate of the test, for 3 to 14 normal values; three
    /// standard errors of 2,000 trials.
    #[test]
    fn intervals_cover_the_shift_and_the_test_keeps_its_rate() {
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
                    let [low, high] = shift.known.unwrap().interval;
                    usize::from(low > 1.0 || high < 1.0)
                };
                let rejects = |shift: Shift| usize::from(shift.known.unwrap().p <= 0.05);
                rates[0] += misses(of_pairs(&pairs, 0.95).unwrap());
                rates[1] += misses(of_groups(&a, &b, 0.95).unwrap());
                rates[2] += rejects(of_pairs(&null, 0.95).unwrap());
                rates[3] += rejects(of_groups(&a, &nulls, 0.95).unwrap());
            }
            assert!(rates.iter().all(|times| *times < 130), "{n}: {rates:?} of 2000");
        }
    }
}
