//! File of results on the disk: checks before it is imported, and failures with their line.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use assay_adapters::import::{
    self, FailedPart, FigureRule, FileContents, ImportError, MAX_BYTES, ReadFile,
};
use assay_model::quantity::Bytes;

use crate::failure::CommandFailure;
use crate::job_file;

/// File of results, read from the disk.
#[derive(Debug)]
pub struct SourceFile {
    /// Path as the user gave it.
    pub name: String,
    /// Contents.
    pub bytes: Vec<u8>,
    /// Modification time in seconds since 1970.
    pub written_s: Option<u64>,
}

impl SourceFile {
    /// Reads a regular file of text.
    ///
    /// # Errors
    /// A file that cannot be read, is too large or is no text.
    pub fn open(path: &Path) -> Result<Self, CommandFailure> {
        let name = path.display().to_string();
        let read_error = |error: std::io::Error| job_file::unreadable_error(path, &error);
        if path == Path::new("-") && !path.exists() {
            return Err(not_regular("standard input"));
        }
        let status = path.metadata().map_err(read_error)?;
        if status.is_dir() {
            return Err(CommandFailure::usage(format!("{name} is a folder, not a file"))
                .advise("name the files in the folder, like results/*.json"));
        }
        if !status.is_file() {
            return Err(not_regular(&name));
        }
        if status.len() > MAX_BYTES {
            return Err(CommandFailure::measurement(format!("{name} was not imported"))
                .with_reason(format!(
                    "it has {}, and at most {} are read",
                    Bytes(status.len()),
                    Bytes(MAX_BYTES)
                ))
                .advise("import the tool's summary, not its log of single I/O"));
        }
        if let Some(line) = find_nul_line(path).map_err(read_error)? {
            let reason = format!("not a text file: line {line} contains a NUL byte");
            return Err(not_text(&name, &reason));
        }
        let bytes = job_file::read(path).map_err(read_error)?;
        // Each invalid byte is replaced by a character of three bytes.
        let decoded = import::decode_text(&bytes);
        let invalid = decoded.matches(char::REPLACEMENT_CHARACTER).count();
        if invalid > bytes.len() / 8 {
            return Err(not_text(&name, "not a text file (more than an eighth is not UTF-8)"));
        }
        let modified = status.modified().ok();
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let written_s = modified.map(|time| time.as_secs());
        Ok(Self { name, bytes, written_s })
    }

    /// Parses the file, with the user's patterns if there are any.
    ///
    /// # Errors
    /// An unknown format, or results that the format does not allow.
    pub fn read(&self, text: &str, rules: &[FigureRule]) -> Result<ReadFile, CommandFailure> {
        let read = match rules {
            [] => import::read(text),
            rules => import::read_figures(text, rules),
        };
        read.map_err(|error| rejected_file(&self.name, text, &error))
    }
}

/// Returns the line of a NUL byte in the start of a file. The rest is not read: it may be a disk
/// image.
fn find_nul_line(path: &Path) -> std::io::Result<Option<usize>> {
    const BEGINNING: u64 = 64 << 10;
    let mut head = Vec::new();
    File::open(path)?.take(BEGINNING).read_to_end(&mut head)?;
    if import::is_text_beginning(&head) {
        return Ok(None);
    }
    let before = head.iter().take_while(|byte| **byte != 0);
    Ok(Some(1 + before.filter(|byte| **byte == b'\n').count()))
}

fn not_regular(name: &str) -> CommandFailure {
    CommandFailure::usage(format!("{name} is not a regular file"))
        .with_reason("a pipe or a device has neither a size nor a modification time")
        .advise("write it to a file first, and import the file")
}

fn not_text(name: &str, reason: &str) -> CommandFailure {
    CommandFailure::measurement(format!("{name} was not imported")).with_reason(reason).advise(
        "import the tool's output unchanged, as UTF-8; `assay help formats` lists the formats",
    )
}

/// Returns the failure for a file with sound and damaged measurements.
pub(super) fn damaged_file(
    name: &str,
    text: &str,
    contents: &FileContents,
    failed: &FailedPart,
) -> CommandFailure {
    let (sound, damaged) = (contents.measurements.len(), contents.failed.len());
    let reason = format!(
        "{}: {} (damaged measurements: {damaged}, sound ones: {sound})",
        failed.what, failed.error
    );
    let failure = CommandFailure::measurement(format!("{name} was not imported"))
        .with_reason(reason)
        .advise("--partial stores the sound ones; --explain prints what each line became");
    at_line(failure, name, text, failed.line())
}

/// Returns the failure for a rejected file, with the line that caused it.
fn rejected_file(name: &str, text: &str, error: &ImportError) -> CommandFailure {
    let failure = CommandFailure::measurement(format!("{name} was not imported"))
        .with_cause(error)
        .advise(error.advice());
    at_line(failure, name, text, error.line())
}

/// Adds a line of the file to a failure, if it is short enough to be printed.
fn at_line(
    failure: CommandFailure,
    name: &str,
    text: &str,
    number: Option<usize>,
) -> CommandFailure {
    let Some(number) = number else { return failure };
    let before: usize =
        text.split_inclusive('\n').take(number.saturating_sub(1)).map(str::len).sum();
    let line = text[before..].lines().next().unwrap_or_default();
    // A document on a single line is no useful location.
    const LONGEST: usize = 200;
    match line.len() {
        0..=LONGEST if !text.is_empty() => {
            failure.at_span(name, text, before..before + line.len())
        }
        _ => failure,
    }
}
