//! Warm-up detection: finds the leading repetitions of a preparation that differ from the rest.

use crate::autocorrelation::integrated_time;
use crate::rank::mid_ranks;

/// Returns for each preparation the number of leading values to discard, at most half of them.
///
/// A common warm-up is searched first, because every fresh allocation may cause one: for every
/// split d the ranks before it are compared with those after it, within each preparation and summed
/// over them, z(d) = Σ (W(d) − d r̄) / √(Σ d (n − d) s² / (n − 1)), where W(d) is the sum of the
/// first d ranks, r̄ and s² mean and variance of all ranks of the preparation (Mann and Whitney's
/// test, stratified as by van Elteren, with the exact variance under permutation, also with ties).
/// The split with the largest |z| counts if it exceeds a threshold that independent samples of any
/// distribution exceed in about 1 of 200 series; then the rest is tested again. After that each
/// preparation is tested separately, for a warm-up of the machine itself. Where successive values
/// in the second halves correlate, |z| is divided by √τ, their autocorrelation time: a series that
/// wanders all the time has no warm-up.
///
/// The test detects a level that lasts or that recurs in every preparation. A single slow
/// repetition at the head of one preparation stays: it cannot be distinguished from an ordinary
/// outlier, and the median is not affected. Independent samples lose less than 1 % of their number.
pub fn detect_warm_up(preparations: &[Vec<f64>]) -> Vec<usize> {
    let mut discarded = vec![0; preparations.len()];
    let all: Vec<usize> = (0..preparations.len()).collect();
    discard_leading(preparations, &all, &mut discarded);
    if preparations.len() > 1 {
        for preparation in all {
            discard_leading(preparations, &[preparation], &mut discarded);
        }
    }
    discarded
}

/// Discards leading values of the preparations with the indices `members`, tested together, until
/// no split is significant.
fn discard_leading(preparations: &[Vec<f64>], members: &[usize], discarded: &mut [usize]) {
    let remaining_limit = |index: usize, discarded: &[usize]| {
        (preparations[index].len() / 2).saturating_sub(discarded[index])
    };
    loop {
        let strata: Vec<Stratum> = members
            .iter()
            .map(|index| {
                Stratum::new(
                    &preparations[*index][discarded[*index]..],
                    remaining_limit(*index, discarded),
                )
            })
            .collect();
        let split = best_split(&strata);
        if split == 0 {
            return;
        }
        for index in members {
            discarded[*index] += split.min(remaining_limit(*index, discarded));
        }
    }
}

/// Ranks of the remaining values of one preparation, relative to their mean.
struct Stratum {
    excess: Vec<f64>,
    squares: f64,
    max_discard: usize,
}

impl Stratum {
    fn new(values: &[f64], max_discard: usize) -> Self {
        let mean = (values.len() as f64 + 1.0) / 2.0;
        let excess: Vec<f64> = mid_ranks(values).iter().map(|rank| rank - mean).collect();
        let squares = excess.iter().map(|x| x * x).sum();
        Self { excess, squares, max_discard }
    }

    fn second_half(&self) -> Vec<f64> {
        self.excess[self.excess.len() / 2..].to_vec()
    }

    /// Returns the variance of the sum of `before` ranks drawn at random without replacement.
    fn variance(&self, before: usize) -> f64 {
        let (n, before) = (self.excess.len() as f64, before as f64);
        before * (n - before) / n * self.squares / (n - 1.0)
    }
}

/// Returns the most significant split: the number of values before it; 0 if none is significant.
fn best_split(strata: &[Stratum]) -> usize {
    let max_split = strata.iter().map(|stratum| stratum.max_discard).max().unwrap_or(0);
    let n: usize = strata.iter().map(|stratum| stratum.excess.len()).sum();
    let mut sums = vec![0.0; strata.len()];
    let second_halves: Vec<Vec<f64>> = strata.iter().map(Stratum::second_half).collect();
    let autocorrelation_time = integrated_time(&second_halves);
    let mut best = (split_threshold(n) * autocorrelation_time.sqrt(), 0);
    for split in 1..=max_split {
        let (mut excess, mut variance) = (0.0, 0.0);
        for (stratum, sum) in strata.iter().zip(&mut sums) {
            if split <= stratum.max_discard {
                *sum += stratum.excess[split - 1];
                excess += *sum;
                variance += stratum.variance(split);
            }
        }
        let z = excess.abs() / variance.sqrt();
        if z > best.0 {
            best = (z, split);
        }
    }
    best.1
}

/// Returns the threshold that the largest |z| over all splits exceeds in about 1 of 200 series of n
/// independent samples, in any number of preparations: 2.1 + 0.86 ln ln n. It is fitted to 40,000
/// simulated series each for n from 10 to 1,000 (the law of the iterated logarithm gives the form).
/// Below 14 samples no split can exceed it.
fn split_threshold(n: usize) -> f64 {
    2.1 + 0.86 * (n.max(3) as f64).ln().ln()
}

#[cfg(test)]
mod tests;
