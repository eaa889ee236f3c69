//! `assay show` and `assay report`: print a stored run or write it as a page.

use std::ffi::OsStr;
use std::path::Path;

use assay_model::path_text;
use assay_model::run::Run;
use assay_model::summary::RunSummary;
use assay_report::{anonymous, build, render};

use crate::arguments::{Format, PageArguments, ReportArguments, ShowArguments};
use crate::beside::{self, Companion};
use crate::data_sheet::DataSheet;
use crate::page::{self, Page};
use crate::stored;
use crate::terminal::Terminal;
use assay_run::failure::{Failure, Kind};

pub(crate) mod in_language;

pub(crate) fn show(typed: &ShowArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let read = stored::read(&typed.store, &typed.run)?;
    stored::complain(&read, terminal);
    match typed.shape {
        Some(shape) => {
            let store = stored::existing(&typed.store)?;
            let output = typed.page.output.as_ref().map(|it| path_text::encode(it.as_os_str()));
            in_language::print(&read.run, &store, (shape, output.as_deref()), terminal)?;
        }
        None => {
            let data_sheet = typed.data_sheet.read()?;
            if typed.page.format() == Format::Learn {
                let runs = std::slice::from_ref(&read.run);
                learn((&typed.page, None), &data_sheet, runs, terminal)?;
            } else {
                let summary = data_sheet.summarize(&read.run);
                paged(&read.run, &summary, |page| page.publish(&typed.page, terminal))?;
            }
        }
    }
    Ok(stored::exit_code(&read))
}

pub(crate) fn report(typed: &ReportArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    typed.language.language().make_current();
    let data_sheet = typed.data_sheet.read()?;
    let mut code = 0;
    let mut runs = Vec::new();
    for read in stored::read_all(&typed.store, &typed.runs)? {
        stored::complain(&read, terminal);
        code = code.max(stored::exit_code(&read));
        let mut run = read.run;
        if typed.anonymous {
            anonymous::anonymise_run(&mut run).map_err(|error| {
                Failure::new(Kind::Internal, "the run cannot be made anonymous").because(&error)
            })?;
        }
        runs.push(run);
    }
    match (runs.as_slice(), typed.page.format()) {
        (_, Format::Learn) if !typed.page.json => {
            learn((&typed.page, typed.subject.clone()), &data_sheet, &runs, terminal)?;
        }
        ([run], _) => {
            paged(run, &data_sheet.summarize(run), |page| page.publish(&typed.page, terminal))?;
        }
        _ => {
            return Err(Failure::usage("several runs make one page with --format learn alone")
                .advise("name one run, or look at them with `assay compare`"));
        }
    }
    Ok(code)
}

/// Renders one or several runs as a page for publication.
fn learn(
    (typed, subject): (&PageArguments, Option<String>),
    data_sheet: &DataSheet,
    runs: &[Run],
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let summaries: Vec<RunSummary> = runs.iter().map(|run| data_sheet.summarize(run)).collect();
    let subject = subject.unwrap_or_else(|| build::default_subject(&summaries));
    let published = build::learn(&subject, &summaries.iter().collect::<Vec<_>>(), runs);
    let stem = typed.output.as_deref().and_then(Path::file_stem).and_then(OsStr::to_str);
    let (text, pictures) = render::learn::document(&published, stem);
    let Some(page) = &typed.output else { return page::put(&text, typed, terminal) };
    let beside_it = |name: &str| page.with_file_name(name);
    let companions: Vec<Companion<'_>> = pictures
        .iter()
        .map(|it| Companion { path: beside_it(&it.name), text: &it.svg })
        .collect();
    beside::check(page, &companions)?;
    page::put(&text, typed, terminal)?;
    beside::write(&companions, terminal)
}

/// Passes the stored run as a page to `publish`.
fn paged<T>(run: &Run, summary: &RunSummary, publish: impl FnOnce(Page<'_>) -> T) -> T {
    publish(Page {
        document: build::run(summary, Some(run)),
        json: &|| render::json::summary(summary),
        csv: &|| render::csv::summary(summary),
        again: Some(&|| build::run_page(summary, Some(run))),
    })
}
