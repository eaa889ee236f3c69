//! Pages in the requested format, on the terminal or in a file: runs, comparisons, histories.

use std::ffi::OsStr;
use std::path::Path;

use assay_console::json_document::to_json;
use assay_model::comparison::Comparison;
use assay_model::level_comparison::LevelComparison;
use assay_report::document::Document;
use assay_report::locale::Language;
use assay_report::{build, render};
use assay_run::failure::CommandFailure;

use serde::Serialize;

use crate::arguments::{BriefPageArguments, PageArguments, PageFormat};
use crate::output_file;
use crate::terminal::Terminal;
use assay_console::companions::{self, CompanionFile};

/// Page in all its formats, rendered on demand.
pub(crate) struct OutputPage<'a> {
    /// Document for the formats that people read.
    document: Document,
    json: Box<dyn Fn() -> String + 'a>,
    csv: Box<dyn Fn() -> String + 'a>,
    /// Builds the document for the HTML page in each of its languages; `None` uses `document`.
    html_document: Option<Box<dyn Fn() -> Document + 'a>>,
}

impl<'a> OutputPage<'a> {
    /// Returns the page of a document with its JSON document and its table of all results.
    pub(crate) fn new(
        document: Document,
        json: impl Fn() -> String + 'a,
        csv: impl Fn() -> String + 'a,
    ) -> Self {
        Self { document, json: Box::new(json), csv: Box::new(csv), html_document: None }
    }

    /// Returns the page of a value that has a function for each format.
    pub(crate) fn from_value<T>(
        value: &'a T,
        build: fn(&T) -> Document,
        json: fn(&T) -> String,
        csv: fn(&T) -> String,
    ) -> Self {
        Self::new(build(value), move || json(value), move || csv(value))
            .with_html(move || build(value))
    }

    /// Returns the page with a document of its own for HTML, built in each language.
    pub(crate) fn with_html(self, build: impl Fn() -> Document + 'a) -> Self {
        Self { html_document: Some(Box::new(build)), ..self }
    }

    /// Returns the page of a comparison.
    pub(crate) fn from_comparison(comparison: &'a Comparison) -> Self {
        let (json, csv) = (render::json::comparison, render::csv::comparison);
        Self::from_value(comparison, build::comparison, json, csv)
    }

    /// Returns the page of a comparison of levels.
    pub(crate) fn from_levels(comparison: &'a LevelComparison) -> Self {
        let (json, csv) = (render::json::level_comparison, render::csv::level_comparison);
        Self::from_value(comparison, build::level_comparison, json, csv)
    }

    /// Prints or writes the page as the options require.
    ///
    /// # Errors
    /// If an image is requested of a page without a plot, or the file cannot be written.
    pub(crate) fn publish(
        &self,
        typed: &PageArguments,
        terminal: &mut Terminal,
    ) -> Result<(), CommandFailure> {
        let format = typed.format();
        let file = typed.output.as_deref().filter(|_| format == PageFormat::Html);
        let text = match (&self.html_document, file) {
            // The data goes into a companion file, so that the page stays small.
            (Some(build), Some(file)) if has_companion(file) => {
                let (data, text) =
                    (companions::data_path(file), Language::INVARIANT.scope(&*self.json));
                let name = data.file_name().and_then(OsStr::to_str).map(str::to_owned);
                let companions = [CompanionFile { path: data, text: &text }];
                companions::check(file, &companions)?;
                print_or_write(&render::html::page(build, name.as_deref()), typed, terminal)?;
                return companions::write(&companions, terminal);
            }
            _ => self.render(format, terminal)?,
        };
        print_or_write(&text, typed, terminal)
    }

    /// Renders the page in a format.
    ///
    /// # Errors
    /// If an image is requested of a page without a plot.
    pub(crate) fn render(
        &self,
        format: PageFormat,
        terminal: &Terminal,
    ) -> Result<String, CommandFailure> {
        Ok(match format {
            // Machine-readable formats do not depend on the language.
            PageFormat::Json => Language::INVARIANT.scope(&*self.json),
            PageFormat::Csv => Language::INVARIANT.scope(&*self.csv),
            PageFormat::Text => terminal.render_document(&self.document),
            PageFormat::Markdown => render::markdown::document(&self.document),
            PageFormat::Svg => render_picture(&self.document)?,
            PageFormat::Learn => return Err(needs_stored_run()),
            PageFormat::Html => match &self.html_document {
                Some(build) => render::html::page(build, None),
                None => render::html::document(&self.document),
            },
        })
    }
}

/// Checks before a measurement that its page can be written.
///
/// # Errors
/// If the format needs a stored run, the file cannot be written, or the companion file would
/// replace a file that assay did not write.
pub(crate) fn check_output(typed: &PageArguments) -> Result<(), CommandFailure> {
    let format = typed.format();
    if format == PageFormat::Learn {
        return Err(needs_stored_run());
    }
    let Some(file) = &typed.output else { return Ok(()) };
    output_file::check_writable(file)?;
    if format == PageFormat::Html && has_companion(file) {
        companions::check(
            file,
            &[CompanionFile { path: companions::data_path(file), text: "" }],
        )?;
        companions::check_page(file)?;
    }
    Ok(())
}

/// Whether the data goes into a companion file next to the page. Pipes and devices have none.
fn has_companion(file: &Path) -> bool {
    !output_file::is_stream(file)
}

/// Returns the failure for `--format learn` with results that are not stored.
fn needs_stored_run() -> CommandFailure {
    CommandFailure::usage("--format learn needs a stored run")
        .advise("use `assay report RUN… --format learn`")
}

/// Prints or writes a document that is not about a run, in the requested format.
///
/// # Errors
/// An unsupported format, a file that cannot be written, or a value that cannot be serialized.
pub(crate) fn publish<J: Serialize>(
    document: impl Fn() -> Document,
    json: impl FnOnce() -> J,
    typed: &PageArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let text = match typed.format() {
        PageFormat::Json => to_json(&json())?,
        PageFormat::Csv | PageFormat::Learn => {
            return Err(CommandFailure::usage(format!(
                "\"{}\" has no table of results",
                document().title
            ))
            .advise("use `--format json` for programs, `markdown` or `html` for people"));
        }
        format @ (PageFormat::Text
        | PageFormat::Markdown
        | PageFormat::Html
        | PageFormat::Svg) => OutputPage::new(document(), String::new, String::new)
            .with_html(document)
            .render(format, terminal)?,
    };
    print_or_write(&text, typed, terminal)
}

/// Prints or writes lines as they are, or as JSON.
///
/// # Errors
/// A file that cannot be written, or a value that cannot be serialized.
pub(crate) fn publish_lines(
    text: &str,
    json: &impl Serialize,
    typed: &BriefPageArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    match typed.is_json() {
        true => write_or_print(&to_json(json)?, typed.output.as_deref(), terminal),
        false => write_or_print(text, typed.output.as_deref(), terminal),
    }
}

/// Prints or writes a result of a few lines, as text that the terminal wraps, or as JSON.
///
/// # Errors
/// A file that cannot be written, or a value that cannot be serialized.
pub(crate) fn publish_brief(
    text: &str,
    json: &impl Serialize,
    typed: &BriefPageArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    if !typed.is_interactive() {
        return publish_lines(text, json, typed, terminal);
    }
    let text = terminal.wrap(text);
    terminal.print_line(&text);
    Ok(())
}

/// Prints a page, or writes it to the requested file.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn print_or_write(
    text: &str,
    typed: &PageArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    if let (PageFormat::Html, Some(file)) = (typed.format(), &typed.output) {
        companions::check_page(file)?;
    }
    write_or_print(text, typed.output.as_deref(), terminal)
}

fn write_or_print(
    text: &str,
    file: Option<&Path>,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    match file {
        Some(path) => output_file::write(path, text),
        None => {
            terminal.print(text);
            Ok(())
        }
    }
}

/// Renders all plots of a page as one image.
fn render_picture(page: &Document) -> Result<String, CommandFailure> {
    render::svg::document(page).ok_or_else(|| no_plot_failure(&page.title))
}

/// Returns the failure for an image of a page without a plot.
pub(crate) fn no_plot_failure(title: &str) -> CommandFailure {
    CommandFailure::usage(format!("no plots in \"{title}\""))
        .with_reason("only size ladders, scaling, response curves and histories have plots")
        .advise("use `--format html` for all results")
}
