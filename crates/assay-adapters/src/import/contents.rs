//! Contents of a result file: its measurements, and an account of everything else in it.

use std::ops::RangeInclusive;

use assay_model::attribute::Attributes;
use assay_model::benchmark::Benchmark;

use super::MAX_PARTS;
use super::file_time::FileTime;
use crate::limits::{MAX_SERIES, check_limit};
use crate::outputs::{ParsedOutput, ToolError};

/// Lines of a file, counted from 1.
pub type LineSpan = RangeInclusive<usize>;

/// Measurement of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedMeasurement {
    /// Its name in the file, for identifiers of cases.
    pub name: String,
    /// Benchmark that its figures belong to.
    pub benchmark: Benchmark,
    /// Dimensions that all its figures share.
    pub dimensions: Attributes,
    /// Name of the machine, if one file holds results of several.
    pub system: Option<String>,
    /// Time of the measurement, if the file has it.
    pub began: Option<FileTime>,
    /// Lines that its figures come from, if the reader knows them.
    pub lines: Option<LineSpan>,
    /// Its figures.
    pub parsed: ParsedOutput,
}

impl ImportedMeasurement {
    /// Makes a measurement without system, time and lines.
    pub(crate) fn new(
        name: impl Into<String>,
        benchmark: Benchmark,
        dimensions: Attributes,
        parsed: ParsedOutput,
    ) -> Self {
        Self {
            name: name.into(),
            benchmark,
            dimensions,
            system: None,
            began: None,
            lines: None,
            parsed,
        }
    }
}

/// Part of a file that was recognised and is not a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    /// Its lines; `None` = the whole file, or a place that has no lines.
    pub lines: Option<LineSpan>,
    /// Name of the part: `test "udp_bw"`, `column clat_p99`.
    pub what: String,
    /// Role of the part, or the reason for leaving it out.
    pub why: String,
}

/// Part of a file that should be a measurement and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedPart {
    /// Its lines, if they are known.
    pub lines: Option<LineSpan>,
    /// Line of the error, if it is known.
    pub error_line: Option<usize>,
    /// Name of the part.
    pub what: String,
    /// Reason.
    pub error: ToolError,
}

impl FailedPart {
    /// Makes a part whose error is not located yet.
    pub(crate) fn new(
        lines: Option<LineSpan>,
        what: impl Into<String>,
        error: ToolError,
    ) -> Self {
        Self { lines, error_line: None, what: what.into(), error }
    }

    /// Returns the line of the error, or else the first one of the part.
    pub fn line(&self) -> Option<usize> {
        self.error_line.or_else(|| self.lines.as_ref().map(|lines| *lines.start()))
    }
}

/// Everything that a reader found in a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FileContents {
    /// Measurements in the order of the file.
    pub measurements: Vec<ImportedMeasurement>,
    /// Lines that gave conditions, times or versions.
    pub recognised: Vec<FilePart>,
    /// Results that are left out, with the reason.
    pub left_out: Vec<FilePart>,
    /// Results that are damaged or failed the tool's own check.
    pub failed: Vec<FailedPart>,
}

impl FileContents {
    /// Records a result that assay does not import.
    pub(crate) fn leave_out(
        &mut self,
        lines: Option<LineSpan>,
        what: impl Into<String>,
        why: impl Into<String>,
    ) {
        self.left_out.push(FilePart { lines, what: what.into(), why: why.into() });
    }

    /// Records a line that gave a condition, a time or a version.
    pub(crate) fn recognise(
        &mut self,
        lines: LineSpan,
        what: impl Into<String>,
        why: impl Into<String>,
    ) {
        let lines = Some(lines);
        self.recognised.push(FilePart { lines, what: what.into(), why: why.into() });
    }

    /// Adds the measurement of a part, or its error.
    pub(crate) fn add_part(
        &mut self,
        lines: Option<LineSpan>,
        what: impl Into<String>,
        part: Result<ImportedMeasurement, ToolError>,
    ) {
        match part {
            Ok(mut measurement) => {
                measurement.lines = measurement.lines.or(lines);
                self.measurements.push(measurement);
            }
            Err(error) => self.failed.push(FailedPart::new(lines, what, error)),
        }
    }

    /// Checks that there are not too many series of figures and other parts so far.
    ///
    /// # Errors
    /// If there are.
    pub(crate) fn check_size(&self) -> Result<(), ToolError> {
        let series = self.measurements.iter().map(|it| it.parsed.values.len()).sum();
        check_limit(series, ("series of figures", MAX_SERIES))?;
        let parts = self.left_out.len() + self.recognised.len() + self.failed.len();
        check_limit(parts, ("parts that are no measurement", MAX_PARTS))
    }

    /// Appends the contents of another part of the same file.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.measurements.append(&mut other.measurements);
        self.recognised.append(&mut other.recognised);
        self.left_out.append(&mut other.left_out);
        self.failed.append(&mut other.failed);
    }

    /// Replaces every line number by the result of `locate`.
    pub(crate) fn map_lines(&mut self, locate: impl Fn(usize) -> usize) {
        let map = |lines: &mut Option<LineSpan>| {
            if let Some(span) = lines {
                let (first, last) = (locate(*span.start()), locate(*span.end()));
                *span = first.min(last)..=first.max(last);
            }
        };
        self.measurements.iter_mut().for_each(|it| map(&mut it.lines));
        self.recognised.iter_mut().for_each(|it| map(&mut it.lines));
        self.left_out.iter_mut().for_each(|it| map(&mut it.lines));
        for it in &mut self.failed {
            map(&mut it.lines);
            it.error_line = it.error_line.map(&locate);
        }
    }
}

impl From<Vec<ImportedMeasurement>> for FileContents {
    fn from(measurements: Vec<ImportedMeasurement>) -> Self {
        Self { measurements, ..Self::default() }
    }
}
