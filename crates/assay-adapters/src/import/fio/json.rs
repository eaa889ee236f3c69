//! Import of fio's JSON: one measurement for each group of jobs of each document.

use assay_model::benchmark::Benchmark;

use super::super::json_documents::{JsonDocument, split_documents};
use super::super::{FileContents, FileTime, ImportedMeasurement, LineSpan};
use super::conditions::{ConditionSource, derive_conditions};
use super::omissions::{NO_LATENCY, list_missing};
use super::progress::{RunState, is_continued};
use crate::fio_json::{self, FioGroup, FioRun};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::ToolError;
use crate::tool::storage as figures;

/// Member of every document.
const VERSION: &str = "\"fio version\"";

pub(super) fn is_fio_json(text: &str) -> bool {
    text.contains(VERSION) && (text.contains("\"jobs\"") || text.contains("\"client_stats\""))
}

/// Reads every document. A document that a later one of the same run contains is left out.
pub(super) fn read(text: &str) -> Result<FileContents, ToolError> {
    let documents: Vec<JsonDocument<'_>> =
        split_documents(text).into_iter().filter(is_of_fio).collect();
    if documents.is_empty() {
        return Err(ToolError::Missing { what: "document".to_owned(), place: "fio's JSON" });
    }
    let mut contents = FileContents::default();
    let mut earlier: Option<(FioRun, LineSpan)> = None;
    let mut groups = 0;
    for document in &documents {
        let lines = document.lines();
        let run = match fio_json::read_run(document.text) {
            Ok(run) => run,
            Err(error) => {
                contents.add_part(Some(lines), "fio's document", Err(error));
                continue;
            }
        };
        groups += run.groups.len();
        check_limit(groups, ("groups of jobs", MAX_MEASUREMENTS))?;
        match earlier.replace((run, lines)) {
            Some((run, lines)) if is_later_state(earlier.as_ref(), &run) => {
                contents.leave_out(
                    Some(lines),
                    "document",
                    "an earlier state of the run that the next document contains",
                );
            }
            Some((run, lines)) => add_run(run, &lines, &mut contents),
            None => {}
        }
    }
    if let Some((run, lines)) = earlier {
        add_run(run, &lines, &mut contents);
    }
    check_other_text(text, &documents, &mut contents);
    Ok(contents)
}

fn is_of_fio(document: &JsonDocument<'_>) -> bool {
    let marks = [VERSION, "\"jobs\"", "\"client_stats\""];
    marks.iter().any(|mark| document.text.contains(mark))
}

/// Whether the later run is the earlier one, some time later (`--status-interval`).
fn is_later_state(later: Option<&(FioRun, LineSpan)>, earlier: &FioRun) -> bool {
    let Some((later, _)) = later else { return false };
    let states = |run: &FioRun| -> Vec<RunState> {
        let state = |group: &FioGroup| RunState {
            time_s: run.ended_ms.map(|ms| ms as f64 / 1e3),
            has_fraction: run.has_ms,
            runtime_s: group.counts.runtime_s,
            ios: group.counts.total_ios() as f64,
        };
        run.groups.iter().map(state).collect()
    };
    let same = |one: &FioGroup, other: &FioGroup| {
        (&one.name, one.number, &one.host, &one.options)
            == (&other.name, other.number, &other.host, &other.options)
    };
    earlier.groups.len() == later.groups.len()
        && earlier.groups.iter().zip(&later.groups).all(|(one, other)| same(one, other))
        && is_continued(&states(earlier), &states(later))
}

fn add_run(run: FioRun, lines: &LineSpan, contents: &mut FileContents) {
    let ended_s = run.ended_ms.map(|ms| ms / 1000);
    for group in run.groups {
        add_group(group, ended_s, lines, contents);
    }
}

fn add_group(
    group: FioGroup,
    ended_s: Option<u64>,
    lines: &LineSpan,
    contents: &mut FileContents,
) {
    let what = format!("job {:?}", group.name);
    let all = || Some(lines.clone());
    for (name, why) in list_omissions(&group) {
        contents.leave_out(all(), format!("{what}: {name}"), why);
    }
    let latencies = group.result.iter().flat_map(|result| &result.latencies);
    for latency in latencies.filter(|it| it.missing.is_empty()) {
        list_missing(latency, &group.name, lines, contents);
    }
    let source = ConditionSource {
        name: &group.name,
        options: &group.options,
        counts: &group.counts,
        printed_jobs: None,
        rounding: 1e-9,
    };
    let conditions = derive_conditions(&source);
    let parsed = group.result.and_then(|result| figures::convert_fio_result(result, &[]));
    let measurement = parsed.map(|mut parsed| {
        parsed.doubts.extend(conditions.doubts);
        ImportedMeasurement {
            name: group.name,
            benchmark: Benchmark::Storage,
            dimensions: conditions.dimensions,
            system: group.host,
            began: group.began_s.or(ended_s).map(FileTime::from_unix),
            lines: all(),
            parsed,
        }
    });
    contents.add_part(all(), what, measurement);
}

/// Lists figures of a group that are not imported, with the reason.
fn list_omissions(group: &FioGroup) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut add = |what: String, why: &str| found.push((what, why.to_owned()));
    if group.verifying_reads > 0 {
        let reads = group.verifying_reads;
        add(format!("{reads} reads"), "they only verified what was written");
    }
    if group.counts.syncs > 0 {
        add("latency of fsync".to_owned(), "assay imports the latency of I/O");
    }
    let Ok(result) = &group.result else { return found };
    if result.latencies.is_empty() {
        add("latency".to_owned(), NO_LATENCY);
    }
    for latency in &result.latencies {
        let of = latency.operation.map_or(String::new(), |name| format!(" of {name}"));
        if !latency.missing.is_empty() {
            let names = latency.missing.join(", ");
            add(format!("{names} of latency{of}"), PERCENTILES_OF_JOBS);
        }
    }
    found
}

/// Reason for leaving out percentiles of several jobs.
const PERCENTILES_OF_JOBS: &str =
    "percentiles of several jobs cannot be added; use --output-format=json+ or group_reporting";

/// Reports results outside the documents, and a document whose beginning is missing.
fn check_other_text(text: &str, documents: &[JsonDocument<'_>], contents: &mut FileContents) {
    let inside: usize = documents.iter().map(|it| it.text.matches(VERSION).count()).sum();
    if text.matches(VERSION).count() > inside {
        let what = format!("{VERSION} follows the end of the document");
        contents.add_part(None, "fio's document", Err(ToolError::Contradiction { what }));
    }
    let mut ends = documents.iter().map(JsonDocument::lines).peekable();
    for (line, content) in (1..).zip(text.lines()) {
        while ends.peek().is_some_and(|it| *it.end() < line) {
            ends.next();
        }
        let is_outside = ends.peek().is_none_or(|it| *it.start() > line);
        if is_outside
            && (content.contains(": (groupid=") || super::terse::is_terse_line(content))
        {
            contents.leave_out(
                Some(line..=line),
                "fio's text",
                "the JSON of the same file is imported",
            );
        }
    }
}
