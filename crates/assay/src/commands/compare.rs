//! `assay compare`: two conditions, each with its stored runs.

use assay_model::comparison::{Comparison, Verdict};
use assay_model::run::Run;
use assay_report::{build, render};
use assay_stats::compare::{self as statistics, Condition};

use crate::arguments::{CompareArguments, Format};
use crate::failure::{REGRESSION, UNDECIDED};
use crate::terminal::Terminal;
use crate::{output_file, pipeline, stored};
use assay_run::failure::Failure;

pub(crate) fn compare(
    typed: &CompareArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let (a, b) = (stored::runs(&typed.store, &typed.a)?, stored::runs(&typed.store, &typed.b)?);
    let (mut first, mut second) = (condition(&typed.a, &a)?, condition(&typed.b, &b)?);
    if first.name == second.name {
        (first.name, second.name) = (&typed.a, &typed.b);
    }
    let comparison = statistics::compare(first, second, typed.margin);
    let format = if typed.json { Format::Json } else { typed.format };
    let text = rendered(&comparison, format, terminal)?;
    match &typed.output {
        None => terminal.print(&text),
        Some(path) => output_file::write(path, &text)?,
    }
    exit_code(&comparison)
}

/// The label that all runs share, or what was typed.
fn condition<'a>(typed: &'a str, runs: &'a [Run]) -> Result<Condition<'a>, Failure> {
    let Some((first, more)) = runs.split_first() else {
        return Err(Failure::usage(format!("`{typed}` names no run")));
    };
    let label = first.started.label.as_deref();
    let shared = label.filter(|_| more.iter().all(|run| run.started.label.as_deref() == label));
    Ok(Condition { name: shared.unwrap_or(typed), first, more })
}

fn rendered(
    comparison: &Comparison,
    format: Format,
    terminal: &Terminal,
) -> Result<String, Failure> {
    let page = || build::comparison(comparison);
    Ok(match format {
        Format::Json => pipeline::json(comparison)?,
        Format::Csv => render::csv::comparison(comparison),
        Format::Text => terminal.text(&page()),
        Format::Markdown => render::markdown::document(&page()),
        Format::Svg => super::show::picture(&page())?,
        Format::Html => render::html::document(&page(), None),
    })
}

/// What is worse counts first; what cannot be told is no success.
fn exit_code(comparison: &Comparison) -> Result<u8, Failure> {
    if comparison.pairs.is_empty() {
        return Err(Failure::usage("the two have nothing in common to compare")
            .advise("compare runs of the same suite; `assay list` shows them"));
    }
    Ok(if comparison.count(Verdict::Worse) > 0 {
        REGRESSION
    } else if comparison.count(Verdict::CannotTell) > 0 {
        UNDECIDED
    } else {
        0
    })
}
