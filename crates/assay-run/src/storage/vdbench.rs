//! Runs of Vdbench parameter files in order: executed and stored.
//!
//! The caller receives the events that the stored outcome contains; nothing here prints.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use assay_dialects::vdbench::output::{self, Average, StorageTotals};
use assay_dialects::vdbench::{RunLabel, VdbenchExecution};
use assay_fleet::remote::{ShareRequest, TreesRequest};
use assay_model::attribute::{Attribute, Attributes};
use assay_model::entry::MeasurementEntry;
use assay_model::failure::FailureReason;
use assay_model::plan::Plan;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::Workload;
use assay_model::workload::file_set::FileTest;
use assay_model::workload::storage::{StoragePhase, StoragePlan, StorageTest, StorageWorkload};

use self::outcome::{
    EventLog, VdbenchEvent, VdbenchListener, VdbenchOpening, VdbenchOutcome, now_us,
};
use self::run_notes::RunNote;
use super::file_trees::MissingParents;
use super::options::RunOptions;
use super::runner::{self, StorageEvent};
use super::series;
use super::shares::storage_hosts::{self, StorageHosts};
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::recording::{self, Recording, RecordingRequest};

mod commands;
mod early_end;
pub mod outcome;
pub mod repeat;
pub mod run_notes;
mod runs;
mod trees;

pub use runs::first_run_fills_all;

/// Language of these runs.
pub const LANGUAGE: &str = "vdbench";

/// Request to execute parameter files, with its permissions.
#[derive(Debug)]
pub struct VdbenchRequest<'q> {
    /// The parameter files.
    pub execution: &'q VdbenchExecution,
    /// Repetition of the files.
    pub repeat: repeat::RunRepetition,
    /// Permissions.
    pub options: RunOptions,
    /// Folder that replaces `$output` in commands.
    pub output: &'q Path,
    /// Part of the output before the first event.
    pub opening_pages: VdbenchOpening,
    /// Request for the recording; its plan is that of [`plan`].
    pub opening: RecordingRequest<'q>,
}

/// Executes all runs, once or repeatedly, here or on `hosts`. Every pass is a stored run.
///
/// # Errors
/// When a run cannot be executed or stored, I/O failed, or the user stopped it.
pub fn run_all(
    (request, listener): (&VdbenchRequest<'_>, &mut dyn Listener),
    mut hosts: Option<&mut StorageHosts<'_>>,
    stop: &AtomicBool,
    on: &mut VdbenchListener<'_>,
) -> Result<(), CommandFailure> {
    let (began, mut done) = (Instant::now(), 0);
    loop {
        done += 1;
        let execution = request.execution.for_pass(done);
        let opening = RecordingRequest { plan: plan(&execution), ..request.opening.clone() };
        let request = &VdbenchRequest {
            execution: &execution,
            opening,
            options: request.options.clone(),
            opening_pages: match done {
                1 => request.opening_pages.clone(),
                _ => VdbenchOpening { began_us: now_us(), ..request.opening_pages.clone() },
            },
            ..*request
        };
        let hosts = hosts.as_deref_mut();
        let mut underway = ExecutionState {
            request,
            hosts,
            stop,
            log: EventLog::new(on),
            is_over: false,
            errors: 0,
        };
        if done == 1 {
            commands::run_commands(request.execution.commands.start.as_ref(), &mut underway)?;
        }
        // A refused execution leaves no run.
        underway.prepare()?;
        let mut recording = Recording::begin(request.opening.clone(), &mut *listener)?;
        let verdict = match request.execution.files.phases.is_empty() {
            true => runs::run_all(&mut underway, &mut recording),
            false => trees::run_all(&mut underway, &mut recording),
        };
        let is_last =
            verdict.is_err() || underway.is_over || !request.repeat.has_next_pass(began, done);
        let verdict = match is_last {
            true => verdict.and_then(|()| {
                commands::run_commands(request.execution.commands.end.as_ref(), &mut underway)
            }),
            false => verdict,
        };
        let closed = underway.finish_recording(recording, verdict.is_ok());
        if is_last {
            return verdict.and(closed);
        }
        closed?;
    }
}

/// Returns the runs as a plan for the store.
pub fn plan(execution: &VdbenchExecution) -> Plan {
    let blocks = execution.plan.phases.iter().map(|phase| {
        Workload::Storage(Box::new(StorageTest::new(
            phase.name.clone(),
            phase.workload.clone(),
        )))
    });
    let trees = execution.files.phases.iter().map(|phase| {
        let (name, workload) = (String::new(), phase.workload.clone());
        Workload::Files(Box::new(FileTest { name, before: None, workload }))
    });
    // At most one of the two lists has entries.
    let named = execution.runs.iter().map(unique_name);
    recording::phase_plan(LANGUAGE, named.zip(blocks.chain(trees)).collect())
}

/// Returns a unique name: Vdbench distinguishes runs by their loops.
fn unique_name(label: &RunLabel) -> String {
    let loops = label.loops.iter().map(|(key, value)| format!(",{key}={value}"));
    label.name.clone() + &loops.collect::<String>()
}

/// Next step after a run.
enum NextRun {
    Run,
    /// The rest of the curve with the same first run is skipped.
    SkipCurve,
    End,
}

/// Executes the runs in order; `bases` are the runs whose rates theirs are shares of.
fn run_in_order(
    bases: &[Option<usize>],
    mut one: impl FnMut(usize) -> Result<NextRun, CommandFailure>,
) -> Result<(), CommandFailure> {
    let mut left_out = None;
    for (index, base) in bases.iter().enumerate() {
        if left_out.is_some() && left_out == *base {
            continue;
        }
        match one(index)? {
            NextRun::Run => {}
            NextRun::SkipCurve => left_out = *base,
            NextRun::End => break,
        }
    }
    Ok(())
}

/// Finished run, as it is stored.
struct CompletedRun {
    entries: Vec<MeasurementEntry>,
    /// Requested rate, if any.
    rate_per_s: Option<f64>,
    /// Number of I/O or operations after the warm-up, and their time.
    count: u64,
    elapsed_s: f64,
    journals: Vec<(String, Vec<u8>)>,
    failure: Option<FailureReason>,
}

struct ExecutionState<'d, 'l, 'h> {
    request: &'d VdbenchRequest<'d>,
    /// Hosts that do the I/O instead of this machine.
    hosts: Option<&'d mut StorageHosts<'h>>,
    stop: &'d AtomicBool,
    log: EventLog<'d, 'l>,
    /// Whether no further run follows.
    is_over: bool,
    /// Number of failed I/O or operations so far.
    errors: u64,
}

impl ExecutionState<'_, '_, '_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Refuses forbidden targets, and lays files out.
    fn prepare(&mut self) -> Result<(), CommandFailure> {
        let VdbenchRequest { execution, options, .. } = self.request;
        if !execution.files.phases.is_empty() {
            return self.prepare_trees();
        }
        let stop = self.stop;
        if let Some(hosts) = &mut self.hosts {
            let asked = ShareRequest {
                plan: execution.plan.clone(),
                destroy_data: options.destroy_data.clone(),
                target_on_root: options.target_on_root,
                writers_make_files: options.writers_make_files,
            };
            let mut on = |event: storage_hosts::SharedRunEvent<'_>| {
                if let storage_hosts::SharedRunEvent::Note { host, said } = event {
                    self.log.add_note(RunNote::from_host_note(host, said));
                }
            };
            return hosts.prepare(&asked, &execution.host_indices, stop, &mut on);
        }
        runner::prepare(&execution.plan, options, stop, &mut |event| self.report_layout(&event))
    }

    fn prepare_trees(&mut self) -> Result<(), CommandFailure> {
        let VdbenchRequest { execution, options, .. } = self.request;
        let Some(hosts) = &mut self.hosts else {
            let above = MissingParents::from_create_anchors(execution.create_anchors);
            return super::file_trees::prepare(&execution.files, options, above, self.stop);
        };
        let asked = TreesRequest {
            plan: execution.files.clone(),
            destroy_data: options.destroy_data.clone(),
            target_on_root: options.target_on_root,
            makes_above: execution.create_anchors,
            prepared: None,
        };
        hosts.prepare_trees(&asked, &execution.host_indices, self.stop)
    }

    fn report_layout(&mut self, event: &StorageEvent<'_>) {
        let StorageEvent::LayingOut { target, done_bytes, total_bytes } = event else { return };
        let begins = RunNote::LayingOut { path: target.path.clone(), bytes: *total_bytes };
        if !self.log.has_note(&begins) {
            self.log.add_note(begins);
        }
        if done_bytes == total_bytes {
            self.log.add_note(RunNote::LaidOut);
        }
    }

    /// Reports the reason for an early end, which may end the whole execution.
    fn report_early_end(&mut self, reason: Option<RunNote>) {
        if let Some(reason) = reason {
            self.is_over |= reason == RunNote::MonitorEndsAll;
            self.log.add_note(reason);
        }
    }

    /// Stores a run. Nothing is measured now, so writing disturbs nothing.
    fn store_run(
        &mut self,
        recording: &mut Recording<'_>,
        index: usize,
        over: CompletedRun,
    ) -> Result<(), CommandFailure> {
        let label = &self.request.execution.runs[index];
        let mut dimensions = Attributes::from([(Attribute::Phase, label.name.as_str().into())]);
        if !label.loops.is_empty() {
            let loops = label.loops.iter().map(|(key, value)| format!("{key}={value}"));
            let loops = loops.collect::<Vec<_>>().join(" ");
            dimensions.insert(Attribute::Loops, loops.into());
        }
        let rate = over.rate_per_s;
        let missed = series::rate_missed_doubt(rate, over.count, over.elapsed_s)
            .map(MeasurementEntry::Doubt);
        let rate = rate.map(|rate| MeasurementEntry::fact(Attribute::RequestedRate, rate));
        let entries = over.entries.into_iter().chain(rate).chain(missed);
        let entries = entries.map(|entry| entry.with_dimensions(&dimensions));
        let raw = over.journals;
        match over.failure {
            // A format run may find all files already present.
            None if over.count == 0 && !self.request.execution.files.phases.is_empty() => {
                recording.record_idle_case(index, entries, &raw)
            }
            failure => recording.record_case(index, entries, &raw, failure),
        }
    }

    /// Returns an error if more I/O failed than `data_errors` allows; `what` is the kind of
    /// operation.
    fn check_error_limit(&self, what: &str) -> Result<(), CommandFailure> {
        let most = self.request.execution.data_errors;
        if self.errors < most.max(1) {
            return Ok(());
        }
        let allowed = format!("data_errors allows fewer than {most}");
        self.check_no_errors(what).map_err(|failure| failure.with_reason(allowed))
    }

    /// Returns an error if any I/O failed; the verdict at the end.
    fn check_no_errors(&self, what: &str) -> Result<(), CommandFailure> {
        let what = match (self.errors, what) {
            (0, _) => return Ok(()),
            (1, what) => format!("one {what} failed"),
            (more, "I/O") => format!("{more} I/O failed"),
            (more, what) => format!("{more} {what}s failed"),
        };
        Err(CommandFailure::measurement(what).advise("see errorlog.html"))
    }

    fn finish_recording(
        &mut self,
        mut recording: Recording<'_>,
        is_well: bool,
    ) -> Result<(), CommandFailure> {
        self.log.add(VdbenchEvent::End);
        recording.store_outcome(&VdbenchOutcome {
            opening: self.request.opening_pages.clone(),
            events: std::mem::take(&mut self.log.events),
            is_complete: is_well && !self.is_stopped(),
        })?;
        if is_well {
            recording.skip_remaining()?;
        } else {
            recording.mark_failed();
        }
        recording.finish(self.is_stopped()).map(drop)
    }
}

/// Returns the average to report; `None` for a run that the user stopped during the warm-up.
fn reported_average(
    label: &RunLabel,
    outcome: &StorageOutcome,
    is_stopped: bool,
) -> Option<Average<StorageTotals>> {
    let average = output::average(
        label,
        &outcome.intervals,
        |interval| interval.length_s,
        StorageTotals::add,
        StorageTotals::count,
    );
    (average.totals.count() > 0 && (average.excludes_warmup || !is_stopped)).then_some(average)
}

/// Returns a plan with one phase.
fn single_phase_plan(phase: &StoragePhase, workload: StorageWorkload) -> StoragePlan {
    StoragePlan { phases: vec![StoragePhase { workload, ..phase.clone() }] }
}
