//! Checks of the programs of a suite: they exist, their patterns compile, their names differ.

use assay_adapters::import::{self, FigureRule, LinePattern};
use assay_fleet::process::ProcessError;
use assay_model::suite::{CommandRequest, Measure, MeasureRequest, Suite};
use assay_model::workload::command::ProgramCall;

use super::{KeyedFailure, RunRequest, with_location};
use crate::failure::CommandFailure;
use crate::program::{self, ProgramStartError};

/// Returns the program of a measure, if it has one.
fn program_of(measure: &Measure) -> Option<&CommandRequest> {
    match &measure.request {
        MeasureRequest::Command(asked) => Some(asked),
        MeasureRequest::Machine(_)
        | MeasureRequest::Stream { .. }
        | MeasureRequest::Latency { .. }
        | MeasureRequest::CacheBandwidth { .. }
        | MeasureRequest::LoadedLatency { .. }
        | MeasureRequest::PeakFlops { .. }
        | MeasureRequest::Linpack { .. }
        | MeasureRequest::Network(_)
        | MeasureRequest::Storage(_)
        | MeasureRequest::Files(_)
        | MeasureRequest::Io500(_)
        | MeasureRequest::Mpi(_)
        | MeasureRequest::Rdma(_) => None,
    }
}

/// Whether a measure may be omitted, and its program is not on this machine.
pub(super) fn is_missing_optional(measure: &Measure) -> bool {
    let asked = program_of(measure).filter(|_| measure.optional);
    asked.is_some_and(|asked| program::resolve(&asked.workload.run).is_err())
}

/// Checks every program of the suite.
///
/// # Errors
/// Returns the first failure.
pub(super) fn check_programs(
    suite: &Suite,
    request: &RunRequest<'_>,
) -> Result<(), CommandFailure> {
    let mut checked: Vec<&CommandRequest> = Vec::new();
    for measure in &suite.measures {
        let Some(asked) = program_of(measure) else { continue };
        let result = check_program(asked, request).and_then(|()| {
            let namesake =
                |it: &&CommandRequest| it.workload.name == asked.workload.name && *it != asked;
            match checked.iter().copied().find(namesake) {
                Some(_) => Err((
                    same_name_failure(&asked.workload.name, request),
                    &["name", "run"][..],
                )),
                None => Ok(()),
            }
        });
        result.map_err(|(failure, keys)| with_location(failure, (measure, keys), request))?;
        checked.push(asked);
    }
    Ok(())
}

fn same_name_failure(name: &str, request: &RunRequest<'_>) -> CommandFailure {
    CommandFailure::new(request.failure_kind, format!("two programs have the name `{name}`"))
        .advise("give each its own: `name` in a suite, -n on the command line")
}

fn check_program(asked: &CommandRequest, request: &RunRequest<'_>) -> Result<(), KeyedFailure> {
    let work = &asked.workload;
    check_call(&work.run).map_err(|failure| (failure, &["run"][..]))?;
    if let Some(prepare) = &work.prepare {
        check_call(prepare).map_err(|failure| (failure, &["prepare"][..]))?;
    }
    let invalid = |what: String, problem: String| {
        CommandFailure::new(request.failure_kind, what).with_reason(problem)
    };
    for figure in &work.figures {
        if program::is_own_result(&figure.name) {
            let what =
                format!("`{}` is a result that assay measures of every program", figure.name);
            let failure = CommandFailure::new(request.failure_kind, what);
            return Err((failure.advise("give the figure another name"), &["metrics"]));
        }
        FigureRule::from_request(figure).map_err(|problem| {
            let what = format!("cannot find the metric {:?}", figure.name);
            (invalid(what, problem), &["metrics"][..])
        })?;
    }
    if let Some(name) = work.read_as.as_ref().filter(|it| import::find_format(it).is_none()) {
        let failure =
            CommandFailure::new(request.failure_kind, format!("`{name}` is no known format"));
        let advice = "use a name that `assay help formats` lists, like hpl";
        return Err((failure.advise(advice), &["read-as"]));
    }
    if let Some(find) = &work.correct.find {
        LinePattern::parse(find).map_err(|problem| {
            (invalid("cannot check the output".to_owned(), problem), &["correct"][..])
        })?;
    }
    Ok(())
}

fn check_call(call: &ProgramCall) -> Result<(), CommandFailure> {
    let failed = |error: ProcessError| {
        let advice = ProgramStartError::from(error);
        CommandFailure::measurement(advice.to_string()).advise(advice.advice())
    };
    program::resolve(call).map(drop).map_err(failed)
}
