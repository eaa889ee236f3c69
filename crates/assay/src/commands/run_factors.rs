//! `assay run` of a suite with factors: measures every combination of levels in blocks, and compares
//! them.

use std::time::Duration;

use assay_model::factor::HOSTS_FACTOR;
use assay_model::plan::Plan;
use assay_model::suite::factorial::{
    DEFAULT_BLOCKS, Factor, FactorCommand, FactorialCase, FactorialSuite,
};
use assay_report::build::FactorPlanTimes;
use assay_report::{build, words};
use assay_run::factor_turns::{self, FactorOutcome, FactorTurns};
use assay_run::failure::CommandFailure;
use assay_run::run_request::{self, RunRequest, prepare};
use assay_stats::compare::compare_levels;
use assay_stats::summarize::summarize;
use serde::Serialize;
use serde_json::{Map, Value};

use super::run_switch::DEFAULT_SETTLE_S;
use crate::arguments::{PageFormat, RunArguments};
use crate::page::OutputPage;
use crate::progress_listener::SEARCH_MESSAGE;
use crate::terminal::Terminal;
use crate::{delivery, page, pipeline, signals};
use assay_run::suites::OpenedFactors;

/// Measures all combinations in turns, stores every run and prints the levels of each metric. Returns
/// the exit code. `request` is that of the first combination.
pub(super) fn run(
    request: &RunRequest<'_>,
    opened: &OpenedFactors,
    typed: &RunArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if opened.suite.factors.iter().any(|it| it.levels.name == HOSTS_FACTOR) {
        let what = format!("factor `{HOSTS_FACTOR}` needs --hosts");
        return Err(CommandFailure::usage(what)
            .with_reason("its levels are numbers of hosts, of which the first ones take part")
            .advise("name the hosts, like --hosts vm[1-8], or rename the factor"));
    }
    let turns = prepare_turns(opened, typed)?;
    let measuring = &typed.measuring;
    let label = measuring.label.first().map(String::as_str);
    let request = RunRequest { label, note: measuring.note.as_deref(), ..request.clone() };
    if measuring.dry_run {
        turns.check(&request)?;
        let plan = |case| Ok(prepare(&turns.request(&request, case))?.plan);
        let plans: Result<Vec<Plan>, CommandFailure> =
            turns.suite.combinations.iter().map(plan).collect();
        return print_plans(plans?, (&turns, request.budget_s), typed, terminal);
    }
    page::check_output(&measuring.page)?;
    turns.check(&request)?;
    let cancel = signals::cancel_on_signals_with_notice()?;
    let progress = (Some(words::message(SEARCH_MESSAGE)), false);
    let outcome = delivery::measure(measuring, progress, terminal, |store, listener| {
        factor_turns::measure(&request, &turns, (store, &cancel), listener)
    })?;
    deliver(outcome, typed, terminal)
}

/// Returns the turns that the options ask for.
///
/// # Errors
/// Options that turns cannot use.
pub(super) fn prepare_turns<'a>(
    opened: &'a OpenedFactors,
    typed: &RunArguments,
) -> Result<FactorTurns<'a>, CommandFailure> {
    reject_other_options(typed)?;
    let OpenedFactors { suite, file } = opened;
    Ok(FactorTurns {
        suite,
        file,
        blocks: typed.turns.blocks.or(suite.blocks).unwrap_or(DEFAULT_BLOCKS),
        seed: typed.measuring.seed.unwrap_or_else(run_request::random_seed),
        settle: settle_time(typed, suite)?,
    })
}

/// Rejects options that judge or name a single run.
fn reject_other_options(typed: &RunArguments) -> Result<(), CommandFailure> {
    let measuring = &typed.measuring;
    let given = [
        (typed.switch.is_some(), "--switch"),
        (measuring.expect.is_given(), "--expect"),
        (measuring.strict, "--strict"),
        (measuring.label.len() > 1, "two labels"),
        (typed.fleet.drain_list.is_some(), "--drain-list"),
    ];
    let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) else {
        return Ok(());
    };
    Err(CommandFailure::usage(format!("{option} cannot be used with factors"))
        .with_reason("every combination of levels is a run of its own")
        .advise("use `assay compare` or `assay show` on the stored runs"))
}

/// Returns the time to wait after a command; refused without one.
fn settle_time(
    typed: &RunArguments,
    suite: &FactorialSuite,
) -> Result<Duration, CommandFailure> {
    if typed.turns.settle.is_some() && !suite.has_commands() {
        return Err(CommandFailure::usage("--settle has no effect: no factor has `apply`")
            .advise("leave it out"));
    }
    Ok(Duration::from_secs_f64(typed.turns.settle.unwrap_or(DEFAULT_SETTLE_S)))
}

/// Prints the levels of each metric, and returns the failure of the first run that failed.
pub(super) fn deliver(
    outcome: FactorOutcome,
    typed: &RunArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let FactorOutcome { conditions, failure } = outcome;
    let measured = conditions.iter().filter(|it| !it.runs.is_empty()).count();
    if measured > 1 && !typed.measuring.events {
        let comparison = compare_levels(&conditions);
        let page = OutputPage::from_levels(&comparison);
        let written = page.publish(&typed.measuring.page, terminal);
        match (written, &failure) {
            // A level may still be applied, which matters more.
            (Err(second), Some(_)) => terminal.note_failure(&second),
            (written, _) => written?,
        }
        if typed.measuring.page.format() == PageFormat::Text {
            terminal.print("\nEvery run is stored; its levels are its label.\n");
        }
    }
    let runs = conditions.iter().flat_map(|it| &it.runs);
    let failed = || runs.clone().find_map(|run| delivery::check_result(&summarize(run)).err());
    failure.or_else(failed).map_or(Ok(0), Err)
}

/// Machine-readable list of combinations.
#[derive(Serialize)]
struct PlannedTurns {
    suite: String,
    factors: Vec<PlannedFactor>,
    blocks: u32,
    turns: u32,
    turn_budget_s: f64,
    /// Time in which changes settle, and that of all turns with it.
    settling_s: f64,
    total_s: f64,
    combinations: Vec<PlannedCombination>,
}

#[derive(Serialize)]
struct PlannedFactor {
    name: String,
    levels: Vec<String>,
    apply: Option<String>,
    restore: Option<String>,
}

#[derive(Serialize)]
struct PlannedCombination {
    levels: Map<String, Value>,
    plan: Plan,
}

/// Prints the combinations with the plan of each.
pub(super) fn print_plans(
    plans: Vec<Plan>,
    (turns, budget_s): (&FactorTurns<'_>, Option<f64>),
    typed: &RunArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let turn_s = turns.turn_budget_s(budget_s);
    let (total_s, settling_s) = turns.planned_s(budget_s);
    let times = FactorPlanTimes { turn_s, total_s, settling_s };
    let document = build::factor_plan(turns.suite, turns.blocks, times);
    let combination = |(case, plan): (&FactorialCase, Plan)| {
        let levels = case.levels.iter().map(|it| (it.factor.clone(), it.level.clone().into()));
        PlannedCombination { levels: levels.collect(), plan }
    };
    let combinations = turns.suite.combinations.iter().zip(plans).map(combination).collect();
    let line = |command: &Option<FactorCommand>| command.as_ref().map(|it| it.line.clone());
    let factor = |it: &Factor| PlannedFactor {
        name: it.levels.name.clone(),
        levels: it.levels.levels.clone(),
        apply: line(&it.apply),
        restore: line(&it.restore),
    };
    let planned = PlannedTurns {
        suite: turns.suite.name.clone(),
        factors: turns.suite.factors.iter().map(factor).collect(),
        blocks: turns.blocks,
        turns: turns.count(),
        turn_budget_s: turn_s,
        settling_s,
        total_s,
        combinations,
    };
    pipeline::publish_plan(&document, &planned, &typed.measuring.page, terminal)?;
    Ok(0)
}
