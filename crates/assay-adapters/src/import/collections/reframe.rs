//! Import of `ReFrame`'s performance logs: rows below a heading, or lines of older versions.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::doubt::Doubt;

use super::super::foreign::{foreign_measurement, to_base_unit};
use super::super::{
    FileContents, FileTime, ImportedMeasurement, MAX_NAME_BYTES, max_samples, missing,
};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::ToolError;

/// Maximum number of columns of `ReFrame`'s log; each variable looks for its own among them.
const MAX_COLUMNS: usize = 1000;

pub(super) fn is_reframe(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    is_heading(first) || is_old_line(first)
}

fn is_heading(line: &str) -> bool {
    line.split('|').any(|name| name.ends_with("_value")) && line.contains("_unit")
}

/// Whether a line has the default form of `ReFrame` 2 and 3:
/// `2021-01-01T10:00:00|reframe 3.5.0|Test on sys:part using env|jobid=1|bw=10.0|ref=…|MB/s`.
fn is_old_line(line: &str) -> bool {
    line.contains("|reframe ") && line.contains("|jobid=")
}

/// Columns of a heading.
#[derive(Default)]
struct Columns<'t> {
    names: Vec<&'t str>,
    /// Columns that name the test.
    reported: Vec<usize>,
    /// Variables, with the columns of their value and unit.
    variables: Vec<(&'t str, usize, Option<usize>)>,
}

impl<'t> Columns<'t> {
    fn parse(line: &'t str) -> Result<Self, ToolError> {
        let names: Vec<&str> = line.split('|').map(str::trim).collect();
        check_limit(names.len(), ("columns", MAX_COLUMNS))?;
        let at = |name: &str| names.iter().position(|it| *it == name);
        // The display name contains the name and the parameters of the test.
        let tests: &[&str] = match at("display_name") {
            Some(_) => &["display_name"],
            None => &["name", "descr", "testname"],
        };
        let places = ["system", "partition", "environ"];
        let reported = tests.iter().chain(&places).filter_map(|name| at(name)).collect();
        let variables = names.iter().enumerate().filter_map(|(value, column)| {
            let name = column.strip_suffix("_value")?;
            Some((name, value, at(&format!("{name}_unit"))))
        });
        let variables = variables.collect();
        Ok(Self { names, reported, variables })
    }

    fn cell<'r>(&self, cells: &[&'r str], name: &str) -> Option<&'r str> {
        let at = self.names.iter().position(|it| *it == name)?;
        cells.get(at).map(|cell| cell.trim())
    }
}

#[derive(Default)]
struct LogReader {
    contents: FileContents,
    /// Positions of measurements without a time, to which further rows add samples.
    untimed: BTreeMap<(String, &'static str), usize>,
    samples: usize,
}

/// Reads one measurement for each variable of each row. Rows without a time are runs of one test.
pub(super) fn read_reframe(text: &str) -> Result<FileContents, ToolError> {
    let mut reader = LogReader::default();
    let mut columns = Columns::default();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = at + 1;
        if is_heading(line) {
            columns = Columns::parse(line)?;
            let what = "names of the columns";
            reader.contents.recognise(number..=number, "heading", what);
        } else if is_old_line(line) {
            reader.read_old_line(number, line)?;
        } else {
            reader.read_row(number, line, &columns)?;
        }
        check_limit(reader.samples, ("samples", max_samples(text)))?;
        let contents = &reader.contents;
        let count = contents.measurements.len() + contents.failed.len();
        check_limit(count, ("performance variables", MAX_MEASUREMENTS))?;
    }
    let ends_within_line =
        !text.ends_with('\n') && text.lines().last().is_some_and(is_old_line);
    if let Some(last) = reader.contents.measurements.last_mut().filter(|_| ends_within_line) {
        // The unit is the last cell, and may be missing.
        last.parsed.doubts.push(Doubt::BrokeOff);
    }
    Ok(reader.contents)
}

impl LogReader {
    fn read_row(
        &mut self,
        number: usize,
        line: &str,
        columns: &Columns<'_>,
    ) -> Result<(), ToolError> {
        let lines = Some(number..=number);
        let cells: Vec<&str> = line.split('|').collect();
        if cells.len() != columns.names.len() {
            let missing =
                format!("a row has {} of {} columns", cells.len(), columns.names.len());
            self.contents.add_part(lines, "row", Err(ToolError::Truncated { missing }));
            return Ok(());
        }
        let test: Vec<&str> =
            columns.reported.iter().map(|at| cells[*at]).filter(|it| !it.is_empty()).collect();
        let test = test.join(" ");
        let result = columns.cell(&cells, "result").unwrap_or("pass");
        if !is_pass(result) {
            let why = format!("ReFrame's own verdict is result={result}");
            self.contents.leave_out(lines, test, why);
            return Ok(());
        }
        // Seconds since 1970 have a zone, the readable time has none.
        let unix_s = columns.cell(&cells, "job_completion_time_unix");
        let unix_s = unix_s.and_then(|text| text.split('.').next()?.parse().ok());
        let time = unix_s.map(FileTime::from_unix).or_else(|| {
            let names = ["job_completion_time", "check_job_completion_time"];
            let text = names.iter().find_map(|name| columns.cell(&cells, name));
            text.and_then(FileTime::parse_iso)
        });
        let version = columns.cell(&cells, "version").map(str::to_owned);
        let ranks = columns.cell(&cells, "num_tasks").and_then(|it| it.parse::<u64>().ok());
        for (name, value, unit) in &columns.variables {
            let value = cells[*value].trim();
            let what = format!("{test} {name}").trim().to_owned();
            if matches!(value, "" | "null" | "None") {
                self.contents.leave_out(lines.clone(), what, "it has no value");
                continue;
            }
            let unit = unit.map_or("", |at| cells[at].trim());
            let made = convert_figure(&what, (name, value, unit))?;
            self.add_figure(
                number,
                what,
                made.map(|mut made| {
                    made.began = time;
                    made.parsed.version.clone_from(&version);
                    let ranks = ranks.map(|it| (Attribute::Ranks, AttributeValue::from(it)));
                    made.dimensions.extend(ranks);
                    made
                }),
            );
        }
        Ok(())
    }

    /// Reads a line of `ReFrame` 2 or 3.
    fn read_old_line(&mut self, number: usize, line: &str) -> Result<(), ToolError> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let tool = cells.iter().position(|cell| cell.starts_with("reframe "));
        let job = cells.iter().position(|cell| cell.starts_with("jobid="));
        let (Some(tool), Some(job)) = (tool, job) else { return Ok(()) };
        let test = cells.get(tool + 1..job).unwrap_or_default().join(" ");
        let figure = cells.get(job + 1).and_then(|cell| cell.split_once('='));
        let Some((name, value)) = figure else {
            let error = missing("performance variable behind the job");
            self.contents.add_part(Some(number..=number), test, Err(error));
            return Ok(());
        };
        // The unit follows the reference.
        let reference = cells.iter().skip(job + 2).position(|cell| cell.starts_with("ref="));
        let next = cells.get(job + 2);
        let is_open = |cell: &&str| cell.contains('(') && !cell.contains(')');
        let is_cut = reference.and_then(|at| cells.get(job + 2 + at)).is_some_and(is_open);
        if is_cut || next.is_none_or(|cell| reference.is_none() && "ref=".starts_with(cell)) {
            let missing = "the line ends behind its figure".to_owned();
            let error = ToolError::Truncated { missing };
            self.contents.add_part(Some(number..=number), test, Err(error));
            return Ok(());
        }
        let unit = cells.get(reference.map_or(job + 2, |at| job + 3 + at)).copied();
        let what = format!("{test} {name}");
        let made = convert_figure(&what, (name, value, unit.unwrap_or_default()))?;
        let time = cells
            .get(..tool)
            .and_then(|cells| cells.iter().find_map(|it| FileTime::parse_iso(it)));
        let version =
            cells.get(tool).map(|cell| cell.trim_start_matches("reframe ").to_owned());
        self.add_figure(
            number,
            what,
            made.map(|mut made| {
                made.began = time;
                made.parsed.version = version;
                made
            }),
        );
        Ok(())
    }

    fn add_figure(
        &mut self,
        number: usize,
        what: String,
        made: Result<ImportedMeasurement, ToolError>,
    ) {
        self.samples += 1;
        if let Ok(it) = &made
            && it.began.is_none()
            && let Some(figure) = it.parsed.values.first()
        {
            let key = (it.name.clone(), figure.metric);
            let next = self.contents.measurements.len();
            let at = *self.untimed.entry(key).or_insert(next);
            if let Some(known) = self.contents.measurements.get_mut(at)
                && let Some(first) = known.parsed.values.first_mut()
            {
                first.samples.extend(&figure.samples);
                let start = known.lines.as_ref().map_or(number, |lines| *lines.start());
                known.lines = Some(start..=number);
                return;
            }
        }
        self.contents.add_part(Some(number..=number), what, made);
    }
}

/// Whether a test passed; logs of older versions have no verdict.
pub(super) fn is_pass(result: &str) -> bool {
    matches!(result, "pass" | "" | "null" | "xpass" | "success")
}

/// Converts a figure to a measurement; the inner error concerns the figure alone.
pub(super) fn convert_figure(
    test: &str,
    (name, value, unit): (&str, &str, &str),
) -> Result<Result<ImportedMeasurement, ToolError>, ToolError> {
    check_limit(test.len() + unit.len(), ("bytes in the name of a test", MAX_NAME_BYTES))?;
    let placed = to_base_unit(unit, (name, value), None)
        .and_then(|placed| placed.ok_or_else(|| missing("direction of a figure")));
    Ok(placed.map(|(metric, value)| {
        let is_unknown = metric == "score" && !unit.is_empty();
        let test = if is_unknown { format!("{test} [{unit}]") } else { test.to_owned() };
        foreign_measurement(&test, metric, vec![value])
    }))
}
