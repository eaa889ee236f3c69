//! Import of the table of Intel's Optimized LINPACK Benchmark (`xlinpack_xeon64`). `GFlops` are
//! 10⁹ FLOP/s.

use assay_model::attribute::Attribute;

use super::super::foreign::foreign_measurement;
use super::super::{FileContents, FileTime, check_limit, word_after};
use crate::limits::MAX_MEASUREMENTS;
use crate::linpack_rate::check_linpack_rate;
use crate::outputs::{ToolError, parse_non_negative, parse_positive_scaled, parse_whole};

pub(super) fn is_linpack(text: &str) -> bool {
    text.lines().any(is_heading)
}

fn is_heading(line: &str) -> bool {
    let labels = ["Size", "LDA", "Align.", "Time(s)", "GFlops", "Residual", "Residual(norm)"];
    line.split_whitespace().zip(labels).filter(|(word, label)| word == label).count()
        == labels.len()
}

/// Reads one measurement for each row; the table of averages behind them repeats them.
pub(super) fn read_linpack(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let (mut began, mut threads, mut is_in_table) = (None, None, false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if is_heading(line) {
            is_in_table = true;
        } else if let Some(time) = line.strip_prefix("Current date/time:") {
            began = FileTime::parse_ctime(time);
            contents.recognise(number..=number, line, "time");
        } else if line.starts_with("Number of threads:") {
            threads = word_after(line, "threads").and_then(|it| it.parse::<u64>().ok());
            contents.recognise(number..=number, line, "condition");
        } else if line.starts_with("Performance Summary") {
            is_in_table = false;
            let why = "means and maxima of the rows, which are imported";
            contents.leave_out(Some(number..=number), "Performance Summary", why);
        } else if line.starts_with("Residual checks") {
            is_in_table = false;
            contents.recognise(number..=number, line, "verdict");
        } else if is_in_table && line.starts_with(|it: char| it.is_ascii_digit()) {
            check_limit(contents.measurements.len() + 1, ("rows", MAX_MEASUREMENTS))?;
            let part = read_row(line).map(|mut found| {
                found.began = began;
                found.dimensions.extend(threads.map(|it| (Attribute::Threads, it.into())));
                found
            });
            contents.add_part(Some(number..=number), "row", part);
        }
    }
    Ok(contents)
}

fn read_row(line: &str) -> Result<super::super::ImportedMeasurement, ToolError> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [n, _, _, time, rate, _, residual, verdict] = fields.as_slice() else {
        let missing = format!("the row {line:?} has {} of 8 columns", fields.len());
        return Err(ToolError::Truncated { missing });
    };
    if !verdict.eq_ignore_ascii_case("pass") {
        return Err(ToolError::CheckFailed { verdict: line.to_owned() });
    }
    let (n, rate) = (parse_whole("Size", n)?, parse_positive_scaled("GFlops", rate, 9)?);
    let time_s = parse_non_negative("Time(s)", time)?;
    // Intel's program counts 2/3 N³ + 2 N² operations, and prints three decimals of the time.
    check_linpack_rate((n, 2.0), (time_s, 0.0005), rate)?;
    let mut found = foreign_measurement("Intel LINPACK", "flop_rate", vec![rate]);
    found.parsed.add_samples("time", vec![time_s]);
    let residual = parse_non_negative("Residual(norm)", residual)?;
    found.parsed.set_attribute(Attribute::Residual, residual);
    found.dimensions.insert(Attribute::N, n.into());
    Ok(found)
}
