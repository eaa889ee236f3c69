//! `io500` by assay's own engines: runs all phases once, each of which is a sample.

use std::sync::atomic::Ordering;

use assay_model::attribute::Attribute;
use assay_model::entry::MeasurementEntry;
use assay_model::event::StopReason;
use assay_model::failure::ErrorArea;
use assay_model::phrase::Phrase;
use assay_model::quantity::{Quantity, Unit};
use assay_model::workload::io500::{Io500Phase, Io500Result, Io500Score, Io500Workload};

use crate::failure::CommandFailure;
use crate::recorder::{CaseError, Recorder};
use crate::storage::io500::{Io500Run, PhaseMeasurement};
use crate::storage::options::RunOptions;

/// Runs the phases in order, up to the first that fails; the files are removed in every case.
pub(super) fn measure(
    work: &Io500Workload,
    options: &RunOptions,
    recorder: &mut Recorder<'_, '_>,
) -> Result<StopReason, CaseError> {
    let stop = recorder.cancel();
    let to_case_error = |failure: &CommandFailure| match stop.load(Ordering::Relaxed) {
        true => CaseError::Interrupted,
        false => CaseError::from_failure(ErrorArea::Storage, failure),
    };
    let mut run = Io500Run::create(work, options, stop).map_err(|it| to_case_error(&it))?;
    let mut results = Vec::new();
    let measured = Io500Phase::ALL.into_iter().try_for_each(|phase| {
        recorder.progress(&Phrase::list(": ", ["IO500".into(), phase.name().into()]));
        let result = run.run_phase(phase).map_err(|failure| to_case_error(&failure))?;
        record(phase, &result, recorder);
        let (value, seconds) = (result.value, Some(result.seconds));
        results.push(Io500Result { phase, value, seconds });
        recorder.flush()
    });
    let measured = measured.and_then(|()| record_score(&results, recorder));
    let removed = run.remove().map_err(|failure| to_case_error(&failure));
    measured.and(removed).map(|()| StopReason::Tool)
}

/// Records the score, if each phase has a result.
fn record_score(
    results: &[Io500Result],
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let Some(score) = Io500Score::from_results(results) else { return Ok(()) };
    recorder.record_all([MeasurementEntry::sample("score", score.total())]);
    recorder.flush()
}

fn record(phase: Io500Phase, result: &PhaseMeasurement, recorder: &mut Recorder<'_, '_>) {
    let (metric, unit) = match phase.is_bandwidth() {
        true => ("bandwidth", Unit::BytePerSecond),
        false => ("rate", Unit::IoPerSecond),
    };
    let count = |metric, count: Option<u64>| {
        count.map(|count| MeasurementEntry::sample(metric, count as f64))
    };
    let entries = [
        Some(MeasurementEntry::sample(metric, result.value)),
        Some(MeasurementEntry::sample("time", result.seconds)),
        count("files", result.files),
        count("found", result.found),
    ];
    let entries = entries.into_iter().flatten();
    recorder.record_all(entries.map(|it| it.with_dimension(Attribute::Phase, phase.name())));
    let value = Quantity::new(result.value, unit);
    recorder.report_second(result.seconds, &[value], None, None);
}
