//! mdtest's options, with their defaults and conflicts.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::option::WordError;

/// Options of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MdtestOptions {
    /// `--ranks`: number of tasks, as `mpirun -n` sets it for mdtest.
    pub tasks: u32,
    /// `-n`: items of each task; 0 = determined by `-I`.
    pub items: u64,
    /// `-I`: items of each task in one directory; 0 = determined by `-n`.
    pub items_per_directory: u64,
    /// `-z`: levels of directories below the first.
    pub depth: u32,
    /// `-b`: directories in each directory.
    pub branching: u32,
    /// `-d`.
    pub paths: Vec<String>,
    /// `-C`.
    pub create: bool,
    /// `-T`.
    pub query: bool,
    /// `-E`.
    pub read: bool,
    /// `-U`.
    pub rename: bool,
    /// `-r`.
    pub remove: bool,
    /// `-D`, or both kinds of items.
    pub directories_only: bool,
    /// `-F`, or both kinds of items.
    pub files_only: bool,
    /// `-L`: items only on the last level.
    pub leaf_only: bool,
    /// `-u`: a tree for each task.
    pub unique_directory: bool,
    /// `-S`: all tasks use the same files.
    pub shared_file: bool,
    /// `-k`: create files by `mknod`.
    pub make_node: bool,
    /// `-c`: the first task creates and removes the items of all.
    #[serde(default)]
    pub collective: bool,
    /// `-w`: bytes of each file.
    pub write_bytes: u64,
    /// `-e`: bytes to read of each file.
    pub read_bytes: u64,
    /// `-y`: `fsync` after each write.
    pub sync_file: bool,
    /// `-Y`: `sync` at the end of each phase.
    pub call_sync: bool,
    /// `-X`.
    pub verify_read: bool,
    /// `--verify-write`.
    pub verify_write: bool,
    /// `-G`: seed of the data.
    pub data_seed: i64,
    /// `-N`: number of tasks by which each phase shifts the items.
    pub shift: u32,
    /// `-R`: query and read in random order.
    pub random: bool,
    /// `--random-seed`; 0 = none.
    pub random_seed: u32,
    /// `-i`.
    pub iterations: u32,
    /// `-p`, seconds.
    pub delay_s: u32,
    /// `-f`: first number of tasks.
    pub first_tasks: u32,
    /// `-l`: last number of tasks; 0 = all tasks only.
    pub last_tasks: u32,
    /// `-s`: step between the numbers of tasks.
    pub task_step: u32,
    /// `-W`: seconds after which tasks only catch up; 0 = none.
    pub deadline_s: u32,
    /// `-x`: file with the number of items that were created.
    pub status_file: Option<String>,
    /// `--saveRankPerformanceDetails`.
    #[serde(default)]
    pub rank_details_file: Option<String>,
    /// `-P`.
    pub print_rate_and_time: bool,
    /// `-Z`.
    pub print_time: bool,
    /// `--print-all-procs`.
    pub print_all_tasks: bool,
    /// `--showRankStatistics`.
    pub print_task_statistics: bool,
    /// `-v`, number of times; `-V`.
    pub verbose: u32,
    /// `--dryRun`.
    pub dry_run: bool,
    /// Folders whose contents may be changed.
    pub destroy_data: Vec<String>,
    /// Whether a folder below `/mnt` need not be a mount point.
    pub target_on_root: bool,
    /// Notes on options that have no effect.
    pub notes: Vec<String>,
}

/// Advice on unknown options.
const USAGE: &str = "see docs/mdtest.md for the supported options, e.g. assay mdtest --ranks 4 -n 1000 -d FOLDER";

/// Errors in the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MdtestOptionsError {
    /// Error of one option.
    #[error(transparent)]
    Word(#[from] WordError),
    /// Conflicting options.
    #[error("{what}")]
    Conflict {
        /// Description of the conflict.
        what: &'static str,
        /// Alternative.
        instead: &'static str,
    },
    /// Error in words of the command line.
    #[error("{what}")]
    Words {
        /// Range of the words, counted from 0.
        at: std::ops::Range<usize>,
        /// Error.
        what: Box<Self>,
    },
}

impl MdtestOptionsError {
    /// Returns advice on how to fix the error.
    pub fn hint(&self) -> String {
        match self {
            Self::Word(error) => error.hint(USAGE),
            Self::Conflict { instead, .. } => (*instead).to_owned(),
            Self::Words { what, .. } => what.hint(),
        }
    }
}

impl Default for MdtestOptions {
    fn default() -> Self {
        Self {
            tasks: 1,
            items: 0,
            items_per_directory: 0,
            depth: 0,
            branching: 1,
            paths: vec!["./out".to_owned()],
            create: false,
            query: false,
            read: false,
            rename: false,
            remove: false,
            directories_only: false,
            files_only: false,
            leaf_only: false,
            unique_directory: false,
            shared_file: false,
            make_node: false,
            collective: false,
            write_bytes: 0,
            read_bytes: 0,
            sync_file: false,
            call_sync: false,
            verify_read: false,
            verify_write: false,
            data_seed: 0,
            shift: 0,
            random: false,
            random_seed: 0,
            iterations: 1,
            delay_s: 0,
            first_tasks: 1,
            last_tasks: 0,
            task_step: 1,
            deadline_s: 0,
            status_file: None,
            rank_details_file: None,
            print_rate_and_time: false,
            print_time: false,
            print_all_tasks: false,
            print_task_statistics: false,
            verbose: 0,
            dry_run: false,
            destroy_data: vec![],
            target_on_root: false,
            notes: vec![],
        }
    }
}

/// Maximum size of the data of one file of each task, which is kept in memory.
const MAX_BUFFER_BYTES: u128 = 16 << 30;

/// A conflict, its description and the alternative.
type Conflict = (bool, &'static str, &'static str);

impl MdtestOptions {
    /// Fills in defaults and checks for conflicts.
    pub(super) fn complete(mut self) -> Result<Self, MdtestOptionsError> {
        if !(self.create || self.query || self.read || self.rename || self.remove) {
            (self.create, self.query, self.read) = (true, true, true);
            (self.rename, self.remove) = (true, true);
        }
        if !(self.directories_only || self.files_only) {
            (self.directories_only, self.files_only) = (true, true);
        }
        self.directories_only &= !self.shared_file;
        let conflicts = self.item_conflicts().into_iter();
        let all = conflicts.chain(self.data_conflicts()).chain(self.task_conflicts());
        let all = all.chain(self.collective_conflicts());
        match all.into_iter().find(|(is_wrong, ..)| *is_wrong) {
            Some((_, what, instead)) => Err(MdtestOptionsError::Conflict { what, instead }),
            None => Ok(self),
        }
    }

    /// Returns the conflicts of numbers and trees.
    fn item_conflicts(&self) -> [Conflict; 7] {
        let has_both = self.items > 0 && self.items_per_directory > 0;
        let is_limited = self.deadline_s > 0 || self.status_file.is_some();
        let has_loops = has_both && self.items != self.items_per_directory;
        let is_shifted = !self.shift.is_multiple_of(self.tasks);
        [
            (
                has_both && self.unique_directory,
                "-u takes either the number of items (-n) or the items per directory (-I)",
                "leave out -n or -I",
            ),
            (
                has_both && !self.items.is_multiple_of(self.items_per_directory.max(1)),
                "-n must be a multiple of -I",
                "choose -n as a multiple of -I",
            ),
            (
                has_both && self.depth > 0,
                "with -n, -I and -z mdtest counts fewer items than it creates",
                "leave out -n: -I is the number of items in each directory of the tree",
            ),
            (
                self.branching == 0 && self.depth > 0,
                "-z needs at least one directory in each directory",
                "write -b 1 or more",
            ),
            (
                is_limited && (self.depth > 0 || has_loops),
                "-W and -x are for tasks with one directory",
                "leave out -z, and one of -n and -I",
            ),
            (
                self.unique_directory && is_shifted && self.depth > 0,
                "with -u, -N and -z mdtest looks for directories that it has not created",
                "leave out -N or -z",
            ),
            (
                (self.random || self.random_seed > 0) && has_loops,
                "with -R, -n and -I mdtest looks for items that it has not created",
                "leave out -R or -I",
            ),
        ]
    }

    /// Returns the conflicts of data and of the deadline.
    fn data_conflicts(&self) -> [Conflict; 8] {
        let file_bytes = u128::from(self.write_bytes.max(self.read_bytes));
        [
            (
                file_bytes * u128::from(self.tasks) > MAX_BUFFER_BYTES,
                "the files of all tasks (-w, -e) need more than 16 GiB of memory at the same time",
                "choose smaller files, or fewer tasks",
            ),
            (
                self.deadline_s > 0 && self.directories_only && self.create,
                "after -W mdtest counts directories that it has not created",
                "write -F: only the creation of files ends at a time",
            ),
            (
                self.write_bytes > 0 && self.make_node,
                "-k creates empty files, and -w writes them",
                "leave out -k or -w",
            ),
            (
                self.shared_file && self.make_node,
                "-k creates each file once, and the tasks of -S all create the same files",
                "leave out -k or -S",
            ),
            (
                self.verify_read && !self.read,
                "-X checks what is read, and nothing is read",
                "add -E",
            ),
            (
                self.verify_read && self.read_bytes == 0,
                "-X checks what is read, and -e is 0",
                "write -e BYTES",
            ),
            (
                self.create && self.read && self.read_bytes > self.write_bytes,
                "-e reads more of each file than -w writes",
                "write -w BYTES with at least as many",
            ),
            (
                self.shared_file && (self.verify_read || self.verify_write),
                "the tasks of -S overwrite each other's data, so that it cannot be checked",
                "leave out -X and --verify-write, or -S",
            ),
        ]
    }

    /// Returns the conflicts of `-c`.
    fn collective_conflicts(&self) -> [Conflict; 6] {
        let only_creates = !(self.query || self.read || self.rename || self.remove);
        let has_one_kind = self.files_only != self.directories_only;
        let is_shifted = !self.shift.is_multiple_of(self.tasks);
        let conflict = |is_wrong, what, instead| (self.collective && is_wrong, what, instead);
        [
            conflict(
                self.shared_file,
                "-c creates the files of each task, and -S shares them",
                "leave out -c or -S",
            ),
            conflict(
                self.paths.len() > 1,
                "-c needs one folder: the first task creates the items of all",
                "leave out -c, or name one folder with -d",
            ),
            conflict(
                self.make_node && self.create,
                "with -c and -k mdtest creates each file twice",
                "leave out -c or -k",
            ),
            conflict(
                self.deadline_s > 0,
                "-c creates the files of all tasks before the time of -W begins for them",
                "leave out -c or -W",
            ),
            conflict(
                self.unique_directory && !(only_creates && has_one_kind),
                "with -c and -u mdtest looks for folders that do not exist after its first phase",
                "leave out -c or -u, or only create: -C with -F or -D",
            ),
            conflict(
                self.unique_directory && is_shifted,
                "with -c, -u and -N mdtest creates each file in two trees",
                "leave out -N, -u or -c",
            ),
        ]
    }

    /// Returns the conflicts of tasks and folders.
    fn task_conflicts(&self) -> [Conflict; 7] {
        let paths = self.paths.len();
        let is_range = self.last_tasks > 0;
        [
            (
                self.unique_directory && self.shared_file,
                "-u gives each task a tree, and -S shares the files",
                "leave out -u or -S",
            ),
            (
                paths > 1 && self.shift > 0,
                "-N needs one folder: the tasks of another one have not created items there",
                "leave out -N, or name one folder with -d",
            ),
            (
                paths > 1 && !self.unique_directory,
                "several folders need a tree for each task",
                "add -u",
            ),
            (
                paths as u64 > u64::from(self.tasks),
                "there are more folders (-d) than tasks",
                "write --ranks N with at least one task for each folder",
            ),
            (
                is_range && (self.first_tasks == 0 || self.first_tasks > self.last_tasks),
                "the first number of tasks (-f) is above the last (-l), or 0",
                "choose -f from 1 to -l",
            ),
            (
                is_range && self.first_tasks < self.last_tasks && self.create && !self.remove,
                "each number of tasks (-f, -l) begins without items, and nothing is removed",
                "add -r",
            ),
            (
                self.last_tasks > self.tasks,
                "the last number of tasks (-l) is above the number of tasks",
                "write --ranks N with at least as many tasks",
            ),
        ]
    }

    /// Returns the numbers of tasks that are measured, in order.
    pub fn task_counts(&self) -> Vec<u32> {
        if self.last_tasks == 0 {
            return vec![self.tasks];
        }
        (self.first_tasks..=self.last_tasks).step_by(self.task_step as usize).collect()
    }

    /// Whether items are queried and read in random order.
    pub const fn is_random(&self) -> bool {
        self.random_seed > 0
    }

    /// Chooses the seed of a random order that the user left open.
    pub const fn choose_random_seed(&mut self, seed: u32) {
        if self.random && self.random_seed == 0 {
            self.random_seed = if seed == 0 { 1 } else { seed };
        }
    }

    /// Whether anything is created, renamed or removed.
    pub const fn changes_items(&self) -> bool {
        self.create || self.remove || (self.rename && self.directories_only)
    }
}
