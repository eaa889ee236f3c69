//! Names and numbers of directories and files, which are those of mdtest: test folders contain one
//! tree, or with `-u` one for each task, whose directories contain the items of the tasks.

use std::fmt::Write as _;

use assay_model::seed;

use super::options::MdtestOptions;
use super::phase::MdtestPhase;

/// Maximum number of directories of a tree, whose order is kept in memory.
const MAX_DIRECTORIES: u64 = 10_000_000;
/// Maximum number of levels: paths have at most 4096 bytes (`PATH_MAX`), and each level at least 14,
/// as in `/mdtest_tree.1`.
const MAX_LEVELS: u32 = 290;
/// Maximum number of test folders of an iteration, each of which has a record.
const MAX_FOLDERS: u64 = 1000;
/// Maximum number of items of all tasks in random order, which is kept in memory.
const MAX_SHUFFLED_ITEMS: u64 = 100_000_000;

/// Numbers of directories and items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeSize {
    /// Directories of a tree, the first included.
    pub directories: u64,
    /// Directories on its last level.
    pub leaves: u64,
    /// Items of a task in a directory.
    pub items_per_directory: u64,
    /// Items of a task in all test folders of an iteration.
    pub items: u64,
    /// Test folders of an iteration.
    pub folders: u64,
}

impl TreeSize {
    /// Returns the numbers; `None` if they are too large.
    pub fn from_options(options: &MdtestOptions) -> Option<Self> {
        let branching = u64::from(options.branching);
        let mut leaves: u64 = 1;
        let mut directories: u64 = 1;
        if options.depth > MAX_LEVELS || branching == 0 && options.depth > 0 {
            return None;
        }
        for _ in 0..options.depth {
            leaves = leaves.checked_mul(branching)?;
            directories = directories.checked_add(leaves)?;
            if directories > MAX_DIRECTORIES {
                return None;
            }
        }
        let holders = if options.leaf_only { leaves } else { directories };
        let (asked, per_directory) = (options.items, options.items_per_directory);
        let (items_per_directory, items, folders) = match (asked, per_directory) {
            (_, 0) => {
                let each = asked / holders.max(1);
                (each, each * holders, 1)
            }
            (0, each) => (each, each.checked_mul(holders)?, 1),
            (all, each) => (each, all, all / each),
        };
        let all = items.checked_mul(options.tasks.into())?;
        let is_random = options.random || options.is_random();
        let is_small = folders <= MAX_FOLDERS && (!is_random || all <= MAX_SHUFFLED_ITEMS);
        let size = Self { directories, leaves, items_per_directory, items, folders };
        (is_small && i64::try_from(all).is_ok()).then_some(size)
    }

    /// Returns the number of items of a task in a test folder.
    pub const fn items_per_folder(self) -> u64 {
        self.items / if self.folders == 0 { 1 } else { self.folders }
    }

    /// Returns the names of the test folders of an iteration.
    pub fn test_folders(self, iteration: u32) -> impl Iterator<Item = String> {
        (0..self.folders).map(move |folder| name_test_folder(iteration, folder))
    }
}

fn name_test_folder(iteration: u32, folder: u64) -> String {
    format!("test-dir.{iteration}-{folder}")
}

/// Layout of one iteration.
#[derive(Debug)]
pub struct MdtestLayout<'o> {
    options: &'o MdtestOptions,
    /// Its numbers; items may be fewer after a deadline.
    pub size: TreeSize,
    /// Current number of tasks.
    pub tasks: u32,
    /// Iteration, from 0.
    pub iteration: u32,
    /// Directories of a tree in the order of their creation.
    tree: Vec<u64>,
    /// Directories with items in that order.
    holders: Vec<u64>,
}

impl<'o> MdtestLayout<'o> {
    /// Lays out an iteration of this many tasks.
    pub fn new(options: &'o MdtestOptions, tasks: u32, iteration: u32) -> Option<Self> {
        let size = TreeSize::from_options(options)?;
        let tree = order_tree(options, size.directories);
        let first_leaf = size.directories - size.leaves;
        let is_holder = |number: &u64| !options.leaf_only || *number >= first_leaf;
        let holders = tree.iter().copied().filter(is_holder).collect();
        Some(Self { options, size, tasks: tasks.max(1), iteration, tree, holders })
    }

    /// Returns the index of the path (`-d`) of a task.
    pub const fn path_of(&self, task: u32) -> usize {
        task as usize % self.options.paths.len()
    }

    /// Returns the number of operations of a task in a phase.
    pub fn count(&self, phase: MdtestPhase, task: u32) -> u64 {
        let is_idle = match phase {
            MdtestPhase::TreeCreation | MdtestPhase::TreeRemoval => {
                !self.options.unique_directory
            }
            MdtestPhase::FileRemoval => self.options.shared_file,
            _ => false,
        };
        match (self.is_collective(phase), task) {
            (true, 0) => self.count_of_all(phase),
            (false, 0) => self.count_of_one(phase),
            (true, _) => 0,
            (false, _) if is_idle => 0,
            (false, _) => self.count_of_one(phase),
        }
    }

    /// Whether the first task does the operations of all in a phase (`-c`).
    pub const fn is_collective(&self, phase: MdtestPhase) -> bool {
        let is_of_all = match phase {
            MdtestPhase::DirectoryCreation
            | MdtestPhase::DirectoryRemoval
            | MdtestPhase::FileRemoval => true,
            MdtestPhase::TreeCreation | MdtestPhase::TreeRemoval => {
                self.options.unique_directory
            }
            MdtestPhase::DirectoryQuery
            | MdtestPhase::DirectoryRename
            | MdtestPhase::FileCreation
            | MdtestPhase::FileQuery
            | MdtestPhase::FileRead => false,
        };
        self.options.collective && is_of_all
    }

    /// Returns the number of operations of all tasks in a phase.
    pub fn count_of_all(&self, phase: MdtestPhase) -> u64 {
        self.count_of_one(phase) * u64::from(self.tasks)
    }

    /// Returns the task and its position, of a position among the operations of all tasks.
    pub fn locate(&self, phase: MdtestPhase, position: u64) -> (u32, u64) {
        let each = self.count_of_one(phase).max(1);
        ((position / each) as u32, position % each)
    }

    fn count_of_one(&self, phase: MdtestPhase) -> u64 {
        match phase.is_of_trees() {
            true => self.size.directories * self.size.folders,
            false => self.size.items,
        }
    }

    /// Returns the task whose items a task uses in a phase.
    pub fn owner(&self, phase: MdtestPhase, task: u32) -> u32 {
        let shifts = match phase {
            MdtestPhase::DirectoryQuery
            | MdtestPhase::FileQuery
            | MdtestPhase::DirectoryRename => 1,
            MdtestPhase::FileRead => 2,
            MdtestPhase::DirectoryRemoval | MdtestPhase::FileRemoval => 3,
            MdtestPhase::DirectoryCreation
            | MdtestPhase::FileCreation
            | MdtestPhase::TreeCreation
            | MdtestPhase::TreeRemoval => 0,
        };
        self.shift(task, shifts)
    }

    /// Returns the seed of the data in the files of a task.
    pub fn data_seed(&self, owner: u32) -> u64 {
        seed::derive_seed(self.options.data_seed.cast_unsigned(), owner.into())
    }

    /// Returns the order of a task's queries and reads, if it is random.
    pub fn shuffle(&self, task: u32) -> Option<Vec<u64>> {
        if !self.options.is_random() {
            return None;
        }
        let first = u64::from(self.options.random_seed) + u64::from(task);
        let mut numbers: Vec<u64> = (0..self.items_per_folder()).collect();
        for last in (1..numbers.len()).rev() {
            let draw = seed::derive_seed(first, last as u64);
            numbers.swap(last, (draw % (last as u64 + 1)) as usize);
        }
        Some(numbers)
    }

    /// Returns the number of the item of a position in a phase.
    pub fn item_number(&self, phase: MdtestPhase, position: u64, order: Option<&[u64]>) -> u64 {
        let position = position % self.items_per_folder().max(1);
        let each = self.size.items_per_directory.max(1);
        if phase.visits_directories_in_order() {
            let holder = self.holders.get((position / each) as usize).copied().unwrap_or(0);
            return holder * each + position % each;
        }
        let first = if self.options.leaf_only {
            self.size.items_per_directory * (self.size.directories - self.size.leaves)
        } else {
            0
        };
        let number =
            order.and_then(|it| it.get(position as usize).copied()).unwrap_or(position);
        first + number
    }

    /// Appends the name of the directory or file of a position, below the path of its task.
    pub fn push_name(
        &self,
        phase: MdtestPhase,
        (task, position): (u32, u64),
        order: Option<&[u64]>,
        text: &mut String,
    ) {
        match phase {
            MdtestPhase::TreeCreation | MdtestPhase::TreeRemoval => {
                self.push_tree_directory(phase, (task, position), text);
            }
            MdtestPhase::DirectoryRename => {
                let last = self.items_per_folder() - 1;
                let is_last = position % self.items_per_folder() == last;
                self.push_renamed(if is_last { position - last } else { position }, task, text);
                if is_last {
                    text.push_str(SPARE_SUFFIX);
                }
            }
            _ => {
                let number = self.item_number(phase, position, order);
                let owner = self.owner(phase, task);
                self.push_item(phase, (owner, position), number, text);
            }
        }
    }

    /// Appends the new name of a renamed directory: that of the one before; the first has a spare
    /// name meanwhile.
    pub fn push_new_name(&self, (task, position): (u32, u64), text: &mut String) {
        let within = position % self.items_per_folder();
        self.push_renamed(if within == 0 { position } else { position - 1 }, task, text);
        if within == 0 {
            text.push_str(SPARE_SUFFIX);
        }
    }

    fn push_renamed(&self, position: u64, task: u32, text: &mut String) {
        let phase = MdtestPhase::DirectoryRename;
        let number = self.item_number(phase, position, None);
        self.push_item(phase, (self.owner(phase, task), position), number, text);
    }

    const fn items_per_folder(&self) -> u64 {
        self.size.items_per_folder()
    }

    fn shift(&self, task: u32, times: u64) -> u32 {
        let shifted = u64::from(task) + times * u64::from(self.options.shift);
        (shifted % u64::from(self.tasks)) as u32
    }

    fn push_tree_directory(
        &self,
        phase: MdtestPhase,
        (task, position): (u32, u64),
        text: &mut String,
    ) {
        let count = self.size.directories;
        let within = position % count;
        let at = if phase == MdtestPhase::TreeRemoval { count - 1 - within } else { within };
        self.push_folder(position / count, text);
        self.push_directory(task, self.tree.get(at as usize).copied().unwrap_or(0), text);
    }

    fn push_folder(&self, folder: u64, text: &mut String) {
        text.push_str(&name_test_folder(self.iteration, folder));
    }

    /// Appends a directory of a tree with those above it.
    fn push_directory(&self, task: u32, number: u64, text: &mut String) {
        if number > 0 {
            let parent = (number - 1) / u64::from(self.options.branching.max(1));
            self.push_directory(task, parent, text);
        }
        let _ = match self.options.unique_directory {
            true => write!(text, "/mdtest_tree.{task}.{number}"),
            false => write!(text, "/mdtest_tree.{number}"),
        };
    }

    fn push_item(
        &self,
        phase: MdtestPhase,
        (owner, position): (u32, u64),
        number: u64,
        text: &mut String,
    ) {
        self.push_folder(position / self.items_per_folder().max(1), text);
        let directory = match self.options.depth {
            0 => 0,
            _ => number / self.size.items_per_directory.max(1),
        };
        self.push_directory(self.shift(owner, 1), directory, text);
        let kind = if phase.is_of_files() { "file" } else { "dir" };
        let _ = match self.options.shared_file {
            true => write!(text, "/{kind}.mdtest.shared.{number}"),
            false => write!(text, "/{kind}.mdtest.{owner}.{number}"),
        };
    }
}

/// Suffix of the spare name of a renamed directory.
const SPARE_SUFFIX: &str = "-XX";

/// Returns the directories of a tree in the order of their creation: each before those in it.
fn order_tree(options: &MdtestOptions, directories: u64) -> Vec<u64> {
    let branching = u64::from(options.branching);
    let mut order = Vec::new();
    let mut open = vec![0];
    while let Some(number) = open.pop() {
        order.push(number);
        let first = number * branching + 1;
        let end = first.saturating_add(branching).min(directories);
        open.extend((first..end).rev());
    }
    order
}
