//! Rows of text: comma-separated values and lines of JSON.

use assay_model::sanitize;

use super::ExportedRun;
use super::results::{result_columns, result_rows};
use super::table::ExportCell;
use crate::render::csv;
use crate::render::json;

/// Returns the row of headings.
pub(super) fn csv_head() -> String {
    let names = result_columns().iter().map(|column| column.name.to_owned()).collect();
    csv::write_records(std::iter::once(names))
}

/// Adds the results of a run as comma-separated values (RFC 4180).
pub(super) fn add_csv(text: &mut String, run: &ExportedRun) {
    let columns = result_columns();
    let rows = result_rows(run)
        .map(|row| columns.iter().map(|column| csv_cell((column.cell)(&row))).collect());
    text.push_str(&csv::write_records(rows));
}

fn csv_cell(cell: ExportCell<'_>) -> String {
    match cell {
        ExportCell::Missing => String::new(),
        ExportCell::Text(text) | ExportCell::Json(text) => text.into_owned(),
        ExportCell::Number(number) => csv::format_number(Some(number)),
        ExportCell::Integer(number) => number.to_string(),
        ExportCell::Flag(flag) => flag.to_string(),
        ExportCell::Time(text, _) => text.to_owned(),
    }
}

/// Adds the results of a run as lines of JSON. Every line has all keys.
pub(super) fn add_jsonl(text: &mut String, run: &ExportedRun) {
    let columns = result_columns();
    for row in result_rows(run) {
        let fields = columns.iter().map(|column| {
            let value = match (column.cell)(&row) {
                ExportCell::Missing => "null".to_owned(),
                ExportCell::Text(text) => json::to_json_line(&text),
                ExportCell::Time(text, _) => json::to_json_line(&text),
                ExportCell::Json(json) => json.into_owned(),
                ExportCell::Number(number) => csv::format_number(Some(number)),
                ExportCell::Integer(number) => number.to_string(),
                ExportCell::Flag(flag) => flag.to_string(),
            };
            format!("\"{}\":{value}", column.name)
        });
        let line = fields.collect::<Vec<_>>().join(",");
        text.push('{');
        // Invisible characters are escaped as in JSON, so that a terminal shows them.
        text.push_str(&sanitize::escape_hidden(&line));
        text.push_str("}\n");
    }
}
