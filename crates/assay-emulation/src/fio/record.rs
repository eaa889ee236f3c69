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
use assay_run::failure::{Failure, Kind};
use assay_run::recording::{self, Recording};
use assay_run::storage::{series, volume};
use assay_store::Store;
use jiff::Timestamp;
use jiff::tz::Offset;

use super::question::Question;

/// Language of these runs.
pub(crate) const LANGUAGE: &str = "fio";
/// Raw output with the recorded properties of the machine.
pub(super) const ANSWERS: &str = "fio.answers.json";
/// Raw output with information about the run beyond its outcomes.
const CIRCUMSTANCES: &str = "fio.circumstances.json";

/// Returns the plan that was carried out, one case per phase.
pub(super) fn plan(plan: &FioPlan) -> Plan {
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
    recording::plan(LANGUAGE, plan.plan.phases.iter().map(case).collect())
}

/// Results of a finished run.
pub(super) struct Finished<'f> {
    pub(super) plan: &'f FioPlan,
    pub(super) outcomes: &'f [Result<StorageOutcome, Failure>],
    pub(super) circumstances: &'f FioRunInfo,
    pub(super) interrupted: bool,
    /// Whether the journals of single I/O, kept for logs, are stored too.
    pub(super) journals: bool,
}

impl Finished<'_> {
    /// Stores the results.
    pub(super) fn store(
        &self,
        mut recording: Recording<'_>,
        planned: &Plan,
    ) -> Result<Run, Failure> {
        for (number, outcome) in self.outcomes.iter().enumerate() {
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(failure) => {
                    recording.case(
                        number,
                        [],
                        &[],
                        Some(failure.of_case(ErrorArea::Storage)),
                    )?;
                    continue;
                }
            };
            let id = &planned.cases[number].id;
            let name = id.strip_prefix(LANGUAGE).map_or(id.as_str(), |it| &it[1..]);
            let entries = outcome.to_entries().into_iter().chain(series::samples(outcome));
            let workload = &self.plan.plan.phases[number].workload;
            let entries = entries.chain(volume::facts(workload));
            let entries = entries.map(|entry| entry.with_dimension(Attribute::Phase, name));
            let journals = if self.journals { outcome.journals() } else { Vec::new() };
            let failure = series::failure(workload, outcome);
            recording.case(number, entries, &journals, failure)?;
        }
        recording.raw(CIRCUMSTANCES, &self.circumstances()?)?;
        recording.finish(self.interrupted)
    }

    /// Returns the run information as a raw output.
    fn circumstances(&self) -> Result<Vec<u8>, Failure> {
        serde_json::to_vec_pretty(self.circumstances).map_err(|error| unwritable(&error))
    }

    /// Returns the raw outputs from which fio's output is rendered.
    pub(super) fn raw(
        &self,
        question: &Question<'_>,
    ) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
        let mut raw: BTreeMap<String, Vec<u8>> = question.files().into_iter().collect();
        raw.insert(ANSWERS.to_owned(), answers(question)?);
        raw.insert(CIRCUMSTANCES.to_owned(), self.circumstances()?);
        Ok(raw)
    }
}

/// Returns the recorded properties of the machine as a raw output.
pub(super) fn answers(question: &Question<'_>) -> Result<Vec<u8>, Failure> {
    question.answers().map_err(|error| unwritable(&error))
}

fn unwritable(error: &serde_json::Error) -> Failure {
    Failure::new(Kind::Internal, "what is known of the run cannot be written").because(error)
}

/// Renders a stored run in these formats.
pub fn stored(
    run: &Run,
    asked: &RequestedCommand,
    store: &Store,
    formats: &[FioFormat],
) -> Result<String, Failure> {
    let mut raw = BTreeMap::new();
    for (name, hash) in &run.raw {
        let bytes = store.raw(hash).map_err(|error| Failure::of_store(&error))?;
        raw.insert(name.clone(), bytes);
    }
    document(run, &asked.words, raw, Some(formats))
}

/// Renders a run from its events and raw outputs, in these formats or, for `None`, in the requested
/// ones.
pub(super) fn document(
    run: &Run,
    words: &[String],
    mut raw: BTreeMap<String, Vec<u8>>,
    formats: Option<&[FioFormat]>,
) -> Result<String, Failure> {
    let incomplete = |what: &str| {
        let id = &run.started.run;
        Failure::measurement(format!("{id} has no results of fio"))
            .explain(what)
            .advise(format!("`assay show {id}` tells what there is"))
    };
    let circumstances = raw.remove(CIRCUMSTANCES);
    let circumstances = circumstances.ok_or_else(|| incomplete("its jobs did not end"))?;
    let mut circumstances: FioRunInfo =
        serde_json::from_slice(&circumstances).map_err(|error| unreadable(run, &error))?;
    circumstances.ended = in_words(circumstances.ended_ms, circumstances.utc_offset_s);
    let answers = raw.remove(ANSWERS).unwrap_or_default();
    let question =
        Question::stored(words, &answers, raw).map_err(|error| unreadable(run, &error))?;
    let request = question.request().map_err(|fault| unreadable(run, &fault))?;
    let plan = question.plan(&request).map_err(|fault| unreadable(run, &fault))?;
    // Single I/O are only in the logs.
    let outcomes = run.cases.iter().map(|case| StorageOutcome::from_record(case, &|_| None));
    let outcomes: Option<Vec<StorageOutcome>> = outcomes.collect();
    let outcomes = outcomes.ok_or_else(|| incomplete("a job failed"))?;
    let formats = formats.unwrap_or(&request.output.formats);
    Ok(rendered(&request, &plan, &outcomes, &circumstances, formats))
}

/// Returns the failure for a run that another version stored, or that lost data.
fn unreadable(run: &Run, error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::measurement(format!("what {} was asked cannot be read again", run.started.run))
        .because(error)
        .advise("leave out --as for assay's own report")
}

/// Formats the end in the local time of the measurement, such as `Sat Nov 21 14:34:43 2026`.
fn in_words(ended_ms: u64, utc_offset_s: i32) -> String {
    let moment =
        i64::try_from(ended_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let offset = Offset::from_seconds(utc_offset_s).unwrap_or(Offset::UTC);
    let local = offset.to_datetime(moment.unwrap_or_default());
    local.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

fn rendered(
    request: &FioRequest,
    plan: &FioPlan,
    outcomes: &[StorageOutcome],
    circumstances: &FioRunInfo,
    formats: &[FioFormat],
) -> String {
    let results = results(plan, outcomes, circumstances);
    let mut written = String::new();
    if formats.contains(&FioFormat::Normal) {
        written.push_str(&text::render_start(plan, &circumstances.version));
    }
    for format in formats {
        let part = match format {
            FioFormat::Normal => text::render_end(&results, circumstances),
            FioFormat::Json => json::document(request, plan, &results, circumstances, false),
            FioFormat::JsonPlus => json::document(request, plan, &results, circumstances, true),
            FioFormat::Terse => {
                terse::lines(&results, circumstances, request.output.terse_version)
            }
        };
        let _ = write!(written, "{part}");
    }
    written
}
