//! The runs of Vdbench parameter files, one after another: executed, stored, and replayed from the store.
//!
//! The caller receives notices, the same live and on replay; nothing here prints.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use assay_dialects::vdbench::output::files::FileMeasured;
use assay_dialects::vdbench::output::{self, Average, Measured};
use assay_dialects::vdbench::{Execution, RunLabel};
use assay_fleet::remote::{ShareAsked, TreesAsked};
use assay_model::attribute::{Attribute, Attributes};
use assay_model::entry::Entry;
use assay_model::failure::Failure as CaseFailure;
use assay_model::file_outcome::{FileInterval, FileOutcome};
use assay_model::plan::Plan;
use assay_model::storage_outcome::{IntervalTally, StorageOutcome};
use assay_model::workload::file_set::FileTest;
use assay_model::workload::storage::{StoragePhase, StoragePlan, StorageTest, StorageWorkload};
use assay_model::workload::{self, Workload};
use jiff::Timestamp;

use self::reported::{Course, Reported};
use super::file_trees::FoldersAbove;
use super::options::RunOptions;
use super::runner::{self, StorageEvent};
use super::series;
use super::shares::sharers::{self, Sharers};
use crate::failure::Failure;
use crate::recording::{self, Opening, Recording};
use crate::sink::Sink;

mod again;
mod around;
mod ending;
pub mod repeat;
pub mod reported;
mod runs;
mod trees;

pub use again::again;
pub use runs::first_run_fills_all;

/// The language of these runs.
pub const LANGUAGE: &str = "vdbench";

/// What is to be done, and under which permissions.
#[derive(Debug)]
pub struct Question<'q> {
    /// The parameter files.
    pub execution: &'q Execution,
    /// How often.
    pub repeat: repeat::Repeat,
    /// What may be written.
    pub options: RunOptions,
    /// What `$output` in commands stands for.
    pub output: &'q Path,
    /// How it is stored; its plan is that of [`plan`].
    pub opening: Opening<'q>,
}

/// Something that happened.
#[derive(Debug)]
pub enum Notice<'n> {
    /// Of a stored run: what follows happened at this time.
    At(Timestamp),
    /// Something besides I/O.
    Reported(&'n Reported),
    /// A run begins; with the rate in IO/s, where it has one.
    Starts { label: &'n RunLabel, rate_per_s: Option<f64> },
    /// What one of several hosts did of the interval that follows.
    Part { host: &'n str, tally: &'n IntervalTally },
    /// One entry of its series.
    Interval(&'n IntervalTally),
    /// It ended; with its average, where anything is to be reported.
    Done {
        label: &'n RunLabel,
        phase: &'n StoragePhase,
        outcome: &'n StorageOutcome,
        average: Option<&'n Average<Measured>>,
        is_stopped: bool,
    },
    /// A run on file trees begins; with the rate in operations per second, where it has one.
    TreesStart { label: &'n RunLabel, rate_per_s: Option<f64> },
    /// What one of several hosts did of the interval that follows.
    TreesPart { host: &'n str, interval: &'n FileInterval },
    /// One entry of its series.
    TreesInterval(&'n FileInterval),
    /// It ended; with its average, where anything is to be reported.
    TreesDone {
        label: &'n RunLabel,
        outcome: &'n FileOutcome,
        average: Option<&'n Average<FileMeasured>>,
        is_stopped: bool,
    },
}

/// Who is told.
pub type Listener<'l> = dyn FnMut(Notice<'_>) + 'l;

/// Carries all runs out, once or over and over, here or on `hosts`. Every pass is a run of the store.
///
/// # Errors
/// What cannot be carried out or stored, I/O that failed, and the user's wish to stop.
pub fn carry_out(
    (question, sink): (&Question<'_>, &mut dyn Sink),
    mut hosts: Option<&mut Sharers<'_>>,
    stop: &AtomicBool,
    on: &mut Listener<'_>,
) -> Result<(), Failure> {
    let (began, mut done) = (Instant::now(), 0);
    loop {
        done += 1;
        let execution = question.execution.pass(done);
        let opening = Opening { plan: plan(&execution), ..question.opening.clone() };
        let options = question.options.clone();
        let question = &Question { execution: &execution, opening, options, ..*question };
        let hosts = hosts.as_deref_mut();
        let mut underway = Underway {
            question,
            hosts,
            stop,
            on,
            reported: Vec::new(),
            is_over: false,
            errors: 0,
        };
        if done == 1 {
            around::run(question.execution.commands.start.as_ref(), &mut underway)?;
        }
        // What must not be done leaves no run.
        underway.prepare()?;
        let mut recording = Recording::begin(question.opening.clone(), &mut *sink)?;
        let verdict = match question.execution.files.phases.is_empty() {
            true => runs::all(&mut underway, &mut recording),
            false => trees::all(&mut underway, &mut recording),
        };
        let is_last =
            verdict.is_err() || underway.is_over || !question.repeat.again(began, done);
        let verdict = match is_last {
            true => verdict.and_then(|()| {
                around::run(question.execution.commands.end.as_ref(), &mut underway)
            }),
            false => verdict,
        };
        let closed = underway.close(recording, verdict.is_ok());
        if is_last {
            return verdict.and(closed);
        }
        closed?;
    }
}

/// The runs as a plan of the store.
#[must_use]
pub fn plan(execution: &Execution) -> Plan {
    let blocks = execution.plan.phases.iter().map(|phase| {
        Workload::Storage(Box::new(StorageTest {
            name: phase.name.clone(),
            point: None,
            provisioned_bytes_per_s: None,
            precondition_passes: 0,
            course: workload::course::Course::default(),
            workload: phase.workload.clone(),
        }))
    });
    let trees = execution.files.phases.iter().map(|phase| {
        let (name, workload) = (String::new(), phase.workload.clone());
        Workload::Files(Box::new(FileTest { name, before: None, workload }))
    });
    // One of both is empty.
    let named = execution.runs.iter().map(named);
    recording::plan(LANGUAGE, named.zip(blocks.chain(trees)).collect())
}

/// A name that no other run has: Vdbench distinguishes runs by their loops.
fn named(label: &RunLabel) -> String {
    let loops = label.loops.iter().map(|(key, value)| format!(",{key}={value}"));
    label.name.clone() + &loops.collect::<String>()
}

/// Whether there is more to run.
enum Next {
    Run,
    /// The rest of the curve that begins with the same run is left out.
    SkipCurve,
    End,
}

/// Does each of the runs; `bases` are those whose rates theirs are shares of.
fn one_after_another(
    bases: &[Option<usize>],
    mut one: impl FnMut(usize) -> Result<Next, Failure>,
) -> Result<(), Failure> {
    let mut left_out = None;
    for (index, base) in bases.iter().enumerate() {
        if left_out.is_some() && left_out == *base {
            continue;
        }
        match one(index)? {
            Next::Run => {}
            Next::SkipCurve => left_out = *base,
            Next::End => break,
        }
    }
    Ok(())
}

/// A run that is over, as it is stored.
struct Over {
    entries: Vec<Entry>,
    /// What was asked for, where a rate was.
    rate_per_s: Option<f64>,
    /// What counts of it, and in which time.
    count: u64,
    elapsed_s: f64,
    journals: Vec<(String, Vec<u8>)>,
    failure: Option<CaseFailure>,
    /// Why it ended before its time.
    early_end: Option<Reported>,
}

/// What goes on, for all that carry it out.
struct Underway<'d, 'l, 'h> {
    question: &'d Question<'d>,
    /// Who does the I/O, where it is not this machine.
    hosts: Option<&'d mut Sharers<'h>>,
    stop: &'d AtomicBool,
    on: &'d mut Listener<'l>,
    /// What was told since the last run was stored.
    reported: Vec<Reported>,
    /// Whether no run is to follow.
    is_over: bool,
    /// I/O or operations that failed so far.
    errors: u64,
}

impl Underway<'_, '_, '_> {
    fn report(&mut self, reported: Reported) {
        (self.on)(Notice::Reported(&reported));
        self.reported.push(reported);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Refuses what must not be done, and lays files out.
    fn prepare(&mut self) -> Result<(), Failure> {
        let Question { execution, options, .. } = self.question;
        if !execution.files.phases.is_empty() {
            return self.prepare_trees();
        }
        let stop = self.stop;
        if let Some(hosts) = &mut self.hosts {
            let asked = ShareAsked {
                plan: execution.plan.clone(),
                destroy_data: options.destroy_data.clone(),
                target_on_root: options.target_on_root,
                writers_make_files: options.writers_make_files,
            };
            let mut on = |event: sharers::Event<'_>| {
                if let sharers::Event::Note { host, said } = event {
                    (self.on)(Notice::Reported(&Reported::noted(host, said)));
                    self.reported.push(Reported::noted(host, said));
                }
            };
            return hosts.prepare(&asked, &execution.places, stop, &mut on);
        }
        runner::prepare(&execution.plan, options, stop, &mut |event| self.laid_out(&event))
    }

    fn prepare_trees(&mut self) -> Result<(), Failure> {
        let Question { execution, options, .. } = self.question;
        let Some(hosts) = &mut self.hosts else {
            let above = FoldersAbove::of_vdbench(execution.create_anchors);
            return super::file_trees::prepare(&execution.files, options, above);
        };
        let asked = TreesAsked {
            plan: execution.files.clone(),
            destroy_data: options.destroy_data.clone(),
            target_on_root: options.target_on_root,
            makes_above: execution.create_anchors,
            prepared: None,
        };
        hosts.prepare_trees(&asked, &execution.places, self.stop)
    }

    fn laid_out(&mut self, event: &StorageEvent<'_>) {
        let StorageEvent::LayingOut { target, done_bytes, total_bytes } = event else { return };
        let begins = Reported::LayingOut { path: target.path.clone(), bytes: *total_bytes };
        if !self.reported.contains(&begins) {
            self.report(begins);
        }
        if done_bytes == total_bytes {
            self.report(Reported::LaidOut);
        }
    }

    /// Why a run ended before its time; whether it may have been the last.
    fn ended(&mut self, reason: Option<&Reported>) {
        if let Some(reason) = reason {
            (self.on)(Notice::Reported(reason));
            self.is_over |= *reason == Reported::MonitorEndsAll;
        }
    }

    /// Nothing goes on: nothing that is written now disturbs it.
    fn store(
        &mut self,
        recording: &mut Recording<'_>,
        index: usize,
        over: Over,
    ) -> Result<(), Failure> {
        let label = &self.question.execution.runs[index];
        let mut dimensions = Attributes::from([(Attribute::Phase, label.name.as_str().into())]);
        if !label.loops.is_empty() {
            let loops = label.loops.iter().map(|(key, value)| format!("{key}={value}"));
            let loops = loops.collect::<Vec<_>>().join(" ");
            dimensions.insert(Attribute::Loops, loops.into());
        }
        let rate = over.rate_per_s;
        let missed = series::rate_missed(rate, over.count, over.elapsed_s).map(Entry::Doubt);
        let rate = rate.map(|rate| Entry::Fact(Attribute::RequestedRate, rate.into()));
        let entries = over.entries.into_iter().chain(rate).chain(missed);
        let entries = entries.map(|entry| entry.of(&dimensions));
        let before = std::mem::take(&mut self.reported);
        let course = Course { before, end: over.early_end, is_stopped: self.is_stopped() };
        let raw = [over.journals, vec![course.file()]].concat();
        match over.failure {
            // A format may find everything there already.
            None if over.count == 0 && !self.question.execution.files.phases.is_empty() => {
                recording.idle(index, entries, &raw)
            }
            failure => recording.case(index, entries, &raw, failure),
        }
    }

    /// Refuses to go on after more errors than the files allow; `what` is what failed.
    fn few_errors(&self, what: &str) -> Result<(), Failure> {
        let most = self.question.execution.data_errors;
        if self.errors < most.max(1) {
            return Ok(());
        }
        let allowed = format!("data_errors allows fewer than {most}");
        self.no_errors(what).map_err(|failure| failure.explain(allowed))
    }

    /// The verdict at the end.
    fn no_errors(&self, what: &str) -> Result<(), Failure> {
        let what = match (self.errors, what) {
            (0, _) => return Ok(()),
            (1, what) => format!("one {what} failed"),
            (more, "I/O") => format!("{more} I/O failed"),
            (more, what) => format!("{more} {what}s failed"),
        };
        Err(Failure::measurement(what).advise("see errorlog.html"))
    }

    fn close(&mut self, mut recording: Recording<'_>, is_well: bool) -> Result<(), Failure> {
        let before = std::mem::take(&mut self.reported);
        let (name, bytes) = Course { before, ..Course::default() }.file();
        recording.raw(&name, &bytes)?;
        if is_well {
            recording.leave_out_rest()?;
        } else {
            recording.fail();
        }
        recording.finish(self.is_stopped()).map(drop)
    }
}

/// The average that is reported of a run; nothing of one that the user stopped while it warmed up.
fn averaged(
    label: &RunLabel,
    outcome: &StorageOutcome,
    is_stopped: bool,
) -> Option<Average<Measured>> {
    let average = output::average(
        label,
        &outcome.intervals,
        |interval| interval.length_s,
        Measured::add,
        Measured::count,
    );
    (average.measured.count() > 0 && (average.counts || !is_stopped)).then_some(average)
}

/// A plan of one phase.
fn alone(phase: &StoragePhase, workload: StorageWorkload) -> StoragePlan {
    StoragePlan { phases: vec![StoragePhase { workload, ..phase.clone() }] }
}
