//! File with the figures of each task (`--saveRankPerformanceDetails`).

use std::io::Write as _;

use assay_dialects::mdtest::options::MdtestOptions;
use assay_dialects::mdtest::rank_details;
use assay_dialects::mdtest::result::MdtestTest;
use assay_model::path_text;

use crate::failure::CommandFailure;
use crate::storage::safe_open;

/// Begins the file; refuses one that is not such a file.
pub(super) fn begin_file(options: &MdtestOptions) -> Result<(), CommandFailure> {
    let Some(file) = &options.rank_details_file else { return Ok(()) };
    let path = path_text::decode_path(file);
    let heading = rank_details::render_heading();
    let is_details = |start: &[u8]| heading.as_bytes().starts_with(start);
    safe_open::check_replaceable(&path, is_details)
        .and_then(|()| safe_open::open_output(&path, false))
        .and_then(|mut opened| opened.write_all(heading.as_bytes()))
        .map_err(|error| write_failure(file, &error))
}

/// Appends the lines of a test.
pub(super) fn append(options: &MdtestOptions, test: &MdtestTest) -> Result<(), CommandFailure> {
    let Some(file) = &options.rank_details_file else { return Ok(()) };
    let text = rank_details::render_test(test, options.iterations);
    safe_open::open_output(&path_text::decode_path(file), true)
        .and_then(|mut opened| opened.write_all(text.as_bytes()))
        .map_err(|error| write_failure(file, &error))
}

fn write_failure(file: &str, error: &std::io::Error) -> CommandFailure {
    CommandFailure::measurement(format!("cannot write {file}"))
        .with_cause(error)
        .advise("name a file of your own with --saveRankPerformanceDetails")
}
