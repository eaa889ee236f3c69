//! The pipeline: suite → plan → events → run → summary → document.

use assay_claims::reference::Claim;
use assay_model::run::Run;
use assay_model::suite::Suite;
use assay_model::summary::Summary;
use assay_report::document::Document;
use assay_report::words::{message, sentence};
use assay_report::{build, render, words};
use assay_run::failure::Failure;
use assay_run::question::{self, Prepared, Question};

use crate::arguments::{Format, MeasuringArguments};
use crate::expected;
use crate::failure::UNDECIDED;
use crate::listening::{LOOKING, Listening};
use crate::page::{self, Page, json};
use crate::terminal::Terminal;
use crate::{signals, stored};

/// Lines of a terminal as it comes.
const SCREEN: usize = 24;
/// Fewer rows than these are no answer.
const FEWEST_ROWS: usize = 4;

/// What options alone ask, without a suite of the user's.
pub(crate) fn of_options<'a>(suite: &'a Suite, typed: &MeasuringArguments) -> Question<'a> {
    let mut question = Question {
        by: typed.by.clone(),
        budget_s: typed.budget,
        tools: typed.tools.clone(),
        seed: typed.seed,
        ..Question::of_suite(suite)
    };
    question.storage.store = typed.store.folder.clone();
    question
}

/// Measures what options alone ask.
pub(crate) fn run_options(
    suite: &Suite,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    run(&of_options(suite, typed), typed, Extent::Report, terminal)
}

/// How much of a run is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// One screen: a row for each thing that a reader wants to know.
    Answer,
    /// Everything.
    Report,
}

/// Measures a suite, stores the run, prints what it amounts to; the exit code comes back.
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
    let store = stored::open(&typed.store)?;
    let cancel = signals::cancel_on_signals_aloud()?;
    let mut listening = Listening::new(terminal, typed.events, typed.quiet);
    let run = question::measure(question, prepared, Some(&store), &cancel, &mut listening)?;
    let summary = data_sheet.summarize(&run);
    // Of one measurement that failed there is nothing to show but why.
    let is_lost = run.cases.len() == 1 && summary.results.is_empty();
    if !is_lost || typed.page.format() != Format::Text {
        present(&run, &summary, typed, extent, terminal)?;
    }
    verdict(&summary)?;
    demands.met(&summary, terminal)
}

/// The question with the label and the note of the run.
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

/// What is demanded of a run that has been measured.
pub(crate) struct Demands<'a> {
    typed: &'a MeasuringArguments,
    /// Published figures that its results are held against, and the name they were asked for by.
    claims: Option<(Vec<Claim>, &'a str)>,
}

impl<'a> Demands<'a> {
    /// A reference that there is not is said before anything is measured.
    pub(crate) fn of(typed: &'a MeasuringArguments) -> Result<Self, Failure> {
        let claims = typed.expect.as_deref().map(|name| {
            let claims = expected::named(name).unwrap_or_else(|| expected::of_system(name));
            claims.map(|claims| (claims, name))
        });
        Ok(Self { typed, claims: claims.transpose()? })
    }

    /// The exit code: a figure that is missed counts for more than one that cannot be told.
    pub(crate) fn met(
        &self,
        summary: &Summary,
        terminal: &mut Terminal,
    ) -> Result<u8, Failure> {
        let is_doubted = self.typed.strict && !build::distrusted(summary).is_empty();
        let published = match &self.claims {
            Some((claims, name)) => self.beside_published(summary, (claims, name), terminal),
            None => 0,
        };
        Ok(if is_doubted && published == 0 { UNDECIDED } else { published })
    }

    fn beside_published(
        &self,
        summary: &Summary,
        (claims, name): (&[Claim], &str),
        terminal: &mut Terminal,
    ) -> u8 {
        let Some((document, code)) = expected::held(summary, claims, name) else {
            terminal.note(&sentence("references-nothing", &[("name", name)]));
            return UNDECIDED;
        };
        if self.typed.page.format() == Format::Text && self.typed.page.output.is_none() {
            let text = terminal.text(&document);
            terminal.print(&text);
        }
        code
    }
}

/// Whether a run counts as measured.
pub(crate) fn verdict(summary: &Summary) -> Result<(), Failure> {
    question::verdict(summary, |failure| {
        let said = words::failure(failure);
        (said.text, said.advice)
    })
}

/// Prints every case, resolved; nothing is measured.
pub(crate) fn dry_run(
    prepared: &Prepared,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let plan = &prepared.plan;
    let text = match typed.page.format() {
        Format::Json => json(plan)?,
        Format::Text => {
            let outlook = prepared.outlook();
            terminal.text(&build::plan(plan, &outlook.said, outlook.is_beyond))
        }
        _ => return Err(Failure::usage("a plan is printed as text or as JSON")),
    };
    page::put(&text, &typed.page, terminal)?;
    Ok(0)
}

pub(crate) fn present(
    run: &Run,
    summary: &Summary,
    typed: &MeasuringArguments,
    extent: Extent,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    if typed.events {
        return Ok(());
    }
    let steps = next_steps(summary, extent, terminal.width);
    let document = match (typed.page.format(), extent) {
        (Format::Text, Extent::Answer) => on_one_screen(summary, run, &steps, terminal),
        _ => build::run(summary, Some(run)),
    };
    let page = Page {
        document,
        json: &|| render::json::summary(summary),
        csv: &|| render::csv::summary(summary),
        again: Some(&|| build::page(summary, Some(run))),
    };
    page.publish(&typed.page, terminal)?;
    if typed.page.format() == Format::Text {
        terminal.print(&steps);
    }
    Ok(())
}

/// The answer with as many rows as a screen has room for above `steps`, or with a few where nothing helps.
fn on_one_screen(summary: &Summary, run: &Run, steps: &str, terminal: &Terminal) -> Document {
    let document = |rows| build::answer(summary, Some(run), rows);
    let fits = |document: &Document| {
        terminal.text(document).lines().count() + steps.lines().count() <= SCREEN
    };
    let mut fewer = (FEWEST_ROWS + 1..=build::MOST_ROWS).rev().map(document);
    fewer.find(fits).unwrap_or_else(|| document(FEWEST_ROWS))
}

/// What a user may want to do with the run that just ended.
fn next_steps(summary: &Summary, extent: Extent, width: usize) -> String {
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
    let steps = match (extent, build::distrusted(summary).is_empty()) {
        (Extent::Report, _) => {
            of_results.into_iter().flatten().chain([doctor]).collect::<Vec<_>>()
        }
        (Extent::Answer, true) => of_results.into_iter().flatten().collect(),
        (Extent::Answer, false) => {
            of_results.into_iter().flatten().take(1).chain([doctor]).collect()
        }
    };
    let stored = sentence("next-stored", &[("run", id)]);
    format!("\n{stored}\n{}", beside(&steps, width))
}

/// Commands with what they are for: beside them where there is room for all, else below each.
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

/// The suite that asks more about the same, or, after that suite, what makes two runs of it worth more.
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
