//! By how much one group of values lies above another: Hodges and Lehmann's estimate with its interval, and
//! how likely as much is where nothing differs.
//!
//! The values are those of whole runs, on a scale on which a difference means the same everywhere: of
//! logarithms, a difference is a ratio. From [`FEWEST_RANKED`] values on nothing is assumed about their
//! distribution; with fewer ranks can show nothing at 95 %, and Student's t with its normal distribution
//! stands in.

use crate::rank_statistic::RankStatistic;
use crate::student;

/// Fewer values on a side than this have no interval.
pub const FEWEST: usize = 3;
/// The fewest pairs whose order can be improbable enough: 2 / 2⁶ = 3 %.
pub const FEWEST_RANKED: usize = 6;

/// A shift with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// How far the second group lies above the first.
    pub by: f64,
    /// Its interval and the probability of a shift as large by chance alone; `None` with too few values.
    pub known: Option<Known>,
}

/// What enough values tell of a shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// The interval of the shift.
    pub interval: [f64; 2],
    /// The probability of a shift at least as large, either way, where nothing differs.
    pub p: f64,
}

/// The shift of paired values, from their differences; `None` without one.
///
/// The median of the means of every two differences, with the interval of the same means that Wilcoxon's
/// signed-rank test does not reject (Hollander, Wolfe and Chicken, 3rd ed., 3.2 and 3.3).
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

/// The shift between two independent groups; `None` where one has no value.
///
/// The median of all differences, with the interval of those that the rank-sum test does not reject
/// (Hollander, Wolfe and Chicken, 3rd ed., 4.2 and 4.3); with few values Welch's t, whose degrees of freedom
/// are rounded down.
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

/// `minimum` is the probability that stands for 0: values that do not differ among themselves at all are no
/// proof, for few can agree by chance where a figure is coarse.
fn by_student(mean: f64, error: f64, freedom: u32, (risk, minimum): (f64, f64)) -> Shift {
    let half = student::critical(risk, freedom) * error;
    // Equal values differ by rounding.
    let are_equal = error <= 1e-12 * mean.abs();
    let p = match (mean == 0.0, are_equal) {
        (true, _) => 1.0,
        (false, true) => minimum,
        (false, false) => student::beyond(mean / error, freedom),
    };
    Shift { by: mean, known: Some(Known { interval: [mean - half, mean + half], p }) }
}

/// The median of `values`, and the interval between their values of the same rank from either end.
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

/// Wilcoxon's test. Differences of 0 say nothing about the side and are left out.
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

/// Mean and variance.
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

    /// Darwin's maize (Hollander, Wolfe and Chicken give 15 pairs of it), and a table of Student's t.
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

    /// How often the interval misses, for values that are skewed and for few normal ones; three standard
    /// errors of 2,000 trials.
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
