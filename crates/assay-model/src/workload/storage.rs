//! Storage workloads: the common form that suites, commands and all job languages compile to.
//!
//! A [`StoragePlan`] is phases in order; a phase is streams of I/O against targets under one load.
//! Nothing here opens anything; whether a target may be written is decided by who carries it out.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::course::Course;
use crate::seed;

pub use self::conduct::{Conduct, Pauses, Skew, Turns, Zone};
pub use self::opening::{ExpectedOrder, NewFile, Opening};

mod conduct;
mod opening;

/// I/O per second that an open loop has at most: the times at which they are due are whole nanoseconds.
pub const MOST_RATE_PER_S: f64 = 1e9;

/// Phases that run one after another.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StoragePlan {
    /// In the order in which they run.
    pub phases: Vec<StoragePhase>,
}

/// One phase of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoragePhase {
    /// What its language calls it (`RndRead`, `RndRead_(50%)`, a fio group).
    pub name: String,
    /// What distinguishes it from phases of the same name: loop values, in writing order.
    pub loops: Vec<(String, String)>,
    /// What is done.
    pub workload: StorageWorkload,
    /// Seconds to wait before it.
    pub pause_before_s: f64,
}

/// One case of a suite: a workload and its place on a response curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageTest {
    /// What its results are called; the points of a curve share it.
    pub name: String,
    /// Which point of a response curve it is; `None` = of none.
    pub point: Option<CurvePoint>,
    /// What the volume is provisioned for, in B/s, if the user says so.
    pub provisioned_bytes_per_s: Option<f64>,
    /// How often all of each target is written before; 0 = it is left as it is.
    #[serde(default)]
    pub precondition_passes: u32,
    /// How often it is measured.
    #[serde(default)]
    pub course: Course,
    /// What is done. On a curve, a load of `ShareOf` phase 0 is of the curve's maximum rate.
    pub workload: StorageWorkload,
}

/// A point of a response curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CurvePoint {
    /// The maximum rate, found by a closed loop.
    #[serde(rename = "greatest")]
    Maximum,
    /// A share of it, as an open loop.
    Share {
        /// In percent.
        percent: f64,
    },
    /// A share that is chosen when all points before it are known: where the curve bends.
    Bend {
        /// Its number, from 1.
        nth: u32,
    },
}

/// Streams of I/O against targets, with nothing left to default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageWorkload {
    /// What the I/O goes to.
    pub targets: Vec<StorageTarget>,
    /// Who sends it.
    pub streams: Vec<StorageStream>,
    /// When the next I/O is due.
    pub load: Load,
    /// How long.
    pub timing: StorageTiming,
    /// How I/O is handed to the kernel.
    pub engine: EngineChoice,
    /// What is written.
    pub data: StorageData,
    /// Seed of everything random: the same seed gives the same offsets.
    pub seed: u64,
}

impl StorageWorkload {
    /// The same with random words of its own: the `nth` time that it is carried out. Otherwise every round
    /// and every rate that is tried would go to the blocks that those before it have warmed.
    #[must_use]
    pub fn of_step(&self, nth: u64) -> Self {
        Self { seed: seed::derived(self.seed, nth), ..self.clone() }
    }
}

/// A file or a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageTarget {
    /// What its language calls it.
    pub name: String,
    /// Where it is.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// Size in bytes; `None` = the size it has.
    pub size_bytes: Option<u64>,
    /// The part that is used, in bytes from the start: first and one past the last; `None` = all.
    pub range_bytes: Option<(u64, u64)>,
    /// Multiple of bytes at which I/O starts; `None` = the size of the transfer.
    pub align_bytes: Option<u64>,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// When a write counts as done.
    pub sync: WriteSync,
    /// Whether `fsync` ends the phase and counts into it.
    pub sync_at_end: bool,
    /// What happens to it before.
    #[serde(default, skip_serializing_if = "Opening::is_usual")]
    pub opening: Opening,
}

/// When a write counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteSync {
    /// When the kernel has taken it.
    None,
    /// `O_DSYNC`: when the data is on stable storage.
    Data,
    /// `O_SYNC`: when data and metadata are on stable storage.
    All,
}

/// I/O of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageStream {
    /// What its language calls it.
    pub name: String,
    /// Indices into the workload's targets.
    pub targets: Vec<usize>,
    /// Threads that submit; the I/O in flight is shared out over them.
    pub threads: u32,
    /// I/O in flight on each target at most, all threads together.
    pub in_flight_per_target: u32,
    /// Where the next I/O goes.
    pub pattern: AccessPattern,
    /// Sizes of one I/O with their shares.
    pub sizes: Vec<SizeShare>,
    /// Share of reads, 0 … 1.
    pub read_share: f64,
    /// Hot area at the start of the range, if any.
    pub hit_area: Option<HitArea>,
    /// Share of the phase's rate, 0 … 1; the shares of all streams add up to 1.
    pub rate_share: f64,
    /// Its own rate in IO/s, taken before the phase's is shared.
    pub own_rate_per_s: Option<f64>,
    /// `fsync` after this many writes; 0 = never.
    pub sync_every: u64,
    /// The stream is done after this many bytes on all its targets together, warm-up not counted;
    /// `None` = no such end. A phase ends when all its streams are done.
    pub stop_after_bytes: Option<u64>,
    /// What it does besides, which most streams do not.
    #[serde(default, skip_serializing_if = "Conduct::is_nothing")]
    pub conduct: Conduct,
}

impl StorageStream {
    /// I/O of one size on the first target, one at a time; nameless, and nothing besides.
    #[must_use]
    pub fn of(pattern: AccessPattern, bytes: u64, read_share: f64) -> Self {
        Self {
            name: String::new(),
            targets: vec![0],
            threads: 1,
            in_flight_per_target: 1,
            pattern,
            sizes: vec![SizeShare::all(bytes)],
            read_share,
            hit_area: None,
            rate_share: 1.0,
            own_rate_per_s: None,
            sync_every: 0,
            stop_after_bytes: None,
            conduct: Conduct::default(),
        }
    }

    /// Sizes of reads and of writes.
    pub fn every_size(&self) -> impl Iterator<Item = &SizeShare> {
        self.sizes.iter().chain(&self.conduct.write_sizes)
    }
}

/// One size of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SizeShare {
    /// Smallest size in bytes.
    pub min_bytes: u64,
    /// Largest size in bytes; sizes between are multiples of `step_bytes`, equally likely.
    pub max_bytes: u64,
    /// Distance of neighbouring sizes; any value where smallest and largest are the same.
    pub step_bytes: u64,
    /// Share of all I/O, 0 … 1.
    pub share: f64,
}

impl SizeShare {
    /// One size for all I/O.
    #[must_use]
    pub const fn all(bytes: u64) -> Self {
        Self { min_bytes: bytes, max_bytes: bytes, step_bytes: bytes, share: 1.0 }
    }
}

/// A small area that gets more than its share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HitArea {
    /// Its size in bytes, from the start of the range.
    pub bytes: u64,
    /// Share of reads that go there, 0 … 1.
    pub read_share: f64,
    /// Share of writes that go there, 0 … 1.
    pub write_share: f64,
}

/// Where the next I/O goes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AccessPattern {
    /// Anywhere, every slot equally likely.
    Random,
    /// Every slot once, in random order, then again.
    Permutation,
    /// One after another.
    Sequential {
        /// Who shares the position.
        cursor: Cursor,
        /// What happens at the end of the range.
        at_end: AtEnd,
        /// Bytes left out after each I/O; 0 = none.
        gap_bytes: u64,
    },
    /// Onward with gaps that are drawn again before each I/O, all equally likely; at the end from the start.
    Strides {
        /// Smallest gap in bytes.
        least_bytes: u64,
        /// Largest gap in bytes; gaps between differ by whole sizes of the I/O.
        most_bytes: u64,
    },
    /// One after another, but a share of the I/O starts again at a random place.
    Mixed {
        /// Share of I/O that jumps, 0 … 1.
        random_share: f64,
    },
    /// Blocks that lie equally far apart, every I/O of a block before the next block, each once.
    Blocks {
        /// Bytes of a block.
        block_bytes: u64,
        /// From the start of a block to the start of the next; blocks are used as far as they fit.
        stride_bytes: u64,
        /// All I/O of all blocks in random order instead.
        shuffled: bool,
    },
}

/// Who shares a sequential position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cursor {
    /// All I/O of the stream on a target takes from one position: neighbours are in flight together.
    Shared,
    /// Each thread walks over the whole range by itself.
    PerThread,
    /// Each thread walks over its own equal part of the range.
    Divided,
}

/// What happens at the end of the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtEnd {
    /// On from the start.
    Wrap,
    /// The stream is done on this target.
    Stop,
}

/// When the next I/O is due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Load {
    /// As soon as an earlier one is done: as many in flight as the streams allow, always.
    Closed,
    /// As `Closed`, but no stream runs ahead of its share of the I/O: the slowest sets the pace.
    Balanced,
    /// At moments fixed in advance, whatever happened to earlier ones.
    Open {
        /// IO/s of all streams together.
        rate_per_s: f64,
        /// The law of the gaps.
        arrivals: Arrivals,
    },
    /// Bytes per second at most; a closed loop otherwise.
    Capped {
        /// Largest B/s of all streams together.
        bytes_per_s: f64,
    },
    /// As `Open`, at a share of what the named earlier phase reached.
    ShareOf {
        /// Index of the phase in the plan.
        phase: usize,
        /// Percent of its rate; how the product is rounded is a matter of the language.
        percent: f64,
        /// How the product is rounded.
        rounding: RateRounding,
        /// The law of the gaps.
        arrivals: Arrivals,
    },
}

/// The law of the gaps between arrivals; all have the mean 1 / rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Exponential gaps: independent users.
    Exponential,
    /// Gaps equally likely between 0 and twice the mean.
    Uniform,
    /// Equal gaps.
    Constant,
}

/// How a share of a rate is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateRounding {
    /// Not at all.
    Exact,
    /// As Vdbench rounds the points of a curve: up to tens, above 1000 to hundreds.
    Vdbench,
}

impl Load {
    /// I/O per second that are asked for.
    #[must_use]
    pub const fn rate_per_s(&self) -> Option<f64> {
        match *self {
            Self::Open { rate_per_s, .. } => Some(rate_per_s),
            Self::Closed | Self::Balanced | Self::Capped { .. } | Self::ShareOf { .. } => None,
        }
    }
}

impl RateRounding {
    /// `percent` of the rate that was reached, in IO/s.
    ///
    /// Vdbench: ⌊round(reached) × percent / 100⌋, then up to a multiple of 100 above 1000 and of 10
    /// otherwise (all 45 points of three published curves).
    #[must_use]
    pub fn share(self, reached_per_s: f64, percent: f64) -> f64 {
        match self {
            Self::Exact => reached_per_s * percent / 100.0,
            Self::Vdbench => {
                let target = (reached_per_s.round() * percent / 100.0).floor();
                let step = if target > 1000.0 { 100.0 } else { 10.0 };
                (target / step).ceil() * step
            }
        }
    }
}

/// How long a phase lasts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StorageTiming {
    /// Seconds before anything counts.
    pub warmup_s: f64,
    /// Seconds that count; `None` = until the work is done.
    pub duration_s: Option<f64>,
    /// Length of one entry of the series, in seconds.
    pub interval_s: f64,
    /// Ends after this many bytes, warm-up not counted; `None` = no such end.
    pub stop_after_bytes: Option<u64>,
}

/// How I/O is handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// The best the kernel grants, by probe where that is not known.
    Auto,
    /// Submission and completion rings.
    IoUring,
    /// The same, and the device is asked for completions instead of interrupting: `IORING_SETUP_IOPOLL`.
    IoUringPolled,
    /// `io_submit` and `io_getevents`.
    Libaio,
    /// One blocking call per thread.
    Threads,
    /// Nothing is opened and every I/O is done at once: what the generator itself costs.
    Null,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StorageData {
    /// Share of each block that a compressor removes, 0 … 1.
    pub compressible: f64,
    /// Whether every block is stamped and reads are checked against the stamp.
    pub verify: Verify,
}

/// Whether blocks are stamped with address, generation and checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// No.
    Off,
    /// Blocks are stamped, and every read of a stamped block is checked.
    OnRead,
    /// As `OnRead`, and every block is read back right after it was written.
    AfterWrite,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_as_published_curves_are() {
        let curve = [1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 75];
        let expected =
            [10, 50, 100, 140, 190, 230, 280, 320, 370, 420, 460, 510, 550, 650, 690];
        let large = [(10, 2100), (50, 10_300), (70, 14_400), (80, 16_500), (100, 20_600)];
        let small = curve.into_iter().zip(expected).map(|(p, rate)| (916.12, p, rate));
        for (reached, percent, rate) in
            small.chain(large.into_iter().map(|(p, rate)| (20_554.5, p, rate)))
        {
            let found = RateRounding::Vdbench.share(reached, f64::from(percent));
            assert_eq!(found.round() as i64, rate, "{percent} % of {reached}");
        }
        assert!((RateRounding::Exact.share(916.12, 50.0) - 458.06).abs() < 1e-9);
    }
}
