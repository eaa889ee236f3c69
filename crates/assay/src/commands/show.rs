//! `assay show` and `assay report`: print a stored run or write it as a page.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::Path;

use assay_archive::anonymise_run;
use assay_archive::stored_levels::compare_stored;
use assay_claims::expectation::JudgedResults;
use assay_judgement::expectations::NamedExpectations;
use assay_model::level_comparison::LevelComparison;
use assay_model::path_text;
use assay_model::run::Run;
use assay_model::summary::RunSummary;
use assay_report::anonymous::Anonymiser;
use assay_report::document::Document;
use assay_report::render::json::SummaryVerdicts;
use assay_report::{build, render};

use super::result_list;
use crate::arguments::{PageArguments, PageFormat, ReportArguments, ShowArguments};
use crate::expectations::report_run;
use crate::failure::ExitStatus;
use crate::output_file;
use crate::page::{self, OutputPage};
use crate::terminal::Terminal;
use crate::{run_names, store_access};
use assay_console::companions::{self, CompanionFile};
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::program;
use assay_stats::compare::compare_stored_programs;
use assay_stats::run_table::build_run_table;
use assay_store::ReadRun;

pub(crate) mod tool_output;

pub(crate) fn show(
    typed: &ShowArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let [name] = typed.runs.as_slice() else { return show_table(typed, terminal) };
    let read = store_access::read(&typed.store, name);
    let read = read.map_err(|failure| run_names::advise_about_name(failure, name))?;
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
            let location = store_access::location(&typed.store);
            let levels = compare_stored(&location, &read.run, &|_| Ok(()))?;
            let shown = (&read.run, &summary);
            run_page(shown, levels.as_ref(), &expectations, &typed.page, terminal)?;
        }
    }
    let is_text = typed.shape.is_none() && typed.page.is_on_screen();
    let status = report_run(&expectations, &summary, is_text, terminal);
    Ok(status.max(store_access::stored_run_status(&read)).code())
}

/// Prints several runs in one table.
fn show_table(typed: &ShowArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    if typed.shape.is_some() {
        return Err(CommandFailure::usage("--as needs a single run")
            .advise("name one run, or leave out the option"));
    }
    let expectations = typed.expect.read(JudgedResults::SingleRuns)?;
    let read = run_names::read_all(&typed.store, &typed.runs, terminal)?;
    let status = stored_status(&read);
    let runs: Vec<Run> = read.into_iter().map(|it| it.run).collect();
    if typed.page.format() == PageFormat::Learn {
        publish_learn((&typed.page, None), &expectations, &runs, terminal)?;
    } else {
        let table = build_run_table(&runs);
        let (json, csv) = (render::json::run_table, render::csv::run_table);
        OutputPage::from_value(&table, build::run_table, json, csv)
            .publish(&typed.page, terminal)?;
    }
    let is_text = typed.page.is_on_screen();
    Ok(status.max(report_runs(&expectations, &runs, is_text, terminal)).code())
}

/// Returns the status of a command that prints these runs.
fn stored_status(read: &[ReadRun]) -> ExitStatus {
    read.iter().map(store_access::stored_run_status).max().unwrap_or_default()
}

/// Reports how each of several runs meets the gates and claims.
fn report_runs(
    expectations: &NamedExpectations,
    runs: &[Run],
    is_text: bool,
    terminal: &mut Terminal,
) -> ExitStatus {
    let report =
        |run| report_run(expectations, &expectations.summarize(run), is_text, terminal);
    runs.iter().map(report).max().unwrap_or_default()
}

pub(crate) fn report(
    typed: &ReportArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let is_published = typed.page.format() == PageFormat::Learn && !typed.page.json;
    if typed.subject.is_some() && !is_published {
        return Err(CommandFailure::usage("--subject has no effect here")
            .with_reason("only a page for publication has a subject")
            .advise("add `--format learn`"));
    }
    let expectations = typed.expect.read(JudgedResults::SingleRuns)?;
    if let Some(label) = &typed.label {
        run_names::check_label(&typed.store, label)?;
    }
    let read = run_names::read_all(&typed.store, typed.labelled_runs(), terminal)?;
    let status = stored_status(&read);
    let is_whole: Vec<bool> = read.iter().map(ReadRun::is_whole).collect();
    let mut runs: Vec<Run> = read.into_iter().map(|it| it.run).collect();
    // One for all runs: a text has the same placeholder in each, and two have different ones.
    let names = RefCell::new(Anonymiser::default());
    let change = |run: &mut Run| match typed.anonymous {
        true => anonymise_run(run, &mut names.borrow_mut()),
        false => Ok(()),
    };
    let levels = match (runs.as_slice(), typed.page.format()) {
        (_, PageFormat::Learn) => None,
        ([run], _) => compare_stored(&store_access::location(&typed.store), run, &change)?,
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
            let mut results = result_list::begin(None, &typed.page);
            for (run, is_whole) in runs.iter().zip(&is_whole) {
                results.add(run.clone(), expectations.summarize(run), *is_whole);
            }
            result_list::publish(results, &typed.page, terminal)?;
        }
    }
    let is_text = typed.page.is_on_screen();
    Ok(status.max(report_runs(&expectations, &runs, is_text, terminal)).code())
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
    let comparisons = match run.started.plan.suite == program::SUITE {
        true => compare_stored_programs(run),
        false => Vec::new(),
    };
    let with_comparisons = |mut document: Document| {
        // Each goes before the sections: the last one stands first.
        if let Some(levels) = levels {
            build::add_levels(&mut document, levels);
        }
        build::add_programs(&mut document, &comparisons);
        document
    };
    let json = || {
        let verdicts = SummaryVerdicts { gates: gates(), levels, comparisons: &comparisons };
        render::json::summary_with(summary, verdicts)
    };
    let document = with_comparisons(build::run(summary, Some(run)));
    OutputPage::new(document, json, || render::csv::summary(summary))
        .with_html(|| with_comparisons(build::run_page(summary, Some(run))))
        .publish(typed, terminal)
}
