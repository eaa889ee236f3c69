//! Import of the JSON that perftest writes with `--out_json`: one document per test, with one row or
//! a list of rows.

use assay_model::attribute::{Attribute, AttributeValue};
use serde_json::Value;

use super::super::json_documents::split_documents;
use super::super::{FileContents, ImportedMeasurement, missing};
use super::perftest::{PerftestConditions, build_measurement, measurement_name};
use crate::json_selection::{document_error, select};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, is_plausible};
use crate::perftest_text::{PerftestColumn, PerftestRow, make_conditions};

/// Keys of a row, their columns, and the factors to the base unit. Bandwidths have no unit here.
const KEYS: [(&str, PerftestColumn, f64); 13] = [
    ("MsgSize", PerftestColumn::Bytes, 1.0),
    ("n_iterations", PerftestColumn::Iterations, 1.0),
    ("t_min", PerftestColumn::Min, 1e-6),
    ("t_max", PerftestColumn::Max, 1e-6),
    ("t_typical", PerftestColumn::Typical, 1e-6),
    ("t_avg", PerftestColumn::Average, 1e-6),
    ("t_stdev", PerftestColumn::Deviation, 1e-6),
    ("percentile_99", PerftestColumn::P99, 1e-6),
    ("percentile_99.9", PerftestColumn::P999, 1e-6),
    ("tps_average", PerftestColumn::EventRate, 1.0),
    ("BW_peak", PerftestColumn::PeakRate, 1.0),
    ("BW_average", PerftestColumn::Rate, 1.0),
    ("MsgRate", PerftestColumn::MessageRate, 1e6),
];
/// Keys of the head that describe the path.
const PATH_KEYS: [(&str, Attribute); 4] = [
    ("Device", Attribute::Device),
    ("GID_index", Attribute::GidIndex),
    ("Mtu", Attribute::PathMtuBytes),
    ("Max_inline_data", Attribute::InlineBytes),
];
/// Keys of the head that are conditions.
const CONDITION_KEYS: [&str; 3] = ["TX_depth", "Connection_type", "Number_of_qps"];
/// Maximum number of values in one document.
const MAX_VALUES: usize = 100_000;

pub(super) fn is_perftest_json(text: &str) -> bool {
    text.contains("\"test_info\"") && text.contains("\"n_iterations\"")
}

/// Reads one measurement for each row of each document.
pub(super) fn read(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    for document in split_documents(text) {
        let lines = Some(document.lines());
        match read_document(document.text) {
            Ok(measurements) => {
                for mut measurement in measurements {
                    measurement.lines.clone_from(&lines);
                    contents.measurements.push(measurement);
                }
            }
            Err(error) => contents.add_part(lines, "test of perftest", Err(error)),
        }
        check_limit(contents.measurements.len(), ("rows", MAX_MEASUREMENTS))?;
    }
    Ok(contents)
}

fn read_document(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let head = ["test_info", "test", "results"];
    let names: Vec<&str> = head
        .into_iter()
        .chain(KEYS.map(|(key, ..)| key))
        .chain(PATH_KEYS.map(|(key, _)| key))
        .chain(CONDITION_KEYS)
        .collect();
    let document =
        select(text, &names, MAX_VALUES).map_err(|error| document_error(&error, MAX_VALUES))?;
    let title = document.pointer("/test_info/test").and_then(Value::as_str);
    let title = title.ok_or_else(|| missing("name of the test"))?.replace('_', " ");
    let name = measurement_name(&title);
    let conditions = make_conditions(|name| {
        let key = format!("/test_info/{}", name.replace(' ', "_"));
        let value = document.pointer(&key)?;
        value.as_str().map(str::to_owned).or_else(|| Some(value.as_u64()?.to_string()))
    });
    let network_path = read_path(&document);
    let head = PerftestConditions { conditions, network_path };
    let rows: Vec<&Value> = match document.get("results") {
        Some(Value::Array(rows)) => rows.iter().collect(),
        Some(row) => vec![row],
        None => Vec::new(),
    };
    if rows.is_empty() {
        return Err(missing("results of the test"));
    }
    let read = |row: &Value| Ok(build_measurement((&title, &name), &read_row(row)?, &head));
    rows.into_iter().map(read).collect()
}

/// Reads the device and the path of a test.
fn read_path(document: &Value) -> Vec<(Attribute, AttributeValue)> {
    let path = PATH_KEYS.into_iter().filter_map(|(key, name)| {
        let value = document.pointer(&format!("/test_info/{key}"))?;
        let text = value.as_str().map(|text| text.trim_end_matches("[B]").trim());
        let number = value.as_u64().or_else(|| text?.parse().ok());
        let value = match (number, text) {
            (Some(number), _) => AttributeValue::from(number),
            (None, Some(name)) if key == "Device" => AttributeValue::from(name),
            (None, _) => return None,
        };
        Some((name, value))
    });
    path.collect()
}

fn read_row(value: &Value) -> Result<PerftestRow, ToolError> {
    let mut row = PerftestRow::new();
    for (key, column, factor) in KEYS {
        let Some(figure) = value.get(key) else { continue };
        let number = figure.as_f64().filter(|number| *number >= 0.0 && is_plausible(*number));
        let number = number.ok_or_else(|| ToolError::InvalidNumber {
            what: key.to_owned(),
            text: figure.to_string(),
        })?;
        row.insert(column, number * factor);
    }
    scale_bandwidths(&mut row)?;
    Ok(row)
}

/// Converts the bandwidths to B/s. The document does not name their unit, MiB/s or Gbit/s: it
/// follows from the size and the rate of the messages.
fn scale_bandwidths(row: &mut PerftestRow) -> Result<(), ToolError> {
    const MEBI: f64 = 1_048_576.0;
    const GIGABIT: f64 = 1e9 / 8.0;
    /// Relative difference that rounding explains.
    const ROUNDING: f64 = 0.02;
    let Some(average) = row.get(&PerftestColumn::Rate).copied() else { return Ok(()) };
    let of = |column: PerftestColumn| row.get(&column).copied();
    let expected = of(PerftestColumn::Bytes)
        .zip(of(PerftestColumn::MessageRate))
        .map(|(bytes, rate)| bytes * rate)
        .ok_or_else(|| {
            missing("size or rate of the messages, which give the unit of BW_average")
        })?;
    let distance = |unit: f64| (average * unit / expected - 1.0).abs();
    let unit = if distance(GIGABIT) < distance(MEBI) { GIGABIT } else { MEBI };
    if average > 0.0 && distance(unit) > ROUNDING {
        let what =
            format!("BW_average {average} is neither MiB/s nor Gbit/s of {expected:.0} B/s");
        return Err(ToolError::Contradiction { what });
    }
    for column in [PerftestColumn::Rate, PerftestColumn::PeakRate] {
        row.entry(column).and_modify(|figure| *figure *= unit);
    }
    Ok(())
}
