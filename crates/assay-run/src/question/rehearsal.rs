//! What a suite asks and this machine cannot do, found before anything is measured, with the line that asks it.
//! Nothing is written.

use assay_fleet::capacity;
use assay_kernels::compute::blas::Blas;
use assay_kernels::storage::Foresight;
use assay_model::facts::HostFacts;
use assay_model::plan::expand::{self, Choices, PlanError};
use assay_model::plan::{Missing, Omitted, Plan};
use assay_model::suite::{Measure, Request, Suite};
use assay_model::workload::Workload;

use super::{Question, files_of, impossible, storage_of};
use crate::failure::{Failure, Kind};
use crate::storage::file_trees::{self, FoldersAbove};
use crate::storage::{distinct, runner, volume};
use crate::tools;

/// The suite without the measures that it can do without and whose library is not there.
///
/// # Errors
/// A library that is not there, and that the suite needs.
pub(super) fn with_its_libraries(
    question: &Question<'_>,
) -> Result<(Suite, Vec<Omitted>), Failure> {
    let mut suite = question.suite.clone();
    let mut omitted = Vec::new();
    let mut failed = None;
    suite.measures.retain(|measure| {
        let Request::Linpack { blas: Some(name), .. } = &measure.request else { return true };
        let by = if measure.by.is_empty() { &question.by } else { &measure.by };
        if !by.iter().any(|it| it == "assay" || it == "all") {
            return true;
        }
        match Blas::open(name) {
            Ok(_) => true,
            Err(_) if measure.optional => {
                let benchmark = measure.request.benchmark().id().to_owned();
                let (reason, hosts) = (Missing::Library, Vec::new());
                omitted.push(Omitted { benchmark, reason, hosts });
                false
            }
            Err(error) => {
                let failure = Failure::measurement(format!("there is no BLAS `{name}`"))
                    .because(&error)
                    .advise(
                        "install it, name its file, or leave it out to use assay's own kernels",
                    );
                failed =
                    failed.take().or(Some(at_line(failure, (measure, &["blas"]), question)));
                true
            }
        }
    });
    failed.map_or(Ok((suite, omitted)), Err)
}

/// Every measure of the suite by itself: what it is resolved to, and what the file systems will say to it.
///
/// # Errors
/// The first that cannot be done.
pub(super) fn check(
    suite: &Suite,
    host: &HostFacts,
    choices: &Choices<'_>,
    question: &Question<'_>,
) -> Result<(), Failure> {
    for measure in &suite.measures {
        let alone = Suite { measures: vec![measure.clone()], ..suite.clone() };
        match expand::expand(&alone, host, choices) {
            // The same is said of a tool whether it is installed or not.
            Err(
                PlanError::NoSuchMeasurer { name, .. } | PlanError::Nothing { by: name, .. },
            ) if is_idle(
                &name,
                if measure.by.is_empty() { suite } else { &alone },
                host,
                choices,
            ) =>
            {
                return Err(at_line(idle(&name, question), (measure, &["by"]), question));
            }
            // Nobody who was requested measures it: others are left.
            Err(PlanError::Nothing { .. }) => {}
            Err(error) => {
                let failure = impossible(&error, question);
                return Err(at_line(failure, (measure, keys_of(&error)), question));
            }
            Ok(plan) => {
                refuse_idle(&plan, &measure.by, choices, question)
                    .map_err(|failure| at_line(failure, (measure, &["by"]), question))?;
                storage(plan, question)
                    .map_err(|(failure, keys)| at_line(failure, (measure, keys), question))?;
            }
        }
    }
    Ok(())
}

/// A tool that was requested by name and has nothing to measure was meant for something else.
///
/// # Errors
/// The first such tool.
pub(super) fn refuse_idle(
    plan: &Plan,
    by: &[String],
    choices: &Choices<'_>,
    question: &Question<'_>,
) -> Result<(), Failure> {
    // What is left out may be what it measures, and of a pair the other host has the cases.
    if choices.pairs.is_some() || !plan.omitted.is_empty() {
        return Ok(());
    }
    let is_idle = |name: &&String| {
        plan.cases.iter().all(|case| case.by != **name)
            && tools::measures_nothing_of(name, plan)
    };
    by.iter().find(is_idle).map_or(Ok(()), |name| Err(idle(name, question)))
}

/// The same where it is not installed, so that nobody installs it in vain.
fn is_idle(name: &str, suite: &Suite, host: &HostFacts, choices: &Choices<'_>) -> bool {
    let mut suite = suite.clone();
    suite.measures.iter_mut().for_each(|it| it.by = vec!["assay".to_owned()]);
    expand::expand(&suite, host, choices)
        .is_ok_and(|plan| plan.omitted.is_empty() && tools::measures_nothing_of(name, &plan))
}

fn idle(name: &str, question: &Question<'_>) -> Failure {
    let text =
        format!("{name} measures nothing of what suite {} asks for", question.suite.name);
    Failure::new(question.blame, text)
        .advise("leave it out")
        .advise("`assay help tools` says what each tool measures")
}

/// The keys of a suite that may be to blame, the likeliest first.
fn keys_of(error: &PlanError) -> &'static [&'static str] {
    match error {
        PlanError::NoSuchDomain { .. } => &["placement"],
        PlanError::TooManyThreads { .. } => &["threads", "ranks", "placement"],
        PlanError::TooSmall { what: "the smallest working set", .. } => &["from"],
        PlanError::TooSmall { what: "the number of ranks", .. } => &["ranks"],
        PlanError::NoSuchMeasurer { .. } => &["by"],
        PlanError::TooLarge { .. } => &["array-size", "n", "memory", "ranks", "to"],
        PlanError::TooSmall { .. } | PlanError::SizeBeyond { .. } => {
            &["bs", "array-size", "message-size", "size", "to", "from"]
        }
        PlanError::Zero { .. } | PlanError::Beyond { .. } => {
            &["depth", "threads", "ranks", "streams", "n", "bs", "files", "width"]
        }
        PlanError::RateBeyond { .. } => &["rate"],
        PlanError::DepthBelowThreads { .. } => &["depth", "threads"],
        PlanError::NoTarget => &["path"],
        PlanError::Nothing { .. } => &[],
    }
}

type Blamed = (Failure, &'static [&'static str]);

fn storage(mut plan: Plan, question: &Question<'_>) -> Result<(), Blamed> {
    let options = &question.storage;
    let of_path = |failure| (failure, &["path"][..]);
    for case in &mut plan.cases {
        let Workload::Storage(test) = &mut case.workload else { continue };
        for target in &mut test.workload.targets {
            target.size_bytes = target
                .size_bytes
                .or_else(|| capacity::size(&target.path).ok().flatten().filter(|it| *it > 0));
        }
    }
    let (of_storage, of_files) = (storage_of(&plan), files_of(&plan));
    volume::check(&of_storage, &of_files, options).map_err(of_path)?;
    let workloads = || of_storage.phases.iter().map(|phase| &phase.workload);
    workloads().try_for_each(distinct::check).map_err(of_path)?;
    runner::check(&of_storage, options).map_err(of_path)?;
    file_trees::check(&of_files, options, FoldersAbove::REFUSED).map_err(of_path)?;
    let mut foresight = Foresight::default();
    for phase in &of_storage.phases {
        foresight.check(&phase.workload).map_err(|error| {
            let what = format!("{} cannot be measured", phase.name);
            let failure = Failure::measurement(what).because(&error).with_known_advice();
            (failure, &["bs", "buffered", "path"][..])
        })?;
    }
    Ok(())
}

/// With the line, where the suite is the user's.
fn at_line(
    failure: Failure,
    (measure, keys): (&Measure, &[&str]),
    question: &Question<'_>,
) -> Failure {
    match (&measure.origin, question.blame) {
        (Some(origin), Kind::Suite) => {
            failure.at(&origin.file, &origin.text, origin.span_of(keys))
        }
        _ => failure,
    }
}
