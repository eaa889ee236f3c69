//! Options of `assay site`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser as _};

use super::language::ScreenArguments;
use super::list::RunFilterArguments;
use assay_console::options::StoreArguments;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay site pages                           write pages/index.html, and open it in a browser
  assay site pages --label hbv4 --since 30d  only the runs of a label of the last 30 days
  assay site public --anonymous              without names of hosts and users, addresses and paths

A second call writes only what has changed. Nothing is loaded from elsewhere, so the folder can be
opened from a disk, served by any web server, or sent as an archive.")]
pub(crate) struct SiteArguments {
    /// Folder to write: a new or an empty one, or one that `assay site` wrote before
    #[arg(value_name = "FOLDER", value_parser = folder_parser())]
    pub(crate) site: PathBuf,
    #[command(flatten)]
    pub(crate) filter: RunFilterArguments,
    /// Replace names of hosts and users, addresses, paths and serial numbers by placeholders, which
    /// are equal in all pages and calls
    #[arg(long)]
    pub(crate) anonymous: bool,
    #[command(flatten)]
    pub(crate) screen: ScreenArguments,
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
