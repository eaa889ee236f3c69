//! Report of a run after its measurement: the page, and commands to continue with.

use assay_judgement::published_figures;
use assay_model::comparison::Comparison;
use assay_model::run::Run;
use assay_model::summary::RunSummary;
use assay_report::document::Document;
use assay_report::render::json::SummaryVerdicts;
use assay_report::words::{message, sentence};
use assay_report::{build, render};
use assay_run::failure::CommandFailure;
use serde_json::Value;

use super::ReportExtent;
use crate::arguments::{MeasuringArguments, PageFormat};
use crate::page::OutputPage;
use crate::terminal::Terminal;

/// Lines of a terminal of default size, minus one for the shell's next prompt.
const SCREEN_LINES: usize = 23;
/// Minimum number of rows of a useful answer.
const MIN_ROWS: usize = 4;

/// Verdicts that belong to the page of a run.
pub(super) struct RunVerdicts<'v> {
    /// Outcomes of the user's gates, for the JSON document.
    pub(super) gates: Option<&'v Value>,
    /// Programs compared with the first one.
    pub(super) comparisons: &'v [Comparison],
    pub(super) is_stored: bool,
}

/// Prints or writes the report of a run, and suggests further commands.
///
/// # Errors
/// A page that cannot be written.
pub(super) fn publish_run(
    run: &Run,
    summary: &RunSummary,
    verdicts: &RunVerdicts<'_>,
    (typed, extent): (&MeasuringArguments, ReportExtent),
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    if typed.events {
        return Ok(());
    }
    let is_asked = extent == ReportExtent::OneScreen && !typed.expect.is_given();
    let comparison = is_asked.then(|| published_figures::machine_comparison(summary)).flatten();
    let comparison = comparison.map(|line| format!("\n{}\n", terminal.wrap(&line).trim_end()));
    let steps = match verdicts.is_stored {
        true => next_steps(summary, extent, terminal.width),
        false => String::new(),
    };
    let steps = comparison.unwrap_or_default() + &steps;
    let add_programs = |mut page: Document| {
        build::add_programs(&mut page, verdicts.comparisons);
        page
    };
    let document = match (typed.page.format(), extent) {
        (PageFormat::Text, ReportExtent::OneScreen) => {
            fit_answer(summary, run, &steps, terminal)
        }
        _ => add_programs(build::run(summary, Some(run))),
    };
    let json = || {
        let verdicts = SummaryVerdicts {
            gates: verdicts.gates.cloned(),
            comparisons: verdicts.comparisons,
            ..SummaryVerdicts::default()
        };
        render::json::summary_with(summary, verdicts)
    };
    let page = OutputPage::new(document, json, || render::csv::summary(summary))
        .with_html(|| add_programs(build::run_page(summary, Some(run))));
    // The run is stored even if its page cannot be written.
    page.publish(&typed.page, terminal).map_err(|failure| {
        if !verdicts.is_stored {
            return failure;
        }
        let id = &summary.run.id;
        failure.advise(format!("the run is stored as {id}: `assay report {id} --format html`"))
    })?;
    if typed.page.format() == PageFormat::Text {
        terminal.print(&steps);
    }
    Ok(())
}

/// Returns the answer with as many rows as fit on a screen above `steps`, but at least a few. Bars
/// are included if they need no additional line.
fn fit_answer(summary: &RunSummary, run: &Run, steps: &str, terminal: &Terminal) -> Document {
    let document = |rows, has_bars| build::answer(summary, Some(run), rows, has_bars);
    let lines = |document: &Document| terminal.render_document(document).lines().count();
    let fits =
        |rows: &usize| lines(&document(*rows, false)) + steps.lines().count() <= SCREEN_LINES;
    let rows = (MIN_ROWS + 1..=build::MAX_ROWS).rev().find(fits).unwrap_or(MIN_ROWS);
    let (plain, barred) = (document(rows, false), document(rows, true));
    if lines(&barred) > lines(&plain) { plain } else { barred }
}

/// Suggests commands to continue with after the run.
fn next_steps(summary: &RunSummary, extent: ReportExtent, width: usize) -> String {
    let id = &summary.run.id;
    let page = match extent {
        ReportExtent::OneScreen => (format!("assay show {id}"), message("next-show")),
        ReportExtent::Full => {
            ("assay report latest --format html -o page.html".to_owned(), message("next-page"))
        }
    };
    let of_results = summary.results.first().map(|first| {
        [(page.0.as_str(), page.1), further_suite(&summary.run.suite, &first.benchmark)]
    });
    let doctor = ("assay doctor", message("next-doctor"));
    let steps = match (extent, build::distrust_reasons(summary).is_empty()) {
        (ReportExtent::Full, _) => {
            of_results.into_iter().flatten().chain([doctor]).collect::<Vec<_>>()
        }
        (ReportExtent::OneScreen, true) => of_results.into_iter().flatten().collect(),
        (ReportExtent::OneScreen, false) => {
            of_results.into_iter().flatten().take(1).chain([doctor]).collect()
        }
    };
    // Without results there is nothing to look at.
    if steps.is_empty() {
        return String::new();
    }
    let stored = sentence("next-stored", &[("run", id)]);
    format!("\n{stored}\n{}", format_steps(&steps, width))
}

/// Formats commands with their explanations: on the same line if all fit, otherwise below.
fn format_steps(steps: &[(&str, &str)], width: usize) -> String {
    let widest = |of: fn(&(&str, &str)) -> usize| steps.iter().map(of).max().unwrap_or(0);
    let commands = widest(|(command, _)| command.len());
    let fits = 2 + commands + 2 + widest(|(_, why)| why.chars().count()) <= width;
    let line = |(command, why): &(&str, &str)| match fits {
        true => format!("  {command:commands$}  {why}\n"),
        false => format!("  {command}\n      {why}\n"),
    };
    steps.iter().map(line).collect()
}

/// Returns a suite with more measurements of the same kind; after that suite, the command to
/// compare two runs of it.
fn further_suite(suite: &str, benchmark: &str) -> (&'static str, &'static str) {
    let (name, command, why) = match benchmark.split('.').next() {
        Some("storage") => {
            ("storage-volume", "assay run storage-volume --target DIR", message("next-volume"))
        }
        Some("network") => ("network", "assay run network --to HOST", message("next-network")),
        Some("mpi") => ("mpi", "assay run mpi", message("next-mpi")),
        _ => ("memory", "assay run memory", message("next-memory")),
    };
    match suite == name {
        true => ("assay compare latest~1 latest", message("next-compare")),
        false => (command, why),
    }
}
