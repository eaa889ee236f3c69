//! `assay show` and `assay report`: print a stored run or write it as a page.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::Path;

use assay_claims::expectation::JudgedResults;
use assay_model::level_comparison::LevelComparison;
use assay_model::path_text;
use assay_model::run::Run;
use assay_model::summary::RunSummary;
use assay_report::anonymous::Anonymiser;
use assay_report::document::Document;
use assay_report::render::json::SummaryVerdicts;
use assay_report::{build, render};

use super::exec;
use super::result_list::ResultList;
use crate::arguments::{PageArguments, PageFormat, ReportArguments, ShowArguments};
use crate::companions::{self, CompanionFile};
use crate::expectations::NamedExpectations;
use crate::output_file;
use crate::page::{self, OutputPage};
use crate::stored_levels::compare_stored;
use crate::terminal::Terminal;
use crate::{run_names, store_access};
use assay_run::failure::{CommandFailure, FailureKind};
use assay_stats::compare::compare_stored_programs;
use assay_stats::run_table::build_run_table;

pub(crate) mod tool_output;

pub(crate) fn show(
    typed: &ShowArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let [name] = typed.runs.as_slice() else { return show_table(typed, terminal) };
    let read = store_access::read(&typed.store, name);
    let read = read.map_err(|failure| run_names::advise_about_system(failure, name))?;
    store_access::print_problems(&read, terminal);
    let expectations = typed.expect.read(JudgedResults::SingleRuns)?;
    let summary = expectations.summarize(&read.run);
    match typed.shape {
        Some(shape) => {
            let store = store_access::open_for_reading(&typed.store)?;
            let output = typed.page.output.as_ref().map(|it| path_text::encode(it.as_os_str()));
            let printed = tool_output::print_tool_output(
                &read.run,
                &store,
                (shape, output.as_deref()),
                terminal,
            );
            // Without its outcome, the rest of the run is shown.
            if printed.as_ref().is_err_and(|it| it.kind == FailureKind::Measurement)
                && output.is_none()
            {
                let document = build::run(&summary, Some(&read.run));
                terminal.print(&terminal.render_document(&document));
            }
            printed?;
        }
        None if typed.page.format() == PageFormat::Learn => {
            let runs = std::slice::from_ref(&read.run);
            publish_learn((&typed.page, None), &expectations, runs, terminal)?;
        }
        None => {
            let levels = compare_stored(&typed.store, &read.run, &|_| Ok(()))?;
            let shown = (&read.run, &summary);
            run_page(shown, levels.as_ref(), &expectations, &typed.page, terminal)?;
        }
    }
    let is_text = typed.shape.is_none() && typed.page.is_on_screen();
    let code = expectations.check_run(&summary, is_text, terminal);
    Ok(first_code(store_access::stored_run_exit_code(&read), code))
}

/// Prints several runs in one table.
fn show_table(typed: &ShowArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    if typed.shape.is_some() || typed.expect.is_given() {
        return Err(CommandFailure::usage("--as and --expect need a single run")
            .advise("name one run, or leave out the option"));
    }
    let mut code = 0;
    let mut runs = Vec::new();
    for read in store_access::read_all(&typed.store, &typed.runs)? {
        store_access::print_problems(&read, terminal);
        code = code.max(store_access::stored_run_exit_code(&read));
        runs.push(read.run);
    }
    if typed.page.format() == PageFormat::Learn {
        publish_learn((&typed.page, None), &NamedExpectations::default(), &runs, terminal)?;
        return Ok(code);
    }
    let table = build_run_table(&runs);
    let page = OutputPage {
        document: build::run_table(&table),
        json: &|| render::json::run_table(&table),
        csv: &|| render::csv::run_table(&table),
        html_document: Some(&|| build::run_table(&table)),
    };
    page.publish(&typed.page, terminal)?;
    Ok(code)
}

pub(crate) fn report(
    typed: &ReportArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let expectations = typed.expect.read(JudgedResults::SingleRuns)?;
    let mut code = 0;
    let (mut runs, mut is_whole) = (Vec::new(), Vec::new());
    for read in run_names::read_all(&typed.store, typed.labelled_runs())? {
        store_access::print_problems(&read, terminal);
        code = code.max(store_access::stored_run_exit_code(&read));
        is_whole.push(read.is_whole());
        runs.push(read.run);
    }
    // One for all runs: a text has the same placeholder in each, and two have different ones.
    let names = RefCell::new(Anonymiser::default());
    let change = |run: &mut Run| match typed.anonymous {
        true => anonymise(run, &mut names.borrow_mut()),
        false => Ok(()),
    };
    let levels = match (runs.as_slice(), typed.page.format()) {
        (_, PageFormat::Learn) => None,
        ([run], _) => compare_stored(&typed.store, run, &change)?,
        _ => None,
    };
    runs.iter_mut().try_for_each(&change)?;
    match (runs.as_slice(), typed.page.format()) {
        (_, PageFormat::Learn) if !typed.page.json => {
            publish_learn(
                (&typed.page, typed.subject.clone()),
                &expectations,
                &runs,
                terminal,
            )?;
        }
        ([run], _) => {
            let summary = expectations.summarize(run);
            run_page((run, &summary), levels.as_ref(), &expectations, &typed.page, terminal)?;
        }
        _ => {
            let mut results = ResultList::new(None, &expectations, &typed.page);
            let all = runs.iter().zip(&is_whole);
            all.for_each(|(run, is_whole)| results.add(run.clone(), *is_whole));
            results.publish(&typed.page, terminal)?;
        }
    }
    for run in &runs {
        let summary = expectations.summarize(run);
        let is_text = typed.page.is_on_screen();
        code = first_code(code, expectations.check_run(&summary, is_text, terminal));
    }
    Ok(code)
}

/// Returns the code of the run, or of its expectations if the run is whole.
const fn first_code(of_run: u8, of_expectations: u8) -> u8 {
    if of_run == 0 { of_expectations } else { of_run }
}

/// Replaces the names in a run.
fn anonymise(run: &mut Run, names: &mut Anonymiser) -> Result<(), CommandFailure> {
    names.anonymise_run(run).map_err(|error| {
        CommandFailure::new(FailureKind::Internal, "cannot anonymise the run")
            .with_cause(&error)
    })
}

/// Renders one or several runs as a page for publication.
fn publish_learn(
    (typed, subject): (&PageArguments, Option<String>),
    expectations: &NamedExpectations,
    runs: &[Run],
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let summaries: Vec<RunSummary> =
        runs.iter().map(|run| expectations.summarize(run)).collect();
    let subject = subject.unwrap_or_else(|| build::default_subject(&summaries));
    let published = build::learn(&subject, &summaries.iter().collect::<Vec<_>>(), runs);
    // Nothing is written next to a device or a pipe.
    let page = typed.output.as_deref().filter(|it| !output_file::is_stream(it));
    let stem = page.and_then(Path::file_stem).and_then(OsStr::to_str);
    let (text, pictures) = render::learn::document(&published, stem);
    let Some(page) = page else { return page::print_or_write(&text, typed, terminal) };
    let beside_it = |name: &str| page.with_file_name(name);
    let companions: Vec<CompanionFile<'_>> = pictures
        .iter()
        .map(|it| CompanionFile { path: beside_it(&it.name), text: &it.svg })
        .collect();
    companions::check(page, &companions)?;
    page::print_or_write(&text, typed, terminal)?;
    companions::write(&companions, terminal)
}

/// Prints or writes the page of a stored run, headed by its compared programs and the levels that it
/// belongs to.
fn run_page(
    (run, summary): (&Run, &RunSummary),
    levels: Option<&LevelComparison>,
    expectations: &NamedExpectations,
    typed: &PageArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let gates = || expectations.judge_hosts(summary).map(|judged| judged.to_json());
    let comparisons = match run.started.plan.suite == exec::SUITE {
        true => compare_stored_programs(run),
        false => Vec::new(),
    };
    let with_comparisons = |mut document: Document| {
        build::add_programs(&mut document, &comparisons);
        if let Some(levels) = levels {
            build::add_levels(&mut document, levels);
        }
        document
    };
    let page = OutputPage {
        document: with_comparisons(build::run(summary, Some(run))),
        json: &|| {
            let verdicts =
                SummaryVerdicts { gates: gates(), levels, comparisons: &comparisons };
            render::json::summary_with(summary, verdicts)
        },
        csv: &|| render::csv::summary(summary),
        html_document: Some(&|| with_comparisons(build::run_page(summary, Some(run)))),
    };
    page.publish(typed, terminal)
}
