//! Synthetic samples with known truth, for tests.

/// `SplitMix64`: small, and the same for ever, so that no test depends on a library's generator.
pub(crate) struct Source(u64);

impl Source {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Evenly between 0 and 1, both excluded.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A world in which the true median is 100: preparations, noise and correlation of known size.
#[derive(Debug, Clone, Copy)]
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

/// The true median of every [`World`].
pub(crate) const TRUTH: f64 = 100.0;

impl World {
    pub(crate) fn samples(self, source: &mut Source) -> Vec<Vec<f64>> {
        (0..self.preparations).map(|_| self.preparation(source)).collect()
    }

    pub(crate) fn preparation(self, source: &mut Source) -> Vec<f64> {
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

/// How often an interval holds what it should hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coverage {
    /// Share of the intervals given that hold the truth.
    pub(crate) covered: f64,
    /// Share of all trials in which an interval is given that does not hold the truth.
    pub(crate) false_claims: f64,
    /// Share of all trials without an interval.
    pub(crate) withheld: f64,
}

/// Repeats a trial that says whether its interval holds the truth, or `None` without an interval.
pub(crate) fn coverage(trials: u32, mut trial: impl FnMut() -> Option<bool>) -> Coverage {
    let (mut held, mut missed) = (0, 0);
    for _ in 0..trials {
        match trial() {
            Some(true) => held += 1,
            Some(false) => missed += 1,
            None => {}
        }
    }
    let all = f64::from(trials);
    Coverage {
        covered: f64::from(held) / f64::from(held + missed),
        false_claims: f64::from(missed) / all,
        withheld: (all - f64::from(held + missed)) / all,
    }
}
