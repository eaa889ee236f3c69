//! Exact null distributions of rank statistics: Wilcoxon's signed-rank statistic of pairs and the
//! rank-sum statistic of two independent groups.
//!
//! Pairs must be symmetric about their shift, and both groups must have the same shape; nothing
//! else is assumed (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed., ch.
//! 3, 4).

/// Maximum number of values on one side; above it the number of orders would overflow.
pub const MAX_VALUES: usize = 400;

/// Symmetric distribution of a statistic with integer values from 0.
#[derive(Debug, Clone)]
pub struct RankStatistic {
    /// Cumulative probability of each value.
    cumulative: Vec<f64>,
}

impl RankStatistic {
    /// Returns the distribution of the sum of the positive ranks of `n` differences: all 2ⁿ choices
    /// of signs are equally likely.
    pub fn signed_rank(n: usize) -> Self {
        let mut ways = vec![0.0; n * (n + 1) / 2 + 1];
        ways[0] = 1.0;
        for rank in 1..=n {
            // Descending, so that no rank is taken twice.
            for sum in (rank..=rank * (rank + 1) / 2).rev() {
                ways[sum] += ways[sum - rank];
            }
        }
        Self::from_counts(&ways)
    }

    /// Returns the distribution of the number of pairs of a value of the first group and a greater
    /// one of the second: all assignments of ranks are equally likely. Their numbers are the
    /// coefficients of ∏ (1 − qⁿ⁺ⁱ) / (1 − qⁱ), i = 1 … m.
    pub fn rank_sum(m: usize, n: usize) -> Self {
        let mut ways = vec![0.0; m * n + 1];
        ways[0] = 1.0;
        for i in 1..=m {
            for sum in (n + i..ways.len()).rev() {
                ways[sum] -= ways[sum - n - i];
            }
            for sum in i..ways.len() {
                ways[sum] += ways[sum - i];
            }
        }
        Self::from_counts(&ways)
    }

    fn from_counts(ways: &[f64]) -> Self {
        let all: f64 = ways.iter().sum();
        let sum = |so_far: &mut f64, ways: &f64| {
            *so_far += ways / all;
            Some(*so_far)
        };
        Self { cumulative: ways.iter().scan(0.0, sum).collect() }
    }

    /// Returns the two-sided probability of a value at least as far from the centre. Fractional
    /// values, from ties, are rounded towards the centre.
    pub fn two_sided_p(&self, value: f64) -> f64 {
        let maximum = (self.cumulative.len() - 1) as f64;
        let below = value.min(maximum - value).ceil().max(0.0);
        (2.0 * self.cumulative[below as usize]).min(1.0)
    }

    /// Returns the rank, from 1 and from either end, of the ends of an interval that misses with at
    /// most this probability; `None` where there are too few values.
    pub fn interval_rank(&self, risk: f64) -> Option<usize> {
        let below = self.cumulative.iter().take_while(|it| **it <= risk / 2.0).count();
        (below > 0).then_some(below)
    }

    /// Returns the minimum two-sided probability of any outcome.
    pub fn minimum_p(&self) -> f64 {
        self.two_sided_p(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the tables of Hollander, Wolfe and Chicken, A.4 and A.6, and by enumeration.
    #[test]
    fn probabilities_match_tables() {
        let pairs = |n, value| RankStatistic::signed_rank(n).two_sided_p(value);
        for (n, value, expected) in [
            (6, 0.0, 2.0 / 64.0),
            (6, 21.0, 2.0 / 64.0),
            (8, 3.0, 10.0 / 256.0),
            (10, 8.0, 50.0 / 1024.0),
            (10, 27.5, 1.0),
        ] {
            let found = pairs(n, value);
            assert!((found - expected).abs() < 1e-12, "{n} {value}: {found}");
        }
        let groups = |m, n, value| RankStatistic::rank_sum(m, n).two_sided_p(value);
        for (m, n, value, expected) in [
            (4, 4, 0.0, 2.0 / 70.0),
            (6, 6, 0.0, 2.0 / 924.0),
            (3, 5, 1.0, 4.0 / 56.0),
            (5, 3, 14.0, 4.0 / 56.0),
        ] {
            let found = groups(m, n, value);
            assert!((found - expected).abs() < 1e-12, "{m} {n} {value}: {found}");
        }
    }

    #[test]
    fn large_groups_are_exact_in_the_tails() {
        let many = RankStatistic::rank_sum(60, 60);
        assert!(many.cumulative.windows(2).all(|it| it[0] <= it[1] + 1e-12), "it never falls");
        assert!((many.cumulative.last().unwrap() - 1.0).abs() < 1e-9);
        assert!(many.minimum_p() < 1e-30);
    }

    #[test]
    fn intervals_need_six_pairs() {
        for (n, expected) in [(5, None), (6, Some(1)), (8, Some(4)), (10, Some(9))] {
            assert_eq!(RankStatistic::signed_rank(n).interval_rank(0.05), expected, "{n}");
        }
    }
}
