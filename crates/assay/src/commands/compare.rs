//! `assay compare`: compares the stored runs of two conditions or more, or the levels of one run.

use assay_claims::reference::{self, Claim};
use assay_model::comparison::{Comparison, ComparisonConclusion};
use assay_model::factor::FactorLevel;
use assay_model::level_comparison::LevelComparison;
use assay_model::run::Run;
use assay_report::{build, render};
use assay_stats::compare::{self as statistics, Condition, LevelRuns};
use assay_stats::rank_statistic::MAX_VALUES;
use assay_stats::summarize::summarize;

use crate::arguments::{CompareArguments, PageFormat};
use crate::failure::{REGRESSION, UNDECIDED};
use crate::page::OutputPage;
use crate::store_access::{self, OrderedRuns};
use crate::stored_levels::levels_page;
use crate::terminal::Terminal;
use crate::{gates, published_figures, run_names, stored_levels};
use assay_run::failure::CommandFailure;

pub(crate) fn compare(
    typed: &CompareArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let [name] = typed.others.as_slice() else { return compare_many(typed, terminal) };
    let gates = gates::read_gates(&typed.gates)?;
    let is_model = || {
        reference::full_system_name(name).is_some() && !run_names::is_run(&typed.store, name)
    };
    let claims = published_figures::find_named_claims(name)
        .or_else(|| is_model().then(|| published_figures::system_claims(name)));
    if let Some(claims) = claims {
        return compare_with_reference(typed, (&claims?, name), terminal);
    }
    let (a, b) = (read_runs(typed, &typed.a, terminal)?, read_runs(typed, name, terminal)?);
    check_distinct(&a.runs, &b.runs)?;
    let (mut first, mut second) = (make_condition(&typed.a, &a)?, make_condition(name, &b)?);
    if first.name == second.name {
        (first.name, second.name) = (&typed.a, name);
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

fn read_runs(
    typed: &CompareArguments,
    name: &str,
    terminal: &mut Terminal,
) -> Result<OrderedRuns, CommandFailure> {
    let host = typed.host.as_deref();
    let runs = store_access::read_condition(&typed.store, (name, host), terminal);
    runs.map_err(|failure| run_names::advise_about_system(failure, name))
}

/// Compares the levels that a single run belongs to, or three conditions and more with each other.
fn compare_many(
    typed: &CompareArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.gates.gate.is_some() {
        let what = format!("--gate needs two conditions, not {}", 1 + typed.others.len());
        return Err(CommandFailure::usage(what).advise("name A and B"));
    }
    let comparison = match typed.others.as_slice() {
        [] => {
            let run = store_access::read_and_warn(&typed.store, &typed.a, terminal)?;
            let compared = stored_levels::compare_stored(&typed.store, &run, &|_| Ok(()))?;
            compared.ok_or_else(|| no_levels(&typed.a))?
        }
        others => {
            let names: Vec<&String> = std::iter::once(&typed.a).chain(others).collect();
            compare_conditions(typed, &names, terminal)?
        }
    };
    levels_page(&comparison, |page| page.publish(&typed.page, terminal))?;
    if comparison.metrics.is_empty() { Err(nothing_in_common()) } else { Ok(0) }
}

/// Compares conditions as levels: those of their factors, or else their names.
fn compare_conditions(
    typed: &CompareArguments,
    names: &[&String],
    terminal: &mut Terminal,
) -> Result<LevelComparison, CommandFailure> {
    let mut read = Vec::new();
    for name in names {
        read.push(read_runs(typed, name, terminal)?);
    }
    for (at, one) in read.iter().enumerate() {
        read[..at].iter().try_for_each(|other| check_distinct(&other.runs, &one.runs))?;
    }
    let named = names.iter().zip(&read).map(|(name, runs)| make_condition(name, runs));
    let mut conditions: Vec<Condition<'_>> = named.collect::<Result<_, _>>()?;
    let shared: Vec<&str> = conditions.iter().map(|it| it.name).collect();
    for (at, condition) in conditions.iter_mut().enumerate() {
        if shared.iter().filter(|it| **it == condition.name).count() > 1 {
            condition.name = names[at];
        }
    }
    let runs: Vec<Vec<Run>> = conditions.iter().map(|it| without_control(it.runs)).collect();
    let runs: Vec<&[Run]> = runs.iter().map(Vec::as_slice).collect();
    Ok(match stored_levels::common_levels(&runs) {
        Some(levels) => {
            let condition = |(levels, runs): (Vec<FactorLevel>, &&[Run])| LevelRuns {
                levels,
                runs: runs.to_vec(),
                are_stored: true,
            };
            let conditions = levels.into_iter().zip(&runs).map(condition);
            statistics::compare_levels(&conditions.collect::<Vec<_>>())
        }
        None => {
            let labels = conditions.iter().map(|it| it.name).zip(runs.iter().copied());
            statistics::compare_labels(&labels.collect::<Vec<_>>())
        }
    })
}

/// Returns the runs that are no control, or all of them if they are control runs only.
fn without_control(runs: &[Run]) -> Vec<Run> {
    let is_control = |run: &&Run| run.started.turn.as_ref().is_some_and(|it| it.is_control);
    let measured: Vec<Run> = runs.iter().filter(|run| !is_control(run)).cloned().collect();
    if measured.is_empty() { runs.to_vec() } else { measured }
}

fn no_levels(name: &str) -> CommandFailure {
    CommandFailure::usage(format!("`{name}` is a run without levels of factors to compare"))
        .advise("name a second condition, like `assay compare A B`, or a run that has levels")
}

/// Compares a run with published figures.
fn compare_with_reference(
    typed: &CompareArguments,
    (claims, name): (&[Claim], &str),
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
        published_figures::comparison_page(&summary, (claims, name), publish)?;
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

fn nothing_in_common() -> CommandFailure {
    CommandFailure::usage("the conditions have no common results").advise(
        "compare runs of the same suite, listed by `assay list`; loopback is not compared with a \
         network, nor a fixed rate with another or an unlimited one",
    )
}

/// Returns the exit code of a comparison.
pub(super) fn comparison_exit_code(comparison: &Comparison) -> Result<u8, CommandFailure> {
    if comparison.pairs.is_empty() {
        return Err(nothing_in_common());
    }
    Ok(match comparison.conclusion() {
        ComparisonConclusion::Regression => REGRESSION,
        ComparisonConclusion::Undecided => UNDECIDED,
        ComparisonConclusion::Fine => 0,
    })
}
