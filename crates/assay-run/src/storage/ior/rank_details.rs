//! Times and throughput of each rank, as IOR appends them to the file of
//! `-O saveRankPerformanceDetailsCSV`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;

use assay_dialects::exponent::format_exponent;
use assay_dialects::ior::compile::IorAccess;
use assay_dialects::ior::options::IorOptions;
use assay_model::path_text;
use assay_model::storage_outcome::StorageOutcome;

use crate::failure::CommandFailure;
use crate::storage::safe_open;

const HEADER: &str =
    "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n";

/// Begins the files of all tests, each once.
pub(super) fn begin_files(tests: &[IorOptions]) -> Result<(), CommandFailure> {
    let files: BTreeSet<&String> =
        tests.iter().filter_map(|test| test.rank_details_file.as_ref()).collect();
    let is_details = |start: &[u8]| HEADER.as_bytes().starts_with(start);
    files.into_iter().try_for_each(|file| {
        let path = path_text::decode_path(file);
        safe_open::check_replaceable(&path, is_details)
            .and_then(|()| safe_open::open_output(&path, false))
            .and_then(|mut opened| opened.write_all(HEADER.as_bytes()))
            .map_err(|error| write_failure(file, &error))
    })
}

/// Appends a line for each rank; `rest` is the wear-out after a deadline.
pub(super) fn append(
    options: &IorOptions,
    access: IorAccess,
    outcome: &StorageOutcome,
    rest: &[StorageOutcome],
) -> Result<(), CommandFailure> {
    let Some(file) = &options.rank_details_file else { return Ok(()) };
    let text = format_ranks(options.ranks, access, outcome, rest);
    safe_open::open_output(&path_text::decode_path(file), true)
        .and_then(|mut opened| opened.write_all(text.as_bytes()))
        .map_err(|error| write_failure(file, &error))
}

/// Formats a line for each rank: seconds with and without opening and closing, and B/s in both.
fn format_ranks(
    ranks: u32,
    access: IorAccess,
    outcome: &StorageOutcome,
    rest: &[StorageOutcome],
) -> String {
    let all = || std::iter::once(outcome).chain(rest);
    let rest_s: f64 = rest.iter().map(|it| it.elapsed_s).sum();
    let tallies = all().flat_map(|it| &it.tallies).map(|it| it.tally.bytes);
    let bytes = tallies.sum::<u64>() as f64 / f64::from(ranks.max(1));
    let name = if access == IorAccess::Write { "write" } else { "read" };
    let mut text = String::new();
    for rank in 0..ranks {
        let own = outcome.streams.get(rank as usize).map_or(0.0, |stream| stream.active_s);
        let seconds = own + rest_s;
        let with_open = seconds + outcome.open_s + outcome.close_s;
        let figures = [with_open, seconds, bytes / with_open, bytes / seconds];
        let figures = figures.map(|it| format_exponent(it, 10));
        let _ = writeln!(text, "{name},{rank},{}", figures.join(","));
    }
    text
}

fn write_failure(file: &str, error: &std::io::Error) -> CommandFailure {
    CommandFailure::measurement(format!("cannot write {file}"))
        .with_cause(error)
        .advise("name a file of your own with -O saveRankPerformanceDetailsCSV")
}
