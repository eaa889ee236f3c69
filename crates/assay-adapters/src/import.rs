//! Import of result files: detects the tool from the content, and parses with the reader that is
//! also used when assay starts the tool.
//!
//! Units are those of each tool's source. Nothing is guessed: a dimension that the file does not
//! contain stays missing, and only the user can add it.

use std::collections::HashSet;

use thiserror::Error;

use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, is_plausible};

mod any_text;
mod collections;
mod compute;
mod contents;
mod error_lines;
pub mod explanation;
mod file_time;
mod fio;
mod foreign;
mod json_documents;
mod laws;
mod mpi;
mod network;
mod prepared_text;
mod program_output;
mod storage;

pub use any_text::{
    FigureError, FigureRule, FoundFigure, LinePattern, find_single_figures, read_figures,
};
pub use contents::{FailedPart, FileContents, FilePart, ImportedMeasurement, LineSpan};
use error_lines::{find_program_message, locate_error, locate_parts};
pub use file_time::FileTime;
use prepared_text::{PreparedText, prepare_text};
pub use prepared_text::{decode_text, is_text_beginning};
pub use program_output::{OutputFigure, find_format, read_output};

/// Maximum size of a file. The raw output of a large fio run with embedded logs has some megabytes.
pub const MAX_BYTES: u64 = 64 << 20;
/// Number of samples that any file may have, and bytes of a file for each further one. A day of
/// Vdbench's seconds has 260,000 samples in 23 MB.
const FREE_SAMPLES: usize = 100_000;
const BYTES_PER_SAMPLE: usize = 120;
/// Measured cost in bytes of a measurement, of a series, of a sample, and of each byte of a name or
/// of a text dimension, which several events repeat.
const MEASUREMENT_COST: usize = 6 << 10;
const SERIES_COST: usize = 6 << 10;
const SAMPLE_COST: usize = 240;
const TEXT_COST: usize = 10;
/// Maximum cost of all results of a file in bytes; twice the size of the file is added. The rest of
/// the 64 MiB is the program.
const MAX_COST: usize = 36 << 20;
/// Maximum number of machines in one file: each becomes a run.
const MAX_SYSTEMS: usize = 100;
/// Maximum number of lines of a format that is read by lines, and maximum bytes of one of them.
const MAX_LINES: usize = 1_000_000;
const MAX_LINE_BYTES: usize = 1 << 20;
/// Maximum number of bytes that the copies of a heading take: each test of a file has one.
const MAX_COPIED_BYTES: usize = 8 << 20;
/// Maximum number of parts of a file that are listed without being a measurement.
const MAX_PARTS: usize = 20_000;
/// Maximum number of bytes in the name of a measurement, which each of its series repeats.
const MAX_NAME_BYTES: usize = 1024;

/// Format of result files.
#[derive(Debug, Clone, Copy)]
pub struct ImportFormat {
    /// Stored name: `fio-json`.
    pub name: &'static str,
    /// Name of the tool that writes it, as in `--by`.
    pub tool: &'static str,
    /// Description for help.
    pub about: &'static str,
    /// Figures that are imported.
    pub imported: &'static str,
    /// Contents that are named and left out.
    pub left_out: &'static str,
    /// Whether a text has this format, from marks that only this tool writes.
    matches: fn(&str) -> bool,
    read: fn(&str) -> Result<FileContents, ToolError>,
    /// Whether outputs of other tools are parts of such a file.
    holds_others: bool,
}

/// Formats by family, in the order of detection: the marks of earlier families are more specific.
pub const FORMATS: [&[ImportFormat]; 6] = [
    collections::FORMATS,
    fio::FORMATS,
    network::FORMATS,
    storage::FORMATS,
    mpi::FORMATS,
    compute::FORMATS,
];

/// Returns every format in the order of detection.
pub fn formats() -> impl Iterator<Item = &'static ImportFormat> {
    FORMATS.into_iter().flatten()
}

const fn format(
    name: &'static str,
    tool: &'static str,
    about: &'static str,
    is: fn(&str) -> bool,
    read: fn(&str) -> Result<FileContents, ToolError>,
) -> ImportFormat {
    let (imported, left_out) = ("", "");
    let holds_others = false;
    ImportFormat { name, tool, about, imported, left_out, matches: is, read, holds_others }
}

impl ImportFormat {
    /// Whether the syntax of the format shows that a file is whole.
    fn has_own_end(&self) -> bool {
        self.name.ends_with("-json") || self.name.ends_with("-xml")
    }

    /// Allows outputs of other tools in such a file.
    const fn with_others(self) -> Self {
        Self { holds_others: true, ..self }
    }

    /// Adds the contents for the documentation: imported figures, and parts that are left out.
    const fn with_contents(self, imported: &'static str, left_out: &'static str) -> Self {
        Self { imported, left_out, ..self }
    }
}

/// Reasons to reject a file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    /// The file is not a text.
    #[error("not a text file: line {line} contains a NUL byte")]
    NulByte {
        /// Its line, from 1.
        line: usize,
    },
    /// No known tool writes this text.
    #[error("unknown format{}", begins(.first))]
    UnknownFormat {
        /// First line that is not blank.
        first: String,
    },
    /// The text is a document that assay wrote.
    #[error("it is a document of assay, not the output of a tool")]
    OwnDocument,
    /// The output of a program is not of the format in which the user has it read.
    #[error("not the output of {about}")]
    OtherFormat {
        /// Description of the requested format.
        about: &'static str,
    },
    /// The file has no result, but the message of a program.
    #[error("no result: {program} reported: {message}")]
    ProgramFailed {
        /// Name of the program.
        program: &'static str,
        /// Its line, from 1.
        line: usize,
        /// Its message.
        message: String,
    },
    /// The tool is known, but its output is not a measurement.
    #[error("recognised as {about}, but {error}")]
    Malformed {
        /// Description of the detected format.
        about: &'static str,
        /// Line of the error, from 1, if it can be located.
        line: Option<usize>,
        /// Whether nothing sound follows the error, so that the file may be cut off there.
        is_at_end: bool,
        /// Error of the tool's reader.
        error: ToolError,
    },
}

const MEND_AND_REPEAT: &str =
    "the tool measured nothing: mend what it reports, and run it again";

impl ImportError {
    /// Returns the line of the error.
    pub const fn line(&self) -> Option<usize> {
        match self {
            Self::NulByte { line } | Self::ProgramFailed { line, .. } => Some(*line),
            Self::UnknownFormat { .. } | Self::OwnDocument => Some(1),
            Self::OtherFormat { .. } => None,
            Self::Malformed { line, .. } => *line,
        }
    }

    /// Returns the advice for the user.
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::NulByte { .. } => {
                "a crash or a full disk may have damaged the file: copy it again"
            }
            Self::UnknownFormat { .. } => {
                "give the output as the tool wrote it, whole and with its heading; `assay help \
                 formats` lists the supported formats"
            }
            Self::OwnDocument => {
                "its runs are in the store that it came from: read them with `--store DIR`"
            }
            Self::OtherFormat { .. } => {
                "look at the stored raw output; `assay help formats` describes each format"
            }
            Self::ProgramFailed { .. } => MEND_AND_REPEAT,
            Self::Malformed { error, is_at_end, .. } => match error {
                ToolError::Truncated { .. } if *is_at_end => {
                    "the file is cut off: copy it again"
                }
                ToolError::Truncated { .. }
                | ToolError::Missing { .. }
                | ToolError::InvalidNumber { .. }
                | ToolError::UnknownColumn { .. } => {
                    "check that line; the file may have been edited, or come from a version of \
                     the tool that assay does not support"
                }
                ToolError::Contradiction { .. } | ToolError::InconsistentLine { .. } => {
                    "its figures contradict each other, so that one of them is wrong: check the \
                     program that wrote the file"
                }
                ToolError::ProcessFailed { .. } => MEND_AND_REPEAT,
                other => other.advice(),
            },
        }
    }
}

fn begins(first: &str) -> String {
    if first.is_empty() {
        ": the file is empty".to_owned()
    } else {
        format!("; it begins with {first:?}")
    }
}

/// Result file whose format was recognised.
#[derive(Debug, Clone)]
pub struct ReadFile {
    /// Its format.
    pub format: &'static ImportFormat,
    /// Names of the line prefixes that were removed.
    pub prefixes: Vec<&'static str>,
    /// Its measurements, and the account of everything else.
    pub contents: FileContents,
}

/// Detects the format of a text and parses its measurements. Contents that the format has and assay
/// does not import are listed, and so are damaged parts.
///
/// # Errors
/// If no known tool writes such a text, or its output has no measurement.
pub fn read(text: &str) -> Result<ReadFile, ImportError> {
    reject_nul(text)?;
    let prepared = prepare_text(text);
    match formats().find(|format| (format.matches)(&prepared.text)) {
        Some(format) => read_as(format, &prepared),
        None => Err(refuse_unknown(&prepared)),
    }
}

/// Parses the measurements of a text in this format.
fn read_as(
    format: &'static ImportFormat,
    prepared: &PreparedText,
) -> Result<ReadFile, ImportError> {
    let text = prepared.text.as_str();
    let refused = |lines: Option<&LineSpan>, error: ToolError, failed: &[FailedPart]| {
        let place = locate_error(text, lines, &error, failed);
        let line = Some(prepared.file_line(place.line));
        let is_at_end = place.is_at_end;
        ImportError::Malformed { about: format.about, line, is_at_end, error }
    };
    check_lines(format, text).map_err(|error| refused(None, error, &[]))?;
    let mut contents = (format.read)(text).map_err(|error| refused(None, error, &[]))?;
    fail_cut_measurements(format, text, &mut contents);
    name_other_tools(format, text, &mut contents);
    if contents.measurements.is_empty()
        && let Some(failed) = contents.failed.first()
    {
        let lines = failed.lines.as_ref();
        return Err(refused(lines, failed.error.clone(), &contents.failed));
    }
    let omitted = contents.left_out.first().and_then(|part| part.lines.as_ref());
    check_measurements(text, &contents)
        .map_err(|error| refused(omitted, error, &contents.failed))?;
    for measurement in &mut contents.measurements {
        check_conditions(measurement, format);
        measurement.began = measurement.began.or(prepared.first_time);
    }
    locate_parts(text, &mut contents);
    contents.map_lines(|line| prepared.file_line(line));
    Ok(ReadFile { format, prefixes: prepared.prefixes.clone(), contents })
}

/// Checks that conditions explain the figures of a measurement: a size that does not is replaced, with
/// a doubt. Conditions that the user adds are checked again.
pub fn check_conditions(measurement: &mut ImportedMeasurement, format: &ImportFormat) {
    laws::explain_figures(measurement, format.tool == "ior");
    laws::check_in_flight(measurement);
}

/// Names other tools whose marks are in the file, which is read in one format.
fn name_other_tools(format: &ImportFormat, text: &str, contents: &mut FileContents) {
    if format.holds_others {
        return;
    }
    let others = formats().filter(|it| it.tool != format.tool && (it.matches)(text));
    for other in others {
        let line = find_marked_line(text, other);
        let why = format!("the file is read as {}: give it a file of its own", format.about);
        contents.leave_out(Some(line..=line), format!("output of {}", other.about), why);
    }
}

/// Returns the first line up to which a text has the marks of a format.
fn find_marked_line(text: &str, format: &ImportFormat) -> usize {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    1 + ends.partition_point(|end| !(format.matches)(&text[..*end]))
}

/// Beginning of every JSON document of assay.
const OWN_DOCUMENT: &str = "{\n  \"schema\": ";

/// Returns the refusal of a text without a known format.
fn refuse_unknown(prepared: &PreparedText) -> ImportError {
    let text = prepared.text.as_str();
    if let Some((line, program, message)) = find_program_message(text) {
        let (line, message) = (prepared.file_line(line), shorten(message));
        return ImportError::ProgramFailed { program, line, message };
    }
    let version = text.strip_prefix(OWN_DOCUMENT);
    if version.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit())) {
        return ImportError::OwnDocument;
    }
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    ImportError::UnknownFormat { first: shorten(first.unwrap_or_default()) }
}

/// Rejects a text with a NUL byte, which no tool prints.
fn reject_nul(text: &str) -> Result<(), ImportError> {
    match text.find('\0') {
        None => Ok(()),
        Some(at) => Err(ImportError::NulByte { line: 1 + text[..at].matches('\n').count() }),
    }
}

/// Moves measurements of the last line to the failed parts if the file ends within a number. Their
/// last figure may lack digits.
fn fail_cut_measurements(format: &ImportFormat, text: &str, contents: &mut FileContents) {
    if format.has_own_end() {
        return;
    }
    let Err(error) = reject_cut_number(text) else { return };
    let last_line = text.lines().count();
    let is_last = |it: &ImportedMeasurement| {
        it.lines.as_ref().is_none_or(|lines| *lines.end() >= last_line)
    };
    let found = std::mem::take(&mut contents.measurements);
    for measurement in found {
        if is_last(&measurement) {
            let lines = Some(last_line..=last_line);
            contents.add_part(lines, measurement.name, Err(error.clone()));
        } else {
            contents.measurements.push(measurement);
        }
    }
}

/// Checks that there are figures, not too many, and that each of them is plausible.
fn check_measurements(text: &str, contents: &FileContents) -> Result<(), ToolError> {
    let found = &contents.measurements;
    contents.check_size()?;
    if found.iter().all(|it| it.parsed.values.is_empty()) {
        return Err(match contents.left_out.first() {
            None => missing("known figure"),
            Some(part) => {
                missing(&format!("figure that assay imports: {}: {}", part.what, part.why))
            }
        });
    }
    check_limit(found.len(), ("measurements", MAX_MEASUREMENTS))?;
    let samples =
        found.iter().flat_map(|it| &it.parsed.values).map(|it| it.samples.len()).sum();
    check_limit(samples, ("samples", max_samples(text)))?;
    let systems: HashSet<&Option<String>> = found.iter().map(|it| &it.system).collect();
    check_limit(systems.len(), ("machines", MAX_SYSTEMS))?;
    let names = found.iter().flat_map(|it| [Some(&it.name), it.system.as_ref()]);
    let longest = names.flatten().map(String::len).max();
    check_limit(longest.unwrap_or(0), ("bytes in a name", MAX_NAME_BYTES))?;
    let cost = found.iter().map(storing_cost).sum();
    let limit = MAX_COST + 2 * text.len();
    check_limit(cost, ("bytes of memory that its results take", limit))?;
    let values = found.iter().flat_map(|it| &it.parsed.values);
    let impossible = values.flat_map(|it| it.samples.iter().map(|value| (it.metric, *value)));
    let mut impossible = impossible.filter(|(_, value)| !is_plausible(*value));
    match impossible.next() {
        None => Ok(()),
        Some((metric, value)) => {
            Err(ToolError::InvalidNumber { what: metric.to_owned(), text: value.to_string() })
        }
    }
}

/// Estimates the memory in bytes that storing a measurement takes.
fn storing_cost(it: &ImportedMeasurement) -> usize {
    let texts = it.dimensions.values().filter_map(|value| value.as_text()).map(str::len);
    let text = it.name.len() + texts.sum::<usize>();
    let samples: usize = it.parsed.values.iter().map(|of| of.samples.len()).sum();
    MEASUREMENT_COST
        + SERIES_COST * it.parsed.values.len()
        + SAMPLE_COST * samples
        + TEXT_COST * text
}

/// Returns the maximum number of samples of a file.
const fn max_samples(text: &str) -> usize {
    FREE_SAMPLES + text.len() / BYTES_PER_SAMPLE
}

/// Refuses a format of lines with too many or too long ones: each costs memory of its own.
fn check_lines(format: &ImportFormat, text: &str) -> Result<(), ToolError> {
    if format.has_own_end() {
        return Ok(());
    }
    let (mut count, mut longest) = (0, 0);
    for line in text.lines() {
        (count, longest) = (count + 1, longest.max(line.len()));
    }
    check_limit(count, ("lines", MAX_LINES))?;
    check_limit(longest, ("bytes in a line", MAX_LINE_BYTES))
}

/// Part of a text, with a copy of the text before the first part.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TextPart {
    /// The heading of the file and the part.
    text: String,
    /// Lines of the part in the file, without the heading.
    lines: LineSpan,
}

impl TextPart {
    /// Returns the lines of the part without the copied heading, with their numbers in the file.
    fn own_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let own = self.lines.clone().count();
        let copied = self.text.lines().count().saturating_sub(own);
        self.lines.clone().zip(self.text.lines().skip(copied))
    }
}

/// Splits a text at lines that satisfy `begins`. Each part starts with a copy of the text before
/// the first of them.
///
/// # Errors
/// If there are too many parts, or the copies take too much memory.
fn split_parts(text: &str, begins: impl Fn(&str) -> bool) -> Result<Vec<TextPart>, ToolError> {
    let mut starts = Vec::new();
    let (mut at, mut last_line) = (0, 0);
    for line in text.split_inclusive('\n') {
        last_line += 1;
        if begins(line.trim()) {
            check_limit(starts.len() + 1, ("tests", MAX_MEASUREMENTS))?;
            starts.push((at, last_line));
        }
        at += line.len();
    }
    let head = &text[..starts.first().map_or(0, |(at, _)| *at)];
    let copied = head.len().saturating_mul(starts.len().saturating_sub(1));
    check_limit(copied, ("bytes of its heading for all tests", MAX_COPIED_BYTES))?;
    let ends = starts.iter().skip(1).copied().chain([(text.len(), last_line + 1)]);
    let parts = starts.iter().zip(ends).map(|((start, first), (end, next))| {
        let body = &text[*start..end];
        let mut part = String::with_capacity(head.len() + body.len() + 1);
        for line in head.lines().chain(body.lines()) {
            part.push_str(line);
            part.push('\n');
        }
        TextPart { text: part, lines: *first..=next - 1 }
    });
    Ok(parts.collect())
}

/// Rejects a text that ends within a number: digits may be missing. For formats in which any row
/// may be the last.
fn reject_cut_number(text: &str) -> Result<(), ToolError> {
    let text = text.trim_end_matches(' ');
    if text.ends_with(|last: char| last.is_ascii_digit() || last == '.') {
        return Err(ToolError::Truncated { missing: "its last line is incomplete".to_owned() });
    }
    Ok(())
}

/// Returns the word after `name =`, `name:` or `name`, up to white space.
fn word_after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = text.split_once(name)?.1;
    rest.trim_start_matches([' ', '\t', '=', ':']).split_whitespace().next()
}

fn missing(what: &str) -> ToolError {
    ToolError::Missing { what: what.to_owned(), place: "the file" }
}

/// Returns the error for lines of several processes in one test.
fn mixed_lines(what: &str) -> ToolError {
    ToolError::Contradiction { what: format!("{what}: several processes printed at once") }
}

/// Shortens a line for a message.
fn shorten(line: &str) -> String {
    line.chars().take(60).collect()
}

#[cfg(test)]
mod bounds_tests;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod documentation;
#[cfg(test)]
mod goldens;
#[cfg(test)]
mod tests;
