//! `assay show` and `assay report`: a stored run, printed or written as a page.

use assay_report::document::Document;
use assay_report::{build, render};
use assay_stats::summarize::summarize;

use crate::arguments::{Format, ReportArguments, ShowArguments, StoreArguments};
use crate::terminal::Terminal;
use crate::{output_file, pipeline, stored};
use assay_run::failure::Failure;

pub(crate) fn show(typed: &ShowArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let format = if typed.json { Format::Json } else { Format::Text };
    let text = rendered(&typed.run, &typed.store, format, terminal)?;
    terminal.print(&text);
    Ok(0)
}

pub(crate) fn report(typed: &ReportArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let text = rendered(&typed.run, &typed.store, typed.format, terminal)?;
    match &typed.output {
        None => terminal.print(&text),
        Some(path) => output_file::write(path, &text)?,
    }
    Ok(0)
}

/// The stored run in the wanted format.
fn rendered(
    name: &str,
    typed: &StoreArguments,
    format: Format,
    terminal: &Terminal,
) -> Result<String, Failure> {
    let run = stored::run(typed, name)?;
    let summary = summarize(&run);
    let page = || build::run(&summary, Some(&run));
    Ok(match format {
        Format::Json => pipeline::json(&summary)?,
        Format::Csv => render::csv::summary(&summary),
        Format::Text => terminal.text(&page()),
        Format::Markdown => render::markdown::document(&page()),
        Format::Svg => picture(&page())?,
        Format::Html => render::html::document(&page(), Some(&summary)),
    })
}

/// All plots of a page as one picture.
pub(super) fn picture(page: &Document) -> Result<String, Failure> {
    render::svg::document(page).ok_or_else(|| {
        Failure::usage(format!("there is no plot in \"{}\"", page.title))
            .explain("plots are drawn of ladders of sizes, of scaling, and of response curves")
            .advise("`--format html` shows everything there is")
    })
}
