//! Order of the I/O of one job as fio 3.33 has it: positions, map of blocks, mix, zones, passes.
//!
//! Describes only; the kernel draws.

use serde::{Deserialize, Serialize};

/// Order of the I/O of a stream: a position per direction and file, random draws from fio's
/// generators, and passes over the files.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JobOrder {
    /// Used parts of the stream's targets, in their order.
    pub files: Vec<FileExtent>,
    /// Whether the job reads.
    pub reads: bool,
    /// Whether it writes or trims.
    pub writes: bool,
    /// Whether each write follows a trim, which counts as a read; `reads` is not set then.
    pub trims_first: bool,
    /// Whether offsets are random.
    pub is_random: bool,
    /// Percent of random I/O of a random job: of reads, and of writes.
    pub random_percent: [f64; 2],
    /// I/O from one random offset to the next: 1 = each is random.
    pub run_length: u64,
    /// Whether the others of a run repeat its offset instead of following it (`identical`).
    pub repeats_offset: bool,
    /// Whether each block is used once per pass.
    pub keeps_map: bool,
    /// Bytes of a block of the map's size.
    pub map_block_bytes: u64,
    /// Alignment of random offsets: of reads, and of writes.
    pub align_bytes: [u64; 2],
    /// Smallest I/O: of reads, and of writes.
    pub least_bytes: [u64; 2],
    /// Largest I/O of all directions, even of those that the job does not use: another pass needs as
    /// much that is left of `total_bytes`.
    pub largest_bytes: u64,
    /// Whether sizes need not be multiples of the smallest.
    pub any_bytes: bool,
    /// Whether sequential I/O has the sizes of reads, and random I/O those of writes.
    pub sizes_by_order: bool,
    /// Bytes between the end of a sequential I/O and the next; negative = backwards.
    pub gap_bytes: i64,
    /// Zones that are used one after another.
    pub zones: Option<StridedZones>,
    /// Percent of reads of a job that reads and writes.
    pub read_percent: f64,
    /// Maximum rates in IO/s of reads and of writes; I/O of a direction that is ahead becomes the
    /// other.
    pub paces_per_s: [Option<f64>; 2],
    pub pass_bytes: u64,
    /// Bytes that the job is to issue, per loop.
    pub total_bytes: u64,
    /// Whether `total_bytes` was set apart from the size of the files (`io_size`).
    pub has_own_total: bool,
    /// Number of passes.
    pub loops: u64,
    /// Maximum number of I/O per loop; `None` = no limit.
    pub ios: Option<u64>,
    /// Whether only time ends it.
    pub is_endless: bool,
    /// Number of writes after which they are synced, before the next I/O; 0 = never. Engines that
    /// queue I/O sync after completions instead.
    pub sync_every: u64,
    /// Whether passes end by issued bytes, as with engines that queue I/O.
    pub queues: bool,
    /// Files in use at once, the next one when another has ended; 0 = all.
    pub open_files: usize,
    /// I/O to a file before the next one takes its turn; 0 = one.
    pub turn_length: u64,
    /// Whether files that ended are used again by the next pass.
    pub restarts_files: bool,
    /// Whether files that ended are opened again after each pass, for verification.
    pub reopens_files: bool,
    /// Whether writes are verified after each pass.
    pub verifies: bool,
    /// Whether reads and writes draw their sizes from equal sequences.
    pub has_equal_sizes: bool,
    /// Whether offsets are drawn from a sequence that depends on the job's number alone.
    pub repeats_draws: bool,
    /// Whether each pass has the same draws.
    pub restarts_draws: bool,
    /// Whether all draws depend on the job's number alone.
    pub repeats_all: bool,
    /// Whether offsets are drawn with 64 bits.
    pub is_wide: bool,
    /// Whether a shift register draws the blocks, each once per pass (`lfsr`).
    pub is_register: bool,
    /// Distribution of random offsets that is not uniform.
    pub skew: Option<OffsetSkew>,
    /// Seed of all draws.
    pub seed: u64,
    /// Number of the job, from 1.
    pub number: u64,
    /// Whether its writes are read and its reads left out: the verification of its writes.
    pub reads_back: bool,

    /// The only pass to do, from 0; `None` = all.
    pub pass: Option<u64>,
    /// Whether writes may overlap: they are read back in the order of offsets then.
    pub overlaps: bool,
    /// Writes after which as many are read back, and the number read back at once.
    pub verify_backlog: Option<u64>,
    /// Reads of a backlog at once; `None` = all of it.
    pub verify_batch: Option<u64>,
    /// Writes of a pass that are read back, the first ones; `None` = all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_writes: Option<u64>,
}

/// Factor of fio's seeds: the golden ratio in 32 bits, made prime.
const SEED_FACTOR: u64 = 0x9e37_0001;
/// Seed of offsets that repeat.
const REPEATED_SEED: u64 = 0xb189_9bed;
/// Number of fio's generators.
const GENERATORS: usize = 21;

impl JobOrder {
    /// Number of the generator of offsets among the [`seeds`](Self::seeds).
    pub const OFFSETS: usize = 6;

    /// Returns the seeds of fio's generators, in their order.
    pub fn seeds(&self) -> [u64; GENERATORS] {
        let mut seeds = [0_u64; GENERATORS];
        let mut factor = (0..4).fold(self.seed, |seed, _| seed.wrapping_mul(SEED_FACTOR));
        for (nth, seed) in (0..).zip(&mut seeds) {
            *seed = factor.wrapping_mul(self.number).wrapping_add(nth);
            factor = factor.wrapping_mul(SEED_FACTOR);
            if self.repeats_all {
                *seed = REPEATED_SEED.wrapping_mul(self.number).wrapping_add(nth);
            }
        }
        if self.repeats_draws {
            seeds[Self::OFFSETS] = REPEATED_SEED.wrapping_mul(self.number);
        }
        seeds
    }
}

/// Distribution of a job's random offsets, as fio draws it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OffsetSkew {
    /// Its law.
    pub law: OffsetLaw,
    /// Centre as a share of the range; `None` = drawn by its seed, or the middle of a bell.
    pub centre: Option<f64>,
    /// Seed of each file.
    pub seeds: Vec<u32>,
}

/// Law of a distribution of offsets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OffsetLaw {
    /// Zipf distribution: the k-th block has a probability proportional to k^−θ.
    Zipf {
        /// θ, above 0 and not 1.
        theta: f64,
    },
    /// Self-similar: the share `area` of all blocks gets 1 − `area` of the I/O, recursively.
    SelfSimilar {
        /// Between 0 and 1, exclusive.
        area: f64,
    },
    /// Bell: the mean of twelve uniform draws, moved by up to half of this part of the range.
    Bell {
        /// Percent of the range.
        percent: f64,
    },
    /// Zones, one after another.
    Zones {
        /// Whether their sizes are bytes instead of percent of the range.
        in_bytes: bool,
        /// Zones of reads.
        reads: Vec<OffsetZone>,
        /// Zones of writes.
        writes: Vec<OffsetZone>,
    },
}

/// Zone of a distribution of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffsetZone {
    /// Percent of the I/O.
    pub io_percent: u64,
    /// Its size in percent or bytes.
    pub size: u64,
}

/// Used part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileExtent {
    /// First byte.
    pub start: u64,
    /// First byte of all passes but the first: a percentage of a file that was missing.
    pub later_start: u64,
    /// Bytes from there at which I/O may begin.
    pub bytes: u64,
    /// Size of the file in bytes.
    pub size_bytes: u64,
}

/// Zones at equal distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StridedZones {
    /// Bytes of I/O in a zone before the next one.
    pub io_bytes: u64,
    /// Bytes of a zone.
    pub range_bytes: u64,
    /// Bytes between zones.
    pub skip_bytes: u64,
}
