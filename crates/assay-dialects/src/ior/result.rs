//! IOR's figures, derived from the outcomes of the engine.

use assay_model::facts::FileSystemCapacity;
use assay_model::storage_outcome::StorageOutcome;
use serde::{Deserialize, Serialize};

use super::compile::IorAccess;
use super::options::IorOptions;

/// Test with its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IorTestResult {
    /// Requested options.
    pub options: IorOptions,
    /// Start time: `Sat Nov 21 14:47:44 2026`.
    pub began: String,
    /// Capacity of the test file's file system, if it reports one.
    pub capacity: Option<FileSystemCapacity>,
    /// Results in the order of the measurements.
    pub results: Vec<AccessResult>,
}

/// Progress of the ranks at the deadline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stonewall {
    /// Seconds until the deadline.
    pub elapsed_s: f64,
    /// Transfers of the rank with the fewest.
    pub minimum: u64,
    /// Transfers of the rank with the most.
    pub maximum: u64,
    /// Transfers of all ranks.
    pub all: u64,
}

/// Result of one timed phase in one repetition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AccessResult {
    /// Writes or reads.
    pub access: IorAccess,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    /// Bytes transferred.
    pub bytes: u64,
    /// Number of transfers.
    pub transfers: u64,
    /// Seconds for opening all files, one after another.
    pub open_s: f64,
    /// Seconds from the first transfer to the end of the last, including `fsync`.
    pub elapsed_s: f64,
    /// Seconds for closing all files.
    pub close_s: f64,
    /// Minimum over the ranks of the mean seconds per transfer, as IOR reports it.
    pub latency_s: f64,
    /// Progress at the deadline, with wear-out.
    pub stonewall: Option<Stonewall>,
}

impl AccessResult {
    /// Derives the figures of a phase; `None` if nothing was transferred or the phase is not timed.
    pub fn from_outcome(
        access: IorAccess,
        repetition: u32,
        outcome: &StorageOutcome,
    ) -> Option<Self> {
        if access == IorAccess::CheckWrite || outcome.elapsed_s <= 0.0 {
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
            open_s: outcome.open_s,
            elapsed_s: outcome.elapsed_s,
            close_s: outcome.close_s,
            latency_s: means.fold(f64::INFINITY, f64::min),
            stonewall: None,
        })
    }

    /// Adds the wear-out phases after the deadline; `done` counts transfers by rank at the
    /// deadline.
    pub fn with_wear_out(
        mut self,
        options: &IorOptions,
        done: &[u64],
        rest: &[StorageOutcome],
    ) -> Self {
        self.stonewall = Some(Stonewall {
            // Any time beyond the deadline is `fsync`.
            elapsed_s: self.elapsed_s.min(f64::from(options.deadline_s)),
            minimum: done.iter().copied().min().unwrap_or(0),
            maximum: done.iter().copied().max().unwrap_or(0),
            all: done.iter().sum(),
        });
        for outcome in rest {
            self.elapsed_s += outcome.elapsed_s;
            self.bytes += outcome.tallies.iter().map(|it| it.tally.bytes).sum::<u64>();
            self.transfers += outcome.tallies.iter().map(|it| it.tally.count).sum::<u64>();
            // IOR closes files once, so only the last close counts.
            self.close_s = outcome.close_s;
        }
        self
    }

    /// Returns the seconds from the first open to the last close.
    pub fn total_s(&self) -> f64 {
        self.open_s + self.elapsed_s + self.close_s
    }

    /// Returns B/s over the total time.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.total_s()
    }

    /// Returns transfers per second, without open and close.
    pub fn transfers_per_s(&self) -> f64 {
        self.transfers as f64 / self.elapsed_s
    }

    /// Returns transfers per second over the total time, as in IOR's summary.
    fn transfers_over_all_s(&self) -> f64 {
        self.transfers as f64 / self.total_s()
    }
}

/// Summary of all repetitions of one access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccessSummary {
    /// Maximum, minimum, mean and deviation of B/s.
    pub bytes_per_s: Moments,
    /// Maximum, minimum, mean and deviation of transfers per second.
    pub transfers_per_s: Moments,
    /// Mean seconds.
    pub mean_s: f64,
    /// Bytes of the first repetition.
    pub bytes: u64,
    /// Mean seconds until the deadline and B/s of a rank until then, with wear-out.
    pub stonewall: Option<(f64, f64)>,
}

/// Maximum, minimum, mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Maximum.
    pub maximum: f64,
    /// Minimum.
    pub minimum: f64,
    /// Mean.
    pub mean: f64,
    /// Population standard deviation: like IOR, divides by n.
    pub deviation: f64,
}

/// Summarizes the repetitions of `access`; `None` if there are none.
pub fn summarize(test: &IorTestResult, access: IorAccess) -> Option<AccessSummary> {
    let IorTestResult { options, results, .. } = test;
    let done: Vec<&AccessResult> = results.iter().filter(|it| it.access == access).collect();
    let first = done.first()?;
    let values =
        |value: fn(&AccessResult) -> f64| done.iter().map(|it| value(it)).collect::<Vec<_>>();
    let seconds: f64 = done.iter().map(|it| it.total_s()).sum();
    let walls: Option<Vec<Stonewall>> = done.iter().map(|it| it.stonewall).collect();
    Some(AccessSummary {
        bytes_per_s: Moments::from_values(&values(AccessResult::bytes_per_s)),
        transfers_per_s: Moments::from_values(&values(AccessResult::transfers_over_all_s)),
        mean_s: seconds / done.len() as f64,
        bytes: first.bytes,
        stonewall: walls.map(|walls| {
            let seconds: f64 = walls.iter().map(|wall| wall.elapsed_s).sum();
            let transfers: u64 = walls.iter().map(|wall| wall.all).sum();
            let bytes = transfers * options.transfer_bytes / u64::from(options.ranks.max(1));
            (seconds / walls.len() as f64, bytes as f64 / seconds)
        }),
    })
}

impl Moments {
    fn from_values(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            maximum: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            minimum: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            deviation: (squares / count).sqrt(),
        }
    }
}
