//! Averages progress over intervals, so that it is reported once per second instead of once per
//! interval.

use assay_model::quantity::Quantity;

/// Weighted sums over some intervals.
#[derive(Debug, Default)]
pub(super) struct SecondAverage {
    pub(super) length_s: f64,
    /// Rate times length, for each rate.
    amounts: Vec<f64>,
    pub(super) latency_s: WeightedMean,
    pub(super) cpu: WeightedMean,
}

#[derive(Debug, Default)]
pub(super) struct WeightedMean {
    sum: f64,
    weights: f64,
}

impl WeightedMean {
    fn add(&mut self, value: Option<f64>, weight: f64) {
        if let Some(value) = value {
            self.sum += value * weight;
            self.weights += weight;
        }
    }

    pub(super) fn mean(&self) -> Option<f64> {
        Some(self.sum / self.weights).filter(|mean| mean.is_finite())
    }
}

impl SecondAverage {
    /// Minimum length of a report: the clock bounds the intervals, and ten tenths may be slightly
    /// less than a second.
    pub(super) const MIN_LENGTH_S: f64 = 0.95;

    pub(super) fn add(
        &mut self,
        length_s: f64,
        rates: &[Quantity],
        latency_s: Option<f64>,
        cpu: Option<f64>,
    ) {
        self.length_s += length_s;
        self.amounts.resize(rates.len().max(self.amounts.len()), 0.0);
        for (amount, rate) in self.amounts.iter_mut().zip(rates) {
            *amount += rate.value * length_s;
        }
        // Weights the latency by the number of I/O.
        let done = rates.first().map_or(1.0, |rate| rate.value);
        self.latency_s.add(latency_s, done * length_s);
        self.cpu.add(cpu, length_s);
    }

    /// Mean rates, in the units of `like`.
    pub(super) fn rates(&self, like: &[Quantity]) -> Vec<Quantity> {
        let rate = |(amount, like): (&f64, &Quantity)| {
            Quantity::new(amount / self.length_s, like.unit)
        };
        self.amounts.iter().zip(like).map(rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use assay_model::quantity::Unit;

    use super::*;

    #[test]
    fn second_is_weighted_mean_of_intervals() {
        let mut lately = SecondAverage::default();
        let rate = |value| [Quantity::new(value, Unit::IoPerSecond)];
        lately.add(0.5, &rate(300.0), Some(1e-3), Some(1.0));
        lately.add(0.1, &rate(0.0), None, Some(0.0));
        lately.add(0.4, &rate(125.0), Some(5e-3), None);
        assert!((lately.length_s - 1.0).abs() < 1e-9);
        assert!((lately.rates(&rate(0.0))[0].value - 200.0).abs() < 1e-9);
        assert!((lately.latency_s.mean().unwrap() - 2e-3).abs() < 1e-9);
        assert!((lately.cpu.mean().unwrap() - 5.0 / 6.0).abs() < 1e-9);
        assert_eq!(SecondAverage::default().latency_s.mean(), None);
    }
}
