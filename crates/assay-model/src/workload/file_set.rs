//! File-system workloads: file trees and the operations on them.
//!
//! A [`FileTree`] computes all names and sizes; nothing here accesses a file system.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::storage::{ArrivalProcess, RateRounding, SizeShare, StorageTiming};
use crate::seed;

/// Fixed seed, so that one run finds the tree that another one created.
const SIZE_SEED: u64 = 0x5eed;

/// Test of one operation on a file tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileTest {
    /// Name of the operation: `mkdir`, `create`, `stat` …; empty for a phase of another tool's
    /// language, which may combine several operations.
    pub name: String,
    /// Untimed preparation of the tree's state for the operation. Other tools' languages have
    /// separate phases for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileWorkload>,
    /// The measured workload.
    pub workload: FileWorkload,
}

/// Plan of consecutive phases.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FilePlan {
    /// Phases in order of execution.
    pub phases: Vec<FilePhase>,
}

/// Phase of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilePhase {
    /// Its name in the tool's language.
    pub name: String,
    /// Seconds of pause before it.
    pub pause_before_s: f64,
    /// Its workload.
    pub workload: FileWorkload,
}

/// Fully resolved streams of operations on file trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileWorkload {
    /// The trees.
    pub trees: Vec<FileTree>,
    pub streams: Vec<FileStream>,
    /// Whether the streams run one after another, each to its end.
    pub in_turn: bool,
    /// Load: the start times of operations.
    pub load: FileLoad,
    /// Duration.
    pub timing: StorageTiming,
    /// Share of each block that a compressor removes, 0 … 1.
    pub compressible: f64,
    /// Seed of random choices; the sizes of a tree's files do not depend on it.
    pub seed: u64,
}

/// Load: the start times of operations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FileLoad {
    /// Closed loop.
    Closed,
    /// Open loop with `per_s` operations of all streams together.
    Open {
        /// Operations per second.
        per_s: f64,
        /// Arrival process.
        arrivals: ArrivalProcess,
    },
    /// Open loop at a share of the rate of an earlier phase.
    ShareOf {
        /// Index of the phase in the plan.
        phase: usize,
        /// Percent of its rate.
        percent: f64,
        /// Rounding of the product.
        rounding: RateRounding,
        /// Arrival process.
        arrivals: ArrivalProcess,
    },
}

/// Tree of directories with files.
///
/// Level 1 has `width` directories; each directory of a level has `width` on the next, with `depth`
/// levels in total. Files are on the last level, or on every one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileTree {
    /// Its name in the tool's language.
    pub name: String,
    /// Directory that contains the tree.
    #[serde(with = "crate::path_text")]
    pub anchor: PathBuf,
    /// Number of directory levels; 0 = files are in the anchor itself.
    pub depth: u32,
    /// Number of directories in each directory.
    pub width: u64,
    /// Number of files in a directory with files.
    pub files: u64,
    /// Whether directories of every level contain files.
    pub files_on_all_levels: bool,
    /// Sizes of files with their shares.
    pub sizes: Vec<SizeShare>,
    /// Maximum number of files that are created; `None` = all.
    pub most_files: Option<u64>,
    /// Number of files that are used, from the first; `None` = all.
    pub used_files: Option<u64>,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Whether each write waits for stable storage.
    pub sync: bool,
    /// Whether `fsync` is called before a file is closed.
    pub sync_at_close: bool,
    /// Part of one of several hosts that share the tree; `None` = not shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<TreePart>,
}

/// Files of a shared tree that belong to one host: every `of`-th file, from number `nth`.
/// Directories are shared by all hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreePart {
    /// Its first file, from 0.
    pub nth: u64,
    /// Number of hosts that share the tree; 1 = all hosts use all files.
    pub of: u64,
}

impl TreePart {
    /// Returns the number of files in the part, of `all` files.
    const fn count(self, all: u64) -> u64 {
        let remaining = all.saturating_sub(self.nth);
        match self.of {
            0 => 0,
            hosts => remaining.div_ceil(hosts),
        }
    }
}

/// Operation on a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileOperation {
    /// Reads a part of a file.
    Read,
    /// Writes a part of a file.
    Write,
    /// Creates a directory.
    Mkdir,
    /// Removes an empty directory.
    Rmdir,
    /// Creates a file and writes it in full; with a stop after 0 bytes it stays empty.
    Create,
    /// Opens a file.
    Open,
    /// Closes a file.
    Close,
    /// Removes a file.
    Delete,
    /// Reads a file's attributes.
    Getattr,
    /// Sets a file's attributes.
    Setattr,
    /// Checks the existence of a file.
    Access,
}

/// Stream of operations of one kind on one tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileStream {
    /// Its name in the tool's language.
    pub name: String,
    /// Index into the workload's trees.
    pub tree: usize,
    /// The operation.
    pub operation: FileOperation,
    /// Number of threads, each with one operation at a time.
    pub threads: u32,
    /// Order of the files.
    pub order: FileOrder,
    /// Access within a file.
    pub access: FileAccess,
    /// Share of reads if a file is both read and written, 0 … 1; `None` = determined by the
    /// operation.
    pub read_share: Option<f64>,
    /// Sizes of one read or write with their shares.
    pub sizes: Vec<SizeShare>,
    /// Point at which a file is closed; `None` = at its end, or after as many bytes as it contains.
    pub stop_after: Option<StopAfter>,
    /// Share of the phase's rate, 0 … 1.
    pub rate_share: f64,
    /// Whether `Getattr` applies to directories instead of files.
    #[serde(default)]
    pub of_directories: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOrder {
    /// Sequential with one position for all threads of the stream; wraps around.
    Sequential,
    /// Random, uniformly distributed.
    Random,
    /// Random, with files near the first preferred: exponential distribution with this mean as a
    /// share of all files; wraps around.
    Skewed(f64),
    /// Each once; the stream ends after the last.
    Once,
}

/// Access within a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileAccess {
    /// From start to end.
    Sequential,
    /// From start to end, after the file was deleted and created again.
    SequentialAnew,
    /// Random offsets, one thread at a time per file.
    Random,
    /// Random offsets, several threads at a time per file.
    RandomShared,
}

/// Point at which a file is closed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopAfter {
    /// After this many reads or writes.
    Operations(u64),
    /// After this many bytes.
    Bytes(u64),
    /// After this share of its size, 0 … 1.
    Share(f64),
}

impl FileLoad {
    /// Returns the requested operations per second.
    pub const fn rate_per_s(self) -> Option<f64> {
        match self {
            Self::Open { per_s, .. } => Some(per_s),
            Self::Closed | Self::ShareOf { .. } => None,
        }
    }
}

impl FileOperation {
    /// All operations, in the order of reports.
    pub const ALL: [Self; 11] = [
        Self::Read,
        Self::Write,
        Self::Mkdir,
        Self::Rmdir,
        Self::Create,
        Self::Open,
        Self::Close,
        Self::Delete,
        Self::Getattr,
        Self::Setattr,
        Self::Access,
    ];

    /// Returns its name in job files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
            Self::Create => "create",
            Self::Open => "open",
            Self::Close => "close",
            Self::Delete => "delete",
            Self::Getattr => "getattr",
            Self::Setattr => "setattr",
            Self::Access => "access",
        }
    }

    /// Returns its index in [`Self::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl FileStream {
    /// Returns its operations: streams with a share of reads may both read and write.
    pub fn operations(&self) -> Vec<FileOperation> {
        match (self.operation, self.read_share) {
            (FileOperation::Read | FileOperation::Write, Some(share)) => {
                let reads = (share > 0.0).then_some(FileOperation::Read);
                let writes = (share < 1.0).then_some(FileOperation::Write);
                reads.into_iter().chain(writes).collect()
            }
            (operation, _) => vec![operation],
        }
    }
}

impl FileTree {
    /// Returns the number of directories on a level, from 1; `None` on overflow.
    pub fn directories_on(&self, level: u32) -> Option<u64> {
        self.width.checked_pow(level)
    }

    /// Returns the number of all directories except the anchor; `None` on overflow.
    pub fn directories(&self) -> Option<u64> {
        match self.width {
            0 => Some(0),
            1 => Some(self.depth.into()),
            // The number at least doubles on every level, so it overflows soon.
            _ => (1..=self.depth)
                .try_fold(0u64, |sum, level| sum.checked_add(self.directories_on(level)?)),
        }
    }

    /// Returns the number of files of this part of the tree; `None` on overflow.
    pub fn file_count(&self) -> Option<u64> {
        let directories = if self.files_on_all_levels && self.depth > 0 {
            self.directories()?
        } else {
            self.directories_on(self.depth)?
        };
        let all = directories.checked_mul(self.files)?;
        Some(self.own_count(self.most_files.map_or(all, |maximum| maximum.min(all))))
    }

    /// Returns how many files of this part are used, from the first; `None` = all.
    pub fn used_file_count(&self) -> Option<u64> {
        self.used_files.map(|used| self.own_count(used))
    }

    fn own_count(&self, all: u64) -> u64 {
        self.part.map_or(all, |part| part.count(all))
    }

    /// Converts the number of a file in this part to its number in the whole tree.
    fn global_number(&self, number: u64) -> u64 {
        self.part.map_or(number, |part| number * part.of + part.nth)
    }

    /// Returns the bytes of all files together; an expected value if sizes are random.
    pub fn bytes(&self) -> f64 {
        self.file_count().unwrap_or(u64::MAX) as f64 * self.mean_file_bytes()
    }

    /// Returns the mean size of a file in bytes.
    pub fn mean_file_bytes(&self) -> f64 {
        let mean = |size: &SizeShare| {
            size.share * (size.min_bytes as f64 + size.max_bytes as f64) / 2.0
        };
        self.sizes.iter().map(mean).sum()
    }

    /// Returns the directory with this number. Numbers ascend by level, so parents come before
    /// their children.
    pub fn directory(&self, number: u64) -> PathBuf {
        let (level, index) = self.locate(number);
        self.directory_at(level, index)
    }

    /// Returns the number of a directory's parent; `None` = the anchor.
    pub fn parent(&self, number: u64) -> Option<u64> {
        let (level, index) = self.locate(number);
        (level > 1).then(|| self.first_of_level(level - 1) + index / self.width)
    }

    /// Returns the path of the file with this number in this part.
    pub fn file(&self, number: u64) -> PathBuf {
        let number = self.global_number(number);
        let directory_number = number / self.files;
        let folder = match (self.depth, self.files_on_all_levels) {
            (0, _) => self.anchor.clone(),
            (_, true) => self.directory(directory_number),
            (depth, false) => self.directory_at(depth, directory_number),
        };
        folder.join(format!("vdb_f{:04}.file", number % self.files + 1))
    }

    /// Returns the size in bytes of the file with this number in this part. It is deterministic, so
    /// that an existing tree stays valid.
    pub fn file_bytes(&self, number: u64) -> u64 {
        let number = self.global_number(number);
        let word = seed::mix(SIZE_SEED ^ number.wrapping_add(1).wrapping_mul(seed::GAMMA));
        let mut draw = (word >> 11) as f64 / (1u64 << 53) as f64;
        let last = self.sizes.len().saturating_sub(1);
        for (index, size) in self.sizes.iter().enumerate() {
            if draw < size.share || index == last {
                let steps = (size.max_bytes - size.min_bytes) / size.step_bytes.max(1);
                return size.min_bytes + (word % (steps + 1)) * size.step_bytes;
            }
            draw -= size.share;
        }
        0
    }

    fn directory_at(&self, level: u32, index: u64) -> PathBuf {
        let mut path = self.anchor.clone();
        for directory_level in 1..=level {
            // The index in base `width`, one digit per level, the highest first.
            let digit = index / self.width.saturating_pow(level - directory_level) % self.width;
            path.push(format!("vdb.{directory_level}_{}.dir", digit + 1));
        }
        path
    }

    fn locate(&self, number: u64) -> (u32, u64) {
        let mut index = number;
        for level in 1..self.depth {
            let on_level = self.width.saturating_pow(level);
            if index < on_level {
                return (level, index);
            }
            index -= on_level;
        }
        (self.depth, index)
    }

    fn first_of_level(&self, level: u32) -> u64 {
        (1..level).map(|above| self.width.saturating_pow(above)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(depth: u32, width: u64, files: u64, files_on_all_levels: bool) -> FileTree {
        let size = |bytes, share| SizeShare {
            min_bytes: bytes,
            max_bytes: bytes,
            step_bytes: bytes,
            share,
        };
        FileTree {
            name: "fsd1".into(),
            anchor: "/a".into(),
            depth,
            width,
            files,
            files_on_all_levels,
            sizes: vec![size(4096, 0.25), size(8192, 0.75)],
            most_files: None,
            used_files: None,
            direct: false,
            sync: false,
            sync_at_close: false,
            part: None,
        }
    }

    #[test]
    fn names_and_numbers() {
        let deep = tree(2, 3, 2, false);
        assert_eq!((deep.directories(), deep.file_count()), (Some(12), Some(18)));
        assert_eq!(deep.directory(0), PathBuf::from("/a/vdb.1_1.dir"));
        assert_eq!(deep.directory(3), PathBuf::from("/a/vdb.1_1.dir/vdb.2_1.dir"));
        assert_eq!(deep.directory(11), PathBuf::from("/a/vdb.1_3.dir/vdb.2_3.dir"));
        assert_eq!((deep.parent(2), deep.parent(11)), (None, Some(2)));
        assert_eq!(deep.file(17), PathBuf::from("/a/vdb.1_3.dir/vdb.2_3.dir/vdb_f0002.file"));
        let all = tree(2, 3, 2, true);
        assert_eq!(all.file_count(), Some(24));
        assert_eq!(all.file(0), PathBuf::from("/a/vdb.1_1.dir/vdb_f0001.file"));
        assert_eq!(tree(0, 1, 2, false).file(1), PathBuf::from("/a/vdb_f0002.file"));
        assert_eq!(tree(64, 1000, 2, false).directories(), None);
        // Computed: a loop would take hours.
        assert_eq!(tree(u32::MAX, 1, 2, false).directories(), Some(u64::from(u32::MAX)));
    }

    #[test]
    fn parts_cover_tree_exactly_once() {
        let whole = FileTree { most_files: Some(17), ..tree(2, 3, 2, false) };
        let all: Vec<_> =
            (0..17).map(|number| (whole.file(number), whole.file_bytes(number))).collect();
        for of in [1, 2, 3, 20] {
            let mut owners = vec![None; 17];
            for nth in 0..of {
                let part_tree = FileTree { part: Some(TreePart { nth, of }), ..whole.clone() };
                for number in 0..part_tree.file_count().unwrap() {
                    let file = (part_tree.file(number), part_tree.file_bytes(number));
                    let index = all.iter().position(|it| *it == file).unwrap();
                    assert_eq!(owners[index].replace(nth), None, "{file:?}");
                }
            }
            assert!(owners.iter().all(Option::is_some), "{of}: {owners:?}");
        }
        let half = TreePart { nth: 1, of: 2 };
        let used = FileTree { used_files: Some(5), part: Some(half), ..whole };
        assert_eq!((used.file_count(), used.used_file_count()), (Some(8), Some(2)));
    }

    #[test]
    fn every_parent_is_the_folder_of_its_child() {
        let tree = tree(3, 4, 1, false);
        for number in 0..tree.directories().unwrap() {
            let path = tree.directory(number);
            let parent =
                tree.parent(number).map_or(tree.anchor.clone(), |it| tree.directory(it));
            assert_eq!(path.parent(), Some(parent.as_path()));
        }
    }

    #[test]
    fn sizes_have_their_shares() {
        let tree = tree(1, 1, 10_000, false);
        let small = (0..10_000).filter(|number| tree.file_bytes(*number) == 4096).count();
        // Five standard deviations of a binomial with n = 10,000 and p = 0.25.
        assert!(small.abs_diff(2500) < 217, "{small}");
        assert!((tree.mean_file_bytes() - 7168.0).abs() < 1e-9);
    }
}
