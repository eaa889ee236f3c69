//! Options of `assay list`.

use clap::Args;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use super::PageArguments;
use assay_console::options::{StoreArguments, parse_seconds};

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
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
    /// Also list runs without a result: everything in them failed, or they ended before the first
    /// measurement
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Parses a day or a time before now into the timestamp format of runs. A bare day sorts before all
/// its times.
pub(super) fn parse_since(text: &str) -> Result<String, String> {
    if let Ok(day) = text.parse::<Date>() {
        return Ok(day.to_string());
    }
    let ago_s = parse_seconds(text).map_err(|_| {
        "expected a day like 2026-11-22, or a time before now like 1d or 12h".to_owned()
    })?;
    let ago = Timestamp::now().checked_sub(SignedDuration::from_secs_f64(ago_s));
    ago.map(|it| it.to_string()).map_err(|error| error.to_string())
}
