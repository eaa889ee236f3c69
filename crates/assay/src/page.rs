//! Pages in the requested format, on the terminal or in a file: runs, comparisons, histories.

use std::ffi::OsStr;
use std::path::Path;

use assay_report::document::Document;
use assay_report::locale::Language;
use assay_report::render;
use assay_run::failure::{Failure, Kind};

use serde::Serialize;

use crate::arguments::{AnswerArguments, Format, PageArguments};
use crate::beside::{self, Companion};
use crate::output_file;
use crate::terminal::Terminal;

/// Page in all its formats; machine-readable ones are rendered on demand.
pub(crate) struct Page<'a> {
    /// Document for people.
    pub(crate) document: Document,
    /// Renders the JSON document.
    pub(crate) json: &'a dyn Fn() -> String,
    /// Renders the table of all results.
    pub(crate) csv: &'a dyn Fn() -> String,
    /// Builds the document for the HTML page in each of its languages; `None` uses `document`.
    pub(crate) again: Option<&'a dyn Fn() -> Document>,
}

impl Page<'_> {
    /// Prints or writes the page as the options require.
    ///
    /// # Errors
    /// An image of a page without a plot, or a file that cannot be written.
    pub(crate) fn publish(
        &self,
        typed: &PageArguments,
        terminal: &mut Terminal,
    ) -> Result<(), Failure> {
        let format = typed.format();
        let file = typed.output.as_deref().filter(|_| format == Format::Html);
        let text = match (self.again, file) {
            // The data goes into a companion file, so that the page stays small.
            (Some(make), Some(file)) if has_companion(file) => {
                let (data, text) =
                    (beside::data_of(file), Language::INVARIANT.scope(self.json));
                let name = data.file_name().and_then(OsStr::to_str).map(str::to_owned);
                let companions = [Companion { path: data, text: &text }];
                beside::check(file, &companions)?;
                put(&render::html::page(make, name.as_deref()), typed, terminal)?;
                return beside::write(&companions, terminal);
            }
            _ => self.rendered(format, terminal)?,
        };
        put(&text, typed, terminal)
    }

    /// Renders the page in a format.
    ///
    /// # Errors
    /// An image of a page without a plot.
    pub(crate) fn rendered(
        &self,
        format: Format,
        terminal: &Terminal,
    ) -> Result<String, Failure> {
        Ok(match format {
            // Machine-readable formats do not depend on the language.
            Format::Json => Language::INVARIANT.scope(self.json),
            Format::Csv => Language::INVARIANT.scope(self.csv),
            Format::Text => terminal.text(&self.document),
            Format::Markdown => render::markdown::document(&self.document),
            Format::Svg => picture(&self.document)?,
            Format::Learn => return Err(only_stored()),
            Format::Html => match self.again {
                Some(make) => render::html::page(make, None),
                None => render::html::document(&self.document),
            },
        })
    }
}

/// Rejects a page that could not be printed or written, before the run is measured.
///
/// # Errors
/// A page for stored runs only, or a file that cannot be written or would replace a foreign one.
pub(crate) fn check(typed: &PageArguments) -> Result<(), Failure> {
    let format = typed.format();
    if format == Format::Learn {
        return Err(only_stored());
    }
    let Some(file) = &typed.output else { return Ok(()) };
    output_file::check(file)?;
    if format == Format::Html && has_companion(file) {
        beside::check(file, &[Companion { path: beside::data_of(file), text: "" }])?;
    }
    Ok(())
}

/// Whether the data goes into a companion file. Not for pipes and devices, next to which it would
/// not be found.
fn has_companion(file: &Path) -> bool {
    !file.metadata().is_ok_and(|it| !it.is_file())
}

/// Returns the failure for a publication page of results that are not stored.
fn only_stored() -> Failure {
    Failure::usage("only stored runs become pages for publication")
        .advise("`assay report RUN… --format learn`")
}

/// Publishes a document other than a run. It has no table of results, and a plot is required for an
/// image. Only the requested format is rendered.
///
/// # Errors
/// An unsupported format, a file that cannot be written, or a value that cannot be serialized.
pub(crate) fn publish<J: Serialize>(
    document: impl FnOnce() -> Document,
    json: impl FnOnce() -> J,
    typed: &PageArguments,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let text = match typed.format() {
        Format::Json => self::json(&json())?,
        Format::Csv | Format::Learn => {
            return Err(Failure::usage(format!(
                "\"{}\" is no table of results",
                document().title
            ))
            .advise("`--format json` is for programs, `markdown` and `html` for people"));
        }
        format @ (Format::Text | Format::Markdown | Format::Html | Format::Svg) => {
            let none = String::new;
            Page { document: document(), json: &none, csv: &none, again: None }
                .rendered(format, terminal)?
        }
    };
    put(&text, typed, terminal)
}

/// Prints or writes a result of a few lines, as text or as JSON.
///
/// # Errors
/// A file that cannot be written, or a value that cannot be serialized.
pub(crate) fn answer(
    text: &str,
    json: &impl Serialize,
    typed: &AnswerArguments,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let text = if typed.is_json() { self::json(json)? } else { text.to_owned() };
    match &typed.output {
        Some(path) => output_file::write(path, &text)?,
        None if typed.is_json() => terminal.print(&text),
        None => {
            let text = terminal.fitted(&text);
            terminal.print_line(&text);
        }
    }
    Ok(())
}

/// Prints a page, or writes it to the requested file.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn put(
    text: &str,
    typed: &PageArguments,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    match &typed.output {
        None => {
            terminal.print(text);
            Ok(())
        }
        Some(path) => output_file::write(path, text),
    }
}

/// Formats a value as indented JSON with a final newline.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| {
        Failure::new(Kind::Internal, "the result cannot be written as JSON").because(&error)
    })
}

/// Renders all plots of a page as one image.
fn picture(page: &Document) -> Result<String, Failure> {
    render::svg::document(page).ok_or_else(|| no_plot(&page.title))
}

/// Returns the failure for an image of a page without a plot.
pub(crate) fn no_plot(title: &str) -> Failure {
    Failure::usage(format!("there is no plot in \"{title}\""))
        .explain(
            "plots are drawn of ladders of sizes, of scaling, of response curves and histories",
        )
        .advise("`--format html` shows everything there is")
}
