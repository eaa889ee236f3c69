//! `assay show` and `assay report`: a stored run, printed or written as a page.

use std::io::Write as _;
use std::path::Path;

use assay_report::{build, render};
use assay_stats::summarize::summarize;

use crate::arguments::{Format, ReportArguments, ShowArguments, StoreArguments};
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{pipeline, stored};

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
        Some(path) => write_beside(path, &text)?,
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
        Format::Html => render::html::document(&page(), Some(&summary)),
    })
}

/// Writes a file whole or not at all.
pub(crate) fn write_beside(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    });
    written.map_err(|error| {
        Failure::measurement(format!("{} cannot be written", path.display()))
            .because(&error)
            .advise("name a file in a folder that exists and is yours with --output")
    })
}
