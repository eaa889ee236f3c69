//! Storage workloads: the common representation of suites, commands and all job languages.
//!
//! A [`StoragePlan`] consists of phases in order; a phase has streams of I/O against targets under
//! one load. Nothing here opens a file; the code that executes a plan decides whether a target may
//! be written.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::measurement_mode::MeasurementMode;
use crate::seed;
use crate::storage_outcome::IoOperation;

pub use self::access_pattern::{AccessPattern, AtEnd, Cursor};
pub use self::block_duplicates::BlockDuplicates;
pub use self::io_batches::{IoBatches, LatencyTarget, MinimumRates, WarmUpBytes};
pub use self::io_priorities::{IoPriorities, PriorityShare};
pub use self::job_order::{
    FileExtent, JobOrder, OffsetLaw, OffsetSkew, OffsetZone, StridedZones,
};
pub use self::load::{ArrivalProcess, RateRounding, StorageLoad};
pub use self::opening::{ExpectedOrder, NewFile, TargetOpening};
pub use self::replay::{ReplayTime, ReplayedIo};
pub use self::stream_behavior::{
    FileCall, MemoryPolicy, MemoryPolicyKind, Skew, StreamBehavior, TargetRotation, ThinkTime,
    WorkingSet, WriteContent,
};

mod access_pattern;
mod block_duplicates;
mod io_batches;
mod io_priorities;
mod job_order;
mod load;
mod opening;
mod replay;
mod stream_behavior;

/// Maximum rate of an open loop in I/O per second: intended starts are whole nanoseconds.
pub const MAX_RATE_PER_S: f64 = 1e9;

/// Plan of consecutive phases.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StoragePlan {
    /// Phases in order of execution.
    pub phases: Vec<StoragePhase>,
}

/// Phase of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoragePhase {
    /// Its name in the tool's language (`RndRead`, `RndRead_(50%)`, a fio group).
    pub name: String,
    /// Values of the loops that distinguish it from phases of the same name, in the order of the
    /// input.
    pub loops: Vec<(String, String)>,
    pub workload: StorageWorkload,
    /// Seconds of pause before it.
    pub pause_before_s: f64,
}

impl StoragePhase {
    /// Returns a phase outside loops that begins at once.
    pub fn new(name: impl Into<String>, workload: StorageWorkload) -> Self {
        Self { name: name.into(), loops: Vec::new(), workload, pause_before_s: 0.0 }
    }
}

/// Case of a suite: a workload and its position on a response curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageTest {
    /// Name of its results; the points of a curve share it.
    pub name: String,
    /// Point of a response curve; `None` = not part of a curve.
    pub point: Option<ResponseCurvePoint>,
    /// Throughput that the user states the volume is provisioned for, in B/s.
    pub provisioned_bytes_per_s: Option<f64>,
    /// Number of full writes of each target before; 0 = none.
    #[serde(default)]
    pub precondition_passes: u32,
    /// Measurement mode.
    #[serde(default)]
    pub course: MeasurementMode,
    /// Its workload. On a curve, a load of `ShareOf` phase 0 refers to the curve's maximum rate.
    pub workload: StorageWorkload,
}

impl StorageTest {
    /// Returns a test that is measured once and belongs to no response curve.
    pub fn new(name: impl Into<String>, workload: StorageWorkload) -> Self {
        Self {
            name: name.into(),
            point: None,
            provisioned_bytes_per_s: None,
            precondition_passes: 0,
            course: MeasurementMode::Once,
            workload,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ResponseCurvePoint {
    /// The maximum rate, found by a closed loop.
    #[serde(rename = "greatest")]
    Maximum,
    /// A share of it, as an open loop.
    Share {
        /// In percent.
        percent: f64,
    },
    /// A share chosen from the results of all earlier points: at the bend of the curve.
    Bend {
        /// Its number, from 1.
        nth: u32,
    },
}

/// Fully resolved streams of I/O against targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageWorkload {
    /// The targets.
    pub targets: Vec<StorageTarget>,
    pub streams: Vec<StorageStream>,
    /// Load: the start times of I/O.
    pub load: StorageLoad,
    /// Duration.
    pub timing: StorageTiming,
    /// Engine that issues the I/O.
    pub engine: EngineChoice,
    /// Contents of the written data.
    pub data: StorageData,
    /// Seed of all random numbers: the same seed gives the same offsets.
    pub seed: u64,
}

impl StorageWorkload {
    /// Returns a closed loop that lasts for a time, or until its work is done: without a warm-up, of
    /// contents that are not verified.
    pub const fn new(
        targets: Vec<StorageTarget>,
        streams: Vec<StorageStream>,
        duration_s: Option<f64>,
    ) -> Self {
        Self {
            targets,
            streams,
            load: StorageLoad::Closed,
            timing: StorageTiming::new(duration_s),
            engine: EngineChoice::Auto,
            data: StorageData { compressible: 0.0, verify: Verify::Off },
            seed: 1,
        }
    }

    /// Returns the workload with a seed of its own for the `nth` execution. Otherwise every round
    /// and every tried rate would access the blocks that earlier ones have cached.
    pub fn with_step_seed(&self, nth: u64) -> Self {
        Self { seed: seed::derive_seed(self.seed, nth), ..self.clone() }
    }

    /// Returns the buffers of all I/O that may be in flight at the same time.
    pub fn buffers(&self) -> IoBufferNeed {
        let mut need = IoBufferNeed::default();
        for stream in &self.streams {
            let largest =
                stream.all_sizes().map(|size| size.max_bytes.max(size.min_bytes)).max();
            let largest = largest.unwrap_or(1).max(1);
            let reads = stream.has_reads() || self.data.verify == Verify::AfterWrite;
            let directions = u64::from(reads) + u64::from(stream.read_share < 1.0);
            // Targets that are used in turn share their I/O in flight.
            let lanes =
                if stream.conduct.turns.is_some() { 1 } else { stream.targets.len() as u64 };
            let count =
                u64::from(stream.in_flight_per_target).saturating_mul(lanes * directions);
            let bytes = round_to_page(largest);
            need.count = need.count.saturating_add(count);
            need.largest_bytes = need.largest_bytes.max(largest);
            need.total_bytes = need.total_bytes.saturating_add(bytes.saturating_mul(count));
        }
        need
    }
}

/// Memory for the buffers of I/O.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IoBufferNeed {
    /// Number of buffers.
    pub count: u64,
    /// Bytes of the largest I/O.
    pub largest_bytes: u64,
    /// Bytes of all buffers together.
    pub total_bytes: u64,
}

impl IoBufferNeed {
    /// Whether all buffers have the same size.
    pub fn is_uniform(&self) -> bool {
        self.count.saturating_mul(round_to_page(self.largest_bytes)) == self.total_bytes
    }
}

/// Returns the memory of a buffer in bytes: buffers begin at page boundaries.
fn round_to_page(bytes: u64) -> u64 {
    const PAGE_BYTES: u64 = 4096;
    bytes.checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX)
}

/// A file or a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageTarget {
    /// Its name in the tool's language.
    pub name: String,
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// Size in bytes; `None` = its current size.
    pub size_bytes: Option<u64>,
    /// The used part as offsets in bytes: first and one past the last; `None` = all.
    pub range_bytes: Option<(u64, u64)>,
    /// Alignment of offsets in bytes; `None` = the size of the I/O.
    pub align_bytes: Option<u64>,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Condition under which a write is complete.
    pub sync: WriteSync,
    /// Whether a final `fsync` is part of the measured time.
    pub sync_at_end: bool,
    /// Seed of the data, which seed and address determine, so that other processes can check it;
    /// `None` = unique data, which only a stamp can verify.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_seed: Option<u64>,
    /// Preparation before the first I/O.
    #[serde(default, skip_serializing_if = "TargetOpening::is_usual")]
    pub opening: TargetOpening,
    /// Blocks with equal contents; `None` = every block written is unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<BlockDuplicates>,
}

impl StorageTarget {
    /// Returns a whole target through the page cache, without an `fsync`.
    pub fn new(
        name: impl Into<String>,
        path: impl Into<PathBuf>,
        size_bytes: Option<u64>,
    ) -> Self {
        Self {
            name: name.into(),
            path: path.into(),
            size_bytes,
            range_bytes: None,
            align_bytes: None,
            direct: false,
            sync: WriteSync::None,
            sync_at_end: false,
            data_seed: None,
            opening: TargetOpening::default(),
            duplicates: None,
        }
    }
}

/// Condition under which a write is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteSync {
    /// The kernel has accepted it.
    None,
    /// `O_DSYNC`: the data is on stable storage.
    Data,
    /// `O_SYNC`: data and metadata are on stable storage.
    All,
}

/// Stream of I/O of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageStream {
    /// Its name in the tool's language.
    pub name: String,
    /// Indices into the workload's targets.
    pub targets: Vec<usize>,
    /// Number of submitting threads, which share the I/O in flight.
    pub threads: u32,
    /// Maximum I/O in flight on each target, over all threads.
    pub in_flight_per_target: u32,
    /// Access pattern.
    pub pattern: AccessPattern,
    /// Sizes of one I/O with their shares.
    pub sizes: Vec<SizeShare>,
    /// Share of reads, 0 … 1.
    pub read_share: f64,
    /// Hot area at the start of the range, if any.
    pub hit_area: Option<HitArea>,
    /// Share of the phase's rate, 0 … 1; the shares of all streams add up to 1.
    pub rate_share: f64,
    /// Its own rate in IO/s, which is subtracted before the phase's rate is shared.
    pub own_rate_per_s: Option<f64>,
    /// Number of writes between calls of `fsync`; 0 = never.
    pub sync_every: u64,
    /// Bytes on all its targets together after which the stream is done, without the warm-up;
    /// `None` = no limit. A phase ends when all its streams are done.
    pub stop_after_bytes: Option<u64>,
    /// Optional behaviour that most streams do not have.
    #[serde(default, skip_serializing_if = "StreamBehavior::is_nothing")]
    pub conduct: StreamBehavior,
}

impl StorageStream {
    /// Returns a stream without a name: I/O of one size on the first target, one at a time.
    pub fn new(pattern: AccessPattern, bytes: u64, read_share: f64) -> Self {
        Self {
            name: String::new(),
            targets: vec![0],
            threads: 1,
            in_flight_per_target: 1,
            pattern,
            sizes: vec![SizeShare::single(bytes)],
            read_share,
            hit_area: None,
            rate_share: 1.0,
            own_rate_per_s: None,
            sync_every: 0,
            stop_after_bytes: None,
            conduct: StreamBehavior::default(),
        }
    }

    /// Whether it reads, be it only its own writes.
    pub fn has_reads(&self) -> bool {
        let order = self.conduct.order.as_deref();
        self.read_share > 0.0 || order.is_some_and(|order| order.verify_backlog.is_some())
    }

    /// Whether it writes one of its targets; recorded I/O may write some of its targets only. A file
    /// that is deleted loses its contents, too.
    pub fn writes_to(&self, target: usize) -> bool {
        if let Some(call) = self.conduct.file_call {
            return call == FileCall::Delete;
        }
        let replay = &self.conduct.replay;
        let is_write = |io: &ReplayedIo| {
            io.operation == IoOperation::Write && self.targets.get(io.file) == Some(&target)
        };
        self.read_share < 1.0 && (replay.is_empty() || replay.iter().any(is_write))
    }

    /// Returns the sizes of reads and of writes.
    pub fn all_sizes(&self) -> impl Iterator<Item = &SizeShare> {
        self.sizes.iter().chain(&self.conduct.write_sizes)
    }
}

/// Size of I/O, or a range of sizes, with its share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SizeShare {
    /// Smallest size in bytes.
    pub min_bytes: u64,
    /// Largest size in bytes; sizes between are multiples of `step_bytes`, uniformly distributed.
    pub max_bytes: u64,
    /// Distance between sizes; arbitrary if smallest and largest are equal.
    pub step_bytes: u64,
    /// Share of all I/O, 0 … 1.
    pub share: f64,
}

impl SizeShare {
    /// Returns a single size for all I/O.
    pub const fn single(bytes: u64) -> Self {
        Self { min_bytes: bytes, max_bytes: bytes, step_bytes: bytes, share: 1.0 }
    }
}

/// Hot area, which gets more than its share of the I/O.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HitArea {
    /// Its size in bytes, from the start of the range.
    pub bytes: u64,
    /// Share of reads in the area, 0 … 1.
    pub read_share: f64,
    /// Share of writes in the area, 0 … 1.
    pub write_share: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Duration of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StorageTiming {
    /// Seconds of warm-up.
    pub warmup_s: f64,
    /// Measured seconds; `None` = until the work is done.
    pub duration_s: Option<f64>,
    /// Length of an interval in seconds.
    pub interval_s: f64,
    /// Bytes after which it ends, without the warm-up; `None` = no limit.
    pub stop_after_bytes: Option<u64>,
}

impl StorageTiming {
    /// Returns the timing without a warm-up, with an interval each second.
    pub const fn new(duration_s: Option<f64>) -> Self {
        Self { warmup_s: 0.0, duration_s, interval_s: 1.0, stop_after_bytes: None }
    }
}

/// Choice of the engine that issues the I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// The best engine that the kernel supports, chosen by a contest if it is not known.
    Auto,
    /// `io_uring`.
    IoUring,
    /// `io_uring` with polled completions instead of interrupts: `IORING_SETUP_IOPOLL`.
    IoUringPolled,
    /// `io_submit` and `io_getevents`.
    Libaio,
    /// Threads with one blocking call each.
    Threads,
    /// No engine: opens nothing and completes every I/O at once, to measure the cost of the
    /// generator.
    Null,
}

/// Contents of the written data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StorageData {
    /// Share of each block that a compressor removes, 0 … 1.
    pub compressible: f64,
    /// Verification of the data.
    pub verify: Verify,
}

/// Verification mode: blocks are stamped with address, generation and checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// No verification.
    Off,
    /// Blocks are stamped, and every read of a stamped block is checked.
    OnRead,
    /// Like `OnRead`, and a block without a stamp is damaged.
    Stamped,
    /// Like `OnRead`, and every block is read back right after its write.
    AfterWrite,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(streams: Vec<StorageStream>, verify: Verify) -> StorageWorkload {
        StorageWorkload {
            data: StorageData { compressible: 0.0, verify },
            ..StorageWorkload::new(Vec::new(), streams, None)
        }
    }

    #[test]
    fn counts_the_buffers_of_all_streams() {
        let pattern = AccessPattern::Sequential {
            cursor: Cursor::Shared,
            at_end: AtEnd::Wrap,
            gap_bytes: 0,
        };
        let stream = |bytes, read_share, targets: &[usize]| StorageStream {
            in_flight_per_target: 3,
            targets: targets.to_vec(),
            ..StorageStream::new(pattern, bytes, read_share)
        };
        let in_turn = |stream: StorageStream| {
            let turns = Some(TargetRotation::Round);
            StorageStream { conduct: StreamBehavior { turns, ..stream.conduct }, ..stream }
        };
        for (streams, verify, (count, largest_bytes, total_bytes), is_uniform) in [
            (vec![stream(1, 1.0, &[0])], Verify::Off, (3, 1, 3 * 4096), true),
            (vec![stream(4097, 0.0, &[0])], Verify::Off, (3, 4097, 3 * 8192), true),
            // Writes that are read back need both buffers, as mixed I/O does.
            (vec![stream(4096, 0.0, &[0])], Verify::AfterWrite, (6, 4096, 6 * 4096), true),
            (vec![stream(4096, 0.5, &[0, 1])], Verify::Off, (12, 4096, 12 * 4096), true),
            (vec![in_turn(stream(4096, 1.0, &[0, 1]))], Verify::Off, (3, 4096, 3 * 4096), true),
            (
                vec![stream(4096, 1.0, &[0]), stream(8192, 1.0, &[0])],
                Verify::Off,
                (6, 8192, 3 * 4096 + 3 * 8192),
                false,
            ),
            (vec![stream(u64::MAX, 1.0, &[0])], Verify::Off, (3, u64::MAX, u64::MAX), true),
        ] {
            let need = workload(streams, verify).buffers();
            assert_eq!(need, IoBufferNeed { count, largest_bytes, total_bytes });
            assert_eq!(need.is_uniform(), is_uniform, "{need:?}");
        }
    }
}
