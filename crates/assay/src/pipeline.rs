//! Measurement pipeline: suite → plan → events → run → summary → document.

use assay_claims::reference::Claim;
use assay_console::options::program_arguments;
use assay_model::plan::{Case, Plan};
use assay_model::run::Run;
use assay_model::suite::Suite;
use assay_model::summary::RunSummary;
use assay_report::document::Document;
use assay_report::words::{message, sentence};
use assay_report::{build, render, words};
use assay_run::coordinator::Alone;
use assay_run::failure::CommandFailure;
use assay_run::run_request::{self, PlanForecast, PreparedRun, RunRequest};
use serde::Serialize;

use crate::arguments::{MeasuringArguments, PageArguments, PageFormat};
use crate::failure::UNDECIDED;
use crate::page::{self, OutputPage, to_json};
use crate::progress_listener::{ProgressListener, SEARCH_MESSAGE};
use crate::published_figures;
use crate::terminal::Terminal;
use crate::{signals, store_access};

/// Lines of a terminal of default size, minus one for the shell's next prompt.
const SCREEN_LINES: usize = 23;
/// Minimum number of rows of a useful answer.
const MIN_ROWS: usize = 4;

/// Returns the request for a suite that was built from options.
pub(crate) fn request_from_options<'a>(
    suite: &'a Suite,
    typed: &MeasuringArguments,
) -> RunRequest<'a> {
    let mut request = RunRequest {
        by: typed.by.clone(),
        budget_s: typed.budget,
        tools: typed.tools.clone(),
        seed: typed.seed,
        command: program_arguments(),
        ..RunRequest::from_suite(suite)
    };
    request.storage.store = typed.store.folder.clone();
    request
}

/// Measures a suite that was built from options.
pub(crate) fn run_options(
    suite: &Suite,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    run_suite(&request_from_options(suite, typed), typed, ReportExtent::Full, terminal)
}

/// Extent of the printed report of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportExtent {
    /// One screen: a row for each value that characterizes the machine.
    OneScreen,
    /// The whole report.
    Full,
}

/// Measures a suite, stores the run and prints its results. Returns the exit code.
pub(crate) fn run_suite(
    request: &RunRequest<'_>,
    typed: &MeasuringArguments,
    extent: ReportExtent,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    run_suite_then(request, typed, extent, terminal, |_, _| Ok(()))
}

/// Measures like [`run_suite`], with a further page after the results.
pub(crate) fn run_suite_then(
    request: &RunRequest<'_>,
    typed: &MeasuringArguments,
    extent: ReportExtent,
    terminal: &mut Terminal,
    print_more: impl FnOnce(&Run, &mut Terminal) -> Result<(), CommandFailure>,
) -> Result<u8, CommandFailure> {
    let (requirements, data_sheet) =
        (RunRequirements::from_options(typed)?, typed.data_sheet.read()?);
    let request = &with_label(request, typed)?;
    ProgressListener::show_search(terminal, SEARCH_MESSAGE, typed.quiet || typed.dry_run);
    let prepared = run_request::prepare(request)?;
    if typed.dry_run {
        return dry_run(&prepared, typed, terminal);
    }
    if typed.page.format() == PageFormat::Svg
        && prepared.plan.cases.iter().all(is_single_number)
    {
        return Err(page::no_plot_failure(&request.suite.title));
    }
    let store = store_access::open(&typed.store)?;
    let cancel = signals::cancel_on_signals_with_notice()?;
    let mut listener = report_listener(terminal, typed);
    let measured = run_request::measure(
        request,
        prepared,
        Some(&store),
        &cancel,
        &mut listener,
        Box::new(Alone),
    )?;
    let run = measured.run;
    let summary = data_sheet.summarize(&run);
    // If the only case failed, there is nothing to print but the reason.
    let is_lost = run.cases.len() == 1 && summary.results.is_empty();
    if !is_lost || typed.page.format() != PageFormat::Text {
        publish_run(&run, &summary, typed, extent, terminal)?;
    }
    print_more(&run, terminal)?;
    check_result(&summary)?;
    measured.left.map_or(Ok(()), Err)?;
    requirements.check(&summary, terminal)
}

/// Whether the case yields a single number, which cannot be plotted.
const fn is_single_number(case: &Case) -> bool {
    case.workload.as_linpack().is_some() || case.workload.as_peak_flops().is_some()
}

/// Returns the listener for a run that is followed by a report.
pub(crate) fn report_listener<'t>(
    terminal: &'t mut Terminal,
    typed: &MeasuringArguments,
) -> ProgressListener<'t> {
    let has_report = prints_report(typed) && terminal.is_stdout_terminal();
    ProgressListener::new(terminal, typed.events, typed.quiet).with_report(has_report)
}

/// Adds the label and the note to the request.
fn with_label<'a>(
    request: &RunRequest<'a>,
    typed: &'a MeasuringArguments,
) -> Result<RunRequest<'a>, CommandFailure> {
    let label = match typed.label.as_slice() {
        [] => None,
        [label] => Some(label.as_str()),
        _ => {
            return Err(CommandFailure::usage("--label needs a single name")
                .advise("use two names only with `assay run --switch`"));
        }
    };
    Ok(RunRequest { label, note: typed.note.as_deref(), ..request.clone() })
}

/// Requirements that a run has to meet after its measurement.
pub(crate) struct RunRequirements<'a> {
    typed: &'a MeasuringArguments,
    /// Published figures to compare the results with, and their name on the command line.
    claims: Option<(Vec<Claim>, &'a str)>,
}

impl<'a> RunRequirements<'a> {
    /// Reads the requirements. Unknown references and impossible pages are reported before the
    /// measurement.
    pub(crate) fn from_options(typed: &'a MeasuringArguments) -> Result<Self, CommandFailure> {
        page::check_output(&typed.page)?;
        let claims = typed.expect.as_deref().map(|name| {
            let claims = published_figures::find_named_claims(name)
                .unwrap_or_else(|| published_figures::system_claims(name));
            claims.map(|claims| (claims, name))
        });
        Ok(Self { typed, claims: claims.transpose()? })
    }

    /// Checks the requirements. Returns the exit code: a missed figure takes precedence over an
    /// undecided one.
    pub(crate) fn check(
        &self,
        summary: &RunSummary,
        terminal: &mut Terminal,
    ) -> Result<u8, CommandFailure> {
        let reasons = build::distrust_reasons(summary);
        let is_doubted = self.typed.strict && !reasons.is_empty();
        // A report on the screen begins with the reasons; they are not repeated.
        if is_doubted && !prints_report(self.typed) {
            let reason = sentence("answer-untrusted", &[("reasons", &reasons.join("; "))]);
            terminal.note(&format!("--strict: {reason}"));
        }
        let published = match &self.claims {
            Some((claims, name)) => self.check_published(summary, (claims, name), terminal),
            None => 0,
        };
        Ok(if is_doubted && published == 0 { UNDECIDED } else { published })
    }

    fn check_published(
        &self,
        summary: &RunSummary,
        (claims, name): (&[Claim], &str),
        terminal: &mut Terminal,
    ) -> u8 {
        let Some((document, outcome, code)) =
            published_figures::compare_with_claims(summary, claims, name)
        else {
            terminal.note(&sentence("references-nothing", &[("name", name)]));
            return UNDECIDED;
        };
        if prints_report(self.typed) {
            let text = terminal.render_document(&document);
            terminal.print(&text);
        } else if !outcome.is_empty() {
            terminal.note(&outcome);
        }
        code
    }
}

/// Whether the report is printed as text on standard output.
fn prints_report(typed: &MeasuringArguments) -> bool {
    typed.page.format() == PageFormat::Text && typed.page.output.is_none() && !typed.events
}

/// Returns a failure if the run was interrupted, a case failed or nothing was measured.
pub(crate) fn check_result(summary: &RunSummary) -> Result<(), CommandFailure> {
    run_request::check_summary(summary, |failure| {
        let message = words::failure(failure);
        (message.text, message.advice)
    })
}

/// Machine-readable plan with its time estimate.
#[derive(Serialize)]
struct PlannedDocument<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    outlook: ForecastDocument,
}

/// Time estimate of a plan, in English.
#[derive(Serialize)]
pub(crate) struct ForecastDocument {
    /// Whether it takes longer than its budget.
    is_beyond_budget: bool,
    said: Vec<String>,
}

impl ForecastDocument {
    pub(crate) fn from_forecast(outlook: &PlanForecast) -> Self {
        let notes = outlook.notes.iter().map(ToString::to_string).collect();
        Self { is_beyond_budget: outlook.exceeds_budget, said: notes }
    }
}

/// Prints the resolved plan without measuring.
pub(crate) fn dry_run(
    prepared: &PreparedRun,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let (plan, outlook) = (&prepared.plan, prepared.forecast());
    let document = build::plan(plan, &outlook.notes, outlook.exceeds_budget);
    publish_plan(
        &document,
        &PlannedDocument { plan, outlook: ForecastDocument::from_forecast(&outlook) },
        &typed.page,
        terminal,
    )?;
    Ok(0)
}

/// Prints or writes a plan, of one host or several, in the requested format.
pub(crate) fn publish_plan(
    document: &Document,
    plan: &impl Serialize,
    typed: &PageArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let text = match typed.format() {
        PageFormat::Json => to_json(plan)?,
        PageFormat::Text => terminal.render_document(document),
        _ => return Err(CommandFailure::usage("a plan has only the formats text and json")),
    };
    page::print_or_write(&text, typed, terminal)
}

pub(crate) fn publish_run(
    run: &Run,
    summary: &RunSummary,
    typed: &MeasuringArguments,
    extent: ReportExtent,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    if typed.events {
        return Ok(());
    }
    let is_asked = extent == ReportExtent::OneScreen && typed.expect.is_none();
    let comparison = is_asked.then(|| published_figures::machine_comparison(summary)).flatten();
    let comparison = comparison.map(|line| format!("\n{}\n", terminal.wrap(&line).trim_end()));
    let steps = comparison.unwrap_or_default() + &next_steps(summary, extent, terminal.width);
    let document = match (typed.page.format(), extent) {
        (PageFormat::Text, ReportExtent::OneScreen) => {
            fit_answer(summary, run, &steps, terminal)
        }
        _ => build::run(summary, Some(run)),
    };
    let page = OutputPage {
        document,
        json: &|| render::json::summary(summary),
        csv: &|| render::csv::summary(summary),
        html_document: Some(&|| build::run_page(summary, Some(run))),
    };
    // The run is stored even if its page cannot be written.
    page.publish(&typed.page, terminal).map_err(|failure| {
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
