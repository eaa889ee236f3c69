//! Import of the JSON report of `reframe --report-file`: data versions 1 to 3 of `ReFrame` 3.1 to 4.6
//! (`perfvars`), and 4 of later ones (`perfvalues`).
//!
//! A test has the name that it has in the performance log, so that both can be compared.

use assay_model::attribute::{Attribute, AttributeValue};
use serde_json::Value;

use super::super::json_documents::{JsonDocument, split_documents};
use super::super::{FileContents, FileTime, ImportedMeasurement, LineSpan, missing};
use super::reframe::{convert_figure, is_pass};
use crate::json_selection::{document_error, select_with_whole};
use crate::limits::{MAX_MEASUREMENTS, check_limit};
use crate::outputs::ToolError;

/// Object of a test case with a list for each `system:partition:variable`.
const VALUES: &str = "perfvalues";
/// Members of a report that are read.
const NAMES: [&str; 21] = [
    "session_info",
    "version",
    "time_end",
    "time_end_unix",
    "runs",
    "testcases",
    "name",
    "display_name",
    "system",
    "partition",
    "environ",
    "environment",
    "result",
    "fail_phase",
    "fail_reason",
    "job_completion_time",
    "job_completion_time_unix",
    "num_tasks",
    "perfvars",
    "value",
    "unit",
];
/// Maximum number of values in one document.
const MAX_VALUES: usize = 200_000;

pub(super) fn is_reframe_json(text: &str) -> bool {
    text.contains("\"session_info\"") && text.contains("\"testcases\"")
}

/// Performance variable of a test case: its name, value and unit.
type Variable<'v> = (&'v str, &'v Value, &'v str);

/// Reads one measurement for each performance variable of each test case that passed.
pub(super) fn read(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    for document in split_documents(text) {
        if let Err(error) = read_report(&document, &mut contents) {
            contents.add_part(Some(document.lines()), "report of ReFrame", Err(error));
        }
    }
    Ok(contents)
}

fn read_report(
    document: &JsonDocument<'_>,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    let report = select_with_whole(document.text, &NAMES, &[VALUES], MAX_VALUES);
    let report = report.map_err(|error| document_error(&error, MAX_VALUES))?;
    let runs = report.get("runs").and_then(Value::as_array);
    let runs = runs.ok_or_else(|| missing("list \"runs\""))?;
    let session = report.get("session_info").unwrap_or(&Value::Null);
    for run in runs {
        let cases = run.get("testcases").and_then(Value::as_array);
        for case in cases.into_iter().flatten() {
            TestCase { case, session, lines: document.lines() }.read(contents)?;
            let count = contents.measurements.len() + contents.failed.len();
            check_limit(count, ("performance variables", MAX_MEASUREMENTS))?;
            contents.check_size()?;
        }
    }
    Ok(())
}

/// Test case of a report.
struct TestCase<'v> {
    case: &'v Value,
    session: &'v Value,
    lines: LineSpan,
}

impl TestCase<'_> {
    fn text(&self, name: &str) -> &str {
        self.case.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the name that the performance log has, without the number of a repetition.
    fn name(&self) -> String {
        let displayed = self.text("display_name");
        let name = if displayed.is_empty() { self.text("name") } else { displayed };
        let words = name.split_whitespace().filter(|word| !word.starts_with("%.repeat_no="));
        // Versions before 4.7 have `system:partition` in one member.
        let places = self.text("system").split(':');
        let places =
            places.chain(["partition", "environ", "environment"].map(|it| self.text(it)));
        words.chain(places.filter(|it| !it.is_empty())).collect::<Vec<_>>().join(" ")
    }

    /// Returns the time of the case, or else the end of the session.
    fn time(&self) -> Option<FileTime> {
        let unix = |of: &Value, name: &str| of.get(name)?.as_f64().map(|it| it as u64);
        let printed = |of: &Value, name: &str| FileTime::parse_iso(of.get(name)?.as_str()?);
        unix(self.case, "job_completion_time_unix")
            .map(FileTime::from_unix)
            .or_else(|| printed(self.case, "job_completion_time"))
            .or_else(|| unix(self.session, "time_end_unix").map(FileTime::from_unix))
            .or_else(|| printed(self.session, "time_end"))
    }

    /// Returns the performance variables; `None` for a member of another form.
    fn variables(&self) -> Option<Vec<Variable<'_>>> {
        let mut found = Vec::new();
        let listed = self.case.get("perfvars").and_then(Value::as_array);
        for variable in listed.into_iter().flatten() {
            let unit = variable.get("unit").and_then(Value::as_str).unwrap_or_default();
            found.push((variable.get("name")?.as_str()?, variable.get("value")?, unit));
        }
        let values = self.case.get(VALUES).and_then(Value::as_object);
        for (name, row) in values.into_iter().flatten() {
            // The value, its reference with both limits, the unit, and the verdict.
            const UNIT: usize = 4;
            let name = name.rsplit(':').next().unwrap_or(name);
            let unit = row.get(UNIT).and_then(Value::as_str).unwrap_or_default();
            found.push((name, row.get(0)?, unit));
        }
        Some(found)
    }

    /// Reads the variables of a case that passed; others are left out with `ReFrame`'s reason.
    fn read(&self, contents: &mut FileContents) -> Result<(), ToolError> {
        let (test, lines) = (self.name(), Some(self.lines.clone()));
        let result = self.text("result");
        if !is_pass(result) {
            let mut why = format!("ReFrame's own verdict is result={result}");
            let reason = self.text("fail_reason").lines().next().unwrap_or_default();
            if !reason.is_empty() {
                why = format!("{why}: {reason}");
            }
            contents.leave_out(lines, test, why);
            return Ok(());
        }
        let Some(variables) = self.variables() else {
            let error = missing(&format!("value of a performance variable of {test}"));
            contents.add_part(lines, test, Err(error));
            return Ok(());
        };
        if variables.is_empty() {
            contents.leave_out(lines, test, "it has no performance variable");
            return Ok(());
        }
        for (name, value, unit) in variables {
            let what = format!("{test} {name}");
            if value.is_null() {
                contents.leave_out(lines.clone(), what, "it has no value");
                continue;
            }
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let made = convert_figure(&what, (name, &text, unit))?;
            contents.add_part(lines.clone(), what, made.map(|made| self.complete(made)));
        }
        Ok(())
    }

    /// Adds time, version and number of processes.
    fn complete(&self, mut made: ImportedMeasurement) -> ImportedMeasurement {
        made.began = self.time();
        let version = self.session.get("version").and_then(Value::as_str);
        made.parsed.version = version.map(str::to_owned);
        let ranks = self.case.get("num_tasks").and_then(Value::as_u64);
        made.dimensions.extend(ranks.map(|it| (Attribute::Ranks, AttributeValue::from(it))));
        made
    }
}
