//! Test of IOR's output: its conditions and rows, and the measurements that they become.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;

use super::super::contents::LineSpan;
use super::super::{FileContents, FileTime, ImportedMeasurement, mixed_lines};
use crate::ior_text::IorRow;
use crate::outputs::{ParsedOutput, ToolError};
use crate::tool::ior_rows;

/// Row of the table of results, or its error.
#[derive(Debug)]
pub(super) struct TestRow {
    pub line: Option<usize>,
    pub is_write: bool,
    pub row: Result<IorRow, ToolError>,
}

/// Row of the summary: statistics over the repetitions.
#[derive(Debug)]
pub(super) struct SummaryRow {
    pub line: usize,
    pub is_write: bool,
    /// Maximum, minimum and mean bandwidth in B/s.
    pub bandwidth: [f64; 3],
    /// Mean transfers per second.
    pub rate_per_s: f64,
    /// Repetitions, if the row has them.
    pub repetitions: Option<u64>,
}

/// Bytes in the unit of IOR's bandwidths.
pub(super) const MIB: f64 = 1_048_576.0;

/// Largest bandwidth of a direction: `Max Write: 245.11 MiB/sec (257.02 MB/sec)`.
#[derive(Debug, Clone)]
pub(super) struct PrintedMaximum {
    pub line: usize,
    pub text: String,
    /// Bandwidth in B/s, or its error.
    pub bytes_per_s: Result<f64, ToolError>,
}

/// Test of a file: its conditions and rows.
#[derive(Debug, Default)]
pub(super) struct IorTest {
    pub version: Option<String>,
    pub began: Option<FileTime>,
    pub tasks: Option<u64>,
    /// Options in the words of the file.
    pub options: BTreeMap<String, String>,
    pub rows: Vec<TestRow>,
    pub summary: Vec<SummaryRow>,
    /// Maxima of writes, and of reads.
    pub maxima: [Option<PrintedMaximum>; 2],
    /// Whether a table of results was begun, which has a row of each repetition.
    pub has_table: bool,
    /// Verdicts that fail writes, and reads.
    pub verdicts: [Option<ToolError>; 2],
    /// Whether a text has to end with a summary that is missing.
    pub lacks_summary: bool,
    /// Lines of the test, if it has lines of its own.
    pub lines: Option<LineSpan>,
}

/// Options that distinguish tests of one file, besides those with a dimension of their own.
const LOOP_OPTIONS: [&str; 4] = ["api", "access", "type", "blocksize"];

/// Returns the options that differ between tests of one file.
pub(super) fn find_differing_options(tests: &[IorTest]) -> Vec<&'static str> {
    let differs = |name: &&str| {
        let values: BTreeSet<Option<&String>> =
            tests.iter().map(|test| test.options.get(*name)).collect();
        values.len() > 1
    };
    LOOP_OPTIONS.into_iter().filter(differs).collect()
}

impl IorTest {
    /// Whether anything was read that belongs to a test.
    pub(super) fn has_results(&self) -> bool {
        !self.rows.is_empty()
            || !self.summary.is_empty()
            || self.verdicts.iter().any(Option::is_some)
            || self.maxima.iter().any(Option::is_some)
    }

    /// Whether a repetition of this direction was read already.
    pub(super) fn count_rows(&self, is_write: bool) -> usize {
        self.rows.iter().filter(|row| row.is_write == is_write).count()
    }

    /// Adds the measurements of the test, or their errors.
    pub(super) fn add_to(&self, contents: &mut FileContents, differing: &[&str]) {
        for is_write in [true, false] {
            let rows: Vec<&TestRow> =
                self.rows.iter().filter(|row| row.is_write == is_write).collect();
            let summary = self.summary.iter().find(|row| row.is_write == is_write);
            let verdict = &self.verdicts[usize::from(!is_write)];
            let maximum = self.maxima[usize::from(!is_write)].as_ref();
            if rows.is_empty() && summary.is_none() && verdict.is_none() && maximum.is_none() {
                continue;
            }
            let numbers = rows.iter().filter_map(|row| row.line);
            let other = summary.map(|row| row.line).or(maximum.map(|it| it.line));
            let first = numbers.clone().min().or(other);
            let last = numbers.max().or(first);
            let made = match verdict {
                Some(error) => Err(error.clone()),
                None => self.measure(&rows, summary, is_write, differing),
            };
            // The maximum, which a broken direction may contradict, follows the rows.
            let last = match &made {
                Err(_) => last.max(maximum.map(|it| it.line)),
                Ok(_) => last,
            };
            let lines = first.zip(last).map(|(first, last)| first..=last);
            let operation = operation_name(is_write);
            contents.add_part(lines.or_else(|| self.lines.clone()), operation, made);
        }
    }

    /// Returns the rows of a direction if all are whole, and its maximum and its summary fit them.
    fn check_rows<'r>(
        &self,
        rows: &[&'r TestRow],
        summary: Option<&SummaryRow>,
        is_write: bool,
    ) -> Result<Vec<&'r IorRow>, ToolError> {
        let operation = operation_name(is_write);
        let truncated = |missing: String| Err(ToolError::Truncated { missing });
        if self.lacks_summary {
            return truncated("IOR's summary is missing".to_owned());
        }
        if rows.is_empty() && (self.has_table || summary.is_none()) {
            return truncated(format!("the rows of {operation} are missing"));
        }
        let found = rows.len() as u64;
        let expected = summary.and_then(|it| it.repetitions).filter(|_| found > 0);
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            let what = format!("{found} of {expected} repetitions of {operation}");
            return if expected > found { truncated(what) } else { Err(mixed_lines(&what)) };
        }
        let rows: Result<Vec<&IorRow>, ToolError> =
            rows.iter().map(|row| row.row.as_ref().map_err(Clone::clone)).collect();
        let rows = rows?;
        self.check_figures(&rows, is_write)?;
        Ok(rows)
    }

    /// Checks the maximum and the summary of a direction against its rows.
    fn check_figures(&self, rows: &[&IorRow], is_write: bool) -> Result<(), ToolError> {
        let operation = operation_name(is_write);
        let rates: Vec<f64> = rows.iter().map(|it| it.bytes_per_s).collect();
        let summaries: Vec<&SummaryRow> =
            self.summary.iter().filter(|row| row.is_write == is_write).collect();
        let maximum = self.maxima[usize::from(!is_write)].as_ref();
        // The summary of all tests stands below the last of them.
        let [summary] = summaries[..] else {
            return check_maximum(maximum, max_of(rates.iter().copied()), "largest row");
        };
        let [max, min, mean] = summary.bandwidth;
        check_maximum(maximum, Some(max), "summary")?;
        let found = [
            max_of(rates.iter().copied()),
            max_of(rates.iter().map(|it| -it)).map(|it| -it),
            (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64),
        ];
        let names = ["maximum", "minimum", "mean"];
        for ((name, printed), found) in names.into_iter().zip([max, min, mean]).zip(found) {
            if let Some(found) = found.filter(|found| !is_same_bandwidth(printed, *found)) {
                let (printed, found) = (in_mib(printed), in_mib(found));
                let what = format!(
                    "the {name} of {operation} is {printed} MiB/s in the summary, and {found} in the rows"
                );
                return Err(ToolError::Contradiction { what });
            }
        }
        Ok(())
    }

    fn measure(
        &self,
        rows: &[&TestRow],
        summary: Option<&SummaryRow>,
        is_write: bool,
        differing: &[&str],
    ) -> Result<ImportedMeasurement, ToolError> {
        let operation = operation_name(is_write);
        let rows = self.check_rows(rows, summary, is_write)?;
        let (parsed, bytes) = match (rows.first(), summary) {
            (Some(first), _) => {
                let parsed =
                    ior_rows::convert_ior_rows(&rows, self.tasks, self.version.clone())?;
                (parsed, first.transfer_bytes)
            }
            (None, Some(summary)) => self.convert_summary(summary),
            (None, None) => (ParsedOutput::default(), 0.0),
        };
        let mut dimensions = Attributes::from([(Attribute::Operation, operation.into())]);
        if bytes >= 1.0 {
            dimensions.insert(Attribute::Bytes, (bytes as u64).into());
        }
        dimensions.extend(self.tasks.map(|tasks| (Attribute::Depth, tasks.into())));
        let option = |name: &str| self.options.get(name).map(String::as_str);
        let pattern = self.pattern();
        dimensions.extend(pattern.map(|pattern| (Attribute::Pattern, pattern.into())));
        let target = option("test filename").or_else(|| option("testFileName"));
        dimensions.extend(target.map(|name| (Attribute::Target, name.into())));
        let named =
            differing.iter().filter_map(|name| Some(format!("{name}={}", option(name)?)));
        let loops = named.collect::<Vec<_>>().join(" ");
        if !loops.is_empty() {
            dimensions.insert(Attribute::Loops, loops.into());
        }
        let mut made =
            ImportedMeasurement::new(operation, Benchmark::Storage, dimensions, parsed);
        made.began = self.began;
        Ok(made)
    }

    /// Returns the order of the offsets. Tasks that share a file each have a part of it.
    fn pattern(&self) -> Option<&'static str> {
        let order = self.options.get("ordering in a file")?;
        let access = self.options.get("access");
        let is_shared = access.is_some_and(|it| it.starts_with("single-shared"));
        let has_parts = is_shared && self.tasks.is_some_and(|tasks| tasks > 1);
        Some(match has_parts {
            _ if order.starts_with("random") => "random",
            true => "parts",
            false => "sequential",
        })
    }

    /// Converts the means of a summary; the size of a transfer follows from both rates.
    fn convert_summary(&self, summary: &SummaryRow) -> (ParsedOutput, f64) {
        let mut parsed =
            ParsedOutput { version: self.version.clone(), ..ParsedOutput::default() };
        let [max, min, mean] = summary.bandwidth;
        if summary.rate_per_s > 0.0 {
            parsed.add_samples("rate", vec![summary.rate_per_s]);
            parsed.set_metric_attribute("rate", Attribute::Statistic, "mean");
        }
        parsed.add_samples("bandwidth", vec![mean]);
        parsed.set_metric_attribute("bandwidth", Attribute::Statistic, "mean");
        let (min, mean_figure, max) = (Some(min), Some(mean), Some(max));
        let figures = ToolFigures { min, mean: mean_figure, max, ..ToolFigures::default() };
        parsed.set_figures("bandwidth", figures);
        if let Some(tasks) = self.tasks {
            parsed.set_attribute(Attribute::Tasks, tasks);
        }
        // Both rates have two decimals: a size is a multiple of 8 bytes in practice.
        let bytes = mean / summary.rate_per_s;
        let is_exact = summary.rate_per_s >= 100.0 && mean >= 100.0 * MIB;
        let bytes = if is_exact { nearest_size(bytes) } else { 0.0 };
        (parsed, bytes)
    }
}

/// Returns the name of a direction.
const fn operation_name(is_write: bool) -> &'static str {
    if is_write { "write" } else { "read" }
}

/// Checks a printed maximum against the figure of another place.
fn check_maximum(
    maximum: Option<&PrintedMaximum>,
    found: Option<f64>,
    place: &str,
) -> Result<(), ToolError> {
    let Some(maximum) = maximum else { return Ok(()) };
    let printed = maximum.bytes_per_s.clone()?;
    let Some(found) = found.filter(|found| !is_same_bandwidth(printed, *found)) else {
        return Ok(());
    };
    let what = format!("the {place} has {} MiB/s, not {:?}", in_mib(found), maximum.text);
    Err(ToolError::InconsistentLine { what, line: maximum.text.clone() })
}

/// Whether bandwidths in MiB/s with two decimals are the same figure, calculated from rounded ones.
fn is_same_bandwidth(one: f64, other: f64) -> bool {
    const DIGIT: f64 = 0.02 * MIB;
    const ROUNDING: f64 = 1e-3;
    (one - other).abs() <= DIGIT + ROUNDING * one.max(other)
}

fn in_mib(bytes_per_s: f64) -> String {
    format!("{:.2}", bytes_per_s / MIB)
}

fn max_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.max_by(f64::total_cmp)
}

/// Returns the power of two within a thousandth of a size, or 0.
fn nearest_size(bytes: f64) -> f64 {
    let power = bytes.log2().round().exp2();
    if (power / bytes - 1.0).abs() < 1e-3 { power } else { 0.0 }
}
