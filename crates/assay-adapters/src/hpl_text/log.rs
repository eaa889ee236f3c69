//! Parser of HPL's log: the rows, the residual check below each, and the counts at the end.
//!
//! Known variants: row- and column-major mapping (`WR…`, `WC…`), HPL 1.0's three residuals per row,
//! detailed timing and progress lines, Intel's `Column=` lines, NVIDIA's rate per GPU in
//! parentheses, and a launcher's messages between the lines. Single words are no evidence of a
//! failure: `0 tests completed and failed residual checks` is in every good log.

use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::linpack_rate::check_linpack_rate;
use crate::outputs::{ToolError, parse_non_negative, parse_positive_scaled, parse_whole};

/// Contents of a complete log. Every row passed HPL's residual check.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HplLog {
    /// Version in the header.
    pub version: Option<String>,
    /// Rows, one per solved system, in the order of the log; at least one.
    pub rows: Vec<HplRow>,
    /// Scaled residual from which a row fails; `None` = not printed, or negative: nothing is checked.
    pub threshold: Option<f64>,
}

/// Row of one solved system.
#[derive(Debug, Clone, PartialEq)]
pub struct HplRow {
    /// HPL's code of mapping, look-ahead, broadcast and factorisations: `WR11C2R4`.
    pub variant: String,
    /// Number of equations.
    pub n: u64,
    /// Width of a block of columns.
    pub block: u64,
    /// Rows of the process grid.
    pub p: u64,
    /// Columns of the process grid.
    pub q: u64,
    /// Wall time in seconds, rounded by HPL to hundredths.
    pub time_s: f64,
    /// Rate in FLOP/s: (2/3 N³ + 3/2 N²) operations over the time.
    pub flops: f64,
    /// Largest scaled residual of the row.
    pub residual: f64,
}

impl HplLog {
    /// Parses a log.
    ///
    /// # Errors
    /// If the log has no row, a row was not checked or failed the check, a number is malformed, the
    /// count at the end is missing or does not match, or a rate contradicts its own time.
    pub fn read(text: &str) -> Result<Self, ToolError> {
        let counts = HplTestCounts::read(text)?;
        let mut log = Self::default();
        let mut verdicts = 0;
        for line in text.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("HPLinpack ") {
                log.version = rest.split_whitespace().next().map(str::to_owned);
            } else if let Some((_, rest)) = line.split_once("scaled residuals are less than") {
                let threshold = rest.trim().parse().ok();
                log.threshold = threshold.filter(|it: &f64| *it >= 0.0);
            } else if is_row(line) {
                log.require_check(verdicts)?;
                check_limit(log.rows.len() + 1, ("rows", MAX_MEASUREMENTS))?;
                log.rows.push(parse_row(line)?);
                verdicts = 0;
            } else if line.starts_with("||Ax-b||") && line.contains("......") {
                log.read_check(line)?;
                verdicts += 1;
            }
        }
        counts.require_all_passed(text)?;
        log.require_check(verdicts)?;
        if log.rows.len() as u64 != counts.passed || log.rows.is_empty() {
            let what = format!(
                "{} rows, but {} tests passed by its own count",
                log.rows.len(),
                counts.passed
            );
            return Err(ToolError::Contradiction { what });
        }
        Ok(log)
    }

    /// Rejects a row that has no residual check below it.
    fn require_check(&self, verdicts: usize) -> Result<(), ToolError> {
        match self.rows.last() {
            Some(row) if verdicts == 0 => Err(ToolError::Unchecked {
                verdict: format!("no residual under the row of N = {}", row.n),
            }),
            _ => Ok(()),
        }
    }

    /// Parses `||Ax-b||_oo/(…)= 3.4e-03 ...... PASSED` into the last row.
    fn read_check(&mut self, line: &str) -> Result<(), ToolError> {
        let (left, verdict) = line.split_once("......").unwrap_or((line, ""));
        if verdict.trim() != "PASSED" {
            return Err(ToolError::CheckFailed { verdict: collapse_spaces(line) });
        }
        let value = left.rsplit('=').next().unwrap_or_default();
        let residual = parse_non_negative("the residual", value)?;
        if let Some(threshold) = self.threshold.filter(|threshold| residual >= *threshold) {
            let what =
                format!("a residual of {residual} PASSED, but must be below {threshold}");
            return Err(ToolError::InconsistentLine { what, line: line.to_owned() });
        }
        let Some(row) = self.rows.last_mut() else {
            let what = "a residual before the first row".to_owned();
            return Err(ToolError::Contradiction { what });
        };
        row.residual = row.residual.max(residual);
        Ok(())
    }
}

/// Counts of tests at the end of the log.
#[derive(Debug, Default)]
struct HplTestCounts {
    passed: u64,
    failed: u64,
    skipped: u64,
    unchecked: u64,
}

impl HplTestCounts {
    fn read(text: &str) -> Result<Self, ToolError> {
        let finished = |line: &&str| line.trim_start().starts_with("Finished ");
        let mut lines = text.lines().skip_while(|line| !finished(line));
        if lines.next().is_none() {
            return Err(ToolError::Truncated { missing: failure_reason(text) });
        }
        let mut counts = Self::default();
        let mut ended = false;
        for line in lines.map(str::trim) {
            ended |= line.starts_with("End of Tests");
            let Some((count, words)) = line.split_once(' ') else { continue };
            let field = match words.trim() {
                "tests completed and passed residual checks," => &mut counts.passed,
                "tests completed and failed residual checks," => &mut counts.failed,
                "tests skipped because of illegal input values." => &mut counts.skipped,
                "tests completed without checking," => &mut counts.unchecked,
                _ => continue,
            };
            *field = field.saturating_add(parse_whole("the count of tests", count)?);
        }
        if !ended {
            let missing = "HPL's last line, \"End of Tests.\", is missing".to_owned();
            return Err(ToolError::Truncated { missing });
        }
        Ok(counts)
    }

    /// Rejects logs with failed, skipped or unchecked tests.
    fn require_all_passed(&self, text: &str) -> Result<(), ToolError> {
        let Self { failed, skipped, unchecked, .. } = self;
        if *failed > 0 {
            let verdict = format!("{failed} tests completed and failed residual checks");
            return Err(ToolError::CheckFailed { verdict });
        }
        if *skipped > 0 {
            let verdict = format!("{skipped} tests were skipped; {}", failure_reason(text));
            return Err(ToolError::Unchecked { verdict });
        }
        if *unchecked > 0 {
            let verdict = format!("{unchecked} tests completed without checking");
            return Err(ToolError::Unchecked { verdict });
        }
        Ok(())
    }
}

/// Returns HPL's own error message if there is one, else that the counts are missing.
fn failure_reason(text: &str) -> String {
    let quoted = text
        .lines()
        .map(str::trim)
        .find_map(|line| line.strip_prefix(">>>").and_then(|rest| rest.strip_suffix("<<<")));
    quoted.map_or_else(
        || "HPL's count of tests, \"Finished … tests\", is missing".to_owned(),
        |words| format!("HPL reports: {}", words.trim()),
    )
}

/// Whether the first word is HPL's code of a variant: `W`, `R` or `C`, then a digit.
fn is_row(line: &str) -> bool {
    matches!(line.as_bytes(), [b'W', b'R' | b'C', digit, ..] if digit.is_ascii_digit())
}

fn parse_row(line: &str) -> Result<HplRow, ToolError> {
    /// Half of the last printed digit of the time, in seconds.
    const HALF_DIGIT_S: f64 = 0.005;
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [variant, n, block, p, q, time, gflops, rest @ ..] = fields.as_slice() else {
        let missing =
            format!("the row {:?} has {} of 7 fields", collapse_spaces(line), fields.len());
        return Err(ToolError::Truncated { missing });
    };
    // NVIDIA's HPL repeats the rate per GPU in parentheses.
    if !(rest.is_empty() || rest[0].starts_with('(')) {
        let what = format!("the row {:?} has more than 7 fields", collapse_spaces(line));
        return Err(ToolError::Contradiction { what });
    }
    let row = HplRow {
        variant: (*variant).to_owned(),
        n: parse_whole("N", n)?,
        block: parse_whole("NB", block)?,
        p: parse_whole("P", p)?,
        q: parse_whole("Q", q)?,
        time_s: parse_non_negative("the time", time)?,
        // Gflops are 10⁹ FLOP/s: HPL_pdtest.c divides by 1.0e+9.
        flops: parse_positive_scaled("Gflops", gflops, 9)?,
        residual: 0.0,
    };
    check_linpack_rate((row.n, 1.5), (row.time_s, HALF_DIGIT_S), row.flops)?;
    Ok(row)
}

/// Collapses runs of white space, for messages.
fn collapse_spaces(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
