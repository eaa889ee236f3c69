//! Import of IO500's results: the summary of a run, and `result.txt`.
//!
//! Bandwidths are in 2³⁰ B/s, also where old versions print `GB/s` (they divide IOR's MiB/s by
//! 1024); rates are in thousands of operations per second. A phase that IO500 calls invalid is
//! damaged, and so is the score of an invalid run. If a run has all phases, its score is calculated
//! again from them.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::workload::io500::{GIBI, Io500Phase, Io500Result, Io500Score};

use super::super::foreign::foreign_measurement;
use super::super::{FileContents, FileTime, ImportedMeasurement, word_after};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative};

/// Metric of the total score.
const TOTAL: &str = "score";

pub(super) fn is_summary(text: &str) -> bool {
    let is_score = |line: &str| line.starts_with("[SCORE") && line.contains("TOTAL");
    text.lines().any(|line| is_score(line) || line.starts_with("IO500 version "))
}

/// Reads each `[RESULT]` row and the score. Rows of phases that were not run are left out.
pub(super) fn read_summary(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut version: Option<String> = None;
    let mut phases = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let known = contents.measurements.len();
        check_limit(known + 1, ("rows", MAX_MEASUREMENTS))?;
        let lines = Some(number..=number);
        let Some((mark, rest)) = line.strip_prefix('[').and_then(|it| it.split_once(']'))
        else {
            if line.starts_with("IO500 version") {
                version = word_after(line, "IO500 version").map(str::to_owned);
                contents.recognise(number..=number, "version", "of IO500");
            }
            continue;
        };
        // Versions before SC21 write the verdict into the mark: `[RESULT-invalid]`.
        let valid_mark = mark.trim().strip_suffix("-invalid");
        let is_invalid = rest.contains("[INVALID]") || valid_mark.is_some();
        match valid_mark.unwrap_or(mark.trim()) {
            "RESULT" => {
                let (name, part) = read_result(rest, is_invalid);
                phases.extend(part.as_ref().ok().and_then(to_result));
                contents.add_part(lines, name, part);
            }
            "SCORE" => {
                let score = Io500Score::from_results(&std::mem::take(&mut phases));
                for (name, part) in read_score(rest, is_invalid) {
                    let part = part.map(|part| with_score_doubt(part, score));
                    contents.add_part(lines.clone(), name, part);
                }
            }
            _ => contents.leave_out(lines, rest.trim(), "the phase is no part of the score"),
        }
        for measurement in contents.measurements.iter_mut().skip(known) {
            measurement.parsed.version.clone_from(&version);
        }
    }
    Ok(contents)
}

/// Reads `ior-easy-write  2.19 GiB/s : time 318.6 seconds`; old rows begin with `BW   phase 1`.
fn read_result(
    row: &str,
    is_invalid: bool,
) -> (String, Result<ImportedMeasurement, ToolError>) {
    let (figures, time) = row.split_once(':').unwrap_or((row, ""));
    let mut words = figures.split_whitespace().rev();
    let (unit, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let name = words.next().unwrap_or_default().replace('_', "-");
    let seconds = word_after(time, "time").unwrap_or_default();
    (name.clone(), build_phase(&name, (value, unit), seconds, is_invalid))
}

/// Builds the measurement of a phase: its rate, and the time that it took.
fn build_phase(
    name: &str,
    (value, unit): (&str, &str),
    seconds: &str,
    is_invalid: bool,
) -> Result<ImportedMeasurement, ToolError> {
    if is_invalid {
        let verdict = format!("IO500 calls the phase {name} invalid");
        return Err(ToolError::CheckFailed { verdict });
    }
    let (is_bandwidth, factor) = match unit {
        "GiB/s" | "GB/s" => (true, GIBI),
        "kIOPS" | "kiops" => (false, 1e3),
        _ => return Err(ToolError::UnknownColumn { name: unit.to_owned() }),
    };
    let value = parse_non_negative(name, value)? * factor;
    let phase = Io500Phase::find_by_name(name).filter(|it| it.is_bandwidth() == is_bandwidth);
    let mut measurement = match phase {
        Some(phase) => phase_measurement(phase, value),
        // Of the extended set.
        None => {
            let metric = if is_bandwidth { "bandwidth" } else { "io_rate" };
            foreign_measurement(&format!("io500 {name}"), metric, vec![value])
        }
    };
    if !seconds.is_empty() {
        let seconds = parse_non_negative("time", seconds)?;
        measurement.parsed.add_samples("time", vec![seconds]);
    }
    Ok(measurement)
}

fn phase_measurement(phase: Io500Phase, value: f64) -> ImportedMeasurement {
    let mut parsed = ParsedOutput::default();
    parsed.add_samples(if phase.is_bandwidth() { "bandwidth" } else { "rate" }, vec![value]);
    let dimensions = Attributes::from([(Attribute::Phase, phase.name().into())]);
    ImportedMeasurement::new(phase.name(), Benchmark::Io500, dimensions, parsed)
}

/// Returns the result of a phase that counts in the score.
fn to_result(measurement: &ImportedMeasurement) -> Option<Io500Result> {
    let phase = measurement.dimensions.get(&Attribute::Phase)?.as_text()?;
    let phase = Io500Phase::find_by_name(phase)?;
    let metric = if phase.is_bandwidth() { "bandwidth" } else { "rate" };
    let value = first_sample(measurement, metric)?;
    Some(Io500Result { phase, value, seconds: None })
}

fn first_sample(measurement: &ImportedMeasurement, metric: &str) -> Option<f64> {
    let values = measurement.parsed.values.iter().find(|it| it.metric == metric)?;
    values.samples.first().copied()
}

/// Builds the measurement of a figure of the score; the total is that of assay's own runs.
fn score_measurement(name: &str, metric: &'static str, value: f64) -> ImportedMeasurement {
    if metric != TOTAL {
        return foreign_measurement(&format!("io500 {name}"), metric, vec![value]);
    }
    let mut parsed = ParsedOutput::default();
    parsed.add_samples(TOTAL, vec![value]);
    ImportedMeasurement::new(name, Benchmark::Io500, Attributes::default(), parsed)
}

/// Adds a doubt to a score that does not follow from the phases.
fn with_score_doubt(
    mut part: ImportedMeasurement,
    score: Option<Io500Score>,
) -> ImportedMeasurement {
    let Some(score) = score else { return part };
    let expected = [
        ("bandwidth", GIBI, score.gib_per_s),
        ("io_rate", 1e3, score.kilo_ops_per_s),
        (TOTAL, 1.0, score.total()),
    ];
    for (metric, unit, calculated) in expected {
        let Some(printed) = first_sample(&part, metric).map(|it| it / unit) else { continue };
        if (printed - calculated).abs() > Io500Score::TOLERANCE * calculated {
            part.parsed.doubts.push(Doubt::ScoreContradicted { printed, calculated });
        }
    }
    part
}

/// Reads ` Bandwidth 0.82 GiB/s : IOPS 13.8 kiops : TOTAL 3.37`.
fn read_score(
    row: &str,
    is_invalid: bool,
) -> Vec<(&'static str, Result<ImportedMeasurement, ToolError>)> {
    let figures = [
        ("score of bandwidth", "Bandwidth", "bandwidth", GIBI),
        ("score of operations", "IOPS", "io_rate", 1e3),
        ("score", "TOTAL", TOTAL, 1.0),
    ];
    let read = |(name, label, metric, factor): (&'static str, &str, &'static str, f64)| {
        let text = word_after(row, label)?;
        let part = match is_invalid {
            true => Err(ToolError::CheckFailed {
                verdict: "IO500 calls the run invalid".to_owned(),
            }),
            false => parse_non_negative(name, text)
                .map(|value| score_measurement(name, metric, value * factor)),
        };
        Some((name, part))
    };
    figures.into_iter().filter_map(read).collect()
}

pub(super) fn is_result(text: &str) -> bool {
    let has_section = |name: &str| text.lines().any(|line| line.trim() == name);
    has_section("[run]") && text.contains("config-hash") || has_section("[ior-easy-write]")
}

/// Section of `result.txt` that is being read.
#[derive(Default)]
struct Section<'t> {
    name: &'t str,
    first_line: usize,
    score: Option<&'t str>,
    seconds: &'t str,
    began: Option<FileTime>,
    error: Option<&'t str>,
}

/// Reads each section with a score. A section with an error of IO500 is damaged.
pub(super) fn read_result_file(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut section = Section::default();
    let mut version = None;
    let (mut last_line, mut phases) = (0, Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        last_line = number;
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            finish_section(&section, number - 1, (&mut contents, &mut phases))?;
            section = Section { name, first_line: number, ..Section::default() };
        } else if let Some(error) = line.strip_prefix("; ERROR") {
            section.error.get_or_insert(error.trim_start_matches([':', ' ']));
        } else if let Some((key, value)) = line.split_once('=') {
            let value = value.trim();
            match key.trim() {
                "version" => version = Some(value.to_owned()),
                "score" | "SCORE" => section.score = Some(value),
                "t_delta" => section.seconds = value,
                "t_start" => section.began = FileTime::parse_iso(value),
                _ => {}
            }
        }
    }
    finish_section(&section, last_line, (&mut contents, &mut phases))?;
    for measurement in &mut contents.measurements {
        measurement.parsed.version.clone_from(&version);
    }
    Ok(contents)
}

fn finish_section(
    section: &Section<'_>,
    last_line: usize,
    (contents, phases): (&mut FileContents, &mut Vec<Io500Result>),
) -> Result<(), ToolError> {
    let lines = section.first_line..=last_line.max(section.first_line);
    let name = section.name;
    let Some(score) = section.score else {
        if !name.is_empty() {
            contents.recognise(lines, format!("section {name:?}"), "it has no score");
        }
        return Ok(());
    };
    check_limit(contents.measurements.len() + 1, ("sections", MAX_MEASUREMENTS))?;
    let unit = if name.starts_with("ior") { "GiB/s" } else { "kIOPS" };
    let part = match section.error {
        Some(error) => Err(ToolError::CheckFailed { verdict: error.to_owned() }),
        None if name == "SCORE" => parse_non_negative("score", score)
            .map(|value| score_measurement("score", TOTAL, value))
            .map(|part| with_score_doubt(part, Io500Score::from_results(phases))),
        None => build_phase(name, (score, unit), section.seconds, false),
    };
    let part = part.map(|mut measurement| {
        measurement.began = section.began;
        measurement
    });
    phases.extend(part.as_ref().ok().and_then(to_result));
    contents.add_part(Some(lines), name, part);
    Ok(())
}
