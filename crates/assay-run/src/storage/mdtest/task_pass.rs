//! Pass of tasks over their items in a phase, by threads or by one rank: the same names, numbers and
//! data wherever a task runs.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_dialects::mdtest::layout::MdtestLayout;
use assay_dialects::mdtest::options::MdtestOptions;
use assay_dialects::mdtest::phase::MdtestPhase;
use assay_kernels::storage::PhaseStart;
use assay_kernels::storage::items::{
    self, ItemNamer, ItemOperation, ItemOutcome, ItemPass, ItemRoot, NewFileContents, TaskItems,
};
use serde::{Deserialize, Serialize};

use crate::failure::CommandFailure;

/// Pass over the items of a phase.
#[derive(Debug)]
pub struct TaskPass<'p, 'o> {
    pub options: &'o MdtestOptions,
    pub layout: &'p MdtestLayout<'o>,
    pub phase: MdtestPhase,
    /// Seconds after which no task begins another item.
    pub deadline_s: Option<f64>,
    /// Whether the first task does the operations of all.
    pub is_collective: bool,
}

/// Items of a task in a pass, by their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRange {
    pub task: u32,
    pub first: u64,
    pub count: u64,
}

/// Range of a task with the test folders that it works in.
#[derive(Debug, Clone, Copy)]
pub struct TaskShare<'f> {
    pub range: TaskRange,
    /// Folder of `roots`, for messages.
    pub folder: &'f Path,
    pub roots: &'f [ItemRoot],
}

impl TaskPass<'_, '_> {
    /// Runs the shares, each in a thread, once `on_ready` lets them start.
    ///
    /// # Errors
    /// A folder cannot be opened or a thread cannot be started. A failed operation is part of the
    /// outcome.
    pub fn run(
        &self,
        shares: &[TaskShare<'_>],
        stop: &AtomicBool,
        on_ready: &mut dyn FnMut() -> PhaseStart,
    ) -> Result<ItemOutcome, CommandFailure> {
        let pass = ItemPass {
            operation: self.operation(),
            tasks: shares.iter().map(|share| self.task_items(*share)).collect(),
            deadline_s: self.deadline_s,
        };
        items::run(&pass, stop, on_ready).map_err(|error| {
            CommandFailure::measurement(format!("{} failed", self.phase.title().to_lowercase()))
                .with_cause(&error)
                .with_known_advice()
        })
    }

    fn task_items<'s>(&'s self, share: TaskShare<'s>) -> TaskItems<'s> {
        let (layout, phase) = (self.layout, self.phase);
        let TaskRange { task, first, count } = share.range;
        let is_shuffled = matches!(
            phase,
            MdtestPhase::DirectoryQuery | MdtestPhase::FileQuery | MdtestPhase::FileRead
        );
        let order = is_shuffled.then(|| layout.shuffle(task)).flatten();
        let numbers = order.clone();
        let is_collective = self.is_collective;
        let locate = move |position: u64| match is_collective {
            true => layout.locate(phase, first + position),
            false => (task, first + position),
        };
        TaskItems {
            folder: share.folder.to_path_buf(),
            roots: share.roots,
            count,
            name: Box::new(move |position, text| {
                layout.push_name(phase, locate(position), order.as_deref(), text);
            }),
            new_name: (phase == MdtestPhase::DirectoryRename).then(|| {
                let push = move |position: u64, text: &mut String| {
                    layout.push_new_name((task, first + position), text);
                };
                Box::new(push) as ItemNamer<'_>
            }),
            number: Box::new(move |position| {
                layout.item_number(phase, first + position, numbers.as_deref())
            }),
            seed: layout.data_seed(layout.owner(phase, task)),
        }
    }

    /// Returns the operation on each item.
    pub const fn operation(&self) -> ItemOperation {
        let options = self.options;
        match self.phase {
            MdtestPhase::TreeCreation | MdtestPhase::DirectoryCreation => {
                ItemOperation::MakeDirectory
            }
            MdtestPhase::DirectoryQuery | MdtestPhase::FileQuery => ItemOperation::Query,
            MdtestPhase::DirectoryRename => ItemOperation::Rename,
            MdtestPhase::TreeRemoval | MdtestPhase::DirectoryRemoval => {
                ItemOperation::RemoveDirectory
            }
            MdtestPhase::FileCreation if self.is_collective => {
                ItemOperation::Create(NewFileContents {
                    bytes: 0,
                    is_new: true,
                    syncs: false,
                    verifies: false,
                })
            }
            MdtestPhase::FileCreation if options.make_node => ItemOperation::MakeNode,
            MdtestPhase::FileCreation => ItemOperation::Create(NewFileContents {
                bytes: options.write_bytes,
                is_new: !(options.shared_file || options.collective),
                syncs: options.sync_file,
                verifies: options.verify_write,
            }),
            MdtestPhase::FileRead => {
                ItemOperation::Read { bytes: options.read_bytes, verifies: options.verify_read }
            }
            MdtestPhase::FileRemoval => ItemOperation::Remove,
        }
    }
}
