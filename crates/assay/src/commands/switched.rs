//! `assay run --switch`: two conditions measured alternately and laid side by side.

use assay_model::quantity::{Quantity, Unit};
use assay_model::run::Run;
use assay_report::{build, render};
use assay_run::failure::Failure;
use assay_run::question::{self, Question};
use assay_run::switching::{self, Switch};
use assay_stats::compare::{Condition, compare};
use assay_stats::summarize::summarize;

use crate::arguments::MeasuringArguments;
use crate::listening::Listening;
use crate::terminal::Terminal;
use crate::{pipeline, signals, stored};

/// Measures both conditions in turns, stores every run, prints the comparison.
pub(super) fn run(
    question: &Question<'_>,
    typed: &MeasuringArguments,
    conditions: &[Switch; 2],
    (turns, margin): (u32, f64),
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    // What cannot be planned or stored is reported before anything is switched.
    let prepared = question::prepare(question)?;
    if typed.dry_run {
        return pipeline::dry_run(&prepared, typed, terminal);
    }
    let store = stored::open(&typed.store)?;
    let cancel = signals::cancel_on_signals()?;
    let mut listening = Listening { terminal, echo: typed.events };
    let runs =
        switching::measure(question, conditions, turns, (&store, &cancel), &mut listening)?;
    show(typed, conditions, (&runs, margin), terminal)?;
    let failed = runs.iter().flatten().find_map(|run| pipeline::verdict(&summarize(run)).err());
    failed.map_or(Ok(0), Err)
}

fn show(
    typed: &MeasuringArguments,
    conditions: &[Switch; 2],
    (runs, margin): (&[Vec<Run>; 2], f64),
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    if typed.events {
        return Ok(());
    }
    let side = |index: usize| {
        let (first, more) = runs[index].split_first()?;
        Some(Condition { name: &conditions[index].name, first, more })
    };
    let (Some(a), Some(b)) = (side(0), side(1)) else { return Ok(()) };
    let comparison = compare(a, b, margin);
    if typed.json {
        terminal.print(&render::json::comparison(&comparison));
        return Ok(());
    }
    let text = terminal.text(&build::comparison(&comparison));
    terminal.print(&text);
    let [a, b] = [&comparison.a, &comparison.b].map(|side| side.runs.join(","));
    let again = format!(" --margin {}", Quantity::new(margin, Unit::Ratio));
    terminal.print(&format!(
        "\nEvery run is stored. The same again: assay compare {a} {b}{again}\n"
    ));
    Ok(())
}
