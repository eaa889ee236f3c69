//! Stores runs of fio jobs and renders fio's output from them, at the end of the jobs and in `assay
//! show`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_dialects::fio::command_line::{FioFormat, FioRequest};
use assay_dialects::fio::compile::FioPlan;
use assay_dialects::fio::statistics::{FioRunInfo, results};
use assay_dialects::fio::{json, terse, text};
use assay_model::attribute::Attribute;
use assay_model::event::RequestedCommand;
use assay_model::failure::ErrorArea;
use assay_model::plan::Plan;
use assay_model::run::Run;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::Workload;
use assay_model::workload::measurement_mode::MeasurementMode;
use assay_model::workload::storage::{StoragePhase, StorageTest};
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::recording::{self, Recording};
use assay_run::storage::{series, volume};
use assay_store::Store;
use jiff::Timestamp;
use jiff::tz::Offset;

use super::invocation::FioInvocation;

/// Language of these runs.
pub(crate) const LANGUAGE: &str = "fio";
/// Raw output with the recorded properties of the machine.
pub(super) const ANSWERS: &str = "fio.answers.json";
/// Raw output with information about the run beyond its outcomes.
const RUN_INFO: &str = "fio.circumstances.json";

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

/// Results of a finished run.
pub(super) struct FinishedFioRun<'f> {
    pub(super) plan: &'f FioPlan,
    pub(super) outcomes: &'f [Result<StorageOutcome, CommandFailure>],
    pub(super) run_info: &'f FioRunInfo,
    pub(super) interrupted: bool,
    /// Whether the journals of single I/O, kept for logs, are stored too.
    pub(super) journals: bool,
}

impl FinishedFioRun<'_> {
    /// Stores the results.
    pub(super) fn store(
        &self,
        mut recording: Recording<'_>,
        planned: &Plan,
    ) -> Result<Run, CommandFailure> {
        for (number, outcome) in self.outcomes.iter().enumerate() {
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(failure) => {
                    recording.record_case(
                        number,
                        [],
                        &[],
                        Some(failure.to_case_failure(ErrorArea::Storage)),
                    )?;
                    continue;
                }
            };
            let id = &planned.cases[number].id;
            let name = id.strip_prefix(LANGUAGE).map_or(id.as_str(), |it| &it[1..]);
            let entries =
                outcome.to_entries().into_iter().chain(series::stretch_samples(outcome));
            let workload = &self.plan.plan.phases[number].workload;
            let entries = entries.chain(volume::workload_facts(workload));
            let entries = entries.map(|entry| entry.with_dimension(Attribute::Phase, name));
            let journals = if self.journals { outcome.journals() } else { Vec::new() };
            let failure = series::io_case_failure(workload, outcome);
            recording.record_case(number, entries, &journals, failure)?;
        }
        recording.store_raw(RUN_INFO, &self.run_info_output()?)?;
        recording.finish(self.interrupted)
    }

    /// Returns the run information as a raw output.
    fn run_info_output(&self) -> Result<Vec<u8>, CommandFailure> {
        serde_json::to_vec_pretty(self.run_info).map_err(|error| serialization_failure(&error))
    }

    /// Returns the raw outputs from which fio's output is rendered.
    pub(super) fn raw_outputs(
        &self,
        invocation: &FioInvocation<'_>,
    ) -> Result<BTreeMap<String, Vec<u8>>, CommandFailure> {
        let mut raw: BTreeMap<String, Vec<u8>> = invocation.read_files().into_iter().collect();
        raw.insert(ANSWERS.to_owned(), properties_output(invocation)?);
        raw.insert(RUN_INFO.to_owned(), self.run_info_output()?);
        Ok(raw)
    }
}

/// Returns the recorded properties of the machine as a raw output.
pub(super) fn properties_output(
    invocation: &FioInvocation<'_>,
) -> Result<Vec<u8>, CommandFailure> {
    invocation.recorded_properties().map_err(|error| serialization_failure(&error))
}

fn serialization_failure(error: &serde_json::Error) -> CommandFailure {
    CommandFailure::new(FailureKind::Internal, "cannot write the information about the run")
        .with_cause(error)
}

/// Renders a stored run in these formats.
pub fn render_stored(
    run: &Run,
    command: &RequestedCommand,
    store: &Store,
    formats: &[FioFormat],
) -> Result<String, CommandFailure> {
    let mut raw = BTreeMap::new();
    for (name, hash) in &run.raw {
        let bytes = store.read_raw(hash).map_err(|error| CommandFailure::from_store(&error))?;
        raw.insert(name.clone(), bytes);
    }
    render_run(run, &command.words, raw, Some(formats))
}

/// Renders a run from its events and raw outputs, in these formats or, for `None`, in the requested
/// ones.
pub(super) fn render_run(
    run: &Run,
    words: &[String],
    mut raw: BTreeMap<String, Vec<u8>>,
    formats: Option<&[FioFormat]>,
) -> Result<String, CommandFailure> {
    let incomplete = |what: &str| {
        let id = &run.started.run;
        CommandFailure::measurement(format!("{id} has no fio results"))
            .with_reason(what)
            .advise(format!("print the stored results with `assay show {id}`"))
    };
    let run_info = raw.remove(RUN_INFO);
    let run_info = run_info.ok_or_else(|| incomplete("its jobs did not finish"))?;
    let mut run_info: FioRunInfo =
        serde_json::from_slice(&run_info).map_err(|error| unreadable_run(run, &error))?;
    run_info.ended = format_end(run_info.ended_ms, run_info.utc_offset_s);
    let answers = raw.remove(ANSWERS).unwrap_or_default();
    let invocation = FioInvocation::from_stored(words, &answers, raw)
        .map_err(|error| unreadable_run(run, &error))?;
    let request = invocation.parse().map_err(|fault| unreadable_run(run, &fault))?;
    let plan = invocation.compile(&request).map_err(|fault| unreadable_run(run, &fault))?;
    // The journals of single I/Os are only needed for logs.
    let outcomes = run.cases.iter().map(|case| StorageOutcome::from_record(case, &|_| None));
    let outcomes: Option<Vec<StorageOutcome>> = outcomes.collect();
    let outcomes = outcomes.ok_or_else(|| incomplete("a job failed"))?;
    let formats = formats.unwrap_or(&request.output.formats);
    Ok(render_formats(&request, &plan, &outcomes, &run_info, formats))
}

/// Returns the failure for a run that another version stored, or that lost data.
fn unreadable_run(run: &Run, error: &(dyn std::error::Error + 'static)) -> CommandFailure {
    CommandFailure::measurement(format!("cannot read the fio command of {}", run.started.run))
        .with_cause(error)
        .advise("leave out --as for assay's own report")
}

/// Formats the end in the local time of the measurement, such as `Sat Nov 21 14:34:43 2026`.
fn format_end(ended_ms: u64, utc_offset_s: i32) -> String {
    let end = i64::try_from(ended_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let offset = Offset::from_seconds(utc_offset_s).unwrap_or(Offset::UTC);
    let local = offset.to_datetime(end.unwrap_or_default());
    local.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

fn render_formats(
    request: &FioRequest,
    plan: &FioPlan,
    outcomes: &[StorageOutcome],
    run_info: &FioRunInfo,
    formats: &[FioFormat],
) -> String {
    let results = results(plan, outcomes, run_info);
    let mut output = String::new();
    if formats.contains(&FioFormat::Normal) {
        output.push_str(&text::render_start(plan, &run_info.version));
    }
    for format in formats {
        let part = match format {
            FioFormat::Normal => text::render_end(&results, run_info),
            FioFormat::Json => json::document(request, plan, &results, run_info, false),
            FioFormat::JsonPlus => json::document(request, plan, &results, run_info, true),
            FioFormat::Terse => terse::lines(&results, run_info, request.output.terse_version),
        };
        let _ = write!(output, "{part}");
    }
    output
}
