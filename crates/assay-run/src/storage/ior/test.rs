//! Running IOR test: its folders, repetitions and cleanup.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use assay_dialects::ior::compile::{self, IorAccess, compile};
use assay_dialects::ior::options::IorOptions;
use assay_dialects::ior::result::IorTestResult;
use assay_fleet::capacity;
use assay_kernels::storage::OpenTargets;
use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::entry::MeasurementEntry;
use assay_model::failure::FailureReason;
use assay_model::path_text;
use assay_model::quantity::Bytes;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{StoragePhase, StoragePlan};

use super::{
    IorEvent, IorListener, IorStep, format_now, old_data, rank_details, target_capacity,
    transfers_by_rank,
};
use crate::failure::CommandFailure;
use crate::recording::Recording;
use crate::storage::job_tasks::JobTasks;
use crate::storage::options::RunOptions;
use crate::storage::runner::{self, StorageEvent};
use crate::storage::{series, volume};

pub(super) struct RunningIorTest<'a> {
    pub(super) test: IorTestResult,
    number: usize,
    /// Folder of the store.
    store: Option<&'a Path>,
    stop: &'a AtomicBool,
    /// First failed I/O; later I/O continues.
    pub(super) failed: Option<CommandFailure>,
    /// Folders that were created for the files of ranks.
    folders: Vec<PathBuf>,
    held: Arc<OpenTargets>,
    tasks: JobTasks,
    /// Whether only the writes of each repetition are read, because the rest may be older.
    reads_written_only: bool,
}

/// Returns the storage options of a test.
pub(super) fn run_options(options: &IorOptions, store: Option<&Path>) -> RunOptions {
    RunOptions {
        // A deadline would leave parts of a file unwritten that are read later.
        writers_make_files: (options.deadline_s == 0 || compile::grows(options))
            && options.prefill_bytes == 0,
        ..RunOptions::with_kept_files(&options.destroy_data, options.target_on_root, store)
    }
}

/// Refuses to read missing or short files.
pub(super) fn check_readable(options: &IorOptions) -> Result<(), CommandFailure> {
    if options.write {
        return Ok(());
    }
    for rank in 0..options.ranks {
        let name = compile::file_name(options, rank, 0);
        let path = path_text::decode_path(&name);
        let has = capacity::size(&path).ok().flatten();
        let Some(has) = has.filter(|_| path.exists()) else {
            return Err(CommandFailure::measurement(format!(
                "there is no file {name} to read"
            ))
            .with_reason("without -w nothing is written")
            .advise(WRITE_FIRST_ADVICE));
        };
        if let Some(needs) = options.required_file_bytes().filter(|needs| has < *needs) {
            let (has, needs) = (Bytes(has), Bytes(needs));
            return Err(CommandFailure::measurement(format!(
                "{name} holds {has}, and {needs} are to be read"
            ))
            .with_reason(
                "the size to be read is block size × segments, for all ranks in one file",
            )
            .advise(WRITE_FIRST_ADVICE));
        }
        if !options.file_per_rank {
            break;
        }
    }
    Ok(())
}

const WRITE_FIRST_ADVICE: &str = "write it first, with the same options and -w -k: -k keeps it";

/// Destination of the results of a test.
struct IorTestRecorder<'r, 's, 'l> {
    steps: &'r [IorStep],
    recording: &'r mut Recording<'s>,
    listener: &'r mut IorListener<'l>,
    tasks: &'r JobTasks,
    /// Repetitions so far, by number of the case.
    cases: BTreeMap<usize, CaseRepetitions>,
}

/// Repetitions of a phase, which are one case.
#[derive(Default)]
struct CaseRepetitions {
    outcomes: Vec<StorageOutcome>,
    /// Whether a repetition did no I/O.
    has_failed: bool,
}

impl<'a> RunningIorTest<'a> {
    pub(super) fn new(
        number: usize,
        options: IorOptions,
        (store, tasks): (Option<&'a Path>, &JobTasks),
        stop: &'a AtomicBool,
    ) -> Self {
        let capacity = target_capacity(&options);
        let test = IorTestResult { options, began: format_now(), capacity, results: vec![] };
        Self {
            test,
            number,
            store,
            stop,
            failed: None,
            folders: vec![],
            held: Arc::default(),
            tasks: tasks.clone(),
            reads_written_only: false,
        }
    }

    fn run_options(&self) -> RunOptions {
        let held = Arc::clone(&self.held);
        RunOptions { held, ..run_options(&self.test.options, self.store) }
    }

    /// Removes created files, unless they are to be kept.
    pub(super) fn clean_up(&self, is_broken: bool) -> Result<(), CommandFailure> {
        let options = &self.test.options;
        let has_errors = is_broken || self.failed.is_some();
        if options.keep || (options.keep_with_error && has_errors) {
            return runner::finish(&self.run_options()).map(drop);
        }
        runner::finish(&RunOptions { keep: false, ..self.run_options() })?;
        for folder in self.folders.iter().rev() {
            // A folder that is not empty contains files that are not assay's.
            drop(std::fs::remove_dir(folder));
        }
        Ok(())
    }

    pub(super) fn run_repetitions(
        &mut self,
        steps: &[IorStep],
        recording: &mut Recording<'_>,
        on: &mut IorListener<'_>,
    ) -> Result<(), CommandFailure> {
        let most_s = u64::from(self.test.options.max_minutes) * 60;
        self.read_status();
        let (tasks, cases) = (&self.tasks.clone(), BTreeMap::new());
        let mut record = IorTestRecorder { steps, recording, listener: on, tasks, cases };
        let verdict = self.repeat(most_s, &mut record);
        let stored = record.store_cases(&self.test.options);
        verdict.and(stored).and_then(|()| self.write_status())
    }

    fn repeat(
        &mut self,
        most_s: u64,
        record: &mut IorTestRecorder<'_, '_, '_>,
    ) -> Result<(), CommandFailure> {
        let began = Instant::now();
        for repetition in 0..self.test.options.repetitions {
            if most_s > 0 && began.elapsed().as_secs() >= most_s {
                (record.listener)(IorEvent::TimeIsUp { repetitions: repetition });
                break;
            }
            if self.test.options.wear_out {
                self.run_worn_out(repetition, record)?;
            } else if self.reads_written_only {
                self.run_written_only(repetition, record)?;
            } else {
                self.run_repetition(repetition, record)?;
            }
            let options = &self.test.options;
            let last = repetition + 1 == options.repetitions;
            // Like IOR, every repetition writes a new file, unless the old one is to be used.
            if !last && !options.keep && !options.use_existing && options.write {
                runner::remove_created(&self.run_options())?;
            }
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }

    /// Refuses impossible tests before anything is shown.
    pub(super) fn prepare(&mut self) -> Result<(), CommandFailure> {
        self.create_folders()?;
        let options = &self.test.options;
        check_readable(options)?;
        old_data::refuse(options)?;
        self.reads_written_only = old_data::may_be_read(options);
        runner::check(&compile(&self.test.options, 0).0, &self.run_options())
    }

    fn create_folders(&mut self) -> Result<(), CommandFailure> {
        for folder in compile::folders(&self.test.options) {
            if folder.is_dir() {
                continue;
            }
            std::fs::create_dir(&folder).map_err(|error| {
                CommandFailure::measurement(format!("cannot create the folder {}", folder.display()))
                    .with_cause(&error)
                    .advise("create the folder of the test file first: -u only creates the folders of the ranks in it")
            })?;
            self.folders.push(folder);
        }
        Ok(())
    }

    /// Reads how far an earlier run came before its deadline, so that no more is read.
    fn read_status(&mut self) {
        let options = &mut self.test.options;
        let Some(file) = options.status_file.as_ref().filter(|_| !options.write) else {
            return;
        };
        let reported =
            std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
        options.wear_out_transfers = reported.unwrap_or(options.wear_out_transfers);
    }

    fn write_status(&self) -> Result<(), CommandFailure> {
        let IorTestResult { options, results, .. } = &self.test;
        let walls = results.iter().filter(|it| it.access == IorAccess::Write);
        let most = walls.filter_map(|it| it.stonewall).map(|wall| wall.maximum).next_back();
        let (Some(file), Some(most)) = (&options.status_file, most) else { return Ok(()) };
        std::fs::write(file, most.to_string()).map_err(|error| {
            CommandFailure::measurement(format!("cannot write {file}"))
                .with_cause(&error)
                .advise("name a file in a folder that exists and is yours")
        })
    }

    fn step(&self, repetition: u32, access: IorAccess) -> IorStep {
        IorStep { test: self.number, repetition, access, is_rest: false }
    }

    fn run_repetition(
        &mut self,
        repetition: u32,
        record: &mut IorTestRecorder<'_, '_, '_>,
    ) -> Result<(), CommandFailure> {
        let (plan, accesses) = compile(&self.test.options, repetition);
        let permissions = self.run_options();
        let steps: Vec<IorStep> =
            accesses.into_iter().map(|access| self.step(repetition, access)).collect();
        let mut phases = plan.phases.iter().zip(steps).peekable();
        let test = &mut self.test;
        let mut reported = Ok(());
        let mut see = |event: StorageEvent<'_>| match event {
            StorageEvent::PhaseDone { outcome } => {
                let Some((phase, step)) = phases.next() else { return };
                record.count(phase, step, &event);
                (record.listener)(IorEvent::PhaseProgress { phase, event: &event });
                record.add(step, outcome);
                let result = record.report(test, step, outcome, &[]);
                reported = std::mem::replace(&mut reported, Ok(())).and(result);
            }
            StorageEvent::PhaseFailed => {
                let Some((_, step)) = phases.next() else { return };
                record.add_failed(step);
            }
            StorageEvent::LayingOut { .. }
            | StorageEvent::PhaseStarts { .. }
            | StorageEvent::PhaseReady { .. }
            | StorageEvent::Interval { .. } => {
                let Some((phase, step)) = phases.peek() else { return };
                record.count(phase, *step, &event);
                (record.listener)(IorEvent::PhaseProgress { phase, event: &event });
            }
        };
        let asked = (&permissions, &self.tasks);
        let outcomes = runner::run_phases(&plan, asked, self.stop, &mut see);
        let failed = runner::io_failure(&plan, &outcomes?);
        self.failed = self.failed.take().or(failed);
        reported
    }

    /// Runs a repetition in which all ranks continue after the deadline until each has done as much
    /// as the one that did most.
    fn run_worn_out(
        &mut self,
        repetition: u32,
        record: &mut IorTestRecorder<'_, '_, '_>,
    ) -> Result<(), CommandFailure> {
        let asked = self.test.options.wear_out_transfers;
        for access in compile(&self.test.options, repetition).1 {
            let phase = compile::phase(&self.test.options, access, repetition);
            let step = self.step(repetition, access);
            let Some(first) = self.run_single_phase(phase, step, record)? else { continue };
            let done = transfers_by_rank(&self.test.options, &first);
            let lacking =
                compile::wear_out_phase(&self.test.options, access, repetition, &done);
            let rest_step = IorStep { is_rest: true, ..step };
            let rest: Vec<StorageOutcome> = match lacking {
                Some(phase) => {
                    self.run_single_phase(phase, rest_step, record)?.into_iter().collect()
                }
                None => vec![],
            };
            if access == IorAccess::Write {
                // Only written blocks are read.
                self.test.options.wear_out_transfers = done.iter().copied().max().unwrap_or(0);
            }
            record.report(&mut self.test, step, &first, &rest)?;
        }
        self.test.options.wear_out_transfers = asked;
        Ok(())
    }

    /// Runs a repetition whose reads are only of what its write has written.
    fn run_written_only(
        &mut self,
        repetition: u32,
        record: &mut IorTestRecorder<'_, '_, '_>,
    ) -> Result<(), CommandFailure> {
        let mut done = vec![];
        for access in compile(&self.test.options, repetition).1 {
            let mut phase = compile::phase(&self.test.options, access, repetition);
            if access != IorAccess::Write {
                let options = &self.test.options;
                compile::limit_to_written(options, repetition, &done, &mut phase);
            }
            let step = self.step(repetition, access);
            let Some(outcome) = self.run_single_phase(phase, step, record)? else { continue };
            if access == IorAccess::Write {
                done = transfers_by_rank(&self.test.options, &outcome);
            }
            record.report(&mut self.test, step, &outcome, &[])?;
        }
        Ok(())
    }

    fn run_single_phase(
        &mut self,
        phase: StoragePhase,
        step: IorStep,
        record: &mut IorTestRecorder<'_, '_, '_>,
    ) -> Result<Option<StorageOutcome>, CommandFailure> {
        let plan = StoragePlan { phases: vec![phase] };
        let mut see = |event: StorageEvent<'_>| {
            record.count(&plan.phases[0], step, &event);
            (record.listener)(IorEvent::PhaseProgress {
                phase: &plan.phases[0],
                event: &event,
            });
        };
        let asked = (&self.run_options(), &self.tasks);
        let mut outcomes = runner::run_phases(&plan, asked, self.stop, &mut see)?;
        let failed = runner::io_failure(&plan, &outcomes);
        self.failed = self.failed.take().or(failed);
        let outcome = outcomes.pop();
        if let Some(outcome) = &outcome {
            record.add(step, outcome);
        }
        Ok(outcome)
    }
}

impl CaseRepetitions {
    /// Returns a sample per repetition; a single long repetition is divided into stretches.
    fn samples(&self, all: &StorageOutcome) -> Vec<MeasurementEntry> {
        let minimum_s = series::stretch_length_s(all.elapsed_s);
        let is_divisible = series::join_stretches(&all.intervals, minimum_s).len() > 1;
        match self.outcomes.len() == 1 && is_divisible {
            true => series::stretch_samples(all),
            false => series::repetition_samples(&self.outcomes),
        }
    }
}

impl IorTestRecorder<'_, '_, '_> {
    /// Returns the number of the case of a phase.
    fn case_number(&self, step: IorStep) -> Option<usize> {
        let first = IorStep { repetition: 0, ..step };
        self.steps.iter().position(|it| *it == first)
    }

    /// Returns the repetitions of the case of a phase.
    fn case(&mut self, step: IorStep) -> Option<&mut CaseRepetitions> {
        let number = self.case_number(step)?;
        Some(self.cases.entry(number).or_default())
    }

    /// Keeps the kernel's counters from the first to the last I/O of a phase, if they count all of
    /// its I/O.
    fn count(&self, phase: &StoragePhase, step: IorStep, event: &StorageEvent<'_>) {
        if !self.tasks.are_on_this_host() {
            return;
        }
        match event {
            StorageEvent::PhaseReady { .. } => {
                self.recording.begin_counting(volume::counted_places(&phase.workload));
            }
            StorageEvent::PhaseDone { outcome } => {
                let payload = series::payload(outcome);
                let number = self.case_number(step);
                number.into_iter().for_each(|it| self.recording.end_counting(it, payload));
            }
            StorageEvent::LayingOut { .. }
            | StorageEvent::PhaseStarts { .. }
            | StorageEvent::Interval { .. }
            | StorageEvent::PhaseFailed => {}
        }
    }

    /// Keeps a finished phase.
    fn add(&mut self, step: IorStep, outcome: &StorageOutcome) {
        if let Some(case) = self.case(step) {
            case.outcomes.push(outcome.clone());
        }
    }

    fn add_failed(&mut self, step: IorStep) {
        if let Some(case) = self.case(step) {
            case.has_failed = true;
        }
    }

    /// Stores all repetitions, with the samples of each. Nothing is measured now.
    fn store_cases(&mut self, options: &IorOptions) -> Result<(), CommandFailure> {
        for (number, case) in std::mem::take(&mut self.cases) {
            let failure = case.has_failed.then_some(FailureReason::NoIo);
            let Some(outcome) = series::concatenate(&case.outcomes) else {
                self.recording.record_case(number, [], &[], failure)?;
                continue;
            };
            let step = self.steps[number];
            let phase = compile::phase(options, step.access, 0);
            let ranks = AttributeValue::from(options.ranks);
            let dimensions = Attributes::from([
                (Attribute::Phase, phase.name.as_str().into()),
                (Attribute::Loops, format!("test={}", step.test).into()),
                // Each rank is a thread with one transfer in flight.
                (Attribute::Threads, ranks.clone()),
                (Attribute::Depth, ranks),
                (Attribute::Pattern, pattern(options).into()),
            ]);
            let entries = outcome.to_entries().into_iter().chain(case.samples(&outcome));
            let entries = entries.chain(volume::workload_facts(&phase.workload));
            let entries = entries.chain(self.tasks.to_facts());
            let entries = entries.map(|entry| entry.with_dimensions(&dimensions));
            let failure = failure.or(series::io_case_failure(&phase.workload, &outcome));
            self.recording.record_case(number, entries, &[], failure)?;
        }
        Ok(())
    }

    fn report(
        &mut self,
        test: &mut IorTestResult,
        step: IorStep,
        outcome: &StorageOutcome,
        rest: &[StorageOutcome],
    ) -> Result<(), CommandFailure> {
        let Some(result) = step.to_result(&test.options, outcome, rest) else { return Ok(()) };
        (self.listener)(IorEvent::Result { options: &test.options, result: &result });
        test.results.push(result);
        rank_details::append(&test.options, step.access, outcome, rest)
    }
}

/// Returns the order of the offsets. Ranks that share a file each have a part of it.
const fn pattern(options: &IorOptions) -> &'static str {
    match options.random {
        0 if options.file_per_rank || options.ranks < 2 => "sequential",
        0 => "parts",
        _ => "random",
    }
}
