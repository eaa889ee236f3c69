//! Parser of Vdbench's `flatfile.html`: one row per interval, columns by the names in its heading.
//!
//! Columns differ between the versions. `MB/sec` is in 2²⁰ B/s and `resp` in ms (its own legend).
//! The row `avg_2-5` has the range of the intervals that count. Its figures are not used: in
//! 5.04.06 they include all intervals and the warm-up (26,407 IO/s for four intervals whose mean is
//! 30,438).

use crate::outputs::{ToolError, parse_non_negative};

/// Intervals of one run, without the warm-up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FlatFile {
    /// Intervals in order of time.
    pub(crate) intervals: Vec<VdbenchInterval>,
}

/// Interval, or several that are merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VdbenchInterval {
    /// Length in intervals, which are equal.
    pub(crate) interval_count: f64,
    /// Rate in IO/s.
    pub(crate) rate_per_s: f64,
    /// Bandwidth in B/s.
    pub(crate) bytes_per_s: f64,
    /// Mean seconds of an I/O; 0 without any I/O.
    pub(crate) mean_s: f64,
}

const PLACE: &str = "flatfile.html";
const AVERAGE: &str = "avg_";

impl FlatFile {
    /// Parses the rows of the run `name`.
    pub(crate) fn read(text: &str, name: &str) -> Result<Self, ToolError> {
        // The legend begins with an asterisk, the heading with the time of day.
        let is_heading = |line: &&str| line.trim_start().starts_with("tod ");
        let mut lines = text.lines().skip_while(|line| !is_heading(line));
        let names: Vec<&str> = lines
            .next()
            .ok_or_else(|| missing("line of column names"))?
            .split_whitespace()
            .collect();
        let run = find_column(&names, "Run")?;
        let rows = lines.filter(|line| line.split_whitespace().nth(run) == Some(name));
        Self::read_rows(&names, &rows.collect::<Vec<_>>(), name)
    }

    /// Parses the rows of one run, `name`, below a heading with these columns.
    pub(crate) fn read_rows(
        names: &[&str],
        rows: &[&str],
        name: &str,
    ) -> Result<Self, ToolError> {
        let column = |name: &str| find_column(names, name);
        let interval = column("Interval")?;
        let [rate, bandwidth, response] = [column("rate")?, column("MB/sec")?, column("resp")?];
        // Cells are split again for each use: those of all rows would take ten times the text.
        let cells = |row: &str| row.split_whitespace().count();
        if let Some(short) =
            rows.iter().map(|row| cells(row)).find(|cells| *cells < names.len())
        {
            let missing = format!("a row has {short} of {} cells", names.len());
            return Err(ToolError::Truncated { missing });
        }
        let average = rows.iter().find_map(|row| cell(row, interval).strip_prefix(AVERAGE));
        let counted = average.ok_or_else(|| ToolError::Truncated {
            missing: format!("the average of {name} is missing"),
        })?;
        let (first, last) =
            parse_range(counted).ok_or_else(|| missing("range of intervals"))?;
        let mut intervals = Vec::new();
        for row in rows {
            let Ok(number) = cell(row, interval).parse::<u64>() else { continue };
            if (first..=last).contains(&number) {
                const MIB: f64 = 1024.0 * 1024.0;
                intervals.push(VdbenchInterval {
                    interval_count: 1.0,
                    rate_per_s: parse_non_negative("rate", cell(row, rate))?,
                    bytes_per_s: parse_non_negative("MB/sec", cell(row, bandwidth))? * MIB,
                    mean_s: parse_non_negative("resp", cell(row, response))? / 1e3,
                });
            }
        }
        match intervals.iter().any(|it| it.rate_per_s > 0.0 && it.bytes_per_s > 0.0) {
            true => Ok(Self { intervals }),
            false => Err(missing("completed I/O")),
        }
    }

    /// Merges intervals into stretches with I/O: an interval without any is joined with the next,
    /// so that a stall counts towards it.
    pub(crate) fn merged_intervals(&self) -> Vec<VdbenchInterval> {
        let mut stretches = Vec::new();
        let mut joined: Vec<VdbenchInterval> = Vec::new();
        for interval in &self.intervals {
            joined.push(*interval);
            if interval.rate_per_s > 0.0 && interval.bytes_per_s > 0.0 {
                let count = joined.len() as f64;
                stretches.push(VdbenchInterval {
                    interval_count: count,
                    rate_per_s: joined.iter().map(|it| it.rate_per_s).sum::<f64>() / count,
                    bytes_per_s: joined.iter().map(|it| it.bytes_per_s).sum::<f64>() / count,
                    mean_s: interval.mean_s,
                });
                joined.clear();
            }
        }
        stretches
    }
}

/// Returns a cell of a row.
fn cell(row: &str, at: usize) -> &str {
    row.split_whitespace().nth(at).unwrap_or_default()
}

fn find_column(names: &[&str], name: &str) -> Result<usize, ToolError> {
    names
        .iter()
        .position(|it| it.eq_ignore_ascii_case(name))
        .ok_or_else(|| missing(&format!("column {name}")))
}

fn missing(what: &str) -> ToolError {
    ToolError::Missing { what: what.to_owned(), place: PLACE }
}

/// Parses a range: `2-5` → 2 and 5.
fn parse_range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}
