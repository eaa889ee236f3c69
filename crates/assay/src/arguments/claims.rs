//! The options of `assay references` and `assay lint`, and those of gates.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{PageArguments, ending};
use assay_console::options::{StoreArguments, word};

#[derive(Debug, Args)]
pub(crate) struct ReferencesArguments {
    /// A system, like azure/hbv4, or a file of your own in TOML [default: list all systems]
    #[arg(value_name = "SYSTEM", value_parser = word())]
    pub(crate) system: Option<String>,
    #[command(flatten)]
    pub(crate) page: PageArguments,
}

/// Thresholds that a comparison must keep, and who is told.
#[derive(Debug, Args)]
pub(crate) struct GateArguments {
    /// File of thresholds in TOML; they decide the exit code
    #[arg(long, value_name = "FILE")]
    pub(crate) gate: Option<PathBuf>,
    /// With --gate: also write the outcome as JUnit's XML
    #[arg(long, value_name = "FILE", requires = "gate")]
    pub(crate) junit: Option<PathBuf>,
    /// With --gate: also add the outcome to the summary of a GitHub job ($GITHUB_STEP_SUMMARY)
    #[arg(long, requires = "gate")]
    pub(crate) github: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LintArguments {
    /// Pages of Markdown or HTML, in any language
    #[arg(value_name = "PAGE", required = true)]
    pub(crate) pages: Vec<PathBuf>,
    /// The page it was made from, or a stored run: figures are compared cell by cell
    #[arg(long, value_name = "SOURCE|RUN", value_parser = word())]
    pub(crate) against: Option<String>,
    /// Write what has only one answer into the page
    #[arg(long)]
    pub(crate) fix: bool,
    /// Output format [default: that of FILE's ending, or else text]
    #[arg(long, value_enum)]
    format: Option<LintFormat>,
    /// Print one JSON document, as with --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

impl LintArguments {
    /// The format that was asked for, by either option or by the name of the file.
    pub(crate) fn format(&self) -> LintFormat {
        if self.json {
            return LintFormat::Json;
        }
        let of_file = || ending::format_of(self.output.as_deref()?);
        self.format.or_else(of_file).unwrap_or(LintFormat::Text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// file:line:column and what is wrong, one per line
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code hosts
    Sarif,
}
