//! What may be typed after `list`.

use clap::Args;
use jiff::civil::Date;

use super::PageArguments;
use assay_console::options::StoreArguments;

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Only runs that began on this day in UTC or later, like 2026-11-22
    #[arg(long, value_name = "DATE", value_parser = day)]
    pub(crate) since: Option<Date>,
    /// Only runs of this suite, or recorded by this command
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,
    /// Only runs with this label
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Only runs of this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Also runs without a result, because everything in them failed
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

fn day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "a day is written like 2026-11-22".to_owned())
}
