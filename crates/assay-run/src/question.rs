//! The entry point: from a suite to a plan, and from the plan to a stored run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use assay_fleet::facts;
use assay_fleet::root::Root;
use assay_kernels::rdma::{RdmaError, has_devices};
use assay_model::doubt::Doubt;
use assay_model::event::{Status, Turn};
use assay_model::facts::HostFacts;
use assay_model::failure::Failure as CaseFailure;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::expand::{self, Choices, MpiChoices, PairChoices};
use assay_model::plan::{Case, Plan};
use assay_model::run::Run;
use assay_model::seed;
use assay_model::suite::Suite;
use assay_model::summary::Summary;
use assay_model::workload::Workload;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::{StoragePhase, StoragePlan};
use assay_store::Store;

use crate::execution::{self, Execution};
use crate::failure::{Failure, Kind};
use crate::outlook::{Outlook, Rates};
use crate::rdma::TestError;
use crate::sink::Sink;
use crate::storage::file_trees::{self, FoldersAbove};
use crate::storage::options::RunOptions;
use crate::storage::{precondition, runner, volume};
use crate::tools::{self, Tools};

mod rehearsal;

/// What is asked, by whom, and under which condition.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    pub suite: &'a Suite,
    /// Whose fault an impossible plan is: the command line's or the suite file's.
    pub blame: Kind,
    /// Where questions about the network go that name no host.
    pub to: Option<&'a str>,
    /// What the user calls the condition.
    pub label: Option<&'a str>,
    /// What the user says about the run.
    pub note: Option<&'a str>,
    /// What was typed behind the name of the program.
    pub command: Vec<String>,
    /// The place of the run, where two conditions take turns.
    pub turn: Option<Turn>,
    /// The MPIs that questions about MPI go to.
    pub mpi: MpiChoices,
    /// What may be done to storage.
    pub storage: RunOptions,
    /// Who measures: `assay`, the name of an official tool, or `all` that are found.
    pub by: Vec<String>,
    /// Seconds for the whole run [default: as the suite says].
    pub budget_s: Option<f64>,
    /// Official tools that are not on `PATH`: name and path.
    pub tools: Vec<(String, PathBuf)>,
    /// What everything random follows from; `None` = another number in every run, so that no run finds
    /// the blocks of the one before in a cache.
    pub seed: Option<u64>,
    /// The pairs of hosts in which this one begins, where questions about the network go to them.
    pub pairs: Option<PairChoices>,
}

impl<'a> Question<'a> {
    /// A suite, measured by assay on this machine.
    pub fn of_suite(suite: &'a Suite) -> Self {
        Self {
            suite,
            blame: Kind::Usage,
            to: None,
            label: None,
            note: None,
            command: Vec::new(),
            turn: None,
            mpi: MpiChoices::default(),
            storage: RunOptions::default(),
            by: vec!["assay".to_owned()],
            budget_s: None,
            tools: Vec::new(),
            seed: None,
            pairs: None,
        }
    }
}

/// Another one in every run.
pub fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed, and exact in every reader of JSON.
    seed::derived(now.as_nanos() as u64, u64::from(std::process::id())) >> 32
}

/// Everything that is known before anything is measured.
#[derive(Debug)]
pub struct Prepared {
    pub plan: Plan,
    pub host: HostFacts,
    tools: Tools,
    /// That everyone was requested, and assay is alone.
    alone: Option<Phrase>,
}

/// Finds the tools and resolves every case.
pub fn prepare(question: &Question<'_>) -> Result<Prepared, Failure> {
    let host = facts::read(&Root::machine());
    let named = question.suite.measures.iter().flat_map(|it| &it.by).chain(&question.by);
    let may_measure = |tool: &str| named.clone().any(|it| it == tool || it == "all");
    let tools = Tools::find(&question.tools, &may_measure)?;
    let measurers = tools.measurers();
    let choices = Choices {
        by: question.by.clone(),
        measurers: &measurers,
        budget_s: question.budget_s,
        to: question.to.map(str::to_owned),
        mpi: question.mpi.clone(),
        seed: question.seed.unwrap_or_else(fresh_seed),
        pairs: question.pairs.clone(),
        has_rdma: has_devices(),
    };
    let (suite, omitted) = rehearsal::with_its_libraries(question)?;
    // Also where nothing is to be measured: what is planned must be possible.
    rehearsal::check(&suite, &host, &choices, question)?;
    let mut plan = expand::expand(&suite, &host, &choices)
        .map_err(|error| impossible(&error, question))?;
    plan.omitted.extend(omitted);
    rehearsal::refuse_idle(&plan, &question.by, &choices, question)?;
    tools.leave_out_other_mpis(&mut plan)?;
    if !choices.has_rdma && plan.cases.iter().any(is_rdma_over_loopback) {
        return Err(TestError::from(RdmaError::NoDevice).failure());
    }
    volume::check(&storage_of(&plan), &files_of(&plan), &question.storage)?;
    let is_alone = question.by.iter().any(|it| it == "all")
        && plan.cases.iter().all(|case| case.by == "assay");
    let alone = is_alone.then(|| {
        phrase!("measures-alone", "no installed tool measures any of it: assay measures alone")
    });
    Ok(Prepared { plan, host, tools, alone })
}

/// What needs a device of this machine and no other.
fn is_rdma_over_loopback(case: &Case) -> bool {
    matches!(&case.workload, Workload::Rdma(work) if work.to.is_none())
}

impl Prepared {
    /// What is known of the time of the plan; nothing was tried.
    #[must_use]
    pub fn outlook(&self) -> PlanOutlook {
        let mut outlook = PlanOutlook::of(&self.plan, &self.host);
        outlook.said.extend(self.alone.clone());
        outlook
    }
}

/// What is said of a plan before it is carried out.
#[derive(Debug)]
pub struct PlanOutlook {
    pub said: Vec<Phrase>,
    /// Whether it takes longer than its budget.
    pub is_beyond: bool,
}

impl PlanOutlook {
    /// What is known of the time of a plan on a host; nothing was tried.
    #[must_use]
    pub fn of(plan: &Plan, host: &HostFacts) -> Self {
        let mut outlook = Outlook::of(plan, host);
        outlook.learn(Some(Rates::PRESUMED));
        let beyond = outlook.look(0.0);
        let is_beyond = beyond.is_some();
        Self { said: beyond.into_iter().chain(plan.outlook(host)).collect(), is_beyond }
    }
}

/// Carries the plan out and stores the run. Files made for questions about storage are removed at the
/// end, whatever becomes of the run.
pub fn measure(
    question: &Question<'_>,
    prepared: Prepared,
    store: Option<&Store>,
    cancel: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<Run, Failure> {
    let Prepared { plan, host, tools, alone } = prepared;
    alone.iter().for_each(|said| sink.note(None, said));
    let storage = &question.storage;
    let (of_storage, of_files) = (storage_of(&plan), files_of(&plan));
    runner::check(&of_storage, storage)?;
    file_trees::check(&of_files, storage, FoldersAbove::REFUSED)?;
    volume::reported(&of_storage, &of_files).iter().for_each(|line| sink.note(None, line));
    let execution = Execution {
        plan,
        label: question.label.map(str::to_owned),
        note: question.note.map(str::to_owned),
        command: question.command.clone(),
        turn: question.turn.clone(),
        host,
        tools: &tools,
        store,
        storage,
        cancel,
    };
    let run = execution::execute(&execution, sink);
    match cancel.load(Ordering::Relaxed) {
        true => finish_soon(storage, sink)?,
        false => {
            let has_made = !of_storage.phases.is_empty() || !of_files.phases.is_empty();
            if has_made && !storage.keep {
                sink.progress(&phrase!("removing", "removing what was made for the run"));
            }
            runner::finish(storage)?;
        }
    }
    run
}

/// Removes what was made as far as there is time: who stops a run does not wait for a slow disk.
fn finish_soon(storage: &RunOptions, sink: &mut dyn Sink) -> Result<(), Failure> {
    /// Together with what the measurement takes to notice, a second.
    const PATIENCE: Duration = Duration::from_millis(500);
    let (done, is_done) = mpsc::channel();
    let options = storage.clone();
    // Nobody waits for it: what it has not removed when the process ends is in the list of what was made.
    std::thread::spawn(move || done.send(runner::finish(&options)));
    is_done.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let left = phrase!(
            "files-left",
            "files that were made for the run are left; `assay storage clean` removes them"
        );
        sink.note(None, &left);
        Ok(())
    })
}

/// A suite that this host cannot carry out.
fn impossible(error: &expand::PlanError, question: &Question<'_>) -> Failure {
    let whose = match question.blame {
        Kind::Suite => format!("suite {}: ", question.suite.name),
        _ => String::new(),
    };
    // A tool that is known and not installed is no slip of the finger.
    let kind = match error {
        expand::PlanError::NoSuchMeasurer { name, .. } if tools::is_known(name) => {
            Kind::Measurement
        }
        _ => question.blame,
    };
    let failure = Failure::new(kind, format!("{whose}{error}"));
    match error {
        expand::PlanError::NoSuchMeasurer { name, .. } => tools::advise(name, failure),
        expand::PlanError::TooManyThreads { cores, .. } => {
            failure.advise(format!("ask for at most {cores}, or leave the number out"))
        }
        expand::PlanError::DepthBelowThreads { threads, .. } => failure
            .advise(format!("ask for a depth of {threads} or more, or for fewer threads")),
        expand::PlanError::TooLarge { .. } => {
            failure.advise("ask for less, or leave the size out to have it chosen")
        }
        expand::PlanError::Nothing { .. } => {
            failure.advise("`assay help tools` says what each tool measures")
        }
        _ => failure,
    }
}

/// Everything the plan does to storage, so that all of it is judged before the first write.
fn storage_of(plan: &Plan) -> StoragePlan {
    let phases = |case: &Case| {
        let Workload::Storage(test) = &case.workload else { return Vec::new() };
        let phases = precondition::phases(test).into_iter().map(|(_, phase)| phase);
        let mut phases: Vec<StoragePhase> = phases.collect();
        phases.push(StoragePhase {
            name: case.id.clone(),
            loops: Vec::new(),
            workload: test.workload.clone(),
            pause_before_s: 0.0,
        });
        phases
    };
    StoragePlan { phases: plan.cases.iter().flat_map(phases).collect() }
}

/// The same for file trees.
fn files_of(plan: &Plan) -> FilePlan {
    let tests = plan.cases.iter().filter_map(|case| {
        if let Workload::Files(test) = &case.workload { Some(test) } else { None }
    });
    FilePlan { phases: tests.flat_map(|test| file_trees::phases(test)).collect() }
}

/// A run in which a case failed, or nothing was measured, is a failed measurement. `words` writes a
/// failure for people: its reason and what to do.
pub fn verdict(
    summary: &Summary,
    words: impl Fn(&CaseFailure) -> (String, String),
) -> Result<(), Failure> {
    if summary.run.status == Status::Interrupted {
        let interrupted = Failure::measurement("the run was interrupted");
        let kept = |what| format!("{what} are kept: assay show {}", summary.run.id);
        return Err(match (&summary.results[..], &summary.steps[..]) {
            ([], []) => interrupted.explain("no case had ended: nothing was measured"),
            ([], _) => summary
                .failures
                .iter()
                .take(1)
                .fold(interrupted, |failure, first| failure.explain(words(&first.failure).0))
                .advise(kept("the rates that were tried")),
            _ => interrupted.advise(kept("finished cases")),
        });
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
        let (reason, advice) = words(&first.failure);
        let mut failure = Failure::measurement(what).explain(reason);
        if !advice.is_empty() {
            failure = failure.advise(advice);
        }
        return Err(failure);
    }
    if summary.run.status == Status::Partial {
        let missing = summary.warnings.iter().filter_map(|doubt| match doubt {
            Doubt::HostLost { host, reason, .. } => Some(format!("{host}: {reason}")),
            _ => None,
        });
        return Err(Failure::measurement("hosts are missing")
            .explain(missing.collect::<Vec<_>>().join("; "))
            .advise(format!(
                "what the others measured is kept: assay show {}",
                summary.run.id
            )));
    }
    if summary.results.is_empty() {
        return Err(Failure::measurement("nothing was measured")
            .advise("give it more time with --budget"));
    }
    Ok(())
}
