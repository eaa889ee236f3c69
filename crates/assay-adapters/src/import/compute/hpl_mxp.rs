//! Import of HPL-MxP's results (once HPL-AI): of ICL's reference, of NVIDIA, of AMD's rocHPL-MxP, of
//! RIKEN's program and of programs that keep HPL's table.
//!
//! The rate is that of HPL's 2/3 N³ + 3/2 N² operations, but most of them have fewer than 64 bits.
//! It is never stored as HPL's, and rows of HPL in the same file are left out.

use assay_model::attribute::Attribute;

use super::super::foreign::foreign_measurement;
use super::super::{
    FileContents, FileTime, ImportedMeasurement, MAX_NAME_BYTES, check_limit, mixed_lines,
    word_after,
};
use crate::limits::MAX_MEASUREMENTS;
use crate::linpack_rate::check_linpack_rate;
use crate::outputs::{
    ToolError, half_digit, parse_non_negative, parse_positive_scaled, parse_whole,
};

/// Marks of mixed precision that a plain log of HPL never contains.
const MARKS: [&str; 7] = [
    "HPL MxP Result",
    "The HPL-MxP performance to report",
    "HPL-MxP-NVIDIA",
    "HPL-AI Mixed-Precision Benchmark",
    "HPLMXP_pdgesv()",
    "HPLAI_pdgesv()",
    RIKEN_RESIDUAL,
];
/// First line of RIKEN's program, and the label of its scaled residual.
const RIKEN_TITLE: &str = "done MPI_Init_thread";
const RIKEN_RESIDUAL: &str = " hpl-harness = ";
/// Largest scaled residual that HPL accepts, at which RIKEN's program ends its refinement.
const MAX_RESIDUAL: f64 = 16.0;
/// Mark before the rows of NVIDIA's HPL-AI.
const ROW_MARK: &str = "HPL_AI";

pub(super) fn is_hpl_mxp(text: &str) -> bool {
    let has_mark = |line: &str| {
        MARKS.iter().any(|mark| line.contains(mark)) || line.trim_start().starts_with(ROW_MARK)
    };
    text.lines().any(has_mark)
}

/// One solved system while its lines are read.
#[derive(Debug, Default)]
struct MixedSolve {
    first_line: usize,
    last_line: usize,
    /// Whether it is a row of HPL's table, and whether a mark shows its mixed precision.
    is_row: bool,
    is_mixed: bool,
    n: Option<u64>,
    block: Option<u64>,
    grid: Option<String>,
    variant: Option<String>,
    precision: Option<String>,
    /// Rate of the whole solution, and of the factorisation alone, in FLOP/s.
    rate: Option<f64>,
    factorization_rate: Option<f64>,
    /// Time of the whole solution, and half its last digits.
    time_s: Option<(f64, f64)>,
    residual: Option<f64>,
    began: Option<FileTime>,
    error: Option<ToolError>,
}

/// Reader of a file.
#[derive(Debug, Default)]
struct MxpReader {
    contents: FileContents,
    solve: Option<MixedSolve>,
    columns: Vec<String>,
    version: Option<String>,
    /// Line of a log's title whose last line is still missing.
    open_log: Option<usize>,
    solves: usize,
}

/// Reads one measurement for each solved system.
pub(super) fn read_hpl_mxp(text: &str) -> Result<FileContents, ToolError> {
    let mut reader = MxpReader::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if !reader.read_title(number, line)? && !reader.read_row(number, line)? {
            reader.read_fact(number, line)?;
        }
    }
    reader.finish_solve();
    if let Some(first) = reader.open_log {
        let missing = "HPL's last line, \"End of Tests.\", is missing".to_owned();
        let lines = Some(first..=text.lines().count().max(first));
        reader.contents.add_part(lines, "log", Err(ToolError::Truncated { missing }));
    }
    Ok(reader.contents)
}

impl MxpReader {
    /// Reads a title of a log or of a result; `false` if the line is none.
    fn read_title(&mut self, number: usize, line: &str) -> Result<bool, ToolError> {
        if line.contains("HPL-MxP-NVIDIA") {
            self.version = word_after(line, "HPL-MxP-NVIDIA").map(str::to_owned);
            self.check_version()?;
            self.contents.recognise(number..=number, line, "version");
        } else if line.contains("HPL-AI Mixed-Precision Benchmark") {
            self.finish_solve();
            self.version = word_after(line, "Benchmark v").map(str::to_owned);
            self.check_version()?;
            self.contents.recognise(number..=number, line, "title");
            // The reference has one result below its title, other programs have HPL's table.
            if line.contains("--") {
                self.open_log = Some(number);
            } else {
                self.begin_solve(number)?;
            }
        } else if line.starts_with("HPLinpack ") {
            // The version is that of HPL, on which the program is based.
            self.finish_solve();
            (self.version, self.open_log) = (None, Some(number));
            self.contents.recognise(number..=number, "HPLinpack", "title");
        } else if line.contains("HPL MxP Result") {
            let is_end = self.solve.as_ref().is_some_and(|it| it.rate.is_some());
            if is_end {
                self.finish_solve();
            } else {
                self.begin_solve(number)?;
            }
        } else if line.starts_with(RIKEN_TITLE) {
            self.begin_solve(number)?;
        } else if line.starts_with("End of Tests") {
            self.open_log = None;
        } else if line.starts_with("T/V ") {
            self.columns = line.split_whitespace().map(str::to_owned).collect();
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Checks the length of the version, which each result repeats.
    fn check_version(&self) -> Result<(), ToolError> {
        let bytes = self.version.as_ref().map_or(0, String::len);
        check_limit(bytes, ("bytes in the version", MAX_NAME_BYTES))
    }

    fn begin_solve(&mut self, number: usize) -> Result<&mut MixedSolve, ToolError> {
        self.finish_solve();
        self.solves += 1;
        check_limit(self.solves, ("results", MAX_MEASUREMENTS))?;
        Ok(self.solve.insert(MixedSolve {
            first_line: number,
            last_line: number,
            is_mixed: true,
            ..MixedSolve::default()
        }))
    }

    /// Reads a row of HPL's table; `false` if the line is none.
    fn read_row(&mut self, number: usize, line: &str) -> Result<bool, ToolError> {
        let marked = line.strip_prefix(ROW_MARK);
        let row = marked.unwrap_or(line).trim_start();
        let is_row =
            matches!(row.as_bytes(), [b'W', b'R' | b'C', digit, ..] if digit.is_ascii_digit());
        if !is_row {
            return Ok(false);
        }
        let columns = std::mem::take(&mut self.columns);
        let solve = self.begin_solve(number)?;
        (solve.is_row, solve.is_mixed) = (true, marked.is_some());
        if let Err(error) = parse_row(solve, row, &columns) {
            solve.error = Some(error);
        }
        self.columns = columns;
        Ok(true)
    }

    /// Reads a figure, a condition or the verdict of the open result.
    fn read_fact(&mut self, number: usize, line: &str) -> Result<(), ToolError> {
        let verdict = line.strip_prefix("||Ax-b||").and_then(|it| it.rsplit_once("..."));
        let is_open = match is_riken_settings(line) {
            true => self.solve.as_ref().is_some_and(|it| it.rate.is_none()),
            false => self.solve.is_some(),
        };
        if !is_open && (verdict.is_some() || is_riken_settings(line) || is_riken_result(line)) {
            self.begin_solve(number)?;
        }
        let Some(solve) = &mut self.solve else { return Ok(()) };
        let read = match verdict {
            Some((left, verdict)) => read_check(solve, line, left, verdict),
            None => read_figure(solve, line),
        };
        match read {
            Ok(true) => solve.last_line = number,
            Ok(false) => {}
            Err(error) => solve.error = solve.error.take().or(Some(error)),
        }
        Ok(())
    }

    fn finish_solve(&mut self) {
        let Some(mut solve) = self.solve.take() else { return };
        let lines = Some(solve.first_line..=solve.last_line);
        if !solve.is_mixed {
            let why = "no mark of mixed precision: import HPL's rows from a file of their own";
            self.contents.leave_out(lines, "row of HPL", why);
            return;
        }
        let part = match solve.error.take() {
            Some(error) => Err(error),
            None => build_measurement(&solve, self.version.as_ref()),
        };
        self.contents.add_part(lines, "HPL-MxP", part);
    }
}

/// Parses a row by the labels of its heading. `Gflops_IRS` includes the refinement, whose time is
/// `FGMRES`; `Gflops` then is of the factorisation.
fn parse_row(solve: &mut MixedSolve, row: &str, columns: &[String]) -> Result<(), ToolError> {
    let fields: Vec<&str> = row.split_whitespace().collect();
    if columns.is_empty() || fields.len() != columns.len() {
        let missing = format!("the row has {} of {} columns", fields.len(), columns.len());
        return Err(ToolError::Truncated { missing });
    }
    let find = |name: &str| {
        columns.iter().position(|column| column == name).and_then(|at| fields.get(at).copied())
    };
    let need = |name: &str| find(name).ok_or_else(|| super::super::missing(name));
    solve.variant = fields.first().map(|it| (*it).to_owned());
    solve.n = Some(parse_whole("N", need("N")?)?);
    solve.block = Some(parse_whole("NB", need("NB")?)?);
    solve.grid = Some(format!("{}x{}", need("P")?, need("Q")?));
    let rate = parse_positive_scaled("Gflops", need("Gflops")?, 9)?;
    let time = need("Time")?;
    let mut time_s = (parse_non_negative("the time", time)?, half_digit(time));
    if let Some(whole) = find("Gflops_IRS") {
        solve.factorization_rate = Some(rate);
        solve.rate = Some(parse_positive_scaled("Gflops_IRS", whole, 9)?);
        let refinement = need("FGMRES")?;
        time_s.0 += parse_non_negative("FGMRES", refinement)?;
        time_s.1 += half_digit(refinement);
    } else {
        solve.rate = Some(rate);
    }
    solve.time_s = Some(time_s);
    Ok(())
}

/// Reads the scaled residual and the program's verdict.
fn read_check(
    solve: &mut MixedSolve,
    line: &str,
    left: &str,
    verdict: &str,
) -> Result<bool, ToolError> {
    if verdict.trim() != "PASSED" {
        return Err(ToolError::CheckFailed { verdict: line.to_owned() });
    }
    let value = left.trim_end_matches([' ', '.']).rsplit('=').next().unwrap_or_default();
    let residual = parse_non_negative("the residual", value)?;
    solve.residual = Some(solve.residual.map_or(residual, |known| known.max(residual)));
    Ok(true)
}

/// Reads a line with a figure or a condition; `false` if it has none.
fn read_figure(solve: &mut MixedSolve, line: &str) -> Result<bool, ToolError> {
    let value = |name: &str| {
        let rest = line.strip_prefix(name)?.trim_start();
        let rest = rest.strip_prefix(['=', ':'])?;
        Some(rest.split([' ', ',']).find(|it| !it.is_empty()).unwrap_or_default())
    };
    if let Some(time) = line.split_once("_pdgesv() start time") {
        solve.is_mixed |= matches!(time.0, "HPLMXP" | "HPLAI");
        solve.began = FileTime::parse_ctime(time.1);
    } else if line.starts_with("N =") && line.contains("NB =") {
        read_settings(solve, line)?;
    } else if let Some(rate) = value("GFLOPS") {
        solve.rate = Some(parse_positive_scaled("GFLOPS", rate, 9)?);
    } else if let Some(rate) = value("LU GFLOPS") {
        solve.factorization_rate = Some(parse_positive_scaled("LU GFLOPS", rate, 9)?);
    } else if let Some(rate) = value("Effective operation per sec") {
        solve.rate = Some(parse_positive_scaled("GFLOPs", rate, 9)?);
    } else if is_riken_settings(line) {
        read_riken_settings(solve, line)?;
    } else if let Some(time) = line.strip_prefix("#BEGIN:") {
        solve.began = FileTime::parse_ctime(time);
    } else if is_riken_result(line) {
        read_riken_result(solve, line)?;
    } else if let Some(time) = value("Total time") {
        solve.time_s = Some((parse_non_negative("Total time", time)?, half_digit(time)));
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// Reads `N = 258048, NB = 1024, NPROW = 4, NPCOL = 2, SLOPPY-TYPE = 2` of NVIDIA.
fn read_settings(solve: &mut MixedSolve, line: &str) -> Result<(), ToolError> {
    let (mut rows, mut columns) = (None, None);
    for (name, value) in line.split(',').filter_map(|part| part.split_once('=')) {
        let value = value.trim();
        match name.trim() {
            "N" => solve.n = Some(parse_whole("N", value)?),
            "NB" => solve.block = Some(parse_whole("NB", value)?),
            "NPROW" => rows = Some(parse_whole("NPROW", value)?),
            "NPCOL" => columns = Some(parse_whole("NPCOL", value)?),
            "SLOPPY-TYPE" => solve.precision = Some(format!("SLOPPY-TYPE={value}")),
            _ => {}
        }
    }
    solve.grid = rows.zip(columns).map(|(rows, columns)| format!("{rows}x{columns}"));
    Ok(())
}

fn is_riken_settings(line: &str) -> bool {
    line.starts_with("n=") && line.contains(" b=")
}

fn is_riken_result(line: &str) -> bool {
    line.contains(" GFlop/s resid = ")
}

/// Reads `n=1200 b=60 r=2 c=2` of RIKEN.
fn read_riken_settings(solve: &mut MixedSolve, line: &str) -> Result<(), ToolError> {
    let value = |name: &str| {
        let mut words = line.split_whitespace();
        words.find_map(|word| word.strip_prefix(name)).unwrap_or_default()
    };
    solve.n = Some(parse_whole("n", value("n="))?);
    solve.block = Some(parse_whole("b", value("b="))?);
    let (rows, columns) = (parse_whole("r", value("r="))?, parse_whole("c", value("c="))?);
    solve.grid = Some(format!("{rows}x{columns}"));
    Ok(())
}

/// Reads `0.307 sec. 3.76 GFlop/s resid = 2.68e-14 hpl-harness = 0.125` of RIKEN, which prints no
/// verdict with the scaled residual.
fn read_riken_result(solve: &mut MixedSolve, line: &str) -> Result<(), ToolError> {
    if solve.rate.is_some() {
        return Err(mixed_lines("two results follow one heading"));
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let [time, "sec.", rate, "GFlop/s", "resid", "=", _, "hpl-harness", "=", scaled] =
        words[..]
    else {
        let missing = "the residual behind the rate is missing".to_owned();
        return Err(ToolError::Truncated { missing });
    };
    let residual = parse_non_negative("hpl-harness", scaled)?;
    if residual > MAX_RESIDUAL {
        return Err(ToolError::CheckFailed { verdict: line.to_owned() });
    }
    solve.time_s = Some((parse_non_negative("the time", time)?, half_digit(time)));
    solve.rate = Some(parse_positive_scaled("GFlop/s", rate, 9)?);
    solve.residual = Some(residual);
    Ok(())
}

fn build_measurement(
    solve: &MixedSolve,
    version: Option<&String>,
) -> Result<ImportedMeasurement, ToolError> {
    let Some(rate) = solve.rate else {
        let missing = "the rate of the solution is missing".to_owned();
        return Err(ToolError::Truncated { missing });
    };
    let Some(residual) = solve.residual else {
        let verdict = "no residual beside the rate".to_owned();
        return Err(ToolError::Unchecked { verdict });
    };
    if let Some((n, time)) = solve.n.zip(solve.time_s) {
        check_linpack_rate((n, 1.5), time, rate)?;
    }
    let mut found = foreign_measurement("HPL-MxP", "flop_rate", vec![rate]);
    if let Some(rate) = solve.factorization_rate {
        let own = [(Attribute::Operation, "factorization".into())].into();
        found.parsed.add_series("flop_rate", own, vec![rate]);
    }
    let time = solve.time_s.filter(|(time, _)| *time > 0.0);
    time.into_iter().for_each(|(time, _)| found.parsed.add_samples("time", vec![time]));
    found.dimensions.extend(solve.n.map(|n| (Attribute::N, n.into())));
    let precision = solve.precision.as_deref();
    found.dimensions.extend(precision.map(|it| (Attribute::Loops, it.into())));
    found.parsed.set_attribute(Attribute::Residual, residual);
    solve.block.into_iter().for_each(|it| found.parsed.set_attribute(Attribute::Block, it));
    let texts = [(Attribute::Grid, &solve.grid), (Attribute::Variant, &solve.variant)];
    for (name, text) in texts {
        text.iter().for_each(|it| found.parsed.set_attribute(name, it.clone()));
    }
    found.parsed.version = version.cloned();
    found.began = solve.began;
    Ok(found)
}
