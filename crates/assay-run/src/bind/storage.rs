//! `storage` by assay's own engine: runs the phases of I/O, and records their series as samples and
//! the distribution of all I/O.

mod results;
mod rounds;
mod search;

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use assay_fleet::capacity;
use assay_fleet::kernel_counters::CountedPlaces;
use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;
use assay_model::event::StopReason;
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::Case;
use assay_model::quantity::{Bytes, Quantity, Unit};
use assay_model::storage_outcome::{EndReason, IoTally, StorageOutcome};
use assay_model::workload::Workload;
use assay_model::workload::measurement_mode::MeasurementMode;
use assay_model::workload::storage::{
    ResponseCurvePoint, StorageLoad, StoragePhase, StoragePlan, StorageTarget, StorageTest,
    StorageWorkload,
};
use assay_stats::stopping::NextStep;

use crate::recorder::{CaseError, Recorder};
use crate::storage::job_tasks::JobTasks;
use crate::storage::options::RunOptions;
use crate::storage::runner::{self, StorageEvent};
use crate::storage::{precondition, series, volume};

/// Runs the I/O of one case.
pub(super) fn measure(
    case: &Case,
    test: &StorageTest,
    options: &RunOptions,
    recorder: &mut Recorder<'_, '_>,
) -> Result<StopReason, CaseError> {
    let began_s = recorder.elapsed_s();
    let mut measurer = StorageCaseRun { case, options, recorder };
    measurer.precondition(test)?;
    let workload = test.workload.clone();
    let (workload, outcome) = match &test.course {
        MeasurementMode::Once => {
            measurer.run_partial(&workload).map(|outcome| (workload, outcome))?
        }
        MeasurementMode::Rounds(rule) => {
            let outcome = rounds::measure(&mut measurer, &workload, rule)?;
            (workload, outcome)
        }
        MeasurementMode::Search(goal) => search::measure(&mut measurer, &workload, goal)?,
    };
    results::record(&outcome, &workload, recorder)?;
    results::check_targets(&workload, recorder);
    let is_whole = !recorder.cancel().load(Ordering::Relaxed);
    if is_whole && matches!(test.point, None | Some(ResponseCurvePoint::Maximum)) {
        results::record_headroom(&outcome, &workload, recorder)?;
    }
    let next = recorder.next_action(recorder.elapsed_s() - began_s);
    let next = unless_complete(&test.course, outcome.ended, next)?;
    recorder.flush()?;
    Ok(if let NextStep::Stop(StopReason::Precise) = next {
        StopReason::Precise
    } else {
        StopReason::Budget
    })
}

/// Returns the next step after a test. One that has reached its end is complete, even if it is
/// interrupted while its results are recorded; the records of others so far are kept.
fn unless_complete(
    course: &MeasurementMode,
    ended: EndReason,
    next: Result<NextStep, CaseError>,
) -> Result<NextStep, CaseError> {
    let is_complete =
        matches!(course, MeasurementMode::Once) && ended != EndReason::Interrupted;
    match next {
        Err(CaseError::Interrupted) if is_complete => Ok(NextStep::Stop(StopReason::Budget)),
        next => next,
    }
}

/// Creates the files of a case for the tool that measures it, and returns the case with their
/// sizes.
pub(super) fn prepare(
    case: &Case,
    test: &StorageTest,
    options: &RunOptions,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Case, CaseError> {
    let mut test = test.clone();
    match test.course {
        MeasurementMode::Once => {}
        MeasurementMode::Rounds(_) => {
            recorder.add_doubt(Doubt::MeasuredOnce { by: case.by.clone() });
        }
        MeasurementMode::Search(_) => {
            return Err(FailureReason::ToolCannotSearch { by: case.by.clone() }.into());
        }
    }
    StorageCaseRun { case, options, recorder: &mut *recorder }.precondition(&test)?;
    let plan =
        StoragePlan { phases: vec![StoragePhase::new(&test.name, test.workload.clone())] };
    let cancel = recorder.cancel();
    let mut watcher = StorageProgress {
        case: &case.id,
        recorder,
        laying_out: None,
        passes: Vec::new(),
        passed_bytes: 0,
        counted: None,
    };
    let done =
        runner::prepare(&plan, options, cancel, &mut |event| watcher.handle_event(&event));
    match done {
        Err(_) if cancel.load(Ordering::Relaxed) => Err(CaseError::Interrupted),
        Err(failure) => Err(CaseError::from_failure(ErrorArea::Storage, &failure)),
        Ok(()) => {
            // Tools that divide a file among processes need its size.
            for target in &mut test.workload.targets {
                let there =
                    || capacity::size(&target.path).ok().flatten().filter(|bytes| *bytes > 0);
                target.size_bytes = target.size_bytes.or_else(there);
            }
            if let StorageLoad::Open { rate_per_s, .. } = test.workload.load {
                recorder.add_fact(Attribute::RequestedRate, rate_per_s);
            }
            recorder.record_all(volume::workload_facts(&test.workload));
            Ok(Case { workload: Workload::Storage(Box::new(test)), ..case.clone() })
        }
    }
}

/// Context of all measurements of one case.
struct StorageCaseRun<'m, 'a, 't> {
    case: &'m Case,
    options: &'m RunOptions,
    recorder: &'m mut Recorder<'a, 't>,
}

impl StorageCaseRun<'_, '_, '_> {
    /// Runs the write phases that precede the measurement.
    fn precondition(&mut self, test: &StorageTest) -> Result<(), CaseError> {
        let (notes, phases): (Vec<_>, Vec<_>) =
            precondition::precondition_phases(test).into_iter().unzip();
        notes.iter().for_each(|it| self.recorder.note(it));
        let outcomes = self.run_plan(&StoragePlan { phases }, self.options, None)?;
        match outcomes.iter().any(|outcome| outcome.ended == EndReason::Interrupted) {
            true => Err(CaseError::Interrupted),
            false => Ok(()),
        }
    }

    /// Runs the workload once; an interruption leaves the completed part as the outcome.
    fn run_partial(&mut self, workload: &StorageWorkload) -> Result<StorageOutcome, CaseError> {
        let options = RunOptions { keeps_partial: true, ..self.options.clone() };
        match self.measure_once(workload, &options)? {
            it if it.ended == EndReason::Interrupted && series::io_count(&it) == 0 => {
                Err(CaseError::Interrupted)
            }
            other => Ok(other),
        }
    }

    /// Runs the workload once, to its end.
    fn run_once(&mut self, workload: &StorageWorkload) -> Result<StorageOutcome, CaseError> {
        match self.measure_once(workload, self.options)? {
            it if it.ended == EndReason::Interrupted => Err(CaseError::Interrupted),
            whole => Ok(whole),
        }
    }

    /// Runs the workload as the only phase of a plan, and keeps kernel counters.
    fn measure_once(
        &mut self,
        workload: &StorageWorkload,
        options: &RunOptions,
    ) -> Result<StorageOutcome, CaseError> {
        let phase = StoragePhase::new(&self.case.id, workload.clone());
        let places = Some(volume::counted_places(workload));
        let outcomes = self.run_plan(&StoragePlan { phases: vec![phase] }, options, places)?;
        outcomes.into_iter().next().ok_or_else(|| FailureReason::NoIo.into())
    }

    /// Runs all phases, possibly only in part; failed I/O is a failed measurement. Kernel counters of
    /// the given places are kept.
    fn run_plan(
        &mut self,
        plan: &StoragePlan,
        options: &RunOptions,
        counted: Option<CountedPlaces>,
    ) -> Result<Vec<StorageOutcome>, CaseError> {
        let cancel = self.recorder.cancel();
        let passes = plan.phases.iter().map(|phase| bytes_of_pass(&phase.workload)).collect();
        let mut watcher = StorageProgress {
            case: &self.case.id,
            recorder: &mut *self.recorder,
            laying_out: None,
            passes,
            passed_bytes: 0,
            counted,
        };
        let done =
            runner::run_phases(plan, (options, &JobTasks::Threads), cancel, &mut |event| {
                watcher.handle_event(&event);
            });
        let outcomes = match done {
            Err(_) if cancel.load(Ordering::Relaxed) => return Err(CaseError::Interrupted),
            Err(failure) => return Err(CaseError::from_failure(ErrorArea::Storage, &failure)),
            Ok(outcomes) => outcomes,
        };
        if let Some(failure) = runner::io_failure(plan, &outcomes) {
            return Err(CaseError::from_failure(ErrorArea::Storage, &failure));
        }
        Ok(outcomes)
    }
}

/// Reports the events of a storage plan to the user, and delimits its measured stretches.
struct StorageProgress<'w, 'a, 't> {
    case: &'w str,
    recorder: &'w mut Recorder<'a, 't>,
    /// File that is being written, so that it is announced only once.
    laying_out: Option<LayoutProgress>,
    /// Bytes of each phase, if the phase ends when all are transferred.
    passes: Vec<Option<u64>>,
    /// Bytes transferred so far.
    passed_bytes: u64,
    /// Places whose kernel counters are kept; `None` for phases that are not measured.
    counted: Option<CountedPlaces>,
}

/// Bytes that a phase without a duration transfers: the size of all its targets.
fn bytes_of_pass(workload: &StorageWorkload) -> Option<u64> {
    let of = |target: &StorageTarget| {
        target.size_bytes.or_else(|| capacity::size(&target.path).ok().flatten())
    };
    let all: Option<u64> = workload.targets.iter().map(of).sum();
    all.filter(|bytes| *bytes > 0 && workload.timing.duration_s.is_none())
}

/// Progress of the writes before a measurement.
struct LayoutProgress {
    /// File; `None` for passes over all targets.
    path: Option<PathBuf>,
    began_s: f64,
    /// Whether the duration was reported.
    is_reported: bool,
}

impl StorageProgress<'_, '_, '_> {
    /// Reports the expected duration of the writes as soon as it can be estimated, if it is long.
    fn report_duration(&mut self, share: f64) {
        /// Seconds after which the rate can be estimated.
        const KNOWN_S: f64 = 1.0;
        let Some(file) = self.laying_out.as_mut().filter(|it| !it.is_reported) else { return };
        let spent_s = self.recorder.elapsed_s() - file.began_s;
        if spent_s < KNOWN_S || share <= 0.0 {
            return;
        }
        file.is_reported = true;
        let total_s = spent_s / share;
        self.recorder.note_if_over_budget(total_s, |budget| {
            phrase!(
                "beside-budget",
                "that takes about {time}; the budget of the case is {budget}",
                time = Phrase::approximate(total_s, Unit::Second),
                budget = budget,
            )
        });
    }

    /// Adds the bytes of passes and returns the completed share of all passes, if they end.
    fn add_pass_bytes(&mut self, bytes: u64) -> Option<Phrase> {
        let all: Option<u64> = self.passes.iter().copied().sum();
        let all = all.filter(|all| *all > 0)?;
        let began_s = self.recorder.elapsed_s();
        if self.laying_out.as_ref().is_none_or(|it| it.path.is_some()) {
            self.laying_out = Some(LayoutProgress { path: None, began_s, is_reported: false });
        }
        let share_before = self.passed_bytes as f64 / all as f64;
        self.passed_bytes += bytes;
        self.report_duration(share_before);
        let share = (self.passed_bytes as f64 / all as f64).min(1.0);
        Some(Phrase::exact_value(format!("{:.0} %", 100.0 * share)))
    }

    fn handle_event(&mut self, event: &StorageEvent<'_>) {
        let case = self.case;
        match event {
            StorageEvent::LayingOut { target, done_bytes, total_bytes } => {
                let path = target.path.display().to_string();
                if self
                    .laying_out
                    .as_ref()
                    .is_none_or(|it| it.path.as_ref() != Some(&target.path))
                {
                    let size = Phrase::exact_value(Bytes(*total_bytes).to_string());
                    self.recorder.note(&phrase!(
                        "written-first",
                        "{path} is written in full first: {size}",
                        path = path.as_str(),
                        size = size,
                    ));
                    let began_s = self.recorder.elapsed_s();
                    let path = Some(target.path.clone());
                    self.laying_out =
                        Some(LayoutProgress { path, began_s, is_reported: false });
                }
                self.report_duration(*done_bytes as f64 / (*total_bytes).max(1) as f64);
                let percent = 100.0 * *done_bytes as f64 / (*total_bytes).max(1) as f64;
                let share = Phrase::exact_value(format!("{percent:.0} %"));
                let text =
                    phrase!("writing", "writing {path} {share}", path = path, share = share);
                self.recorder.progress(&Phrase::list(": ", [case.into(), text]));
            }
            StorageEvent::Interval { tally } => {
                let sum =
                    |of: fn(&IoTally) -> u64| (of(&tally.reads) + of(&tally.writes)) as f64;
                let count = sum(|it| it.count);
                let per_s = |value: f64| value / tally.length_s.max(f64::MIN_POSITIVE);
                let rate = Quantity::new(per_s(count), Unit::IoPerSecond);
                let bytes = Quantity::new(per_s(sum(|it| it.bytes)), Unit::BytePerSecond);
                let done = self.add_pass_bytes(sum(|it| it.bytes) as u64);
                let latency_s = sum(|it| it.service_sum_ns) / count / 1e9;
                let latency_s = Some(latency_s).filter(|it| it.is_finite());
                let what = Phrase::list("  ", done.into_iter().chain([rate.into()]));
                self.recorder.progress(&Phrase::list(": ", [case.into(), what]));
                let cpu = Some(tally.cpu_user + tally.cpu_system);
                self.recorder.report_second(tally.length_s, &[rate, bytes], latency_s, cpu);
            }
            // Any other end of the wait also ends the measurement.
            StorageEvent::PhaseReady { begins_ns } => {
                // The other hosts may still measure another case.
                let agreed_ns = self.recorder.wait_for_start().ok().flatten();
                if let Some(places) = &self.counted {
                    self.recorder.begin_counting(places);
                }
                begins_ns.set(agreed_ns);
            }
            StorageEvent::PhaseDone { outcome } if self.counted.is_some() => {
                self.recorder.end_counting(series::payload(outcome));
            }
            StorageEvent::PhaseStarts { .. }
            | StorageEvent::PhaseDone { .. }
            | StorageEvent::PhaseFailed => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_model::workload::measurement_mode::SteadyRule;
    use assay_model::workload::storage::{AccessPattern, StorageStream, StorageTiming};

    use super::*;

    #[test]
    fn interruption_after_the_end_does_not_count() {
        let rounds = MeasurementMode::Rounds(SteadyRule::SNIA);
        for (course, ended, is_kept) in [
            (&MeasurementMode::Once, EndReason::Time, true),
            (&MeasurementMode::Once, EndReason::Work, true),
            (&MeasurementMode::Once, EndReason::Interrupted, false),
            (&rounds, EndReason::Time, false),
        ] {
            let next = unless_complete(course, ended, Err(CaseError::Interrupted));
            assert_eq!(next.is_ok(), is_kept, "{course:?} {ended:?}");
        }
    }

    #[test]
    fn pass_transfers_all_targets_unless_duration_is_fixed() {
        let target = |bytes: u64| StorageTarget {
            direct: true,
            ..StorageTarget::new("t", "nothing", Some(bytes))
        };
        for (sizes, duration_s, expected) in [
            (&[1 << 20, 3 << 20][..], None, Some(4 << 20)),
            (&[1 << 20], Some(1.0), None),
            (&[], None, None),
        ] {
            let timing = StorageTiming::new(duration_s);
            let workload = StorageWorkload {
                timing,
                ..StorageWorkload::new(
                    sizes.iter().map(|bytes| target(*bytes)).collect(),
                    vec![StorageStream::new(AccessPattern::Random, 4096, 0.0)],
                    None,
                )
            };
            assert_eq!(bytes_of_pass(&workload), expected, "{sizes:?} {duration_s:?}");
        }
    }
}
