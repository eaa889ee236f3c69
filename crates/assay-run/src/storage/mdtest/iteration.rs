//! Iteration: its phases in order, each with all tasks at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use assay_dialects::mdtest::layout::MdtestLayout;
use assay_dialects::mdtest::options::MdtestOptions;
use assay_dialects::mdtest::phase::{MdtestPhase, list_phases};
use assay_dialects::mdtest::result::{MdtestTest, PhaseResult, StonewallProgress};
use assay_kernels::storage::items::{
    self, ItemNamer, ItemOperation, ItemOutcome, ItemPass, NewFileContents, TaskItems,
};

use super::phase_outcome::PhaseOutcome;
use super::record::TestRecord;
use super::test_folders::TestFolders;
use super::{MdtestEvent, MdtestListener, MdtestStep, status_file};
use crate::cancellable_wait;
use crate::failure::CommandFailure;
use crate::recording::Recording;

/// Iteration of a test.
pub(super) struct Iteration<'a> {
    options: &'a MdtestOptions,
    layout: MdtestLayout<'a>,
    number: u32,
    /// Files of a task, if a status file has their number.
    files: Option<u64>,
    folders: &'a mut TestFolders,
    stop: &'a AtomicBool,
}

impl<'a> Iteration<'a> {
    /// Lays out an iteration.
    pub(super) fn new(
        options: &'a MdtestOptions,
        (tasks, number): (u32, u32),
        folders: &'a mut TestFolders,
        stop: &'a AtomicBool,
    ) -> Result<Self, CommandFailure> {
        let layout = MdtestLayout::new(options, tasks, number);
        let layout = layout.ok_or_else(|| CommandFailure::usage("the tree is too large"))?;
        let files = status_file::read(options)?;
        Ok(Self { options, layout, number, files, folders, stop })
    }

    /// Runs all phases, until one fails or the user interrupts the run.
    pub(super) fn run(
        &mut self,
        recording: &Recording<'_>,
        (test, record): (&mut MdtestTest, &mut TestRecord<'_>),
        on: &mut MdtestListener<'_>,
    ) -> Result<(), CommandFailure> {
        self.folders.begin(&self.layout)?;
        let phases = list_phases(self.options);
        for phase in &phases {
            if phase.waits(&phases) {
                cancellable_wait::wait_seconds(f64::from(self.options.delay_s), self.stop);
            }
            if self.is_stopped() {
                return Ok(());
            }
            if phase.is_of_files()
                && let Some(files) = self.files
            {
                self.layout.size.items = files;
            }
            on(MdtestEvent::PhaseStarted { phase: *phase, iteration: self.number });
            let step = MdtestStep { tasks: self.layout.tasks, phase: *phase };
            record.begin_counting(recording);
            let outcome = self.run_phase(*phase, (step, record))?;
            record.end_counting(recording, step, &outcome.intervals);
            if self.is_stopped() {
                return Ok(());
            }
            let result = self.to_result(*phase, &outcome);
            on(MdtestEvent::Result { result: &result });
            record.add(step, outcome, &result);
            test.results.push(result);
        }
        self.folders.end(on)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn run_phase(
        &mut self,
        phase: MdtestPhase,
        (step, record): (MdtestStep, &mut TestRecord<'_>),
    ) -> Result<PhaseOutcome, CommandFailure> {
        let has_deadline = phase == MdtestPhase::FileCreation && self.options.deadline_s > 0;
        let deadline_s = has_deadline.then(|| f64::from(self.options.deadline_s));
        let mut fail = |failure: &items::ItemFailure| record.add_failure(step, failure);
        let tasks = || 0..self.layout.tasks;
        let all = tasks().map(|task| (0, self.layout.count(phase, task))).collect();
        let first = self.run_pass(phase, all, deadline_s, &mut fail)?;
        let mut outcome = PhaseOutcome::new(first);
        if has_deadline && !self.is_stopped() {
            let done: Vec<u64> = outcome.tasks.iter().map(|it| it.done).collect();
            let stonewall = summarize_progress(&done);
            if (stonewall.mean as u64) != self.layout.size.items {
                let rest = done.iter().map(|done| (*done, stonewall.maximum - done)).collect();
                outcome.append(self.run_pass(phase, rest, None, &mut fail)?);
                outcome.stonewall = Some(stonewall);
                self.layout.size.items = stonewall.maximum;
            }
            status_file::write(self.options, stonewall.maximum)?;
        }
        if self.options.call_sync && !phase.is_of_trees() && !self.is_stopped() {
            let start = Instant::now();
            rustix::fs::sync();
            outcome.extend(start.elapsed().as_secs_f64());
        }
        Ok(outcome)
    }

    /// Runs the operation of a phase on the items of each task: from which one, and how many.
    fn run_pass(
        &self,
        phase: MdtestPhase,
        ranges: Vec<(u64, u64)>,
        deadline_s: Option<f64>,
        fail: &mut dyn FnMut(&items::ItemFailure) -> CommandFailure,
    ) -> Result<ItemOutcome, CommandFailure> {
        let tasks = ranges.into_iter().zip(0..);
        let pass = ItemPass {
            operation: self.operation(phase),
            tasks: tasks.map(|(range, task)| self.task_items(phase, task, range)).collect(),
            deadline_s,
        };
        let outcome = items::run(&pass, self.stop).map_err(|error| {
            CommandFailure::measurement(format!("{} failed", phase.title().to_lowercase()))
                .with_cause(&error)
                .with_known_advice()
        })?;
        match &outcome.failure {
            Some(failure) if !self.is_stopped() => Err(fail(failure)),
            _ => Ok(outcome),
        }
    }

    fn task_items(
        &self,
        phase: MdtestPhase,
        task: u32,
        (first, count): (u64, u64),
    ) -> TaskItems<'_> {
        let layout = &self.layout;
        let is_shuffled = matches!(
            phase,
            MdtestPhase::DirectoryQuery | MdtestPhase::FileQuery | MdtestPhase::FileRead
        );
        let order = is_shuffled.then(|| layout.shuffle(task)).flatten();
        let numbers = order.clone();
        TaskItems {
            folder: self.folders.paths[layout.path_of(task)].clone(),
            roots: &self.folders.roots[layout.path_of(task)],
            count,
            name: Box::new(move |position, text| {
                layout.push_name(phase, (task, first + position), order.as_deref(), text);
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

    const fn operation(&self, phase: MdtestPhase) -> ItemOperation {
        let options = self.options;
        match phase {
            MdtestPhase::TreeCreation | MdtestPhase::DirectoryCreation => {
                ItemOperation::MakeDirectory
            }
            MdtestPhase::DirectoryQuery | MdtestPhase::FileQuery => ItemOperation::Query,
            MdtestPhase::DirectoryRename => ItemOperation::Rename,
            MdtestPhase::TreeRemoval | MdtestPhase::DirectoryRemoval => {
                ItemOperation::RemoveDirectory
            }
            MdtestPhase::FileCreation if options.make_node => ItemOperation::MakeNode,
            MdtestPhase::FileCreation => ItemOperation::Create(NewFileContents {
                bytes: options.write_bytes,
                is_new: !options.shared_file,
                syncs: options.sync_file,
                verifies: options.verify_write,
            }),
            MdtestPhase::FileRead => {
                ItemOperation::Read { bytes: options.read_bytes, verifies: options.verify_read }
            }
            MdtestPhase::FileRemoval => ItemOperation::Remove,
        }
    }

    fn to_result(&self, phase: MdtestPhase, outcome: &PhaseOutcome) -> PhaseResult {
        let size = self.layout.size;
        PhaseResult {
            phase,
            iteration: self.number,
            items: if phase.is_of_trees() { size.directories } else { size.items },
            elapsed_s: outcome.files.elapsed_s,
            tasks_s: outcome.tasks.iter().map(|it| it.elapsed_s).collect(),
            stonewall: outcome.stonewall,
        }
    }
}

fn summarize_progress(done: &[u64]) -> StonewallProgress {
    let sum: u64 = done.iter().sum();
    StonewallProgress {
        minimum: done.iter().copied().min().unwrap_or(0),
        maximum: done.iter().copied().max().unwrap_or(0),
        mean: sum as f64 / done.len().max(1) as f64,
    }
}
