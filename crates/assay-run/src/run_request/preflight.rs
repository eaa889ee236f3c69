//! Checks before the measurement whether this machine can measure everything that a suite requests,
//! and reports the line of an impossible request. Writes nothing.

use std::sync::atomic::AtomicBool;

use assay_fleet::capacity;
use assay_kernels::compute::blas::Blas;
use assay_kernels::storage::PhasePrecheck;
use assay_model::facts::HostFacts;
use assay_model::plan::expand::{self, PlanChoices, PlanError};
use assay_model::plan::{MissingRequirement, OmittedMeasure, Plan};
use assay_model::suite::{Measure, MeasureRequest, Suite};

use super::{RunRequest, file_plan, plan_failure, storage_plan};
use crate::failure::{CommandFailure, FailureKind};
use crate::storage::file_trees::{self, MissingParents};
use crate::storage::{io500, runner, target_overlap, volume};
use crate::tools;

mod programs;

/// Returns the suite without optional measures whose library is missing.
///
/// # Errors
/// Fails if a required library is missing.
pub(super) fn omit_missing_libraries(
    request: &RunRequest<'_>,
) -> Result<(Suite, Vec<OmittedMeasure>), CommandFailure> {
    let mut suite = request.suite.clone();
    let mut omitted = Vec::new();
    let mut failed = None;
    suite.measures.retain(|measure| {
        if programs::is_missing_optional(measure) {
            let benchmark = measure.request.benchmark().id().to_owned();
            let (reason, hosts) = (MissingRequirement::Tool, Vec::new());
            omitted.push(OmittedMeasure { benchmark, reason, hosts });
            return false;
        }
        let MeasureRequest::Linpack { blas: Some(name), .. } = &measure.request else {
            return true;
        };
        let by = if measure.by.is_empty() { &request.by } else { &measure.by };
        if !by.iter().any(|it| it == "assay" || it == "all") {
            return true;
        }
        match Blas::open(name) {
            Ok(_) => true,
            Err(_) if measure.optional => {
                let benchmark = measure.request.benchmark().id().to_owned();
                let (reason, hosts) = (MissingRequirement::Library, Vec::new());
                omitted.push(OmittedMeasure { benchmark, reason, hosts });
                false
            }
            Err(error) => {
                let failure =
                    CommandFailure::measurement(format!("cannot find the BLAS `{name}`"))
                        .with_cause(&error)
                        .advise(
                            "install it, give its file, or omit it to use assay's own kernels",
                        );
                failed = failed.take().or(Some(with_location(
                    failure,
                    (measure, &["blas"]),
                    request,
                )));
                true
            }
        }
    });
    failed.map_or(Ok((suite, omitted)), Err)
}

/// Checks every measure of the suite by itself: resolves it, and checks the file systems it would
/// use.
///
/// # Errors
/// Returns the first failure.
pub(super) fn check_suite(
    suite: &Suite,
    host: &HostFacts,
    choices: &PlanChoices<'_>,
    request: &RunRequest<'_>,
) -> Result<(), CommandFailure> {
    programs::check_programs(suite, request)?;
    let mut alone = Suite { measures: Vec::new(), ..suite.clone() };
    for measure in &suite.measures {
        alone.measures = vec![measure.clone()];
        match expand::expand(&alone, host, choices) {
            // The refusal is the same whether the tool is installed or not.
            Err(
                PlanError::NoSuchMeasurer { name, .. }
                | PlanError::NothingToMeasure { by: name, .. },
            ) if is_idle_tool(
                &name,
                if measure.by.is_empty() { suite } else { &alone },
                host,
                choices,
            ) =>
            {
                return Err(with_location(
                    idle_tool_failure(&name, request),
                    (measure, &["by"]),
                    request,
                ));
            }
            // No requested tool measures it, but other measures may remain.
            Err(PlanError::NothingToMeasure { .. }) => {}
            // The plan omits what needs the memory, and fails if nothing remains.
            Err(PlanError::UnknownMemory) => {}
            Err(error) => {
                let failure = plan_failure(&error, request);
                return Err(with_location(failure, (measure, likely_keys(&error)), request));
            }
            Ok(plan) => {
                reject_idle_tools(&plan, &measure.by, choices, request)
                    .map_err(|failure| with_location(failure, (measure, &["by"]), request))?;
                check_storage(plan, request).map_err(|(failure, keys)| {
                    with_location(failure, (measure, keys), request)
                })?;
            }
        }
    }
    Ok(())
}

/// Rejects tools that were requested by name and have nothing to measure: probably a mistake.
///
/// # Errors
/// Returns a failure for the first such tool.
pub(super) fn reject_idle_tools(
    plan: &Plan,
    by: &[String],
    choices: &PlanChoices<'_>,
    request: &RunRequest<'_>,
) -> Result<(), CommandFailure> {
    // An omitted case may be the one it measures, and cases of a pair may be those of the other
    // host.
    if choices.pairs.is_some() || !plan.omitted.is_empty() {
        return Ok(());
    }
    let is_idle = |name: &&String| {
        plan.cases.iter().all(|case| case.by != **name) && tools::measures_none_of(name, plan)
    };
    by.iter().find(is_idle).map_or(Ok(()), |name| Err(idle_tool_failure(name, request)))
}

/// Whether a tool that is not installed would have nothing to measure, so that installing it would
/// be useless.
fn is_idle_tool(
    name: &str,
    suite: &Suite,
    host: &HostFacts,
    choices: &PlanChoices<'_>,
) -> bool {
    let mut suite = suite.clone();
    suite.measures.iter_mut().for_each(|it| it.by = vec!["assay".to_owned()]);
    expand::expand(&suite, host, choices)
        .is_ok_and(|plan| plan.omitted.is_empty() && tools::measures_none_of(name, &plan))
}

fn idle_tool_failure(name: &str, request: &RunRequest<'_>) -> CommandFailure {
    let suite = &request.suite.name;
    let text = format!("{name} cannot measure anything in suite {suite}");
    CommandFailure::new(request.failure_kind, text)
        .with_reason(format!("no benchmark of {suite} is one that {name} can measure"))
        .advise(format!(
            "leave out {name}, or name a suite with a benchmark of it; `assay help tools` lists those of \
             each tool"
        ))
}

/// Keys of a suite that may cause the error, the most likely one first.
fn likely_keys(error: &PlanError) -> &'static [&'static str] {
    match error {
        PlanError::NoSuchDomain { .. } => &["placement"],
        PlanError::TooManyThreads { .. } => &["threads", "ranks", "placement"],
        PlanError::TooSmall { what: "the smallest working set", .. } => &["from"],
        PlanError::TooSmall { what: "the number of ranks", .. } => &["ranks"],
        PlanError::NoSuchMeasurer { .. } => &["by"],
        PlanError::NotEnoughMemory { .. } => &["array-size", "n", "memory", "ranks", "to"],
        PlanError::TooSmall { .. }
        | PlanError::ZeroSize { .. }
        | PlanError::SizeTooLarge { .. } => {
            &["bs", "array-size", "message-size", "size", "to", "from"]
        }
        PlanError::Zero { .. } | PlanError::NumberTooLarge { .. } => {
            &["depth", "threads", "ranks", "streams", "n", "bs", "files", "width"]
        }
        PlanError::RateTooLarge { .. } => &["rate"],
        PlanError::DepthBelowThreads { .. } => &["depth", "threads"],
        PlanError::NoTarget => &["path"],
        PlanError::NothingToMeasure { .. } | PlanError::UnknownMemory => &[],
    }
}

type KeyedFailure = (CommandFailure, &'static [&'static str]);

fn check_storage(mut plan: Plan, request: &RunRequest<'_>) -> Result<(), KeyedFailure> {
    let options = &request.storage;
    let of_path = |failure| (failure, &["path"][..]);
    for case in &mut plan.cases {
        let Some(test) = case.workload.as_storage_mut() else { continue };
        for target in &mut test.workload.targets {
            target.size_bytes = target
                .size_bytes
                .or_else(|| capacity::size(&target.path).ok().flatten().filter(|it| *it > 0));
        }
    }
    for work in plan.cases.iter().filter_map(|case| case.workload.as_io500()) {
        io500::check(work, options).map_err(of_path)?;
    }
    let (of_storage, of_files) = (storage_plan(&plan), file_plan(&plan));
    if of_storage.phases.is_empty() && of_files.phases.is_empty() {
        return Ok(());
    }
    volume::check(&of_storage, &of_files, options).map_err(of_path)?;
    let workloads = || of_storage.phases.iter().map(|phase| &phase.workload);
    workloads().try_for_each(target_overlap::check).map_err(of_path)?;
    runner::check(&of_storage, options).map_err(of_path)?;
    // Nothing handles signals yet: they end the process.
    let stop = AtomicBool::new(false);
    file_trees::check(&of_files, options, MissingParents::REFUSE, &stop).map_err(of_path)?;
    let mut foresight = PhasePrecheck::default();
    for phase in &of_storage.phases {
        foresight.check(&phase.workload).map_err(|error| {
            let what = format!("{} cannot be measured", phase.name);
            let failure =
                CommandFailure::measurement(what).with_cause(&error).with_known_advice();
            (failure, &["bs", "buffered", "path"][..])
        })?;
    }
    Ok(())
}

/// Adds the line of the request, if the suite is a file of the user's.
fn with_location(
    failure: CommandFailure,
    (measure, keys): (&Measure, &[&str]),
    request: &RunRequest<'_>,
) -> CommandFailure {
    match (&measure.origin, request.failure_kind) {
        (Some(origin), FailureKind::Suite) => {
            failure.at_span(&origin.file, &origin.text, origin.key_span(keys))
        }
        _ => failure,
    }
}
