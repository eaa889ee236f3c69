//! Results of many stored runs in one table: `list --results`, `compare --table`, `report A B`.

use assay_archive::result_table::{ResultTable, json_document};
use assay_report::export::ExportFormat;
use assay_run::failure::CommandFailure;

use crate::arguments::{PageArguments, PageFormat};
use crate::page::OutputPage;
use crate::terminal::Terminal;

/// Begins a table in the requested format, of all results or of those of one metric.
pub(crate) fn begin<'a>(metric: Option<&'a str>, typed: &PageArguments) -> ResultTable<'a> {
    let (format, has_document) = match typed.format() {
        PageFormat::Csv => (ExportFormat::Csv, false),
        PageFormat::Json => (ExportFormat::Jsonl, false),
        PageFormat::Text
        | PageFormat::Markdown
        | PageFormat::Html
        | PageFormat::Learn
        | PageFormat::Svg => (ExportFormat::Jsonl, true),
    };
    ResultTable::new(metric, format, has_document)
}

/// Prints or writes the table. CSV and JSON have the rows of `assay export`.
pub(crate) fn publish(
    table: ResultTable<'_>,
    typed: &PageArguments,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let (rows, build) = table.finish();
    OutputPage::new(build(), || json_document(&rows), || rows.clone())
        .with_html(build)
        .publish(typed, terminal)
}
