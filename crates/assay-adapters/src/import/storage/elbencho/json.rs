//! Documents of elbencho's `--jsonfile`, one for each phase, of versions 3.0 and 3.1.

use assay_model::event::ToolFigures;
use serde_json::Value;

use super::super::super::json_documents::split_documents;
use super::super::super::{FileContents, FileTime, missing};
use super::{Phase, PhaseConditions, PhaseFigures, RefinedRate, TIME_DIGIT_S, add_phase};
use crate::json_selection::{document_error, select};
use crate::outputs::{ToolError, parse_non_negative, parse_whole};

/// Maximum number of values in one document; a phase has about 60.
const MAX_VALUES: usize = 10_000;

pub(in super::super) fn is_json(text: &str) -> bool {
    text.contains("\"phase_type\"") && text.contains("\"last_done\"")
}

/// Reads each document of the file.
pub(in super::super) fn read_json(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    for document in split_documents(text) {
        let lines = document.lines();
        match read_document(document.text) {
            Ok(phase) => add_phase(&phase, lines, &mut contents)?,
            Err(error) => contents.add_part(Some(lines), "phase", Err(error)),
        }
    }
    if !contents.measurements.is_empty() {
        let why = "figures of the time until the fastest thread was done";
        contents.leave_out(None, "members \"first_done\"", why);
        let why = "assay has no figure for the CPU time of the whole machine";
        contents.leave_out(None, "members \"cpu%\"", why);
    }
    Ok(contents)
}

fn read_document(text: &str) -> Result<Phase, ToolError> {
    let document =
        select(text, &[], MAX_VALUES).map_err(|error| document_error(&error, MAX_VALUES))?;
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
    let done = document.get("last_done").ok_or_else(|| missing("object \"last_done\""))?;
    let nothing = Value::Null;
    Ok(Phase {
        name: text("/phase_type").ok_or_else(|| missing("\"phase_type\""))?.to_owned(),
        label: text("/label").map(str::to_owned),
        began: text("/iso_start_date").and_then(FileTime::parse_iso),
        version: text("/config/version").map(str::to_owned),
        conditions: read_conditions(document.get("config").unwrap_or(&nothing))?,
        main: read_figures(done, done, "/latency/IO", "/latency/entries")?,
        mix_reads: match done.get("rwmix_read") {
            Some(reads) => {
                let io = "/latency/IO/rwmix_read";
                read_figures(reads, done, io, "/latency/entries/rwmix_read")?
            }
            None => PhaseFigures::default(),
        },
    })
}

/// Returns a number, which elbencho writes as a text.
fn figure(of: &Value, name: &str) -> Result<Option<f64>, ToolError> {
    of.get(name).map(|value| parse_non_negative(name, &text_of(value))).transpose()
}

fn whole(of: &Value, name: &str) -> Result<Option<u64>, ToolError> {
    of.get(name).map(|value| parse_whole(name, &text_of(value))).transpose()
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn read_conditions(config: &Value) -> Result<PhaseConditions, ToolError> {
    let flag = |name: &str| config.get(name).map(|it| text_of(it) == "true");
    let hosts = whole(config, "hosts")?.unwrap_or(1).max(1);
    Ok(PhaseConditions {
        bytes: whole(config, "block_size")?.filter(|bytes| *bytes > 0),
        file_bytes: whole(config, "file_size")?.filter(|bytes| *bytes > 0),
        threads: whole(config, "threads")?.map(|threads| threads.saturating_mul(hosts)),
        depth: whole(config, "io_depth")?,
        is_random: flag("random_offsets"),
        uses_page_cache: flag("direct_io").map(|direct| !direct),
    })
}

/// Reads the figures of one direction, whose latencies are at two places of the document.
fn read_figures(
    figures: &Value,
    done: &Value,
    io: &str,
    entries: &str,
) -> Result<PhaseFigures, ToolError> {
    let time = figure(done, "elapsed_time_ms")?.map(|ms| (ms * 1e-3, TIME_DIGIT_S));
    let entry_total = figure(figures, "entries")?;
    let entry_rate = figure(figures, "entries/s")?;
    let entry_rate = entry_rate.map(|rate| RefinedRate::refine(rate, entry_total, time));
    Ok(PhaseFigures {
        io_rate: figure(figures, "iops")?.map(RefinedRate::from_whole),
        bandwidth: figure(figures, "bytes/s")?.map(RefinedRate::from_whole),
        io_latency: read_latency(done.pointer(io))?,
        entry_rate: entry_rate.transpose()?,
        entries: whole(figures, "entries")?,
        entry_latency: read_latency(done.pointer(entries))?,
    })
}

fn read_latency(latency: Option<&Value>) -> Result<ToolFigures, ToolError> {
    let Some(latency) = latency else { return Ok(ToolFigures::default()) };
    let seconds = |name: &str| figure(latency, name).map(|it| it.map(|us| us * 1e-6));
    let (min, mean, max) = (seconds("min_us")?, seconds("avg_us")?, seconds("max_us")?);
    Ok(ToolFigures { min, mean, max, ..ToolFigures::default() })
}
