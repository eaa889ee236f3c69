//! In which format a page is asked for, and where it goes.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::ending;

/// In which format a page is written, and where to.
#[derive(Debug, Args)]
pub(crate) struct PageArguments {
    /// Output format [default: that of FILE's ending, or else text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Print one JSON document, as with --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_parser = file())]
    pub(crate) output: Option<PathBuf>,
}

/// The same for an answer that is a few lines: words, or one JSON document for scripts.
#[derive(Debug, Args)]
pub(crate) struct AnswerArguments {
    /// Output format [default: that of FILE's ending, or else text]
    #[arg(long, value_enum)]
    format: Option<AnswerFormat>,
    /// Print one JSON document, as with --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_parser = file())]
    pub(crate) output: Option<PathBuf>,
}

/// A file to write to; many tools mean standard output by a dash, and nobody a file of that name.
fn file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|file| {
        if file == Path::new("-") {
            return Err("it is written to standard output where -o is left out");
        }
        Ok(file)
    })
}

impl AnswerArguments {
    /// Whether scripts read it.
    pub(crate) fn is_json(&self) -> bool {
        let of_file = || ending::format_of(self.output.as_deref()?);
        self.json || self.format.or_else(of_file) == Some(AnswerFormat::Json)
    }

    /// Whether people read along while it is found out.
    pub(crate) fn is_read_along(&self) -> bool {
        !self.is_json() && self.output.is_none()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnswerFormat {
    /// For the terminal
    Text,
    /// One JSON document
    Json,
}

impl PageArguments {
    /// The format that was asked for, by either option or by the name of the file.
    pub(crate) fn format(&self) -> Format {
        if self.json {
            return Format::Json;
        }
        let of_file = || ending::format_of(self.output.as_deref()?);
        self.format.or_else(of_file).unwrap_or(Format::Text)
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
    // Of stored runs alone: the helps of `show` and `report` name it.
    #[value(hide = true)]
    Learn,
    /// One image with all plots
    Svg,
    /// One row per result, base units
    Csv,
    /// The machine-readable result
    Json,
}
