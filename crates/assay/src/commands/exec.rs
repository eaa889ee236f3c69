//! `assay exec`: measures programs, and compares several with the first one.

use assay_adapters::import::FigureRule;
use assay_model::benchmark::Benchmark;
use assay_model::path_text;
use assay_model::run::Run;
use assay_model::suite::{CommandRequest, Measure, MeasureRequest, Suite};
use assay_model::workload::command::{
    CommandWorkload, CorrectnessCheck, DEFAULT_REPETITIONS, ProgramCall,
};
use assay_report::build;
use assay_run::failure::CommandFailure;
use assay_stats::compare::{DEFAULT_RUNS, compare_programs};

use crate::arguments::PageFormat;
use crate::arguments::exec::{ExecArguments, RunCheck};
use crate::delivery::{ReportExtent, RunDelivery};
use crate::pipeline;
use crate::terminal::Terminal;

/// Default time budget of each program.
const BUDGET_S: f64 = 30.0;
/// Relative half-width of the interval that ends a measurement.
const TARGET_HALF_WIDTH: f64 = 0.01;

pub(crate) fn exec(
    typed: &ExecArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let programs = describe_programs(typed)?;
    check_names(&programs)?;
    let suite = Suite {
        name: "exec".to_owned(),
        title: Benchmark::Command.definition().title.to_owned(),
        budget_s: BUDGET_S * programs.len() as f64,
        measures: programs.into_iter().map(measure).collect(),
    };
    let request = pipeline::request_from_options(&suite, &typed.measuring);
    let compare = |run: &Run, terminal: &mut Terminal| print_comparison(run, typed, terminal);
    let delivery = RunDelivery::from_options(&typed.measuring, ReportExtent::Full)?;
    let delivery = delivery.with_further_page(&compare);
    pipeline::deliver_suite(&request, &typed.measuring, &delivery, terminal)
}

/// Returns the programs with the options, which apply to all of them.
fn describe_programs(typed: &ExecArguments) -> Result<Vec<CommandWorkload>, CommandFailure> {
    let calls = calls(typed)?;
    if typed.names.len() > calls.len() {
        let what = format!("{} names for {} programs", typed.names.len(), calls.len());
        return Err(CommandFailure::usage(what).advise("give at most one -n for each program"));
    }
    let repetitions = if calls.len() > 1 { DEFAULT_RUNS } else { DEFAULT_REPETITIONS };
    let prepare = typed.prepare.as_deref().map(|line| call(line, typed.shell)).transpose()?;
    let names = typed.names.iter().cloned().map(Some).chain(std::iter::repeat(None));
    let describe = |(run, name): (ProgramCall, Option<String>)| {
        let usual = CommandWorkload::from_call(run);
        CommandWorkload {
            name: name.unwrap_or(usual.name),
            figures: typed.metrics.iter().map(FigureRule::to_request).collect(),
            correct: correctness(typed),
            prepare: prepare.clone(),
            warmup: typed.warmup,
            repetitions,
            runs: typed.runs,
            timeout_s: typed.timeout,
            cpus: typed.cpus.as_ref().map(|cpus| cpus.0.clone()).unwrap_or_default(),
            shows_output: typed.show_output,
            ..usual
        }
    };
    Ok(calls.into_iter().zip(names).map(describe).collect())
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
    Measure {
        by: Vec::new(),
        share: 1.0,
        target: TARGET_HALF_WIDTH,
        optional: false,
        request: MeasureRequest::Command(Box::new(CommandRequest { workload })),
        origin: None,
    }
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

/// Prints the programs compared with the first one, after the report on the screen.
fn print_comparison(
    run: &Run,
    typed: &ExecArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let page = &typed.measuring.page;
    if page.format() != PageFormat::Text || page.output.is_some() || typed.measuring.events {
        return Ok(());
    }
    let comparisons = compare_programs(run, typed.margin);
    if !comparisons.is_empty() {
        let text = terminal.render_document(&build::program_comparison(&comparisons));
        terminal.print(&format!("\n{text}"));
    }
    Ok(())
}
