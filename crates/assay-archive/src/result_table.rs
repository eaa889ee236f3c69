//! Results of many runs in one table: a row for each result, in the formats of pages.

use assay_model::run::Run;
use assay_model::summary::{RunSummary, SCHEMA};
use assay_report::build;
use assay_report::document::Document;
use assay_report::export::{ExportFormat, ExportedFiles, Exporter};

use crate::export::exported_run;

/// Results of runs, in the order in which they are added.
#[derive(Debug)]
pub struct ResultTable<'a> {
    metric: Option<&'a str>,
    /// Rows for programs: those of `assay export`.
    rows: Exporter,
    /// Summaries for people; empty if only programs read the table.
    summaries: Vec<RunSummary>,
    has_document: bool,
}

impl<'a> ResultTable<'a> {
    /// Begins a table of all results, or of those of one metric. Its rows have `format`; without
    /// `has_document` it needs no memory for the tables that people read.
    pub fn new(metric: Option<&'a str>, format: ExportFormat, has_document: bool) -> Self {
        Self { metric, rows: Exporter::new(format), summaries: Vec::new(), has_document }
    }

    /// Adds a run; `is_whole` if all its stored events could be read.
    pub fn add(&mut self, run: Run, summary: RunSummary, is_whole: bool) {
        let mut run = exported_run(run, summary, is_whole);
        if let Some(metric) = self.metric {
            run.retain_metric(metric);
        }
        self.rows.add(&run);
        if self.has_document {
            self.summaries.push(run.summary);
        }
    }

    /// Returns the table's rows as text, and its document.
    pub fn finish(self) -> (String, impl Fn() -> Document) {
        let rows = match self.rows.finish().files {
            ExportedFiles::Text(text) => text,
            ExportedFiles::Files(_) => String::new(),
        };
        (rows, move || build::result_list(&self.summaries))
    }
}

/// Joins lines of JSON to one document.
pub fn json_document(lines: &str) -> String {
    let rows: Vec<&str> = lines.lines().collect();
    format!("{{\n  \"schema\": {SCHEMA},\n  \"results\": [\n{}\n]}}\n", rows.join(",\n"))
}
