//! Lines of IOR's text and CSV, as tests with their rows.

use super::super::{FileContents, FileTime};
use super::ior_test::{IorTest, MIB, PrintedMaximum, SummaryRow, TestRow};
use crate::ior_text::{parse_error, parse_row, reports_wrong_data};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ToolError, parse_non_negative, parse_positive, parse_whole};

#[derive(Debug, Default)]
struct LineReader {
    tests: Vec<IorTest>,
    test: IorTest,
    /// Names of the columns of the table of results.
    columns: Vec<String>,
    /// Names of the columns of the summary; empty outside of it.
    summary: Vec<String>,
    is_csv: bool,
    /// Line of the last title without results.
    open_title: Option<usize>,
}

/// Reads the tests of a text.
pub(super) fn read_lines(
    text: &str,
    contents: &mut FileContents,
) -> Result<Vec<IorTest>, ToolError> {
    let mut reader = LineReader::default();
    for (at, line) in text.lines().enumerate() {
        reader.read_line(at + 1, line, contents);
        check_limit(reader.tests.len(), ("tests", MAX_MEASUREMENTS))?;
    }
    if !reader.tests.is_empty() {
        reader.fail_open_title(contents);
    }
    reader.end_test();
    Ok(reader.tests)
}

/// Keys of options that are kept.
const OPTIONS: [&str; 6] =
    ["test filename", "ordering in a file", "api", "access", "type", "blocksize"];

impl LineReader {
    /// Adds a title without results to the damaged parts.
    fn fail_open_title(&mut self, contents: &mut FileContents) {
        if let Some(line) = self.open_title.take() {
            let missing = "the results below the title are missing".to_owned();
            let error = Err(ToolError::Truncated { missing });
            contents.add_part(Some(line..=line), "IOR run", error);
        }
    }

    fn end_test(&mut self) {
        let mut done = std::mem::take(&mut self.test);
        self.test.version.clone_from(&done.version);
        self.test.began = done.began;
        if done.has_results() {
            done.lacks_summary = !self.is_csv && done.summary.is_empty();
            done.has_table = !self.columns.is_empty();
            self.tests.push(done);
        }
        self.summary.clear();
    }

    fn read_line(&mut self, number: usize, line: &str, contents: &mut FileContents) {
        let lines = number..=number;
        if let Some(version) = line.strip_prefix("IOR-").and_then(|it| it.split_once(": MPI")) {
            self.end_test();
            self.fail_open_title(contents);
            *self = Self { tests: std::mem::take(&mut self.tests), ..Self::default() };
            self.open_title = Some(number);
            self.test.version = Some(version.0.to_owned());
            contents.recognise(lines, "title", "version of the tool");
        } else if line.starts_with("access") && line.contains("bw(MiB/s)") {
            if self.test.summary.is_empty() {
                self.is_csv = line.contains(',');
            } else {
                self.end_test();
            }
            self.summary.clear();
            self.columns = self.split_cells(line);
            contents.recognise(lines, "heading of the results", "names of the columns");
        } else if line.starts_with("Operation") {
            // `Max (MiB)` and `Max(MiB)` are one column.
            let heading = line.replace(" (", "(").replace("Std Dev", "StdDev");
            self.summary = heading.split_whitespace().map(str::to_owned).collect();
            contents.recognise(lines, "heading of the summary", "names of the columns");
        } else if let Some(error) = parse_error(line) {
            self.fail(&error);
        } else if reports_wrong_data(line) {
            self.fail_check(line);
        } else if self.read_maximum(number, line) {
            contents.recognise(lines, "maximum", "the largest of the rows");
        } else if self.read_condition(line) {
            contents.recognise(lines, "condition", line.trim());
        } else {
            self.read_row(number, line, contents);
        }
    }

    fn split_cells(&self, line: &str) -> Vec<String> {
        match self.is_csv {
            true => line.split(',').map(|cell| cell.trim().to_owned()).collect(),
            false => line.split_whitespace().map(str::to_owned).collect(),
        }
    }

    fn fail(&mut self, error: &ToolError) {
        self.open_title = None;
        for (verdict, is_write) in self.test.verdicts.iter_mut().zip([true, false]) {
            let has_rows = self.test.rows.iter().any(|row| row.is_write == is_write);
            let has_other = self.test.rows.iter().any(|row| row.is_write != is_write);
            if has_rows || !has_other {
                verdict.get_or_insert_with(|| error.clone());
            }
        }
    }

    /// Records that data was wrong: `Incorrect data on read (16 errors found)`.
    fn fail_check(&mut self, line: &str) {
        self.open_title = None;
        record_wrong_data(&mut self.test.verdicts, line);
    }

    /// Reads the largest bandwidth of a direction; returns whether the line has it.
    fn read_maximum(&mut self, number: usize, line: &str) -> bool {
        let names = ["Max Write", "Max Read"];
        for (maximum, name) in self.test.maxima.iter_mut().zip(names) {
            let rest = line.trim().strip_prefix(name).and_then(|it| it.strip_prefix(':'));
            let Some(rest) = rest else { continue };
            let words: Vec<&str> = rest.split_whitespace().take(2).collect();
            let [value, "MiB/sec"] = words[..] else { return false };
            let bytes_per_s = parse_positive(name, value).map(|value| value * MIB);
            let text = line.trim().to_owned();
            *maximum = Some(PrintedMaximum { line: number, text, bytes_per_s });
            return true;
        }
        false
    }

    /// Reads a condition of the test; returns whether it is one.
    fn read_condition(&mut self, line: &str) -> bool {
        let trimmed = line.trim();
        let is_start = trimmed.starts_with("Test ") && trimmed.contains(" started:");
        if is_start || trimmed.starts_with("TestID") {
            self.end_test();
        }
        let Some((key, value)) = trimmed.split_once([':', '=']) else { return false };
        let (key, value) = (key.trim(), value.trim());
        if is_start || matches!(key, "Began" | "Run began" | "StartTime") {
            self.test.began = FileTime::parse_ctime(value).or(self.test.began);
            return true;
        }
        if key == "tasks" || key == "clients" {
            let count = value.split_whitespace().next().and_then(|it| it.parse().ok());
            self.test.tasks = count.or(self.test.tasks);
            return count.is_some();
        }
        let is_known = OPTIONS.contains(&key);
        if is_known {
            self.test.options.insert(key.to_owned(), value.to_owned());
        }
        is_known
    }

    /// Reads a row of the results or of the summary.
    fn read_row(&mut self, number: usize, line: &str, contents: &mut FileContents) {
        let cells = self.split_cells(line);
        let Some(access) = cells.first() else { return };
        let is_write = match access.as_str() {
            "write" => true,
            "read" => false,
            _ => {
                let is_row = self.summary.is_empty() && cells.len() == self.columns.len();
                let why = "assay imports writes and reads";
                if is_row && !access.starts_with('-') {
                    contents.leave_out(Some(number..=number), format!("row {access:?}"), why);
                }
                return;
            }
        };
        self.open_title = None;
        if self.summary.is_empty() {
            self.add_result(number, is_write, line.trim(), &cells);
        } else {
            match self.parse_summary(number, is_write, &cells) {
                Ok(row) => {
                    let why = "repetitions and mean of the rows above";
                    contents.recognise(number..=number, format!("summary of {access}"), why);
                    self.test.summary.push(row);
                }
                Err(error) => self.test.verdicts[usize::from(!is_write)] = Some(error),
            }
        }
    }

    fn add_result(&mut self, number: usize, is_write: bool, row: &str, cells: &[String]) {
        if self.columns.is_empty() {
            return;
        }
        let cell = |name: &str| {
            let at = self.columns.iter().position(|it| it == name)?;
            cells.get(at).cloned()
        };
        let read = if cells.len() == self.columns.len() {
            parse_row(cell)
        } else {
            let (have, all) = (cells.len(), self.columns.len());
            let missing = format!("the row {row:?} has {have} of {all} cells");
            Err(ToolError::Truncated { missing })
        };
        let tasks = cell("numTasks").and_then(|it| it.parse().ok());
        // CSV has no line between tests: the repetitions begin again.
        let begins_again = cell("iter").as_deref() == Some("0")
            && self.is_csv
            && self.test.count_rows(is_write) > 0;
        if begins_again {
            self.end_test();
        }
        self.test.tasks = tasks.or(self.test.tasks);
        self.test.rows.push(TestRow { line: Some(number), is_write, row: read });
    }

    fn parse_summary(
        &mut self,
        line: usize,
        is_write: bool,
        cells: &[String],
    ) -> Result<SummaryRow, ToolError> {
        let cell = |name: &str| {
            let at = self.summary.iter().position(|it| it == name)?;
            cells.get(at).map(String::as_str)
        };
        let needed = |name: &str| {
            let text = cell(name).ok_or_else(|| ToolError::Truncated {
                missing: format!("the summary has no {name}"),
            })?;
            parse_positive(name, text).map(|value| value * MIB)
        };
        let bandwidth = [needed("Max(MiB)")?, needed("Min(MiB)")?, needed("Mean(MiB)")?];
        let rate_per_s = cell("Mean(OPs)").map(|text| parse_non_negative("Mean(OPs)", text));
        let whole = |name: &str| cell(name).map(|text| parse_whole(name, text)).transpose();
        let (tasks, repetitions) = (whole("#Tasks")?, whole("reps")?);
        if let (Some(ran), Some(asked)) = (tasks, self.test.tasks)
            && ran != asked
        {
            let what = format!("{ran} tasks ran instead of {asked}");
            return Err(ToolError::Contradiction { what });
        }
        self.test.tasks = tasks.or(self.test.tasks);
        let rate_per_s = rate_per_s.transpose()?.unwrap_or(0.0);
        Ok(SummaryRow { line, is_write, bandwidth, rate_per_s, repetitions })
    }
}

/// Records wrong data for the direction that the line names, or for both.
pub(super) fn record_wrong_data(verdicts: &mut [Option<ToolError>; 2], line: &str) {
    let place = line.split_once("Incorrect data on").map_or("", |(_, rest)| rest).trim();
    let is_named = [place.starts_with("write"), place.starts_with("read")];
    for (verdict, named) in verdicts.iter_mut().zip(is_named) {
        if named || is_named == [false, false] {
            let error = ToolError::CheckFailed { verdict: line.trim().to_owned() };
            verdict.get_or_insert(error);
        }
    }
}
