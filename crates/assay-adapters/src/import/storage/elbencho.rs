//! Import of elbencho's results in CSV (`--csvfile`), JSON (`--jsonfile`) and as its console and
//! `--resfile` print them: a row, an object or a block for each phase.
//!
//! `[last]` and `LAST DONE` are the time at which the slowest thread was done, so that their figures
//! cover all the work. elbencho cuts rates to whole numbers: total and time give more digits.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::event::ToolFigures;

use super::super::foreign::foreign_measurement;
use super::super::{FileContents, FileTime, ImportedMeasurement, LineSpan, check_limit};
use crate::limits::MAX_MEASUREMENTS;
use crate::outputs::{ParsedOutput, ToolError};

mod console;
mod json;
mod table;

pub(super) use console::{is_console, read_console};
pub(super) use json::{is_json, read_json};
pub(super) use table::{is_csv, read_csv};

const MEBI: f64 = 1_048_576.0;
/// Last digit of most times in seconds.
const TIME_DIGIT_S: f64 = 1e-3;
/// Half the distance of the limits of a percentile's bucket, of which elbencho has four for each
/// power of two (`LATHISTO_BUCKETFRACTION`), as a share of the limit: (1 − 2^(−1/4)) / 2.
const BUCKET_SHARE: f64 = 0.08;

/// Phases on entries, and their operations in assay.
const ENTRY_PHASES: [(&str, &str); 6] = [
    ("MKDIRS", "mkdir"),
    ("RMDIRS", "rmdir"),
    ("STAT", "stat"),
    ("STATDIRS", "stat-directory"),
    ("RMFILES", "delete"),
    ("LISTDIRS", "list"),
];

/// Result of a phase.
#[derive(Debug, Default)]
struct Phase {
    name: String,
    label: Option<String>,
    began: Option<FileTime>,
    version: Option<String>,
    conditions: PhaseConditions,
    /// Figures of all I/O, or of the writes of a mix.
    main: PhaseFigures,
    /// Figures of the reads of a mix.
    mix_reads: PhaseFigures,
}

/// Conditions that the file contains.
#[derive(Debug, Default, Clone)]
struct PhaseConditions {
    bytes: Option<u64>,
    file_bytes: Option<u64>,
    threads: Option<u64>,
    depth: Option<u64>,
    is_random: Option<bool>,
    uses_page_cache: Option<bool>,
}

/// Figures of one direction, in base units.
#[derive(Debug, Default)]
struct PhaseFigures {
    io_rate: Option<RefinedRate>,
    bandwidth: Option<RefinedRate>,
    io_latency: ToolFigures,
    entry_rate: Option<RefinedRate>,
    entries: Option<u64>,
    entry_latency: ToolFigures,
}

impl PhaseFigures {
    fn has_io(&self) -> bool {
        self.io_rate.is_some() || self.bandwidth.is_some()
    }
}

/// Rate in base units, and the amount by which it may be too low: elbencho cuts digits.
#[derive(Debug, Clone, Copy)]
struct RefinedRate {
    per_s: f64,
    cut_off: f64,
}

impl RefinedRate {
    /// Makes a rate that is printed in whole units.
    const fn from_whole(per_s: f64) -> Self {
        Self { per_s, cut_off: 1.0 }
    }

    /// Returns total / time where it has more digits than the printed rate. All three are cut to
    /// whole units, of which the time's is `digit_s`.
    ///
    /// # Errors
    /// If total and time cannot give the printed rate.
    fn refine(
        printed: f64,
        total: Option<f64>,
        time: Option<(f64, f64)>,
    ) -> Result<Self, ToolError> {
        let whole = Self::from_whole(printed);
        let Some((total, (time_s, digit_s))) = total.zip(time) else { return Ok(whole) };
        let slowest = total / (time_s + digit_s);
        let fastest = (total + 1.0) / time_s;
        if fastest < printed || slowest >= printed + 1.0 {
            let what = format!("{total} in {time_s} s are not {printed} per second");
            return Err(ToolError::Contradiction { what });
        }
        let exact = Self { per_s: total / time_s, cut_off: fastest - slowest };
        Ok(if exact.cut_off < 1.0 { exact } else { whole })
    }

    /// Multiplies by a unit.
    fn scale(self, unit: f64) -> Self {
        Self { per_s: self.per_s * unit, cut_off: self.cut_off * unit }
    }

    /// Returns this rate with the digits of another one, `other` × `unit`, if it has more and agrees.
    fn improve_by(self, other: Self, unit: f64) -> Self {
        let other = other.scale(unit);
        let is_better = other.cut_off * self.per_s < self.cut_off * other.per_s;
        let distance = (other.per_s - self.per_s).abs();
        if is_better && distance <= self.cut_off + other.cut_off { other } else { self }
    }
}

/// Adds the measurements of a phase, or the reason for leaving it out.
fn add_phase(
    phase: &Phase,
    lines: LineSpan,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    check_limit(contents.measurements.len() + 1, ("phases", MAX_MEASUREMENTS))?;
    let base = phase.name.split('+').next().unwrap_or_default();
    let what = format!("phase {:?}", phase.name);
    let is_mix = base.starts_with("RWMIX") || base.starts_with("MIX-T");
    let operation = match base {
        "READ" => Some("read"),
        "WRITE" => Some("write"),
        _ if is_mix => Some("mix"),
        _ => None,
    };
    let mut found = Vec::new();
    if let Some(operation) = operation.filter(|_| phase.main.has_io()) {
        found.push(build_io_measurement(phase, operation));
    } else if phase.main.has_io() {
        found.push(build_foreign(phase));
    }
    if is_mix && phase.main.entry_rate.is_some() {
        let why = "entries of reads and of writes have no common operation";
        contents.leave_out(Some(lines.clone()), format!("entries/s of {what}"), why);
    } else if phase.main.entry_rate.is_some() {
        found.extend(build_entry_measurement(phase, base));
    }
    if found.is_empty() {
        let why = "it transfers no data and counts no entries";
        contents.leave_out(Some(lines), what, why);
        return Ok(());
    }
    for mut measurement in found {
        measurement.began = phase.began;
        measurement.name = phase.label.clone().unwrap_or(measurement.name);
        measurement.parsed.version.clone_from(&phase.version);
        if let Some((_, suffix)) = phase.name.split_once('+') {
            let settings = format!("+{suffix}");
            measurement.dimensions.insert(Attribute::Loops, settings.into());
        }
        contents.add_part(Some(lines.clone()), &what, Ok(measurement));
    }
    Ok(())
}

fn build_io_measurement(phase: &Phase, operation: &'static str) -> ImportedMeasurement {
    let given = &phase.conditions;
    let mut dimensions = Attributes::from([(Attribute::Operation, operation.into())]);
    dimensions.extend(given.bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    dimensions.extend(given.threads.map(|threads| (Attribute::Threads, threads.into())));
    let depth = given.threads.zip(given.depth);
    let depth = depth.map(|(threads, depth)| threads.saturating_mul(depth));
    dimensions.extend(depth.map(|depth| (Attribute::Depth, depth.into())));
    let pattern = given.is_random.map(|it| if it { "random" } else { "sequential" });
    dimensions.extend(pattern.map(|pattern| (Attribute::Pattern, pattern.into())));
    let uses_page_cache = given.uses_page_cache.filter(|it| *it);
    dimensions.extend(uses_page_cache.map(|it| (Attribute::PageCache, it.into())));
    let mut parsed = ParsedOutput::default();
    if operation == "mix" {
        let rates = phase.mix_reads.io_rate.zip(phase.main.io_rate);
        let share = rates.map(|(reads, writes)| reads.per_s / (reads.per_s + writes.per_s));
        let share = share.filter(|share| share.is_finite());
        // Rates in whole numbers give two digits.
        let share = share.map(|share| (share * 100.0).round() / 100.0);
        dimensions.extend(share.map(|share| (Attribute::ReadShare, share.into())));
        for (name, figures) in [("write", &phase.main), ("read", &phase.mix_reads)] {
            let own = Attributes::from([(Attribute::Operation, name.into())]);
            add_figures(&mut parsed, &own, given.bytes, figures);
        }
    } else {
        add_figures(&mut parsed, &Attributes::new(), given.bytes, &phase.main);
    }
    ImportedMeasurement::new(operation, Benchmark::Storage, dimensions, parsed)
}

/// Adds rate, bandwidth and latency of one direction. A block size that explains both gives one of
/// them the digits of the other; blocks of several sizes do not.
fn add_figures(
    parsed: &mut ParsedOutput,
    own: &Attributes,
    bytes: Option<u64>,
    figures: &PhaseFigures,
) {
    let (mut rate, mut bandwidth) = (figures.io_rate, figures.bandwidth);
    if let (Some(bytes), Some(ios), Some(transferred)) = (bytes, rate, bandwidth) {
        let bytes = bytes as f64;
        rate = Some(ios.improve_by(transferred, 1.0 / bytes));
        bandwidth = Some(transferred.improve_by(ios, bytes));
    }
    for (metric, rate) in [("rate", rate), ("bandwidth", bandwidth)] {
        let per_s = rate.map(|rate| rate.per_s);
        per_s.into_iter().for_each(|it| parsed.add_series(metric, own.clone(), vec![it]));
    }
    add_latency(parsed, own, "latency", &figures.io_latency);
}

/// Adds a mean latency with its limits and percentiles, which are upper limits of buckets.
fn add_latency(
    parsed: &mut ParsedOutput,
    own: &Attributes,
    metric: &'static str,
    figures: &ToolFigures,
) {
    let Some(mean) = figures.mean.filter(|mean| *mean > 0.0) else { return };
    parsed.add_series(metric, own.clone(), vec![mean]);
    parsed.set_figures(metric, figures.clone());
    parsed.set_metric_attribute(metric, Attribute::Statistic, "mean");
    if !figures.percentiles.is_empty() {
        let at = "percentiles".to_owned();
        let metric = metric.to_owned();
        parsed.doubts.push(Doubt::RoundedOutput { metric, at, share: BUCKET_SHARE });
    }
}

/// Builds the measurement of the entries that a phase counts. Writes create the files.
fn build_entry_measurement(phase: &Phase, base: &str) -> Option<ImportedMeasurement> {
    let figures = &phase.main;
    let rate = figures.entry_rate?.per_s;
    let file_operation = match base {
        "WRITE" => Some("create"),
        "READ" => Some("read"),
        _ => None,
    };
    let named = ENTRY_PHASES.iter().find(|(name, _)| *name == base);
    let Some(operation) = named.map(|(_, operation)| *operation).or(file_operation) else {
        return (!figures.has_io()).then(|| build_foreign(phase));
    };
    let given = &phase.conditions;
    let mut dimensions = Attributes::from([(Attribute::Operation, operation.into())]);
    dimensions.extend(given.threads.map(|threads| (Attribute::Threads, threads.into())));
    dimensions.extend(figures.entries.map(|entries| (Attribute::Files, entries.into())));
    let file_bytes = given.file_bytes.filter(|_| file_operation.is_some());
    dimensions.extend(file_bytes.map(|bytes| (Attribute::FileBytes, bytes.into())));
    let mut parsed = ParsedOutput::default();
    parsed.add_samples("rate", vec![rate]);
    add_latency(&mut parsed, &Attributes::new(), "latency", &figures.entry_latency);
    Some(ImportedMeasurement::new(operation, Benchmark::StorageFiles, dimensions, parsed))
}

/// Builds the measurement of a phase without an equivalent: objects, buckets, networks.
fn build_foreign(phase: &Phase) -> ImportedMeasurement {
    let figures = &phase.main;
    let test = format!("elbencho {}", phase.name);
    let rates = [
        ("io_rate", figures.io_rate),
        ("bandwidth", figures.bandwidth),
        ("event_rate", figures.entry_rate),
    ];
    let mut rates = rates.into_iter().filter_map(|(metric, rate)| Some((metric, rate?.per_s)));
    let (metric, rate) = rates.next().unwrap_or(("event_rate", 0.0));
    let mut found = foreign_measurement(&test, metric, vec![rate]);
    rates.for_each(|(metric, rate)| found.parsed.add_samples(metric, vec![rate]));
    let latency = match figures.has_io() {
        true => &figures.io_latency,
        false => &figures.entry_latency,
    };
    add_latency(&mut found.parsed, &Attributes::new(), "time", latency);
    let given = &phase.conditions;
    let bytes = given.bytes.filter(|_| figures.has_io());
    found.dimensions.extend(bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    found.dimensions.extend(given.threads.map(|it| (Attribute::Threads, it.into())));
    found
}
