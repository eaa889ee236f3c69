//! `assay import`: stores files of other tools' results as runs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use assay_adapters::import::{
    self, FailedPart, FigureRule, FileContents, ImportError, LineSpan, MAX_BYTES, ReadFile,
};
use assay_claims::expectation::JudgedResults;
use assay_console::options::program_arguments;
use assay_model::attribute::{Attribute, AttributeKind, AttributeValue, Attributes, Role};
use assay_model::quantity::Bytes;
use assay_model::run::{CaseRecord, Run};
use assay_report::{build, words};
use assay_run::failure::CommandFailure;
use assay_run::importing::{self, ImportDetails, ImportSource};
use assay_run::job_file;
use assay_run::listener::SilentListener;
use assay_stats::run_table::build_run_table;
use assay_store::Store;
use serde::Serialize;
use serde_json::json;

use crate::arguments::import::ImportArguments;
use crate::expectations::report_run;
use crate::failure::ExitStatus;
use crate::terminal::Terminal;
use crate::{page, run_names, store_access};

mod explain;

/// Machine-readable result.
#[derive(Debug, Serialize)]
struct ImportDocument {
    imported: Vec<ImportedFile>,
    known: Vec<KnownFile>,
    refused: Vec<RejectedFile>,
}

/// File that the store already has with the same details.
#[derive(Debug, Serialize)]
struct KnownFile {
    file: String,
    runs: Vec<String>,
}

/// Outcome of a readable file.
enum FileImport {
    /// Imported now, with its runs, which `--no-store` does not store.
    New(ImportedFile, Vec<Run>),
    /// Imported before, with its stored runs.
    Known(KnownFile, Vec<Run>),
}

#[derive(Debug, Serialize)]
struct ImportedFile {
    file: String,
    format: &'static str,
    runs: Vec<String>,
    measurements: usize,
    left_out: Vec<String>,
    failed: Vec<String>,
    doubts: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RejectedFile {
    file: String,
    reason: String,
}

/// Stores every readable file and reports the others. The exit code is non-zero if there are any.
pub(crate) fn import(
    typed: &ImportArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.explain {
        return explain_files(typed, terminal);
    }
    run_names::check_label(typed.label.as_deref())?;
    let details = ImportDetails {
        label: typed.label.clone(),
        note: typed.note.clone(),
        command: program_arguments(),
        host: typed.host.clone(),
        dimensions: parse_dimensions(&typed.set)?,
    };
    let expectations = typed.expect.read(JudgedResults::SingleRuns)?;
    // The files can be imported again, and syncing each would take most of the time.
    let store = match typed.no_store {
        true => None,
        false => Some(store_access::open(&typed.store)?.sync_at_end()),
    };
    let mut document = ImportDocument { imported: vec![], known: vec![], refused: vec![] };
    let (mut text, mut status) = (String::new(), ExitStatus::Success);
    for path in &typed.files {
        let runs = match import_file(path, typed, &details, store.as_ref()) {
            Ok(FileImport::Known(known, runs)) => {
                let (file, ids) = (&known.file, known.runs.join(", "));
                let what =
                    format!("{file} is stored already, as {ids}; --again stores it again");
                terminal.note(&what);
                document.known.push(known);
                runs
            }
            Ok(FileImport::New(imported, runs)) => {
                let lines = format_imported(&imported);
                if typed.answer.is_interactive() {
                    let wrapped = terminal.wrap(&lines);
                    terminal.print_line(&wrapped);
                }
                text.push_str(&lines);
                document.imported.push(imported);
                if typed.no_store && typed.answer.is_interactive() {
                    let table = build::run_table(&build_run_table(&runs));
                    terminal.print(&terminal.render_document(&table));
                }
                runs
            }
            Err(failure) => {
                terminal.note_failure(&failure);
                status = status.max(ExitStatus::from_failure(failure.kind));
                let (file, reason) = (path.display().to_string(), failure.reason());
                document.refused.push(RejectedFile { file, reason });
                continue;
            }
        };
        for run in &runs {
            let summary = expectations.summarize(run);
            let is_text = typed.answer.is_interactive();
            status = status.max(report_run(&expectations, &summary, is_text, terminal));
        }
    }
    if let Some(store) = &store {
        store.sync().map_err(|error| CommandFailure::from_store(&error))?;
    }
    if !typed.answer.is_interactive() {
        page::publish_brief(&text, &document, &typed.answer, terminal)?;
    }
    Ok(status.code())
}

/// Prints what every line of the files becomes.
fn explain_files(
    typed: &ImportArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let (mut explanations, mut text) = (Vec::new(), String::new());
    let mut status = ExitStatus::Success;
    for path in &typed.files {
        let explained = SourceFile::open(path).and_then(|source| {
            let decoded = import::decode_text(&source.bytes);
            let read = source.read(&decoded, &typed.metrics)?;
            let explanation = explain::explain(&source.name, &decoded, &read);
            Ok((explain::format_explanation(&explanation, &decoded), explanation))
        });
        match explained {
            Ok((formatted, explanation)) => {
                text.push_str(&formatted);
                explanations.push(explanation);
            }
            Err(failure) => {
                terminal.note_failure(&failure);
                status = status.max(ExitStatus::from_failure(failure.kind));
            }
        }
    }
    page::publish_lines(&text, &json!({ "files": explanations }), &typed.answer, terminal)?;
    Ok(status.code())
}

fn format_imported(imported: &ImportedFile) -> String {
    let ImportedFile { file, format, runs, measurements, left_out, failed, doubts } = imported;
    let count = words::count_message("imported-measurements", *measurements);
    let runs = runs.iter().map(|run| format!("{run} ")).collect::<String>();
    let mut text = format!("{runs} {format}, {count}, {file}\n").trim_start().to_owned();
    for doubt in doubts {
        let warning = words::sentence("progress-warning", &[("what", doubt)]);
        let _ = writeln!(text, "  {warning}");
    }
    /// Number of parts that are listed; `--explain` and JSON have all of them.
    const LISTED: usize = 20;
    let parts = failed.iter().map(|part| ("damaged", part));
    let parts = parts.chain(left_out.iter().map(|part| ("left out", part)));
    for (kind, part) in parts.clone().take(LISTED) {
        let _ = writeln!(text, "  {kind}: {part}");
    }
    let more = parts.count().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(text, "  … and {more} more: assay import --explain {file}");
    }
    text
}

/// File of results, read from the disk.
struct SourceFile {
    /// Path as the user gave it.
    name: String,
    bytes: Vec<u8>,
    /// Modification time in seconds since 1970.
    written_s: Option<u64>,
}

impl SourceFile {
    /// Reads a regular file of text.
    fn open(path: &Path) -> Result<Self, CommandFailure> {
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
    fn read(&self, text: &str, rules: &[FigureRule]) -> Result<ReadFile, CommandFailure> {
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

fn import_file(
    path: &Path,
    typed: &ImportArguments,
    details: &ImportDetails,
    store: Option<&Store>,
) -> Result<FileImport, CommandFailure> {
    let file = SourceFile::open(path)?;
    let decoded = import::decode_text(&file.bytes);
    let ReadFile { format, contents, .. } = file.read(&decoded, &typed.metrics)?;
    if let Some(failed) = contents.failed.first()
        && !typed.partial
    {
        return Err(damaged_file(&file.name, &decoded, &contents, failed));
    }
    let SourceFile { name, bytes, written_s } = &file;
    let source = ImportSource { name, bytes, written_s: *written_s, format };
    let left_out = contents.left_out.iter();
    let first_line = |lines: &LineSpan| *lines.start();
    let left_out = left_out
        .map(|it| format_part(name, it.lines.as_ref().map(first_line), &it.what, &it.why));
    let left_out = left_out.collect();
    let failed = contents
        .failed
        .iter()
        .map(|it| format_part(name, it.line(), &it.what, &it.error.to_string()));
    let failed = failed.collect();
    let measurements = contents.measurements.len();
    let earlier = match store {
        Some(store) => {
            importing::find_imported_runs(&source, &contents.measurements, details, store)?
        }
        None => importing::EarlierImport::default(),
    };
    // A pattern of the user may find other figures under the same name.
    let may_be_known = !typed.again && typed.metrics.is_empty() && !earlier.equal.is_empty();
    if let (Some(store), true) = (store, may_be_known) {
        let stored = earlier.equal.iter().map(|id| store.read(id).map(|it| it.run));
        let stored: Result<Vec<Run>, _> = stored.collect();
        let stored = stored.map_err(|error| CommandFailure::from_store(&error))?;
        return Ok(FileImport::Known(
            KnownFile { file: name.clone(), runs: earlier.equal },
            stored,
        ));
    }
    let runs = importing::store_runs(
        &source,
        contents.measurements,
        details,
        store,
        &mut SilentListener,
    )?;
    let mut doubts: Vec<String> =
        runs.iter().flat_map(|run| format_doubts(run, name)).collect();
    if !earlier.runs.is_empty() {
        doubts.push(format!("the same file is stored as {}", earlier.runs.join(", ")));
    }
    let stored = if typed.no_store { &[] } else { runs.as_slice() };
    let ids = stored.iter().map(|run| run.started.run.clone()).collect();
    let (file, format) = (name.clone(), format.name);
    let imported =
        ImportedFile { file, format, runs: ids, measurements, left_out, failed, doubts };
    Ok(FileImport::New(imported, runs))
}

fn format_part(file: &str, line: Option<usize>, what: &str, why: &str) -> String {
    match line {
        Some(line) => format!("{file}:{line}: {what}: {why}"),
        None => format!("{what}: {why}"),
    }
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
fn damaged_file(
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

/// Returns the implausible and skipped values of a run just stored, with the line of the file for
/// formats with one result per line.
fn format_doubts(run: &Run, file: &str) -> Vec<String> {
    let format_case = |case: &CaseRecord| {
        let location = match case.facts.get(&Attribute::SourceLine) {
            Some(AttributeValue::Integer(line)) => format!("{file}:{line}: "),
            _ => String::new(),
        };
        let doubts = case.doubts.iter().map(|doubt| words::doubt(doubt).text);
        doubts.map(|text| location.clone() + &text).collect::<Vec<_>>()
    };
    let mut doubts: Vec<String> = run.cases.iter().flat_map(format_case).collect();
    doubts.dedup();
    doubts
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

/// Parses the dimensions given by the user into typed values.
fn parse_dimensions(set: &[(Attribute, String)]) -> Result<Attributes, CommandFailure> {
    let one = |(name, text): &(Attribute, String)| {
        let row = name.row();
        if matches!(row.role, Role::Fact | Role::Part) {
            let what = format!("`{}` is not a dimension of a result", row.name);
            return Err(
                CommandFailure::usage(what).advise("set a dimension, like placement=node")
            );
        }
        let value = match (row.kind, text.parse::<u64>(), text.parse::<f64>()) {
            (AttributeKind::Size, ..) => {
                let bytes: Bytes = text.parse().map_err(|error| {
                    CommandFailure::usage(format!("--set {}={text}", row.name))
                        .with_cause(&error)
                })?;
                AttributeValue::Integer(bytes.0)
            }
            (_, Ok(whole), _) => AttributeValue::Integer(whole),
            (_, _, Ok(number)) if number.is_finite() => AttributeValue::Number(number),
            _ => match text.as_str() {
                "true" => AttributeValue::Flag(true),
                "false" => AttributeValue::Flag(false),
                _ => AttributeValue::Text(text.clone()),
            },
        };
        Ok((*name, value))
    };
    set.iter().map(one).collect()
}
