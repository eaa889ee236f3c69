//! Synthetic samples with known truth, for the proof and the tests.

use crate::random::Random;

/// How single values are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Normal.
    Normal,
    /// The logarithm is normal, with a standard deviation of ½: skewed as latencies are.
    Lognormal,
    /// 60 of 100 values around one place and 40 around another, six standard deviations apart.
    Bimodal,
}

/// A machine that is measured: how its values are distributed and what they share.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// How single values are distributed.
    pub shape: Shape,
    /// Correlation of neighbouring values, from one preparation into the next.
    pub neighbours: f64,
    /// Share of the variance between preparations.
    pub between: f64,
}

impl Machine {
    /// The true median.
    #[must_use]
    pub fn median(&self) -> f64 {
        match self.shape {
            Shape::Normal | Shape::Lognormal => TRUTH,
            // Φ⁻¹(5/6) standard deviations above the lower place.
            Shape::Bimodal => TRUTH + 0.967_421_566_1,
        }
    }

    /// Half the width that the interval of the median of n independent values has for great n,
    /// 1.96 / (2 f √n) with the density f at the median.
    #[must_use]
    pub fn half_width(&self, n: usize) -> f64 {
        let density = match self.shape {
            Shape::Normal => 0.398_942,
            Shape::Lognormal => 0.398_942 / (0.5 * TRUTH),
            Shape::Bimodal => 0.6 * 0.249_856,
        };
        1.96 / (2.0 * density * (n as f64).sqrt())
    }

    /// Values without end: `true` = the next one is the first of a preparation.
    pub fn values(self, source: &mut Random) -> impl FnMut(bool) -> f64 {
        let (mut level, mut state) = (0.0, source.normal());
        let step = (1.0 - self.neighbours.powi(2)).sqrt();
        move |is_fresh| {
            if is_fresh {
                level = self.between.sqrt() * source.normal();
            }
            state = self.neighbours * state + step * source.normal();
            let z = level + (1.0 - self.between).sqrt() * state;
            match self.shape {
                Shape::Normal => TRUTH + z,
                Shape::Lognormal => TRUTH * (0.5 * z).exp(),
                Shape::Bimodal if source.uniform() < 0.6 => TRUTH + z,
                Shape::Bimodal => TRUTH + 6.0 + z,
            }
        }
    }
}

/// A world in which the true median is 100: preparations, noise and correlation of known size.
#[derive(Debug, Clone, Copy)]
#[cfg(test)]
pub(crate) struct World {
    /// Number of preparations.
    pub(crate) preparations: usize,
    /// Repetitions per preparation.
    pub(crate) repetitions: usize,
    /// Share of the variance between preparations.
    pub(crate) between: f64,
    /// Correlation of neighbouring repetitions.
    pub(crate) neighbours: f64,
    /// Whether values are skewed (lognormal) instead of normal.
    pub(crate) skewed: bool,
}

/// The true median of every world, and of machines whose values have one mode.
pub(crate) const TRUTH: f64 = 100.0;

#[cfg(test)]
impl World {
    pub(crate) fn samples(self, source: &mut Random) -> Vec<Vec<f64>> {
        (0..self.preparations).map(|_| self.preparation(source)).collect()
    }

    pub(crate) fn preparation(self, source: &mut Random) -> Vec<f64> {
        let level = self.between.sqrt() * source.normal();
        let mut state = source.normal();
        let step = (1.0 - self.neighbours.powi(2)).sqrt();
        (0..self.repetitions)
            .map(|_| {
                state = self.neighbours * state + step * source.normal();
                let z = level + (1.0 - self.between).sqrt() * state;
                if self.skewed { TRUTH * (0.5 * z).exp() } else { TRUTH + z }
            })
            .collect()
    }
}

/// Share of the trials whose interval holds what it should hold.
#[cfg(test)]
pub(crate) fn coverage(trials: u32, mut holds: impl FnMut() -> bool) -> f64 {
    f64::from((0..trials).map(|_| u32::from(holds())).sum::<u32>()) / f64::from(trials)
}
