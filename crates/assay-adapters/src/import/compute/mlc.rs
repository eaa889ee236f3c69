//! Import of Intel Memory Latency Checker's tables. Latencies are ns, bandwidths 10⁶ B/s, as it
//! prints: `1 MB/sec = 1,000,000 Bytes/sec`.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;

use super::super::{FileContents, ImportedMeasurement, check_limit, word_after};
use crate::limits::{MAX_MEASUREMENTS, MAX_SERIES};
use crate::outputs::{ParsedOutput, ToolError, parse_positive};

pub(super) fn is_mlc(text: &str) -> bool {
    text.lines().any(|line| line.contains("Memory Latency Checker"))
}

/// Facts above the tables of a run.
#[derive(Debug, Default)]
struct MlcHead {
    version: Option<String>,
    /// Parameters of the command line other than the tests.
    parameters: String,
    /// Whether latencies are of random accesses because prefetchers could not be switched off.
    is_random: bool,
    /// Size of the buffer: `2000.000MiB`.
    buffer: Option<String>,
}

/// Maximum number of bytes of the parameters of a command line.
const MAX_PARAMETERS: usize = 256;
/// Parameters that select tests.
const SELECTIONS: [&str; 7] = [
    "--latency_matrix",
    "--bandwidth_matrix",
    "--peak_injection_bandwidth",
    "--max_bandwidth",
    "--idle_latency",
    "--loaded_latency",
    "--c2c_latency",
];

/// Section of the output while its lines are read.
#[derive(Debug, Default)]
struct MlcSection {
    title: String,
    first_line: usize,
    last_line: usize,
    columns: Vec<String>,
    label: Option<String>,
    parsed: ParsedOutput,
    error: Option<ToolError>,
}

pub(super) fn read_mlc(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut head = MlcHead::default();
    let mut section: Option<MlcSection> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.contains("Memory Latency Checker") {
            finish_section(section.take(), &head, &mut contents)?;
            let version = word_after(line, "- v").map(str::to_owned);
            head = MlcHead { version, ..MlcHead::default() };
            contents.recognise(number..=number, line, "version");
        } else if read_head(&mut head, number, line, &mut contents) {
            continue;
        } else if line.starts_with("Measuring ") || line.starts_with("Each iteration took ") {
            finish_section(section.take(), &head, &mut contents)?;
            section = Some(begin_section(&head, number, line));
        } else if let Some(current) = &mut section {
            current.last_line = if line.is_empty() { current.last_line } else { number };
            check_limit(current.parsed.values.len(), ("figures of a table", MAX_SERIES))?;
            if let Err(error) = read_line(current, line) {
                current.error.get_or_insert(error);
            }
        }
    }
    finish_section(section, &head, &mut contents)?;
    Ok(contents)
}

/// Reads a line above the tables; `false` if it is none.
fn read_head(
    head: &mut MlcHead,
    number: usize,
    line: &str,
    contents: &mut FileContents,
) -> bool {
    if let Some(parameters) = line.strip_prefix("Command line parameters:") {
        let others = parameters.split_whitespace().filter(|it| !SELECTIONS.contains(it));
        head.parameters = others.collect::<Vec<_>>().join(" ");
    } else if line.contains("enabling random access for latency") {
        head.is_random = true;
    } else if let Some(size) = line.strip_prefix("Using buffer size of ") {
        head.buffer = Some(size.to_owned());
    } else {
        return false;
    }
    contents.recognise(number..=number, line, "condition");
    true
}

/// Begins a table, or reads the one line of `--idle_latency`:
/// `Each iteration took 186.1 core clocks ( 80.9    ns)`.
fn begin_section(head: &MlcHead, number: usize, line: &str) -> MlcSection {
    let mut section =
        MlcSection { first_line: number, last_line: number, ..MlcSection::default() };
    let title = line.trim_start_matches("Measuring ").trim_end_matches('.').trim();
    title.split(" (in ns)").next().unwrap_or(title).clone_into(&mut section.title);
    if line.starts_with("Each iteration took ") {
        "idle latency".clone_into(&mut section.title);
        let figure = line.rsplit_once('(').and_then(|(_, it)| it.split_once("ns)"));
        let mut own = Attributes::new();
        let size = head.buffer.as_ref().and_then(|size| size.strip_suffix(".000MiB"));
        let bytes = size.and_then(|size| size.parse::<u64>().ok()?.checked_mul(1 << 20));
        own.extend(bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
        match parse_positive("latency", figure.map_or("", |(it, _)| it)) {
            Ok(ns) => section.parsed.add_series("time", own, vec![ns * 1e-9]),
            Err(error) => section.error = Some(error),
        }
    }
    section
}

fn read_line(section: &mut MlcSection, line: &str) -> Result<(), ToolError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number =
        |word: &&str| word.starts_with(|it: char| it.is_ascii_digit()) || *word == "-";
    let numbers = words.iter().rev().take_while(|word| is_number(word)).count();
    let label = words[..words.len() - numbers].join(" ");
    if label.ends_with("uma node") || label.ends_with("uma Node") {
        section.columns =
            words[words.len() - numbers..].iter().map(|it| (*it).to_owned()).collect();
        return Ok(());
    }
    if section.title.starts_with("Loaded Latencies") {
        return read_loaded(section, &words, numbers);
    }
    if !label.is_empty() && numbers == 0 {
        section.label = line.contains("latency").then(|| label.clone());
        return Ok(());
    }
    if numbers == 0 {
        return Ok(());
    }
    if label.is_empty() && !section.columns.is_empty() {
        return read_matrix_row(section, &words);
    }
    if numbers == 1 {
        let name = label.trim_end_matches([' ', ':']);
        return add_figure(section, (Attribute::Operation, name), words.last().unwrap_or(&""));
    }
    Ok(())
}

fn read_matrix_row(section: &mut MlcSection, words: &[&str]) -> Result<(), ToolError> {
    if words.len() != section.columns.len() + 1 {
        let missing =
            format!("a row has {} of {} columns", words.len(), section.columns.len() + 1);
        return Err(ToolError::Truncated { missing });
    }
    for (column, cell) in section.columns.clone().iter().zip(&words[1..]) {
        if *cell == "-" {
            continue;
        }
        let place = format!("node {} to {column}", words[0]);
        add_figure(section, (Attribute::Source, &place), cell)?;
    }
    Ok(())
}

/// Reads a row of loaded latency: delay, latency in ns, bandwidth in MB/s.
fn read_loaded(
    section: &mut MlcSection,
    words: &[&str],
    numbers: usize,
) -> Result<(), ToolError> {
    let ([delay, latency, bandwidth], 3) = (words, numbers) else { return Ok(()) };
    let own = Attributes::from([(Attribute::Loops, format!("delay {delay}").into())]);
    let latency_s = parse_positive("latency", latency)? * 1e-9;
    let bandwidth = parse_positive("bandwidth", bandwidth)? * 1e6;
    section.parsed.add_series("time", own.clone(), vec![latency_s]);
    section.parsed.add_series("bandwidth", own, vec![bandwidth]);
    Ok(())
}

fn add_figure(
    section: &mut MlcSection,
    (attribute, name): (Attribute, &str),
    text: &str,
) -> Result<(), ToolError> {
    let is_bandwidth = section.title.contains("andwidth");
    let (metric, factor) = if is_bandwidth { ("bandwidth", 1e6) } else { ("time", 1e-9) };
    let value = parse_positive(metric, text)? * factor;
    let mut own = Attributes::from([(attribute, name.into())]);
    if let Some(label) = &section.label {
        own.insert(Attribute::Loops, label.as_str().into());
    }
    section.parsed.add_series(metric, own, vec![value]);
    Ok(())
}

fn finish_section(
    section: Option<MlcSection>,
    head: &MlcHead,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    let Some(section) = section else { return Ok(()) };
    check_limit(contents.measurements.len() + 1, ("tables", MAX_MEASUREMENTS))?;
    // Every row repeats them.
    check_limit(head.parameters.len(), ("bytes of command line parameters", MAX_PARAMETERS))?;
    let lines = section.first_line..=section.last_line;
    let test = format!("MLC {}", section.title);
    let part = match section.error {
        Some(error) => Err(error),
        None if section.parsed.values.is_empty() => {
            let missing = format!("no figure below {:?}", section.title);
            Err(ToolError::Truncated { missing })
        }
        None => {
            let mut dimensions = Attributes::from([(Attribute::Test, test.as_str().into())]);
            let has_latency = section.title.to_lowercase().contains("latenc");
            let is_random = head.is_random && has_latency && !test.contains("random access");
            let settings = [head.parameters.as_str(), "random access"];
            let is_given = [!head.parameters.is_empty(), is_random];
            let settings = settings.iter().zip(is_given).filter(|(_, is_given)| *is_given);
            let settings: Vec<&str> = settings.map(|(setting, _)| *setting).collect();
            let mut parsed = ParsedOutput { version: head.version.clone(), ..section.parsed };
            if !settings.is_empty() {
                let settings = settings.join(", ");
                // A row's own condition stands in the place of the table's.
                for own in parsed.values.iter_mut().map(|it| &mut it.own_dimensions) {
                    if let Some(row) = own.get(&Attribute::Loops).and_then(|it| it.as_text()) {
                        let both = format!("{settings}, {row}");
                        own.insert(Attribute::Loops, both.into());
                    }
                }
                dimensions.insert(Attribute::Loops, settings.into());
            }
            Ok(ImportedMeasurement::new(test.clone(), Benchmark::Foreign, dimensions, parsed))
        }
    };
    contents.add_part(Some(lines), test, part);
    Ok(())
}
