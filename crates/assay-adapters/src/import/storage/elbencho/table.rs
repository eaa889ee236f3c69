//! Rows of elbencho's CSV, by the names of their columns.

use std::collections::BTreeMap;

use assay_model::event::ToolFigures;

use super::super::super::{FileContents, FileTime};
use super::{MEBI, Phase, PhaseConditions, PhaseFigures, RefinedRate, TIME_DIGIT_S, add_phase};
use crate::limits::check_limit;
use crate::outputs::{ToolError, parse_non_negative, parse_whole};

/// Maximum number of columns; elbencho has about 40 and its options.
const MAX_COLUMNS: usize = 1000;

/// Row of a phase: texts by the names of their columns. Empty cells are left out.
type PhaseRow = BTreeMap<String, String>;

pub(in super::super) fn is_csv(text: &str) -> bool {
    let heading = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    heading.contains("ISO date,") && heading.contains(",operation,")
}

/// Reads each row below a heading; appended runs may repeat the heading.
pub(in super::super) fn read_csv(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut columns: Vec<String> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let lines = number..=number;
        if line.trim().is_empty() {
            continue;
        }
        let cells = split_cells(line);
        check_limit(cells.len(), ("columns", MAX_COLUMNS))?;
        if cells.iter().any(|cell| cell == "ISO date") {
            contents.recognise(lines.clone(), "heading", "names of the columns");
            leave_out_columns(&cells, number, &mut contents);
            columns = cells;
        } else if cells.len() == columns.len() {
            let row = columns.iter().cloned().zip(cells).filter(|(_, cell)| !cell.is_empty());
            add_row(&row.collect(), number..=number, &mut contents)?;
        } else {
            let (are, expected) = (cells.len(), columns.len());
            let missing = format!("the row has {are} of {expected} columns");
            contents.add_part(Some(lines), "row", Err(ToolError::Truncated { missing }));
        }
    }
    Ok(contents)
}

/// Names the columns that no measurement has.
fn leave_out_columns(columns: &[String], number: usize, contents: &mut FileContents) {
    let parts = [
        ("[first]", "figures of the time until the fastest thread was done"),
        ("CPU%", "assay has no figure for the CPU time of the whole machine"),
    ];
    for (mark, why) in parts {
        if columns.iter().any(|column| column.contains(mark)) {
            contents.leave_out(Some(number..=number), format!("columns {mark}"), why);
        }
    }
}

/// Splits a line of CSV; cells may be quoted, with doubled quotes inside.
fn split_cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            letter => {
                let last = cells.len() - 1;
                cells[last].push(letter);
            }
        }
    }
    cells.iter_mut().for_each(|cell| *cell = cell.trim().to_owned());
    cells
}

fn add_row(
    row: &PhaseRow,
    lines: std::ops::RangeInclusive<usize>,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    match read_phase(row) {
        Ok(phase) => add_phase(&phase, lines, contents),
        Err(error) => {
            let name = row.get("operation").map(String::as_str).unwrap_or_default();
            contents.add_part(Some(lines), format!("phase {name:?}"), Err(error));
            Ok(())
        }
    }
}

fn read_phase(row: &PhaseRow) -> Result<Phase, ToolError> {
    Ok(Phase {
        name: row.get("operation").cloned().unwrap_or_default(),
        label: row.get("label").cloned(),
        began: row.get("ISO date").and_then(|text| FileTime::parse_iso(text)),
        version: row.get("version").cloned(),
        conditions: read_conditions(row)?,
        main: read_figures(row, "")?,
        mix_reads: read_figures(row, "rwmix read ")?,
    })
}

/// Returns the figure of a column; `None` for an empty cell.
fn figure(row: &PhaseRow, name: &str) -> Result<Option<f64>, ToolError> {
    row.get(name).map(|text| parse_non_negative(name, text)).transpose()
}

fn whole(row: &PhaseRow, name: &str) -> Result<Option<u64>, ToolError> {
    row.get(name).map(|text| parse_whole(name, text)).transpose()
}

fn read_conditions(row: &PhaseRow) -> Result<PhaseConditions, ToolError> {
    let hosts = whole(row, "hosts")?.unwrap_or(1).max(1);
    Ok(PhaseConditions {
        bytes: whole(row, "block size")?.filter(|bytes| *bytes > 0),
        file_bytes: whole(row, "file size")?.filter(|bytes| *bytes > 0),
        threads: whole(row, "threads")?.map(|threads| threads.saturating_mul(hosts)),
        depth: whole(row, "IO depth")?,
        is_random: whole(row, "random")?.map(|random| random > 0),
        uses_page_cache: whole(row, "direct IO")?.map(|direct| direct == 0),
    })
}

/// Reads the figures of one direction, whose columns begin with `prefix`.
fn read_figures(row: &PhaseRow, prefix: &str) -> Result<PhaseFigures, ToolError> {
    let name = |name: &str| format!("{prefix}{name}");
    let time = figure(row, "time ms [last]")?.map(|ms| (ms * 1e-3, TIME_DIGIT_S));
    let refined = |rate: &str, total: &str| {
        let total = figure(row, &name(total))?;
        let rate = figure(row, &name(rate))?;
        rate.map(|rate| RefinedRate::refine(rate, total, time)).transpose()
    };
    Ok(PhaseFigures {
        io_rate: figure(row, &name("IOPS [last]"))?.map(RefinedRate::from_whole),
        bandwidth: refined("MiB/s [last]", "MiB [last]")?.map(|rate| rate.scale(MEBI)),
        io_latency: read_latency(row, &name("IO"))?,
        entry_rate: refined("entries/s [last]", "entries [last]")?,
        entries: whole(row, &name("entries [last]"))?,
        entry_latency: read_latency(row, &name("Ent"))?,
    })
}

fn read_latency(row: &PhaseRow, kind: &str) -> Result<ToolFigures, ToolError> {
    let seconds = |statistic: &str| {
        let microseconds = figure(row, &format!("{kind} lat us [{statistic}]"));
        microseconds.map(|it| it.map(|us| us * 1e-6))
    };
    let (min, mean, max) = (seconds("min")?, seconds("avg")?, seconds("max")?);
    Ok(ToolFigures { min, mean, max, ..ToolFigures::default() })
}
