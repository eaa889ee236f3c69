//! Import of Vdbench's flatfile. Its MB are 2²⁰ bytes, its times milliseconds.

use assay_model::attribute::{Attribute, AttributeValue, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;

use super::super::{
    FileContents, FileTime, ImportedMeasurement, max_samples, missing, reject_cut_number,
};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::ToolError;
use crate::tool::vdbench_samples;
use crate::vdbench_flat::FlatFile;

pub(super) fn is_flat(text: &str) -> bool {
    let has = |line: &str| line.starts_with("tod ") && line.to_lowercase().contains("mb/sec");
    text.lines().any(|line| has(line.trim_start()))
}

/// Maximum number of intervals of a run: a day of seconds, and a warm-up as long.
pub(super) const MAX_ROWS: usize = 172_800;
/// Requested rates from this on mean that there is no limit: Vdbench writes 9,999,988.
const NO_LIMIT: f64 = 9_999_900.0;

/// Rows of one run, which follow each other.
struct FlatRun<'t> {
    name: &'t str,
    first_line: usize,
    last_line: usize,
    rows: Vec<&'t str>,
}

/// Reads every run of a flatfile. Loops repeat the name of a run, so that it ends with its row of
/// averages.
pub(super) fn read_flat_file(text: &str) -> Result<FileContents, ToolError> {
    reject_cut_number(text)?;
    let mut names: Vec<&str> = Vec::new();
    let mut contents = FileContents::default();
    let mut run: Option<FlatRun<'_>> = None;
    let (mut samples, mut count) = (0, 0);
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("tod ") {
            names = line.split_whitespace().collect();
            continue;
        }
        if names.is_empty() || line.starts_with('*') {
            continue;
        }
        let cell = |name: &str| find_cell(&names, line, name);
        let name = match names.contains(&"Run") {
            true => cell("Run"),
            false => return Err(missing("column Run")),
        };
        let Some(name) = name else { continue };
        let is_other = run.as_ref().is_some_and(|run| run.name != name);
        if is_other && let Some(done) = run.take() {
            samples += add_run(&mut contents, &names, &done);
        }
        let current = run.get_or_insert_with(|| {
            count += 1;
            FlatRun { name, first_line: at + 1, last_line: at + 1, rows: Vec::new() }
        });
        current.rows.push(line);
        current.last_line = at + 1;
        check_limit(count, ("runs", MAX_MEASUREMENTS))?;
        check_limit(current.rows.len(), ("rows of a run", MAX_ROWS))?;
        if cell("Interval").is_some_and(|interval| interval.starts_with("avg_"))
            && let Some(done) = run.take()
        {
            samples += add_run(&mut contents, &names, &done);
        }
        check_limit(samples, ("samples", max_samples(text)))?;
    }
    if let Some(done) = run.take() {
        add_run(&mut contents, &names, &done);
    }
    Ok(contents)
}

/// Adds a run, and returns the number of its samples.
fn add_run(contents: &mut FileContents, names: &[&str], run: &FlatRun<'_>) -> usize {
    let lines = Some(run.first_line..=run.last_line);
    let what = format!("run {:?}", run.name);
    let is_idle = |row: &&&str| find_cell(names, row, "rate").is_none_or(|it| it == "0.0000");
    if run.name.contains("format") && run.rows.iter().all(|row| is_idle(&row)) {
        contents.leave_out(lines, what, "it prepares files for the runs behind it");
        return 0;
    }
    let read = read_run(names, run);
    let values = read.iter().flat_map(|it| &it.parsed.values);
    let count = values.map(|it| it.samples.len()).sum();
    contents.add_part(lines, what, read);
    count
}

fn read_run(names: &[&str], run: &FlatRun<'_>) -> Result<ImportedMeasurement, ToolError> {
    let rows = FlatFile::read_rows(names, &run.rows, run.name)?;
    let mut parsed = vdbench_samples(&rows.merged_intervals());
    let last = run.rows.last().copied().unwrap_or_default();
    let cell = |column: &str| find_cell(names, last, column);
    let (mut dimensions, doubts) = row_dimensions(&cell);
    parsed.doubts.extend(doubts);
    dimensions.insert(Attribute::Phase, run.name.into());
    let version = cell("version").filter(|text| *text != "n/a");
    parsed.version = version.map(str::to_owned);
    let mut made = ImportedMeasurement::new(run.name, Benchmark::Storage, dimensions, parsed);
    let first = run.rows.first().copied().unwrap_or_default();
    made.began = find_cell(names, first, "timestamp").and_then(parse_timestamp);
    Ok(made)
}

/// Returns the cell of a column in a row.
fn find_cell<'t>(names: &[&str], row: &'t str, name: &str) -> Option<&'t str> {
    let at = names.iter().position(|it| it.eq_ignore_ascii_case(name))?;
    row.split_whitespace().nth(at)
}

/// Parses a time: `11/21/2026-17:29:18-UTC`.
fn parse_timestamp(text: &str) -> Option<FileTime> {
    let mut parts = text.splitn(3, '-');
    let (date, clock, zone) = (parts.next()?, parts.next()?, parts.next().unwrap_or_default());
    let mut fields = date.split('/');
    let (month, day, year) = (fields.next()?, fields.next()?, fields.next()?);
    let with = |zone: &str| FileTime::parse_iso(&format!("{year}-{month}-{day}T{clock}{zone}"));
    with(zone).or_else(|| with(""))
}

/// Returns the operation of a share of reads in percent.
pub(super) fn operation_name(read_percent: f64) -> &'static str {
    if read_percent >= 100.0 {
        "read"
    } else if read_percent <= 0.0 {
        "write"
    } else {
        "mix"
    }
}

/// Returns the share of reads of a mix, rounded to a percent: it is a count of random I/O.
pub(super) fn share_dimension(read_percent: f64) -> Option<(Attribute, AttributeValue)> {
    let is_mix = operation_name(read_percent) == "mix";
    is_mix.then(|| (Attribute::ReadShare, (read_percent.round() / 100.0).into()))
}

/// Derives dimensions from the figures, and from the parameters that have none. A parameter that
/// contradicts its figure is doubted.
fn row_dimensions<'t>(cell: &impl Fn(&str) -> Option<&'t str>) -> (Attributes, Vec<Doubt>) {
    let number = |column: &str| cell(column).and_then(|text| text.parse::<f64>().ok());
    let mut doubts = Vec::new();
    let mut prefer_figures = |figure: &str, option: &str, tolerance: f64| {
        let (measured, asked) = (number(figure), number(option));
        let (Some(measured), Some(asked)) = (measured, asked) else {
            return measured.or(asked);
        };
        if (measured - asked).abs() <= tolerance {
            return Some(asked);
        }
        doubts.push(Doubt::OptionContradicted {
            condition: option.to_owned(),
            option: asked.to_string(),
            figures: measured.to_string(),
        });
        Some(measured)
    };
    // A mix is random: its share differs a little from the requested one.
    let percent = prefer_figures("read%", "rdpct", 5.0);
    let bytes = prefer_figures("bytes/io", "xfersize", 0.5);
    let mut asked = Attributes::new();
    if let Some(percent) = percent {
        asked.insert(Attribute::Operation, operation_name(percent).into());
        asked.extend(share_dimension(percent));
    }
    let pattern = match number("seekpct") {
        Some(percent) if percent >= 100.0 => Some("random"),
        Some(percent) if percent <= 0.0 => Some("sequential"),
        _ => None,
    };
    asked.extend(pattern.map(|pattern| (Attribute::Pattern, pattern.into())));
    asked
        .extend(bytes.filter(|it| *it >= 1.0).map(|it| (Attribute::Bytes, (it as u64).into())));
    let threads = number("threads").filter(|it| *it >= 1.0);
    asked.extend(threads.map(|threads| (Attribute::Depth, (threads as u64).into())));
    let rate = number("reqrate").filter(|rate| *rate > 0.0 && *rate < NO_LIMIT);
    asked.extend(rate.map(|rate| (Attribute::RequestedRate, rate.into())));
    (asked, doubts)
}
