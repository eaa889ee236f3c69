//! IOR's options, letter by letter, with checks for conflicts.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::rank_placement::RankPlacement;
use crate::option::WordError;

/// Options of a test; the fields are named as in IOR's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IorOptions {
    /// Script that contains the test, and the line that ends it there, counted from 1.
    pub script: Option<(String, usize)>,
    /// `-A`.
    pub ref_num: u64,
    /// `-b`, bytes.
    pub block_bytes: u64,
    /// `-t`, bytes.
    pub transfer_bytes: u64,
    /// `-s`.
    pub segments: u64,
    /// `-C`.
    pub reorder: bool,
    /// `-Q`.
    pub reorder_offset: u32,
    /// `-Z`, number of times: 1 = each rank reads any rank's part, 2 = a random permutation of the
    /// parts.
    pub reorder_random: u32,
    /// `-X`; a negative seed changes with the repetition.
    pub reorder_seed: i64,
    /// `-d`, seconds.
    pub delay_s: u32,
    /// `-D`, seconds; 0 = none.
    pub deadline_s: u32,
    /// `-T`, minutes; 0 = none.
    pub max_minutes: u32,
    /// `-e`.
    pub fsync: bool,
    /// `-Y`.
    pub fsync_per_write: bool,
    /// `-E`.
    pub use_existing: bool,
    /// `-F`.
    pub file_per_rank: bool,
    /// `-G`.
    pub signature: u64,
    /// `-i`.
    pub repetitions: u32,
    /// `-k`.
    pub keep: bool,
    /// `-K`.
    pub keep_with_error: bool,
    /// `-m`.
    pub multi_file: bool,
    /// `-u`.
    pub unique_dir: bool,
    /// `-O stoneWallingWearOut`.
    pub wear_out: bool,
    /// `-O stoneWallingWearOutIterations`, transfers of a rank; 0 = all.
    pub wear_out_transfers: u64,
    /// `-O saveRankPerformanceDetailsCSV`.
    #[serde(default)]
    pub rank_details_file: Option<String>,
    /// `-O stoneWallingStatusFile`.
    pub status_file: Option<String>,
    /// `-l`: `t`, `o`, `i` or `r`.
    pub packet: char,
    /// `--randomPrefill`, bytes; 0 = none.
    pub prefill_bytes: u64,
    /// `-N`.
    pub ranks: u32,
    /// Hosts of the ranks of an MPI job; `None` if ranks are threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<RankPlacement>,
    /// `-o`.
    pub test_file: String,
    /// `-w`.
    pub write: bool,
    /// `-r`.
    pub read: bool,
    /// `-W`.
    pub check_write: bool,
    /// `-R`.
    pub check_read: bool,
    /// `-z`, number of times: 1 = every transfer once in random order, 2 = random offsets.
    pub random: u32,
    /// `-v`, number of times.
    pub verbose: u32,
    /// `--posix.odirect`.
    pub direct: bool,
    /// `-O summaryFormat`.
    pub format: IorFormat,
    /// `-O summaryFile`.
    pub summary_file: Option<String>,
    /// `--dryRun`.
    pub dry_run: bool,
    /// Devices and files that may be overwritten.
    pub destroy_data: Vec<String>,
    /// Whether a folder below `/mnt` need not be a mount point.
    pub target_on_root: bool,
    /// Notes on options that have no effect.
    pub notes: Vec<String>,
}

/// Format of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IorFormat {
    /// Human-readable text.
    Text,
    /// Single JSON document.
    Json,
    /// Line per result.
    Csv,
}

/// Advice on unknown options.
const USAGE: &str =
    "see docs/ior.md for the supported options, e.g. assay ior -N 4 -b 1g -t 1m -F -o FILE";

/// Errors in the arguments or the script.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IorOptionsError {
    /// Error of one option.
    #[error(transparent)]
    Word(#[from] WordError),
    /// Script of `-f` that cannot be read.
    #[error("cannot read the script `{file}`: {why}")]
    UnreadableScript {
        /// Path as written.
        file: String,
        /// Error message of the system.
        why: String,
    },
    /// Error in words of the command line.
    #[error("{what}")]
    Words {
        /// Range of the words, counted from 0.
        at: std::ops::Range<usize>,
        /// Error.
        what: Box<Self>,
    },
    /// Error in a line of the script.
    #[error("{what}")]
    Line {
        /// Script path.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// Error.
        what: Box<Self>,
    },
    /// Conflicting options.
    #[error("{what}")]
    Conflict {
        /// Description of the conflict.
        what: &'static str,
    },
}

impl IorOptionsError {
    /// Returns the error without its location.
    pub fn without_location(&self) -> &Self {
        match self {
            Self::Words { what, .. } | Self::Line { what, .. } => what.without_location(),
            located => located,
        }
    }

    /// Returns advice on how to fix the error.
    pub fn hint(&self) -> String {
        match self {
            Self::Word(error) => error.hint(USAGE),
            Self::UnreadableScript { .. } => {
                "give it as -f FILE: lines of NAME=VALUE between `IOR START` and `IOR STOP`"
                    .to_owned()
            }
            Self::Words { what, .. } | Self::Line { what, .. } => what.hint(),
            Self::Conflict { .. } => "see docs/ior.md; IOR itself rejects this, too".to_owned(),
        }
    }
}

impl Default for IorOptions {
    fn default() -> Self {
        Self {
            script: None,
            ref_num: 0,
            block_bytes: 1 << 20,
            transfer_bytes: 256 << 10,
            segments: 1,
            reorder: false,
            reorder_offset: 1,
            reorder_random: 0,
            reorder_seed: 0,
            delay_s: 0,
            deadline_s: 0,
            max_minutes: 0,
            fsync: false,
            fsync_per_write: false,
            use_existing: false,
            file_per_rank: false,
            signature: 0,
            repetitions: 1,
            keep: false,
            keep_with_error: false,
            multi_file: false,
            unique_dir: false,
            wear_out: false,
            wear_out_transfers: 0,
            rank_details_file: None,
            status_file: None,
            packet: 't',
            prefill_bytes: 0,
            ranks: 1,
            placement: None,
            test_file: "testFile".to_owned(),
            write: false,
            read: false,
            check_write: false,
            check_read: false,
            random: 0,
            verbose: 0,
            direct: false,
            format: IorFormat::Text,
            summary_file: None,
            dry_run: false,
            destroy_data: vec![],
            target_on_root: false,
            notes: vec![],
        }
    }
}

impl IorOptions {
    /// Adds a note once: the tests of a script inherit those of the tests before.
    pub(super) fn note_once(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Fills in defaults and checks for conflicts.
    pub(super) fn complete(mut self) -> Result<Self, IorOptionsError> {
        if !(self.write || self.read || self.check_write || self.check_read) {
            (self.write, self.read) = (true, true);
        }
        if let Some(job) = self.placement.filter(|job| self.ranks > job.ranks) {
            let (asked, ranks) = (self.ranks, job.ranks);
            self.note_once(format!("-N {asked}: the job has {ranks} ranks, which are used"));
            self.ranks = ranks;
        }
        let reordered = self.reorder || self.reorder_random > 0;
        let whole = self.block_bytes.is_multiple_of(self.transfer_bytes);
        let bytes = self.block_bytes.checked_mul(self.segments);
        let aggregate = bytes.and_then(|bytes| bytes.checked_mul(u64::from(self.ranks)));
        let table = [
            (!whole, "block size (-b) must be a multiple of transfer size (-t)"),
            (
                self.random == 1 && self.block_bytes == self.transfer_bytes,
                "-z shuffles the transfers of a block, and there is one transfer in a block",
            ),
            (
                self.random > 0 && reordered && !self.file_per_rank,
                "-z cannot be combined with -C or -Z on a shared file",
            ),
            (self.reorder && self.reorder_random > 0, "-C and -Z exclude each other"),
            (self.random == 0 && self.prefill_bytes > 0, "--randomPrefill needs -z"),
            (
                self.prefill_bytes > 0 && !self.block_bytes.is_multiple_of(self.prefill_bytes),
                "--randomPrefill must divide the block size (-b)",
            ),
            (
                self.wear_out && self.deadline_s == 0,
                "-O stoneWallingWearOut needs a deadline, -D",
            ),
            (
                self.status_file.is_some() && !self.keep,
                "-O stoneWallingStatusFile needs kept files, -k",
            ),
            (
                self.status_file.is_some() && self.write && !self.wear_out,
                "-O stoneWallingStatusFile needs -O stoneWallingWearOut=1 when writing",
            ),
            (
                aggregate.is_none_or(|bytes| i64::try_from(bytes).is_err()),
                "the total size exceeds 2^63 - 1 bytes",
            ),
        ];
        match table.into_iter().find(|(wrong, _)| *wrong) {
            Some((_, what)) => Err(IorOptionsError::Conflict { what }),
            None => Ok(self),
        }
    }

    /// Returns the number of hosts.
    pub fn nodes(&self) -> u32 {
        self.placement.map_or(1, |job| job.nodes)
    }

    /// Returns the number of ranks on the first host.
    pub fn tasks_per_node(&self) -> u32 {
        self.placement.map_or(self.ranks, |job| job.on_first_node)
    }

    /// Returns the transfers of one rank in one repetition.
    pub const fn transfers_per_rank(&self) -> u64 {
        self.block_bytes / self.transfer_bytes * self.segments
    }

    /// Returns the bytes that a file must hold to be read; `None` if fewer transfers may have been
    /// written.
    pub fn required_file_bytes(&self) -> Option<u64> {
        let is_whole =
            self.deadline_s == 0 && self.wear_out_transfers == 0 && self.status_file.is_none();
        let all = self.aggregate_bytes();
        is_whole.then(|| if self.file_per_rank { all / u64::from(self.ranks) } else { all })
    }

    /// Returns the bytes of one direction in one repetition.
    pub const fn aggregate_bytes(&self) -> u64 {
        self.block_bytes * self.segments * self.ranks as u64
    }
}
