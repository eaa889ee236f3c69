//! Options for the format and the file of a page.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, ValueEnum};

use super::file_extension;
use super::language::ScreenArguments;

/// Format of a page, and the file to write it to.
#[derive(Debug, Args)]
pub(crate) struct PageArguments {
    /// Output format [default: by FILE's extension, otherwise text]
    #[arg(long, value_enum)]
    format: Option<PageFormat>,
    /// Print one JSON document, as with --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_parser = file_parser())]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) screen: ScreenArguments,
}

/// Format of a result of a few lines: text, or one JSON document.
#[derive(Debug, Args)]
pub(crate) struct BriefPageArguments {
    /// Output format [default: by FILE's extension, otherwise text]
    #[arg(long, value_enum)]
    format: Option<BriefFormat>,
    /// Print one JSON document, as with --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_parser = file_parser())]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) screen: ScreenArguments,
}

/// Returns a parser for output files that rejects `-`, which means standard output in many tools.
pub(super) fn file_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|file| {
        if file == Path::new("-") {
            return Err("leave out -o to write to standard output");
        }
        Ok(file)
    })
}

/// Limits `--format` to the formats of a page without results: it has no plots, either.
pub(super) fn without_results(option: Arg) -> Arg {
    offer_formats(option, |it| !it.needs_results())
}

/// Offers the format for publication, too, which needs stored runs.
pub(super) fn with_publication(option: Arg) -> Arg {
    offer_formats(option, |_| true)
}

fn offer_formats(option: Arg, is_offered: impl Fn(&PageFormat) -> bool) -> Arg {
    let offered = PageFormat::value_variants().iter().filter(|it| is_offered(it));
    let names = offered.filter_map(ValueEnum::to_possible_value).map(|it| it.hide(false));
    option.value_parser(
        PossibleValuesParser::new(names)
            .try_map(|name: String| <PageFormat as ValueEnum>::from_str(&name, false)),
    )
}

impl BriefPageArguments {
    /// Whether the format is JSON.
    pub(crate) fn is_json(&self) -> bool {
        let of_file = || file_extension::format_from_extension(self.output.as_deref()?);
        self.json || self.format.or_else(of_file) == Some(BriefFormat::Json)
    }

    /// Whether text is printed directly to standard output.
    pub(crate) fn is_interactive(&self) -> bool {
        !self.is_json() && self.output.is_none()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BriefFormat {
    /// For the terminal
    Text,
    /// One JSON document
    Json,
}

impl PageArguments {
    /// Whether the page is printed as text on standard output.
    pub(crate) fn is_on_screen(&self) -> bool {
        self.format() == PageFormat::Text && self.output.is_none()
    }

    /// Returns the requested format, from either option or the file's extension.
    pub(crate) fn format(&self) -> PageFormat {
        if self.json {
            return PageFormat::Json;
        }
        let of_file = || file_extension::format_from_extension(self.output.as_deref()?);
        self.format.or_else(of_file).unwrap_or(PageFormat::Text)
    }
}

impl PageFormat {
    /// Whether only a page with results has the format.
    const fn needs_results(self) -> bool {
        match self {
            Self::Csv | Self::Learn | Self::Svg => true,
            Self::Text | Self::Markdown | Self::Html | Self::Json => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// For the terminal
    Text,
    /// For a repository or a wiki
    Markdown,
    /// One self-contained page with plots
    Html,
    /// Markdown for publication: front matter, and the tables that vendors print
    // Only for stored runs: offered by `show` and `report`.
    #[value(hide = true)]
    Learn,
    /// One image with all plots
    Svg,
    /// One row per result, in base units
    Csv,
    /// Machine-readable result
    Json,
}
