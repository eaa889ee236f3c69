//! Stores runs of fio jobs, and renders fio's output from their stored outcome.

use assay_dialects::fio::compile::FioPlan;
use assay_dialects::fio::outcome::FioOutcome;
use assay_dialects::fio::report;
use assay_dialects::fio::request::FioFormat;
use assay_model::attribute::Attribute;
use assay_model::failure::ErrorArea;
use assay_model::plan::Plan;
use assay_model::run::Run;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::Workload;
use assay_model::workload::measurement_mode::MeasurementMode;
use assay_model::workload::storage::{StoragePhase, StorageTest};
use assay_run::failure::CommandFailure;
use assay_run::recording::{self, Recording};
use assay_run::storage::runner::StorageEvent;
use assay_run::storage::{series, volume};
use assay_run::stored_outcome::{self, ToolOutcome};
use assay_store::Store;
use serde::{Deserialize, Serialize};

/// Language of these runs.
pub(crate) const LANGUAGE: &str = "fio";

/// Returns the plan that was carried out, one case per phase.
pub(super) fn record_plan(plan: &FioPlan) -> Plan {
    let case = |phase: &StoragePhase| {
        let test = StorageTest {
            // The name of the job is the dimension `phase`.
            name: String::new(),
            point: None,
            provisioned_bytes_per_s: None,
            precondition_passes: 0,
            course: MeasurementMode::Once,
            workload: phase.workload.clone(),
        };
        (phase.name.clone(), Workload::Storage(Box::new(test)))
    };
    recording::phase_plan(LANGUAGE, plan.plan.phases.iter().map(case).collect())
}

/// Records all phases; `keeps_journals` of single I/O too, from which logs are written.
pub(super) fn record_phases(
    recording: &mut Recording<'_>,
    (plan, outcomes): (&FioPlan, &[Result<StorageOutcome, CommandFailure>]),
    planned: &Plan,
    keeps_journals: bool,
) -> Result<(), CommandFailure> {
    for (number, outcome) in outcomes.iter().enumerate() {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(failure) => {
                let failure = failure.to_case_failure(ErrorArea::Storage);
                recording.record_case(number, [], &[], Some(failure))?;
                continue;
            }
        };
        let id = &planned.cases[number].id;
        let name = id.strip_prefix(LANGUAGE).map_or(id.as_str(), |it| &it[1..]);
        let entries = outcome.to_entries().into_iter().chain(series::stretch_samples(outcome));
        let workload = &plan.plan.phases[number].workload;
        let entries = entries.chain(volume::workload_facts(workload));
        let entries = entries.map(|entry| entry.with_dimension(Attribute::Phase, name));
        let journals = if keeps_journals { outcome.journals() } else { Vec::new() };
        let failure = series::io_case_failure(workload, outcome);
        recording.record_case(number, entries, &journals, failure)?;
    }
    Ok(())
}

/// Delimits the stretch of a phase in which kernel counters of its devices are kept.
pub(super) fn count_phase(
    recording: &Recording<'_>,
    (plan, number): (&FioPlan, usize),
    event: &StorageEvent<'_>,
) {
    match event {
        StorageEvent::PhaseReady { .. } => {
            let workload = &plan.plan.phases[number].workload;
            recording.begin_counting(volume::counted_places(workload));
        }
        StorageEvent::PhaseDone { outcome } => {
            recording.end_counting(number, series::payload(outcome));
        }
        StorageEvent::LayingOut { .. }
        | StorageEvent::PhaseStarts { .. }
        | StorageEvent::Interval { .. }
        | StorageEvent::PhaseFailed => {}
    }
}

/// Ends the record of jobs that could not be carried out.
pub(super) fn record_abort(
    mut recording: Recording<'_>,
    failure: &CommandFailure,
    is_interrupted: bool,
) -> Result<(), CommandFailure> {
    if !is_interrupted {
        let failure = failure.to_case_failure(ErrorArea::Storage);
        recording.record_case(0, [], &[], Some(failure))?;
    }
    recording.finish(is_interrupted).map(drop)
}

/// Renders a stored run in these formats.
///
/// # Errors
/// The outcome of the run cannot be read.
pub fn render_stored(
    run: &Run,
    store: &Store,
    formats: &[FioFormat],
) -> Result<String, CommandFailure> {
    let StoredFioOutcome(outcome) = stored_outcome::read(run, store)?;
    Ok(report::render(&outcome, formats))
}

/// Outcome as stored.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredFioOutcome(pub(super) FioOutcome);

impl ToolOutcome for StoredFioOutcome {
    const TOOL: &'static str = LANGUAGE;
    const VERSION: u32 = 1;
}
