//! elbencho's table for people, on the console and in `--resfile`, of versions 1.0 to 3.1.

use assay_model::event::ToolFigures;

use super::super::super::{FileContents, FileTime, MAX_NAME_BYTES, check_limit};
use super::{MEBI, Phase, PhaseConditions, PhaseFigures, RefinedRate, TIME_DIGIT_S, add_phase};
use crate::outputs::{ToolError, parse_non_negative, parse_whole};

pub(in super::super) fn is_console(text: &str) -> bool {
    text.lines().any(is_heading)
}

fn is_heading(line: &str) -> bool {
    let labels = ["OPERATION", "RESULT TYPE", "FIRST DONE", "LAST DONE"];
    labels.iter().all(|label| line.contains(label))
}

/// Phase while its rows are read.
#[derive(Debug, Default)]
struct OpenPhase {
    phase: Phase,
    first_line: usize,
    last_line: usize,
    /// Time of the phase in seconds, and its last digit.
    time: Option<(f64, f64)>,
    main: PrintedFigures,
    mix_reads: PrintedFigures,
    error: Option<ToolError>,
}

/// Printed figures of one direction.
#[derive(Debug, Default)]
struct PrintedFigures {
    io_rate: Option<f64>,
    ios: Option<f64>,
    /// Printed bandwidth, and the bytes of its unit.
    bandwidth: Option<(f64, f64)>,
    mebibytes: Option<f64>,
    entry_rate: Option<f64>,
    entries: Option<u64>,
    io_latency: ToolFigures,
    entry_latency: ToolFigures,
}

/// Facts above a table, for its phases.
#[derive(Debug, Default, Clone)]
struct TableHead {
    began: Option<FileTime>,
    label: Option<String>,
    conditions: PhaseConditions,
}

/// Reader of a file.
#[derive(Debug, Default)]
struct ConsoleReader {
    contents: FileContents,
    head: TableHead,
    open: Option<OpenPhase>,
    /// Whether a phase of the file ended with a line `---`.
    ends_with_rule: bool,
}

/// Reads each phase of each table.
pub(in super::super) fn read_console(text: &str) -> Result<FileContents, ToolError> {
    let mut reader = ConsoleReader::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if !reader.read_head(number, line)? {
            reader.read_row(number, line)?;
        }
    }
    if let (true, Some(open)) = (reader.ends_with_rule, &mut reader.open) {
        let missing = "the line `---` behind the phase is missing".to_owned();
        open.error = open.error.take().or(Some(ToolError::Truncated { missing }));
    }
    reader.finish_phase()?;
    Ok(reader.contents)
}

impl ConsoleReader {
    /// Reads a line around the rows; `false` if it may be a row.
    fn read_head(&mut self, number: usize, line: &str) -> Result<bool, ToolError> {
        let lines = number..=number;
        let time = ["ISO DATE:", "ISO DATE start:"].iter().find_map(|it| line.strip_prefix(it));
        if let Some(time) = time {
            self.finish_phase()?;
            let began = FileTime::parse_iso(time);
            self.head = TableHead { began, ..TableHead::default() };
            self.contents.recognise(lines, line, "time");
        } else if let Some(label) = line.strip_prefix("LABEL:") {
            check_limit(label.len(), ("bytes in a label", MAX_NAME_BYTES))?;
            self.head.label = Some(label.trim().to_owned());
            self.contents.recognise(lines, line, "label");
        } else if let Some(command) = line.strip_prefix("COMMAND LINE:") {
            self.head.conditions = parse_command(command);
            self.contents.recognise(lines, "COMMAND LINE", "conditions");
        } else if is_heading(line) {
            self.finish_phase()?;
            let why = "figures of the time until the fastest thread was done";
            self.contents.leave_out(Some(lines), "column FIRST DONE", why);
        } else if line.starts_with("ISO Date,Label,Phase,") {
            let why = "intervals of a phase, which its result contains";
            self.contents.leave_out(Some(lines), "live statistics", why);
        } else if line.starts_with("ERROR:") || line.contains(" ERROR: ") {
            let error = ToolError::SystemError { what: line.to_owned(), number: None };
            self.contents.add_part(Some(lines), "elbencho", Err(error));
        } else if line.starts_with("ISO DATE end") || line == "---" {
            self.ends_with_rule |= line == "---";
            self.finish_phase()?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads a row: name of the phase in its first row, label, `:`, figures.
    fn read_row(&mut self, number: usize, line: &str) -> Result<(), ToolError> {
        let Some((label, figures)) = line.split_once(':') else { return Ok(()) };
        let label = label.trim();
        let elapsed = ["Elapsed time", "Elapsed ms"].iter().find(|it| label.ends_with(*it));
        if let Some(elapsed) = elapsed {
            self.finish_phase()?;
            let name = label.trim_end_matches(elapsed).trim();
            self.begin_phase(number, name, (elapsed, figures));
            return Ok(());
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        match read_figure(open, label, figures.trim()) {
            Ok(None) => open.last_line = number,
            Ok(Some(why)) => {
                open.last_line = number;
                self.contents.leave_out(Some(number..=number), format!("row {label:?}"), why);
            }
            Err(error) => open.error = open.error.take().or(Some(error)),
        }
        Ok(())
    }

    fn begin_phase(&mut self, number: usize, name: &str, (unit, figures): (&str, &str)) {
        let TableHead { began, label, conditions } = self.head.clone();
        let name = name.to_owned();
        let phase = Phase { name, began, label, conditions, ..Phase::default() };
        let time = last_word(figures).and_then(|text| parse_elapsed(text, unit));
        let (time, error) = match time {
            Ok(time) => (Some(time), None),
            Err(error) => (None, Some(error)),
        };
        let (first_line, last_line) = (number, number);
        let open =
            OpenPhase { phase, first_line, last_line, time, error, ..OpenPhase::default() };
        self.open = Some(open);
    }

    fn finish_phase(&mut self) -> Result<(), ToolError> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let lines = open.first_line..=open.last_line;
        let figures = match open.error.take() {
            Some(error) => Err(error),
            None => convert_figures(open.main, open.time)
                .and_then(|main| Ok((main, convert_figures(open.mix_reads, open.time)?))),
        };
        match figures {
            Ok((main, mix_reads)) => {
                (open.phase.main, open.phase.mix_reads) = (main, mix_reads);
                add_phase(&open.phase, lines, &mut self.contents)
            }
            Err(error) => {
                let what = format!("phase {:?}", open.phase.name);
                self.contents.add_part(Some(lines), what, Err(error));
                Ok(())
            }
        }
    }
}

/// Converts the printed figures to base units, with the digits that totals and time add.
fn convert_figures(
    printed: PrintedFigures,
    time: Option<(f64, f64)>,
) -> Result<PhaseFigures, ToolError> {
    let io_rate = printed.io_rate.map(|rate| RefinedRate::refine(rate, printed.ios, time));
    let bandwidth = printed.bandwidth.map(|(rate, unit)| {
        // Totals are in MiB, whatever the unit of the rate.
        let total = printed.mebibytes.filter(|_| (unit - MEBI).abs() < 1.0);
        RefinedRate::refine(rate, total, time).map(|rate| rate.scale(unit))
    });
    let entries = printed.entries.map(|entries| entries as f64);
    let entry_rate = printed.entry_rate.map(|rate| RefinedRate::refine(rate, entries, time));
    Ok(PhaseFigures {
        io_rate: io_rate.transpose()?,
        bandwidth: bandwidth.transpose()?,
        io_latency: printed.io_latency,
        entry_rate: entry_rate.transpose()?,
        entries: printed.entries,
        entry_latency: printed.entry_latency,
    })
}

/// Reads a row into the open phase. Returns the reason if it is left out.
fn read_figure(
    open: &mut OpenPhase,
    label: &str,
    text: &str,
) -> Result<Option<&'static str>, ToolError> {
    if let Some(kind) = label.strip_suffix(" latency") {
        let (figures, kind) = select_direction(open, kind);
        let latency = select_latency(figures, kind);
        return read_latency(latency, text).map(|()| None);
    }
    if let Some(kind) = label.strip_suffix(" lat % us") {
        let (figures, kind) = select_direction(open, kind);
        return read_percentiles(select_latency(figures, kind), text).map(|()| None);
    }
    if label.ends_with(" lat hist") {
        return Ok(Some("percentiles and the mean describe the histogram"));
    }
    let derived = ["IOPS total", "MiB/s total", "MB/s total"];
    if derived.contains(&label) || (label.ends_with("/s total") || label.starts_with("Dirs/s "))
    {
        return Ok(Some("it is derived from other rows"));
    }
    let (figures, name) = select_direction(open, label);
    let last = last_word(text);
    match name {
        "IOPS" => figures.io_rate = Some(parse_non_negative(label, last?)?),
        "IOs" => figures.ios = Some(parse_non_negative(label, last?)?),
        "MiB/s" => figures.bandwidth = Some((parse_non_negative(label, last?)?, MEBI)),
        "MB/s" => figures.bandwidth = Some((parse_non_negative(label, last?)?, 1e6)),
        "MiB" => figures.mebibytes = Some(parse_non_negative(label, last?)?),
        name if name.ends_with("/s") && figures.entry_rate.is_none() => {
            figures.entry_rate = Some(parse_non_negative(label, last?)?);
        }
        "Files" | "Dirs" | "Objects" | "Buckets" if figures.entries.is_none() => {
            figures.entries = Some(parse_whole(label, last?)?);
        }
        _ => return Ok(Some("assay has no figure for it")),
    }
    Ok(None)
}

/// Returns the direction of a row, and its label without it: `IOPS read`, `Read MiB`, `Total MiB`,
/// `Files wr`.
fn select_direction<'o, 't>(
    open: &'o mut OpenPhase,
    label: &'t str,
) -> (&'o mut PrintedFigures, &'t str) {
    let reads = [" read", " rd"].iter().find_map(|it| label.strip_suffix(it));
    if let Some(name) = reads.or_else(|| label.strip_prefix("Read ")) {
        return (&mut open.mix_reads, name);
    }
    let others = [" write", " wr", " total"].iter().find_map(|it| label.strip_suffix(it));
    let starts = ["Throughput ", "Total "];
    let others = others.or_else(|| starts.iter().find_map(|it| label.strip_prefix(it)));
    (&mut open.main, others.unwrap_or(label))
}

fn select_latency<'f>(figures: &'f mut PrintedFigures, kind: &str) -> &'f mut ToolFigures {
    match kind {
        "IO" => &mut figures.io_latency,
        _ => &mut figures.entry_latency,
    }
}

/// Returns the column LAST DONE.
fn last_word(text: &str) -> Result<&str, ToolError> {
    let mut words = text.split_whitespace();
    let last = words.next().and(words.next());
    last.filter(|_| words.next().is_none()).ok_or_else(|| ToolError::Truncated {
        missing: format!("the row {:?} has not two columns", text.trim()),
    })
}

/// Parses `[ min=108us avg=469us max=14.5ms ]`.
fn read_latency(figures: &mut ToolFigures, text: &str) -> Result<(), ToolError> {
    for (name, value) in text.split_whitespace().filter_map(|word| word.split_once('=')) {
        let seconds = parse_latency(value)?;
        match name {
            "min" => figures.min = Some(seconds),
            "avg" => figures.mean = Some(seconds),
            "max" => figures.max = Some(seconds),
            _ => {}
        }
    }
    Ok(())
}

/// Parses a latency of `UnitTk::latencyUsToHumanStr`: `108us`, `14.5ms`, `1.20s`.
fn parse_latency(text: &str) -> Result<f64, ToolError> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let found =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (digits, factor) = found.unwrap_or((text, &1e-6));
    Ok(parse_non_negative("latency", digits)? * factor)
}

/// Parses `[ 1%<=215 50%<=512 99.9%<=1024 ]`, microseconds.
fn read_percentiles(figures: &mut ToolFigures, text: &str) -> Result<(), ToolError> {
    for (name, value) in text.split_whitespace().filter_map(|word| word.split_once("%<=")) {
        let seconds = parse_non_negative("percentile", value)? * 1e-6;
        parse_non_negative("percentile", name)?;
        figures.percentiles.insert(format!("p{name}"), seconds);
    }
    Ok(())
}

/// Parses a time of `UnitTk::elapsedMSToHumanStr` or in milliseconds, with its last digit in
/// seconds: `586ms`, `30.196s`, `2m5.755s`, `1h2m3s`.
fn parse_elapsed(text: &str, unit: &str) -> Result<(f64, f64), ToolError> {
    let invalid =
        || ToolError::InvalidNumber { what: "elapsed time".to_owned(), text: text.to_owned() };
    let milliseconds = match unit {
        "Elapsed ms" => Some(text),
        _ => text.strip_suffix("ms"),
    };
    if let Some(digits) = milliseconds {
        return Ok((parse_non_negative("elapsed time", digits)? * TIME_DIGIT_S, TIME_DIGIT_S));
    }
    let (mut rest, mut total_s) = (text.strip_suffix('s').ok_or_else(invalid)?, 0.0);
    for (mark, factor_s) in [('h', 3600.0), ('m', 60.0)] {
        if let Some((count, behind)) = rest.split_once(mark) {
            total_s += parse_whole("elapsed time", count)? as f64 * factor_s;
            rest = behind;
        }
    }
    total_s += parse_non_negative("elapsed time", rest)?;
    let digit_s = if rest.contains('.') { TIME_DIGIT_S } else { 1.0 };
    Ok((total_s, digit_s))
}

/// Returns the conditions of a command line whose words are quoted. Options of a file (`-c`) and
/// threads of several hosts are not in it.
fn parse_command(line: &str) -> PhaseConditions {
    let words: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    let value = |long: &str, short: &str| find_option(&words, long, short);
    let is_given = |name: &str| words.contains(&name);
    let has_file = value("--configfile", "-c").is_some();
    let has_hosts = value("--hosts", "").is_some() || value("--hostsfile", "").is_some();
    let has_order = ["--backward", "--strided", "--rand"].iter().any(|it| is_given(it));
    let threads = value("--threads", "-t").and_then(|text| text.parse().ok());
    PhaseConditions {
        bytes: value("--block", "-b").and_then(parse_size),
        file_bytes: value("--size", "-s").and_then(parse_size),
        threads: threads.filter(|_| !has_hosts),
        depth: value("--iodepth", "").and_then(|text| text.parse().ok()),
        is_random: match has_order {
            true => is_given("--rand").then_some(true),
            false => (!has_file).then_some(false),
        },
        uses_page_cache: (!has_file).then(|| !is_given("--direct")),
    }
}

/// Returns the value of an option: `--block 4k`, `--block=4k`, `-b 4k` or `-b4k`.
fn find_option<'t>(words: &[&'t str], long: &str, short: &str) -> Option<&'t str> {
    let position = |(at, word): (usize, &&'t str)| {
        let word: &'t str = word;
        if word == long || word == short {
            return words.get(at + 1).copied();
        }
        let value = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
        value.or_else(|| if short.is_empty() { None } else { word.strip_prefix(short) })
    };
    words.iter().enumerate().find_map(position)
}

/// Parses a size of elbencho, whose prefixes are binary: `4k`, `1M`, `16g`, `4KiB`.
fn parse_size(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.to_ascii_lowercase();
    let power = match unit.trim_end_matches("ib") {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << (10 * power)).filter(|bytes| *bytes > 0)
}
