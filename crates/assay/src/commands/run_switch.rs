//! `assay run --switch`: measures two conditions alternately, switched by commands, and compares
//! them.

use std::time::Duration;

use assay_model::quantity::{Quantity, Unit};
use assay_model::run::Run;
use assay_report::{build, words};
use assay_run::failure::CommandFailure;
use assay_run::run_request::{self, RunRequest};
use assay_run::switching::{self, SwitchCommand, TurnSchedule};
use assay_stats::compare::{Condition, DEFAULT_RUNS, compare};
use assay_stats::summarize::summarize;

use super::compare::{comparison_status, suspect_runs};
use crate::arguments::{PageFormat, RunArguments};
use crate::failure::ExitStatus;
use crate::page::OutputPage;
use crate::progress_listener::SEARCH_MESSAGE;
use crate::terminal::Terminal;
use crate::{delivery, page, pipeline, signals};

/// Default time to wait after a command, until the change has settled.
pub(super) const DEFAULT_SETTLE_S: f64 = 5.0;

/// Measures both conditions in turns, stores every run and prints the comparison. Returns its exit
/// code.
pub(super) fn run(
    request: &RunRequest<'_>,
    typed: &RunArguments,
    conditions: &[SwitchCommand; 2],
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let measuring = &typed.measuring;
    if measuring.expect.is_given() || measuring.strict {
        return Err(CommandFailure::usage(
            "--switch cannot be used with --expect or --strict, which judge a single run",
        )
        .advise("judge the stored runs with `assay compare A B --expect FILE`"));
    }
    page::check_output(&measuring.page)?;
    switching::check_commands(conditions)?;
    // Errors of the plan or the store are reported before any switch.
    let prepared = run_request::prepare(request)?;
    let schedule = TurnSchedule {
        turns: typed.turns.turns.unwrap_or(2 * DEFAULT_RUNS),
        with_control: typed.turns.control,
        seed: measuring.seed.unwrap_or_else(run_request::random_seed),
        settle: Duration::from_secs_f64(typed.turns.settle.unwrap_or(DEFAULT_SETTLE_S)),
        decided_by_margin: typed.turns.turns.is_none().then_some(typed.turns.margin),
    };
    if measuring.dry_run {
        return pipeline::dry_run(&prepared, Some(schedule), measuring, terminal);
    }
    if !measuring.page.screen.quiet {
        let turns = pipeline::plan_turns(schedule, &prepared.forecast());
        terminal.note(&build::describe_turns(&prepared.plan, turns));
    }
    let cancel = signals::cancel_on_signals_with_notice()?;
    let progress = (Some(words::message(SEARCH_MESSAGE)), false);
    let runs = delivery::measure(measuring, progress, terminal, |store, listener| {
        switching::measure(request, conditions, schedule, (store, &cancel), listener)
    })?;
    let code = print_comparison(typed, conditions, &runs, terminal)?;
    let failure =
        runs.iter().flatten().find_map(|run| delivery::check_result(&summarize(run)).err());
    failure.map_or(Ok(code), Err)
}

fn print_comparison(
    typed: &RunArguments,
    conditions: &[SwitchCommand; 2],
    runs: &[Vec<Run>; 2],
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let condition = |index: usize| {
        let (name, runs) = (conditions[index].name.as_str(), runs[index].as_slice());
        Condition { name, runs, positions: &[] }
    };
    let mut comparison = compare(condition(0), condition(1), typed.turns.margin);
    comparison.suspect = suspect_runs(runs.iter().flatten());
    if !typed.measuring.events {
        OutputPage::from_comparison(&comparison).publish(&typed.measuring.page, terminal)?;
    }
    if !typed.measuring.events && typed.measuring.page.format() == PageFormat::Text {
        let [a, b] = [&comparison.a, &comparison.b].map(|condition| condition.runs.join(","));
        let margin = format!(" --margin {}", Quantity::new(typed.turns.margin, Unit::Ratio));
        terminal.print(&format!(
            "\nEvery run is stored. To repeat the comparison: assay compare {a} {b}{margin}\n"
        ));
    }
    comparison_status(&comparison).map(ExitStatus::code)
}
