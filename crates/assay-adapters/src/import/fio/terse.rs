//! Import of fio's terse output (`--minimal`), versions 2 to 5: one line for each job, fields between
//! semicolons. Amounts are in KiB, bandwidths in KiB/s, times in µs, runtimes in ms (HOWTO, "Terse
//! output"). The line has no options.

use std::collections::HashMap;

use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;

use super::super::{FileContents, ImportedMeasurement, LineSpan, missing};
use super::conditions::{ConditionSource, derive_conditions};
use super::omissions::list_missing;
use crate::fio_json::{FioCounts, FioLatency, FioOptionValues};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative};
use crate::tool::storage::{add_fio_latency, fio_failure};

/// Number of percentiles of a direction.
const PERCENTILES: usize = 20;
/// Fields of a direction before version 5, and from it.
const DIRECTION_FIELDS: usize = 41;
const DIRECTION_FIELDS_5: usize = 47;
/// Directions in the order of the line.
const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// Rate below which a whole number of I/O per second is rounded by more than 0.1 %.
const ROUNDED_BELOW_PER_S: f64 = 500.0;
/// Minimum time between two outputs of `--status-interval`, with some slack.
const STATUS_STEP_S: f64 = 0.5;

pub(super) fn is_fio_terse(text: &str) -> bool {
    text.lines().any(is_terse_line)
}

/// Whether a line begins like a terse one and has at least two directions.
pub(super) fn is_terse_line(line: &str) -> bool {
    let line = line.trim();
    let mut fields = line.split(';');
    let has_version = match fields.next() {
        Some("2") => true,
        Some("3" | "4" | "5") => fields.next().is_some_and(|it| it.starts_with("fio-")),
        Some(_) | None => false,
    };
    has_version && line.matches(';').count() >= 2 * DIRECTION_FIELDS
}

/// Reads every line. One that a later line of the same run contains is left out.
pub(super) fn read(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut jobs: Vec<(usize, TerseJob)> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let begins = ["2;", "3;fio-", "4;fio-", "5;fio-"];
        if !begins.iter().any(|it| content.trim_start().starts_with(it)) {
            continue;
        }
        check_limit(jobs.len() + 1, ("groups of jobs", MAX_MEASUREMENTS))?;
        match TerseJob::parse(content.trim()) {
            Ok(job) => jobs.push((line, job)),
            Err(error) => contents.add_part(Some(line..=line), "job", Err(error)),
        }
    }
    let mut last: HashMap<(&str, &str), usize> = HashMap::new();
    let (mut is_early, mut is_later) = (vec![false; jobs.len()], vec![false; jobs.len()]);
    for (at, (_, job)) in jobs.iter().enumerate() {
        if let Some(before) = last.insert((&job.name, &job.group), at) {
            // The last state may follow at once.
            let step_s = if is_later[before] { 0.0 } else { STATUS_STEP_S };
            is_later[at] = job.continues(&jobs[before].1, step_s);
            is_early[before] = is_later[at];
        }
    }
    for ((line, job), is_early) in jobs.into_iter().zip(is_early) {
        let what = format!("job {:?}", job.name);
        if is_early {
            let why = "an earlier state of the run that a later line contains";
            contents.leave_out(Some(line..=line), what, why);
        } else {
            let measurement = job.into_measurement(line..=line, &mut contents);
            contents.add_part(Some(line..=line), what, measurement);
        }
    }
    Ok(contents)
}

/// Line of a job.
struct TerseJob {
    version: Option<String>,
    name: String,
    group: String,
    error: u64,
    directions: Vec<(usize, TerseDirection)>,
    deepest_level: Option<u64>,
}

/// Figures of a direction.
struct TerseDirection {
    kib: f64,
    kib_per_s: f64,
    rate_per_s: f64,
    runtime_s: f64,
    latency: Option<FioLatency>,
}

impl TerseJob {
    fn parse(line: &str) -> Result<Self, ToolError> {
        let fields: Vec<&str> = line.split(';').collect();
        // Version 2 does not print fio's own version.
        let (version, rest) = match fields.split_first() {
            Some((&"2", rest)) => (None, rest),
            Some((_, [version, rest @ ..])) => (version.strip_prefix("fio-"), rest),
            Some((_, [])) | None => return Err(cut("its fields")),
        };
        let [name, group, error, rest @ ..] = rest else { return Err(cut("its fields")) };
        let length = match fields.first() {
            Some(&"5") => DIRECTION_FIELDS_5,
            Some(_) | None => DIRECTION_FIELDS,
        };
        let mut directions = Vec::new();
        let mut rest = rest;
        for at in 0..DIRECTIONS.len() {
            // Trims are missing before fio 2.99; the CPU time follows, in percent.
            if at == 2 && rest.first().is_some_and(|it| it.ends_with('%')) {
                break;
            }
            let Some((own, behind)) = rest.split_at_checked(length) else {
                return Err(cut("fields of a direction"));
            };
            directions.extend(TerseDirection::parse(own)?.map(|it| (at, it)));
            rest = behind;
        }
        // CPU time of the user and the system, switches and two kinds of page faults come first.
        let levels = rest.get(5..12).ok_or_else(|| cut("its depths"))?;
        let is_used =
            |share: &str| share.trim_end_matches('%').parse::<f64>().unwrap_or(0.0) > 0.0;
        let deepest = levels.iter().rposition(|share| is_used(share));
        let error = error.parse().map_err(|_| ToolError::InvalidNumber {
            what: "error".to_owned(),
            text: (*error).to_owned(),
        })?;
        Ok(Self {
            version: version.map(str::to_owned),
            name: (*name).to_owned(),
            group: (*group).to_owned(),
            error,
            directions,
            deepest_level: deepest.map(|at| 1 << at),
        })
    }

    /// Whether this line is a later state of the same run: more time, and more I/O.
    fn continues(&self, before: &Self, step_s: f64) -> bool {
        let runtime =
            |job: &Self| job.directions.iter().map(|it| it.1.runtime_s).fold(0.0, f64::max);
        let amount = |job: &Self| job.directions.iter().map(|it| it.1.kib).sum::<f64>();
        runtime(self) >= runtime(before) + step_s && amount(self) >= amount(before)
    }

    fn into_measurement(
        self,
        lines: LineSpan,
        contents: &mut FileContents,
    ) -> Result<ImportedMeasurement, ToolError> {
        if self.error != 0 {
            return Err(fio_failure(format!("job {:?}", self.name), self.error));
        }
        if self.directions.is_empty() {
            return Err(missing("completed I/O"));
        }
        let (counts, rounding) = self.counts();
        let conditions = derive_conditions(&ConditionSource {
            name: &self.name,
            options: &FioOptionValues::new(),
            counts: &counts,
            printed_jobs: None,
            rounding,
        });
        let mut parsed = ParsedOutput { version: self.version, ..ParsedOutput::default() };
        parsed.doubts = conditions.doubts;
        let rate_per_s: f64 = self.directions.iter().map(|it| it.1.rate_per_s).sum();
        parsed.add_samples("rate", vec![rate_per_s]);
        let kib_per_s: f64 = self.directions.iter().map(|it| it.1.kib_per_s).sum();
        parsed.add_samples("bandwidth", vec![kib_per_s * 1024.0]);
        if rate_per_s < ROUNDED_BELOW_PER_S {
            let share = 0.5 / rate_per_s.max(1.0);
            let metric = "rate".to_owned();
            parsed.doubts.push(Doubt::RoundedOutput { metric, at: String::new(), share });
        }
        let is_several = self.directions.len() > 1;
        for (at, direction) in self.directions {
            let operation = DIRECTIONS[at];
            let Some(mut latency) = direction.latency else {
                let what = format!("job {:?}: latency of {operation}", self.name);
                contents.leave_out(Some(lines.clone()), what, "fio did not record it");
                continue;
            };
            latency.operation = is_several.then_some(operation);
            latency.count = Some(counts.ios[at]);
            list_missing(&latency, &self.name, &lines, contents);
            add_fio_latency(latency, &[], &mut parsed);
        }
        let dimensions = conditions.dimensions;
        Ok(ImportedMeasurement {
            lines: Some(lines),
            ..ImportedMeasurement::new(self.name, Benchmark::Storage, dimensions, parsed)
        })
    }

    /// Returns the counts that follow from rates, and their rounding.
    fn counts(&self) -> (FioCounts, f64) {
        let mut counts =
            FioCounts { entries: 1, deepest_level: self.deepest_level, ..FioCounts::default() };
        let mut rounding: f64 = 0.0;
        for (at, it) in &self.directions {
            // The rate is cut to a whole number; its middle is the best estimate.
            counts.ios[*at] = ((it.rate_per_s + 0.5) * it.runtime_s).round().max(1.0) as u64;
            counts.bytes[*at] = it.kib * 1024.0;
            counts.runtime_s = counts.runtime_s.max(it.runtime_s);
            let share = 0.5 / it.rate_per_s.max(1.0) + 0.5 / it.kib.max(1.0);
            rounding = rounding.max(share + 0.5 / counts.ios[*at] as f64);
        }
        (counts, rounding)
    }
}

impl TerseDirection {
    /// Parses the fields of a direction; `None` if it had no I/O.
    fn parse(fields: &[&str]) -> Result<Option<Self>, ToolError> {
        let number = |at: usize, what: &str| {
            let text = fields.get(at).ok_or_else(|| cut("fields of a direction"))?;
            parse_non_negative(what, text)
        };
        let (kib, kib_per_s) = (number(0, "transferred KiB")?, number(1, "bandwidth")?);
        let (rate_per_s, runtime_s) = (number(2, "iops")?, number(3, "runtime")? / 1e3);
        if kib <= 0.0 || runtime_s <= 0.0 {
            return Ok(None);
        }
        let micro = |at: usize, what: &str| Ok(number(at, what)? / 1e6);
        let (min_s, max_s) = (micro(8, "minimum of clat")?, micro(9, "maximum of clat")?);
        let mean_s = micro(10, "mean of clat")?;
        let mut latency = FioLatency {
            operation: None,
            count: None,
            min_s,
            mean_s,
            max_s,
            median_s: None,
            percentiles: std::collections::BTreeMap::new(),
            missing: vec![],
        };
        for field in fields.iter().skip(12).take(PERCENTILES) {
            let refused = || ToolError::InvalidNumber {
                what: "a percentile of clat".to_owned(),
                text: (*field).to_owned(),
            };
            let (percent, value) = field.split_once("%=").ok_or_else(refused)?;
            let percent: f64 = percent.parse().map_err(|_| refused())?;
            let value: f64 = parse_non_negative("a percentile of clat", value)? / 1e6;
            match percent {
                // Unused places of the list have the percentile 0.
                it if it <= 0.0 || !it.is_finite() => {}
                it if (it - 50.0).abs() < 1e-6 && value > 0.0 => latency.median_s = Some(value),
                it => drop(latency.percentiles.insert(format!("p{it}"), value)),
            }
        }
        let latency = Some(latency).filter(|it| it.mean_s > 0.0);
        Ok(Some(Self { kib, kib_per_s, rate_per_s, runtime_s, latency }))
    }
}

fn cut(missing: &str) -> ToolError {
    ToolError::Truncated { missing: format!("{missing} are missing in fio's terse line") }
}
