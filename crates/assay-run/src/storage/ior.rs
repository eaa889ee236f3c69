//! IOR's tests, one after another: carried out, stored, and read from the store again.
//!
//! Ranks are threads of this process. The caller receives notices as things happen; nothing here prints.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_dialects::ior::compile::{self, Access, compile};
use assay_dialects::ior::options::Options;
use assay_dialects::ior::result::{AccessResult, Test};
use assay_fleet::capacity;
use assay_model::facts::Capacity;
use assay_model::plan::Plan;
use assay_model::run::Run;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::Workload;
use assay_model::workload::course::Course;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::{StoragePhase, StorageTest};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use serde::{Deserialize, Serialize};

use self::test::Running;
use super::foreseen::{self, Extent, Refusal};
use super::runner::StorageEvent;
use super::volume;
use crate::failure::Failure;
use crate::recording::{self, Opening, Recording};
use crate::sink::Sink;

mod test;

/// The language of these runs.
pub const LANGUAGE: &str = "ior";
/// Raw output of every case: what was found when its test began.
const FOUND: &str = "test.json";

/// Something that happened.
#[derive(Debug)]
pub enum Notice<'n> {
    /// A test begins; its number from 0.
    Starts { test: &'n Test, number: usize },
    /// A phase goes on.
    Meanwhile { phase: &'n StoragePhase, event: &'n StorageEvent<'n> },
    /// Something was measured.
    Result { options: &'n Options, result: &'n AccessResult },
    /// No further repetition begins, for the minutes of `-T` are over.
    TimeIsUp { repetitions: u32 },
    /// A test has ended.
    Ends { test: &'n Test },
}

/// Who is told.
pub type Listener<'l> = dyn FnMut(Notice<'_>) + 'l;

/// What came of all tests.
#[derive(Debug)]
pub struct Finished {
    /// As it is stored.
    pub run: Run,
    /// The tests with the figures of that run.
    pub tests: Vec<Test>,
    /// The first I/O that failed; the others went on.
    pub failed: Option<Failure>,
}

/// What only the machine can say about a test when it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Found {
    began: String,
    capacity: Option<Capacity>,
    /// How far an earlier run came.
    wear_out_transfers: u64,
}

/// One phase of one test.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    test: usize,
    repetition: u32,
    access: Access,
    /// What is lacking after a deadline: the rest of the blocks that the ranks are in, then whole ones.
    rest: Option<usize>,
}

/// Refuses tests that cannot be carried out, before anything is shown; what an earlier one writes is there by then.
///
/// # Errors
/// The first refusal, and the number of its test.
pub fn check(
    tests: &[Options],
    folder: Option<&Path>,
    extent: Extent,
) -> Result<(), (Box<Refusal>, usize)> {
    for (number, options) in tests.iter().enumerate() {
        let is_kept = |it: &Options| it.write && it.keep && it.test_file == options.test_file;
        let is_left = tests[..number].iter().any(is_kept);
        checked(options, is_left, folder, extent).map_err(|refusal| (refusal, number))?;
    }
    Ok(())
}

/// One of them, whose files are left by an earlier one, or are what they are now.
fn checked(
    options: &Options,
    is_left: bool,
    folder: Option<&Path>,
    extent: Extent,
) -> Result<(), Box<Refusal>> {
    let refusal = |failure| Box::new(Refusal { failure, asked_by: None });
    let plan = compile(options, 0).0;
    let allowed = test::permissions(options, folder, Arc::default());
    // Folders that are made for the ranks are not there yet, and hold nothing.
    if is_left || !compile::folders(options).iter().all(|it| it.is_dir()) {
        return volume::check(&plan, &FilePlan::default(), &allowed).map_err(refusal);
    }
    test::is_readable(options).map_err(refusal)?;
    foreseen::check(&plan, &allowed, extent)
}

/// Carries the tests out. `folder` is that of the store, which also lists the files that were made.
///
/// # Errors
/// What cannot be carried out or stored.
pub fn carry_out(
    tests: &[Options],
    (opening, folder, sink): (Opening<'_>, Option<&Path>, &mut dyn Sink),
    stop: &AtomicBool,
    on: &mut Listener<'_>,
) -> Result<Finished, Failure> {
    let steps = steps(tests);
    let mut opening = Some(opening);
    let mut recording = None;
    let (mut found, mut failed, mut verdict) = (Vec::new(), None, Ok(()));
    for (number, options) in tests.iter().enumerate() {
        let mut test = Running::new(number, options.clone(), folder, stop);
        // What must not be done leaves no run.
        verdict = test.prepare();
        if let (Ok(()), Some(opening)) = (&verdict, opening.take_if(|_| verdict.is_ok())) {
            recording = Some(Recording::begin(opening, sink)?);
        }
        if let (Ok(()), Some(recording)) = (&verdict, &mut recording) {
            on(Notice::Starts { test: &test.test, number });
            verdict = test.repetitions(&steps, recording, on);
            found.push(test.found());
        }
        test.clean(verdict.is_err())?;
        failed = failed.or(test.failed.take());
        if verdict.is_err() || stop.load(Ordering::Relaxed) {
            break;
        }
        on(Notice::Ends { test: &test.test });
    }
    let Some(recording) = recording else {
        return Err(verdict.err().unwrap_or_else(|| Failure::measurement("there is no test")));
    };
    let run = close(recording, verdict.is_ok(), stop)?;
    verdict?;
    let tests = with_results(&run, tests, &|test, _| found.get(test).cloned());
    Ok(Finished { run, tests, failed })
}

fn close(
    mut recording: Recording<'_>,
    is_well: bool,
    stop: &AtomicBool,
) -> Result<Run, Failure> {
    let is_stopped = stop.load(Ordering::Relaxed);
    match (is_well, is_stopped) {
        (true, false) => recording.leave_out_rest()?,
        (true, true) => {}
        (false, _) => recording.fail(),
    }
    recording.finish(is_stopped)
}

/// The tests of a stored run; `raw` reads a raw output by its hash.
#[must_use]
pub fn again(run: &Run, tests: &[Options], raw: &dyn Fn(&str) -> Option<Vec<u8>>) -> Vec<Test> {
    with_results(run, tests, &|_, hash| serde_json::from_slice(&raw(hash?)?).ok())
}

/// The tests with what the run found; `found` reports a test by its number, or by the hash of what was
/// kept.
fn with_results(
    run: &Run,
    options: &[Options],
    found: &dyn Fn(usize, Option<&str>) -> Option<Found>,
) -> Vec<Test> {
    let steps = steps(options);
    let planned = &run.started.plan.cases;
    let mut tests: Vec<Test> = Vec::new();
    let mut first: Option<(Step, StorageOutcome)> = None;
    let mut rest = Vec::new();
    for record in &run.cases {
        let at = planned.iter().position(|case| case.id == record.case.id);
        let Some(step) = at.and_then(|at| steps.get(at)).copied() else { continue };
        let Some(outcome) = StorageOutcome::of_record(record, &|_| None) else { continue };
        if step.rest.is_some() {
            rest.push(outcome);
            continue;
        }
        add_result(&mut tests, first.take(), &std::mem::take(&mut rest));
        if tests.len() <= step.test {
            let hash = record.raw.get(FOUND).map(String::as_str);
            let Some(found) = found(step.test, hash) else { continue };
            tests.push(found.test(&options[step.test]));
        }
        first = Some((step, outcome));
    }
    add_result(&mut tests, first, &rest);
    tests
}

fn add_result(
    tests: &mut [Test],
    first: Option<(Step, StorageOutcome)>,
    rest: &[StorageOutcome],
) {
    let Some((step, outcome)) = first else { return };
    let Some(test) = tests.get_mut(step.test) else { return };
    if let Some(result) = step.result(&test.options, &outcome, rest) {
        test.results.push(result);
    }
}

/// The tests as a plan of the store: what was requested, whatever a deadline will make of it.
#[must_use]
pub fn plan(tests: &[Options]) -> Plan {
    let phases = steps(tests).into_iter().map(|step| {
        let phase = compile::phase(&tests[step.test], step.access, step.repetition);
        let test = StorageTest {
            name: phase.name.clone(),
            point: None,
            provisioned_bytes_per_s: None,
            precondition_passes: 0,
            course: Course::default(),
            workload: phase.workload,
        };
        let rest = step.rest.map_or_else(String::new, |rest| format!("/rest-{rest}"));
        let name = format!("{}/{}/{}{rest}", step.test, phase.name, step.repetition);
        (name, Workload::Storage(Box::new(test)))
    });
    recording::plan(LANGUAGE, phases.collect())
}

/// Every phase of every test, in order.
fn steps(tests: &[Options]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (test, options) in tests.iter().enumerate() {
        for repetition in 0..options.repetitions {
            for access in compile(options, repetition).1 {
                let step = |rest| Step { test, repetition, access, rest };
                steps.push(step(None));
                if options.wear_out {
                    steps.extend([0, 1].map(|rest| step(Some(rest))));
                }
            }
        }
    }
    steps
}

impl Step {
    /// The figures; `None` for what is not timed.
    fn result(
        self,
        options: &Options,
        outcome: &StorageOutcome,
        rest: &[StorageOutcome],
    ) -> Option<AccessResult> {
        let result = AccessResult::of(self.access, self.repetition, outcome)?;
        Some(match options.wear_out {
            true => result.worn_out(options, &transfers(options, outcome), rest),
            false => result,
        })
    }
}

impl Found {
    fn test(self, options: &Options) -> Test {
        let Self { began, capacity, wear_out_transfers } = self;
        let options = Options { wear_out_transfers, ..options.clone() };
        Test { options, began, capacity, results: vec![] }
    }
}

/// Transfers of every rank.
fn transfers(options: &Options, outcome: &StorageOutcome) -> Vec<u64> {
    let mut done = vec![0; options.ranks as usize];
    for tally in &outcome.tallies {
        done[tally.stream] += tally.tally.count;
    }
    done
}

/// The file system below a test file.
fn capacity_of(options: &Options) -> Option<Capacity> {
    capacity::of(Path::new(&compile::file_name(options, 0, 0)))
}

/// The time as IOR writes it.
#[must_use]
pub fn now() -> String {
    written(&Zoned::now())
}

/// When a run had ended, as IOR writes it.
#[must_use]
pub fn finished(run: &Run) -> String {
    let end = run.finished.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
    end.map_or_else(String::new, |end| written(&end.to_zoned(TimeZone::system())))
}

fn written(time: &Zoned) -> String {
    time.strftime("%a %b %e %H:%M:%S %Y").to_string()
}
