//! Parser of STREAM's output, of `stream` in C (versions 5.8 to 5.10), in Fortran and for MPI, and
//! of the STREAM sections of `hpcc`.
//!
//! A rate is accepted only if it is STREAM's byte count over the printed time. A build that counts
//! MiB, or other bytes than STREAM, contradicts itself and is rejected.

mod report;

pub(crate) use report::report_arrays;

use crate::outputs::{
    ToolError, half_digit, parse_non_negative, parse_positive_scaled, parse_whole,
};

/// STREAM's table and the lines around it. The arrays passed STREAM's validation.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamText {
    /// Version, like `5.10`; sections of hpcc have none.
    pub version: Option<String>,
    /// Elements of each array of the process.
    pub elements: u64,
    /// Bytes per element: 8, or 4 in a single-precision build.
    pub element_bytes: u64,
    /// Number of runs of each kernel; the first is not timed.
    pub passes: u64,
    /// OpenMP threads; `None` = built without OpenMP.
    pub threads: Option<u64>,
    /// MPI ranks, in the version for MPI.
    pub ranks: Option<u64>,
    /// Copy, Scale, Add, Triad.
    pub functions: [StreamFunction; 4],
}

/// Row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamFunction {
    /// Name of the metric: `copy` …
    pub metric: &'static str,
    /// Best rate, in B/s.
    pub rate: f64,
    /// Mean time of a timed pass, in seconds.
    pub mean_s: f64,
    /// Shortest time, in seconds; the rate is computed from it.
    pub shortest_s: f64,
    /// Longest time, in seconds.
    pub longest_s: f64,
}

/// Metric, label in the table, number of arrays that the loop reads and writes.
const FUNCTIONS: [(&str, &str, f64); 4] = [
    ("copy", "Copy:", 2.0),
    ("scale", "Scale:", 2.0),
    ("add", "Add:", 3.0),
    ("triad", "Triad:", 3.0),
];

impl StreamText {
    /// Parses the only table in `text`.
    ///
    /// # Errors
    /// If there is no table or more than one, a number is malformed, the arrays failed validation
    /// or were not validated, or a rate contradicts its own time.
    pub fn read(text: &str) -> Result<Self, ToolError> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        require_validation(&lines)?;
        let power = rate_power_of_ten(&lines)?;
        let elements = ["Total Aggregate Array size =", "Array size ="];
        let elements = find_positive_whole(&lines, "array size", &elements)?;
        let element_bytes = find_element_bytes(&lines, elements, power)?;
        let passes =
            ["Each kernel will be executed", "Each test is run", "You are running each test"];
        let array_bytes = elements as f64 * element_bytes as f64;
        let function = |index| parse_function(&lines, index, power, array_bytes);
        Ok(Self {
            version: parse_version(&lines),
            elements,
            element_bytes,
            passes: find_positive_whole(&lines, "number of passes", &passes)?,
            threads: parse_threads(&lines)?,
            ranks: find_optional_whole(&lines, "ranks", &["Data are distributed across"])?,
            functions: [function(0)?, function(1)?, function(2)?, function(3)?],
        })
    }
}

/// Parses the decimal prefix of the rates, as a power of ten, from the heading of the table.
fn rate_power_of_ten(lines: &[&str]) -> Result<i32, ToolError> {
    let headings: Vec<_> = lines.iter().filter(|line| line.starts_with("Function ")).collect();
    match headings.as_slice() {
        [] => Err(ToolError::Missing { what: "STREAM table".to_owned(), place: "the output" }),
        // stream.c divides by 1.0E06, hpcc's STREAM/stream.c multiplies by 1e-9: both decimal.
        [heading] if heading.contains("RMS time") => {
            Err(ToolError::UnknownColumn { name: "RMS time".to_owned() })
        }
        [heading] if heading.contains("MB/s") => Ok(6),
        [heading] if heading.contains("GB/s") => Ok(9),
        [_] => {
            let what = "rate in MB/s or GB/s".to_owned();
            Err(ToolError::Missing { what, place: "the heading of the STREAM table" })
        }
        several => {
            let what = format!("{} STREAM tables instead of one", several.len());
            Err(ToolError::Contradiction { what })
        }
    }
}

/// Requires STREAM's validation of the arrays.
fn require_validation(lines: &[&str]) -> Result<(), ToolError> {
    if let Some(line) = lines.iter().find(|line| line.starts_with("Failed Validation")) {
        return Err(ToolError::CheckFailed { verdict: (*line).to_owned() });
    }
    if lines.iter().any(|line| line.starts_with("Solution Validates")) {
        return Ok(());
    }
    let missing = "STREAM's \"Solution Validates\" is missing".to_owned();
    Err(ToolError::Truncated { missing })
}

fn parse_function(
    lines: &[&str],
    index: usize,
    power: i32,
    array_bytes: f64,
) -> Result<StreamFunction, ToolError> {
    let (metric, word, arrays) = FUNCTIONS[index];
    let rows: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix(word)).collect();
    let [row] = rows.as_slice() else {
        let what = format!("{} rows {word:?} instead of one", rows.len());
        return Err(ToolError::Contradiction { what });
    };
    let fields: Vec<&str> = row.split_whitespace().collect();
    let [rate, mean, shortest, longest] = fields.as_slice() else {
        let missing = format!("the row {word:?} has {} of 4 numbers", fields.len());
        return Err(ToolError::Truncated { missing });
    };
    let function = StreamFunction {
        metric,
        rate: parse_positive_scaled(&format!("the rate of {metric}"), rate, power)?,
        mean_s: parse_non_negative("a mean time", mean)?,
        shortest_s: parse_non_negative("a shortest time", shortest)?,
        longest_s: parse_non_negative("a longest time", longest)?,
    };
    check_rate(&function, arrays * array_bytes, half_digit(shortest))?;
    Ok(function)
}

/// Checks rate = bytes / shortest time, within the printed digits.
fn check_rate(row: &StreamFunction, bytes: f64, half_digit_s: f64) -> Result<(), ToolError> {
    /// Generous tolerance of the printed digits of the rate.
    const RATE_TOLERANCE: f64 = 0.001;
    let StreamFunction { metric, rate, mean_s, shortest_s, longest_s } = *row;
    let fastest = bytes / (shortest_s - half_digit_s).max(0.0) * (1.0 + RATE_TOLERANCE);
    let slowest = bytes / (shortest_s + half_digit_s) * (1.0 - RATE_TOLERANCE);
    if !(slowest..=fastest).contains(&rate) {
        let what = format!("{bytes} B of {metric} in {shortest_s} s are not {rate:.4e} B/s");
        return Err(ToolError::Contradiction { what });
    }
    if shortest_s > mean_s || mean_s > longest_s {
        let what = format!("of {metric}, the shortest, mean and longest time are out of order");
        return Err(ToolError::Contradiction { what });
    }
    Ok(())
}

/// Returns the size of an element. The Fortran version may not print it; then the rate and the time
/// of Copy decide between 8 and 4 bytes.
fn find_element_bytes(lines: &[&str], elements: u64, power: i32) -> Result<u64, ToolError> {
    let labels = ["This system uses", "Assuming"];
    if let Some(bytes) = find_optional_whole(lines, "word size", &labels)? {
        return Ok(bytes);
    }
    let missing =
        || ToolError::Missing { what: "word size".to_owned(), place: "STREAM's output" };
    let (_, word, arrays) = FUNCTIONS[0];
    let row = lines.iter().find_map(|line| line.strip_prefix(word)).ok_or_else(missing)?;
    let mut fields = row.split_whitespace();
    let rate = parse_positive_scaled("the rate of copy", fields.next().unwrap_or(""), power)?;
    let shortest_s = parse_non_negative("a shortest time", fields.nth(1).unwrap_or(""))?;
    let bytes = rate * shortest_s / (arrays * elements as f64);
    /// Largest share that rounding of a time with four decimals may make.
    const TOLERANCE: f64 = 0.1;
    let is_near = |size: &u64| (bytes / *size as f64 - 1.0).abs() < TOLERANCE;
    [8, 4].into_iter().find(is_near).ok_or_else(missing)
}

/// Parses the version: `STREAM version $Revision: 5.10 $` → `5.10`.
fn parse_version(lines: &[&str]) -> Option<String> {
    let names = ["STREAM version", "STREAM Version"];
    let line =
        lines.iter().find_map(|line| names.iter().find_map(|name| line.strip_prefix(name)))?;
    let word =
        line.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    word.map(str::to_owned)
}

fn parse_threads(lines: &[&str]) -> Result<Option<u64>, ToolError> {
    // "Counted" is the number that OpenMP granted; older versions and hpcc print only the requested
    // one.
    let labels =
        ["Number of Threads counted =", "Number of Threads requested =", "Number of Threads ="];
    find_optional_whole(lines, "number of threads", &labels)
}

/// Parses the first whole number after the first of `starts`, if a line begins with one.
fn find_optional_whole(
    lines: &[&str],
    what: &str,
    starts: &[&str],
) -> Result<Option<u64>, ToolError> {
    if !lines.iter().any(|line| starts.iter().any(|start| line.starts_with(start))) {
        return Ok(None);
    }
    find_positive_whole(lines, what, starts).map(Some)
}

/// Parses the first whole number after the first of `starts` that begins a line.
fn find_positive_whole(lines: &[&str], what: &str, starts: &[&str]) -> Result<u64, ToolError> {
    let rest =
        starts.iter().find_map(|start| lines.iter().find_map(|line| line.strip_prefix(start)));
    let Some(rest) = rest else {
        return Err(ToolError::Missing { what: what.to_owned(), place: "STREAM's output" });
    };
    let word = rest.split_whitespace().next().unwrap_or_default().trim_end_matches(',');
    match parse_whole(what, word)? {
        0 => Err(ToolError::InvalidNumber { what: what.to_owned(), text: word.to_owned() }),
        value => Ok(value),
    }
}
