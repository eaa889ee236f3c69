//! `assay exec`: measures programs, and compares several with the first one.

use assay_adapters::import::FigureRule;
use assay_model::benchmark::Benchmark;
use assay_model::factor::{
    self, FactorError, FactorLevel, MAX_COMBINATIONS, combine_levels, fill_placeholders,
    format_levels,
};
use assay_model::path_text;
use assay_model::run::Run;
use assay_model::suite::{CommandRequest, Measure, MeasureRequest, Suite};
use assay_model::workload::command::{
    CommandWorkload, CorrectnessCheck, DEFAULT_REPETITIONS, ProgramCall,
};
use assay_report::build;
use assay_run::failure::CommandFailure;
use assay_run::program::SUITE;
use assay_stats::compare::{DEFAULT_RUNS, compare_levels, program_levels};

use super::run_hosts;
use crate::arguments::PageFormat;
use crate::arguments::exec::{ExecArguments, RunCheck};
use crate::delivery::{ReportExtent, RunDelivery};
use crate::page::OutputPage;
use crate::pipeline;
use crate::terminal::Terminal;

/// Name of the factor that distinguishes several programs.
const PROGRAM: &str = "program";
/// Default time budget of each program.
const BUDGET_S: f64 = 30.0;
/// Relative half-width of the interval that ends a measurement.
const TARGET_HALF_WIDTH: f64 = 0.01;

pub(crate) fn exec(
    typed: &ExecArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let suite = suite_from_options(typed)?;
    let print = |run: &Run, terminal: &mut Terminal| print_levels(run, typed, terminal);
    let publish = |run: &Run, terminal: &mut Terminal| publish_levels(run, typed, terminal);
    let delivery = RunDelivery::from_options(&typed.measuring, ReportExtent::Full)?;
    let delivery = match (typed.factors.is_empty(), is_text(typed) || typed.measuring.events) {
        (true, _) => delivery.with_programs_compared(typed.margin),
        (false, true) => delivery.with_further_page(&print),
        (false, false) => delivery.with_own_page(&publish),
    };
    let delivery = if typed.no_store { delivery.without_store() } else { delivery };
    if typed.hosts.has_hosts() {
        return run_hosts::exec(typed, &delivery, terminal);
    }
    let request = pipeline::request_from_options(&suite, &typed.measuring);
    pipeline::deliver_suite(&request, &typed.measuring, &delivery, terminal)
}

/// Returns the suite of the programs.
pub(super) fn suite_from_options(typed: &ExecArguments) -> Result<Suite, CommandFailure> {
    let programs = describe_programs(typed)?;
    check_names(&programs)?;
    Ok(Suite {
        name: SUITE.to_owned(),
        title: Benchmark::Command.definition().title.to_owned(),
        budget_s: BUDGET_S * programs.len() as f64,
        measures: programs.into_iter().map(measure).collect(),
    })
}

/// Returns the programs with the options, which apply to all of them, under every combination of
/// levels.
fn describe_programs(typed: &ExecArguments) -> Result<Vec<CommandWorkload>, CommandFailure> {
    let calls = calls(typed)?;
    if typed.names.len() > calls.len() {
        let what = format!("{} names for {} programs", typed.names.len(), calls.len());
        return Err(CommandFailure::usage(what).advise("give at most one -n for each program"));
    }
    let prepare = typed.prepare.as_deref().map(|line| call(line, typed.shell)).transpose()?;
    let combinations = combine_levels(&typed.factors).map_err(|it| factor_failure(&it))?;
    let count = calls.len() * combinations.len();
    if !typed.factors.is_empty() && count > MAX_COMBINATIONS {
        let what = format!(
            "{count} programs with their levels, and at most {MAX_COMBINATIONS} are measured"
        );
        return Err(CommandFailure::usage(what).advise("use fewer levels"));
    }
    if !typed.factors.is_empty() && count < 2 {
        return Err(CommandFailure::usage("each factor has one level: nothing is compared")
            .advise(
                "give a second level, like --factor n=1,2, or write the level into the program",
            ));
    }
    check_factors(typed, &calls, prepare.as_ref())?;
    let mut programs = Vec::new();
    for (index, run) in calls.iter().enumerate() {
        for levels in &combinations {
            let name = typed.names.get(index);
            let call = fill_call(run, levels)?;
            let prepare = prepare.as_ref().map(|it| fill_call(it, levels)).transpose()?;
            let mut program = describe_program(typed, call, prepare);
            program.repetitions = if count > 1 { DEFAULT_RUNS } else { DEFAULT_REPETITIONS };
            program.decided_by_margin = ends_once_decided(typed, count).then_some(typed.margin);
            if let Some(name) = name {
                let own = (!levels.is_empty()).then(|| format_levels(levels));
                let words = std::iter::once(name.clone()).chain(own);
                program.name = words.collect::<Vec<_>>().join(" ");
            }
            program.levels.clone_from(levels);
            if calls.len() > 1 && !levels.is_empty() {
                let level = name.cloned().unwrap_or_else(|| run.line());
                let program_level = FactorLevel { factor: PROGRAM.to_owned(), level };
                program.levels.insert(0, program_level);
            }
            programs.push(program);
        }
    }
    Ok(programs)
}

fn describe_program(
    typed: &ExecArguments,
    run: ProgramCall,
    prepare: Option<ProgramCall>,
) -> CommandWorkload {
    CommandWorkload {
        figures: typed.metrics.iter().map(FigureRule::to_request).collect(),
        read_as: typed.read_as.clone(),
        correct: correctness(typed),
        prepare,
        warmup: typed.warmup,
        runs: typed.runs,
        timeout_s: typed.timeout,
        cpus: typed.cpus.as_ref().map(|cpus| cpus.0.clone()).unwrap_or_default(),
        shows_output: typed.show_output,
        ..CommandWorkload::from_call(run)
    }
}

/// Whether the programs stop once they are compared. Hosts would stop after different blocks, and
/// levels are compared all with all.
fn ends_once_decided(typed: &ExecArguments, programs: usize) -> bool {
    let is_free = typed.runs.is_none() && typed.factors.is_empty();
    programs > 1 && is_free && !typed.hosts.has_hosts()
}

/// Rejects a factor that no program names, and one with the name of the programs.
fn check_factors(
    typed: &ExecArguments,
    calls: &[ProgramCall],
    prepare: Option<&ProgramCall>,
) -> Result<(), CommandFailure> {
    for factor in &typed.factors {
        let name = factor.name.as_str();
        if calls.len() > 1 && name == PROGRAM {
            return Err(factor_failure(&FactorError::RepeatedName(name.to_owned())));
        }
        let mut words = calls.iter().chain(prepare).flat_map(|it| &it.words);
        if !words.any(|word| factor::placeholders(word).any(|it| it == name)) {
            let what = format!("factor `{name}` has no effect: no program names `{{{name}}}`");
            let advice = format!("write `{{{name}}}` where the level belongs");
            return Err(CommandFailure::usage(what).advise(advice));
        }
    }
    Ok(())
}

/// Fills the levels into the words of a program; without factors, the words stay as they are.
fn fill_call(
    call: &ProgramCall,
    levels: &[FactorLevel],
) -> Result<ProgramCall, CommandFailure> {
    if levels.is_empty() {
        return Ok(call.clone());
    }
    let words = call.words.iter().map(|word| fill_placeholders(word, levels));
    let words = words.collect::<Result<Vec<_>, _>>().map_err(|it| factor_failure(&it))?;
    Ok(ProgramCall { words, ..call.clone() })
}

fn factor_failure(error: &FactorError) -> CommandFailure {
    CommandFailure::usage(error.to_string()).advise(error.advice())
}

/// Rejects equal names: the programs could not be distinguished.
fn check_names(programs: &[CommandWorkload]) -> Result<(), CommandFailure> {
    let mut names: Vec<&str> = programs.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) else { return Ok(()) };
    let what = format!("two programs have the name `{}`", pair[0]);
    Err(CommandFailure::usage(what).advise("name each: -n A -n B"))
}

fn measure(workload: CommandWorkload) -> Measure {
    Measure::new(
        MeasureRequest::Command(Box::new(CommandRequest { workload })),
        TARGET_HALF_WIDTH,
    )
}

/// Returns the programs of the command line: one after `--`, or each of the others.
fn calls(typed: &ExecArguments) -> Result<Vec<ProgramCall>, CommandFailure> {
    if !typed.words.is_empty() {
        let words = typed.words.iter().map(|word| path_text::encode(word)).collect();
        return Ok(vec![ProgramCall { words, shell: false }]);
    }
    typed.programs.iter().map(|line| call(line, typed.shell)).collect()
}

fn call(line: &str, shell: bool) -> Result<ProgramCall, CommandFailure> {
    if shell && !line.trim().is_empty() {
        return Ok(ProgramCall { words: vec![line.to_owned()], shell });
    }
    ProgramCall::parse_line(line).map_err(|problem| {
        CommandFailure::usage(problem).advise("close the quote, or run the line by --shell")
    })
}

fn correctness(typed: &ExecArguments) -> CorrectnessCheck {
    let mut correct = CorrectnessCheck::default();
    if typed.ignore_failure {
        correct.exit = None;
    }
    for check in &typed.correct {
        match check {
            RunCheck::Exit(code) => correct.exit = Some(*code),
            RunCheck::Find(pattern) => correct.find = Some(pattern.clone()),
        }
    }
    correct
}

/// Prints the levels of each metric after the report on the screen.
fn print_levels(
    run: &Run,
    typed: &ExecArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    if typed.measuring.page.output.is_none() && !typed.measuring.events {
        let levels = compare_levels(&program_levels(run));
        let text = terminal.render_document(&build::level_comparison(&levels));
        terminal.print(&format!("\n{text}"));
    }
    Ok(())
}

fn is_text(typed: &ExecArguments) -> bool {
    typed.measuring.page.format() == PageFormat::Text
}

/// Publishes the levels of each metric instead of the run.
fn publish_levels(
    run: &Run,
    typed: &ExecArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let comparison = compare_levels(&program_levels(run));
    OutputPage::from_levels(&comparison).publish(&typed.measuring.page, terminal)
}
