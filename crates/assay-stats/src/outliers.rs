//! Detection of hosts that are worse than their peers.

use assay_model::benchmark::Better;

use crate::analysis::Analysis;
use crate::student::{self, MEDIAN_WIDTH_FACTOR};

/// Minimum number of hosts for a comparison.
pub const MIN_HOSTS: usize = 4;
/// Minimum relative difference from the median of all hosts, even if the other hosts differ less.
/// Equal to the default margin of a comparison.
pub const HOST_MARGIN: f64 = 0.02;
/// Minimum degrees of freedom. With fewer, t exceeds the deviation of any slow host (127 with one
/// and 14 with two, of eight hosts).
const MIN_FREEDOM: f64 = 3.0;
/// Maximum degrees of freedom; more change t by less than 1 %.
const MAX_FREEDOM: f64 = 200.0;

/// Measurement of one host that is compared with its peers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostMeasurement {
    /// Median of its samples.
    pub value: f64,
    /// Interval of the median; without one, the smallest and the greatest sample.
    pub range: [f64; 2],
    /// Variation of its samples, if known.
    pub variation: Option<SampleVariation>,
}

/// Variation of the samples of one host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleVariation {
    /// Mean square deviation of the samples' logarithms.
    variance: f64,
    /// Number of effective samples, at least 1.
    n_effective: f64,
}

impl HostMeasurement {
    /// Returns a measurement without samples: a median with its interval, if any.
    pub fn from_median(value: f64, interval: Option<[f64; 2]>) -> Self {
        Self { value, range: interval.unwrap_or([value; 2]), variation: None }
    }

    /// Returns the measurement of an analysed series.
    pub fn from_analysis(analysis: &Analysis) -> Self {
        let sorted = &analysis.sorted;
        let extremes = sorted.first().copied().zip(sorted.last().copied());
        let interval = analysis.interval.or(extremes).map(|(low, high)| [low, high]);
        let variation = SampleVariation::from_samples(sorted, analysis.effective.n);
        Self { variation, ..Self::from_median(analysis.median, interval) }
    }
}

impl SampleVariation {
    fn from_samples(sorted: &[f64], n_effective: f64) -> Option<Self> {
        if sorted.first().is_none_or(|minimum| *minimum <= 0.0) {
            return None;
        }
        let n = sorted.len() as f64;
        let mean = sorted.iter().map(|value| value.ln()).sum::<f64>() / n;
        let squares = sorted.iter().map(|value| (value.ln() - mean).powi(2)).sum::<f64>();
        Some(Self { variance: squares / n, n_effective: n_effective.max(1.0) })
    }
}

/// Returns the indices of hosts that are worse than the others, the worst first. The difference
/// exceeds [`HOST_MARGIN`], the variation between hosts, and the variation of the host's own
/// samples; and the range of the host is entirely below that of the median host. `risk` is the
/// probability of any false detection where all hosts are alike and their logarithms normal.
///
/// Hosts are compared by one-sided generalised extreme studentised deviates (Rosner, Technometrics
/// 25:165, 1983), for at most a quarter of the values: several slow hosts do not mask each other,
/// as they do in a test of the largest deviation only. That test treats all medians as equally
/// precise and estimates their spread from few of them, so that a host with two samples easily
/// exceeds it. Hence the distance must exceed [`SamplingErrors::allowance`] as well.
pub fn worse_hosts(hosts: &[HostMeasurement], better: Better, risk: f64) -> Vec<usize> {
    let is_usable = |host: &HostMeasurement| host.value.is_finite() && host.value > 0.0;
    if hosts.len() < MIN_HOSTS || !hosts.iter().all(is_usable) {
        return Vec::new();
    }
    let goodness = |value: f64| match better {
        Better::Higher => value.max(0.0).ln(),
        Better::Lower => -value.max(0.0).ln(),
    };
    let goodness_range = |host: &HostMeasurement| {
        let [one, other] = host.range.map(goodness);
        (one.min(other), one.max(other))
    };
    let mut remaining: Vec<(usize, f64)> =
        hosts.iter().map(|host| goodness(host.value)).enumerate().collect();
    remaining.sort_by(|a, b| b.1.total_cmp(&a.1));
    let median =
        0.5 * (remaining[remaining.len() / 2].1 + remaining[(remaining.len() - 1) / 2].1);
    let mut lower_ends: Vec<f64> = hosts.iter().map(|host| goodness_range(host).0).collect();
    lower_ends.sort_by(f64::total_cmp);
    let median_lower_end = lower_ends[(lower_ends.len() - 1) / 2];
    let mut candidates = Vec::new();
    let mut significant_count = 0;
    for _ in 0..(hosts.len() / 4).max(1) {
        let (deviation, limit) =
            (deviation_of_last(&remaining), critical_deviation(remaining.len(), risk));
        let Some((index, worst)) = remaining.pop() else { break };
        candidates.push((index, worst));
        if deviation > limit {
            significant_count = candidates.len();
        }
    }
    let errors = SamplingErrors::from_hosts(hosts, risk);
    let differs = |(index, value): &&(usize, f64)| {
        let host = &hosts[*index];
        let allowance = errors.as_ref().map_or(0.0, |it| it.allowance(host));
        median - value > HOST_MARGIN.ln_1p().max(allowance)
            && goodness_range(host).1 < median_lower_end
    };
    candidates[..significant_count].iter().filter(differs).map(|(index, _)| *index).collect()
}

/// Differences between the medians of equal hosts that arise because each host has few samples.
struct SamplingErrors {
    /// Standard deviation of the logarithm of one sample, pooled over all hosts.
    sample_deviation: f64,
    /// Variance of the median of all hosts, relative to that of one sample.
    median_variance: f64,
    /// Student's t that the worst of all hosts exceeds with probability `risk`.
    critical: f64,
}

impl SamplingErrors {
    /// Pools s² = Σ vᵢ wᵢ / Σ (wᵢ − 1), with vᵢ the mean square of host i, which has wᵢ effective
    /// samples. Assumes that samples vary alike on all hosts, because two samples of one host show
    /// little of their spread. Returns `None` where no host has two samples: medians of single
    /// samples differ as the samples do.
    fn from_hosts(hosts: &[HostMeasurement], risk: f64) -> Option<Self> {
        let variations: Vec<SampleVariation> =
            hosts.iter().filter_map(|it| it.variation).collect();
        let degrees = variations.iter().map(|it| it.n_effective - 1.0).sum::<f64>();
        let squares = variations.iter().map(|it| it.variance * it.n_effective).sum::<f64>();
        if squares <= 0.0 {
            return None;
        }
        let degrees = degrees.max(MIN_FREEDOM);
        let n = variations.len() as f64;
        let mean = variations.iter().map(|it| 1.0 / it.n_effective).sum::<f64>() / n;
        Some(Self {
            sample_deviation: (squares / degrees).sqrt(),
            median_variance: MEDIAN_WIDTH_FACTOR.powi(2) * mean / n,
            // The table is two-sided, and one of n hosts is tested.
            critical: student::critical_t(
                2.0 * risk / hosts.len() as f64,
                degrees.min(MAX_FREEDOM) as u32,
            ),
        })
    }

    /// Returns t s 1.2 √(1 / w + the same of the median host): the chance difference between the
    /// median of a host and that of all hosts.
    fn allowance(&self, host: &HostMeasurement) -> f64 {
        let n_effective = host.variation.map_or(1.0, |it| it.n_effective);
        self.critical
            * self.sample_deviation
            * MEDIAN_WIDTH_FACTOR
            * (1.0 / n_effective + self.median_variance).sqrt()
    }
}

/// Returns the distance of the last and smallest value below the mean, in standard deviations; 0
/// where all are equal.
fn deviation_of_last(descending: &[(usize, f64)]) -> f64 {
    let n = descending.len() as f64;
    let mean = descending.iter().map(|it| it.1).sum::<f64>() / n;
    let variance = descending.iter().map(|it| (it.1 - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let last = descending.last().map_or(mean, |it| it.1);
    if variance > 0.0 { (mean - last) / variance.sqrt() } else { 0.0 }
}

/// Returns the deviation that is exceeded with probability `risk` in samples of size n.
fn critical_deviation(n: usize, risk: f64) -> f64 {
    let size = n as f64;
    let degrees = u32::try_from(n.saturating_sub(2)).unwrap_or(u32::MAX).max(1);
    // The table is two-sided, and one of n values is tested.
    let t = student::critical_t(2.0 * risk / size, degrees);
    (size - 1.0) * t / ((size - 2.0 + t * t) * size).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::random::Random;

    const RISK: f64 = 0.02;

    /// Returns medians without samples.
    fn from_medians(values: &[f64]) -> Vec<HostMeasurement> {
        values.iter().map(|value| HostMeasurement::from_median(*value, None)).collect()
    }

    /// Returns hosts with a relative spread, some of them slowed to a share of their rate.
    fn fleet(
        random: &mut Random,
        hosts: usize,
        spread: f64,
        slowed: &[(usize, f64)],
    ) -> Vec<HostMeasurement> {
        let mut values: Vec<f64> =
            (0..hosts).map(|_| 100e9 * (spread * random.normal()).exp()).collect();
        for (place, share) in slowed {
            values[*place] *= share;
        }
        from_medians(&values)
    }

    #[test]
    fn finds_slow_host_and_none_in_even_fleet() {
        for (spread, share) in [(0.001, 0.95), (0.01, 0.9), (0.03, 0.7)] {
            let (mut named, mut false_names) = (0, 0);
            for seed in 0..1000 {
                let mut random = Random::new(seed);
                let slowed = fleet(&mut random, 8, spread, &[(5, share)]);
                named +=
                    usize::from(worse_hosts(&slowed, Better::Higher, RISK).first() == Some(&5));
                let even = fleet(&mut random, 8, spread, &[]);
                false_names +=
                    usize::from(!worse_hosts(&even, Better::Higher, RISK).is_empty());
            }
            assert!(named >= 990, "{spread} {share}: {named}");
            assert!(false_names <= 35, "{spread}: {false_names}");
        }
    }

    /// Returns a host with `fewest` to `most` samples. They vary by 1 %, and every fifth is delayed
    /// by 3 % more on average, as on guests of a shared machine.
    fn host(
        random: &mut Random,
        (fewest, most): (usize, usize),
        share: f64,
    ) -> HostMeasurement {
        let own = share * (0.002 * random.normal()).exp();
        let count = fewest + random.next_below(most - fewest + 1);
        let sample = |random: &mut Random| {
            let held_up = random.uniform() < 0.2;
            let held_up = if held_up { -0.03 * random.uniform().ln() } else { 0.0 };
            100e9 * own * (0.01 * random.normal() - held_up).exp()
        };
        let samples = (0..count).map(|_| sample(random)).collect();
        HostMeasurement::from_analysis(&analyse(&[samples]).expect("samples that are finite"))
    }

    #[test]
    fn few_low_samples_are_no_outlier() {
        for counts in [(2, 2), (2, 3), (2, 8), (10, 30)] {
            let (mut named, mut beside, mut even) = (0, 0, 0);
            for seed in 0..1000 {
                let mut random = Random::new(seed);
                let mut fleet: Vec<HostMeasurement> =
                    (0..8).map(|_| host(&mut random, counts, 1.0)).collect();
                even += usize::from(!worse_hosts(&fleet, Better::Higher, RISK).is_empty());
                fleet[4] = host(&mut random, counts, 0.5);
                let found = worse_hosts(&fleet, Better::Higher, RISK);
                named += usize::from(found.contains(&4));
                beside += usize::from(found.iter().any(|place| *place != 4));
            }
            let found = format!("{counts:?}: {named} {even} {beside}");
            assert!(named >= 990 && even <= 50 && beside <= 50, "{found}");
        }
    }

    #[test]
    fn two_slow_hosts_do_not_mask_each_other() {
        let mut random = Random::new(7);
        for hosts in [8, 24, 100] {
            let slowed = fleet(&mut random, hosts, 0.01, &[(1, 0.7), (4, 0.72)]);
            let mut named = worse_hosts(&slowed, Better::Higher, RISK);
            named.sort_unstable();
            assert_eq!(named, [1, 4], "{hosts}");
        }
    }

    #[test]
    fn higher_cost_is_worse() {
        let even = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];
        let slow: Vec<f64> = even.iter().copied().chain([140.0]).collect();
        assert_eq!(worse_hosts(&from_medians(&slow), Better::Lower, RISK), [6]);
        assert_eq!(
            worse_hosts(&from_medians(&slow), Better::Higher, RISK),
            Vec::<usize>::new()
        );
    }

    #[test]
    fn too_few_close_or_invalid_values_have_no_outlier() {
        for values in [
            &[][..],
            &[1.0, 100.0, 100.0],
            &[100.0; 8],
            &[100.0, 100.0, 100.0, 100.0, 100.0, 99.0],
            &[100.0, 101.0, 99.0, 100.0, f64::NAN, 1.0],
            &[100.0, 101.0, 99.0, 100.0, 0.0, 1.0],
        ] {
            assert_eq!(
                worse_hosts(&from_medians(values), Better::Higher, RISK),
                Vec::<usize>::new(),
                "{values:?}"
            );
        }
    }
}
