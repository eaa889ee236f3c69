//! Measurement pipeline: suite → plan → events → run → summary → document.

use assay_claims::reference::Claim;
use assay_console::options::typed_words;
use assay_model::plan::{Case, Plan};
use assay_model::run::Run;
use assay_model::suite::Suite;
use assay_model::summary::RunSummary;
use assay_model::workload::Workload;
use assay_report::document::Document;
use assay_report::words::{message, sentence};
use assay_report::{build, render, words};
use assay_run::failure::Failure;
use assay_run::question::{self, PlanOutlook, Prepared, Question};
use serde::Serialize;

use crate::arguments::{Format, MeasuringArguments, PageArguments};
use crate::expected;
use crate::failure::UNDECIDED;
use crate::listening::{LOOKING, Listening};
use crate::page::{self, Page, json};
use crate::terminal::Terminal;
use crate::{signals, stored};

/// Lines of a default terminal, without the one for the shell's next prompt.
const SCREEN: usize = 23;
/// Minimum number of rows of a useful answer.
const FEWEST_ROWS: usize = 4;

/// Returns the request for a suite that was built from options.
pub(crate) fn of_options<'a>(suite: &'a Suite, typed: &MeasuringArguments) -> Question<'a> {
    let mut question = Question {
        by: typed.by.clone(),
        budget_s: typed.budget,
        tools: typed.tools.clone(),
        seed: typed.seed,
        command: typed_words(),
        ..Question::of_suite(suite)
    };
    question.storage.store = typed.store.folder.clone();
    question
}

/// Measures a suite that was built from options.
pub(crate) fn run_options(
    suite: &Suite,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    run(&of_options(suite, typed), typed, Extent::Report, terminal)
}

/// Amount of a run that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One screen: a row for each value that characterizes the machine.
    Answer,
    /// The whole report.
    Report,
}

/// Measures a suite, stores the run and prints its results. Returns the exit code.
pub(crate) fn run(
    question: &Question<'_>,
    typed: &MeasuringArguments,
    extent: Extent,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let (demands, data_sheet) = (Demands::of(typed)?, typed.data_sheet.read()?);
    let question = &labelled(question, typed)?;
    Listening::before(terminal, LOOKING, typed.quiet || typed.dry_run);
    let prepared = question::prepare(question)?;
    if typed.dry_run {
        return dry_run(&prepared, typed, terminal);
    }
    if typed.page.format() == Format::Svg && prepared.plan.cases.iter().all(is_one_number) {
        return Err(page::no_plot(&question.suite.title));
    }
    let store = stored::open(&typed.store)?;
    let cancel = signals::cancel_on_signals_aloud()?;
    let mut listening = listening(terminal, typed);
    let run = question::measure(question, prepared, Some(&store), &cancel, &mut listening)?;
    let summary = data_sheet.summarize(&run);
    // A single failed measurement has nothing to print but the reason.
    let is_lost = run.cases.len() == 1 && summary.results.is_empty();
    if !is_lost || typed.page.format() != Format::Text {
        present(&run, &summary, typed, extent, terminal)?;
    }
    verdict(&summary)?;
    demands.met(&summary, terminal)
}

/// Whether the case yields a single number, which cannot be plotted.
const fn is_one_number(case: &Case) -> bool {
    matches!(case.workload, Workload::Linpack(_) | Workload::PeakFlops(_))
}

/// Returns the sink for a run that is followed by a report.
pub(crate) fn listening<'t>(
    terminal: &'t mut Terminal,
    typed: &MeasuringArguments,
) -> Listening<'t> {
    let is_reported = is_printed(typed) && terminal.is_shown();
    Listening::new(terminal, typed.events, typed.quiet).reported(is_reported)
}

/// Adds the label and the note to the request.
fn labelled<'a>(
    question: &Question<'a>,
    typed: &'a MeasuringArguments,
) -> Result<Question<'a>, Failure> {
    let label = match typed.label.as_slice() {
        [] => None,
        [label] => Some(label.as_str()),
        _ => {
            return Err(Failure::usage("--label takes one name").advise(
                "two names are for two conditions, which `assay run --switch` tells how to reach",
            ));
        }
    };
    Ok(Question { label, note: typed.note.as_deref(), ..question.clone() })
}

/// Requirements that a run has to meet after its measurement.
pub(crate) struct Demands<'a> {
    typed: &'a MeasuringArguments,
    /// Published figures to compare the results with, and their name on the command line.
    claims: Option<(Vec<Claim>, &'a str)>,
}

impl<'a> Demands<'a> {
    /// Reads the requirements. Unknown references and impossible pages are reported before the
    /// measurement.
    pub(crate) fn of(typed: &'a MeasuringArguments) -> Result<Self, Failure> {
        page::check(&typed.page)?;
        let claims = typed.expect.as_deref().map(|name| {
            let claims = expected::named(name).unwrap_or_else(|| expected::of_system(name));
            claims.map(|claims| (claims, name))
        });
        Ok(Self { typed, claims: claims.transpose()? })
    }

    /// Checks the requirements. Returns the exit code: a missed figure takes precedence over an
    /// undecided one.
    pub(crate) fn met(
        &self,
        summary: &RunSummary,
        terminal: &mut Terminal,
    ) -> Result<u8, Failure> {
        let reasons = build::distrust_reasons(summary);
        let is_doubted = self.typed.strict && !reasons.is_empty();
        // Otherwise the report on the screen begins with the reasons.
        if is_doubted && !is_printed(self.typed) {
            let why = sentence("answer-untrusted", &[("reasons", &reasons.join("; "))]);
            terminal.note(&format!("--strict: {why}"));
        }
        let published = match &self.claims {
            Some((claims, name)) => self.beside_published(summary, (claims, name), terminal),
            None => 0,
        };
        Ok(if is_doubted && published == 0 { UNDECIDED } else { published })
    }

    fn beside_published(
        &self,
        summary: &RunSummary,
        (claims, name): (&[Claim], &str),
        terminal: &mut Terminal,
    ) -> u8 {
        let Some((document, outcome, code)) = expected::held(summary, claims, name) else {
            terminal.note(&sentence("references-nothing", &[("name", name)]));
            return UNDECIDED;
        };
        if is_printed(self.typed) {
            let text = terminal.text(&document);
            terminal.print(&text);
        } else if !outcome.is_empty() {
            terminal.note(&outcome);
        }
        code
    }
}

/// Whether the report is printed as text on standard output.
fn is_printed(typed: &MeasuringArguments) -> bool {
    typed.page.format() == Format::Text && typed.page.output.is_none() && !typed.events
}

/// Checks whether a run counts as measured.
pub(crate) fn verdict(summary: &RunSummary) -> Result<(), Failure> {
    question::verdict(summary, |failure| {
        let said = words::failure(failure);
        (said.text, said.advice)
    })
}

/// Machine-readable plan with its time estimate.
#[derive(Serialize)]
struct Planned<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    outlook: Said,
}

/// Time estimate of a plan, in English.
#[derive(Serialize)]
pub(crate) struct Said {
    /// Whether it takes longer than its budget.
    is_beyond_budget: bool,
    said: Vec<String>,
}

impl Said {
    pub(crate) fn of(outlook: &PlanOutlook) -> Self {
        let said = outlook.said.iter().map(ToString::to_string).collect();
        Self { is_beyond_budget: outlook.is_beyond, said }
    }
}

/// Prints the resolved plan without measuring.
pub(crate) fn dry_run(
    prepared: &Prepared,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let (plan, outlook) = (&prepared.plan, prepared.outlook());
    let document = build::plan(plan, &outlook.said, outlook.is_beyond);
    show_plan(
        &document,
        &Planned { plan, outlook: Said::of(&outlook) },
        &typed.page,
        terminal,
    )?;
    Ok(0)
}

/// Prints or writes a plan, of one host or several, in the requested format.
pub(crate) fn show_plan(
    document: &Document,
    plan: &impl Serialize,
    typed: &PageArguments,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let text = match typed.format() {
        Format::Json => json(plan)?,
        Format::Text => terminal.text(document),
        _ => return Err(Failure::usage("a plan is printed as text or as JSON")),
    };
    page::put(&text, typed, terminal)
}

pub(crate) fn present(
    run: &Run,
    summary: &RunSummary,
    typed: &MeasuringArguments,
    extent: Extent,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    if typed.events {
        return Ok(());
    }
    let is_asked = extent == Extent::Answer && typed.expect.is_none();
    let known = is_asked.then(|| expected::of_machine(summary)).flatten();
    let known = known.map(|line| format!("\n{}\n", terminal.fitted(&line).trim_end()));
    let steps = known.unwrap_or_default() + &next_steps(summary, extent, terminal.width);
    let document = match (typed.page.format(), extent) {
        (Format::Text, Extent::Answer) => on_one_screen(summary, run, &steps, terminal),
        _ => build::run(summary, Some(run)),
    };
    let page = Page {
        document,
        json: &|| render::json::summary(summary),
        csv: &|| render::csv::summary(summary),
        again: Some(&|| build::run_page(summary, Some(run))),
    };
    // The run is stored even if its page cannot be written.
    page.publish(&typed.page, terminal).map_err(|failure| {
        let id = &summary.run.id;
        failure.advise(format!("the run is stored as {id}: `assay report {id} --format html`"))
    })?;
    if typed.page.format() == Format::Text {
        terminal.print(&steps);
    }
    Ok(())
}

/// Returns the answer with as many rows as fit on a screen above `steps`, but at least a few. Bars
/// are included if they need no additional line.
fn on_one_screen(
    summary: &RunSummary,
    run: &Run,
    steps: &str,
    terminal: &Terminal,
) -> Document {
    let document = |rows, has_bars| build::answer(summary, Some(run), rows, has_bars);
    let lines = |document: &Document| terminal.text(document).lines().count();
    let fits = |rows: &usize| lines(&document(*rows, false)) + steps.lines().count() <= SCREEN;
    let rows = (FEWEST_ROWS + 1..=build::MAX_ROWS).rev().find(fits).unwrap_or(FEWEST_ROWS);
    let (plain, barred) = (document(rows, false), document(rows, true));
    if lines(&barred) > lines(&plain) { plain } else { barred }
}

/// Suggests commands to continue with after the run.
fn next_steps(summary: &RunSummary, extent: Extent, width: usize) -> String {
    let id = &summary.run.id;
    let page = match extent {
        Extent::Answer => (format!("assay show {id}"), message("next-show")),
        Extent::Report => {
            ("assay report latest --format html -o page.html".to_owned(), message("next-page"))
        }
    };
    let of_results = summary.results.first().map(|first| {
        [(page.0.as_str(), page.1), further(&summary.run.suite, &first.benchmark)]
    });
    let doctor = ("assay doctor", message("next-doctor"));
    let steps = match (extent, build::distrust_reasons(summary).is_empty()) {
        (Extent::Report, _) => {
            of_results.into_iter().flatten().chain([doctor]).collect::<Vec<_>>()
        }
        (Extent::Answer, true) => of_results.into_iter().flatten().collect(),
        (Extent::Answer, false) => {
            of_results.into_iter().flatten().take(1).chain([doctor]).collect()
        }
    };
    // Without results there is nothing to look at.
    if steps.is_empty() {
        return String::new();
    }
    let stored = sentence("next-stored", &[("run", id)]);
    format!("\n{stored}\n{}", beside(&steps, width))
}

/// Formats commands with their explanations: on the same line if all fit, otherwise below.
fn beside(steps: &[(&str, &str)], width: usize) -> String {
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
fn further(suite: &str, benchmark: &str) -> (&'static str, &'static str) {
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
