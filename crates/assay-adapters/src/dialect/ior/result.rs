//! IOR's figures, made of what the engine measured.

use assay_model::storage_outcome::StorageOutcome;

use super::compile::Access;

/// One timed phase of one repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccessResult {
    /// Writes or reads.
    pub access: Access,
    /// From 0.
    pub repetition: u32,
    /// Bytes moved.
    pub bytes: u64,
    /// Transfers done.
    pub transfers: u64,
    /// Seconds from the first transfer to the end of the last, `fsync` included.
    pub elapsed_s: f64,
    /// Mean seconds of a transfer of the rank for which it is least, as IOR tells it.
    pub latency_s: f64,
}

impl AccessResult {
    /// The figures of a phase; `None` when nothing was moved, and for what is not timed.
    #[must_use]
    pub fn of(access: Access, repetition: u32, outcome: &StorageOutcome) -> Option<Self> {
        if access == Access::CheckWrite || outcome.elapsed_s <= 0.0 {
            return None;
        }
        let tallies = || outcome.tallies.iter().map(|tally| &tally.tally);
        let means = tallies().filter(|tally| tally.count > 0);
        let means = means.map(|tally| tally.service_sum_ns as f64 / tally.count as f64 / 1e9);
        let bytes: u64 = tallies().map(|tally| tally.bytes).sum();
        (bytes > 0).then(|| Self {
            access,
            repetition,
            bytes,
            transfers: tallies().map(|tally| tally.count).sum(),
            elapsed_s: outcome.elapsed_s,
            latency_s: means.fold(f64::INFINITY, f64::min),
        })
    }

    /// B/s.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.elapsed_s
    }

    /// Transfers per second.
    #[must_use]
    pub fn transfers_per_s(&self) -> f64 {
        self.transfers as f64 / self.elapsed_s
    }
}

/// All repetitions of one access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Greatest, least, mean and deviation of B/s.
    pub bytes_per_s: Moments,
    /// The same of transfers per second.
    pub transfers_per_s: Moments,
    /// Mean seconds.
    pub mean_s: f64,
    /// Bytes of the first repetition.
    pub bytes: u64,
}

/// Greatest, least, mean, deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The greatest.
    pub greatest: f64,
    /// The least.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of these values themselves, not of what they are a sample of: IOR
    /// divides by n.
    pub deviation: f64,
}

/// Sums up the repetitions of `access`; `None` if there was none.
#[must_use]
pub fn summary(results: &[AccessResult], access: Access) -> Option<Summary> {
    let of: Vec<&AccessResult> = results.iter().filter(|it| it.access == access).collect();
    let first = of.first()?;
    let values =
        |value: fn(&AccessResult) -> f64| of.iter().map(|it| value(it)).collect::<Vec<_>>();
    let seconds: f64 = of.iter().map(|it| it.elapsed_s).sum();
    Some(Summary {
        bytes_per_s: Moments::of(&values(AccessResult::bytes_per_s)),
        transfers_per_s: Moments::of(&values(AccessResult::transfers_per_s)),
        mean_s: seconds / of.len() as f64,
        bytes: first.bytes,
    })
}

impl Moments {
    fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            greatest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            deviation: (squares / count).sqrt(),
        }
    }
}
