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
use crate::storage::{runner, volume};

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
            // Nobody who was requested measures it: others are left.
            Err(PlanError::Nothing { .. }) => {}
            Err(error) => {
                let failure = impossible(&error, question);
                return Err(at_line(failure, (measure, keys_of(&error)), question));
            }
            Ok(plan) => storage(plan, question)
                .map_err(|(failure, keys)| at_line(failure, (measure, keys), question))?,
        }
    }
    Ok(())
}

/// The keys of a suite that may be to blame, the likeliest first.
fn keys_of(error: &PlanError) -> &'static [&'static str] {
    match error {
        PlanError::NoSuchDomain { .. } => &["placement"],
        PlanError::TooManyThreads { .. } => &["threads", "placement"],
        PlanError::NoSuchMeasurer { .. } => &["by"],
        PlanError::TooLarge { .. } => &["array-size", "n", "memory", "to"],
        PlanError::TooSmall { .. } | PlanError::SizeBeyond { .. } => {
            &["bs", "array-size", "message-size", "size", "to", "from"]
        }
        PlanError::Zero { .. } | PlanError::Beyond { .. } => {
            &["depth", "threads", "streams", "n", "bs"]
        }
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
