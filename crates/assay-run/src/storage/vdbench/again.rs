//! Replays a stored run with the notices of the live one.

use assay_dialects::vdbench::Execution;
use assay_model::attribute::{Attribute, Value};
use assay_model::run::{CaseRecord, Run};
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::Load;
use jiff::{SignedDuration, Timestamp};

use super::runs::{Reached, at_rate, base};
use super::told::{COURSE, Course};
use super::{Listener, Notice, averaged};
use crate::failure::Failure;

/// Tells `on` what happened; `execution` is what the stored files mean, and `raw` reads a raw output by its
/// hash.
///
/// # Errors
/// When the files mean other runs than those that were stored.
pub fn again(
    run: &Run,
    execution: &Execution,
    raw: &dyn Fn(&str) -> Option<Vec<u8>>,
    on: &mut Listener<'_>,
) -> Result<(), Failure> {
    let started = run.started.started.parse().unwrap_or(Timestamp::UNIX_EPOCH);
    let planned = &run.started.plan.cases;
    if planned.len() != execution.plan.phases.len() {
        let what = format!(
            "the parameter files of {} mean {} runs today, and {} were stored",
            run.started.run,
            execution.plan.phases.len(),
            planned.len()
        );
        return Err(Failure::measurement(what)
            .advise("show it with the version that measured it, or without --as"));
    }
    on(Notice::At(started));
    let mut done: Vec<Option<Reached>> = vec![None; planned.len()];
    for record in &run.cases {
        let Some(index) = planned.iter().position(|case| case.id == record.case.id) else {
            continue;
        };
        let file = |name: &str| record.raw.get(name).and_then(|hash| raw(hash));
        if let Some(outcome) = StorageOutcome::of_record(record, &file) {
            let case = Again { record, outcome, course: Course::read(file(COURSE)), started };
            done[index] = case.tell(execution, index, &done, on);
        }
    }
    let finished = run.finished.as_deref().and_then(|text| text.parse().ok());
    on(Notice::At(finished.unwrap_or(started)));
    let course = Course::read(run.raw.get(COURSE).and_then(|hash| raw(hash)));
    course.before.iter().for_each(|told| on(Notice::Told(told)));
    Ok(())
}

/// One run as it was stored.
struct Again<'r> {
    record: &'r CaseRecord,
    outcome: StorageOutcome,
    course: Course,
    started: Timestamp,
}

impl Again<'_> {
    /// Gives back what it reached.
    fn tell(
        &self,
        execution: &Execution,
        index: usize,
        done: &[Option<Reached>],
        on: &mut Listener<'_>,
    ) -> Option<Reached> {
        let Self { outcome, course, .. } = self;
        let label = &execution.runs[index];
        let mut phase = execution.plan.phases[index].clone();
        let stored = self.record.facts.get(&Attribute::RequestedRate).and_then(Value::number);
        if let (Some(of), Some(rate_per_s)) = (base(&phase), stored) {
            phase.workload = at_rate(&phase.workload, label, rate_per_s, done[of].as_ref());
        }
        let rate_per_s = match phase.workload.load {
            Load::Open { rate_per_s, .. } => Some(rate_per_s),
            _ => None,
        };
        on(Notice::At(self.at(0.0)));
        course.before.iter().for_each(|told| on(Notice::Told(told)));
        on(Notice::Starts { label, rate_per_s });
        for interval in &outcome.intervals {
            on(Notice::At(self.at(interval.start_s + interval.length_s)));
            on(Notice::Interval(interval));
        }
        course.end.iter().for_each(|told| on(Notice::Told(told)));
        let is_stopped = course.is_stopped;
        let average = averaged(label, outcome, is_stopped);
        on(Notice::Done {
            label,
            phase: &phase,
            outcome,
            average: average.as_ref(),
            is_stopped,
        });
        average.map(|average| Reached::of(&phase, outcome, &average.measured))
    }

    /// The time so many seconds after the first I/O: the case was recorded when its last interval ended.
    fn at(&self, seconds: f64) -> Timestamp {
        let mut samples = self.record.series.iter().flat_map(|series| &series.samples);
        let recorded_s = samples.next().map_or(0.0, |sample| sample.at_ns as f64 * 1e-9);
        let last = self.outcome.intervals.last();
        let length_s = last.map_or(0.0, |last| last.start_s + last.length_s);
        let since_start = SignedDuration::try_from_secs_f64(recorded_s - length_s + seconds);
        since_start
            .ok()
            .and_then(|it| self.started.checked_add(it).ok())
            .unwrap_or(self.started)
    }
}
