//! The sentence of the program: suite → plan → events → run → summary → document.

use std::sync::atomic::AtomicBool;

use assay_fleet::facts;
use assay_fleet::root::Root;
use assay_model::event::Status;
use assay_model::facts::HostFacts;
use assay_model::plan::expand::{self, Choices, MpiChoices};
use assay_model::plan::{Case, Plan};
use assay_model::run::Run;
use assay_model::suite::Suite;
use assay_model::summary::Summary;
use assay_model::workload::Workload;
use assay_model::workload::storage::{StoragePhase, StoragePlan};
use assay_report::build;
use assay_stats::summarize::summarize;
use assay_store::Store;
use serde::Serialize;

use crate::arguments::MeasuringArguments;
use crate::execution::{self, Execution};
use crate::failure::{Failure, Kind};
use crate::storage::precondition;
use crate::storage::runner::{self, RunOptions};
use crate::terminal::Terminal;
use crate::tools::{self, Tools};
use crate::{signals, stored};

/// What is asked, by whom, and under which condition.
#[derive(Clone)]
pub(crate) struct Question<'a> {
    pub(crate) suite: &'a Suite,
    /// Whose fault an impossible plan is: the command line's or the suite file's.
    pub(crate) blame: Kind,
    /// Where questions about the network go that name no host.
    pub(crate) to: Option<&'a str>,
    /// What the user calls the condition.
    pub(crate) label: Option<&'a str>,
    /// The MPIs that questions about MPI go to.
    pub(crate) mpi: MpiChoices,
    /// What may be done to storage.
    pub(crate) storage: RunOptions,
    pub(crate) typed: &'a MeasuringArguments,
}

impl<'a> Question<'a> {
    /// What options alone ask, without a suite of the user's.
    pub(crate) fn of_options(suite: &'a Suite, typed: &'a MeasuringArguments) -> Self {
        Self {
            suite,
            blame: Kind::Usage,
            to: None,
            label: None,
            mpi: MpiChoices::default(),
            storage: RunOptions::default(),
            typed,
        }
    }
}

/// Everything that is known before anything is measured.
pub(crate) struct Prepared {
    plan: Plan,
    host: HostFacts,
    tools: Tools,
}

/// Measures a suite, stores the run, prints what it amounts to; the exit code comes back.
pub(crate) fn run(question: &Question<'_>, terminal: &mut Terminal) -> Result<u8, Failure> {
    let prepared = prepare(question)?;
    if question.typed.dry_run {
        return dry_run(&prepared, question.typed, terminal);
    }
    let store = stored::open(&question.typed.store)?;
    let cancel = signals::cancel_on_signals()?;
    let run = measure(question, prepared, &store, &cancel, terminal)?;
    let summary = summarize(&run);
    present(&run, &summary, question.typed, terminal)?;
    verdict(&summary)
}

/// Finds the tools and resolves every case.
pub(crate) fn prepare(question: &Question<'_>) -> Result<Prepared, Failure> {
    let typed = question.typed;
    let host = facts::read(&Root::machine());
    let tools = Tools::find(&typed.tools)?;
    let measurers = tools.measurers();
    let choices = Choices {
        by: typed.by.clone(),
        measurers: &measurers,
        budget_s: typed.budget,
        to: question.to.map(str::to_owned),
        mpi: question.mpi.clone(),
    };
    let mut plan = plan(question.suite, question.blame, &host, &choices)?;
    tools.leave_out_other_mpis(&mut plan)?;
    Ok(Prepared { plan, host, tools })
}

/// Carries the plan out and stores the run. Files made for questions about storage are removed at the
/// end, whatever becomes of the run.
pub(crate) fn measure(
    question: &Question<'_>,
    prepared: Prepared,
    store: &Store,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<Run, Failure> {
    let Prepared { plan, host, tools } = prepared;
    let folder = question.typed.store.folder.clone();
    let storage = RunOptions { store: folder, ..question.storage.clone() };
    runner::check(&storage_of(&plan), &storage)?;
    let execution = Execution {
        plan,
        label: question.label.map(str::to_owned),
        host,
        tools: &tools,
        store,
        storage: &storage,
        events: question.typed.events,
        cancel,
    };
    let run = execution::execute(&execution, terminal);
    if !storage.keep {
        runner::remove_made(&storage)?;
    }
    run
}

fn plan(
    suite: &Suite,
    blame: Kind,
    host: &HostFacts,
    choices: &Choices<'_>,
) -> Result<Plan, Failure> {
    expand::expand(suite, host, choices).map_err(|error| {
        let whose = match blame {
            Kind::Suite => format!("suite {}: ", suite.name),
            _ => String::new(),
        };
        let failure = Failure::new(blame, format!("{whose}{error}"));
        match &error {
            expand::PlanError::NoSuchMeasurer { name, .. } => tools::advise(name, failure),
            _ => failure,
        }
    })
}

/// Everything the plan does to storage, so that all of it is judged before the first write.
fn storage_of(plan: &Plan) -> StoragePlan {
    let phases = |case: &Case| match &case.workload {
        Workload::Storage(test) => {
            let mut phases = precondition::phases(test);
            phases.push(StoragePhase {
                name: case.id.clone(),
                loops: Vec::new(),
                workload: test.workload.clone(),
                pause_before_s: 0.0,
            });
            phases
        }
        _ => Vec::new(),
    };
    StoragePlan { phases: plan.cases.iter().flat_map(phases).collect() }
}

/// Prints every case, resolved; nothing is measured.
pub(crate) fn dry_run(
    prepared: &Prepared,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let plan = &prepared.plan;
    let text = if typed.json { json(plan)? } else { terminal.text(&build::plan(plan)) };
    terminal.print(&text);
    Ok(0)
}

fn present(
    run: &Run,
    summary: &Summary,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    if typed.events {
        return Ok(());
    }
    if typed.json {
        terminal.print(&json(summary)?);
        return Ok(());
    }
    let text = terminal.text(&build::run(summary, Some(run)));
    terminal.print(&text);
    terminal.print(&next_steps(summary));
    Ok(())
}

/// What a user may want to do with the run that just ended.
fn next_steps(summary: &Summary) -> String {
    let id = &summary.run.id;
    let page = format!("assay report {id} --format html --output {id}.html");
    let of_results = summary.results.first().map(|first| {
        [(page.as_str(), "a page with plots"), further(&summary.run.suite, &first.benchmark)]
    });
    let doctor = ("assay doctor", "is this machine set up for measuring?");
    let steps = of_results.into_iter().flatten().chain([doctor]);
    let lines = steps.map(|(command, why)| format!("  {command:55} {why}\n"));
    format!("\nStored as {id}. Next:\n{}", lines.collect::<String>())
}

/// The suite that asks more about the same, or, after that suite, what makes two runs of it worth more.
fn further(suite: &str, benchmark: &str) -> (&'static str, &'static str) {
    let (name, command, why) = match benchmark.split('.').next() {
        Some("storage") => (
            "storage-volume",
            "assay run storage-volume --target DIR",
            "response curves with their knee",
        ),
        Some("network") => (
            "network",
            "assay run network --to HOST",
            "throughput, round trips, CPU at both ends",
        ),
        Some("mpi") => ("mpi", "assay run mpi", "every MPI of this machine side by side"),
        _ => ("memory", "assay run memory", "every NUMA node, cache and core count"),
    };
    match suite == name {
        true => {
            ("assay compare latest~1 latest", "against the run before: better, worse or equal")
        }
        false => (command, why),
    }
}

/// A run in which a case failed, or nothing was measured, is a failed measurement.
pub(crate) fn verdict(summary: &Summary) -> Result<u8, Failure> {
    if summary.run.status == Status::Interrupted {
        let kept = format!("finished cases are kept: assay show {}", summary.run.id);
        return Err(Failure::measurement("the run was interrupted").advise(kept));
    }
    if let Some(first) = summary.failures.first() {
        let skipped = summary.failures.iter().filter(|it| it.because.is_some()).count();
        let what = match summary.failures.len() - skipped {
            1 => format!("{} failed", first.case),
            more => format!("{more} cases failed, the first of them {}", first.case),
        };
        let what = match skipped {
            0 => what,
            1 => format!("{what}; 1 case was skipped because of that"),
            _ => format!("{what}; {skipped} cases were skipped because of that"),
        };
        let mut failure = Failure::measurement(what).explain(&first.reason);
        if !first.advice.is_empty() {
            failure = failure.advise(&first.advice);
        }
        return Err(failure);
    }
    if summary.results.is_empty() {
        return Err(Failure::measurement("nothing was measured")
            .advise("give it more time with --budget"));
    }
    Ok(0)
}

/// Pretty JSON with a newline at its end.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| {
        Failure::new(Kind::Internal, "the result cannot be written as JSON").because(&error)
    })
}
