//! Results of many stored runs in one table: `list --results`, `compare --table`, `report A B`.

use assay_archive::export::exported_run;
use assay_judgement::expectations::NamedExpectations;
use assay_model::run::Run;
use assay_model::summary::RunSummary;
use assay_report::build;
use assay_report::export::{ExportFormat, ExportedFiles, Exporter};
use assay_run::failure::CommandFailure;

use crate::arguments::{PageArguments, PageFormat};
use crate::page::OutputPage;
use crate::terminal::Terminal;

/// Results of runs, of which only those in the requested form are kept.
pub(crate) struct ResultList<'a> {
    metric: Option<&'a str>,
    expectations: &'a NamedExpectations,
    summaries: Vec<RunSummary>,
    csv: Exporter,
    json: Exporter,
    format: PageFormat,
}

impl<'a> ResultList<'a> {
    /// Begins a list of all results, or of those of one metric.
    pub(crate) fn new(
        metric: Option<&'a str>,
        expectations: &'a NamedExpectations,
        typed: &PageArguments,
    ) -> Self {
        Self {
            metric,
            expectations,
            summaries: Vec::new(),
            csv: Exporter::new(ExportFormat::Csv),
            json: Exporter::new(ExportFormat::Jsonl),
            format: typed.format(),
        }
    }

    /// Adds a run; `is_whole` if all its stored events could be read.
    pub(crate) fn add(&mut self, run: Run, is_whole: bool) {
        let summary = self.expectations.summarize(&run);
        let mut run = exported_run(run, summary, is_whole);
        if let Some(metric) = self.metric {
            run.retain_metric(metric);
        }
        match self.format {
            PageFormat::Csv => self.csv.add(&run),
            PageFormat::Json => self.json.add(&run),
            PageFormat::Text
            | PageFormat::Markdown
            | PageFormat::Html
            | PageFormat::Learn
            | PageFormat::Svg => self.summaries.push(run.summary),
        }
    }

    /// Prints or writes the page. CSV and JSON have the rows of `assay export`.
    pub(crate) fn publish(
        self,
        typed: &PageArguments,
        terminal: &mut Terminal,
    ) -> Result<(), CommandFailure> {
        let csv = export_text(self.csv);
        let json = json_document(&export_text(self.json));
        let build = || build::result_list(&self.summaries);
        let page = OutputPage {
            document: build(),
            json: &|| json.clone(),
            csv: &|| csv.clone(),
            html_document: Some(&build),
        };
        page.publish(typed, terminal)
    }
}

fn export_text(exporter: Exporter) -> String {
    match exporter.finish().files {
        ExportedFiles::Text(text) => text,
        ExportedFiles::Files(_) => String::new(),
    }
}

/// Joins lines of JSON to one document.
fn json_document(lines: &str) -> String {
    let rows: Vec<&str> = lines.lines().collect();
    let schema = assay_model::summary::SCHEMA;
    format!("{{\"schema\":{schema},\"results\":[\n{}\n]}}\n", rows.join(",\n"))
}
