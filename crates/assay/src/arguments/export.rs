//! Options of `assay export`.

use std::path::PathBuf;

use assay_report::export::{ExportFormat, SampleTimes};
use clap::{Args, ValueEnum};

use super::list::RunFilterArguments;
use super::page;
use assay_console::options::StoreArguments;

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Output format
    #[arg(value_name = "FORMAT", value_enum)]
    pub(crate) format: ExportFormatName,
    /// Runs, named as for `assay show`, or labels [default: all runs]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: RunFilterArguments,
    /// Only the newest run of each host, suite and label; openmetrics then omits the times, as the
    /// textfile collector of Prometheus requires
    #[arg(long)]
    pub(crate) latest: bool,
    /// Write the file anew whenever a run has ended or was removed, until a signal
    #[arg(long, requires = "output", conflicts_with = "runs")]
    pub(crate) follow: bool,
    /// Write to this file instead of standard output; with parquet, to files in this folder
    #[arg(short, long, value_name = "FILE", value_parser = page::file_parser())]
    pub(crate) output: Option<PathBuf>,
    /// Print no progress, only warnings and failures
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormatName {
    /// One row of comma-separated values per result, the same columns for all runs
    Csv,
    /// The same rows as lines of JSON
    Jsonl,
    /// Exposition format of Prometheus
    #[value(name = "openmetrics", alias = "prometheus")]
    OpenMetrics,
    /// Line protocol of InfluxDB
    Influx,
    /// Bencher Metric Format, of one run
    Bencher,
    /// Three columnar files: results, samples and runs
    Parquet,
}

impl ExportArguments {
    /// Returns the name of the format, as typed.
    pub(crate) fn format_name(&self) -> String {
        let value = self.format.to_possible_value();
        value.map(|it| it.get_name().to_owned()).unwrap_or_default()
    }

    /// Returns the requested format.
    pub(crate) const fn export_format(&self) -> ExportFormat {
        match self.format {
            ExportFormatName::Csv => ExportFormat::Csv,
            ExportFormatName::Jsonl => ExportFormat::Jsonl,
            ExportFormatName::OpenMetrics if self.latest => {
                ExportFormat::OpenMetrics(SampleTimes::Omitted)
            }
            ExportFormatName::OpenMetrics => ExportFormat::OpenMetrics(SampleTimes::RunStart),
            ExportFormatName::Influx => ExportFormat::Influx,
            ExportFormatName::Bencher => ExportFormat::Bencher,
            ExportFormatName::Parquet => ExportFormat::Parquet,
        }
    }
}
