//! One job, or group of jobs, of fio's text.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::quantity::{self as parse};

use super::super::super::{FileContents, FileTime, ImportedMeasurement, LineSpan, missing};
use super::super::conditions::{ConditionSource, derive_conditions};
use super::super::omissions::{NO_LATENCY, list_missing};
use super::super::progress::RunState;
use super::ENTRY;
use super::latency::TextLatencies;
use crate::fio_json::{FioCounts, FioOptionValues};
use crate::outputs::{ParsedOutput, ToolError};
use crate::tool::storage::{add_fio_latency, fio_failure};

/// Directions in the order of [`FioCounts`].
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

/// Lines of a job.
#[derive(Debug)]
pub(super) struct TextEntry {
    pub(super) name: String,
    pub(super) group: u64,
    pub(super) jobs: Option<u64>,
    pub(super) options: FioOptionValues,
    pub(super) version: Option<String>,
    pub(super) pid: Option<u64>,
    pub(super) error: Option<u64>,
    /// First line behind the number of the group.
    pub(super) head: String,
    pub(super) began: Option<FileTime>,
    pub(super) lines: LineSpan,
    pub(super) directions: Vec<TextDirection>,
    /// Whether the last direction goes on.
    pub(super) is_open: bool,
    pub(super) has_syncs: bool,
    pub(super) issued: Option<[u64; 3]>,
    pub(super) deepest_level: Option<u64>,
    pub(super) damaged: Option<ToolError>,
}

impl Default for TextEntry {
    fn default() -> Self {
        Self {
            name: String::new(),
            group: 0,
            jobs: None,
            options: FioOptionValues::new(),
            version: None,
            pid: None,
            error: None,
            head: String::new(),
            began: None,
            lines: 1..=1,
            directions: vec![],
            is_open: false,
            has_syncs: false,
            issued: None,
            deepest_level: None,
            damaged: None,
        }
    }
}

/// Figures of one direction.
#[derive(Debug)]
pub(super) struct TextDirection {
    at: usize,
    rate_per_s: f64,
    bytes_per_s: f64,
    bytes: f64,
    /// Relative rounding of the bytes.
    rounding: f64,
    runtime_s: f64,
    latencies: TextLatencies,
}

impl TextEntry {
    pub(super) fn add_line(&mut self, line: usize, content: &str) {
        if !content.is_empty() {
            self.lines = *self.lines.start()..=line;
        }
        if let Some((at, rest)) = split_direction(content) {
            match TextDirection::parse(at, rest) {
                Ok(direction) => self.directions.push(direction),
                Err(error) => self.damaged = Some(error),
            }
            self.is_open = true;
        } else if content.starts_with("fsync/") {
            (self.is_open, self.has_syncs) = (false, true);
        } else if content.starts_with("IO depths") {
            self.is_open = false;
            self.deepest_level = parse_levels(content);
        } else if content.starts_with("issued") {
            self.issued = parse_issued(content);
        } else if let (true, Some(direction)) = (self.is_open, self.directions.last_mut()) {
            direction.latencies.add_line(content);
        }
    }

    /// Records that the file ends within the figures, whose last number may lack digits.
    pub(super) fn mark_cut(&mut self) {
        if self.is_open || self.directions.is_empty() {
            let missing = "the figures of its last job end within a line".to_owned();
            self.damaged = Some(ToolError::Truncated { missing });
        }
    }

    /// Returns the state of the job for the comparison with a later part.
    pub(super) fn state(&self) -> RunState {
        let runtimes = self.directions.iter().map(|it| it.runtime_s);
        RunState {
            time_s: self.began.map(|time| time.unix_s as f64),
            has_fraction: false,
            runtime_s: runtimes.fold(0.0, f64::max),
            ios: self.directions.iter().map(|it| it.bytes).sum(),
        }
    }

    /// Adds the measurement, or the reason why there is none.
    pub(super) fn add_to(mut self, contents: &mut FileContents) {
        let what = format!("job {:?}", self.name);
        let lines = Some(self.lines.clone());
        if let Some(number) = self.error {
            let error = fio_failure(format!("{}{ENTRY}{}", self.name, self.head), number);
            return contents.add_part(lines, what, Err(error));
        }
        if let Some(error) = self.damaged {
            return contents.add_part(lines, what, Err(error));
        }
        self.remove_repeated(contents);
        if self.has_syncs {
            let why = "assay imports the latency of I/O";
            contents.leave_out(lines.clone(), format!("{what}: latency of fsync"), why);
        }
        if self.directions.is_empty() {
            return contents.add_part(lines, what, Err(missing("completed I/O")));
        }
        let measurement = self.into_measurement(contents);
        contents.add_part(lines, what, Ok(measurement));
    }

    /// Removes directions that repeat others, or only verified written data.
    fn remove_repeated(&mut self, contents: &mut FileContents) {
        let has = |at: usize| move |it: &TextDirection| it.at == at && it.bytes > 0.0;
        let (has_reads, has_writes) =
            (self.directions.iter().any(has(0)), self.directions.iter().any(has(1)));
        let way = self.options.get("rw").map(String::as_str).unwrap_or_default();
        let mut leave_out = |what: &str, why: &str| {
            let what = format!("job {:?}: {what}", self.name);
            contents.leave_out(Some(self.lines.clone()), what, why);
        };
        if has_reads && has_writes && ["write", "randwrite"].contains(&way) {
            leave_out("reads", "they only verified what was written");
            self.directions.retain(|it| it.at != 0);
        }
        if self.directions.len() > 1 && self.directions.iter().any(|it| it.at == 3) {
            leave_out("mixed", "the sum of the other directions");
            self.directions.retain(|it| it.at != 3);
        }
        self.directions.retain(|it| it.rate_per_s > 0.0);
    }

    fn counts(&self) -> FioCounts {
        let mut counts =
            FioCounts { entries: 1, deepest_level: self.deepest_level, ..FioCounts::default() };
        for it in &self.directions {
            // With one sum of all directions fio counts all of them as reads.
            let issued = self.issued.map(|issued| issued[it.at % 3]);
            let issued = issued.filter(|ios| *ios > 0);
            let ios = issued.unwrap_or((it.rate_per_s * it.runtime_s).round() as u64);
            counts.ios[it.at] = ios;
            counts.bytes[it.at] = it.bytes;
            counts.runtime_s = counts.runtime_s.max(it.runtime_s);
        }
        counts
    }

    fn into_measurement(self, contents: &mut FileContents) -> ImportedMeasurement {
        let counts = self.counts();
        let rate_rounding = if self.issued.is_some() { 0.0 } else { 0.005 };
        let bytes_rounding = self.directions.iter().map(|it| it.rounding).fold(0.0, f64::max);
        let conditions = derive_conditions(&ConditionSource {
            name: &self.name,
            options: &self.options,
            counts: &counts,
            printed_jobs: self.jobs,
            rounding: bytes_rounding + rate_rounding,
        });
        let mut parsed = ParsedOutput { version: self.version, ..ParsedOutput::default() };
        parsed.doubts = conditions.doubts;
        let is_several = self.directions.len() > 1;
        for direction in self.directions {
            let operation = DIRECTIONS[direction.at];
            let own = is_several.then_some(operation);
            direction.add_rates(own, &mut parsed);
            match direction.latencies.into_latency(own).filter(|it| it.mean_s > 0.0) {
                Some(mut latency) => {
                    latency.count = Some(counts.ios[direction.at]).filter(|ios| *ios > 0);
                    list_missing(&latency, &self.name, &self.lines, contents);
                    add_fio_latency(latency, &[], &mut parsed);
                }
                None => {
                    let what = format!("job {:?}: latency of {operation}", self.name);
                    contents.leave_out(Some(self.lines.clone()), what, NO_LATENCY);
                }
            }
        }
        ImportedMeasurement {
            began: self.began,
            lines: Some(self.lines),
            ..ImportedMeasurement::new(
                self.name,
                Benchmark::Storage,
                conditions.dimensions,
                parsed,
            )
        }
    }
}

impl TextDirection {
    /// Parses ` IOPS=64.0k, BW=4000MiB/s (4194MB/s)(4096KiB/1msec)`, before 2.99
    /// ` io=4096.0MB, bw=59031KB/s, iops=14757, runt= 71053msec`.
    fn parse(at: usize, rest: &str) -> Result<Self, ToolError> {
        let field =
            |name: &str| Some(rest.split_once(name)?.1.split([',', ' ']).next()?.trim());
        let is_old = rest.contains("runt=");
        let (bandwidth, bytes, runtime) = match is_old {
            true => {
                let runtime = rest.split_once("runt=").map(|it| it.1.trim());
                (field("bw="), field("io="), runtime)
            }
            false => {
                let decimal = rest.split_once('(').and_then(|it| it.1.split(')').next());
                let total = rest.rsplit_once('(').and_then(|it| it.1.split_once('/'));
                (decimal, total.map(|it| it.0), total.map(|it| it.1))
            }
        };
        let rate = field("IOPS=").or_else(|| field("iops="));
        let rate_per_s = parse_scaled("IOPS", rate, 1e3)?;
        let runtime_ms = runtime.and_then(|text| {
            let end = text.find("msec")?;
            text[..end].trim().parse::<f64>().ok()
        });
        let runtime_s = runtime_ms.ok_or_else(|| missing("runtime"))? / 1e3;
        // In the old lines KB are KiB, in the new ones the bandwidth in parentheses is decimal.
        let base = if is_old { 1024.0 } else { 1e3 };
        Ok(Self {
            at,
            rate_per_s,
            bytes_per_s: parse_scaled("BW", bandwidth, base)?,
            bytes: parse_scaled("transferred bytes", bytes, 1024.0)?,
            rounding: bytes.map_or(0.0, rounding),
            runtime_s,
            latencies: TextLatencies::default(),
        })
    }

    fn add_rates(&self, own: Option<&'static str>, parsed: &mut ParsedOutput) {
        let own_dimensions: Attributes =
            own.map(|name| (Attribute::Operation, name.into())).into_iter().collect();
        parsed.add_series("rate", own_dimensions.clone(), vec![self.rate_per_s]);
        parsed.add_series("bandwidth", own_dimensions, vec![self.bytes_per_s]);
        let metric = "rate".to_owned();
        parsed.doubts.push(Doubt::RoundedOutput { metric, at: String::new(), share: 0.005 });
    }
}

/// Splits `read: IOPS=…` and `read : io=…` into the number of the direction and the rest.
fn split_direction(line: &str) -> Option<(usize, &str)> {
    let (name, rest) = line.split_once(':')?;
    let at = DIRECTIONS.iter().position(|it| *it == name.trim_end())?;
    (rest.contains("IOPS=") || rest.contains("iops=")).then_some((at, rest))
}

/// Returns the lower end of the deepest level of `IO depths    : 1=1.6%, 2=3.1%, …, >=64=0.0%`.
fn parse_levels(line: &str) -> Option<u64> {
    let levels = line.split_once(':')?.1.split(',').filter_map(|part| {
        let (level, share) = part.trim().rsplit_once('=')?;
        let share: f64 = share.trim_end_matches('%').parse().ok()?;
        let level = level.trim_start_matches(">=").parse().ok()?;
        (share > 0.0).then_some(level)
    });
    levels.max()
}

/// Parses `issued rwts: total=707,317,0,0 short=…`, before 3.0 `issued    : total=r=707/w=317/d=0,`.
fn parse_issued(line: &str) -> Option<[u64; 3]> {
    let text = line.split_once("total=")?.1.split_whitespace().next()?;
    let is_old = text.starts_with("r=");
    let mut counts = text.split(if is_old { '/' } else { ',' }).map(|part| {
        part.trim_start_matches(|c: char| !c.is_ascii_digit())
            .trim_end_matches(',')
            .parse()
            .ok()
    });
    Some([counts.next()??, counts.next()??, counts.next().flatten().unwrap_or(0)])
}

/// Returns the relative rounding of a number with its digits: 0.0031 of `16.0GiB`.
fn rounding(text: &str) -> f64 {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = &text[..end];
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let is_exact = decimals == 0 && text[end..].starts_with('B');
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && !is_exact => 0.5 * 10f64.powi(-decimals) / value,
        Ok(_) | Err(_) => 0.0,
    }
}

/// Parses a number with a prefix. Binary units have an `i`, unless `base` is 1024.
fn parse_scaled(what: &str, text: Option<&str>, base: f64) -> Result<f64, ToolError> {
    let text = text.ok_or_else(|| missing(what))?;
    let refused = || ToolError::InvalidNumber { what: what.to_owned(), text: text.to_owned() };
    let worth = |unit: &str| {
        let letter = unit.trim_end_matches("/s").trim_end_matches(['B', 'b']);
        match letter.strip_suffix('i') {
            Some(letter) => parse::letter_factor(letter, 1024.0),
            None => parse::letter_factor(letter, base),
        }
    };
    let (number, factor) = parse::split_factor(text, worth).ok_or_else(refused)?;
    let value: f64 = number.parse().map_err(|_| refused())?;
    Some(value * factor).filter(|it| it.is_finite() && *it >= 0.0).ok_or_else(refused)
}
