//! `storage.files` by assay's own threads: brings the file tree into the state that an operation
//! needs, then times the operation.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_kernels::storage::files::FileControl;
use assay_model::attribute::Attribute;
use assay_model::entry::MeasurementEntry;
use assay_model::event::StopReason;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::phrase::Phrase;
use assay_model::quantity::{Quantity, Unit};
use assay_model::storage_outcome::EndReason;
use assay_model::workload::file_set::{FilePlan, FileTest, FileWorkload};
use assay_stats::stopping::NextStep;

use crate::failure::CommandFailure;
use crate::recorder::{CaseError, Recorder};
use crate::storage::file_trees::{self, MissingParents};
use crate::storage::options::RunOptions;
use crate::storage::{series, volume};

/// Repeats passes over the tree until the rate is precise, or measures one stretch of fixed
/// duration.
pub(super) fn measure(
    test: &FileTest,
    options: &RunOptions,
    recorder: &mut Recorder<'_, '_>,
) -> Result<StopReason, CaseError> {
    let plan = FilePlan { phases: file_trees::phases(test) };
    let stop = recorder.cancel();
    file_trees::prepare(&plan, options, MissingParents::REFUSE, stop)
        .map_err(|failure| case_error(&failure, stop))?;
    loop {
        let began_s = recorder.elapsed_s();
        if let Some(before) = &test.before {
            run_phase(before, recorder)?;
        }
        recorder.begin_counting(&volume::tree_places(&test.workload));
        let (outcome, intervals) = run_phase(&test.workload, recorder)?;
        recorder.end_counting(series::file_payload(&intervals));
        record(test, &outcome, &intervals, recorder)?;
        let next = recorder.next_action(recorder.elapsed_s() - began_s)?;
        recorder.flush()?;
        match next {
            NextStep::Stop(stopped) => return Ok(stopped),
            // A fixed duration was requested, and it has passed.
            NextStep::Repeat | NextStep::PrepareAfresh
                if test.workload.timing.duration_s.is_some() =>
            {
                return Ok(StopReason::Budget);
            }
            NextStep::Repeat | NextStep::PrepareAfresh => {}
        }
    }
}

/// Converts a failure; whatever fails after the user's interruption is interrupted.
fn case_error(failure: &CommandFailure, stop: &AtomicBool) -> CaseError {
    if stop.load(Ordering::Relaxed) {
        return CaseError::Interrupted;
    }
    CaseError::from_failure(ErrorArea::Storage, failure)
}

/// Runs one phase; a failed operation is a failed measurement.
fn run_phase(
    workload: &FileWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(FileOutcome, Vec<FileInterval>), CaseError> {
    let phase = file_trees::to_phase(workload);
    let stop: &AtomicBool = recorder.cancel();
    let mut intervals = Vec::new();
    let mut on_interval = |interval: &FileInterval| {
        let count = interval.tally.requested.count as f64;
        let rate = count / interval.length_s.max(f64::MIN_POSITIVE);
        let rate = Quantity::new(rate, Unit::IoPerSecond);
        let name = phase.name.as_str();
        recorder.progress(&Phrase::list(": ", [name.into(), rate.into()]));
        recorder.report_second(interval.length_s, &[rate], None, None);
        intervals.push(interval.clone());
    };
    let mut control = FileControl {
        stop,
        on_ready: &mut || {},
        on_interval: &mut on_interval,
        max_errors: 1,
    };
    let done = file_trees::run_phase(&phase, &mut control);
    let outcome = done.map_err(|failure| case_error(&failure, stop))?;
    if outcome.ended == EndReason::Interrupted {
        return Err(CaseError::Interrupted);
    }
    match file_trees::operation_failure(&outcome) {
        Some(failure) => Err(failure.into()),
        None => Ok((outcome, intervals)),
    }
}

/// Records all counts, and passes or stretches as samples.
fn record(
    test: &FileTest,
    outcome: &FileOutcome,
    intervals: &[FileInterval],
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let count = outcome.total.requested.count;
    if count == 0 {
        return Err(FailureReason::NoIo.into());
    }
    // Accompanying operations and the parts of the requested one are not results of this case.
    let is_asked = |entry: &MeasurementEntry| match entry {
        MeasurementEntry::Measured(key, _) => {
            !key.dimensions.contains_key(&Attribute::Operation)
        }
        MeasurementEntry::SeriesFact(..)
        | MeasurementEntry::Fact(..)
        | MeasurementEntry::Doubt(_) => true,
    };
    recorder.record_all(outcome.to_entries(intervals).into_iter().filter(is_asked));
    recorder.record_all(volume::tree_workload_facts(&test.workload));
    let anchors = test.workload.trees.iter().map(|tree| tree.anchor.as_path());
    recorder.record_all(volume::memory_doubt(anchors));
    recorder.record_all(series::file_samples(&test.workload, outcome, intervals));
    let missed =
        series::rate_missed_doubt(test.workload.load.rate_per_s(), count, outcome.elapsed_s);
    recorder.record_all(missed.map(MeasurementEntry::Doubt));
    Ok(())
}
