//! `assay compare`: compares the stored runs of two conditions.

use assay_claims::reference::Claim;
use assay_model::comparison::{Comparison, ComparisonConclusion};
use assay_model::run::Run;
use assay_report::{build, render};
use assay_stats::compare::{self as statistics, Condition};
use assay_stats::rank_statistic::MAX_VALUES;
use assay_stats::summarize::summarize;

use crate::arguments::{CompareArguments, Format};
use crate::expected;
use crate::failure::{REGRESSION, UNDECIDED};
use crate::page::Page;
use crate::stored::{self, InOrder};
use crate::terminal::Terminal;
use assay_run::failure::Failure;

pub(super) mod gates;

pub(crate) fn compare(
    typed: &CompareArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let gates = gates::read(&typed.gates)?;
    let host = typed.host.as_deref();
    if let Some(claims) = expected::named(&typed.b) {
        return against(typed, &claims?, terminal);
    }
    let (a, b) = (
        stored::runs(&typed.store, (&typed.a, host), terminal)?,
        stored::runs(&typed.store, (&typed.b, host), terminal)?,
    );
    apart(&a.runs, &b.runs)?;
    let (mut first, mut second) = (condition(&typed.a, &a)?, condition(&typed.b, &b)?);
    if first.name == second.name {
        (first.name, second.name) = (&typed.a, &typed.b);
    }
    let comparison = statistics::compare(first, second, typed.margin);
    page(&comparison, |page| page.publish(&typed.page, terminal))?;
    let code = code_of(&comparison)?;
    let is_quiet = typed.page.format() != Format::Text;
    match gates {
        Some(gates) => gates::decide(&typed.gates, &gates, &comparison, is_quiet, terminal),
        None => Ok(code),
    }
}

/// Compares a run with published figures.
fn against(
    typed: &CompareArguments,
    claims: &[Claim],
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    if typed.gates.gate.is_some() {
        return Err(Failure::usage("--gate is about two conditions, and a reference is none")
            .advise("write the figures to keep into a file of references, and name it as B"));
    }
    let run = stored::run(&typed.store, &typed.a, terminal)?;
    let summary = summarize(&run);
    let publish = |page: Page<'_>| page.publish(&typed.page, terminal);
    let (published, code) = expected::page(&summary, (claims, &typed.b), publish)?;
    published.map(|()| code)
}

/// Returns the condition, named by the label that all its runs share, or else as typed.
fn condition<'a>(typed: &'a str, all: &'a InOrder) -> Result<Condition<'a>, Failure> {
    let InOrder { runs, places } = all;
    let Some(first) = runs.first() else {
        return Err(Failure::usage(format!("`{typed}` names no run")));
    };
    if runs.len() > MAX_VALUES {
        let what = format!(
            "`{typed}` names {} runs, and at most {MAX_VALUES} are compared",
            runs.len()
        );
        return Err(Failure::usage(what).advise("name the runs, with commas between them"));
    }
    let label = first.started.label.as_deref();
    let shared = label.filter(|_| runs.iter().all(|run| run.started.label.as_deref() == label));
    Ok(Condition { name: shared.unwrap_or(typed), runs, positions: places })
}

/// Rejects a run on both sides: compared with itself, it would show no difference.
fn apart(a: &[Run], b: &[Run]) -> Result<(), Failure> {
    let in_both = a.iter().find(|run| b.iter().any(|it| it.started.run == run.started.run));
    in_both.map_or(Ok(()), |run| {
        let what = format!("run {} is on both sides", run.started.run);
        Err(Failure::usage(what).advise(
            "compare different runs; `assay run --switch true true` shows how two that ought to \
             be equal differ",
        ))
    })
}

/// Passes the comparison as a page to `publish`.
pub(super) fn page<T>(comparison: &Comparison, publish: impl FnOnce(Page<'_>) -> T) -> T {
    publish(Page {
        document: build::comparison(comparison),
        json: &|| render::json::comparison(comparison),
        csv: &|| render::csv::comparison(comparison),
        again: Some(&|| build::comparison(comparison)),
    })
}

/// Returns the exit code of a comparison.
pub(super) fn code_of(comparison: &Comparison) -> Result<u8, Failure> {
    if comparison.pairs.is_empty() {
        return Err(Failure::usage("the two have nothing in common to compare")
            .advise(
                "compare runs of the same suite; `assay list` shows them. loopback is not compared with a \
                 network, nor a fixed rate with another one or with as much as possible",
            ));
    }
    Ok(match comparison.conclusion() {
        ComparisonConclusion::Regression => REGRESSION,
        ComparisonConclusion::Undecided => UNDECIDED,
        ComparisonConclusion::Fine => 0,
    })
}
