//! Options of `assay site`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser as _};

use super::language::LanguageArguments;
use super::list::parse_since;
use assay_console::options::StoreArguments;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay site pages                           write pages/index.html, and open it in a browser
  assay site pages --label hbv4 --since 30d  only the runs of a label of the last 30 days

A second call writes only what has changed. Nothing is loaded from elsewhere, so the folder can be
opened from a disk, served by any web server, or sent as an archive.")]
pub(crate) struct SiteArguments {
    /// Folder to write: a new or an empty one, or one that `assay site` wrote before
    #[arg(value_name = "DIR", value_parser = folder_parser())]
    pub(crate) site: PathBuf,
    /// Only runs that began on this day in UTC or later, like 2026-11-22, or within this time, like 1d
    #[arg(long, value_name = "DATE|TIME", value_parser = parse_since)]
    pub(crate) since: Option<String>,
    /// Only runs of this suite, or recorded by this command
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,
    /// Only runs with this label
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Only runs of this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) language: LanguageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Returns a parser for the folder that rejects `-`, which means standard output in many tools.
fn folder_parser() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|folder| {
        if folder.as_os_str() == "-" {
            return Err("expected the name of a folder, like pages");
        }
        Ok(folder)
    })
}
