//! Import of Vdbench's flatfile and of its summary. Its MB are 2²⁰ bytes, its times milliseconds.

use std::collections::HashMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;

use super::super::{ImportedMeasurement, max_samples, missing, reject_cut_number};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative};
use crate::tool::vdbench_samples;
use crate::vdbench_flat::{FlatFile, VdbenchInterval};

pub(super) fn is_flat(text: &str) -> bool {
    let has = |line: &str| line.starts_with("tod ") && line.contains("MB/sec");
    text.lines().any(|line| has(line.trim_start()))
}

/// Maximum number of intervals of a run: a day of seconds, and a warm-up as long.
const MAX_ROWS: usize = 172_800;

/// Reads every run of a flatfile.
pub(super) fn read_flat_file(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    reject_cut_number(text)?;
    let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with("tod "));
    let names: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let at = |name: &str| names.iter().position(|it| *it == name);
    let run = at("Run").ok_or_else(|| missing("column Run"))?;
    // Runs in the order of their first row, with all their rows.
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut runs: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        let Some(name) = line.split_whitespace().nth(run) else { continue };
        let at = *positions.entry(name).or_insert(runs.len());
        match runs.get_mut(at) {
            Some((_, rows)) => rows.push(line),
            None => runs.push((name, vec![line])),
        }
        check_limit(runs.len(), ("runs", MAX_MEASUREMENTS))?;
    }
    let mut samples = 0;
    let mut found = Vec::new();
    for (name, rows) in &runs {
        check_limit(rows.len(), ("rows of a run", MAX_ROWS))?;
        let whole = rows.iter().find(|row| row.split_whitespace().count() >= names.len());
        let Some(first) = whole else { continue };
        let cell = |column: &str| at(column).and_then(|at| first.split_whitespace().nth(at));
        let parsed =
            vdbench_samples(&FlatFile::read_rows(&names, rows, name)?.merged_intervals());
        samples += parsed.values.iter().map(|it| it.samples.len()).sum::<usize>();
        check_limit(samples, ("samples", max_samples(text)))?;
        found.push(run_measurement(name, parameter_dimensions(&cell), parsed));
    }
    Ok(found)
}

fn run_measurement(
    name: &str,
    dimensions: Attributes,
    parsed: ParsedOutput,
) -> ImportedMeasurement {
    let name = name.to_owned();
    ImportedMeasurement {
        name,
        benchmark: Benchmark::Storage,
        dimensions,
        system: None,
        began: None,
        lines: None,
        parsed,
    }
}

/// Derives dimensions from the columns of the parameters.
fn parameter_dimensions<'t>(cell: &impl Fn(&str) -> Option<&'t str>) -> Attributes {
    let whole = |column: &str| cell(column).and_then(|text| text.parse::<f64>().ok());
    let mut asked = Attributes::new();
    if let Some(percent) = whole("rdpct") {
        let operation = if percent >= 100.0 {
            "read"
        } else if percent <= 0.0 {
            "write"
        } else {
            "mix"
        };
        asked.insert(Attribute::Operation, operation.into());
        if operation == "mix" {
            asked.insert(Attribute::ReadShare, (percent / 100.0).into());
        }
    }
    let pattern = match whole("seekpct") {
        Some(percent) if percent >= 100.0 => Some("random"),
        Some(percent) if percent <= 0.0 => Some("sequential"),
        _ => None,
    };
    asked.extend(pattern.map(|pattern| (Attribute::Pattern, pattern.into())));
    asked.extend(whole("xfersize").map(|bytes| (Attribute::Bytes, (bytes as u64).into())));
    asked.extend(whole("threads").map(|threads| (Attribute::Depth, (threads as u64).into())));
    asked
}

/// Columns of the summary: interval, I/O rate, MB/s, bytes, share of reads, response time.
const MIN_COLUMNS: usize = 6;

pub(super) fn is_summary(text: &str) -> bool {
    text.contains("interval        i/o")
        || (text.contains("Starting RD=") && text.contains("avg_"))
}

/// Reads the intervals that the averages of each run include.
pub(super) fn read_summary(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let mut found = Vec::new();
    let mut name = "run".to_owned();
    let mut rows: Vec<(u64, VdbenchInterval, [f64; 2])> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.split_once("Starting RD=").map(|it| it.1) {
            name = rest.split([';', ' ', ',', '<']).next().unwrap_or("run").to_owned();
            rows.clear();
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_time = |word: &str| word.len() >= 8 && word.matches(':').count() == 2;
        let Some(at) = words.iter().position(|word| is_time(word)) else { continue };
        let words = &words[at + 1..];
        let Some(interval) = words.first().filter(|_| words.len() >= MIN_COLUMNS) else {
            continue;
        };
        if let Ok(number) = interval.parse::<u64>() {
            rows.push((number, parse_interval(words)?, parse_size_and_share(words)?));
            check_limit(rows.len(), ("intervals of a run", MAX_ROWS))?;
        } else if let Some(range) = interval.strip_prefix("avg_") {
            let (first, last) =
                range.split_once('-').ok_or_else(|| missing("range of intervals"))?;
            let bounds = first.parse::<u64>().ok().zip(last.parse::<u64>().ok());
            let (first, last) = bounds.ok_or_else(|| missing("range of intervals"))?;
            rows.retain(|(number, _, _)| (first..=last).contains(number));
            found.extend(summarise_run(&name, &rows));
            check_limit(found.len(), ("runs", MAX_MEASUREMENTS))?;
            rows.clear();
        }
    }
    if found.is_empty() {
        let missing = "no run has its line of averages (avg_…)".to_owned();
        return Err(ToolError::Truncated { missing });
    }
    Ok(found)
}

fn summarise_run(
    name: &str,
    rows: &[(u64, VdbenchInterval, [f64; 2])],
) -> Option<ImportedMeasurement> {
    let intervals: Vec<VdbenchInterval> =
        rows.iter().map(|(_, interval, _)| *interval).collect();
    let stretches = FlatFile { intervals }.merged_intervals();
    let (_, _, [bytes, percent]) = rows.last()?;
    let operation = if *percent >= 100.0 {
        "read"
    } else if *percent <= 0.0 {
        "write"
    } else {
        "mix"
    };
    let dimensions = Attributes::from([
        (Attribute::Operation, operation.into()),
        (Attribute::Bytes, (*bytes as u64).into()),
    ]);
    (!stretches.is_empty())
        .then(|| run_measurement(name, dimensions, vdbench_samples(&stretches)))
}

fn parse_interval(words: &[&str]) -> Result<VdbenchInterval, ToolError> {
    const MIB: f64 = 1024.0 * 1024.0;
    Ok(VdbenchInterval {
        interval_count: 1.0,
        rate_per_s: parse_non_negative("the rate", words[1])?,
        bytes_per_s: parse_non_negative("MB/sec", words[2])? * MIB,
        mean_s: parse_non_negative("the response time", words[5])? / 1e3,
    })
}

/// Parses the size of an I/O in bytes, and the share of reads in percent.
fn parse_size_and_share(words: &[&str]) -> Result<[f64; 2], ToolError> {
    Ok([parse_non_negative("bytes i/o", words[3])?, parse_non_negative("read pct", words[4])?])
}
