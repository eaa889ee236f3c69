//! IOR's figures, made of what the engine measured.

use assay_model::facts::Capacity;
use assay_model::storage_outcome::StorageOutcome;

use super::compile::Access;
use super::options::Options;

/// One test with what it came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// What was requested.
    pub options: Options,
    /// When it began: `Sat Nov 21 14:47:44 2026`.
    pub began: String,
    /// The file system below the test file, where it reports it.
    pub capacity: Option<Capacity>,
    /// In the order in which they were done.
    pub results: Vec<AccessResult>,
}

/// Where the ranks stood when the time was up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stonewall {
    /// Seconds until then.
    pub elapsed_s: f64,
    /// Transfers of the rank with the fewest.
    pub minimum: u64,
    /// Transfers of the rank with the most.
    pub most: u64,
    /// Transfers of all.
    pub all: u64,
}

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
    /// Seconds in which all files were opened, one after another.
    pub open_s: f64,
    /// Seconds from the first transfer to the end of the last, `fsync` included.
    pub elapsed_s: f64,
    /// Seconds in which all files were closed.
    pub close_s: f64,
    /// Mean seconds of a transfer of the rank for which it is smallest, as IOR reports it.
    pub latency_s: f64,
    /// With wear-out after a deadline.
    pub stonewall: Option<Stonewall>,
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
            open_s: outcome.open_s,
            elapsed_s: outcome.elapsed_s,
            close_s: outcome.close_s,
            latency_s: means.fold(f64::INFINITY, f64::min),
            stonewall: None,
        })
    }

    /// The same with what the ranks did after the deadline; `done` are transfers by rank at the deadline.
    #[must_use]
    pub fn worn_out(
        mut self,
        options: &Options,
        done: &[u64],
        rest: &[StorageOutcome],
    ) -> Self {
        self.stonewall = Some(Stonewall {
            // What is behind the deadline is `fsync`.
            elapsed_s: self.elapsed_s.min(f64::from(options.deadline_s)),
            minimum: done.iter().copied().min().unwrap_or(0),
            most: done.iter().copied().max().unwrap_or(0),
            all: done.iter().sum(),
        });
        for outcome in rest {
            self.elapsed_s += outcome.elapsed_s;
            self.bytes += outcome.tallies.iter().map(|it| it.tally.bytes).sum::<u64>();
            self.transfers += outcome.tallies.iter().map(|it| it.tally.count).sum::<u64>();
            // Files are closed once in IOR: what counts is the end of the last.
            self.close_s = outcome.close_s;
        }
        self
    }

    /// Seconds from the first open to the last close.
    #[must_use]
    pub fn total_s(&self) -> f64 {
        self.open_s + self.elapsed_s + self.close_s
    }

    /// B/s, over all the time.
    #[must_use]
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.total_s()
    }

    /// Transfers per second while there were any.
    #[must_use]
    pub fn transfers_per_s(&self) -> f64 {
        self.transfers as f64 / self.elapsed_s
    }

    /// Transfers per second over all the time, as IOR's summary counts them.
    fn transfers_over_all_s(&self) -> f64 {
        self.transfers as f64 / self.total_s()
    }
}

/// All repetitions of one access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Maximum, minimum, mean and deviation of B/s.
    pub bytes_per_s: Moments,
    /// The same of transfers per second.
    pub transfers_per_s: Moments,
    /// Mean seconds.
    pub mean_s: f64,
    /// Bytes of the first repetition.
    pub bytes: u64,
    /// With wear-out: mean seconds until the deadline, and B/s of a rank until then.
    pub stonewall: Option<(f64, f64)>,
}

/// Maximum, minimum, mean, deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// The largest.
    pub maximum: f64,
    /// The minimum.
    pub minimum: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of these values themselves, not of what they are a sample of: IOR
    /// divides by n.
    pub deviation: f64,
}

/// Sums up the repetitions of `access`; `None` if there was none.
#[must_use]
pub fn summary(test: &Test, access: Access) -> Option<Summary> {
    let Test { options, results, .. } = test;
    let of: Vec<&AccessResult> = results.iter().filter(|it| it.access == access).collect();
    let first = of.first()?;
    let values =
        |value: fn(&AccessResult) -> f64| of.iter().map(|it| value(it)).collect::<Vec<_>>();
    let seconds: f64 = of.iter().map(|it| it.total_s()).sum();
    let walls: Option<Vec<Stonewall>> = of.iter().map(|it| it.stonewall).collect();
    Some(Summary {
        bytes_per_s: Moments::of(&values(AccessResult::bytes_per_s)),
        transfers_per_s: Moments::of(&values(AccessResult::transfers_over_all_s)),
        mean_s: seconds / of.len() as f64,
        bytes: first.bytes,
        stonewall: walls.map(|walls| {
            let seconds: f64 = walls.iter().map(|wall| wall.elapsed_s).sum();
            let transfers: u64 = walls.iter().map(|wall| wall.all).sum();
            let bytes = transfers * options.transfer_bytes / u64::from(options.ranks);
            (seconds / walls.len() as f64, bytes as f64 / seconds)
        }),
    })
}

impl Moments {
    fn of(values: &[f64]) -> Self {
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
