//! File with the figures of each task (`--saveRankPerformanceDetails`).

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use assay_dialects::mdtest::options::MdtestOptions;
use assay_dialects::mdtest::rank_details;
use assay_dialects::mdtest::result::MdtestTest;
use assay_model::path_text;
use rustix::fs::Access;

use crate::failure::CommandFailure;
use crate::storage::safe_open;

/// Refuses a file that is not such a file or cannot be written. Nothing is changed.
///
/// # Errors
/// The refusal.
pub(super) fn check(options: &MdtestOptions) -> Result<(), CommandFailure> {
    let Some(file) = &options.rank_details_file else { return Ok(()) };
    let path = path_text::decode_path(file);
    let status = options.status_file.as_ref().map(|it| path_text::decode_path(it));
    if status.is_some_and(|status| place(&status) == place(&path)) {
        let what = format!("-x and --saveRankPerformanceDetails both name {file}");
        return Err(CommandFailure::usage(what)
            .with_reason("each would overwrite the other")
            .advise("name two files"));
    }
    check_writable(&path).map_err(|error| write_failure(file, &error))
}

fn check_writable(path: &Path) -> io::Result<()> {
    let heading = rank_details::render_heading();
    safe_open::check_replaceable(path, |start| heading.as_bytes().starts_with(start))?;
    match path.symlink_metadata() {
        Ok(_) => Ok(rustix::fs::access(path, Access::WRITE_OK)?),
        Err(_) => {
            let needed = Access::WRITE_OK | Access::EXEC_OK;
            Ok(rustix::fs::access(folder_of(path), needed)?)
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns folder and name of a file that may not exist yet.
fn place(path: &Path) -> (PathBuf, Option<&OsStr>) {
    let folder = folder_of(path);
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    (real, path.file_name())
}

/// Begins the file, which [`check`] has not refused.
pub(super) fn begin_file(options: &MdtestOptions) -> Result<(), CommandFailure> {
    let Some(file) = &options.rank_details_file else { return Ok(()) };
    let path = path_text::decode_path(file);
    let heading = rank_details::render_heading();
    check_writable(&path)
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

fn write_failure(file: &str, error: &io::Error) -> CommandFailure {
    CommandFailure::measurement(format!("cannot write {file}"))
        .with_cause(error)
        .advise("name a file of your own with --saveRankPerformanceDetails")
}
