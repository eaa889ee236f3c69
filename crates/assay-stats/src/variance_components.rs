//! Components of variance of nested repetitions: runs, preparations within a run, samples within a
//! preparation.
//!
//! Analysis of variance for groups of any size (Searle and others, Variance Components, 1992,
//! ch. 3): sums of squares between the groups of each level are set equal to their
//! expectations, from the finest level up. Assumes independent effects of constant variance.

use std::collections::BTreeMap;

use crate::random::Random;

/// Draws for the intervals: the quantiles of 2.5 % have a standard error of 0.5 %.
const DRAWS: usize = 1000;
/// Degrees of freedom above which χ² is approximated (Wilson and Hilferty, PNAS 17:684, 1931).
const MANY: usize = 30;
/// Shares of the draws outside of an interval, on either side.
const TAIL: f64 = 0.025;

/// Value with its group at each level, the coarsest first; the last one is its own.
pub type NestedValue = (Vec<usize>, f64);

/// Component of one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceComponent {
    /// Estimated variance between the groups of the level; never below 0.
    pub variance: f64,
    /// Interval of the variance at 95 %: generalised, by draws of every sum of squares (Weerahandi, J.
    /// Am. Stat. Assoc. 88:899, 1993).
    pub interval: [f64; 2],
    /// Degrees of freedom: groups beyond those of the next coarser level.
    pub freedom: usize,
}

/// Sums of squares with the coefficients of their expectations.
struct SquareSums {
    /// Sum of each level.
    sums: Vec<f64>,
    freedoms: Vec<usize>,
    /// `coefficients[i][j]`: factor of component j in the expected sum of level i.
    coefficients: Vec<Vec<f64>>,
}

/// Returns the component of each of `levels` levels; `None` where no group of the next coarser level
/// has two of the level.
pub fn estimate_components(
    values: &[NestedValue],
    levels: usize,
) -> Vec<Option<VarianceComponent>> {
    let Some(sums) = SquareSums::new(values, levels) else { return vec![None; levels] };
    let estimate = sums.solve(&sums.sums);
    let mut random = Random::new(1);
    let mut draws: Vec<Vec<f64>> = vec![Vec::with_capacity(DRAWS); levels];
    for _ in 0..DRAWS {
        let scaled = sums.sums.iter().zip(&sums.freedoms).map(|(sum, freedom)| match freedom {
            0 => 0.0,
            _ => sum * *freedom as f64 / chi_square(*freedom, &mut random),
        });
        let drawn = sums.solve(&scaled.collect::<Vec<_>>());
        draws.iter_mut().zip(drawn).for_each(|(all, one)| all.push(one));
    }
    let component = |level: usize| {
        let freedom = sums.freedoms[level];
        let sorted = &mut draws[level];
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = |share: f64| sorted[(share * (DRAWS - 1) as f64).round() as usize];
        let interval = [quantile(TAIL), quantile(1.0 - TAIL)];
        (freedom > 0).then(|| VarianceComponent {
            variance: estimate[level],
            interval,
            freedom,
        })
    };
    (0..levels).map(component).collect()
}

impl SquareSums {
    fn new(values: &[NestedValue], levels: usize) -> Option<Self> {
        let all = values.len() as f64;
        let mean = values.iter().map(|(_, value)| value).sum::<f64>() / all;
        // Groups by level, from all values as one group down to single values.
        let mut groups: Vec<BTreeMap<&[usize], (f64, f64)>> = vec![BTreeMap::new(); levels + 1];
        for (path, value) in values {
            for (level, groups) in groups.iter_mut().enumerate() {
                let group = groups.entry(path.get(..level)?).or_default();
                group.0 += 1.0;
                group.1 += value - mean;
            }
        }
        let squares: Vec<f64> = groups
            .iter()
            .map(|it| it.values().map(|(count, sum)| sum.powi(2) / count).sum())
            .collect();
        // Σ n² / N over the groups of level j, each within its group of level i.
        let shared = |i: usize, j: usize| -> f64 {
            if j <= i {
                return all;
            }
            let within = groups[j].iter().filter_map(|(path, (count, _))| {
                Some(count.powi(2) / groups[i].get(&path[..i])?.0)
            });
            within.sum()
        };
        let row = |i: usize| (1..=levels).map(|j| shared(i, j) - shared(i - 1, j)).collect();
        Some(Self {
            sums: (1..=levels).map(|i| (squares[i] - squares[i - 1]).max(0.0)).collect(),
            freedoms: (1..=levels).map(|i| groups[i].len() - groups[i - 1].len()).collect(),
            coefficients: (1..=levels).map(row).collect(),
        })
    }

    /// Solves for the components from the finest level up; negative ones become 0.
    fn solve(&self, sums: &[f64]) -> Vec<f64> {
        let mut components = vec![0.0; sums.len()];
        for level in (0..sums.len()).rev() {
            if self.freedoms[level] == 0 {
                continue;
            }
            let row = &self.coefficients[level];
            let finer: f64 =
                (level + 1..sums.len()).map(|finer| row[finer] * components[finer]).sum();
            components[level] = ((sums[level] - finer) / row[level]).max(0.0);
        }
        components
    }
}

fn chi_square(freedom: usize, random: &mut Random) -> f64 {
    if freedom <= MANY {
        return (0..freedom).map(|_| random.normal().powi(2)).sum();
    }
    let spread = 2.0 / (9.0 * freedom as f64);
    freedom as f64 * (1.0 - spread + random.normal() * spread.sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs with preparations with samples, with these standard deviations; numbers of groups vary.
    fn nested(spreads: [f64; 3], counts: [usize; 3], random: &mut Random) -> Vec<NestedValue> {
        let mut values = Vec::new();
        for run in 0..counts[0] {
            let of_run = spreads[0] * random.normal();
            for preparation in 0..counts[1] - run % 2 {
                let of_preparation = of_run + spreads[1] * random.normal();
                for sample in 0..counts[2] - preparation % 2 {
                    let value = of_preparation + spreads[2] * random.normal();
                    values.push((vec![run, preparation, sample], value));
                }
            }
        }
        values
    }

    /// Estimates are right on average, and their intervals contain the truth, within three standard
    /// errors of 300 trials.
    #[test]
    fn simulated_components_are_recovered() {
        let mut random = Random::new(4);
        for spreads in [[3.0, 2.0, 1.0], [4.0, 3.0, 4.0], [3.0, 3.0, 2.0]] {
            let (mut means, mut covered) = ([0.0; 3], [0; 3]);
            for _ in 0..300 {
                let values = nested(spreads, [6, 4, 5], &mut random);
                for (level, found) in estimate_components(&values, 3).into_iter().enumerate() {
                    let found = found.unwrap();
                    let truth = spreads[level].powi(2);
                    means[level] += found.variance / 300.0;
                    covered[level] +=
                        u32::from(found.interval[0] <= truth && truth <= found.interval[1]);
                }
            }
            for level in 0..3 {
                let truth = spreads[level].powi(2);
                let error = (means[level] - truth).abs() / truth;
                assert!(error < 0.2, "{spreads:?} {level}: {means:?}");
                assert!(covered[level] >= 270, "{spreads:?} {level}: {covered:?} of 300");
            }
        }
    }

    #[test]
    fn levels_without_repetition_are_unknown() {
        let mut random = Random::new(5);
        let one_run = estimate_components(&nested([1.0; 3], [1, 4, 5], &mut random), 3);
        assert!(one_run[0].is_none() && one_run[1].is_some() && one_run[2].is_some());
        let single: Vec<NestedValue> =
            (0..5).map(|run| (vec![run, 0, 0], run as f64)).collect();
        let found = estimate_components(&single, 3);
        assert_eq!(found[0].map(|it| it.variance), Some(2.5));
        assert_eq!(found[1..], [None, None]);
        assert_eq!(estimate_components(&[], 3), [None, None, None]);
        // A path that is too short has no group.
        assert_eq!(estimate_components(&[(vec![0], 1.0)], 3), [None, None, None]);
    }
}
