//! Import of fio's JSON, IOR's tables and mdtest's summary.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;
use assay_model::event::ToolFigures;
use assay_model::quantity::{self as parse};

use super::{ImportedMeasurement, missing, split_parts, word_after};
use crate::fio_json::{self, FioGroup};
use crate::ior_text::{IorRow, IorText};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::{ParsedOutput, ToolError, parse_non_negative};
use crate::tool::storage as figures;

pub(super) fn is_fio_json(text: &str) -> bool {
    text.contains("\"fio version\"") && text.contains("\"jobs\"")
}

/// Reads one measurement for each group of jobs, as fio itself sums them up.
pub(super) fn read_fio_json(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let groups = fio_json::read_groups(text)?;
    let read = |group: FioGroup| {
        Ok(ImportedMeasurement {
            dimensions: fio_dimensions(&group.options, group.entries),
            name: group.name,
            benchmark: Benchmark::Storage,
            system: None,
            began_s: group.ended_s,
            parsed: figures::convert_fio_result(group.result, &[])?,
        })
    };
    groups.into_iter().map(read).collect()
}

/// Derives dimensions from options of fio. `entries` is the number of clones of a job that have
/// separate entries.
pub(super) fn fio_dimensions(options: &BTreeMap<String, String>, entries: u64) -> Attributes {
    let of =
        |names: &[&str]| names.iter().find_map(|name| options.get(*name)).map(String::as_str);
    let way = of(&["rw", "readwrite"]).unwrap_or("read");
    let way = way.split(':').next().unwrap_or(way);
    let operation = match way {
        "read" | "randread" => "read",
        "rw" | "readwrite" | "randrw" => "mix",
        _ => "write",
    };
    let whole = |names: &[&str]| of(names).and_then(|text| text.parse::<u64>().ok());
    let jobs = whole(&["numjobs"]).unwrap_or(1).max(entries);
    let depth = whole(&["iodepth"]).unwrap_or(1).saturating_mul(jobs);
    // Several sequential jobs on one file are not one sequential access.
    let pattern = match (way.starts_with("rand"), jobs) {
        (true, _) => "random",
        (false, 1) => "sequential",
        (false, _) => "parts",
    };
    let mut asked = Attributes::from([
        (Attribute::Operation, operation.into()),
        (Attribute::Pattern, pattern.into()),
        (Attribute::Depth, depth.into()),
        (Attribute::Threads, jobs.into()),
    ]);
    if operation == "mix" {
        let percent = whole(&["rwmixread"]).unwrap_or(50).min(100);
        asked.insert(Attribute::ReadShare, (percent as f64 / 100.0).into());
    }
    // fio's default is 4 KiB (HOWTO, "blocksize").
    let bytes = of(&["bs", "blocksize"]).map_or(Some(4096), parse_fio_size);
    asked.extend(bytes.map(|bytes| (Attribute::Bytes, bytes.into())));
    asked.extend(of(&["ioengine"]).map(|name| (Attribute::Engine, name.into())));
    asked.extend(
        of(&["filename"]).map(|names| (Attribute::Target, format_file_names(names).into())),
    );
    if of(&["direct"]).unwrap_or("0") != "1" {
        asked.insert(Attribute::PageCache, true.into());
    }
    asked
}

/// Splits fio's list of files at colons; a backslash escapes a colon (HOWTO, "filename").
fn format_file_names(names: &str) -> String {
    let mut files = vec![String::new()];
    let mut is_escaped = false;
    for letter in names.chars() {
        match letter {
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            ':' if !is_escaped => files.push(String::new()),
            letter => {
                let last = files.len() - 1;
                // Only a colon is escaped by a backslash.
                files[last].extend((is_escaped && letter != ':').then_some('\\'));
                files[last].push(letter);
            }
        }
        is_escaped = false;
    }
    files.retain(|it| !it.is_empty());
    files.join(", ")
}

/// Parses a size of fio: `4k`, `4KiB`, `4096B` and `4kb` are all 4096, unless `kb_base` is set.
pub(super) fn parse_fio_size(text: &str) -> Option<u64> {
    let text = text.split(['-', ',']).next()?;
    let worth = |unit: &str| {
        let letter = unit.trim_end_matches('b').trim_end_matches('i');
        parse::letter_factor(letter, 1024.0)
    };
    let (number, factor) = parse::split_factor(text, worth)?;
    let bytes = number.parse::<f64>().ok()? * factor;
    (1.0..1e18).contains(&bytes).then_some(bytes as u64)
}

pub(super) fn is_ior(text: &str) -> bool {
    let heading = |line: &str| line.starts_with("access") && line.contains("bw(MiB/s)");
    let json = text.contains("\"wrRdTime\"") && text.contains("\"tests\"");
    // A truncated file may have nothing but the title.
    let title =
        |line: &str| line.starts_with("IOR-") && line.contains(": MPI Coordinated Test");
    json || text.lines().any(|line| heading(line) || title(line))
}

/// Reads writes and reads of each test of the file.
pub(super) fn read_ior(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let mut tests =
        split_parts(text, |line| line.starts_with("IOR-") && line.contains(": MPI"))?;
    if tests.is_empty() || text.contains("\"wrRdTime\"") {
        tests = vec![text.to_owned()];
    }
    let mut found = Vec::new();
    for test in &tests {
        let read = IorText::read(test)?;
        for (writes, operation) in [(true, "write"), (false, "read")] {
            let rows: Vec<&IorRow> =
                read.rows.iter().filter(|row| row.writes == writes).collect();
            if let Some(first) = rows.first() {
                let dimensions = ior_dimensions(test, first, read.tasks, operation);
                let parsed =
                    figures::convert_ior_rows(&rows, read.tasks, read.version.clone())?;
                found.push(ImportedMeasurement {
                    name: operation.to_owned(),
                    benchmark: Benchmark::Storage,
                    dimensions,
                    system: None,
                    began_s: None,
                    parsed,
                });
            }
        }
    }
    Ok(found)
}

fn ior_dimensions(text: &str, row: &IorRow, tasks: Option<u64>, operation: &str) -> Attributes {
    let mut asked = Attributes::from([
        (Attribute::Operation, operation.into()),
        (Attribute::Bytes, (row.transfer_bytes as u64).into()),
    ]);
    asked.extend(tasks.map(|tasks| (Attribute::Depth, tasks.into())));
    let pattern = match word_after(text, "ordering in a file") {
        Some("random") => Some("random"),
        Some(_) => Some("sequential"),
        None => None,
    };
    asked.extend(pattern.map(|pattern| (Attribute::Pattern, pattern.into())));
    asked
        .extend(word_after(text, "test filename").map(|name| (Attribute::Target, name.into())));
    asked
}

/// Operations in mdtest's summary and their names in assay.
const MDTEST_OPERATIONS: [(&str, &str); 10] = [
    ("Directory creation", "mkdir"),
    ("Directory stat", "stat-directory"),
    ("Directory rename", "rename-directory"),
    ("Directory removal", "rmdir"),
    ("File creation", "create"),
    ("File stat", "stat"),
    ("File read", "read"),
    ("File removal", "delete"),
    ("Tree creation", "create-tree"),
    ("Tree removal", "delete-tree"),
];

pub(super) fn is_mdtest(text: &str) -> bool {
    text.contains("SUMMARY rate") && text.contains("File creation")
}

/// Reads rates in operations per second. A row has maximum, minimum, mean and standard deviation
/// over the iterations; the mean is the sample.
pub(super) fn read_mdtest(text: &str) -> Result<Vec<ImportedMeasurement>, ToolError> {
    let rows = text.lines().skip_while(|line| !line.contains("SUMMARY rate")).skip(1);
    let version = word_after(text, "mdtest-").map(str::to_owned);
    let ranks = word_after(text, "launched with").and_then(|text| text.parse::<u64>().ok());
    let files = text.lines().find(|line| line.contains(" tasks, ")).and_then(|line| {
        line.split(", ").nth(1)?.split_whitespace().next()?.parse::<u64>().ok()
    });
    let mut found = Vec::new();
    for line in rows {
        let known =
            MDTEST_OPERATIONS.iter().find(|(word, _)| line.trim_start().starts_with(word));
        let Some((word, operation)) = known else { continue };
        let rest = line.trim_start()[word.len()..].trim_start_matches([' ', ':']);
        let numbers: Result<Vec<f64>, _> =
            rest.split_whitespace().map(|field| parse_non_negative(word, field)).collect();
        let [max, min, mean, _deviation] = numbers?[..] else {
            let missing = format!("the row {word:?} has not 4 numbers");
            return Err(ToolError::Truncated { missing });
        };
        // Operations that were not run have a rate of 0.
        if mean <= 0.0 {
            continue;
        }
        let mut parsed = ParsedOutput { version: version.clone(), ..ParsedOutput::default() };
        parsed.add_samples("rate", vec![mean]);
        parsed.set_metric_attribute("rate", Attribute::Statistic, "mean");
        let figures = ToolFigures {
            min: Some(min),
            mean: Some(mean),
            max: Some(max),
            ..ToolFigures::default()
        };
        parsed.set_figures("rate", figures);
        let mut dimensions = Attributes::from([(Attribute::Operation, (*operation).into())]);
        dimensions.extend(ranks.map(|ranks| (Attribute::Threads, ranks.into())));
        dimensions.extend(files.map(|files| (Attribute::Files, files.into())));
        check_limit(found.len() + 1, ("rows", MAX_MEASUREMENTS))?;
        found.push(ImportedMeasurement {
            name: (*operation).to_owned(),
            benchmark: Benchmark::StorageFiles,
            dimensions,
            system: None,
            began_s: None,
            parsed,
        });
    }
    if found.is_empty() {
        Err(missing("row of mdtest's summary with a rate"))
    } else {
        Ok(found)
    }
}
