//! Import of the `summary.json` of DLIO, which `MLPerf` Storage runs.
//!
//! `…_MB_per_second` is in 2²⁰ B/s: DLIO divides samples/s × bytes of a sample by 1024 twice
//! (`statscounter.py`). `…_GB_per_second` of checkpoints is in 2³⁰ B/s (`base_checkpointing.py`).

use assay_model::attribute::Attribute;
use serde_json::Value;

use super::super::foreign::foreign_measurement;
use super::super::json_documents::split_documents;
use super::super::{FileContents, FileTime, ImportedMeasurement, LineSpan, missing};
use crate::json_selection::{document_error, select};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, is_plausible};

const MEBI: f64 = 1_048_576.0;
/// Maximum number of values in one document: epochs and the hosts.
const MAX_VALUES: usize = 100_000;

/// Endings of the keys that are imported, their metrics and the factors to the base units.
const FIGURES: [(&str, &str, f64); 5] = [
    ("_throughput_samples_per_second", "event_rate", 1.0),
    ("_io_mean_MB_per_second", "bandwidth", MEBI),
    ("_io_mean_GB_per_second", "bandwidth", MEBI * 1024.0),
    ("_duration_mean_seconds", "time", 1.0),
    ("_au_percentage", "share", 0.01),
];

pub(super) fn is_dlio(text: &str) -> bool {
    text.contains("\"num_accelerators\"") && text.contains("\"metric\"")
}

/// Reads the figures of each document: one measurement for each, with a sample per epoch.
pub(super) fn read(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    for document in split_documents(text) {
        let lines = document.lines();
        if let Err(error) = read_document(document.text, &lines, &mut contents) {
            contents.add_part(Some(lines), "summary of DLIO", Err(error));
        }
        check_limit(contents.measurements.len(), ("figures", MAX_MEASUREMENTS))?;
    }
    Ok(contents)
}

fn read_document(
    text: &str,
    lines: &LineSpan,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    let document =
        select(text, &[], MAX_VALUES).map_err(|error| document_error(&error, MAX_VALUES))?;
    let metrics = document.get("metric").and_then(Value::as_object);
    let metrics = metrics.ok_or_else(|| missing("object \"metric\""))?;
    let began = document.get("start").and_then(Value::as_str).and_then(FileTime::parse_iso);
    let accelerators = document.get("num_accelerators").and_then(Value::as_u64);
    for (key, value) in metrics {
        let figure = FIGURES.iter().find(|(ending, ..)| key.ends_with(ending));
        let Some((ending, metric, factor)) = figure else {
            let why = match value {
                Value::String(verdict) if key.ends_with("_meet_expectation") => {
                    format!("DLIO's verdict is {verdict:?}")
                }
                _ => "it is derived from the epochs, or has no known unit".to_owned(),
            };
            contents.leave_out(Some(lines.clone()), key, why);
            continue;
        };
        let test = format!("dlio {}", key.trim_end_matches(ending));
        let part = read_samples(key, value, *factor).map(|samples| {
            let mut measurement: ImportedMeasurement =
                foreign_measurement(&test, metric, samples);
            measurement.began = began;
            let threads = accelerators.map(|count| (Attribute::Threads, count.into()));
            measurement.dimensions.extend(threads);
            measurement
        });
        contents.add_part(Some(lines.clone()), key, part);
    }
    Ok(())
}

/// Reads a number, or the list of the epochs' numbers.
fn read_samples(key: &str, value: &Value, factor: f64) -> Result<Vec<f64>, ToolError> {
    let number = |value: &Value| {
        let number = value.as_f64().filter(|number| *number >= 0.0 && is_plausible(*number));
        number.map(|number| number * factor).ok_or_else(|| ToolError::InvalidNumber {
            what: key.to_owned(),
            text: value.to_string(),
        })
    };
    match value {
        Value::Array(epochs) if !epochs.is_empty() => epochs.iter().map(number).collect(),
        single => Ok(vec![number(single)?]),
    }
}
