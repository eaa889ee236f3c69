//! Documents of IOR's JSON, as tests with their rows.

use serde_json::Value;

use super::super::contents::FailedPart;
use super::super::json_documents::{JsonDocument, split_documents};
use super::super::{FileContents, FileTime};
use super::ior_lines::record_wrong_data;
use super::ior_test::{IorTest, TestRow};
use crate::ior_text::{
    flatten_results, member_text, parse_document, parse_error, parse_row, reports_wrong_data,
};
use crate::outputs::ToolError;

/// Reads the tests of every document. Messages between the lines of a document are taken off.
pub(super) fn read_documents(text: &str, contents: &mut FileContents) -> Vec<IorTest> {
    let is_message = |line: &str| line.starts_with("WARNING") || line.starts_with("ERROR");
    let mut clean = String::with_capacity(text.len());
    let mut messages = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if is_message(line) {
            messages.push((at + 1, line));
        } else {
            clean.push_str(line);
        }
        clean.push('\n');
    }
    let title = text.lines().find_map(|line| line.strip_prefix("IOR-")?.split_once(": "));
    let version = title.map(|(version, _)| version.to_owned());
    let mut tests = Vec::new();
    for document in split_documents(&clean) {
        let lines = document.lines();
        let of_document = messages.iter().filter(|(at, _)| lines.contains(at));
        let lines_of: Vec<&str> = of_document.map(|(_, line)| *line).collect();
        match read_document(&document, version.as_deref(), &lines_of, contents) {
            Ok(mut read) => tests.append(&mut read),
            Err(error) => {
                let what = "document of IOR".to_owned();
                contents.failed.push(FailedPart::new(Some(lines), what, error));
            }
        }
    }
    tests
}

fn read_document(
    document: &JsonDocument<'_>,
    version: Option<&str>,
    messages: &[&str],
    contents: &mut FileContents,
) -> Result<Vec<IorTest>, ToolError> {
    if let Some(error) = messages.iter().find_map(|line| parse_error(line)) {
        return Err(error);
    }
    let value = parse_document(document.text)?;
    let version = member_text(&value, "Version").or_else(|| version.map(str::to_owned));
    let began = member_text(&value, "Began").and_then(|it| FileTime::parse_ctime(&it));
    let summaries = list_members(&value, "summary");
    let mut tests = Vec::new();
    for item in list_members(&value, "tests") {
        let id = item.get("TestID").and_then(Value::as_u64);
        let of_test =
            summaries.iter().find(|it| it.get("TestID").and_then(Value::as_u64) == id);
        let tasks = of_test.or_else(|| summaries.first().filter(|_| id.is_none()));
        let mut test = IorTest {
            version: version.clone(),
            began: member_text(item, "StartTime")
                .and_then(|it| FileTime::parse_ctime(&it))
                .or(began),
            tasks: tasks.and_then(|it| it.get("numTasks")?.as_u64()),
            lines: Some(document.lines()),
            ..IorTest::default()
        };
        for group in ["Parameters", "Options"] {
            read_options(item.get(group), &mut test);
        }
        read_rows(item, &mut test, document, contents)?;
        tests.push(test);
    }
    for line in messages.iter().filter(|line| reports_wrong_data(line)) {
        fail_checks(&mut tests, line);
    }
    if tests.is_empty() {
        return Err(ToolError::Missing { what: "test".to_owned(), place: "IOR's JSON" });
    }
    Ok(tests)
}

/// Records wrong data. The line has no test: it fails those with rows of its direction, else all.
fn fail_checks(tests: &mut [IorTest], line: &str) {
    let mut verdicts = [None, None];
    record_wrong_data(&mut verdicts, line);
    let mut is_recorded = false;
    for test in &mut *tests {
        for (verdict, is_write) in verdicts.iter().zip([true, false]) {
            if verdict.is_some() && test.count_rows(is_write) > 0 {
                test.verdicts[usize::from(!is_write)].clone_from(verdict);
                is_recorded = true;
            }
        }
    }
    if !is_recorded {
        let [write, read] = verdicts;
        let any = write.or(read);
        for test in tests {
            test.verdicts = [any.clone(), any.clone()];
        }
    }
}

fn list_members<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn read_options(group: Option<&Value>, test: &mut IorTest) {
    let Some(options) = group.and_then(Value::as_object) else { return };
    for name in options.keys() {
        let text = group.and_then(|group| member_text(group, name)).unwrap_or_default();
        if name == "tasks" {
            test.tasks = test.tasks.or_else(|| text.parse().ok());
        } else {
            test.options.insert(name.clone(), text);
        }
    }
}

fn read_rows(
    item: &Value,
    test: &mut IorTest,
    document: &JsonDocument<'_>,
    contents: &mut FileContents,
) -> Result<(), ToolError> {
    for result in flatten_results(item)? {
        let access = member_text(result, "access").unwrap_or_default();
        let is_write = match access.as_str() {
            "write" => true,
            "read" => false,
            _ => {
                let why = "assay imports writes and reads";
                contents.leave_out(Some(document.lines()), format!("row {access:?}"), why);
                continue;
            }
        };
        let row = parse_row(|name| member_text(result, name));
        test.rows.push(TestRow { line: None, is_write, row });
    }
    Ok(())
}
