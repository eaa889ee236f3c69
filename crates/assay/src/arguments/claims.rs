//! Options of `assay references` and `assay lint`, and of reports on gates.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::language::ScreenArguments;
use super::page::{file_parser, without_results};
use super::{PageArguments, file_extension};
use assay_console::options::{StoreArguments, word_parser};

#[derive(Debug, Args)]
#[command(mut_arg("format", without_results))]
pub(crate) struct ReferencesArguments {
    /// System, like azure/hbv4, or your own TOML file [default: list all systems]
    #[arg(value_name = "SYSTEM", value_parser = word_parser())]
    pub(crate) system: Option<String>,
    #[command(flatten)]
    pub(crate) page: PageArguments,
}

/// Option for expectations.
#[derive(Debug, Args)]
pub(crate) struct ExpectArguments {
    /// Compare the results with the figures of a system, like azure/hbv4, or with a TOML file of
    /// claims, limits and gates (docs/references.md). May be repeated
    #[arg(long, value_name = "FILE|SYSTEM", value_parser = word_parser())]
    pub(crate) expect: Vec<String>,
}

/// Reports of the outcome of gates.
#[derive(Debug, Args)]
pub(crate) struct OutcomeReportArguments {
    /// With gates: also write their outcome as JUnit's XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// With gates: also add their outcome to the summary of a GitHub job ($GITHUB_STEP_SUMMARY)
    #[arg(long)]
    pub(crate) github: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LintArguments {
    /// Pages in Markdown or HTML, in any language; - reads standard input
    #[arg(value_name = "PAGE", required = true)]
    pub(crate) pages: Vec<PathBuf>,
    /// Original page or stored run to compare the figures with, cell by cell
    #[arg(long, value_name = "SOURCE|RUN", value_parser = word_parser())]
    pub(crate) against: Option<String>,
    /// Apply unambiguous corrections to the page
    #[arg(long)]
    pub(crate) fix: bool,
    /// Report also possible errors: style, and checks that are right less than 9 times in 10
    #[arg(long)]
    pub(crate) all: bool,
    /// Output format [default: by FILE's extension, otherwise text]
    #[arg(long, value_enum)]
    format: Option<LintFormat>,
    /// Print one JSON document, as with --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_parser = file_parser())]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) screen: ScreenArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

impl LintArguments {
    /// Returns the requested format, from either option or the file's extension.
    pub(crate) fn format(&self) -> LintFormat {
        if self.json {
            return LintFormat::Json;
        }
        let of_file = || file_extension::format_from_extension(self.output.as_deref()?);
        self.format.or_else(of_file).unwrap_or(LintFormat::Text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// One finding per line: file:line:column and the problem
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code hosts
    Sarif,
}
