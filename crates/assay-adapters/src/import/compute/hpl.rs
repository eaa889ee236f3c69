//! Import of HPL's logs.

use assay_model::attribute::{Attribute, Attributes};
use assay_model::benchmark::Benchmark;

use super::super::{
    FileContents, FileTime, ImportedMeasurement, TextPart, check_limit, split_parts,
};
use crate::hpl_text::{HplLog, HplRow};
use crate::limits::MAX_MEASUREMENTS;
use crate::outputs::{ParsedOutput, ToolError};

pub(super) fn is_hpl(text: &str) -> bool {
    // A truncated log may have nothing but the heading.
    text.contains("HPLinpack")
        && (text.contains("||Ax-b||") || text.contains("High-Performance Linpack benchmark"))
}

/// Reads every log of the file. Rows of the same parameters are repetitions; each other set of
/// parameters is a measurement.
pub(super) fn read_hpl(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    for part in split_parts(text, |line| line.starts_with("HPLinpack "))? {
        let start = *part.lines.start();
        contents.recognise(start..=start, "HPLinpack", "version");
        // HPCC's output begins with the same line, for the sections of its other benchmarks.
        if part.own_lines().any(|(_, line)| line.starts_with("Begin of HPL section.")) {
            let why = "assay imports HPL's section of HPCC's output";
            contents.leave_out(Some(part.lines), "HPCC's other benchmarks", why);
            continue;
        }
        if let Err(error) = read_log(&part, &mut contents) {
            contents.add_part(Some(part.lines), "HPL's log", Err(error));
        }
    }
    Ok(contents)
}

type ParameterSet = (String, u64, u64, u64, u64);

fn parameter_set(row: &HplRow) -> ParameterSet {
    (row.variant.clone(), row.n, row.block, row.p, row.q)
}

fn read_log(part: &TextPart, contents: &mut FileContents) -> Result<(), ToolError> {
    let log = HplLog::read(&part.text)?;
    let mut began = find_times(&part.text).into_iter();
    let mut sets: Vec<(ParameterSet, Option<FileTime>, Vec<HplRow>)> = Vec::new();
    for row in log.rows {
        let set = parameter_set(&row);
        let time = began.next();
        match sets.iter_mut().find(|(other, ..)| *other == set) {
            Some((_, _, rows)) => rows.push(row),
            None => sets.push((set, time, vec![row])),
        }
        check_limit(sets.len(), ("sets of parameters", MAX_MEASUREMENTS))?;
    }
    let has_several =
        |n: u64| sets.iter().filter(|((_, other, ..), ..)| *other == n).count() > 1;
    let mut found = Vec::new();
    for ((variant, n, block, p, q), time, rows) in &sets {
        let mut parsed =
            ParsedOutput { version: log.version.clone(), ..ParsedOutput::default() };
        HplLog { version: log.version.clone(), rows: rows.clone(), ..HplLog::default() }
            .add_samples(*n, &mut parsed)?;
        let mut dimensions = Attributes::from([(Attribute::N, (*n).into())]);
        if has_several(*n) {
            let set = format!("{variant} NB={block} P={p} Q={q}");
            dimensions.insert(Attribute::Loops, set.into());
        }
        let name = format!("n={n}");
        let mut measurement =
            ImportedMeasurement::new(name, Benchmark::Linpack, dimensions, parsed);
        measurement.began = *time;
        measurement.lines = Some(part.lines.clone());
        found.push(measurement);
    }
    contents.append(FileContents::from(found));
    Ok(())
}

/// Returns the start of each row: `HPL_pdgesv() start time Sat Nov 21 12:11:32 2026`.
fn find_times(text: &str) -> Vec<FileTime> {
    let time = |line: &str| {
        FileTime::parse_ctime(line.trim().strip_prefix("HPL_pdgesv() start time")?)
    };
    text.lines().filter_map(time).collect()
}
