//! `storage.files` by assay's own threads: the tree is brought into the state that an operation needs,
//! then the operation is timed.

use std::sync::atomic::AtomicBool;

use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::entry::{Entry, Key, Seen};
use assay_model::event::Stopped;
use assay_model::failure::{Area, Failure as CaseFailure};
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::quantity::{Quantity, Unit};
use assay_model::storage_outcome::Ended;
use assay_model::workload::file_set::{FileLoad, FilePlan, FileTest, FileWorkload};
use assay_stats::rate_search::is_missed;
use assay_stats::stopping::Next;

use crate::failure::Failure;
use crate::recorder::{CaseError, Recorder};
use crate::storage::options::RunOptions;
use crate::storage::{file_trees, series, volume};

/// Passes over the tree until the rate is known, or one stretch of time.
pub(super) fn measure(
    test: &FileTest,
    options: &RunOptions,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Stopped, CaseError> {
    let phases = [&test.before, &test.workload].map(file_trees::phase_of).into();
    let plan = FilePlan { phases };
    file_trees::prepare(&plan, options, false)
        .map_err(|failure| CaseError::of_case(Area::Storage, &failure))?;
    loop {
        let began_s = recorder.elapsed_s();
        carry_out(&test.before, recorder)?;
        let (outcome, intervals) = carry_out(&test.workload, recorder)?;
        record(test, &outcome, &intervals, recorder)?;
        let next = recorder.next(recorder.elapsed_s() - began_s)?;
        recorder.flush()?;
        match next {
            Next::Stop(stopped) => return Ok(stopped),
            // The time was given, and it is over.
            Next::Repeat | Next::PrepareAfresh if test.workload.timing.duration_s.is_some() => {
                return Ok(Stopped::Budget);
            }
            Next::Repeat | Next::PrepareAfresh => {}
        }
    }
}

/// One phase; an operation that failed is a failed measurement.
fn carry_out(
    workload: &FileWorkload,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(FileOutcome, Vec<FileInterval>), CaseError> {
    let phase = file_trees::phase_of(workload);
    let stop: &AtomicBool = recorder.cancel();
    let mut intervals = Vec::new();
    let done = file_trees::run_phase(&phase, stop, 1, &mut |interval| {
        let count = interval.tally.requested.count as f64;
        let rate = count / interval.length_s.max(f64::MIN_POSITIVE);
        let rate = Quantity::new(rate, Unit::IoPerSecond);
        recorder.progress(&format!("{}: {rate:.3}", phase.name));
        intervals.push(interval.clone());
    });
    let outcome = done.map_err(|failure| CaseError::of_case(Area::Storage, &failure))?;
    if outcome.ended == Ended::Interrupted {
        return Err(CaseError::Interrupted);
    }
    let Some(first) = outcome.errors.first() else { return Ok((outcome, intervals)) };
    let (operation, path) = (first.operation.name(), first.path.display());
    let failure =
        Failure::measurement(format!("{operation} of {path} failed: {}", first.reason));
    Err(CaseError::of_case(Area::Storage, &failure))
}

/// Everything that was counted, and passes or stretches as samples.
fn record(
    test: &FileTest,
    outcome: &FileOutcome,
    intervals: &[FileInterval],
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), CaseError> {
    let count = outcome.total.requested.count;
    if count == 0 {
        return Err(CaseFailure::NoIo.into());
    }
    // What comes along with the operation that was requested, and its parts, are no results of this case.
    let is_asked = |entry: &Entry| match entry {
        Entry::Measured(key, _) => !key.extra.contains_key(&Attribute::Operation),
        Entry::SeriesFact(..) | Entry::Fact(..) | Entry::Doubt(_) => true,
    };
    recorder.record_all(outcome.entries(intervals).into_iter().filter(is_asked));
    recorder.record_all(volume::facts_of_trees(&test.workload));
    let least_s = match test.workload.timing.duration_s {
        Some(_) => series::stretch_s(outcome.elapsed_s),
        None => outcome.elapsed_s,
    };
    for stretch in series::stretches(intervals, least_s) {
        let weight = stretch.length_s();
        let mut weighted = |metric, value| {
            let sample = Seen::Sample { value, weight };
            recorder.record(Entry::Measured(Key::of(metric), sample));
        };
        weighted("rate", stretch.rate_per_s());
        if stretch.bytes_per_s() > 0.0 {
            weighted("bandwidth", stretch.bytes_per_s());
        }
        recorder.sample("latency", stretch.service_median_s());
        if let Some(median_s) = stretch.median_from_intended_s() {
            recorder.sample("latency_from_intended", median_s);
        }
    }
    if let FileLoad::Open { per_s: asked_per_s, .. } = test.workload.load
        && is_missed(count, asked_per_s * outcome.elapsed_s)
    {
        let reached_per_s = count as f64 / outcome.elapsed_s;
        recorder.doubt(Doubt::RateMissed { asked_per_s, reached_per_s });
    }
    Ok(())
}
