//! `assay import`: stores files of other tools' results as runs.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use assay_adapters::import::explanation::{FileAccount, explain};
use assay_adapters::import::{self, ImportedMeasurement};
use assay_claims::expectation::JudgedResults;
use assay_console::options::program_arguments;
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::Doubt;
use assay_model::quantity::Unit;
use assay_model::run::{CaseRecord, Run};
use assay_model::summary::RunSummary;
use assay_report::{build, units, words};
use assay_run::failure::CommandFailure;
use assay_run::importing::{
    self, FileImport, ImportDetails, ImportRequest, ImportedContents, KnownImports, SourceFile,
};
use assay_stats::run_table::build_run_table;
use serde::Serialize;
use serde_json::json;

use crate::arguments::import::ImportArguments;
use crate::expectations::report_run;
use crate::failure::ExitStatus;
use crate::terminal::Terminal;
use crate::{page, signals, store_access};

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
    /// Whether its stored copy was damaged, and was replaced.
    repaired: bool,
}

impl KnownFile {
    fn describe(&self) -> String {
        let Self { file, runs, repaired } = self;
        let runs = runs.join(", ");
        match repaired {
            true => {
                format!("{file} is stored already, as {runs}; its damaged copy was replaced")
            }
            false => format!("{file} is stored already, as {runs}; --again stores it again"),
        }
    }
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
    let details = import_details(typed)?;
    let expectations = typed.expect.read(JudgedResults::SingleRuns)?;
    // The files can be imported again, and syncing each would take most of the time.
    let open = || store_access::open(&typed.store).map(|store| store.sync_at_end());
    let store = (!typed.no_store).then(open).transpose()?;
    let request = ImportRequest {
        details,
        rules: &typed.metrics,
        accepts_damage: typed.partial,
        repeats: typed.again,
        store: store.as_ref(),
        known: KnownImports::default(),
    };
    let cancel = signals::cancel_on_signals()?;
    let mut document = ImportDocument { imported: vec![], known: vec![], refused: vec![] };
    let (mut text, mut status) = (String::new(), ExitStatus::Success);
    for path in in_order_of_time(&typed.files) {
        if cancel.load(Ordering::Relaxed) {
            terminal.note_failure(&interrupted());
            status = status.max(ExitStatus::from_failure(interrupted().kind));
            break;
        }
        let file = path.display().to_string();
        let summaries = match importing::import_file(path, &request) {
            Ok(FileImport::Known { runs, is_repaired }) => {
                let known = KnownFile { file, runs: list_ids(&runs), repaired: is_repaired };
                terminal.note(&known.describe());
                document.known.push(known);
                expectations.summarize_all(&runs)
            }
            Ok(FileImport::New(imported)) => {
                let summaries = expectations.summarize_all(&imported.runs);
                let listed = ImportedFile::new(file, &imported, &summaries, typed.no_store);
                let lines = format_imported(&listed);
                if typed.answer.is_interactive() {
                    print_imported(&lines, typed.no_store.then_some(&imported.runs), terminal);
                }
                text.push_str(&lines);
                document.imported.push(listed);
                summaries
            }
            Err(failure) => {
                terminal.note_failure(&failure);
                status = status.max(ExitStatus::from_failure(failure.kind));
                document.refused.push(RejectedFile { file, reason: failure.reason() });
                continue;
            }
        };
        let is_text = typed.answer.is_interactive();
        for summary in &summaries {
            status = status.max(report_run(&expectations, summary, is_text, terminal));
        }
    }
    if let Some(store) = &store {
        store.sync()?;
    }
    if !typed.answer.is_interactive() {
        page::publish_brief(&text, &document, &typed.answer, terminal)?;
    }
    Ok(status.code())
}

fn interrupted() -> CommandFailure {
    CommandFailure::measurement("the import was interrupted")
        .advise("the listed files are stored: repeat the command for the others")
}

/// Prints what became of a file, with the results of runs that are not stored.
fn print_imported(lines: &str, unstored: Option<&Vec<Run>>, terminal: &mut Terminal) {
    let wrapped = terminal.wrap(lines);
    terminal.print_line(&wrapped);
    if let Some(runs) = unstored {
        let table = build::run_table(&build_run_table(runs));
        terminal.print(&terminal.render_document(&table));
    }
}

/// Returns the files in the order in which they were written: runs of one second keep the order of their
/// import.
fn in_order_of_time(files: &[PathBuf]) -> Vec<&PathBuf> {
    let mut sorted: Vec<&PathBuf> = files.iter().collect();
    sorted.sort_by_cached_key(|path| path.metadata().and_then(|it| it.modified()).ok());
    sorted
}

/// Returns the information of the user that the files do not contain.
fn import_details(typed: &ImportArguments) -> Result<ImportDetails, CommandFailure> {
    Ok(ImportDetails {
        label: typed.label.clone(),
        note: typed.note.clone(),
        command: program_arguments(),
        host: typed.host.clone(),
        dimensions: importing::parse_dimensions(&typed.set)?,
    })
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
            let explanation = explain(&source.name, &decoded, &read, &describe_measurement);
            Ok((format_explanation(&explanation, &decoded), explanation))
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

/// Formats the account of a file, with the number of its measurements.
fn format_explanation(explanation: &FileAccount, text: &str) -> String {
    let count = words::count_message("imported-measurements", explanation.measurements);
    explanation.format(&count, text)
}

/// Describes a measurement: its dimensions, and the first sample of each metric.
fn describe_measurement(it: &ImportedMeasurement) -> String {
    let conditions = it.dimensions.iter().map(|(name, value)| {
        format!("{}={}", name.name(), units::format_attribute(*name, value))
    });
    let mut texts: Vec<String> = conditions.collect();
    for one in &it.parsed.values {
        let unit = it.benchmark.metric(one.metric).map_or(Unit::Count, |metric| metric.unit);
        let own = one.own_dimensions.iter().map(|(name, value)| {
            format!(" {}={}", name.name(), units::format_attribute(*name, value))
        });
        let own: String = own.collect();
        let value = match one.samples[..] {
            [] => one.count.map_or_else(String::new, |it| format!("{}/{}", it.part, it.whole)),
            [sample] => units::quantity(sample, unit, 4),
            [first, ..] => {
                format!("{} … ({} samples)", units::quantity(first, unit, 4), one.samples.len())
            }
        };
        texts.push(format!("{}{own} {value}", one.metric));
    }
    texts.join(", ")
}

fn list_ids(runs: &[Run]) -> Vec<String> {
    runs.iter().map(|run| run.started.run.clone()).collect()
}

impl ImportedFile {
    fn new(
        file: String,
        imported: &ImportedContents,
        summaries: &[RunSummary],
        is_unstored: bool,
    ) -> Self {
        let runs = imported.runs.iter().zip(summaries);
        let mut doubts: Vec<String> =
            runs.flat_map(|(run, summary)| format_doubts(run, summary, &file)).collect();
        if !imported.earlier.is_empty() {
            doubts.push(format!("the same file is stored as {}", imported.earlier.join(", ")));
        }
        Self {
            file,
            format: imported.format.name,
            runs: if is_unstored { Vec::new() } else { list_ids(&imported.runs) },
            measurements: imported.measurements,
            left_out: imported.left_out.clone(),
            failed: imported.failed.clone(),
            doubts,
        }
    }
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

/// Returns the implausible and skipped values of a run just stored, and the laws that its values
/// break, with the line of the file for formats with one result per line.
fn format_doubts(run: &Run, summary: &RunSummary, file: &str) -> Vec<String> {
    let format_case = |case: &CaseRecord| {
        let location = match case.facts.get(&Attribute::SourceLine) {
            Some(AttributeValue::Integer(line)) => format!("{file}:{line}: "),
            _ => String::new(),
        };
        let of_case = summary.results.iter().filter(|it| it.case == case.case.id);
        let broken = of_case.flat_map(|it| &it.warnings).filter(|doubt| is_broken_law(doubt));
        let doubts = case.doubts.iter().chain(broken).map(|doubt| words::doubt(doubt).text);
        doubts.map(|text| location.clone() + &text).collect::<Vec<_>>()
    };
    let mut doubts: Vec<String> = run.cases.iter().flat_map(format_case).collect();
    doubts.dedup();
    doubts
}

/// Whether a doubt is a law that holds for every sample.
const fn is_broken_law(doubt: &Doubt) -> bool {
    matches!(
        doubt,
        Doubt::OutOfOrder { .. }
            | Doubt::NotPositive { .. }
            | Doubt::NotFinite { .. }
            | Doubt::AboveLimit { .. }
    )
}
