//! Import of nvbandwidth's matrices, text and JSON. GB/s are 10⁹ B/s, latencies ns, by its source.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use serde_json::Value;

use super::super::json_documents::split_documents;
use super::super::{FileContents, ImportedMeasurement, check_limit, missing, word_after};
use crate::limits::{MAX_MEASUREMENTS, MAX_SERIES};
use crate::outputs::{ParsedOutput, ToolError, parse_positive};

pub(super) fn is_text(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("nvbandwidth Version"))
}

pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && text.contains("\"nvbandwidth\"")
        && text.contains("\"testcases\"")
}

/// Test while its lines are read.
#[derive(Debug, Default)]
struct MatrixTest {
    name: String,
    first_line: usize,
    last_line: usize,
    unit: Option<(&'static str, f64)>,
    columns: Vec<String>,
    parsed: ParsedOutput,
    error: Option<ToolError>,
}

/// Returns the metric and factor that a description names: `… bandwidth (GB/s)`.
fn parse_unit(description: &str) -> Option<(&'static str, f64)> {
    let unit = description.trim().rsplit_once('(')?.1;
    match unit.trim_end_matches(')') {
        "GB/s" => Some(("bandwidth", 1e9)),
        "ns" => Some(("time", 1e-9)),
        "us" => Some(("time", 1e-6)),
        _ => None,
    }
}

pub(super) fn read_text(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut version: Option<String> = None;
    let mut test: Option<MatrixTest> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("Running ") {
            finish_test(test.take(), version.as_ref(), &mut contents)?;
            let name = name.trim_end_matches('.').to_owned();
            test = Some(MatrixTest {
                name,
                first_line: number,
                last_line: number,
                ..MatrixTest::default()
            });
        } else if line.starts_with("nvbandwidth Version") {
            finish_test(test.take(), version.as_ref(), &mut contents)?;
            version =
                word_after(line, "Version").map(|it| it.trim_start_matches('v').to_owned());
            contents.recognise(number..=number, line, "version");
        } else if let Some(current) = &mut test {
            read_line(current, line, number, &mut contents);
        }
    }
    finish_test(test, version.as_ref(), &mut contents)?;
    Ok(contents)
}

fn read_line(test: &mut MatrixTest, line: &str, number: usize, contents: &mut FileContents) {
    let what = test.name.clone();
    if line.contains("ERROR") {
        let error = ToolError::SystemError { what: line.to_owned(), number: None };
        test.error.get_or_insert(error);
    } else if line.to_ascii_lowercase().contains("waived") {
        contents.leave_out(Some(number..=number), what, line);
        test.name.clear();
    } else if line.starts_with("SUM ") || line.starts_with("NOTE") {
        if line.starts_with("SUM ") {
            contents.leave_out(Some(number..=number), line, "the sum of its cells");
        }
        test.columns.clear();
    } else if line.ends_with(')') && line.contains('(') {
        test.unit = parse_unit(line);
        if test.unit.is_none() {
            contents.leave_out(Some(number..=number), line, "its unit is unknown");
        }
        test.columns.clear();
    } else if line.starts_with(|it: char| it.is_ascii_digit())
        && let Some(unit) = test.unit
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        test.last_line = number;
        if test.columns.is_empty() {
            test.columns = words.iter().map(|word| (*word).to_owned()).collect();
        } else if words.len() == test.columns.len() + 1 {
            for (column, cell) in test.columns.iter().zip(&words[1..]) {
                let cell = add_cell(&mut test.parsed, unit, (words[0], column), cell);
                if let Err(error) = cell {
                    test.error.get_or_insert(error);
                }
            }
        } else {
            let missing = format!("the row {line:?} of {what} is incomplete");
            test.error.get_or_insert(ToolError::Truncated { missing });
        }
    }
}

/// Adds a cell of a matrix; `N/A` is a pair that does not exist.
fn add_cell(
    parsed: &mut ParsedOutput,
    (metric, factor): (&'static str, f64),
    (row, column): (&str, &str),
    cell: &str,
) -> Result<(), ToolError> {
    if cell == "N/A" {
        return Ok(());
    }
    check_limit(parsed.values.len(), ("cells of a matrix", MAX_SERIES))?;
    let value = parse_positive(metric, cell)? * factor;
    let own =
        Attributes::from([(Attribute::Loops, format!("row {row} column {column}").into())]);
    parsed.add_series(metric, own, vec![value]);
    Ok(())
}

fn finish_test(
    test: Option<MatrixTest>,
    version: Option<&String>,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    let Some(test) = test.filter(|test| !test.name.is_empty()) else { return Ok(()) };
    check_limit(contents.measurements.len() + 1, ("tests", MAX_MEASUREMENTS))?;
    let lines = test.first_line..=test.last_line;
    let dimensions = Attributes::from([(Attribute::Test, test.name.as_str().into())]);
    let part = match test.error {
        Some(error) => Err(error),
        None if test.parsed.values.is_empty() => Err(missing("cell of the test's matrix")),
        None => {
            let parsed = ParsedOutput { version: version.cloned(), ..test.parsed };
            let name = test.name.clone();
            Ok(ImportedMeasurement::new(name, Benchmark::Foreign, dimensions, parsed))
        }
    };
    contents.add_part(Some(lines), test.name, part);
    Ok(())
}

pub(super) fn read_json(text: &str) -> Result<FileContents, ToolError> {
    /// Largest output with a matrix of 72 devices for each of 40 tests, and more.
    const MAX_BYTES: usize = 2 << 20;
    check_limit(text.len(), ("bytes of nvbandwidth's JSON", MAX_BYTES))?;
    let mut contents = FileContents::default();
    for document in split_documents(text) {
        let lines = document.lines();
        let Ok(value) = serde_json::from_str::<Value>(document.text) else {
            let missing = "its JSON has no end".to_owned();
            let error = Err(ToolError::Truncated { missing });
            contents.add_part(Some(lines), "nvbandwidth", error);
            continue;
        };
        let root = &value["nvbandwidth"];
        let version = root["git_version"].as_str().or_else(|| root["Version"].as_str());
        let version = version.map(|it| it.trim_start_matches('v').to_owned());
        for case in root["testcases"].as_array().into_iter().flatten() {
            let test = read_case(case, lines.clone(), &mut contents);
            finish_test(test, version.as_ref(), &mut contents)?;
        }
        if let Some(error) = root["error"].as_str() {
            let error = ToolError::SystemError { what: error.to_owned(), number: None };
            contents.add_part(Some(lines), "nvbandwidth", Err(error));
        }
    }
    Ok(contents)
}

/// Reads a test case; a waived one is left out.
fn read_case(
    case: &Value,
    lines: std::ops::RangeInclusive<usize>,
    contents: &mut FileContents,
) -> Option<MatrixTest> {
    let name = case["name"].as_str().unwrap_or("unnamed test").to_owned();
    let mut test = MatrixTest {
        name,
        first_line: *lines.start(),
        last_line: *lines.end(),
        ..MatrixTest::default()
    };
    let status = case["status"].as_str().unwrap_or("Passed");
    if status.eq_ignore_ascii_case("waived") {
        contents.leave_out(Some(lines), test.name, "nvbandwidth waived the test");
        return None;
    }
    if !status.eq_ignore_ascii_case("passed") {
        let error = case["error"].as_str().unwrap_or(status);
        test.error = Some(ToolError::CheckFailed { verdict: error.to_owned() });
        return Some(test);
    }
    let description = case["bandwidth_description"].as_str().unwrap_or_default();
    let Some(unit) = parse_unit(description) else {
        contents.leave_out(Some(lines), test.name, "its unit is unknown");
        return None;
    };
    let rows = case["bandwidth_matrix"].as_array().into_iter().flatten();
    for (row, cells) in rows.enumerate() {
        for (column, cell) in cells.as_array().into_iter().flatten().enumerate() {
            let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
            let place = (row.to_string(), column.to_string());
            let added = add_cell(&mut test.parsed, unit, (&place.0, &place.1), text.trim());
            if let Err(error) = added {
                test.error.get_or_insert(error);
            }
        }
    }
    Some(test)
}
