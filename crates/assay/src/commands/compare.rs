//! `assay compare`: compares the stored runs of two conditions.

use assay_claims::reference::{self, Claim};
use assay_model::comparison::{Comparison, ComparisonConclusion};
use assay_model::run::Run;
use assay_report::{build, render};
use assay_stats::compare::{self as statistics, Condition};
use assay_stats::rank_statistic::MAX_VALUES;
use assay_stats::summarize::summarize;

use crate::arguments::{CompareArguments, PageFormat};
use crate::failure::{REGRESSION, UNDECIDED};
use crate::page::OutputPage;
use crate::store_access::{self, OrderedRuns};
use crate::terminal::Terminal;
use crate::{gates, published_figures, run_names};
use assay_run::failure::CommandFailure;

pub(crate) fn compare(
    typed: &CompareArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let gates = gates::read_gates(&typed.gates)?;
    let host = typed.host.as_deref();
    let is_model = || {
        reference::full_system_name(&typed.b).is_some()
            && !run_names::is_run(&typed.store, &typed.b)
    };
    let claims = published_figures::find_named_claims(&typed.b)
        .or_else(|| is_model().then(|| published_figures::system_claims(&typed.b)));
    if let Some(claims) = claims {
        return compare_with_reference(typed, &claims?, terminal);
    }
    let mut read_runs = |name: &str| {
        let runs = store_access::read_condition(&typed.store, (name, host), terminal);
        runs.map_err(|failure| {
            run_names::advise_about_file(run_names::advise_about_system(failure, name), name)
        })
    };
    let (a, b) = (read_runs(&typed.a)?, read_runs(&typed.b)?);
    check_distinct(&a.runs, &b.runs)?;
    let (mut first, mut second) =
        (make_condition(&typed.a, &a)?, make_condition(&typed.b, &b)?);
    if first.name == second.name {
        (first.name, second.name) = (&typed.a, &typed.b);
    }
    let comparison = statistics::compare(first, second, typed.margin);
    comparison_page(&comparison, |page| page.publish(&typed.page, terminal))?;
    let code = comparison_exit_code(&comparison)?;
    let is_quiet = typed.page.format() != PageFormat::Text;
    match gates {
        Some(gates) => gates::decide(&typed.gates, &gates, &comparison, is_quiet, terminal),
        None => Ok(code),
    }
}

/// Compares a run with published figures.
fn compare_with_reference(
    typed: &CompareArguments,
    claims: &[Claim],
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.gates.gate.is_some() {
        return Err(CommandFailure::usage("--gate needs two conditions, but B is a reference")
            .advise("write the required figures into a file of references, and name it as B"));
    }
    let run = store_access::read_and_warn(&typed.store, &typed.a, terminal)?;
    let summary = summarize(&run);
    let publish = |page: OutputPage<'_>| page.publish(&typed.page, terminal);
    let (published, code) =
        published_figures::comparison_page(&summary, (claims, &typed.b), publish)?;
    published.map(|()| code)
}

/// Returns the condition, named by the label that all its runs share, or else as typed.
fn make_condition<'a>(
    typed: &'a str,
    all: &'a OrderedRuns,
) -> Result<Condition<'a>, CommandFailure> {
    let OrderedRuns { runs, positions: places } = all;
    let Some(first) = runs.first() else {
        return Err(CommandFailure::usage(format!("`{typed}` matches no run")));
    };
    if runs.len() > MAX_VALUES {
        let what = format!(
            "`{typed}` matches {} runs, and at most {MAX_VALUES} are compared",
            runs.len()
        );
        return Err(CommandFailure::usage(what).advise("name the runs, separated by commas"));
    }
    let label = first.started.label.as_deref();
    let shared = label.filter(|_| runs.iter().all(|run| run.started.label.as_deref() == label));
    Ok(Condition { name: shared.unwrap_or(typed), runs, positions: places })
}

/// Rejects a run on both sides: compared with itself, it would show no difference.
fn check_distinct(a: &[Run], b: &[Run]) -> Result<(), CommandFailure> {
    let in_both = a.iter().find(|run| b.iter().any(|it| it.started.run == run.started.run));
    in_both.map_or(Ok(()), |run| {
        let what = format!("run {} is on both sides", run.started.run);
        Err(CommandFailure::usage(what).advise(
            "compare different runs; `assay run --switch true true` shows how much two equal \
             conditions differ",
        ))
    })
}

/// Passes the comparison as a page to `publish`.
pub(super) fn comparison_page<T>(
    comparison: &Comparison,
    publish: impl FnOnce(OutputPage<'_>) -> T,
) -> T {
    publish(OutputPage {
        document: build::comparison(comparison),
        json: &|| render::json::comparison(comparison),
        csv: &|| render::csv::comparison(comparison),
        html_document: Some(&|| build::comparison(comparison)),
    })
}

/// Returns the exit code of a comparison.
pub(super) fn comparison_exit_code(comparison: &Comparison) -> Result<u8, CommandFailure> {
    if comparison.pairs.is_empty() {
        return Err(CommandFailure::usage("the conditions have no common results")
            .advise(
                "compare runs of the same suite, listed by `assay list`; loopback is not compared with a \
                 network, nor a fixed rate with another or an unlimited one",
            ));
    }
    Ok(match comparison.conclusion() {
        ComparisonConclusion::Regression => REGRESSION,
        ComparisonConclusion::Undecided => UNDECIDED,
        ComparisonConclusion::Fine => 0,
    })
}
