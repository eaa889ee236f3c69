//! Parser of IOR's output: the table of results as text, CSV or JSON.
//!
//! Columns differ between the versions (`IOPS` and `Latency(s)` since 3.3), and the JSON of 3.2 to
//! 4 has other names for the same figures. `bw(MiB/s)` is in 2²⁰ B/s and `xfer(KiB)` in 2¹⁰ bytes
//! (`ior-output.c`: both are divided by `MEBIBYTE` and `KIBIBYTE`).

use serde_json::Value;

use crate::json_selection;
use crate::outputs::{ToolError, parse_non_negative, parse_positive, parse_whole};

/// Result of one timed phase.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IorRow {
    /// Whether the phase wrote.
    pub(crate) writes: bool,
    /// Bandwidth over the time from the first open to the last close, in B/s.
    pub(crate) bytes_per_s: f64,
    /// Transfers per second from the first transfer to the last, if reported.
    pub(crate) transfers_per_s: Option<f64>,
    /// Mean time of a transfer in seconds, if reported.
    pub(crate) latency_s: Option<f64>,
    /// Size of a transfer in bytes.
    pub(crate) transfer_bytes: f64,
    /// Time from the first transfer to the last, in seconds.
    pub(crate) access_s: f64,
    /// Time from the first open to the last close, in seconds.
    pub(crate) total_s: f64,
}

/// Contents of one output.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct IorText {
    /// Version, like `4.0.0`.
    pub(crate) version: Option<String>,
    /// Number of tasks that ran together, if reported.
    pub(crate) tasks: Option<u64>,
    /// Results in the order of execution.
    pub(crate) rows: Vec<IorRow>,
}

/// Kinds of rows in every form.
const ACCESSES: [&str; 2] = ["write", "read"];
const PLACE: &str = "IOR's output";
/// Messages of the C library for errors that IOR prints by name, and their numbers (`errno`).
const SYSTEM_ERRORS: [(&str, u64); 4] = [
    ("No such file or directory", 2),
    ("Input/output error", 5),
    ("Permission denied", 13),
    ("No space left on device", 28),
];

impl IorText {
    /// Parses the text table, `summaryFormat=CSV` or `summaryFormat=JSON`.
    pub(crate) fn read(text: &str) -> Result<Self, ToolError> {
        // An error of any rank ends the test and the output.
        if let Some(error) = text.lines().find_map(parse_error) {
            return Err(error);
        }
        if let Some(line) = text.lines().find(|line| reports_wrong_data(line)) {
            return Err(ToolError::CheckFailed { verdict: line.trim().to_owned() });
        }
        // IOR 3.2 prints its name before the document.
        let document = text.lines().any(|line| line.starts_with('{'));
        let read = if document {
            parse_json(text)?
        } else if text.lines().any(|line| line.starts_with("access,")) {
            Self { rows: parse_table(text, ',')?, ..Self::default() }
        } else {
            parse_text(text)?
        };
        if read.rows.is_empty() {
            return Err(missing("row of results"));
        }
        Ok(read)
    }
}

/// Parses the error of a rank: `ERROR: open64("/f", 0) failed: No such file or directory`.
pub(crate) fn parse_error(line: &str) -> Option<ToolError> {
    let what = line.strip_prefix("ERROR: ")?.trim_end().to_owned();
    let number =
        SYSTEM_ERRORS.iter().find(|(message, _)| what.contains(message)).map(|it| it.1);
    Some(ToolError::SystemError { what, number })
}

/// Whether a line reports that data was wrong: `WARNING: Incorrect data on read (16 errors found).`
pub(crate) fn reports_wrong_data(line: &str) -> bool {
    line.contains("Incorrect data on")
}

/// Parses the text form. Messages of the ranks may occur between the rows.
fn parse_text(text: &str) -> Result<IorText, ToolError> {
    let rows = parse_table(text, ' ')?;
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Operation "));
    let Some(heading) = lines.next() else {
        return Err(ToolError::Truncated { missing: "IOR's summary is missing".to_owned() });
    };
    let at = heading.split_whitespace().position(|word| word == "#Tasks");
    let words = lines.find(|line| begins_row(line, ' ')).map(str::split_whitespace);
    let tasks = at.zip(words).and_then(|(at, mut words)| words.nth(at));
    let tasks = tasks.map(|text| parse_whole("#Tasks", text)).transpose()?;
    Ok(IorText { version: parse_version(text), tasks, rows })
}

/// Parses the title: `IOR-4.0.0: MPI Coordinated Test of Parallel I/O` → `4.0.0`.
fn parse_version(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (version, _) = line.strip_prefix("IOR-")?.split_once(": ")?;
        Some(version.to_owned())
    })
}

/// Parses the rows below the heading that begins with `access`.
fn parse_table(text: &str, separator: char) -> Result<Vec<IorRow>, ToolError> {
    let cells = |line: &str| -> Vec<String> {
        match separator {
            ' ' => line.split_whitespace().map(str::to_owned).collect(),
            _ => line.split(separator).map(|cell| cell.trim().to_owned()).collect(),
        }
    };
    let is_heading = |line: &&str| line.starts_with("access") && line.contains("bw(MiB/s)");
    let headings: Vec<&str> = text.lines().filter(is_heading).collect();
    let [heading] = headings.as_slice() else {
        let what = format!("expected one table of results, found {}", headings.len());
        return match headings.len() {
            0 if parse_version(text).is_some() => Err(ToolError::Truncated {
                missing: "IOR's table of results is missing".to_owned(),
            }),
            0 => Err(missing("table of results")),
            _ => Err(ToolError::Contradiction { what }),
        };
    };
    let names = cells(heading);
    let rows = text.lines().skip_while(|line| line != heading).skip(1);
    let rows = rows.take_while(|line| !line.starts_with("Operation "));
    rows.filter(|line| begins_row(line, separator))
        .map(|line| {
            let cells = cells(line);
            if cells.len() != names.len() {
                let missing = format!("a row has {} of {} cells", cells.len(), names.len());
                return Err(ToolError::Truncated { missing });
            }
            parse_row(|name| {
                let at = names.iter().position(|it| it == name)?;
                Some(cells[at].clone())
            })
        })
        .collect()
}

fn begins_row(line: &str, separator: char) -> bool {
    ACCESSES
        .iter()
        .any(|access| line.strip_prefix(access).is_some_and(|rest| rest.starts_with(separator)))
}

/// Names of one figure: in the text heading, in the CSV heading, in JSON.
const BANDWIDTH: [&str; 2] = ["bw(MiB/s)", "bwMiB"];
const RATE: [&str; 2] = ["IOPS", "iops"];
const LATENCY: [&str; 3] = ["Latency(s)", "Latency", "latency"];
const TRANSFER: [&str; 2] = ["xfer(KiB)", "xferKiB"];
const ACCESS_TIME: [&str; 2] = ["wr/rd(s)", "wrRdTime"];
const TOTAL_TIME: [&str; 2] = ["total(s)", "totalTime"];

/// Parses a row from its cells by name, in any form.
pub(crate) fn parse_row(cell: impl Fn(&str) -> Option<String>) -> Result<IorRow, ToolError> {
    const KIB: f64 = 1024.0;
    const MIB: f64 = 1024.0 * 1024.0;
    let found = |names: &[&str]| names.iter().find_map(|name| cell(name));
    let needed = |names: &[&str]| {
        let text = found(names).ok_or_else(|| missing(names[0]))?;
        parse_positive(names[0], &text)
    };
    let reported = |names: &[&str]| match found(names) {
        // Values that were not measured are `-`, empty, or negative.
        Some(text) if text.is_empty() || text.starts_with('-') || text == "NA" => Ok(None),
        Some(text) => {
            parse_non_negative(names[0], &text).map(|it| Some(it).filter(|it| *it > 0.0))
        }
        None => Ok(None),
    };
    let access = cell("access").ok_or_else(|| missing("access"))?;
    if !ACCESSES.contains(&access.as_str()) {
        return Err(missing("write or read in a row"));
    }
    Ok(IorRow {
        writes: access == "write",
        bytes_per_s: needed(&BANDWIDTH)? * MIB,
        transfers_per_s: reported(&RATE)?,
        // Except in the text table it has four decimals, of which only one may be significant.
        latency_s: reported(&LATENCY)?
            .filter(|_| significant_digits(&found(&LATENCY).unwrap_or_default()) > 1),
        transfer_bytes: needed(&TRANSFER)? * KIB,
        access_s: needed(&ACCESS_TIME)?,
        total_s: needed(&TOTAL_TIME)?,
    })
}

/// Counts the significant digits of a decimal number.
fn significant_digits(text: &str) -> usize {
    let digits = text.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0');
    digits.count()
}

/// Maximum number of values that are used of a document: some thousand results of a dozen each.
const MAX_VALUES: usize = 100_000;
/// Members of the JSON form that are read, at any depth.
const MEMBERS: [&str; 26] = [
    "tests",
    "Results",
    "summary",
    "numTasks",
    "Version",
    "access",
    "bwMiB",
    "iops",
    "latency",
    "xferKiB",
    "wrRdTime",
    "totalTime",
    "bw(MiB/s)",
    "TestID",
    "operation",
    "StartTime",
    "Began",
    "Options",
    "Parameters",
    "test filename",
    "testFileName",
    "ordering in a file",
    "tasks",
    "blocksize",
    "type",
    "api",
];

/// Parses the members of IOR's JSON that are read.
pub(crate) fn parse_document(text: &str) -> Result<Value, ToolError> {
    json_selection::select(text, &MEMBERS, MAX_VALUES).map_err(|error| {
        if let Some(error) = json_selection::limit_error(&error, MAX_VALUES) {
            error
        } else if error.is_eof() {
            ToolError::Truncated { missing: "the end of IOR's JSON is missing".to_owned() }
        } else {
            ToolError::Missing { what: format!("JSON: {error}"), place: PLACE }
        }
    })
}

/// Returns the results of a test. IOR 3 writes nested lists, IOR 4 one list.
pub(crate) fn flatten_results(test: &Value) -> Result<Vec<&Value>, ToolError> {
    let results =
        test.get("Results").and_then(Value::as_array).ok_or_else(|| missing("Results"))?;
    let flat = results.iter().flat_map(|it| match it {
        Value::Array(inner) => inner.iter().collect::<Vec<_>>(),
        other => vec![other],
    });
    Ok(flat.collect())
}

/// Returns a member as text, without the quotation marks of JSON.
pub(crate) fn member_text(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Parses the JSON form of one test.
fn parse_json(text: &str) -> Result<IorText, ToolError> {
    let start = text.find('{').unwrap_or_default();
    let document = parse_document(&text[start..])?;
    let tests = document.get("tests").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let [test] = tests else {
        let what = format!("expected one test, found {}", tests.len());
        return Err(ToolError::Contradiction { what });
    };
    let results = flatten_results(test)?;
    let is_timed = |it: &&&Value| {
        member_text(it, "access").is_none_or(|access| ACCESSES.contains(&access.as_str()))
    };
    let rows = results.iter().filter(is_timed);
    let rows = rows.map(|it| parse_row(|name| member_text(it, name)));
    let version = document.get("Version").and_then(Value::as_str).map(str::to_owned);
    let version = version.or_else(|| parse_version(text));
    let summary = document.get("summary").and_then(Value::as_array);
    let tasks = summary.and_then(|it| it.first()?.get("numTasks")?.as_u64());
    Ok(IorText { version, tasks, rows: rows.collect::<Result<_, _>>()? })
}

fn missing(what: &str) -> ToolError {
    ToolError::Missing { what: what.to_owned(), place: PLACE }
}
