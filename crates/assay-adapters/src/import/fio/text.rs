//! Import of fio's text output: the rates and the completion latency of each group.
//!
//! Rates have about three digits (`IOPS=123k`); a doubt reports the rounding. The bandwidth in
//! parentheses is decimal, the one before it binary (stat.c prints both with `num2str`); the
//! decimal one is read.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::event::ToolFigures;
use assay_model::quantity::{self as parse};

use super::super::{ImportedMeasurement, missing};
use super::options::{fio_dimensions, parse_fio_size};
use crate::fio_json::FIO_OPTIONS;
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError};

pub(super) fn is_fio_text(text: &str) -> bool {
    text.contains(": (groupid=") && text.contains("IOPS=")
}

pub(super) fn read(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let options = parse_options(text)?;
    let version = text.lines().find_map(|line| line.trim().strip_prefix("fio-"));
    let mut groups: Vec<ImportedMeasurement> = Vec::new();
    let mut side = FioDirection::default();
    for line in text.lines().map(str::trim) {
        if let Some((name, rest)) = line.split_once(": (groupid=") {
            side.finish(&mut groups)?;
            check_limit(groups.len() + 1, ("groups of jobs", MAX_MEASUREMENTS))?;
            let jobs = rest.split_once("jobs=").map_or("", |it| it.1);
            let jobs = jobs.split([')', ',']).next().and_then(|it| it.parse().ok());
            let parsed =
                ParsedOutput { version: version.map(str::to_owned), ..ParsedOutput::default() };
            let dimensions = options.get(name).map(|of| fio_dimensions(of, jobs.unwrap_or(1)));
            groups.push(ImportedMeasurement {
                name: name.to_owned(),
                benchmark: Benchmark::Storage,
                dimensions: dimensions.unwrap_or_default(),
                system: None,
                began: None,
                lines: None,
                parsed,
            });
            if line.contains("err=") && !line.contains("err= 0:") {
                let number = line.split_once("err=").and_then(|(_, rest)| {
                    let rest = rest.trim_start();
                    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    rest[..end].parse().ok()
                });
                return Err(ToolError::SystemError { what: line.to_owned(), number });
            }
        } else if line.contains(": IOPS=") {
            side.finish(&mut groups)?;
            side = FioDirection { head: line.to_owned(), ..FioDirection::default() };
        } else if !side.head.is_empty() {
            side.add_line(line);
        }
    }
    side.finish(&mut groups)?;
    groups.retain(|group| !group.parsed.values.is_empty());
    if groups.is_empty() { Err(missing("line with IOPS=")) } else { Ok(groups) }
}

/// Parses `name: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) …, ioengine=libaio, iodepth=32` into
/// options by job name.
fn parse_options(text: &str) -> Result<BTreeMap<String, BTreeMap<String, String>>, ToolError> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(": (g=") else { continue };
        let mut options = BTreeMap::new();
        for part in rest.split(", ").flat_map(|part| part.split("): ")) {
            let Some((key, value)) = part.split_once('=') else { continue };
            let value = value.trim_start_matches("(R) ").to_owned();
            if FIO_OPTIONS.contains(&key.trim()) {
                options.insert(key.trim().to_owned(), value);
            }
        }
        if let Some(bytes) = options.get("bs").and_then(|text| parse_fio_size(text)) {
            options.insert("bs".to_owned(), bytes.to_string());
        }
        // The text does not report whether the page cache was used; direct I/O is assumed.
        options.insert("direct".to_owned(), "1".to_owned());
        found.insert(name.to_owned(), options);
        check_limit(found.len(), ("jobs", MAX_MEASUREMENTS))?;
    }
    Ok(found)
}

/// Lines of one direction (reads or writes) of a group.
#[derive(Default)]
struct FioDirection {
    head: String,
    /// Line of the completion latency: `clat (usec): min=…`.
    latency: String,
    /// Unit of the percentiles, and the text of the table below it.
    percentiles: Option<(f64, String)>,
}

impl FioDirection {
    fn add_line(&mut self, line: &str) {
        if line.starts_with("clat (") {
            line.clone_into(&mut self.latency);
        } else if line.starts_with("clat percentiles (") {
            self.percentiles = Some((time_unit(line), String::new()));
        } else if let (true, Some((_, text))) = (line.starts_with('|'), &mut self.percentiles) {
            text.push_str(line);
        }
    }

    /// Adds the figures of this direction to the last group.
    fn finish(&mut self, groups: &mut [ImportedMeasurement]) -> Result<(), ToolError> {
        let side = std::mem::take(self);
        if side.head.is_empty() {
            return Ok(());
        }
        let Some(group) = groups.last_mut() else {
            return Err(missing("group of jobs before the first line with IOPS="));
        };
        let rate = side.rate()?;
        let bytes_per_s = side.bytes_per_s()?;
        let operation = side.head.split(':').next().unwrap_or_default().trim().to_owned();
        // Reads and writes of a mix stay separate: a sum of rounded rates would be even less exact.
        let is_mix = group.dimensions.get(&Attribute::Operation).and_then(|it| it.as_text())
            == Some("mix");
        let apart = match is_mix {
            true => Attributes::from([(Attribute::Operation, operation.into())]),
            false => Attributes::new(),
        };
        let parsed = &mut group.parsed;
        parsed.add_series("rate", apart.clone(), vec![rate]);
        parsed.add_series("bandwidth", apart.clone(), vec![bytes_per_s]);
        let metric = "rate".to_owned();
        parsed.doubts.push(Doubt::RoundedOutput { metric, at: String::new(), share: 0.005 });
        side.add_latency(&apart, parsed)
    }

    fn rate(&self) -> Result<f64, ToolError> {
        let text = self.head.split_once("IOPS=").map_or("", |it| it.1);
        let text = text.split(',').next().unwrap_or_default();
        // `IOPS=123k` is 123,000: fio's rates are decimal.
        parse_scaled("IOPS", text, |unit| parse::letter_factor(unit, 1e3))
    }

    fn bytes_per_s(&self) -> Result<f64, ToolError> {
        let text = self.head.split_once('(').and_then(|it| it.1.split_once(')'));
        let text = text.map_or("", |it| it.0);
        parse_scaled("BW", text, |unit| parse::letter_factor(unit.strip_suffix("b/s")?, 1e3))
    }

    fn add_latency(
        &self,
        apart: &Attributes,
        parsed: &mut ParsedOutput,
    ) -> Result<(), ToolError> {
        let unit_s = time_unit(&self.latency);
        let of = |name: &str| {
            let text = self.latency.split_once(&format!("{name}="))?.1;
            let text = text.split(',').next()?.trim();
            parse_scaled(name, text, |letter| parse::letter_factor(letter, 1e3)).ok()
        };
        let Some(mean_s) = of("avg").map(|mean| mean * unit_s).filter(|mean| *mean > 0.0)
        else {
            return Ok(());
        };
        let percentile = |name: &str| {
            let (unit_s, text) = self.percentiles.as_ref()?;
            let text = text.split_once(&format!(" {name}th=["))?.1.split(']').next()?;
            Some(text.trim().parse::<f64>().ok()? * unit_s).filter(|it| *it > 0.0)
        };
        let median = percentile("50.00");
        parsed.add_series("latency", apart.clone(), vec![median.unwrap_or(mean_s)]);
        let statistic = if median.is_some() { "median" } else { "mean" };
        parsed.set_metric_attribute("latency", Attribute::Statistic, statistic);
        let p99 = percentile("99.00").map(|value| ("p99".to_owned(), value));
        let figures = ToolFigures {
            min: of("min").map(|it| it * unit_s),
            mean: Some(mean_s),
            max: of("max").map(|it| it * unit_s),
            percentiles: p99.into_iter().collect(),
        };
        parsed.set_figures("latency", figures);
        Ok(())
    }
}

fn time_unit(line: &str) -> f64 {
    match line.split_once('(').map_or("", |it| it.1).split(')').next() {
        Some("nsec") => 1e-9,
        Some("msec") => 1e-3,
        Some("sec") => 1.0,
        _ => 1e-6,
    }
}

fn parse_scaled(
    what: &str,
    text: &str,
    worth: impl Fn(&str) -> Option<f64>,
) -> Result<f64, ToolError> {
    let refused = || ToolError::InvalidNumber { what: what.to_owned(), text: text.to_owned() };
    let (number, factor) = parse::split_factor(text, worth).ok_or_else(refused)?;
    let value: f64 = number.parse().map_err(|_| refused())?;
    Some(value * factor).filter(|it| it.is_finite() && *it >= 0.0).ok_or_else(refused)
}
