//! Running IOR test: its folders, repetitions and cleanup.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use assay_dialects::ior::compile::{self, IorAccess, compile};
use assay_dialects::ior::options::IorOptions;
use assay_dialects::ior::result::IorTestResult;
use assay_fleet::capacity;
use assay_kernels::storage::OpenTargets;
use assay_model::attribute::{Attribute, Attributes};
use assay_model::failure::FailureReason as CaseFailure;
use assay_model::path_text;
use assay_model::quantity::Bytes;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{StoragePhase, StoragePlan};

use super::{FOUND, Found, Listener, Notice, Step, capacity_of, now, transfers};
use crate::failure::CommandFailure;
use crate::recording::Recording;
use crate::storage::options::RunOptions;
use crate::storage::runner::{self, StorageEvent};
use crate::storage::{series, volume};

/// Running test.
pub(super) struct Running<'a> {
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
}

/// Returns the storage options of a test.
pub(super) fn permissions(
    options: &IorOptions,
    store: Option<&Path>,
    held: Arc<OpenTargets>,
) -> RunOptions {
    RunOptions {
        destroy_data: options
            .destroy_data
            .iter()
            .map(|it| path_text::decode_path(it))
            .collect(),
        target_on_root: options.target_on_root,
        keep: true,
        // A deadline would leave parts of a file unwritten that are read later.
        writers_make_files: options.deadline_s == 0 && options.prefill_bytes == 0,
        store: store.map(Into::into),
        held,
        ..RunOptions::default()
    }
}

/// Refuses to read missing or short files.
pub(super) fn is_readable(options: &IorOptions) -> Result<(), CommandFailure> {
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
            .advise(WRITE_IT));
        };
        if let Some(needs) = options.required_file_bytes().filter(|needs| has < *needs) {
            let (has, needs) = (Bytes(has), Bytes(needs));
            return Err(CommandFailure::measurement(format!(
                "{name} holds {has}, and {needs} are to be read"
            ))
            .with_reason("block size × segments, for all ranks in one file, is what is read")
            .advise(WRITE_IT));
        }
        if !options.file_per_rank {
            break;
        }
    }
    Ok(())
}

const WRITE_IT: &str = "write it first, with the same options and -w -k: -k lets it stay";

/// Destination of the results of a test.
struct Record<'r, 's, 'l> {
    steps: &'r [Step],
    kept: &'r mut Recording<'s>,
    on: &'r mut Listener<'l>,
    found: Found,
}

impl<'a> Running<'a> {
    pub(super) fn new(
        number: usize,
        options: IorOptions,
        store: Option<&'a Path>,
        stop: &'a AtomicBool,
    ) -> Self {
        let capacity = capacity_of(&options);
        let test = IorTestResult { options, began: now(), capacity, results: vec![] };
        Self { test, number, store, stop, failed: None, folders: vec![], held: Arc::default() }
    }

    pub(super) fn found(&self) -> Found {
        Found {
            began: self.test.began.clone(),
            capacity: self.test.capacity,
            wear_out_transfers: self.test.options.wear_out_transfers,
        }
    }

    fn permissions(&self) -> RunOptions {
        permissions(&self.test.options, self.store, Arc::clone(&self.held))
    }

    /// Removes created files, unless they are to be kept.
    pub(super) fn clean(&self, is_broken: bool) -> Result<(), CommandFailure> {
        let options = &self.test.options;
        let has_errors = is_broken || self.failed.is_some();
        if options.keep || (options.keep_with_error && has_errors) {
            return runner::finish(&self.permissions());
        }
        runner::finish(&RunOptions { keep: false, ..self.permissions() })?;
        for folder in self.folders.iter().rev() {
            // A folder that is not empty contains files that are not assay's.
            drop(std::fs::remove_dir(folder));
        }
        Ok(())
    }

    pub(super) fn repetitions(
        &mut self,
        steps: &[Step],
        recording: &mut Recording<'_>,
        on: &mut Listener<'_>,
    ) -> Result<(), CommandFailure> {
        let began = Instant::now();
        let most_s = u64::from(self.test.options.max_minutes) * 60;
        self.take_status();
        let found = self.found();
        let mut record = Record { steps, kept: recording, on, found };
        for repetition in 0..self.test.options.repetitions {
            if most_s > 0 && began.elapsed().as_secs() >= most_s {
                (record.on)(Notice::TimeIsUp { repetitions: repetition });
                break;
            }
            if self.test.options.wear_out {
                self.worn_out(repetition, &mut record)?;
            } else {
                self.repetition(repetition, &mut record)?;
            }
            let options = &self.test.options;
            let last = repetition + 1 == options.repetitions;
            // Like IOR, every repetition writes a new file, unless the old one is to be used.
            if !last && !options.keep && !options.use_existing && options.write {
                runner::remove_made(&self.permissions())?;
            }
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        self.write_status()
    }

    /// Refuses impossible tests before anything is shown.
    pub(super) fn prepare(&mut self) -> Result<(), CommandFailure> {
        self.make_folders()?;
        let options = &self.test.options;
        is_readable(options)?;
        runner::check(&compile(options, 0).0, &self.permissions())
    }

    fn make_folders(&mut self) -> Result<(), CommandFailure> {
        for folder in compile::folders(&self.test.options) {
            if folder.is_dir() {
                continue;
            }
            std::fs::create_dir(&folder).map_err(|error| {
                CommandFailure::measurement(format!("the folder {} cannot be made", folder.display()))
                    .with_cause(&error)
                    .advise("-u makes a folder for each rank beside the test file: its folder must be there")
            })?;
            self.folders.push(folder);
        }
        Ok(())
    }

    /// Reads how far an earlier run came before its deadline, so that no more is read.
    fn take_status(&mut self) {
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
            CommandFailure::measurement(format!("{file} cannot be written"))
                .with_cause(&error)
                .advise("name a file in a folder that exists and is yours")
        })
    }

    fn step(&self, repetition: u32, access: IorAccess, rest: Option<usize>) -> Step {
        Step { test: self.number, repetition, access, rest }
    }

    fn repetition(
        &mut self,
        repetition: u32,
        record: &mut Record<'_, '_, '_>,
    ) -> Result<(), CommandFailure> {
        let (plan, accesses) = compile(&self.test.options, repetition);
        let permissions = self.permissions();
        let steps: Vec<Step> =
            accesses.into_iter().map(|access| self.step(repetition, access, None)).collect();
        let mut phases = plan.phases.iter().zip(steps).peekable();
        let test = &mut self.test;
        let mut kept = Ok(());
        let mut see = |event: StorageEvent<'_>| match event {
            StorageEvent::PhaseDone { outcome } => {
                let Some((phase, step)) = phases.next() else { return };
                (record.on)(Notice::Meanwhile { phase, event: &event });
                if kept.is_ok() {
                    kept = record.keep(step, phase, outcome);
                }
                record.report(test, step, outcome, &[]);
            }
            StorageEvent::PhaseFailed => {
                let Some((_, step)) = phases.next() else { return };
                if kept.is_ok() {
                    kept = record.failed(step);
                }
            }
            StorageEvent::LayingOut { .. }
            | StorageEvent::PhaseStarts { .. }
            | StorageEvent::PhaseReady { .. }
            | StorageEvent::Interval { .. } => {
                let Some((phase, _)) = phases.peek() else { return };
                (record.on)(Notice::Meanwhile { phase, event: &event });
            }
        };
        let outcomes = runner::carry_out(&plan, &permissions, self.stop, &mut see);
        kept?;
        let failed = runner::io_failure(&plan, &outcomes?);
        self.failed = self.failed.take().or(failed);
        Ok(())
    }

    /// Runs a repetition in which all ranks continue after the deadline until each has done as much
    /// as the one that did most.
    fn worn_out(
        &mut self,
        repetition: u32,
        record: &mut Record<'_, '_, '_>,
    ) -> Result<(), CommandFailure> {
        let asked = self.test.options.wear_out_transfers;
        for access in compile(&self.test.options, repetition).1 {
            let phase = compile::phase(&self.test.options, access, repetition);
            let step = self.step(repetition, access, None);
            let Some(first) = self.alone(phase, step, record)? else { continue };
            let done = transfers(&self.test.options, &first);
            let lacking =
                compile::wear_out_phases(&self.test.options, access, repetition, &done);
            let mut rest = Vec::new();
            for (at, phase) in lacking.into_iter().enumerate() {
                rest.extend(self.alone(phase, Step { rest: Some(at), ..step }, record)?);
            }
            if access == IorAccess::Write {
                // Only written blocks are read.
                self.test.options.wear_out_transfers = done.iter().copied().max().unwrap_or(0);
            }
            record.report(&mut self.test, step, &first, &rest);
        }
        self.test.options.wear_out_transfers = asked;
        Ok(())
    }

    fn alone(
        &mut self,
        phase: StoragePhase,
        step: Step,
        record: &mut Record<'_, '_, '_>,
    ) -> Result<Option<StorageOutcome>, CommandFailure> {
        let plan = StoragePlan { phases: vec![phase] };
        let mut see = |event: StorageEvent<'_>| {
            (record.on)(Notice::Meanwhile { phase: &plan.phases[0], event: &event });
        };
        let mut outcomes = runner::carry_out(&plan, &self.permissions(), self.stop, &mut see)?;
        let failed = runner::io_failure(&plan, &outcomes);
        self.failed = self.failed.take().or(failed);
        let outcome = outcomes.pop();
        if let Some(outcome) = &outcome {
            record.keep(step, &plan.phases[0], outcome)?;
        }
        Ok(outcome)
    }
}

impl Record<'_, '_, '_> {
    fn case(&self, step: Step) -> Option<usize> {
        self.steps.iter().position(|it| *it == step)
    }

    /// Stores a finished phase.
    fn keep(
        &mut self,
        step: Step,
        phase: &StoragePhase,
        outcome: &StorageOutcome,
    ) -> Result<(), CommandFailure> {
        let Some(number) = self.case(step) else { return Ok(()) };
        let loops = format!("test={} repetition={}", step.test, step.repetition);
        let dimensions = Attributes::from([
            (Attribute::Phase, phase.name.as_str().into()),
            (Attribute::Loops, loops.into()),
        ]);
        let entries = outcome.to_entries().into_iter().chain(series::samples(outcome));
        let entries = entries.chain(volume::facts(&phase.workload));
        let entries = entries.map(|entry| entry.with_dimensions(&dimensions));
        let found = serde_json::to_vec(&self.found).expect("names and numbers are JSON");
        let failure = series::failure(&phase.workload, outcome);
        self.kept.record_case(number, entries, &[(FOUND.to_owned(), found)], failure)
    }

    fn failed(&mut self, step: Step) -> Result<(), CommandFailure> {
        let Some(number) = self.case(step) else { return Ok(()) };
        self.kept.record_case(number, [], &[], Some(CaseFailure::NoIo))
    }

    fn report(
        &mut self,
        test: &mut IorTestResult,
        step: Step,
        outcome: &StorageOutcome,
        rest: &[StorageOutcome],
    ) {
        if let Some(result) = step.result(&test.options, outcome, rest) {
            (self.on)(Notice::Result { options: &test.options, result: &result });
            test.results.push(result);
        }
    }
}
