//! Iteration: its phases in order, each with all tasks at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use assay_dialects::mdtest::layout::MdtestLayout;
use assay_dialects::mdtest::options::MdtestOptions;
use assay_dialects::mdtest::phase::{MdtestPhase, list_phases};
use assay_dialects::mdtest::result::{MdtestTest, PhaseResult, StonewallProgress};
use assay_kernels::storage::items::{ItemFailure, ItemOutcome};

use super::phase_outcome::PhaseOutcome;
use super::record::TestRecord;
use super::task_pass::{TaskPass, TaskRange, TaskShare};
use super::test_folders::TestFolders;
use super::{MdtestEvent, MdtestListener, MdtestStep, status_file};
use crate::cancellable_wait;
use crate::failure::CommandFailure;
use crate::recording::Recording;
use crate::storage::job_tasks::{JobTasks, PassOutcome};

/// Receiver of a failed operation and the rank that it failed on; returns the user's failure.
type FailureListener<'l> = dyn FnMut(&ItemFailure, Option<&str>) -> CommandFailure + 'l;

/// Pass over the items of a phase.
#[derive(Debug, Clone, Copy)]
struct PassSpec {
    phase: MdtestPhase,
    deadline_s: Option<f64>,
    /// Whether the first task does the operations of all.
    is_collective: bool,
}

/// Iteration of a test.
pub(super) struct Iteration<'a> {
    options: &'a MdtestOptions,
    layout: MdtestLayout<'a>,
    number: u32,
    /// Files of a task, if a status file has their number.
    files: Option<u64>,
    folders: &'a mut TestFolders,
    tasks: &'a JobTasks,
    stop: &'a AtomicBool,
}

impl<'a> Iteration<'a> {
    /// Lays out an iteration of a number of tasks.
    pub(super) fn new(
        options: &'a MdtestOptions,
        (count, number): (u32, u32),
        (folders, tasks): (&'a mut TestFolders, &'a JobTasks),
        stop: &'a AtomicBool,
    ) -> Result<Self, CommandFailure> {
        let layout = MdtestLayout::new(options, count, number);
        let layout = layout.ok_or_else(|| CommandFailure::usage("the tree is too large"))?;
        let files = status_file::read(options)?;
        Ok(Self { options, layout, number, files, folders, tasks, stop })
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
        let mut fail =
            |failure: &ItemFailure, on: Option<&str>| record.add_failure(step, (failure, on));
        let tasks = || 0..self.layout.tasks;
        let all = tasks().map(|task| (0, self.layout.count(phase, task))).collect();
        let all_do = |is_collective| PassSpec { phase, deadline_s, is_collective };
        let mut outcome = if self.options.collective && phase == MdtestPhase::FileCreation {
            let mut created = vec![(0, 0); self.layout.tasks as usize];
            created[0].1 = self.layout.count_of_all(phase);
            let mut outcome =
                PhaseOutcome::new(self.run_pass(all_do(true), created, &mut fail)?);
            outcome.append(self.run_pass(all_do(false), all, &mut fail)?);
            outcome
        } else {
            let spec = all_do(self.layout.is_collective(phase));
            PhaseOutcome::new(self.run_pass(spec, all, &mut fail)?)
        };
        if has_deadline && !self.is_stopped() {
            let done: Vec<u64> = outcome.tasks.iter().map(|it| it.done).collect();
            let stonewall = summarize_progress(&done);
            if (stonewall.mean as u64) != self.layout.size.items {
                let rest = done.iter().map(|done| (*done, stonewall.maximum - done)).collect();
                let spec = PassSpec { phase, deadline_s: None, is_collective: false };
                outcome.append(self.run_pass(spec, rest, &mut fail)?);
                outcome.stonewall = Some(stonewall);
                self.layout.size.items = stonewall.maximum;
            }
            status_file::write(self.options, stonewall.maximum)?;
        }
        if self.options.call_sync && !phase.is_of_trees() && !self.is_stopped() {
            let start = Instant::now();
            self.tasks.sync(self.stop)?;
            outcome.extend(start.elapsed().as_secs_f64());
        }
        Ok(outcome)
    }

    /// Runs the operation of a phase on the items of each task: from which one, and how many.
    fn run_pass(
        &self,
        PassSpec { phase, deadline_s, is_collective }: PassSpec,
        ranges: Vec<(u64, u64)>,
        fail: &mut FailureListener<'_>,
    ) -> Result<ItemOutcome, CommandFailure> {
        let pass = TaskPass {
            options: self.options,
            layout: &self.layout,
            phase,
            deadline_s,
            is_collective,
        };
        let shares = ranges.into_iter().zip(0..).map(|((first, count), task)| {
            let path = self.layout.path_of(task);
            let (folder, roots) = (&self.folders.paths[path], &self.folders.roots[path]);
            TaskShare { range: TaskRange { task, first, count }, folder, roots }
        });
        let shares: Vec<TaskShare<'_>> = shares.collect();
        let PassOutcome { items, failed_on } =
            self.tasks.run_items(&pass, &shares, self.stop)?;
        match &items.failure {
            Some(failure) if !self.is_stopped() => Err(fail(failure, failed_on.as_deref())),
            _ => Ok(items),
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
