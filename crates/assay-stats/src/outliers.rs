//! Which of several hosts that ought to be alike is worse than the others.

use assay_model::benchmark::Better;

use crate::student;

/// Fewer values have no others to be unlike.
pub const FEWEST: usize = 4;
/// Hosts that differ less than this from the median of all are alike, however even the others are: the margin
/// that a comparison uses unless told otherwise.
pub const MARGIN: f64 = 0.02;

/// The places of values that are worse than the others by more than [`MARGIN`] and more than chance explains, the
/// worst first. `risk` is the probability to name any where all are alike and their logarithms normal.
///
/// One-sided generalised extreme studentised deviates (Rosner, Technometrics 25:165, 1983), for at most a quarter
/// of the values: several slow hosts do not hide each other, as they do where the one with the largest deviation
/// is tested alone.
#[must_use]
pub fn worse(values: &[f64], better: Better, risk: f64) -> Vec<usize> {
    let is_usable = |value: &f64| value.is_finite() && *value > 0.0;
    if values.len() < FEWEST || !values.iter().all(is_usable) {
        return Vec::new();
    }
    let goodness = |value: &f64| match better {
        Better::Higher => value.ln(),
        Better::Lower => -value.ln(),
    };
    let mut left: Vec<(usize, f64)> = values.iter().map(goodness).enumerate().collect();
    left.sort_by(|a, b| b.1.total_cmp(&a.1));
    let median = 0.5 * (left[left.len() / 2].1 + left[(left.len() - 1) / 2].1);
    let mut taken = Vec::new();
    let mut sure = 0;
    for _ in 0..(values.len() / 4).max(1) {
        let (deviation, limit) = (deviation_of_last(&left), critical(left.len(), risk));
        let Some((place, worst)) = left.pop() else { break };
        taken.push((place, worst));
        if deviation > limit {
            sure = taken.len();
        }
    }
    let differs = |(_, value): &&(usize, f64)| median - value > MARGIN.ln_1p();
    taken[..sure].iter().filter(differs).map(|(place, _)| *place).collect()
}

/// How far the last and smallest is below the mean, in standard deviations; 0 where all are equal.
fn deviation_of_last(descending: &[(usize, f64)]) -> f64 {
    let n = descending.len() as f64;
    let mean = descending.iter().map(|it| it.1).sum::<f64>() / n;
    let variance = descending.iter().map(|it| (it.1 - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let last = descending.last().map_or(mean, |it| it.1);
    if variance > 0.0 { (mean - last) / variance.sqrt() } else { 0.0 }
}

/// What that deviation exceeds in `risk` of all samples of this size.
fn critical(n: usize, risk: f64) -> f64 {
    let size = n as f64;
    let freedom = u32::try_from(n.saturating_sub(2)).unwrap_or(u32::MAX).max(1);
    // The table is two-sided, and one of n values is looked at.
    let t = student::critical(2.0 * risk / size, freedom);
    (size - 1.0) * t / ((size - 2.0 + t * t) * size).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const RISK: f64 = 0.02;

    /// A fleet of this many hosts that vary by a share, some of them slowed to a share of their rate.
    fn fleet(
        random: &mut Random,
        hosts: usize,
        spread: f64,
        slowed: &[(usize, f64)],
    ) -> Vec<f64> {
        let mut values: Vec<f64> =
            (0..hosts).map(|_| 100e9 * (spread * random.normal()).exp()).collect();
        for (place, share) in slowed {
            values[*place] *= share;
        }
        values
    }

    #[test]
    fn one_slowed_host_of_eight_is_named_and_none_of_an_even_fleet() {
        for (spread, share) in [(0.001, 0.95), (0.01, 0.9), (0.03, 0.7)] {
            let (mut named, mut false_names) = (0, 0);
            for seed in 0..1000 {
                let mut random = Random::new(seed);
                let slowed = fleet(&mut random, 8, spread, &[(5, share)]);
                named += usize::from(worse(&slowed, Better::Higher, RISK).first() == Some(&5));
                let even = fleet(&mut random, 8, spread, &[]);
                false_names += usize::from(!worse(&even, Better::Higher, RISK).is_empty());
            }
            assert!(named >= 990, "{spread} {share}: {named}");
            assert!(false_names <= 35, "{spread}: {false_names}");
        }
    }

    #[test]
    fn two_slow_hosts_do_not_hide_each_other() {
        let mut random = Random::new(7);
        for hosts in [8, 24, 100] {
            let slowed = fleet(&mut random, hosts, 0.01, &[(1, 0.7), (4, 0.72)]);
            let mut named = worse(&slowed, Better::Higher, RISK);
            named.sort_unstable();
            assert_eq!(named, [1, 4], "{hosts}");
        }
    }

    #[test]
    fn worse_means_more_of_a_cost() {
        let even = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];
        let slow: Vec<f64> = even.iter().copied().chain([140.0]).collect();
        assert_eq!(worse(&slow, Better::Lower, RISK), [6]);
        assert_eq!(worse(&slow, Better::Higher, RISK), Vec::<usize>::new());
    }

    #[test]
    fn too_few_too_close_or_unusable_values_name_nobody() {
        for values in [
            &[][..],
            &[1.0, 100.0, 100.0],
            &[100.0; 8],
            &[100.0, 100.0, 100.0, 100.0, 100.0, 99.0],
            &[100.0, 101.0, 99.0, 100.0, f64::NAN, 1.0],
            &[100.0, 101.0, 99.0, 100.0, 0.0, 1.0],
        ] {
            assert_eq!(worse(values, Better::Higher, RISK), Vec::<usize>::new(), "{values:?}");
        }
    }
}
