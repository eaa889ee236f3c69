//! Files of results that people have: which tool wrote one is seen from its content, and what it measured
//! is read by the same readers as when assay starts the tool.
//!
//! Units come from what each tool does, as everywhere here. What a file does not tell is not guessed: a
//! dimension that it is silent about is missing, and only the user can add it.

use assay_model::attribute::Attributes;
use assay_model::benchmark::Benchmark;
use assay_model::workload::Workload;
use thiserror::Error;

use crate::invocation::Invocation;
use crate::outputs::{Outputs, Parsed, ToolError, is_measurable};
use crate::tool;

mod collections;
mod compute;
mod fio_text;
mod iperf3_text;
mod mpi;
mod network;
mod perftest;
mod storage;
mod vdbench;

/// The largest file that is read. The raw output of a large fio run with logs inside is some megabytes.
pub const MOST_BYTES: u64 = 64 << 20;
/// The most measurements that one file may hold.
const MOST_FOUND: usize = 20_000;

/// One format of results.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The stored name: `fio-json`.
    pub name: &'static str,
    /// The tool that writes it, as in `--by`.
    pub tool: &'static str,
    /// What it is, for help.
    pub about: &'static str,
    /// Whether a text is of this format, by what only this tool writes.
    is: fn(&str) -> bool,
    read: fn(&str) -> Result<Vec<Found>, ToolError>,
}

/// One measurement that a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What the file calls it, for identifiers of cases.
    pub name: String,
    /// The benchmark that its figures belong to.
    pub benchmark: Benchmark,
    /// What all its figures have in common.
    pub dimensions: Attributes,
    /// The machine, where one file holds results of several.
    pub system: Option<String>,
    /// When it was measured, in seconds since 1970, where the file says so.
    pub began_s: Option<u64>,
    /// Its figures.
    pub parsed: Parsed,
}

/// Every format, in the order in which they are tried: those with the surest mark first.
pub const FORMATS: &[Format] = &[
    format(
        "phoronix-xml",
        "phoronix",
        "Phoronix Test Suite, composite.xml",
        collections::is_phoronix,
        collections::phoronix,
    ),
    format(
        "fio-json",
        "fio",
        "fio --output-format=json or json+",
        storage::is_fio_json,
        storage::fio_json,
    ),
    format("iperf3-json", "iperf3", "iperf3 -J", network::is_iperf3_json, network::iperf3_json),
    format("ior", "ior", "IOR 3 and 4: text, CSV or JSON", storage::is_ior, storage::ior),
    format(
        "mdtest",
        "mdtest",
        "mdtest's summary of rates",
        storage::is_mdtest,
        storage::mdtest,
    ),
    format("osu", "osu", "OSU micro-benchmarks 5 to 7", mpi::is_osu, mpi::osu),
    format("imb", "imb", "Intel MPI Benchmarks", mpi::is_imb, mpi::imb),
    format("hpl", "xhpl", "HPL's log", compute::is_hpl, compute::hpl),
    format("stream", "stream", "STREAM 5", compute::is_stream, compute::stream),
    format(
        "perftest",
        "perftest",
        "perftest: ib_send_lat, ib_write_bw and others",
        perftest::is,
        perftest::read,
    ),
    format(
        "vdbench-flatfile",
        "vdbench",
        "Vdbench's flatfile.html",
        vdbench::is_flat,
        vdbench::flat,
    ),
    format(
        "vdbench-summary",
        "vdbench",
        "Vdbench's summary.html or console",
        vdbench::is_summary,
        vdbench::summary,
    ),
    format(
        "sockperf",
        "sockperf",
        "sockperf ping-pong, under-load and throughput",
        network::is_sockperf,
        network::sockperf,
    ),
    format("fio-text", "fio", "fio's text output", fio_text::is, fio_text::read),
    format("iperf3-text", "iperf3", "iperf3's text output", iperf3_text::is, iperf3_text::read),
    format(
        "qperf",
        "qperf",
        "qperf tcp_lat, udp_lat and tcp_bw",
        network::is_qperf,
        network::qperf,
    ),
    format(
        "reframe",
        "reframe",
        "ReFrame's performance log",
        collections::is_reframe,
        collections::reframe,
    ),
];

const fn format(
    name: &'static str,
    tool: &'static str,
    about: &'static str,
    is: fn(&str) -> bool,
    read: fn(&str) -> Result<Vec<Found>, ToolError>,
) -> Format {
    Format { name, tool, about, is, read }
}

/// Why a file is no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportError {
    /// No tool is known that writes this.
    #[error("no known tool writes this{}", begins(.first))]
    Recognise {
        /// Its first line that holds something.
        first: String,
    },
    /// The tool is known, and its output is not that of a measurement.
    #[error("it is {about}, but {error}")]
    Read {
        /// What it was taken for.
        about: &'static str,
        /// The line that the error is about, from 1, where one is.
        line: Option<usize>,
        /// Why it is none.
        error: ToolError,
    },
}

impl ImportError {
    /// The line that it is about.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        match self {
            Self::Recognise { .. } => Some(1),
            Self::Read { line, .. } => *line,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::Recognise { .. } => {
                "give the output as the tool wrote it, whole and with its heading; `assay help \
                 formats` lists what is read"
            }
            Self::Read { error, .. } => match error {
                ToolError::ReachEnd { .. } => "the file is cut off: copy it again",
                ToolError::Find { .. }
                | ToolError::ReadNumber { .. }
                | ToolError::ReadColumn { .. } => {
                    "look at that line; the file may have been edited, or come from a version of \
                     the tool that assay does not know"
                }
                ToolError::Reconcile { .. } | ToolError::Agree { .. } => {
                    "its figures contradict each other, so that one of them is wrong: look at \
                     what wrote the file"
                }
                other => other.advice(),
            },
        }
    }
}

fn begins(first: &str) -> String {
    if first.is_empty() {
        ": it is empty".to_owned()
    } else {
        format!("; it begins with {first:?}")
    }
}

/// The measurements of a file, and the format that it has.
///
/// # Errors
/// When no tool is known that writes such a text, or its output is not that of a measurement.
pub fn read(text: &str) -> Result<(&'static Format, Vec<Found>), ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(format) = FORMATS.iter().find(|format| (format.is)(text)) else {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        return Err(ImportError::Recognise { first: cut(first.unwrap_or_default()) });
    };
    let refused = |error: ToolError| ImportError::Read {
        about: format.about,
        line: line_of(text, &error),
        error,
    };
    let found = (format.read)(text).map_err(refused)?;
    check(&found).map_err(refused)?;
    Ok((format, found))
}

/// That there is something, that it is not too much, and that each figure can have been measured.
fn check(found: &[Found]) -> Result<(), ToolError> {
    if found.iter().all(|it| it.parsed.values.is_empty()) {
        return Err(missing("figure that assay knows"));
    }
    if found.len() > MOST_FOUND {
        let what = format!(
            "{} measurements in one file, and at most {MOST_FOUND} are read",
            found.len()
        );
        return Err(ToolError::Reconcile { what });
    }
    let values = found.iter().flat_map(|it| &it.parsed.values);
    let impossible = values.flat_map(|it| it.samples.iter().map(|value| (it.metric, *value)));
    let mut impossible = impossible.filter(|(_, value)| !is_measurable(*value));
    match impossible.next() {
        None => Ok(()),
        Some((metric, value)) => {
            Err(ToolError::ReadNumber { what: metric.to_owned(), text: value.to_string() })
        }
    }
}

/// The line that an error is about: where its text stands, or the last one of a text that breaks off.
fn line_of(text: &str, error: &ToolError) -> Option<usize> {
    let token = match error {
        ToolError::ReadNumber { text, .. } => text.trim_matches('"'),
        ToolError::ReadColumn { name } => name,
        ToolError::PassCheck { verdict } | ToolError::Meet { what: verdict, .. } => verdict,
        ToolError::Agree { line, .. } => line,
        ToolError::ReachEnd { .. } => return Some(text.lines().count().max(1)),
        _ => return None,
    };
    let found = text.lines().position(|line| !token.is_empty() && line.contains(token));
    found.map(|at| at + 1)
}

/// What a reader for a tool that assay starts makes of a text.
fn by_tool(name: &str, workload: Workload, stdout: &str) -> Result<Parsed, ToolError> {
    let found = tool::find(name).ok_or_else(|| missing("reader of that tool"))?;
    let invocation = Invocation {
        workload,
        label: name.to_owned(),
        program: name.to_owned(),
        arguments: vec![],
        environment: vec![],
        files_to_write: vec![],
        files_to_read: vec![],
        cpus: vec![],
        repetitions: 1,
    };
    let outputs =
        Outputs { stdout: stdout.to_owned(), exit_code: Some(0), ..Outputs::default() };
    found.read(&invocation, &outputs)
}

/// The text in parts that each begin with such a line, each with what stands before the first.
fn parts(text: &str, begins: impl Fn(&str) -> bool) -> Vec<String> {
    let mut head = String::new();
    let mut parts: Vec<String> = Vec::new();
    for line in text.lines() {
        if begins(line.trim()) {
            parts.push(head.clone());
        }
        let part = parts.last_mut().unwrap_or(&mut head);
        part.push_str(line);
        part.push('\n');
    }
    // Each part repeats the head; more than that is no log of anything.
    parts.truncate(MOST_FOUND);
    parts
}

/// That the last row is whole, in a format that ends with any of its rows: a number without the end of its line may
/// lack digits.
fn whole(text: &str) -> Result<(), ToolError> {
    if text.ends_with(|last: char| last.is_ascii_digit() || last == '.') {
        return Err(ToolError::ReachEnd {
            missing: "the end of its last line is not there".to_owned(),
        });
    }
    Ok(())
}

/// The word behind `name =`, `name:` or `name`, up to white space.
fn after<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = text.split_once(name)?.1;
    rest.trim_start_matches([' ', '\t', '=', ':']).split_whitespace().next()
}

fn missing(what: &str) -> ToolError {
    ToolError::Find { what: what.to_owned(), place: "the file" }
}

/// A line short enough for a message.
fn cut(line: &str) -> String {
    line.chars().take(60).collect()
}

#[cfg(test)]
mod tests;
