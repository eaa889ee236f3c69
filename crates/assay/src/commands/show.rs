//! `assay show` and `assay report`: a stored run, printed or written as a page.

use assay_model::run::Run;
use assay_report::document::Document;
use assay_report::{anonymous, build, render};
use assay_stats::summarize::summarize;

use crate::arguments::{Format, ReportArguments, ShowArguments};
use crate::terminal::Terminal;
use crate::{output_file, stored};
use assay_run::failure::{Failure, Kind};

pub(crate) mod in_language;

pub(crate) fn show(typed: &ShowArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let format = if typed.json { Format::Json } else { Format::Text };
    let read = stored::read(&typed.store, &typed.run)?;
    stored::complain(&read, terminal);
    match typed.shape {
        Some(shape) => {
            let store = stored::existing(&typed.store)?;
            let shape = (shape, typed.output.as_deref());
            in_language::print(&read.run, &store, shape, terminal)?;
        }
        None => {
            let text = rendered(&read.run, format, terminal)?;
            terminal.print(&text);
        }
    }
    Ok(stored::exit_code(&read))
}

pub(crate) fn report(typed: &ReportArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let read = stored::read(&typed.store, &typed.run)?;
    stored::complain(&read, terminal);
    let mut run = read.run.clone();
    if typed.anonymous {
        anonymous::run(&mut run).map_err(|error| {
            Failure::new(Kind::Internal, "the run cannot be made anonymous").because(&error)
        })?;
    }
    let text = rendered(&run, typed.format, terminal)?;
    match &typed.output {
        None => terminal.print(&text),
        Some(path) => output_file::write(path, &text)?,
    }
    Ok(stored::exit_code(&read))
}

/// The stored run in the wanted format.
fn rendered(run: &Run, format: Format, terminal: &Terminal) -> Result<String, Failure> {
    let summary = summarize(run);
    let page = || build::run(&summary, Some(run));
    Ok(match format {
        Format::Json => render::json::summary(&summary),
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
