//! Synthetic samples with a known median, for the coverage simulation and the tests.

use crate::random::Random;

/// Distribution of single values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueShape {
    /// Normal.
    Normal,
    /// Lognormal: skewed as latencies are. The standard deviation of the logarithm is ½.
    Lognormal,
    /// Bimodal: 60 % of the values around one centre and 40 % around another, six standard
    /// deviations apart.
    Bimodal,
}

/// Machine with a known distribution and correlation of its values.
#[derive(Debug, Clone, Copy)]
pub struct SyntheticMachine {
    /// Distribution of single values.
    pub shape: ValueShape,
    /// Correlation of successive values, also across preparations.
    pub autocorrelation: f64,
    /// Share of the variance between preparations.
    pub intraclass_correlation: f64,
}

impl SyntheticMachine {
    /// Returns the true median.
    pub fn median(&self) -> f64 {
        match self.shape {
            ValueShape::Normal | ValueShape::Lognormal => TRUE_MEDIAN,
            // Φ⁻¹(5/6) standard deviations above the lower centre.
            ValueShape::Bimodal => TRUE_MEDIAN + 0.967_421_566_1,
        }
    }

    /// Returns the asymptotic half-width of the interval of the median of n independent values,
    /// 1.96 / (2 f √n) with the density f at the median.
    pub fn half_width(&self, n: usize) -> f64 {
        let density = match self.shape {
            ValueShape::Normal => 0.398_942,
            ValueShape::Lognormal => 0.398_942 / (0.5 * TRUE_MEDIAN),
            ValueShape::Bimodal => 0.6 * 0.249_856,
        };
        1.96 / (2.0 * density * (n as f64).sqrt())
    }

    /// Returns an endless generator of values: autoregressive noise of first order plus a level per
    /// preparation. Its argument is whether the next value is the first of a preparation.
    pub fn value_generator(self, random: &mut Random) -> impl FnMut(bool) -> f64 {
        let (mut level, mut state) = (0.0, random.normal());
        let innovation_sd = (1.0 - self.autocorrelation.powi(2)).sqrt();
        move |is_first| {
            if is_first {
                level = self.intraclass_correlation.sqrt() * random.normal();
            }
            state = self.autocorrelation * state + innovation_sd * random.normal();
            let z = level + (1.0 - self.intraclass_correlation).sqrt() * state;
            match self.shape {
                ValueShape::Normal => TRUE_MEDIAN + z,
                ValueShape::Lognormal => TRUE_MEDIAN * (0.5 * z).exp(),
                ValueShape::Bimodal if random.uniform() < 0.6 => TRUE_MEDIAN + z,
                ValueShape::Bimodal => TRUE_MEDIAN + 6.0 + z,
            }
        }
    }
}

/// Generator of series with a true median of 100: preparations, noise and correlation of known
/// size.
#[derive(Debug, Clone, Copy)]
#[cfg(test)]
pub(crate) struct SyntheticSeries {
    /// Number of preparations.
    pub(crate) preparations: usize,
    /// Repetitions per preparation.
    pub(crate) repetitions: usize,
    /// Share of the variance between preparations.
    pub(crate) intraclass_correlation: f64,
    /// Correlation of successive repetitions.
    pub(crate) autocorrelation: f64,
    /// Whether values are skewed (lognormal) instead of normal.
    pub(crate) skewed: bool,
}

/// True median of every synthetic world, and of machines with unimodal values.
pub(crate) const TRUE_MEDIAN: f64 = 100.0;

#[cfg(test)]
impl SyntheticSeries {
    /// Returns a series of independent, normally distributed values.
    pub(crate) const fn independent(preparations: usize, repetitions: usize) -> Self {
        Self {
            preparations,
            repetitions,
            intraclass_correlation: 0.0,
            autocorrelation: 0.0,
            skewed: false,
        }
    }

    pub(crate) fn samples(self, random: &mut Random) -> Vec<Vec<f64>> {
        (0..self.preparations).map(|_| self.preparation(random)).collect()
    }

    pub(crate) fn preparation(self, random: &mut Random) -> Vec<f64> {
        let level = self.intraclass_correlation.sqrt() * random.normal();
        let mut state = random.normal();
        let innovation_sd = (1.0 - self.autocorrelation.powi(2)).sqrt();
        (0..self.repetitions)
            .map(|_| {
                state = self.autocorrelation * state + innovation_sd * random.normal();
                let z = level + (1.0 - self.intraclass_correlation).sqrt() * state;
                if self.skewed { TRUE_MEDIAN * (0.5 * z).exp() } else { TRUE_MEDIAN + z }
            })
            .collect()
    }
}

/// Returns the share of trials in which `holds` is true.
#[cfg(test)]
pub(crate) fn share_of_trials(trials: u32, mut holds: impl FnMut() -> bool) -> f64 {
    f64::from((0..trials).map(|_| u32::from(holds())).sum::<u32>()) / f64::from(trials)
}
