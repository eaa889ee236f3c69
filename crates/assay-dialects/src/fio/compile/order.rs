//! Grouping of jobs into phases: jobs between two stonewalls run together, unless they wait for one
//! another.
//!
//! A phase begins when the previous one ends. A job can therefore be awaited only if all other
//! concurrent jobs wait for it.

use std::ops::Range;

use super::super::job_error::FioJobError;
use super::{LocatedOptions, conflict};

/// Splits the jobs into phases.
pub(super) fn split_phases(jobs: &[LocatedOptions]) -> Result<Vec<Range<usize>>, FioJobError> {
    let mut phases: Vec<Range<usize>> = vec![];
    let (mut wall, mut steps) = (0, vec![0; jobs.len()]);
    for (at, (job, _)) in jobs.iter().enumerate() {
        if job.stonewall {
            wall = at;
        }
        let awaited = find_awaited(jobs, at)?;
        // Jobs before the stonewall have already ended.
        steps[at] = awaited.filter(|other| *other >= wall).map_or(0, |other| steps[other] + 1);
        let begins = at == wall || steps[at] > steps[at - 1];
        let is_crowded = at > wall && begins && phases.last().is_some_and(|it| it.len() > 1);
        let is_early = at > wall && steps[at] < steps[at - 1];
        if is_crowded || is_early {
            let why = "other jobs would run at the same time as it and as the job it waits for";
            let hint =
                "make all other concurrent jobs wait as well, or separate them with stonewall";
            return Err(conflict(&jobs[at], why, hint));
        }
        match phases.last_mut() {
            Some(phase) if !begins => phase.end = at + 1,
            _ => phases.push(at..at + 1),
        }
    }
    Ok(phases)
}

/// Returns the job that this one waits for.
fn find_awaited(jobs: &[LocatedOptions], at: usize) -> Result<Option<usize>, FioJobError> {
    let Some(name) = &jobs[at].0.behaviour.waits_for else { return Ok(None) };
    let mut called =
        jobs[..at].iter().enumerate().filter(|(_, (job, _))| job.name == *name).map(|it| it.0);
    let hint = "name one job that is defined before this one";
    match (called.next(), called.next()) {
        (Some(other), None) => Ok(Some(other)),
        (None, _) => {
            let why = format!("it waits for `{name}`, but no earlier job has that name");
            Err(conflict(&jobs[at], why, hint))
        }
        (Some(_), Some(_)) => {
            let why = format!("it waits for `{name}`, but two jobs have that name");
            Err(conflict(&jobs[at], why, hint))
        }
    }
}
