//! Checks a whole plan before anything is shown or written, and names the stream that requests what
//! is refused.
//!
//! Languages map the stream to its line in their files; this module knows only the plan.

use std::path::Path;

use assay_fleet::capacity;
use assay_kernels::storage::PhasePrecheck;
use assay_model::workload::file_set::FilePlan;
use assay_model::workload::storage::{EngineChoice, StorageLoad, StoragePlan, StorageWorkload};

use super::options::RunOptions;
use super::{phase_failures, runner, target_path, volume};
use crate::failure::CommandFailure;

/// Refusal with its origin in the plan.
#[derive(Debug)]
pub struct PlanRefusal {
    pub failure: CommandFailure,
    pub origin: Option<StreamOrigin>,
}

/// Position of a stream in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamOrigin {
    pub phase: usize,
    pub stream: usize,
    /// Index of the target in the phase.
    pub target: usize,
    pub subject: RefusedAspect,
}

/// Aspect of a stream that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedAspect {
    /// Target of the I/O.
    Target,
    /// Sizes and offsets of the I/O.
    Sizes,
    /// Rate of the I/O.
    Rate,
    /// Engine that submits the I/O and reaps completions.
    Engine,
}

/// Phases of a plan that must be possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredPhases {
    /// All phases; for checks without a run.
    All,
    /// At least one phase: the others fail in their turn.
    Any,
}

/// Refuses a plan that cannot be carried out.
///
/// # Errors
/// The first refusal.
pub fn check(
    plan: &StoragePlan,
    options: &RunOptions,
    extent: RequiredPhases,
) -> Result<(), Box<PlanRefusal>> {
    volume::check(plan, &FilePlan::default(), options)
        .and_then(|()| runner::check(plan, options))
        .map_err(|failure| {
            let asked_by = failure.target().and_then(|path| target_user(plan, path));
            Box::new(PlanRefusal { failure, origin: asked_by })
        })?;
    let mut refused = phase_refusals(plan);
    let is_refused = match extent {
        RequiredPhases::All => !refused.is_empty(),
        RequiredPhases::Any => refused.len() == plan.phases.len(),
    };
    match refused.drain(..).next().filter(|_| is_refused) {
        Some(first) => Err(Box::new(first)),
        None => Ok(()),
    }
}

/// Refuses a plan that no host could carry out; looks at no target.
///
/// # Errors
/// The first phase with impossible parameters.
pub fn check_parameters(plan: &StoragePlan) -> Result<(), CommandFailure> {
    plan.phases.iter().try_for_each(|phase| {
        PhasePrecheck::check_parameters(&phase.workload)
            .map_err(|error| phase_failures::impossible_phase(phase, &error))
    })
}

/// Returns the stream that uses the target, preferably one that writes it.
fn target_user(plan: &StoragePlan, path: &Path) -> Option<StreamOrigin> {
    let is_it = |found: &Path| {
        found == path || target_path::resolve_path(found).is_ok_and(|it| it == path)
    };
    let phases = plan.phases.iter().enumerate();
    let mut users: Vec<(bool, StreamOrigin)> = phases
        .flat_map(|(phase, it)| {
            let targets = it.workload.targets.iter().enumerate();
            let here = targets.filter(|(_, target)| is_it(&target.path)).map(|(at, _)| at);
            here.flat_map(move |target| {
                let streams = it.workload.streams.iter().enumerate();
                let users = streams.filter(move |(_, stream)| stream.targets.contains(&target));
                users.map(move |(stream, it)| {
                    let subject = RefusedAspect::Target;
                    (it.read_share >= 1.0, StreamOrigin { phase, stream, target, subject })
                })
            })
        })
        .collect();
    users.sort_by_key(|(only_reads, _)| *only_reads);
    users.first().map(|(_, user)| *user)
}

/// Returns the refusals of all phases by the file system or direct I/O.
fn phase_refusals(plan: &StoragePlan) -> Vec<PlanRefusal> {
    let mut foresight = PhasePrecheck::default();
    let mut refused = Vec::new();
    for (phase, it) in plan.phases.iter().enumerate() {
        let workload = resolve_sizes(&it.workload, plan);
        let Err(error) = foresight.check(&workload) else { continue };
        let streams = 0..workload.streams.len();
        let stream = streams
            .into_iter()
            .find(|at| foresight.check(&with_single_stream(&workload, *at)).is_err());
        let asked_by = stream.and_then(|stream| {
            let mut slow = StorageWorkload {
                load: StorageLoad::Closed,
                ..with_single_stream(&workload, stream)
            };
            slow.streams.iter_mut().for_each(|it| it.own_rate_per_s = None);
            let waits = StorageWorkload { engine: EngineChoice::Auto, ..slow.clone() };
            let subject = match (foresight.check(&slow), foresight.check(&waits)) {
                (Ok(()), _) => RefusedAspect::Rate,
                (_, Ok(())) => RefusedAspect::Engine,
                _ => RefusedAspect::Sizes,
            };
            let target = *workload.streams[stream].targets.first()?;
            Some(StreamOrigin { phase, stream, target, subject })
        });
        let failure = phase_failures::impossible_phase(it, &error);
        refused.push(PlanRefusal { failure, origin: asked_by });
    }
    refused
}

fn with_single_stream(workload: &StorageWorkload, stream: usize) -> StorageWorkload {
    StorageWorkload { streams: vec![workload.streams[stream].clone()], ..workload.clone() }
}

/// Returns the workload with the present or future sizes of its targets.
fn resolve_sizes(workload: &StorageWorkload, plan: &StoragePlan) -> StorageWorkload {
    let mut workload = workload.clone();
    for target in &mut workload.targets {
        let others = plan.phases.iter().flat_map(|phase| &phase.workload.targets);
        let same = others.filter(|other| other.path == target.path);
        let planned = || same.filter_map(|other| other.size_bytes).max();
        let there = || capacity::size(&target.path).ok().flatten().filter(|it| *it > 0);
        target.size_bytes = target.size_bytes.or_else(planned).or_else(there);
    }
    workload
}
