//! Optional behaviour of a stream of I/O: pauses, skew, separate sizes of writes, own duration,
//! CPUs. The default is none.
//!
//! The purpose of an option is left to the job languages.

use serde::{Deserialize, Serialize};

use super::{
    IoBatches, IoPriorities, JobOrder, LatencyTarget, MinimumRates, ReplayedIo, SizeShare,
    WarmUpBytes,
};

/// Optional behaviour of a stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamBehavior {
    /// Sizes of writes if they differ from those of reads; empty = the same.
    pub write_sizes: Vec<SizeShare>,
    /// Whether it discards blocks (trim) instead of writing them.
    pub trims: bool,
    /// Whether each write follows a trim of the same bytes, which counts as its read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trims_first: bool,
    /// Non-uniform distribution of random offsets.
    pub skew: Option<Skew>,
    /// Pauses of each thread, in a closed loop.
    pub pauses: Option<ThinkTime>,
    /// Rotation of the targets within one depth: `in_flight_per_target` then applies to all targets
    /// together.
    pub turns: Option<TargetRotation>,
    /// CPUs that its threads may run on; empty = all.
    pub cpus: Vec<usize>,
    /// Seconds from the start of the phase to its first I/O.
    pub start_after_s: f64,
    /// Seconds of its duration, warm-up included; `None` = until the phase ends.
    pub duration_s: Option<f64>,
    /// Whether the end of the stream ends the phase.
    pub ends_phase: bool,
    /// Whether the first error ends the stream.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_on_error: bool,
    /// Numbers of errors that do not: of reads, of writes, and of wrong data (`EILSEQ`).
    #[serde(default, skip_serializing_if = "is_empty")]
    pub tolerated_errors: [Vec<i32>; 3],
    /// Whether a full target ends the stream, without an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_when_full: bool,
    /// Whether an error of the stream ends the phase with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_phase_on_error: bool,
    /// Whether the end of the stream also ends the phases that follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_plan: bool,
    /// Whether it reads back the writes of the stream with the same number in the phase before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_back: bool,
    /// Added to the nice value of its threads.
    #[serde(default, skip_serializing_if = "is_no_increment")]
    pub nice: i32,
    /// I/O priority of its threads, as `ioprio_set(2)` takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_priority: Option<u16>,
    /// Priorities of single I/O, of streams that have an order and an engine that queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priorities: Option<Box<IoPriorities>>,
    /// NUMA nodes of its buffers; `None` = as the kernel chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_policy: Option<Box<MemoryPolicy>>,
    /// Contents of its writes, if they are not unique numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Box<WriteContent>>,
    /// Whether the sync at the end is one of the whole file system.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub syncs_file_system: bool,
    /// Maximum latency in nanoseconds; a slower I/O is an error that ends the stream.
    pub most_latency_ns: Option<u64>,
    /// Whether it keeps a journal of all measured I/O.
    pub keeps_journal: bool,
    /// Whether blocking I/O copies to and from mappings of the targets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maps_files: bool,
    /// Call on each file when its turn begins, instead of I/O: nothing is read or written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_call: Option<FileCall>,
    /// Whether submission is timed separately, if the engine has a call for it.
    pub times_submission: bool,
    /// Whether buffers use ordinary pages; otherwise large buffers use huge pages.
    #[serde(default)]
    pub plain_pages: bool,
    /// Whether `sync_every` calls `fdatasync`, which writes only the metadata required for reading.
    #[serde(default)]
    pub syncs_data_only: bool,
    /// Flags of `sync_file_range(2)`, which `sync_every` then calls for what was written since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_range_flags: Option<u32>,
    /// Order of all I/O instead of the stream's pattern, mix and limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Box<JobOrder>>,
    /// Recorded I/O to repeat instead of the stream's pattern, mix and sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<ReplayedIo>,
    /// Batches in a closed loop without pauses; `None` = those that suit the engine. With it, calls
    /// are counted by size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<IoBatches>,
    /// Warm-up by bytes, instead of that of the phase; `duration_s` begins after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUpBytes>,
    /// Minimum rates; below one of them, the stream ends with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_rates: Option<Box<MinimumRates>>,
    /// Latency to keep by the depth, with given batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_goal: Option<Box<LatencyTarget>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_no_increment(nice: &i32) -> bool {
    *nice == 0
}

fn is_empty(errors: &[Vec<i32>; 3]) -> bool {
    errors.iter().all(Vec::is_empty)
}

impl StreamBehavior {
    /// Whether it is the default.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Call on the name of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileCall {
    /// `open(2)` with `O_CREAT`, which leaves an existing file unchanged.
    Create,
    /// `stat(2)`.
    Inspect,
    /// `lstat(2)`.
    InspectLink,
    /// `realpath(3)` and `statx(2)`.
    InspectExtended,
    /// `unlink(2)`.
    Delete,
}

/// Contents of a stream's writes that differ from unique numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WriteContent {
    /// Bytes that are repeated; empty = random numbers. If data is verified, reads are compared with
    /// them, and nothing is stamped.
    pub pattern: Vec<u8>,
    /// Positions in the pattern that contain the offset of the I/O, as eight bytes from the lowest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offset_places: Vec<usize>,
    /// Share of writes that repeat the contents of the one before, 0 … 1.
    pub duplicate_share: f64,
    /// Contents that they repeat instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_set: Option<WorkingSet>,
}

/// Contents that duplicates repeat: the first unique ones of the stream, or of several streams in
/// equal parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingSet {
    /// Number of contents, at least 1.
    pub contents: u64,
    /// Number of the stream among all, from 0.
    pub stream: u64,
    /// Number of streams that share the set; 1 = its own.
    pub streams: u64,
}

/// Placement of memory, as `set_mempolicy(2)` takes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPolicy {
    /// Kind of placement.
    pub kind: MemoryPolicyKind,
    /// Its NUMA nodes.
    pub nodes: Vec<usize>,
}

/// Kind of a placement of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPolicyKind {
    /// On the nodes only.
    Bind,
    /// On the node while it has free memory.
    Prefer,
    /// In turns, page by page.
    Interleave,
}

/// Distribution of random offsets over the used range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Skew {
    /// Exponential distribution from the start of the range; wraps around.
    Exponential {
        /// Mean distance from the start, as a share of the range.
        mean_share: f64,
    },
    /// Any distribution of a stored run that was measured before those of fio were part of its order
    /// (`OffsetSkew`). Nothing measures it.
    #[serde(other)]
    Former,
}

/// Pauses between I/O: the thread waits for all I/O in flight, then for this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkTime {
    /// I/O between two pauses, at least 1.
    pub after_ios: u32,
    /// Length in nanoseconds.
    pub length_ns: u64,
    /// Part of it that the thread spends spinning instead of sleeping.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub spin_ns: u64,
    /// Time without a pause after which there is one, too; 0 = I/O alone count.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub after_ns: u64,
}

/// Rotation of targets within one depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetRotation {
    /// Round robin, one I/O each.
    Round,
    /// Random, uniformly distributed over the targets.
    Random,
    /// Random, in proportion to size: uniformly distributed over the bytes of all targets.
    BySize,
    /// In order, each target to its end.
    InOrder,
}

impl TargetRotation {
    /// Maximum number of targets with separate totals, which take memory; with more targets, totals
    /// are combined.
    pub const MAX_DISTINCT_TARGETS: usize = 256;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_distributions_of_older_runs() {
        for (text, expected) in [
            (r#"{"kind":"zipf","theta":1.2}"#, Skew::Former),
            (r#"{"kind":"zones","zones":[{"io":60,"size":10}]}"#, Skew::Former),
            (
                r#"{"kind":"exponential","mean_share":0.5}"#,
                Skew::Exponential { mean_share: 0.5 },
            ),
        ] {
            assert_eq!(serde_json::from_str::<Skew>(text).unwrap(), expected, "{text}");
        }
    }
}
