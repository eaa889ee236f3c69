//! Passes over the items of mdtest on all tasks: rank 0 opens and records the test folders, and each
//! other rank opens those of its task again and checks that they are the same.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use assay_dialects::mdtest::layout::MdtestLayout;
use assay_dialects::mdtest::options::MdtestOptions;
use assay_dialects::mdtest::phase::MdtestPhase;
use assay_kernels::storage::PhaseStart;
use assay_kernels::storage::items::{
    self, ItemFailure, ItemOperation, ItemOutcome, ItemRoot, TaskProgress,
};
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::path_text;
use serde::{Deserialize, Serialize};

use super::target_identity::TargetIdentity;
use crate::failure::CommandFailure;
use crate::storage::mdtest::task_pass::{TaskPass, TaskRange, TaskShare};

/// Outcome of a pass of all tasks.
#[derive(Debug)]
pub struct PassOutcome {
    pub items: ItemOutcome,
    /// Rank of the first failed operation; `None` for threads.
    pub failed_on: Option<String>,
}

/// Pass of one rank.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RankPass {
    options: MdtestOptions,
    /// Current number of tasks.
    tasks: u32,
    iteration: u32,
    /// Items of each task, which are fewer after a deadline.
    items: u64,
    phase: MdtestPhase,
    deadline_s: Option<f64>,
    is_collective: bool,
    range: TaskRange,
    /// Absolute path of the folder that contains the test folders.
    #[serde(with = "path_text")]
    folder: PathBuf,
    roots: Vec<RankRoot>,
}

/// Test folder, as rank 0 has opened it.
#[derive(Debug, Serialize, Deserialize)]
struct RankRoot {
    name: String,
    identity: TargetIdentity,
}

/// Outcome of the pass of one rank.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RankItems {
    files: FileOutcome,
    intervals: Vec<FileInterval>,
    done: u64,
    elapsed_s: f64,
    failure: Option<RankItemFailure>,
}

/// Failed operation of a rank.
#[derive(Debug, Serialize, Deserialize)]
struct RankItemFailure {
    #[serde(with = "path_text")]
    path: PathBuf,
    reason: String,
    os_error: Option<i32>,
}

impl RankPass {
    /// Describes the share of a task.
    ///
    /// # Errors
    /// A test folder cannot be identified, or the working directory is gone.
    pub(super) fn new(pass: &TaskPass<'_, '_>, share: TaskShare<'_>) -> io::Result<Self> {
        let layout = pass.layout;
        let paths = &pass.options.paths;
        let typed = paths.get(layout.path_of(share.range.task)).map(String::as_str);
        let root = |root: &ItemRoot| {
            let identity = TargetIdentity::read(root.folder())?;
            Ok(RankRoot { name: root.name().to_owned(), identity })
        };
        Ok(Self {
            options: pass.options.clone(),
            tasks: layout.tasks,
            iteration: layout.iteration,
            items: layout.size.items,
            phase: pass.phase,
            deadline_s: pass.deadline_s,
            is_collective: pass.is_collective,
            range: share.range,
            folder: std::path::absolute(path_text::decode_path(typed.unwrap_or_default()))?,
            roots: share.roots.iter().map(root).collect::<io::Result<_>>()?,
        })
    }

    /// Runs the share; `open` opens a folder that must have this identity.
    pub(super) fn run(
        &self,
        open: impl Fn(&Path, &TargetIdentity) -> Result<ItemRoot, CommandFailure>,
        stop: &AtomicBool,
        on_ready: &mut dyn FnMut() -> PhaseStart,
    ) -> Result<ItemOutcome, CommandFailure> {
        let layout = MdtestLayout::new(&self.options, self.tasks, self.iteration);
        let mut layout =
            layout.ok_or_else(|| CommandFailure::measurement("the tree is too large"))?;
        layout.size.items = self.items;
        let roots = self
            .roots
            .iter()
            .map(|root| open(&self.folder.join(&root.name), &root.identity))
            .collect::<Result<Vec<_>, _>>()?;
        let pass = TaskPass {
            options: &self.options,
            layout: &layout,
            phase: self.phase,
            deadline_s: self.deadline_s,
            is_collective: self.is_collective,
        };
        let share = TaskShare { range: self.range, folder: &self.folder, roots: &roots };
        pass.run(&[share], stop, on_ready)
    }
}

impl RankItems {
    pub(super) fn from_outcome(outcome: ItemOutcome) -> Self {
        let ItemOutcome { files, intervals, tasks, failure } = outcome;
        let TaskProgress { done, elapsed_s } = tasks.first().copied().unwrap_or_default();
        let failure = failure.map(|it| RankItemFailure {
            path: it.path,
            reason: it.source.to_string(),
            os_error: it.source.raw_os_error(),
        });
        Self { files, intervals, done, elapsed_s, failure }
    }

    pub(super) fn into_outcome(self, operation: ItemOperation) -> ItemOutcome {
        let failure = self.failure.map(|it| ItemFailure {
            verb: operation.verb(),
            path: it.path,
            source: match it.os_error {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::other(it.reason),
            },
        });
        let tasks = vec![TaskProgress { done: self.done, elapsed_s: self.elapsed_s }];
        ItemOutcome { files: self.files, intervals: self.intervals, tasks, failure }
    }
}

impl PassOutcome {
    /// Merges the outcomes of ranks, which are in order; `name` returns the name of a rank.
    pub(super) fn merge(
        parts: Vec<Option<ItemOutcome>>,
        name: impl Fn(usize) -> String,
    ) -> Self {
        let is_failed = |it: &Option<ItemOutcome>| {
            it.as_ref().is_some_and(|outcome| outcome.failure.is_some())
        };
        let failed_on = parts.iter().position(is_failed).map(name);
        Self { items: items::merge_outcomes(parts.into_iter().flatten().collect()), failed_on }
    }
}
