//! Exports of stored runs for other programs: notebooks, databases and dashboards.
//!
//! Tables ([`table`]) have columns that do not depend on the runs; every format is written from
//! them or from the same results. Values are those of the JSON document of a run, in base units,
//! and never localised. Names of hosts, labels and notes are untrusted text.

mod bencher;
mod delimited;
mod influx;
mod labels;
mod open_metrics;
mod parquet;
mod results;
mod runs;
mod samples;
mod table;

use assay_model::benchmark::is_metric;
use assay_model::doubt::TrustLevel;
use assay_model::run::Run;
use assay_model::summary::RunSummary;

use crate::build;
use crate::locale::Language;

pub use open_metrics::SampleTimes;
pub use table::ColumnKind;
use table::ExportColumn;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// One row of comma-separated values for each result.
    Csv,
    /// One line of JSON for each result.
    Jsonl,
    /// Exposition format of Prometheus.
    OpenMetrics(SampleTimes),
    /// Line protocol of `InfluxDB`.
    Influx,
    /// Bencher Metric Format.
    Bencher,
    /// Columnar files: results, samples and runs.
    Parquet,
}

/// Stored run to export.
#[derive(Debug, Clone)]
pub struct ExportedRun {
    /// Its events, for the samples.
    pub run: Run,
    /// Its results.
    pub summary: RunSummary,
    /// Start in nanoseconds since 1970; `None` if the stored time cannot be read.
    pub started_ns: Option<i64>,
    /// Whether all stored events could be read.
    pub is_whole: bool,
    /// Level of trust in the results.
    trust: TrustLevel,
}

impl ExportedRun {
    /// Prepares a run with its summary.
    pub fn new(
        run: Run,
        summary: RunSummary,
        (started_ns, is_whole): (Option<i64>, bool),
    ) -> Self {
        let trust = build::trust_level(&summary);
        Self { run, summary, started_ns, is_whole, trust }
    }

    /// Keeps only the results and series of one metric: `triad` or `memory.stream/triad`.
    pub fn retain_metric(&mut self, metric: &str) {
        self.summary.results.retain(|it| is_metric(metric, &it.benchmark, &it.metric));
        for record in &mut self.run.cases {
            let benchmark = record.case.workload.benchmark().id();
            record.series.retain(|it| is_metric(metric, benchmark, &it.metric));
        }
    }
}

/// Contents of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportedFiles {
    /// One text.
    Text(String),
    /// Binary files with their names.
    Files(Vec<(&'static str, Vec<u8>)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedExport {
    /// Its contents.
    pub files: ExportedFiles,
    /// Number of results that the format cannot contain: without a time, or a second one of the
    /// same series at the same time.
    pub left_out: usize,
}

/// Writer of an export, which gets one run at a time.
#[derive(Debug)]
pub struct Exporter(FormatWriter);

#[derive(Debug)]
enum FormatWriter {
    Csv(String),
    Jsonl(String),
    OpenMetrics(open_metrics::MetricFamilies),
    Influx(influx::InfluxLines),
    Bencher(bencher::BencherReport),
    Parquet(Box<parquet::ParquetTables>),
}

impl Exporter {
    /// Begins an export.
    pub fn new(format: ExportFormat) -> Self {
        Self(match format {
            ExportFormat::Csv => FormatWriter::Csv(delimited::csv_head()),
            ExportFormat::Jsonl => FormatWriter::Jsonl(String::new()),
            ExportFormat::OpenMetrics(times) => {
                FormatWriter::OpenMetrics(open_metrics::MetricFamilies::new(times))
            }
            ExportFormat::Influx => FormatWriter::Influx(influx::InfluxLines::default()),
            ExportFormat::Bencher => FormatWriter::Bencher(bencher::BencherReport::default()),
            ExportFormat::Parquet => FormatWriter::Parquet(Box::default()),
        })
    }

    /// Adds a run.
    pub fn add(&mut self, run: &ExportedRun) {
        Language::INVARIANT.scope(|| match &mut self.0 {
            FormatWriter::Csv(text) => delimited::add_csv(text, run),
            FormatWriter::Jsonl(text) => delimited::add_jsonl(text, run),
            FormatWriter::OpenMetrics(families) => families.add(run),
            FormatWriter::Influx(lines) => lines.add(run),
            FormatWriter::Bencher(report) => report.add(run),
            FormatWriter::Parquet(tables) => tables.add(run),
        });
    }

    /// Returns the contents.
    pub fn finish(self) -> FinishedExport {
        let text =
            |text, left_out| FinishedExport { files: ExportedFiles::Text(text), left_out };
        match self.0 {
            FormatWriter::Csv(all) | FormatWriter::Jsonl(all) => text(all, 0),
            FormatWriter::OpenMetrics(families) => {
                let left_out = families.left_out();
                text(families.render(), left_out)
            }
            FormatWriter::Influx(lines) => text(lines.text, lines.left_out),
            FormatWriter::Bencher(report) => {
                let left_out = report.left_out;
                text(report.render(), left_out)
            }
            FormatWriter::Parquet(tables) => {
                FinishedExport { files: ExportedFiles::Files(tables.finish()), left_out: 0 }
            }
        }
    }
}

/// Describes the columns of all tables in Markdown, for the documentation.
pub fn describe_columns() -> String {
    fn table<R>(title: &str, columns: &[ExportColumn<R>]) -> String {
        let row = |it: &ExportColumn<R>| {
            format!("| `{}` | {} | {} |\n", it.name, it.kind.word(), it.meaning)
        };
        let rows: String = columns.iter().map(row).collect();
        format!("## {title}\n\n| column | kind | meaning |\n|---|---|---|\n{rows}")
    }
    [
        "# Columns of exported tables\n\nWritten by the tests of `assay-report`. See [export](export.md).\n".to_owned(),
        table("Results: csv, jsonl, results.parquet", &results::result_columns()),
        table("Samples: samples.parquet", &samples::sample_columns()),
        table("Runs: runs.parquet", &runs::run_columns()),
    ]
    .join("\n")
}
