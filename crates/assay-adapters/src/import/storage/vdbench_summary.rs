//! Import of Vdbench's summary.html, totals.html and console. Headings name the columns; MB are 2²⁰
//! bytes, times milliseconds.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;

use super::super::{FileContents, FileTime, ImportedMeasurement, missing};
use super::vdbench::{MAX_ROWS, operation_name, share_dimension};
use super::vdbench_heading::{SummaryHeading, begins_heading, continues_heading};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative};
use crate::tool::vdbench_samples;
use crate::vdbench_flat::{FlatFile, VdbenchInterval};

const MIB: f64 = 1024.0 * 1024.0;

pub(super) fn is_summary(text: &str) -> bool {
    text.contains("Starting RD=") || text.lines().any(begins_heading)
}

/// Figures of one row.
#[derive(Debug, Clone, Copy)]
struct RowFigures {
    number: u64,
    interval: VdbenchInterval,
    /// Size of an I/O in bytes.
    bytes: f64,
    read_percent: f64,
}

/// Run that is being read.
#[derive(Debug, Default)]
struct SummaryRun {
    name: String,
    loops: Option<String>,
    requested_rate: Option<f64>,
    /// Time of day of its start.
    clock: String,
    first_line: usize,
    rows: Vec<RowFigures>,
    is_done: bool,
    error: Option<ToolError>,
}

/// Reader of a summary, line by line.
#[derive(Debug, Default)]
struct SummaryReader {
    contents: FileContents,
    heading: Option<SummaryHeading>,
    run: SummaryRun,
    version: Option<String>,
}

/// Reads each run: the intervals that its averages include, or the averages alone.
pub(super) fn read_summary(text: &str) -> Result<FileContents, ToolError> {
    let mut reader = SummaryReader::default();
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).peekable();
    while let Some((number, line)) = lines.next() {
        let line = strip_tags(line);
        if begins_heading(&line) {
            let second = lines.next_if(|(_, next)| continues_heading(next));
            reader.set_heading(number, &line, second.map_or("", |(_, next)| next));
            continue;
        }
        reader.read_line(number, line.trim())?;
    }
    reader.end_run(text.lines().count());
    let contents = reader.contents;
    if contents.measurements.is_empty() && contents.failed.is_empty() {
        let missing = "no run has its line of averages (avg_…)".to_owned();
        return Err(ToolError::Truncated { missing });
    }
    Ok(contents)
}

/// Removes the tags of HTML.
fn strip_tags(line: &str) -> String {
    let mut parts = line.split('<');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('>') {
            Some((_, rest)) => out.push_str(rest),
            None => {
                out.push('<');
                out.push_str(part);
            }
        }
    }
    out
}

impl SummaryReader {
    fn set_heading(&mut self, number: usize, first: &str, second: &str) {
        let lines = number..=number + usize::from(!second.is_empty());
        // Old versions have narrower second lines; the names of the first suffice.
        let parsed = SummaryHeading::parse(first, second);
        match &parsed {
            Some(heading) => {
                let unused = heading.name_columns(is_unused);
                if !unused.is_empty() && self.heading.as_ref() != Some(heading) {
                    let why = "assay has no figure for them";
                    self.contents.leave_out(Some(lines), format!("columns {unused}"), why);
                }
            }
            None => {
                let why = "its columns are unknown";
                self.contents.leave_out(Some(lines), "table of Vdbench", why);
            }
        }
        self.heading = parsed;
    }

    fn read_line(&mut self, number: usize, line: &str) -> Result<(), ToolError> {
        if let Some((clock, rest)) = line.split_once("Starting RD=") {
            self.end_run(number - 1);
            self.run = start_run(number, clock.trim(), rest);
            let what = format!("start of run {:?}", self.run.name);
            self.contents.recognise(number..=number, what, "name, loops, requested rate, time");
        } else if let Some(version) = line.strip_prefix("Vdbench distribution: vdbench") {
            self.version = version.split_whitespace().next().map(format_version);
            self.contents.recognise(number..=number, "version", "version of the tool");
        } else if is_error(line) {
            let what = line.to_owned();
            let error = match line.contains("Data Validation") {
                true => ToolError::CheckFailed { verdict: what },
                false => ToolError::SystemError { what, number: None },
            };
            self.run.error.get_or_insert(error);
        } else {
            self.read_row(number, line)?;
        }
        Ok(())
    }

    /// Reads a row of an interval, or of the averages.
    fn read_row(&mut self, number: usize, line: &str) -> Result<(), ToolError> {
        let mut words = line.split_whitespace();
        let is_time = |word: &str| word.len() >= 8 && word.matches(':').count() == 2;
        let Some(interval) = words.next().filter(|word| is_time(word)).and(words.next()) else {
            return Ok(());
        };
        let is_row = interval.starts_with("avg_")
            || (interval.parse::<u64>().is_ok() && words.clone().count() > 2);
        let Some(heading) = self.heading.as_ref().filter(|_| is_row) else { return Ok(()) };
        let cells: Vec<&str> = words.collect();
        let figures = parse_figures(heading, &cells);
        if let Ok(count) = interval.parse::<u64>() {
            match figures {
                Ok(row) => self.run.rows.push(RowFigures { number: count, ..row }),
                Err(error) => {
                    self.run.error.get_or_insert(error);
                }
            }
            return check_limit(self.run.rows.len(), ("intervals of a run", MAX_ROWS));
        }
        let what = format!("run {:?}", self.run.name);
        let lines = Some(self.run.first_line.max(1)..=number);
        match figures.and_then(|row| self.finish_run(interval, row, &cells)) {
            Ok(found) if found.is_empty() => {
                let why = if is_format(&self.run.name) {
                    "it prepares files for the runs behind it"
                } else {
                    "no I/O was counted in it"
                };
                self.contents.leave_out(lines, what, why);
            }
            Ok(found) => {
                for one in found {
                    self.contents.add_part(lines.clone(), &what, Ok(one));
                }
            }
            Err(error) => self.contents.add_part(lines, what, Err(error)),
        }
        self.run.rows.clear();
        self.run.is_done = true;
        check_limit(self.contents.measurements.len(), ("runs", MAX_MEASUREMENTS))
    }

    /// Records a run without its averages.
    fn end_run(&mut self, last_line: usize) {
        let run = std::mem::take(&mut self.run);
        if run.name.is_empty() || run.is_done {
            return;
        }
        let lines = Some(run.first_line..=last_line.max(run.first_line));
        let missing = format!("the averages (avg_…) of run {:?} are missing", run.name);
        let error = run.error.unwrap_or(ToolError::Truncated { missing });
        self.contents.add_part(lines, format!("run {:?}", run.name), Err(error));
    }

    /// Makes the measurements of a run from its intervals and averages.
    fn finish_run(
        &mut self,
        interval: &str,
        average: RowFigures,
        cells: &[&str],
    ) -> Result<Vec<ImportedMeasurement>, ToolError> {
        if let Some(error) = self.run.error.take() {
            return Err(error);
        }
        if is_format(&self.run.name) {
            return Ok(Vec::new());
        }
        let range = interval.trim_start_matches("avg_").split_once('-');
        let bounds = range.and_then(|(first, last)| first.parse().ok().zip(last.parse().ok()));
        let (first, last): (u64, u64) = bounds.ok_or_else(|| missing("range of intervals"))?;
        let heading = self.heading.as_ref().ok_or_else(|| missing("heading"))?;
        let rows = std::mem::take(&mut self.run.rows);
        let rows: Vec<RowFigures> =
            rows.into_iter().filter(|row| (first..=last).contains(&row.number)).collect();
        let mut found = Vec::new();
        let has_io = |row: &RowFigures| row.interval.rate_per_s > 0.0 && row.bytes > 0.0;
        if has_io(&average) || rows.iter().any(has_io) {
            let parsed = run_samples(&rows, &average, heading, cells);
            let dimensions = figure_dimensions(&rows, &average);
            found.push(self.make_measurement(Benchmark::Storage, dimensions, parsed));
        }
        if heading.is_file_system {
            for (operation, parsed) in operation_samples(heading, cells)? {
                let dimensions = Attributes::from([(Attribute::Operation, operation.into())]);
                found.push(self.make_measurement(Benchmark::StorageFiles, dimensions, parsed));
            }
        }
        Ok(found)
    }

    fn make_measurement(
        &self,
        benchmark: Benchmark,
        mut dimensions: Attributes,
        parsed: ParsedOutput,
    ) -> ImportedMeasurement {
        let run = &self.run;
        let name = if run.name.is_empty() { "run" } else { run.name.as_str() };
        if !run.name.is_empty() {
            dimensions.insert(Attribute::Phase, name.into());
        }
        let loops = run.loops.as_deref().map(|loops| (Attribute::Loops, loops.into()));
        dimensions.extend(loops);
        dimensions.extend(run.requested_rate.map(|it| (Attribute::RequestedRate, it.into())));
        let date = self.heading.as_ref().map_or("", |heading| heading.date.as_str());
        let mut made = ImportedMeasurement::new(name, benchmark, dimensions, parsed);
        made.parsed.version.clone_from(&self.version);
        made.began = FileTime::parse_ctime(&format!("{date} {}", run.clock));
        made
    }
}

/// Parses the rest of `Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: threads=8.0`.
fn start_run(first_line: usize, clock: &str, rest: &str) -> SummaryRun {
    let end = rest.find([';', ' ', ',']).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let loops = rest.split_once("For loops:").map_or("", |(_, loops)| loops).trim();
    let loops = loops.split_whitespace().map(|pair| match pair.strip_suffix(".0") {
        Some(whole) if pair.contains('=') => whole,
        _ => pair,
    });
    let loops = loops.collect::<Vec<_>>().join(" ");
    let rate = ["I/O rate:", "I/O Rate:", "fwdrate="].iter().find_map(|name| {
        let value = rest.split_once(name)?.1.trim_start();
        let end = value.find([';', ' ', ',']).unwrap_or(value.len());
        value.get(..end)?.trim_end_matches('.').parse::<f64>().ok()
    });
    SummaryRun {
        name: name.to_owned(),
        loops: Some(loops).filter(|loops| !loops.is_empty() && loops != "None"),
        requested_rate: rate.filter(|rate| rate.is_finite() && *rate > 0.0),
        clock: clock.split_whitespace().next_back().unwrap_or_default().to_owned(),
        first_line,
        ..SummaryRun::default()
    }
}

/// Whether Vdbench itself made the run, to prepare files.
fn is_format(name: &str) -> bool {
    name.starts_with("SD_format") || name.starts_with("format_for")
}

/// Whether a line reports that a run failed.
fn is_error(line: &str) -> bool {
    let marks = ["RuntimeException", "Data Validation error", "I/O error", "Vdbench aborting"];
    marks.iter().any(|mark| line.contains(mark)) && !line.contains("interval")
}

/// Formats a version: `50407` → `5.04.07`.
fn format_version(digits: &str) -> String {
    match (digits.get(..1), digits.get(1..3), digits.get(3..)) {
        (Some(major), Some(minor), Some(rest)) if digits.len() >= 5 => {
            format!("{major}.{minor}.{rest}")
        }
        _ => digits.to_owned(),
    }
}

/// Names of the columns that are read, for block runs and for file systems.
const FIGURES: [[(&str, &str); 2]; 5] = [
    [("i/o", "rate"), ("ReqstdOps", "rate")],
    [("MB/sec", "1024**2"), ("mb/sec", "total")],
    [("resp", "time"), ("ReqstdOps", "resp")],
    [("bytes", "i/o"), ("xfer", "size")],
    [("read", "pct"), ("read", "pct")],
];

/// Whether a column is left out.
fn is_unused(group: &str, name: &str) -> bool {
    group.starts_with("cpu") || name == "stddev" || (group == "mb/sec" && name != "total")
}

fn parse_figures(heading: &SummaryHeading, cells: &[&str]) -> Result<RowFigures, ToolError> {
    if cells.len() != heading.len() {
        let missing = format!("a row has {} of {} cells", cells.len(), heading.len());
        return Err(ToolError::Truncated { missing });
    }
    let mut values = [0.0; FIGURES.len()];
    for (value, names) in values.iter_mut().zip(FIGURES) {
        let (group, name) = names[usize::from(heading.is_file_system)];
        let at = heading.position(group, name);
        let at = at.ok_or_else(|| missing(&format!("column {group} {name}")))?;
        *value = parse_non_negative(&format!("{group} {name}"), cells[at])?;
    }
    let [rate_per_s, mib_per_s, mean_ms, bytes, read_percent] = values;
    let interval = VdbenchInterval {
        interval_count: 1.0,
        rate_per_s,
        bytes_per_s: mib_per_s * MIB,
        mean_s: mean_ms / 1e3,
    };
    Ok(RowFigures { number: 0, interval, bytes, read_percent })
}

/// Converts a run to samples: its counted intervals, or its averages where no interval is printed.
fn run_samples(
    rows: &[RowFigures],
    average: &RowFigures,
    heading: &SummaryHeading,
    cells: &[&str],
) -> ParsedOutput {
    let intervals: Vec<VdbenchInterval> = rows.iter().map(|row| row.interval).collect();
    let stretches = FlatFile { intervals }.merged_intervals();
    let is_average = stretches.is_empty();
    let stretches = if is_average { vec![average.interval] } else { stretches };
    let mut parsed = vdbench_samples(&stretches);
    if is_average {
        parsed.set_metric_attribute("rate", Attribute::Statistic, "mean");
        parsed.set_metric_attribute("bandwidth", Attribute::Statistic, "mean");
    }
    let cell = |group: &str, name: &str| {
        let at = heading.position(group, name)?;
        cells.get(at)?.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
    };
    let maxima = [("resp", "max"), ("read", "max"), ("write", "max")];
    let max = maxima.iter().filter_map(|(group, name)| cell(group, name)).reduce(f64::max);
    let max = max.filter(|max| *max > 0.0).map(|max| max / 1e3);
    let mean = Some(average.interval.mean_s).filter(|mean| *mean > 0.0);
    parsed.set_figures("latency", ToolFigures { mean, max, ..ToolFigures::default() });
    if let Some(depth) = cell("queue", "depth") {
        parsed.set_attribute(Attribute::InFlight, depth);
    }
    let is_mix = average.read_percent > 0.0 && average.read_percent < 100.0;
    if is_mix && let (Some(reads), Some(writes)) = (cell("read", "rate"), cell("write", "rate"))
    {
        parsed.set_attribute(Attribute::ReadRate, reads);
        parsed.set_attribute(Attribute::WriteRate, writes);
    }
    parsed
}

/// Derives dimensions from the figures: a size only where every interval has the same.
fn figure_dimensions(rows: &[RowFigures], average: &RowFigures) -> Attributes {
    let percent = average.read_percent;
    let mut dimensions =
        Attributes::from([(Attribute::Operation, operation_name(percent).into())]);
    dimensions.extend(share_dimension(percent));
    let mut sizes = rows.iter().map(|row| row.bytes).filter(|bytes| *bytes > 0.0);
    let first = sizes.next().unwrap_or(average.bytes);
    if first > 0.0 && sizes.all(|bytes| bytes.to_bits() == first.to_bits()) {
        dimensions.insert(Attribute::Bytes, (first as u64).into());
    }
    dimensions
}

/// Names of file operations in Vdbench's heading and in assay.
const OPERATIONS: [(&str, &str); 4] =
    [("create", "create"), ("delete", "delete"), ("getattr", "stat"), ("ReqstdOps", "")];

/// Converts the averages of each file operation that ran.
fn operation_samples(
    heading: &SummaryHeading,
    cells: &[&str],
) -> Result<Vec<(String, ParsedOutput)>, ToolError> {
    let mut found = Vec::new();
    for group in heading.operations() {
        let known = OPERATIONS.iter().find(|(word, _)| *word == group);
        let operation = known.map_or(group, |(_, operation)| *operation);
        // Reads and writes are part of the requested operations.
        if operation.is_empty() || group == "read" || group == "write" {
            continue;
        }
        let cell = |name: &str| {
            let at = heading.position(group, name);
            let text = at.and_then(|at| cells.get(at)).ok_or_else(|| missing(group))?;
            parse_non_negative(&format!("{group} {name}"), text)
        };
        let (rate, response_ms) = (cell("rate")?, cell("resp")?);
        if rate <= 0.0 {
            continue;
        }
        let mut parsed = ParsedOutput::default();
        parsed.add_samples("rate", vec![rate]);
        parsed.set_metric_attribute("rate", Attribute::Statistic, "mean");
        if response_ms > 0.0 {
            parsed.add_samples("latency", vec![response_ms / 1e3]);
            parsed.set_metric_attribute("latency", Attribute::Statistic, "mean");
        }
        found.push((operation.to_owned(), parsed));
    }
    Ok(found)
}
