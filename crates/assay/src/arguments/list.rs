//! Options of `assay list`.

use clap::Args;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{PageArguments, ScreenArguments};
use assay_archive::ArchiveRequest;
use assay_console::options::{StoreArguments, parse_seconds};
use assay_console::store_access;
use assay_report::locale::Language;
use assay_store::RunFilter;

/// Selection of stored runs.
#[derive(Debug, Args)]
pub(crate) struct RunFilterArguments {
    /// Only runs that began on this day (local time) or later, like 2026-11-22, or within this time, like 1d
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
    /// Only runs with a result of this metric, like triad or memory.stream/triad
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
}

impl RunFilterArguments {
    /// Returns the conditions on the runs.
    pub(crate) fn selection(&self) -> RunFilter {
        RunFilter {
            since: self.since.clone(),
            suite: self.suite.clone(),
            label: self.label.clone(),
            host: self.host.clone(),
            metric: self.metric.clone(),
        }
    }

    /// Returns the request for pages of the selected runs.
    pub(crate) fn archive_request(
        &self,
        store: &StoreArguments,
        screen: &ScreenArguments,
    ) -> ArchiveRequest {
        ArchiveRequest {
            store: store_access::location(store),
            filter: self.selection(),
            language: screen.language().unwrap_or(Language::INVARIANT),
            version: crate::VERSION,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) filter: RunFilterArguments,
    /// Also list runs without a result: everything in them failed, or they ended before the first
    /// measurement
    #[arg(long)]
    pub(crate) all: bool,
    /// List the results of the runs instead, one a row: what, case, value, interval, tool, host, time,
    /// label and state; `--format csv` has the columns of `assay export csv`
    #[arg(long)]
    pub(crate) results: bool,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Parses a local day or a time before now into the timestamp format of runs.
fn parse_since(text: &str) -> Result<String, String> {
    if let Ok(day) = text.parse::<Date>() {
        return start_of_day(day, TimeZone::try_system().unwrap_or(TimeZone::UTC));
    }
    let ago_s = parse_seconds(text).map_err(|_| {
        "expected a day like 2026-11-22, or a time before now like 1d or 12h".to_owned()
    })?;
    let ago = Timestamp::now().checked_sub(SignedDuration::from_secs_f64(ago_s));
    ago.map(|it| it.to_string()).map_err(|error| error.to_string())
}

/// Returns the first moment of a day in UTC. Without `Z` it sorts before all fractions of its second.
fn start_of_day(day: Date, zone: TimeZone) -> Result<String, String> {
    let start = day.to_zoned(zone).map_err(|error| error.to_string())?.timestamp();
    Ok(start.to_string().trim_end_matches('Z').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_local() {
        for (rule, expected) in [
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-24T22:00:00"),
            ("JST-9", "2026-10-24T15:00:00"),
            ("UTC0", "2026-10-25T00:00:00"),
        ] {
            let start =
                start_of_day("2026-10-25".parse().unwrap(), TimeZone::posix(rule).unwrap());
            assert_eq!(start.unwrap(), expected);
        }
    }
}
