//! Import of elbencho's results in CSV (`--csvfile`) and JSON (`--jsonfile`): a row for each phase.
//!
//! `[last]` is the time at which the slowest thread was done, so that its figures cover all the
//! work. elbencho cuts rates to whole numbers; the bandwidth follows from `MiB [last]` and
//! `time ms [last]`, and the rate from it where all blocks have one size.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;
use serde_json::Value;

use super::super::json_documents::split_documents;
use super::super::{FileContents, FileTime, ImportedMeasurement, missing};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative, parse_whole};

const MEBI: f64 = 1_048_576.0;
/// Maximum number of columns; elbencho has about 40 beside its options.
const MAX_COLUMNS: usize = 1000;

/// Phases on entries, and their operations in assay.
const ENTRY_PHASES: [(&str, &str); 5] = [
    ("MKDIRS", "mkdir"),
    ("RMDIRS", "rmdir"),
    ("STAT", "stat"),
    ("RMFILES", "delete"),
    ("LISTDIRS", "list"),
];

/// Row of a phase: texts by the names of their columns. Empty cells are left out.
type PhaseRow = BTreeMap<String, String>;

pub(super) fn is_csv(text: &str) -> bool {
    let heading = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    heading.contains("ISO date,") && heading.contains(",operation,")
}

/// Reads each row below a heading; appended runs may repeat the heading.
pub(super) fn read_csv(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut columns: Vec<String> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let cells = split_cells(line);
        check_limit(cells.len(), ("columns", MAX_COLUMNS))?;
        if cells.iter().any(|cell| cell == "ISO date") {
            contents.recognise(number..=number, "heading", "names of the columns");
            columns = cells;
        } else if cells.len() == columns.len() {
            let row = columns.iter().cloned().zip(cells).filter(|(_, cell)| !cell.is_empty());
            add_phase(&row.collect(), number..=number, &mut contents)?;
        } else {
            let (are, expected) = (cells.len(), columns.len());
            let missing = format!("the row has {are} of {expected} columns");
            let lines = Some(number..=number);
            contents.add_part(lines, "row", Err(ToolError::Truncated { missing }));
        }
    }
    Ok(contents)
}

pub(super) fn is_json(text: &str) -> bool {
    text.contains("\"ISO date\"") && text.contains("\"MiB/s [last]\"")
}

/// Reads each object of the file.
pub(super) fn read_json(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    for document in split_documents(text) {
        let lines = document.lines();
        let parsed: Result<BTreeMap<String, Value>, _> = serde_json::from_str(document.text);
        match parsed {
            Ok(members) => add_phase(&texts(members), lines, &mut contents)?,
            Err(error) => {
                let missing = format!("its JSON is damaged: {error}");
                contents.add_part(Some(lines), "row", Err(ToolError::Truncated { missing }));
            }
        }
    }
    Ok(contents)
}

fn texts(members: BTreeMap<String, Value>) -> PhaseRow {
    let text = |(name, value): (String, Value)| {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => u8::from(flag).to_string(),
            _ => return None,
        };
        (!text.is_empty()).then_some((name, text))
    };
    members.into_iter().filter_map(text).collect()
}

/// Splits a line of CSV; cells may be quoted, with doubled quotes inside.
fn split_cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            letter => {
                let last = cells.len() - 1;
                cells[last].push(letter);
            }
        }
    }
    cells.iter_mut().for_each(|cell| *cell = cell.trim().to_owned());
    cells
}

fn add_phase(
    row: &PhaseRow,
    lines: std::ops::RangeInclusive<usize>,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    check_limit(contents.measurements.len() + 1, ("rows", MAX_MEASUREMENTS))?;
    let operation = row.get("operation").map(String::as_str).unwrap_or_default();
    let entry = ENTRY_PHASES.iter().find(|(phase, _)| *phase == operation);
    let part = match (operation, entry) {
        ("WRITE" | "READ" | "RWMIX", _) => read_io_phase(row, operation),
        (_, Some((_, name))) => read_entry_phase(row, name),
        (phase, None) => {
            let why = "the phase transfers no data and counts no entries";
            contents.leave_out(Some(lines), format!("phase {phase:?}"), why);
            return Ok(());
        }
    };
    let part = part.map(|mut measurement| {
        measurement.began = row.get("ISO date").and_then(|text| FileTime::parse_iso(text));
        measurement.name = row.get("label").cloned().unwrap_or(measurement.name);
        measurement
    });
    contents.add_part(Some(lines), format!("phase {operation:?}"), part);
    Ok(())
}

/// Returns the figure of a column; `None` for an empty cell.
fn figure(row: &PhaseRow, name: &'static str) -> Result<Option<f64>, ToolError> {
    row.get(name).map(|text| parse_non_negative(name, text)).transpose()
}

fn whole(row: &PhaseRow, name: &'static str) -> Result<Option<u64>, ToolError> {
    row.get(name).map(|text| parse_whole(name, text)).transpose()
}

fn read_io_phase(row: &PhaseRow, phase: &str) -> Result<ImportedMeasurement, ToolError> {
    let operation = match phase {
        "READ" => "read",
        "WRITE" => "write",
        _ => "mix",
    };
    let mut dimensions = Attributes::from([(Attribute::Operation, operation.into())]);
    let bytes = whole(row, "block size")?;
    dimensions.extend(bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    let hosts = whole(row, "hosts")?.unwrap_or(1).max(1);
    if let Some(threads) = whole(row, "threads")? {
        let threads = threads.saturating_mul(hosts);
        dimensions.insert(Attribute::Threads, threads.into());
        if let Some(depth) = whole(row, "IO depth")? {
            dimensions.insert(Attribute::Depth, threads.saturating_mul(depth).into());
        }
    }
    if let Some(random) = whole(row, "random")? {
        let pattern = if random > 0 { "random" } else { "sequential" };
        dimensions.insert(Attribute::Pattern, pattern.into());
    }
    if whole(row, "direct IO")? == Some(0) {
        dimensions.insert(Attribute::PageCache, true.into());
    }
    let mut parsed = ParsedOutput::default();
    let printed_rate = figure(row, "IOPS [last]")?;
    let bandwidth = exact_bandwidth(row)?;
    let rate = match (bandwidth, bytes, printed_rate) {
        // A block size of 0, or blocks of several sizes, give no rate.
        (Some(bandwidth), Some(bytes), Some(printed)) if bytes > 0 => {
            let exact = bandwidth / bytes as f64;
            if (exact - printed).abs() <= 1.0 + 0.02 * printed { exact } else { printed }
        }
        (_, _, Some(printed)) => printed,
        _ => return Err(missing("value of IOPS [last]")),
    };
    parsed.add_samples("rate", vec![rate]);
    bandwidth.into_iter().for_each(|value| parsed.add_samples("bandwidth", vec![value]));
    add_latency(row, "IO", &mut parsed)?;
    Ok(ImportedMeasurement::new(operation, Benchmark::Storage, dimensions, parsed))
}

/// Returns the bandwidth in B/s from bytes and time, or as printed.
fn exact_bandwidth(row: &PhaseRow) -> Result<Option<f64>, ToolError> {
    let printed = figure(row, "MiB/s [last]")?.map(|rate| rate * MEBI);
    let total = figure(row, "MiB [last]")?.zip(figure(row, "time ms [last]")?);
    let exact = total.filter(|(mib, ms)| *mib > 0.0 && *ms > 0.0);
    let exact = exact.map(|(mib, ms)| mib * MEBI / (ms / 1e3));
    // Short phases have too few milliseconds.
    let agree = |(exact, printed): &(f64, f64)| (exact / printed - 1.0).abs() < 0.02;
    Ok(exact.zip(printed).filter(agree).map(|(exact, _)| exact).or(printed))
}

fn read_entry_phase(row: &PhaseRow, operation: &str) -> Result<ImportedMeasurement, ToolError> {
    let mut dimensions = Attributes::from([(Attribute::Operation, operation.into())]);
    let hosts = whole(row, "hosts")?.unwrap_or(1).max(1);
    let threads = whole(row, "threads")?.map(|threads| threads.saturating_mul(hosts));
    dimensions.extend(threads.map(|threads| (Attribute::Threads, threads.into())));
    let entries = whole(row, "entries [last]")?;
    dimensions.extend(entries.map(|entries| (Attribute::Files, entries.into())));
    let mut parsed = ParsedOutput::default();
    let rate = figure(row, "entries/s [last]")?.filter(|rate| *rate > 0.0);
    let rate = rate.ok_or_else(|| missing("value of entries/s [last]"))?;
    parsed.add_samples("rate", vec![rate]);
    add_latency(row, "Ent", &mut parsed)?;
    Ok(ImportedMeasurement::new(operation, Benchmark::StorageFiles, dimensions, parsed))
}

/// Adds the mean latency of `IO` or `Ent`, if the row has it.
fn add_latency(row: &PhaseRow, kind: &str, parsed: &mut ParsedOutput) -> Result<(), ToolError> {
    let microseconds = |statistic: &str| {
        let text = row.get(&format!("{kind} lat us [{statistic}]"));
        text.map(|text| parse_non_negative("latency", text).map(|us| us * 1e-6)).transpose()
    };
    let Some(mean) = microseconds("avg")?.filter(|mean| *mean > 0.0) else { return Ok(()) };
    parsed.add_samples("latency", vec![mean]);
    parsed.set_metric_attribute("latency", Attribute::Statistic, "mean");
    let (min, max) = (microseconds("min")?, microseconds("max")?);
    let figures = ToolFigures { min, mean: Some(mean), max, ..ToolFigures::default() };
    parsed.set_figures("latency", figures);
    Ok(())
}
