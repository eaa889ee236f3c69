//! Friedman's test: whether any of several conditions differs, where each block has all of them.

use crate::rank;

/// Minimum number of blocks for a test.
pub const MIN_BLOCKS: usize = 3;
/// Relative size of a term at which a series or a continued fraction ends.
const PRECISION: f64 = 1e-15;
/// Maximum number of terms; far more than any number of conditions needs.
const MAX_TERMS: u32 = 10_000;

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FriedmanTest {
    /// The statistic.
    pub statistic: f64,
    /// Probability of a statistic at least as large, if no condition differs.
    pub p: f64,
}

/// Tests blocks of equally many values, one of each condition; `None` with fewer than two conditions
/// or [`MIN_BLOCKS`] blocks.
///
/// χ² = (12 / (n k (k + 1)) Σ Rⱼ² − 3 n (k + 1)) / (1 − Σ (t³ − t) / (n k (k² − 1))) with k − 1
/// degrees of freedom, for the rank sums Rⱼ of k conditions in n blocks and ties of t values
/// (Friedman, J. Am. Stat. Assoc. 32:675, 1937; Hollander, Wolfe and Chicken, 3rd ed., 7.1). Nothing
/// is assumed about the distribution within a block, nor between blocks.
pub fn test(blocks: &[Vec<f64>]) -> Option<FriedmanTest> {
    let conditions = blocks.first()?.len();
    let is_complete = blocks.iter().all(|block| block.len() == conditions);
    if conditions < 2 || blocks.len() < MIN_BLOCKS || !is_complete {
        return None;
    }
    let (n, k) = (blocks.len() as f64, conditions as f64);
    let mut sums = vec![0.0; conditions];
    let mut ties = 0.0;
    for block in blocks {
        let mut ranks = rank::mid_ranks(block);
        sums.iter_mut().zip(&ranks).for_each(|(sum, rank)| *sum += rank);
        ranks.sort_unstable_by(f64::total_cmp);
        let tied = ranks.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|it| it.len() as f64);
        ties += tied.map(|t| t.powi(3) - t).sum::<f64>();
    }
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let plain = 12.0 / (n * k * (k + 1.0)) * squares - 3.0 * n * (k + 1.0);
    let correction = 1.0 - ties / (n * k * (k * k - 1.0));
    if correction <= PRECISION {
        return Some(FriedmanTest { statistic: 0.0, p: 1.0 });
    }
    let statistic = (plain / correction).max(0.0);
    Some(FriedmanTest { statistic, p: chi_squared_tail(statistic, conditions - 1) })
}

/// Returns the probability that chi-squared with `freedom` degrees of freedom exceeds `value`: the
/// regularized incomplete gamma function Q(freedom / 2, value / 2), by its series or its continued
/// fraction (Abramowitz and Stegun, 6.5.29 and 6.5.31).
pub fn chi_squared_tail(value: f64, freedom: usize) -> f64 {
    let (a, x) = (0.5 * freedom as f64, 0.5 * value);
    if x.is_nan() || x <= 0.0 {
        return 1.0;
    }
    let log_weight = a * x.ln() - x - log_gamma_of_half(freedom);
    let tail = match x < a + 1.0 {
        true => 1.0 - log_weight.exp() * lower_series(a, x),
        false => log_weight.exp() * upper_fraction(a, x),
    };
    tail.clamp(0.0, 1.0)
}

/// Returns ln Γ(`twice` / 2), by recursion from Γ(1) = 1 or Γ(1/2) = √π.
fn log_gamma_of_half(twice: usize) -> f64 {
    let (first, start) = match twice % 2 {
        0 => (2, 0.0),
        _ => (1, 0.5 * std::f64::consts::PI.ln()),
    };
    let factors = (first..twice).step_by(2).map(|it| (0.5 * it as f64).ln());
    start + factors.sum::<f64>()
}

fn lower_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for step in 1..MAX_TERMS {
        term *= x / (a + f64::from(step));
        sum += term;
        if term < PRECISION * sum {
            break;
        }
    }
    sum
}

/// Evaluates the continued fraction by the method of Lentz.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let mut odd = x + 1.0 - a;
    let mut c = f64::MAX;
    let mut d = 1.0 / odd;
    let mut value = d;
    for step in 1..MAX_TERMS {
        let numerator = f64::from(step) * (a - f64::from(step));
        odd += 2.0;
        d = 1.0 / (numerator * d + odd);
        c = odd + numerator / c;
        value *= c * d;
        if (c * d - 1.0).abs() < PRECISION {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks against `scipy.stats.chi2.sf`, version 1.17.1.
    #[test]
    fn tail_matches_scipy() {
        for (value, freedom, expected) in [
            (11.142_857, 2, 0.003_805_041_047_3),
            (3.84, 1, 0.050_043_521_248_705_19),
            (9.49, 4, 0.049_953_131_223_294_894),
            (0.1, 3, 0.991_837_423_731_876_4),
            (80.0, 10, 5.020_464_318_829_132e-13),
            (30.0, 30, 0.465_653_708_944_009_8),
            (200.0, 255, 0.995_425_444_541_951_9),
            (0.0, 3, 1.0),
        ] {
            let found = chi_squared_tail(value, freedom);
            assert!((found / expected - 1.0).abs() < 1e-9, "{value} {freedom}: {found}");
        }
    }

    /// Checks against `scipy.stats.friedmanchisquare`, version 1.17.1: with ties, the times of 22
    /// players to round first base (Hollander, Wolfe and Chicken, table 7.1).
    #[test]
    fn statistic_matches_scipy() {
        let times = "5.40 5.50 5.55 5.85 5.70 5.75 5.20 5.60 5.50 5.55 5.50 5.40 5.90 5.85 5.70 \
                     5.45 5.55 5.60 5.40 5.40 5.35 5.45 5.50 5.35 5.25 5.15 5.00 5.85 5.80 5.70 \
                     5.25 5.20 5.10 5.65 5.55 5.45 5.60 5.35 5.45 5.05 5.00 4.95 5.50 5.50 5.40 \
                     5.45 5.55 5.50 5.55 5.55 5.35 5.45 5.50 5.55 5.50 5.45 5.25 5.65 5.60 5.40 \
                     5.70 5.65 5.55 6.30 6.30 6.25";
        let times: Vec<f64> = times.split(' ').map(|it| it.parse().unwrap()).collect();
        let players: Vec<Vec<f64>> = times.chunks(3).map(<[f64]>::to_vec).collect();
        let few = [[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0], [1.0, 3.0, 2.0, 4.0]];
        let few = few.map(|it| it.to_vec());
        for (blocks, statistic, p) in [
            (&players[..], 11.142_857_142_857_132, 0.003_805_040_775_511_383),
            (&few[..], 5.8, 0.121_756_619_711_252_1),
        ] {
            let found = test(blocks).unwrap();
            assert!((found.statistic - statistic).abs() < 1e-9, "{found:?}");
            assert!((found.p - p).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn equal_values_differ_in_nothing() {
        let same = test(&vec![vec![1.0; 3]; 5]);
        assert_eq!(same, Some(FriedmanTest { statistic: 0.0, p: 1.0 }));
        assert_eq!(test(&[]), None);
        assert_eq!(test(&vec![vec![1.0]; 5]), None);
        assert_eq!(test(&[vec![1.0, 2.0], vec![1.0, 2.0]]), None);
        assert_eq!(test(&[vec![1.0, 2.0], vec![1.0], vec![1.0, 2.0]]), None);
    }
}
