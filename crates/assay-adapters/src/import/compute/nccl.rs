//! Import of the tables of nccl-tests and rccl-tests. Times are µs, rates 10⁹ B/s, as in their
//! `common.cu`: `algBw = count · size / 1.0E9 / time`.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;

use super::super::{FileContents, ImportedMeasurement, check_limit, missing, word_after};
use crate::limits::{MAX_MEASUREMENTS, MAX_SERIES};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative, parse_whole};

pub(super) fn is_nccl(text: &str) -> bool {
    text.lines().any(is_heading)
}

fn is_heading(line: &str) -> bool {
    let words = || line.trim_start_matches(['#', ' ', '\t']).split_whitespace();
    line.trim_start().starts_with('#')
        && words().next() == Some("size")
        && words().any(|it| it == "algbw")
        && words().any(|it| it == "busbw")
}

/// Table while its lines are read.
#[derive(Debug, Default)]
struct NcclTable {
    columns: Vec<String>,
    first_line: usize,
    last_line: usize,
    parsed: ParsedOutput,
    /// Whether the lines behind the last row were read: the verdict, or the mean.
    has_end: bool,
    error: Option<ToolError>,
}

/// Facts of the head of a run.
#[derive(Debug, Clone, Default)]
struct NcclHead {
    test: Option<String>,
    ranks: u64,
    version: Option<String>,
}

pub(super) fn read_nccl(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut head = NcclHead::default();
    let mut table: Option<NcclTable> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if is_heading(line) {
            finish_table(table.take(), &head, &mut contents)?;
            let columns = line.trim_start_matches(['#', ' ']).split_whitespace();
            table = Some(NcclTable {
                columns: columns.map(str::to_owned).collect(),
                first_line: number,
                last_line: number,
                ..NcclTable::default()
            });
        } else if let Some(current) =
            table.as_mut().filter(|_| line.starts_with(|it: char| it.is_ascii_digit()))
        {
            current.last_line = number;
            if let Err(error) = read_row(current, line) {
                current.error.get_or_insert(error);
            }
        } else if let Some(rest) = line.strip_prefix("# Out of bounds values") {
            if let Some(current) = &mut table {
                current.has_end = true;
            }
            if rest.contains("FAILED")
                && let Some(current) = &mut table
            {
                let verdict = line.trim_start_matches(['#', ' ']).to_owned();
                current.error.get_or_insert(ToolError::CheckFailed { verdict });
            }
            contents.recognise(number..=number, line, "verdict");
        } else if line.starts_with("# Avg bus bandwidth") {
            if let Some(current) = &mut table {
                current.has_end = true;
            }
            let why = "a mean over all sizes; the figures of each size are imported";
            contents.leave_out(Some(number..=number), "Avg bus bandwidth", why);
        } else if begins_run(line) || table.is_none() {
            if table.is_some() {
                finish_table(table.take(), &head, &mut contents)?;
                (head.test, head.version) = (None, None);
            }
            if read_head(line, &mut head) {
                contents.recognise(number..=number, line, "head");
            }
        }
    }
    finish_table(table, &head, &mut contents)?;
    Ok(contents)
}

/// Whether a line begins another run in the file.
fn begins_run(line: &str) -> bool {
    let names_test = line.contains("_perf") && !line.contains("concluded");
    line.starts_with("# nThread") || names_test
}

/// Reads a line of the head; returns whether it is one.
fn read_head(line: &str, head: &mut NcclHead) -> bool {
    let mut words = line.split([' ', '/', '\t']).map(|word| word.trim_end_matches(':'));
    if let Some(name) = words.find(|word| word.ends_with("_perf")) {
        head.test = Some(name.to_owned());
        return true;
    }
    if line.trim_start_matches(['#', ' ']).starts_with("Rank ") {
        head.ranks += 1;
    } else if line.starts_with("# nThread") {
        head.ranks = 0;
    } else if line.contains("NCCL version") || line.starts_with("# nccl-tests version") {
        head.version = word_after(line, "version").map(str::to_owned);
    } else {
        return false;
    }
    true
}

/// Reads the figures of a row: the columns from `time` on repeat for in-place buffers.
fn read_row(table: &mut NcclTable, line: &str) -> Result<(), ToolError> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if fields.len() != table.columns.len() {
        let (are, expected) = (fields.len(), table.columns.len());
        let missing = format!("the row {line:?} has {are} of {expected} columns");
        return Err(ToolError::Truncated { missing });
    }
    check_limit(table.parsed.values.len(), ("series of figures", MAX_SERIES))?;
    let mut row = Attributes::new();
    let mut kinds = Vec::new();
    let mut place = "";
    for (name, field) in table.columns.iter().zip(fields) {
        let metric = match name.as_str() {
            "size" => {
                row.insert(Attribute::Bytes, parse_whole("size", field)?.into());
                continue;
            }
            "type" | "redop" if field != "none" => {
                kinds.push(field.to_owned());
                continue;
            }
            "root" if field != "-1" => {
                kinds.push(format!("root {field}"));
                continue;
            }
            "#wrong" | "error" => {
                check_wrong(name, field, line)?;
                continue;
            }
            "time" => {
                place = if place.is_empty() { "out-of-place" } else { "in-place" };
                ("time", 1e-6)
            }
            "algbw" | "busbw" => ("bandwidth", 1e9),
            _ => continue,
        };
        // A program that prints N/A did not run this kind of buffer.
        if field == "N/A" {
            continue;
        }
        let value = parse_non_negative(name, field)? * metric.1;
        if value <= 0.0 {
            let problem = format!("{name} of the row {line:?} is rounded to zero");
            table.parsed.problems.push(problem);
            continue;
        }
        let mut own = row.clone();
        let operation =
            if metric.0 == "time" { place.to_owned() } else { format!("{place} {name}") };
        own.insert(Attribute::Operation, operation.into());
        if !kinds.is_empty() {
            own.insert(Attribute::Loops, kinds.join(" ").into());
        }
        table.parsed.add_series(metric.0, own, vec![value]);
    }
    Ok(())
}

/// Checks the count of wrong elements. The older column `error` is the largest deviation, which is
/// rounding up to this.
fn check_wrong(name: &str, field: &str, line: &str) -> Result<(), ToolError> {
    /// Maximum deviation of sums of half-precision numbers, nccl-tests' own limit.
    const MAX_DEVIATION: f64 = 1e-2;
    if field == "N/A" {
        return Ok(());
    }
    let limit = if name == "error" { MAX_DEVIATION } else { 0.0 };
    if parse_non_negative(name, field)? > limit {
        let verdict = format!("{name} {field} in the row {line:?}");
        return Err(ToolError::CheckFailed { verdict });
    }
    Ok(())
}

fn finish_table(
    table: Option<NcclTable>,
    head: &NcclHead,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    let Some(table) = table else { return Ok(()) };
    check_limit(contents.measurements.len() + 1, ("tests", MAX_MEASUREMENTS))?;
    let lines = table.first_line..=table.last_line;
    let name = head.test.clone().unwrap_or_else(|| "nccl-tests".to_owned());
    let mut dimensions = Attributes::from([(Attribute::Test, name.as_str().into())]);
    if head.ranks > 0 {
        dimensions.insert(Attribute::Ranks, head.ranks.into());
    }
    let part = match table.error {
        Some(error) => Err(error),
        None if table.parsed.values.is_empty() => Err(missing("row of the table")),
        None => {
            let mut parsed = ParsedOutput { version: head.version.clone(), ..table.parsed };
            if !table.has_end {
                parsed.doubts.push(Doubt::BrokeOff);
            }
            Ok(ImportedMeasurement::new(name.clone(), Benchmark::Foreign, dimensions, parsed))
        }
    };
    contents.add_part(Some(lines), name, part);
    Ok(())
}
