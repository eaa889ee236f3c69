//! Parsed options of one job: access pattern, targets and run time.
//!
//! `section` applies the options of a section to them.

use assay_model::workload::storage::{SizeShare, WriteSync};
use serde::{Deserialize, Serialize};

use super::value::{NumberBase, SizeOrPercent};

pub(super) mod behaviour;
mod load;
mod logs;
pub(super) mod parse_values;
pub(super) mod pattern;
pub(super) mod priorities;
mod replay;

pub use self::behaviour::{
    FadviseHint, IoBehaviour, OffsetDistribution, OffsetGenerator, SteadyCriterion, ZoneShare,
    ZoneSize,
};
pub use self::load::LoadOptions;
pub use self::logs::LogOptions;
pub use self::pattern::ContentOptions;
pub use self::priorities::{CommandPriorityOptions, SplitPriority};
pub use self::replay::ReplayOptions;

/// fio's `rw=` mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RwMode {
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes, or trims.
    pub writes: bool,
    /// Whether it trims instead of writing.
    pub trims: bool,
    /// Whether it trims before each write, which then counts as a read.
    pub trims_first: bool,
    /// Whether offsets are random.
    pub random: bool,
    /// Bytes skipped after each sequential I/O; negative = backwards.
    pub gap_bytes: i64,
    /// I/O from one random offset to the next; 1 = each is random.
    pub run_length: u64,
}

impl RwMode {
    /// Sequential reads, fio's default.
    pub(super) const READ: Self = Self {
        reads: true,
        writes: false,
        trims: false,
        trims_first: false,
        random: false,
        gap_bytes: 0,
        run_length: 1,
    };

    /// Whether it trims.
    pub const fn has_trims(self) -> bool {
        self.trims || self.trims_first
    }
}

/// Values for reads, writes and trims.
#[derive(Debug, Clone, PartialEq)]
pub struct PerDirection<T> {
    /// Value for reads.
    pub read: T,
    /// Value for writes.
    pub write: T,
    /// Value for trims.
    pub trim: T,
}

impl<T: Clone> PerDirection<T> {
    /// Returns the same value for all directions.
    pub(super) fn uniform(value: T) -> Self {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }

    /// Gives writes the values of trims.
    fn write_as_trim(&mut self) {
        self.write = self.trim.clone();
    }

    /// Gives reads the values of trims.
    fn read_as_trim(&mut self) {
        self.read = self.trim.clone();
    }
}

/// `unified_rw_reporting`: whether directions are reported apart, together, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectionReport {
    /// Each direction.
    #[default]
    Separate,
    /// All directions together.
    Mixed,
    /// Each direction, and all together.
    Both,
}

impl DirectionReport {
    /// Whether it is the default.
    pub const fn is_separate(&self) -> bool {
        matches!(self, Self::Separate)
    }
}

/// Verification of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyMode {
    /// No verification.
    Off,
    /// Blocks are stamped, and reads are checked.
    On,
}

/// Options of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct FioOptions {
    /// Section name.
    pub name: String,
    /// `description`.
    pub description: String,
    /// `filename`, split at colons.
    pub files: Vec<String>,
    /// `directory`, split at colons.
    pub directories: Vec<String>,
    /// `filename_format`.
    pub name_format: String,
    /// `rw`.
    pub rw: RwMode,
    /// `rw` as written, for the report.
    pub rw_text: String,
    /// Percent of reads of a job that reads and writes.
    pub read_percent: f64,
    /// Percent of random I/O in a random job.
    pub random_percent: PerDirection<f64>,
    /// `bs`, `bsrange`, `bssplit`.
    pub sizes: PerDirection<Vec<SizeShare>>,
    /// Sizes as given, for the report.
    pub given_sizes: PerDirection<Vec<SizeShare>>,
    /// `blockalign`.
    pub align_bytes: PerDirection<Option<u64>>,
    /// `ioengine`.
    pub engine: String,
    /// `iodepth`.
    pub depth: u32,
    /// `direct`.
    pub direct: bool,
    /// `hipri`.
    pub polls: bool,
    /// `sync`.
    pub sync: WriteSync,
    /// `fsync` or `fdatasync`: number of writes between syncs.
    pub sync_every: u64,
    /// `end_fsync`, `fsync_on_close` or `end_syncfs`.
    pub sync_at_end: bool,
    /// `size`.
    pub size: Option<SizeOrPercent>,
    /// `io_size`.
    pub io_size: Option<SizeOrPercent>,
    /// `filesize`; minimum and maximum are equal here.
    pub file_size_bytes: Option<u64>,
    /// `offset`.
    pub offset: SizeOrPercent,
    /// `offset_increment`.
    pub offset_increment: SizeOrPercent,
    /// `number_ios`.
    pub ios: Option<u64>,
    /// `nrfiles`.
    pub file_count: u64,
    /// `loops`.
    pub loops: u64,
    /// `numjobs`.
    pub clones: u32,
    /// `runtime` in seconds.
    pub runtime_s: Option<f64>,
    /// `time_based`.
    pub time_based: bool,
    /// `ramp_time` in seconds.
    pub ramp_s: f64,
    /// `startdelay` in seconds.
    pub delay_s: f64,
    /// `rate` in B/s.
    pub rate_bytes: PerDirection<Option<f64>>,
    /// `rate_iops` in IO/s.
    pub rate_iops: PerDirection<Option<f64>>,
    /// `rate_process=poisson`.
    pub poisson: bool,
    /// Whether every block is accessed once before any is repeated (not `norandommap`).
    pub random_map: bool,
    /// Whether every run uses the same offsets (`randrepeat`).
    pub repeats_offsets: bool,
    /// Whether all draws repeat (`allrandrepeat`).
    pub repeats_all: bool,
    /// `random_generator`.
    pub generator: OffsetGenerator,
    /// Whether I/O between random ones repeats an offset (`rw_sequencer=identical`).
    pub repeats_offset: bool,
    /// Whether `randseed` was given.
    pub has_seed: bool,
    /// `randseed`.
    pub seed: u64,
    /// `verify`.
    pub verify: VerifyMode,
    /// `do_verify`: read back everything after the last write.
    pub read_back: bool,
    /// `verify_backlog`: number of writes after which they are read back.
    pub verify_backlog: Option<u64>,
    /// `verify_backlog_batch`: number of them that are read back at once.
    pub verify_batch: Option<u64>,
    /// Patterns and duplicates.
    pub contents: ContentOptions,
    /// Percent of each block that a compressor removes.
    pub compress_percent: f64,
    /// `serialize_overlap`.
    pub no_overlap: bool,
    /// `stats=0`: it is not reported.
    pub is_unreported: bool,
    /// `unlink`.
    pub unlink: bool,
    /// `stonewall`.
    pub stonewall: bool,
    /// `new_group`.
    pub new_group: bool,
    /// `group_reporting`.
    pub group_reporting: bool,
    /// `percentile_list`, in percent.
    pub percentiles: Vec<f64>,
    /// `unified_rw_reporting`.
    pub direction_report: DirectionReport,
    /// `clat_percentiles`.
    pub clat_percentiles: bool,
    /// `lat_percentiles`.
    pub lat_percentiles: bool,
    /// `slat_percentiles`.
    pub slat_percentiles: bool,
    /// `bwavgtime` in seconds.
    pub sample_s: f64,
    /// `kb_base`, for the report.
    pub kb_base: u32,
    /// Further properties of its I/O.
    pub behaviour: IoBehaviour,
    /// Batches, minimum rates and errors.
    pub load: LoadOptions,
    /// Logs to write.
    pub logs: LogOptions,
    /// Recorded I/O to repeat.
    pub replay: ReplayOptions,
    /// Ignored options: name and reason.
    pub ignored: Vec<(&'static str, &'static str)>,
}

/// fio's default seed.
const DEFAULT_SEED: u64 = 0x89;
/// fio's default percentiles.
const DEFAULT_PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9,
    99.95, 99.99,
];

impl FioOptions {
    /// Returns the options of a job without settings: fio's defaults.
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: String::new(),
            files: vec![],
            directories: vec![],
            name_format: String::new(),
            rw: RwMode::READ,
            rw_text: "read".to_owned(),
            read_percent: 50.0,
            random_percent: PerDirection::uniform(100.0),
            sizes: PerDirection::uniform(vec![SizeShare::single(4096)]),
            given_sizes: PerDirection::uniform(vec![]),
            align_bytes: PerDirection::uniform(None),
            engine: "psync".to_owned(),
            depth: 1,
            direct: false,
            polls: false,
            sync: WriteSync::None,
            sync_every: 0,
            sync_at_end: false,
            size: None,
            io_size: None,
            file_size_bytes: None,
            offset: SizeOrPercent::Bytes(0),
            offset_increment: SizeOrPercent::Bytes(0),
            ios: None,
            file_count: 1,
            loops: 1,
            clones: 1,
            runtime_s: None,
            time_based: false,
            ramp_s: 0.0,
            delay_s: 0.0,
            rate_bytes: PerDirection::uniform(None),
            rate_iops: PerDirection::uniform(None),
            poisson: false,
            random_map: true,
            repeats_offsets: true,
            repeats_all: false,
            generator: OffsetGenerator::Tausworthe,
            repeats_offset: false,
            has_seed: false,
            seed: DEFAULT_SEED,
            verify: VerifyMode::Off,
            read_back: true,
            verify_backlog: None,
            verify_batch: None,
            contents: ContentOptions::default(),
            compress_percent: 0.0,
            no_overlap: false,
            is_unreported: false,
            unlink: false,
            stonewall: false,
            new_group: false,
            group_reporting: false,
            percentiles: DEFAULT_PERCENTILES.to_vec(),
            direction_report: DirectionReport::Separate,
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            sample_s: 0.5,
            kb_base: 1024,
            behaviour: IoBehaviour::default(),
            load: LoadOptions::default(),
            logs: LogOptions::default(),
            replay: ReplayOptions::default(),
            ignored: vec![],
        }
    }

    pub(super) const fn base(&self) -> NumberBase {
        NumberBase { kb: self.kb_base }
    }

    /// Applies dependencies of options: trims use the third value of each direction, and sizes
    /// between two others may be any.
    pub(super) fn settle(&mut self) {
        if self.behaviour.any_bytes {
            let PerDirection { read, write, trim } = &mut self.sizes;
            let all = read.iter_mut().chain(write).chain(trim);
            all.for_each(|size| size.step_bytes = 1);
        }
        self.given_sizes = self.sizes.clone();
        if self.rw.trims_first {
            self.read_percent = 50.0;
            self.sizes.read_as_trim();
            self.random_percent.read_as_trim();
            self.align_bytes.read_as_trim();
            self.ios = self.ios.map(|ios| ios.saturating_mul(2));
        }
        if self.rw.trims {
            self.sizes.write_as_trim();
            self.random_percent.write_as_trim();
            self.align_bytes.write_as_trim();
            self.rate_bytes.write_as_trim();
            self.rate_iops.write_as_trim();
            self.load.write_as_trim();
        }
    }

    /// Whether only time ends it; fio ignores `time_based` without `runtime`.
    pub const fn is_endless(&self) -> bool {
        self.time_based && self.runtime_s.is_some()
    }

    /// Returns the share of reads; fixed unless the job both reads and writes.
    pub const fn read_share(&self) -> f64 {
        match (self.rw.reads, self.rw.writes) {
            (true, true) => self.read_percent / 100.0,
            (true, false) => 1.0,
            _ => 0.0,
        }
    }

    /// Whether I/O has the sizes of reads, and of writes.
    pub const fn uses_sizes(&self) -> (bool, bool) {
        match self.behaviour.sizes_by_order {
            true => (true, true),
            false => (self.rw.reads, self.rw.writes),
        }
    }

    /// Returns the sizes of reads, or of writes if those of reads are not used; then the sizes of
    /// writes if they differ.
    pub fn sizes_of_io(&self) -> (&[SizeShare], &[SizeShare]) {
        match self.uses_sizes() {
            (true, true) if self.sizes.read != self.sizes.write => {
                (&self.sizes.read, &self.sizes.write)
            }
            (true, _) => (&self.sizes.read, &[]),
            _ => (&self.sizes.write, &[]),
        }
    }
}
