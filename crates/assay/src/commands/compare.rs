//! `assay compare`: compares the stored runs of two conditions or more, or the levels of one run.

use assay_archive::stored_levels;
use assay_claims::expectation::JudgedResults;
use assay_claims::{gate, reference};
use assay_judgement::expectations::{self, NamedExpectations};
use assay_judgement::published_figures::ClaimsComparison;
use assay_model::comparison::{Comparison, ComparisonConclusion, SuspectRun};
use assay_model::doubt::Doubt;
use assay_model::factor::FactorLevel;
use assay_model::level_comparison::LevelComparison;
use assay_model::run::Run;
use assay_model::summary::MetricEstimate;
use assay_model::trust::DistrustReason;
use assay_report::{build, words};
use assay_stats::compare::{self as statistics, Condition, LevelRuns};
use assay_stats::rank_statistic::MAX_VALUES;
use assay_stats::summarize::summarize;

use super::result_list;
use crate::arguments::CompareArguments;
use crate::arguments::claims::OutcomeReportArguments;
use crate::expectations::{outcome_status, report_claims, report_outcomes, report_run};
use crate::failure::ExitStatus;
use crate::page::OutputPage;
use crate::run_names;
use crate::store_access::{self, OrderedRuns};
use crate::terminal::Terminal;
use assay_run::failure::CommandFailure;

pub(crate) fn compare(
    typed: &CompareArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if !typed.table.is_empty() {
        return print_table(typed, terminal);
    }
    let (a_name, [b_name]) = (typed.first(), typed.others.as_slice()) else {
        return compare_many(typed, terminal);
    };
    let is_system = |name: &str| {
        reference::full_system_name(name).is_some() && !run_names::is_run(&typed.store, name)
    };
    if is_system(a_name) {
        return Err(run_names::reject_first_system(&typed.store, a_name, b_name));
    }
    let reference = match is_system(b_name) {
        true => Some(expectations::read_system(b_name)),
        false => expectations::find_expectations(b_name, JudgedResults::SingleRuns),
    };
    if let Some(reference) = reference {
        reject_idle_options(typed, ComparisonForm::Reference)?;
        let mut expected = reference?;
        expected.append(typed.expect.read(JudgedResults::SingleRuns)?);
        check_reports(&typed.reports, &expected)?;
        return compare_with_reference(typed, &expected, terminal);
    }
    let expected = typed.expect.read(JudgedResults::TwoConditions)?;
    check_reports(&typed.reports, &expected)?;
    let (a, b) = (read_runs(typed, a_name, terminal)?, read_runs(typed, b_name, terminal)?);
    check_distinct(&a.runs, &b.runs)?;
    let (mut first, mut second) = (make_condition(a_name, &a)?, make_condition(b_name, &b)?);
    if first.name == second.name {
        (first.name, second.name) = (a_name, b_name);
    }
    let margin = typed.margin.unwrap_or(statistics::DEFAULT_MARGIN);
    let mut comparison = statistics::compare(first, second, margin);
    comparison.suspect = suspect_runs(first.runs.iter().chain(second.runs));
    OutputPage::from_comparison(&comparison).publish(&typed.page, terminal)?;
    let status = comparison_status(&comparison)?;
    judge_second(typed, &expected, (&comparison, status), terminal).map(ExitStatus::code)
}

fn read_runs(
    typed: &CompareArguments,
    name: &str,
    terminal: &mut Terminal,
) -> Result<OrderedRuns, CommandFailure> {
    let host = typed.host.as_deref();
    let runs = store_access::read_condition(&typed.store, (name, host), terminal);
    runs.map_err(|failure| {
        run_names::advise_about_file(run_names::advise_about_name(failure, name), name)
    })
}

/// Compares the levels that a single run belongs to, or three conditions and more with each other.
fn compare_many(
    typed: &CompareArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.expect.is_given() {
        let what = format!("--expect needs two conditions, not {}", 1 + typed.others.len());
        let advice = match typed.others.is_empty() {
            true => "name A and B; `assay compare RUN FILE|SYSTEM` judges a single run",
            false => "name A and B",
        };
        return Err(CommandFailure::usage(what).advise(advice));
    }
    check_reports(&typed.reports, &NamedExpectations::default())?;
    let form = match typed.others.is_empty() {
        true => ComparisonForm::LevelsOfRun,
        false => ComparisonForm::Levels,
    };
    reject_idle_options(typed, form)?;
    let comparison = match typed.others.as_slice() {
        [] => {
            let run = store_access::read_and_warn(&typed.store, typed.first(), terminal)
                .map_err(|failure| run_names::advise_about_name(failure, typed.first()))?;
            let location = store_access::location(&typed.store);
            let compared = stored_levels::compare_stored(&location, &run, &|_| Ok(()))?;
            compared.ok_or_else(|| no_levels(typed.first()))?
        }
        others => {
            let names: Vec<&str> = std::iter::once(typed.first())
                .chain(others.iter().map(String::as_str))
                .collect();
            compare_conditions(typed, &names, terminal)?
        }
    };
    OutputPage::from_levels(&comparison).publish(&typed.page, terminal)?;
    if comparison.metrics.is_empty() { Err(nothing_in_common()) } else { Ok(0) }
}

/// Compares conditions as levels: those of their factors, or else their names.
fn compare_conditions(
    typed: &CompareArguments,
    names: &[&str],
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
    let without_control = |it: &Condition<'_>| {
        statistics::split_control(it.runs).1.into_iter().cloned().collect()
    };
    let runs: Vec<Vec<Run>> = conditions.iter().map(without_control).collect();
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

fn no_levels(name: &str) -> CommandFailure {
    CommandFailure::usage(format!("`{name}` is a run without levels of factors to compare"))
        .advise("name a second condition, like `assay compare A B`, or a run that has levels")
}

/// Prints the results of several runs and labels in one table.
fn print_table(
    typed: &CompareArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let expected = typed.expect.read(JudgedResults::SingleRuns)?;
    let mut results = result_list::begin(None, &typed.page);
    let (is_text, mut status) = (typed.page.is_on_screen(), ExitStatus::Success);
    for read in run_names::read_all(&typed.store, &typed.table, terminal)? {
        let summary = expected.summarize(&read.run);
        status = status
            .max(store_access::stored_run_status(&read))
            .max(report_run(&expected, &summary, is_text, terminal));
        let is_whole = read.is_whole();
        results.add(read.run, summary, is_whole);
    }
    result_list::publish(results, &typed.page, terminal)?;
    Ok(status.code())
}

/// Judges the second condition by the expectations. Gates replace the verdict of the comparison,
/// which has the exit status `status`.
fn judge_second(
    typed: &CompareArguments,
    expected: &NamedExpectations,
    (comparison, status): (&Comparison, ExitStatus),
    terminal: &mut Terminal,
) -> Result<ExitStatus, CommandFailure> {
    let is_text = typed.page.is_on_screen();
    let mut results: Vec<MetricEstimate> =
        comparison.pairs.iter().map(|pair| pair.b.clone()).collect();
    expected.apply_limits(&mut results);
    for doubt in results.iter().flat_map(|it| &it.warnings) {
        if matches!(doubt, Doubt::AboveLimit { .. }) {
            terminal.note(&words::doubt(doubt).text);
        }
    }
    let status = match expected.values.gates.as_slice() {
        [] => status,
        all => {
            let judged = gate::judge(all, comparison);
            report_outcomes(&typed.reports, &judged, is_text, terminal)?
        }
    };
    let trust = |it: &_| DistrustReason::level_of(DistrustReason::from_estimate(it));
    Ok(status.max(report_claims(expected, &results, &trust, is_text, terminal)))
}

/// Rejects reports of outcomes without a gate.
fn check_reports(
    typed: &OutcomeReportArguments,
    expected: &NamedExpectations,
) -> Result<(), CommandFailure> {
    let is_asked = typed.junit.is_some() || typed.github;
    if is_asked && expected.values.gates.is_empty() {
        return Err(CommandFailure::usage(
            "--junit and --github report gates, but there is none",
        )
        .advise("name a file with [[gate]] by --expect; see `assay help docs/references.md`"));
    }
    Ok(())
}

/// Judges a run by published figures, limits and gates.
fn compare_with_reference(
    typed: &CompareArguments,
    expected: &NamedExpectations,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let run = store_access::read_and_warn(&typed.store, typed.first(), terminal)?;
    let summary = expected.summarize(&run);
    let claims = (expected.values.claims.as_slice(), expected.claims_name.as_str());
    let compared = ClaimsComparison::new(&summary, claims, expected.judge_entries(&summary))?;
    let is_text = typed.page.is_on_screen();
    // On the screen, the page of the outcomes follows.
    let document = if is_text { compared.claims_document() } else { Some(compared.document()) };
    if let Some(document) = document {
        OutputPage::new(document, || compared.to_json(), || compared.to_csv())
            .publish(&typed.page, terminal)?;
    }
    let of_claims = compared.claims_outcome().map_or(ExitStatus::Success, outcome_status);
    let of_entries = match compared.outcomes() {
        [] => ExitStatus::Success,
        all => report_outcomes(&typed.reports, all, is_text, terminal)?,
    };
    Ok(of_claims.max(of_entries).code())
}

/// Rejects options that have no effect in this form of the command.
fn reject_idle_options(
    typed: &CompareArguments,
    form: ComparisonForm,
) -> Result<(), CommandFailure> {
    let (has_host, has_margin) = (typed.host.is_some(), typed.margin.is_some());
    let refused = match form {
        ComparisonForm::Reference if has_margin => Some((
            "--margin",
            "a published figure has a tolerance instead",
            "write `tolerance` into the claim of a file; see `assay help docs/references.md`",
        )),
        ComparisonForm::Reference if has_host => {
            Some(("--host", "a single run is judged", "name the run"))
        }
        ComparisonForm::Levels if has_margin => Some((
            "--margin",
            "levels are compared by their intervals, without a margin",
            "compare two conditions: `assay compare A B --margin 5%`",
        )),
        ComparisonForm::LevelsOfRun if has_margin || has_host => Some((
            if has_margin { "--margin" } else { "--host" },
            "the levels of one run are compared",
            "compare two conditions: `assay compare A B`",
        )),
        ComparisonForm::Reference | ComparisonForm::Levels | ComparisonForm::LevelsOfRun => {
            None
        }
    };
    refused.map_or(Ok(()), |(option, why, advice)| {
        Err(CommandFailure::usage(format!("{option} has no effect here"))
            .with_reason(why)
            .advise(advice))
    })
}

/// Forms of the command that do not compare two conditions.
#[derive(Clone, Copy)]
enum ComparisonForm {
    /// A run with published figures, limits and gates.
    Reference,
    /// Three conditions and more.
    Levels,
    /// The levels of a single run.
    LevelsOfRun,
}

/// Returns the suspect ones of the compared runs.
pub(super) fn suspect_runs<'r>(runs: impl Iterator<Item = &'r Run>) -> Vec<SuspectRun> {
    runs.filter_map(|run| build::suspect_run(&summarize(run))).collect()
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

fn nothing_in_common() -> CommandFailure {
    CommandFailure::usage("the conditions have no common results").advise(
        "compare runs of the same suite, listed by `assay list`; loopback is not compared with a \
         network, nor a fixed rate with another or an unlimited one",
    )
}

/// Returns the exit status of a comparison.
pub(super) fn comparison_status(comparison: &Comparison) -> Result<ExitStatus, CommandFailure> {
    if comparison.pairs.is_empty() {
        return Err(nothing_in_common());
    }
    Ok(match comparison.conclusion() {
        ComparisonConclusion::Regression => ExitStatus::Regression,
        ComparisonConclusion::Undecided => ExitStatus::Undecided,
        ComparisonConclusion::Fine => ExitStatus::Success,
    })
}
