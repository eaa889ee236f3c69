//! A page in the requested format, on the terminal or in a file: a run, a comparison or a history.

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

/// One document in all its forms; machine-readable ones are made only when they are asked for.
pub(crate) struct Page<'a> {
    /// For people.
    pub(crate) document: Document,
    /// The JSON document.
    pub(crate) json: &'a dyn Fn() -> String,
    /// The table of all results.
    pub(crate) csv: &'a dyn Fn() -> String,
    /// What the HTML page is made of, in any language; none = the document.
    pub(crate) again: Option<&'a dyn Fn() -> Document>,
}

impl Page<'_> {
    /// Prints or writes it as the command line says.
    ///
    /// # Errors
    /// A picture of a page without a plot, a file that cannot be written.
    pub(crate) fn publish(
        &self,
        typed: &PageArguments,
        terminal: &mut Terminal,
    ) -> Result<(), Failure> {
        let format = typed.format();
        let file = typed.output.as_deref().filter(|_| format == Format::Html);
        let text = match (self.again, file) {
            // The data are a file beside the page, so that the page itself stays small.
            (Some(make), Some(file)) if has_companion(file) => {
                let (data, text) =
                    (beside::data_of(file), Language::INVARIANT.write(self.json));
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

    /// # Errors
    /// A picture of a page without a plot.
    pub(crate) fn rendered(
        &self,
        format: Format,
        terminal: &Terminal,
    ) -> Result<String, Failure> {
        Ok(match format {
            // What programs read has one form.
            Format::Json => Language::INVARIANT.write(self.json),
            Format::Csv => Language::INVARIANT.write(self.csv),
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

/// Refuses what could not be printed or written of a run, before it is measured.
///
/// # Errors
/// A page of stored runs alone, a file that cannot be written or that would take the place of another's.
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

/// Whether the data of a page are a file beside it: of what is a pipe or a device nobody would find it.
fn has_companion(file: &Path) -> bool {
    !file.metadata().is_ok_and(|it| !it.is_file())
}

/// A page for publication was asked for of what is not stored yet, or never is.
fn only_stored() -> Failure {
    Failure::usage("only stored runs become pages for publication")
        .advise("`assay report RUN… --format learn`")
}

/// A document that is no result, in all forms that it has: as tables of results and as pictures it is refused.
/// Only what is asked for is made.
///
/// # Errors
/// A form that it has not, a file that cannot be written, a value that is no JSON.
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

/// An answer of a few lines, in words or for scripts.
///
/// # Errors
/// A file that cannot be written, a value that is no JSON.
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

/// Prints a page, or writes it where the command line says.
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

/// Pretty JSON with a newline at its end.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| {
        Failure::new(Kind::Internal, "the result cannot be written as JSON").because(&error)
    })
}

/// All plots of a page as one picture.
fn picture(page: &Document) -> Result<String, Failure> {
    render::svg::document(page).ok_or_else(|| no_plot(&page.title))
}

/// Of what nothing is drawn.
pub(crate) fn no_plot(title: &str) -> Failure {
    Failure::usage(format!("there is no plot in \"{title}\""))
        .explain(
            "plots are drawn of ladders of sizes, of scaling, of response curves and histories",
        )
        .advise("`--format html` shows everything there is")
}
