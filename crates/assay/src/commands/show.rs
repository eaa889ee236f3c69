//! `assay show` and `assay report`: a stored run, printed or written as a page.

use assay_model::run::Run;
use assay_model::summary::Summary;
use assay_report::{anonymous, build, render};
use assay_stats::summarize::summarize;

use crate::arguments::{Format, ReportArguments, ShowArguments};
use crate::page::Page;
use crate::stored;
use crate::terminal::Terminal;
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
            let summary = summarize(&read.run);
            let text = page(&read.run, &summary, |page| page.rendered(format, terminal))?;
            terminal.print(&text);
        }
    }
    Ok(stored::exit_code(&read))
}

pub(crate) fn report(typed: &ReportArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    typed.language.language().set();
    let read = stored::read(&typed.store, &typed.run)?;
    stored::complain(&read, terminal);
    let mut run = read.run.clone();
    if typed.anonymous {
        anonymous::run(&mut run).map_err(|error| {
            Failure::new(Kind::Internal, "the run cannot be made anonymous").because(&error)
        })?;
    }
    let summary = summarize(&run);
    page(&run, &summary, |page| page.publish(&typed.page, terminal))?;
    Ok(stored::exit_code(&read))
}

/// The stored run as a page, for `publish`.
fn page<T>(run: &Run, summary: &Summary, publish: impl FnOnce(Page<'_>) -> T) -> T {
    publish(Page {
        document: build::run(summary, Some(run)),
        json: &|| render::json::summary(summary),
        csv: &|| render::csv::summary(summary),
        summary: Some(summary),
    })
}
