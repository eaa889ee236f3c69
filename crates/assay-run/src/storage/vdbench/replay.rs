//! Replays a stored run with the events of the live one.

use assay_dialects::vdbench::VdbenchExecution;
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::file_outcome::FileOutcome;
use assay_model::run::{CaseRecord, Run};
use assay_model::storage_outcome::StorageOutcome;
use jiff::{SignedDuration, Timestamp};

use super::run_notes::{NOTES_FILE, RunNotes};
use super::runs::{self, ReachedRates};
use super::{VdbenchEvent, VdbenchListener, reported_average, trees};
use crate::failure::CommandFailure;

/// Sends the events to `on`. `execution` is compiled from the stored files; `raw` reads a raw
/// output by its hash.
///
/// # Errors
/// When the files now result in a different number of runs than the stored ones.
pub fn replay(
    run: &Run,
    execution: &VdbenchExecution,
    raw: &dyn Fn(&str) -> Option<Vec<u8>>,
    on: &mut VdbenchListener<'_>,
) -> Result<(), CommandFailure> {
    let started = run.started.started.parse().unwrap_or(Timestamp::UNIX_EPOCH);
    let planned = &run.started.plan.cases;
    if planned.len() != execution.runs.len() {
        let what = format!(
            "the parameter files of {} now result in {} runs, but {} were stored",
            run.started.run,
            execution.runs.len(),
            planned.len()
        );
        return Err(CommandFailure::measurement(what)
            .advise("show it with the version that measured it, or without --as"));
    }
    on(VdbenchEvent::Time(started));
    let mut done: Vec<Option<ReachedRates>> = vec![None; planned.len()];
    for record in &run.cases {
        let Some(index) = planned.iter().position(|case| case.id == record.case.id) else {
            continue;
        };
        let file = |name: &str| record.raw.get(name).and_then(|hash| raw(hash));
        let again = ReplayedRun {
            record,
            course: RunNotes::from_raw_output(file(NOTES_FILE)),
            started,
        };
        if !execution.files.phases.is_empty() {
            again.replay_trees(execution, index, on);
        } else if let Some(outcome) = StorageOutcome::from_record(record, &file) {
            done[index] = again.replay_blocks(execution, index, (&outcome, &done), on);
        }
    }
    let finished = run.finished.as_deref().and_then(|text| text.parse().ok());
    on(VdbenchEvent::Time(finished.unwrap_or(started)));
    let course = RunNotes::from_raw_output(run.raw.get(NOTES_FILE).and_then(|hash| raw(hash)));
    course.before.iter().for_each(|reported| on(VdbenchEvent::Note(reported)));
    Ok(())
}

/// Stored run.
struct ReplayedRun<'r> {
    record: &'r CaseRecord,
    course: RunNotes,
    started: Timestamp,
}

impl ReplayedRun<'_> {
    /// Replays a run on files and devices; returns its rates.
    fn replay_blocks(
        &self,
        execution: &VdbenchExecution,
        index: usize,
        (outcome, done): (&StorageOutcome, &[Option<ReachedRates>]),
        on: &mut VdbenchListener<'_>,
    ) -> Option<ReachedRates> {
        let label = &execution.runs[index];
        let mut phase = execution.plan.phases[index].clone();
        if let (Some(of), Some(rate_per_s)) = (runs::base_run(&phase), self.requested_rate()) {
            phase.workload =
                runs::with_rate(&phase.workload, label, rate_per_s, done[of].as_ref());
        }
        let length_s =
            outcome.intervals.last().map_or(0.0, |last| last.start_s + last.length_s);
        self.report_start(length_s, on);
        on(VdbenchEvent::Starts { label, rate_per_s: phase.workload.load.rate_per_s() });
        let hosts = StorageOutcome::member_intervals_from_record(self.record);
        for (number, interval) in outcome.intervals.iter().enumerate() {
            let at_s = interval.start_s + interval.length_s;
            on(VdbenchEvent::Time(self.time_at(length_s, at_s)));
            for (host, intervals) in &hosts {
                if let Some(tally) = intervals.get(number) {
                    on(VdbenchEvent::HostInterval { host, tally });
                }
            }
            on(VdbenchEvent::Interval(interval));
        }
        self.course.end.iter().for_each(|reported| on(VdbenchEvent::Note(reported)));
        let is_stopped = self.course.is_stopped;
        let average = reported_average(label, outcome, is_stopped);
        on(VdbenchEvent::Done {
            label,
            phase: &phase,
            outcome,
            average: average.as_ref(),
            is_stopped,
        });
        average.map(|average| ReachedRates::from_outcome(&phase, outcome, &average.totals))
    }

    /// Replays a run on file trees.
    fn replay_trees(
        &self,
        execution: &VdbenchExecution,
        index: usize,
        on: &mut VdbenchListener<'_>,
    ) {
        let Some((outcome, intervals)) = FileOutcome::from_record(self.record) else { return };
        let label = &execution.runs[index];
        let length_s = intervals.last().map_or(0.0, |last| last.start_s + last.length_s);
        self.report_start(length_s, on);
        on(VdbenchEvent::TreesStart { label, rate_per_s: self.requested_rate() });
        let hosts = FileOutcome::member_intervals_from_record(self.record);
        for (number, interval) in intervals.iter().enumerate() {
            on(VdbenchEvent::Time(
                self.time_at(length_s, interval.start_s + interval.length_s),
            ));
            for (host, own) in &hosts {
                if let Some(interval) = own.get(number) {
                    on(VdbenchEvent::TreesHostInterval { host, interval });
                }
            }
            on(VdbenchEvent::TreesInterval(interval));
        }
        let is_stopped = self.course.is_stopped;
        let average = trees::run_average(label, &intervals);
        let reported = (average.excludes_warmup || !is_stopped).then_some(&average);
        on(VdbenchEvent::TreesDone { label, outcome: &outcome, average: reported, is_stopped });
        self.course.end.iter().for_each(|reported| on(VdbenchEvent::Note(reported)));
    }

    fn report_start(&self, length_s: f64, on: &mut VdbenchListener<'_>) {
        on(VdbenchEvent::Time(self.time_at(length_s, 0.0)));
        self.course.before.iter().for_each(|reported| on(VdbenchEvent::Note(reported)));
    }

    /// Returns the requested rate in I/O or operations per second.
    fn requested_rate(&self) -> Option<f64> {
        self.record.facts.get(&Attribute::RequestedRate).and_then(AttributeValue::as_number)
    }

    /// Returns the time `seconds` after the start of a case of this length. Its samples were
    /// recorded at the end of its last interval.
    fn time_at(&self, length_s: f64, seconds: f64) -> Timestamp {
        let mut samples = self.record.series.iter().flat_map(|series| &series.samples);
        let recorded_s = samples.next().map_or(0.0, |sample| sample.at_ns as f64 * 1e-9);
        let since_start = SignedDuration::try_from_secs_f64(recorded_s - length_s + seconds);
        since_start
            .ok()
            .and_then(|it| self.started.checked_add(it).ok())
            .unwrap_or(self.started)
    }
}
