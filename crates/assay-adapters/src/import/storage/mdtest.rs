//! Import of mdtest's summaries, of 1.9 to 4.x.
//!
//! A table of rates gives one measurement per operation. A table of times has the same measurements
//! again; 4.x labels them `ms/op`, though `mdtest.c` prints the seconds of a whole phase.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;

use super::super::{FileContents, FileTime, ImportedMeasurement, missing, word_after};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative};

/// Operations in mdtest's summary and their names in assay.
const MDTEST_OPERATIONS: [(&str, &str); 11] = [
    ("Directory creation", "mkdir"),
    ("Directory stat", "stat-directory"),
    ("Directory read", "read-directory"),
    ("Directory rename", "rename-directory"),
    ("Directory removal", "rmdir"),
    ("File creation", "create"),
    ("File stat", "stat"),
    ("File read", "read"),
    ("File removal", "delete"),
    ("Tree creation", "create-tree"),
    ("Tree removal", "delete-tree"),
];
/// Words of warnings and the operations that they concern.
const FAILURES: [(&str, &[&str]); 5] = [
    ("unable to create", &["create", "mkdir"]),
    ("unable to stat", &["stat", "stat-directory"]),
    ("unable to rename", &["rename-directory"]),
    ("unable to remove", &["delete", "rmdir"]),
    ("unable to unlink", &["delete"]),
];

pub(super) fn is_mdtest(text: &str) -> bool {
    let has_summary = text.contains("SUMMARY rate")
        || text.contains("SUMMARY time")
        || (text.contains("mdtest") && text.contains("SUMMARY: (of"));
    has_summary || text.lines().any(|line| line.trim_start().starts_with("mdtest-"))
}

/// Kind of the table that is being read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum TableKind {
    #[default]
    None,
    Rates,
    Times,
}

/// Reader of one or several runs, line by line.
#[derive(Debug, Default)]
struct MdtestReader {
    contents: FileContents,
    table: TableKind,
    has_ranks: bool,
    /// Line of the last title without a table.
    open_title: Option<usize>,
    version: Option<String>,
    began: Option<FileTime>,
    ranks: Option<u64>,
    files: Option<u64>,
    iterations: Option<u64>,
    /// Rates of each iteration, by operation.
    rates: BTreeMap<&'static str, Vec<f64>>,
    /// Failures that mdtest reported, by operation; the empty name concerns all.
    failures: BTreeMap<&'static str, String>,
}

/// Reads rates in operations per second. A row has maximum, minimum, mean and standard deviation
/// over the iterations; the samples are the iterations where they are printed, else the mean.
pub(super) fn read_mdtest(text: &str) -> Result<FileContents, ToolError> {
    let mut reader = MdtestReader::default();
    for (at, line) in text.lines().enumerate() {
        reader.read_line(at + 1, line.trim());
        check_limit(reader.contents.measurements.len(), ("rows", MAX_MEASUREMENTS))?;
    }
    if !reader.contents.measurements.is_empty() {
        reader.fail_open_title();
    }
    let contents = reader.contents;
    if contents.measurements.is_empty() && contents.failed.is_empty() {
        return Err(match reader.failures.into_values().next() {
            Some(what) => ToolError::SystemError { what, number: None },
            None if contents.left_out.is_empty() => {
                ToolError::Truncated { missing: "mdtest's summary is missing".to_owned() }
            }
            None => missing("row of mdtest's summary with a rate"),
        });
    }
    Ok(contents)
}

impl MdtestReader {
    /// Adds a title without a table to the damaged parts.
    fn fail_open_title(&mut self) {
        if let Some(line) = self.open_title.take() {
            let missing = "the summary below the title is missing".to_owned();
            let error = Err(ToolError::Truncated { missing });
            self.contents.add_part(Some(line..=line), "mdtest run", error);
        }
    }

    fn read_line(&mut self, number: usize, line: &str) {
        if self.read_condition(number, line) {
            return;
        }
        let known = MDTEST_OPERATIONS.iter().find(|(word, _)| line.contains(word));
        let Some((word, operation)) = known else { return };
        let rest = line.split_once(word).map_or("", |(_, rest)| rest);
        if rest.contains(" sec,") {
            self.read_iteration(number, operation, rest);
            return;
        }
        let cells: Vec<&str> = rest.trim_start_matches([' ', ':']).split_whitespace().collect();
        let lines = Some(number..=number);
        match self.table {
            TableKind::None => {}
            TableKind::Times => {
                let why = "its rate is imported; the time is the whole phase's";
                self.contents.leave_out(lines, format!("time of {word:?}"), why);
            }
            TableKind::Rates => match self.read_rate(word, operation, &cells) {
                Ok(Some(found)) => self.contents.add_part(lines, *word, Ok(found)),
                Ok(None) => {
                    self.contents.leave_out(lines, format!("{word:?}"), "it was not run");
                }
                Err(error) => self.contents.add_part(lines, *word, Err(error)),
            },
        }
    }

    /// Reads a line that gives a condition, a table or a failure; returns whether it does.
    fn read_condition(&mut self, number: usize, line: &str) -> bool {
        let mut about = None;
        if let Some(time) = word_time(line, "started at") {
            // A further run begins; the title follows.
            self.fail_open_title();
            *self = Self { contents: std::mem::take(&mut self.contents), ..Self::default() };
            self.began = Some(time);
            about = Some("time of the start");
        } else if line.contains("was launched with") {
            let began = self.began.take();
            self.fail_open_title();
            *self = Self { contents: std::mem::take(&mut self.contents), ..Self::default() };
            self.began = began;
            self.open_title = Some(number);
            self.version = word_after(line, "mdtest-").map(str::to_owned);
            self.ranks = word_after(line, "launched with").and_then(|it| it.parse().ok());
            about = Some("version and ranks");
        } else if let Some((_, rest)) = line.split_once(" tasks, ") {
            let count = rest.split_whitespace().next().and_then(|it| it.parse().ok());
            self.ranks = line.split_whitespace().next().and_then(|it| it.parse().ok());
            self.files = count;
            about = Some("ranks and number of files");
        } else if let Some(rest) = line.strip_prefix("SUMMARY") {
            let is_time = rest.trim_start().starts_with("time");
            self.table = if is_time { TableKind::Times } else { TableKind::Rates };
            self.iterations = word_after(rest, "(of").and_then(|it| it.parse().ok());
            self.has_ranks = false;
            self.open_title = None;
            about = Some("kind of the table");
        } else if line.starts_with("Operation") {
            self.has_ranks = line.contains("per Rank:");
            about = Some("heading of the table");
        } else if self.read_failure(line) {
            about = Some("failure that mdtest reported");
        }
        if let Some(what) = about {
            self.contents.recognise(number..=number, what, "condition of the results below");
        }
        about.is_some()
    }

    /// Reads a failure; returns whether the line is one.
    fn read_failure(&mut self, line: &str) -> bool {
        let is_warning = line.contains("WARNING") || line.contains("ERROR");
        let is_verdict = line.contains("verification error") || line.contains("incorrect data");
        if is_verdict {
            self.failures.entry("read").or_insert_with(|| line.to_owned());
        } else if line.starts_with("ERROR") {
            self.failures.entry("").or_insert_with(|| line.to_owned());
        } else if is_warning && line.contains("unable to") {
            let known = FAILURES.iter().find(|(words, _)| line.contains(words));
            for operation in known.map_or(&["read"][..], |(_, operations)| operations) {
                self.failures.entry(operation).or_insert_with(|| line.to_owned());
            }
        } else {
            return false;
        }
        true
    }

    /// Reads the rate of one iteration: `0.041 sec, 24392.579 ops/sec`.
    fn read_iteration(&mut self, number: usize, operation: &'static str, rest: &str) {
        let rate = rest
            .split_once(" sec,")
            .and_then(|(_, rest)| rest.split_whitespace().next())
            .and_then(|text| parse_non_negative("the rate", text).ok());
        let lines = number..=number;
        match rate.filter(|_| !rest.contains("stonewall")) {
            Some(rate) => {
                self.rates.entry(operation).or_default().push(rate);
                self.contents.recognise(lines, format!("iteration of {operation}"), "a sample");
            }
            None => {
                let why = "it is the part until the stone wall; the rate of all is imported";
                self.contents.leave_out(Some(lines), format!("row of {operation}"), why);
            }
        }
    }

    /// Makes the measurement of a row; `None` if the operation was not run.
    fn read_rate(
        &self,
        word: &str,
        operation: &'static str,
        cells: &[&str],
    ) -> Result<Option<ImportedMeasurement>, ToolError> {
        let expected = if self.has_ranks { 7 } else { 4 };
        let Some(cells) = cells.get(expected - 4..expected).filter(|_| cells.len() == expected)
        else {
            let missing = format!("the row {word:?} has {} of {expected} cells", cells.len());
            return Err(ToolError::Truncated { missing });
        };
        // The deviation of one iteration is no number in old versions.
        let numbers: Result<Vec<f64>, _> =
            cells.iter().take(3).map(|cell| parse_non_negative(word, cell)).collect();
        let [max, min, mean] = numbers?[..] else { return Err(missing(word)) };
        if mean <= 0.0 {
            return Ok(None);
        }
        if let Some(verdict) = self.failures.get(operation).or_else(|| self.failures.get("")) {
            return Err(ToolError::CheckFailed { verdict: verdict.clone() });
        }
        let mut parsed =
            ParsedOutput { version: self.version.clone(), ..ParsedOutput::default() };
        let rates = self.rates.get(operation).filter(|rates| {
            Some(rates.len() as u64) == self.iterations && are_means(rates, mean)
        });
        parsed.add_samples("rate", rates.cloned().unwrap_or_else(|| vec![mean]));
        if rates.is_none() && self.iterations != Some(1) {
            parsed.set_metric_attribute("rate", Attribute::Statistic, "mean");
        }
        let (min, mean, max) = (Some(min), Some(mean), Some(max));
        let figures = ToolFigures { min, mean, max, ..ToolFigures::default() };
        parsed.set_figures("rate", figures);
        let mut dimensions = Attributes::from([(Attribute::Operation, operation.into())]);
        dimensions.extend(self.ranks.map(|ranks| (Attribute::Threads, ranks.into())));
        dimensions.extend(self.files.map(|files| (Attribute::Files, files.into())));
        let mut made =
            ImportedMeasurement::new(operation, Benchmark::StorageFiles, dimensions, parsed);
        made.began = self.began;
        Ok(Some(made))
    }
}

/// Whether the mean of the rates is the printed one, within its rounding.
fn are_means(rates: &[f64], mean: f64) -> bool {
    let sum: f64 = rates.iter().sum();
    (sum / rates.len() as f64 - mean).abs() <= 1e-3 + 1e-3 * mean
}

/// Parses the time behind `name`: `-- started at 01/05/2024 10:00:00 --`, month first.
fn word_time(line: &str, name: &str) -> Option<FileTime> {
    let mut words = line.split_once(name)?.1.split_whitespace();
    let (date, clock) = (words.next()?, words.next()?);
    let mut fields = date.split('/');
    let (month, day, year) = (fields.next()?, fields.next()?, fields.next()?);
    FileTime::parse_iso(&format!("{year}-{month}-{day}T{clock}"))
}
