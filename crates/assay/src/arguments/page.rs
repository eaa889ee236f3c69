//! In which format a page is asked for, and where it goes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// In which format a page is written, and where to.
#[derive(Debug, Args)]
pub(crate) struct PageArguments {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Print one JSON document, as with --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl PageArguments {
    /// The format that was asked for, by either option.
    pub(crate) const fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For the terminal
    Text,
    /// For a repository or a wiki
    Markdown,
    /// One self-contained page with plots
    Html,
    /// Markdown for publication: front matter, and the tables that vendors print
    Learn,
    /// One image with all plots
    Svg,
    /// One row per result, base units
    Csv,
    /// The machine-readable result
    Json,
}
