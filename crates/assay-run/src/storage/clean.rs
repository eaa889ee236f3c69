//! Removal of files that assay created and left behind.

use std::io;
use std::path::{Path, PathBuf};

use super::created_files::{CreatedFiles, CreatedRecord, CreatedRemoval};
use super::runner;
use crate::failure::CommandFailure;

/// Extent of a removal.
#[derive(Debug, Clone, Copy)]
pub struct CleanRequest<'r> {
    /// Whether nothing is removed, only looked at.
    pub only_looks: bool,
    /// Whether the records of files that are not recognised are removed.
    pub forgets: bool,
    /// Folder whose files are removed, as an absolute path without links; `None` = all files.
    pub below: Option<&'r Path>,
}

/// File that was created, and its outcome.
#[derive(Debug)]
pub struct CleanedFile {
    /// Its path.
    pub path: PathBuf,
    /// Stable word for programs.
    pub outcome: &'static str,
    /// Outcome in words.
    pub line: String,
}

/// Outcome of a removal.
#[derive(Debug, Default)]
pub struct CleanedFiles {
    /// Files, and records that are not valid.
    pub files: Vec<CleanedFile>,
    /// First failure; the other files were removed.
    pub failure: Option<CommandFailure>,
}

/// Removes the files of all records, unless another assay is using them.
pub fn clean(created: &CreatedFiles, request: CleanRequest<'_>) -> CleanedFiles {
    let mut cleaned = CleanedFiles::default();
    for path in created.invalid_records() {
        let line = format!("{} is not valid; the files that it names are kept", path.display());
        cleaned.add(&path, "unproven", line);
    }
    let mut unrecognised = 0;
    let is_below =
        |it: &CreatedRecord| request.below.is_none_or(|below| it.path.starts_with(below));
    for record in created.list().into_iter().filter(is_below) {
        cleaned.clean_record(&record, request, &mut unrecognised);
    }
    if !request.only_looks {
        created.remove_drafts();
    }
    cleaned.failure = cleaned.failure.or_else(|| unrecognised_failure(unrecognised));
    cleaned
}

impl CleanedFiles {
    fn add(&mut self, path: &Path, outcome: &'static str, line: String) {
        self.files.push(CleanedFile { path: path.to_owned(), outcome, line });
    }

    fn fail(&mut self, failure: CommandFailure) {
        self.failure.get_or_insert(failure);
    }

    fn clean_record(
        &mut self,
        record: &CreatedRecord,
        request: CleanRequest<'_>,
        unrecognised: &mut usize,
    ) {
        let path = record.path.display().to_string();
        match remove_or_look(record, request) {
            Ok(CreatedRemoval::InUse) => {
                self.add(&record.path, "used", format!("{path} kept: another assay uses it"));
            }
            Ok(CreatedRemoval::NeverCreated) => {}
            Ok(CreatedRemoval::AlreadyRemoved) => {
                let line = format!("{path} was removed before a crash");
                self.add(&record.path, "removed", line);
            }
            Ok(CreatedRemoval::Removed) if request.only_looks => {
                self.add(&record.path, "there", path);
            }
            Ok(CreatedRemoval::Removed) => {
                self.add(&record.path, "removed", format!("{path} removed"));
            }
            Ok(CreatedRemoval::RemovedAllBut(staying)) => {
                self.add(&record.path, "removed", format!("{path} removed"));
                for folder in staying {
                    let line = format!("{} kept: {}", folder.display(), runner::OTHERS_FILES);
                    self.add(&folder, "kept", line);
                }
            }
            Ok(CreatedRemoval::Unrecognised(why)) => match forget(record, request) {
                Ok(true) => {
                    let line = format!("{path} kept: {why}; its record is removed");
                    self.add(&record.path, "forgotten", line);
                }
                Ok(false) => {
                    *unrecognised += 1;
                    self.add(&record.path, "gone", format!("{path} kept: {why}"));
                }
                Err(error) => self.fail(cannot_forget(&path, &error)),
            },
            Err(error) => self.fail(cannot_remove(&path, &error)),
        }
    }
}

/// Removes the record of a file that is not recognised, if the user wants that.
fn forget(record: &CreatedRecord, request: CleanRequest<'_>) -> io::Result<bool> {
    if request.forgets && !request.only_looks {
        record.forget_unrecognised()
    } else {
        Ok(false)
    }
}

/// Returns the failure for files that stay because they are not recognised; `None` without any.
fn unrecognised_failure(files: usize) -> Option<CommandFailure> {
    let what = match files {
        0 => return None,
        1 => "one file is not recognised as made by assay".to_owned(),
        more => format!("{more} files are not recognised as made by assay"),
    };
    Some(
        CommandFailure::measurement(what)
            .with_reason("such a file may contain others' data; it stays, and so does its record")
            .advise("once you have looked at it, run `assay storage clean --forget`: the file stays, and its record goes"),
    )
}

/// Removes the file of a record, or only checks whether it would.
fn remove_or_look(
    record: &CreatedRecord,
    request: CleanRequest<'_>,
) -> io::Result<CreatedRemoval> {
    if request.only_looks { Ok(record.foresee_removal()) } else { record.remove() }
}

fn cannot_forget(path: &str, error: &io::Error) -> CommandFailure {
    CommandFailure::measurement(format!("cannot remove the record of {path}"))
        .with_cause(error)
        .with_known_advice()
}

fn cannot_remove(path: &str, error: &io::Error) -> CommandFailure {
    let failure =
        CommandFailure::measurement(format!("cannot remove the file {path}")).with_cause(error);
    match error.kind() {
        io::ErrorKind::ResourceBusy => {
            failure.advise("unmount it with `umount`, then repeat `assay storage clean`")
        }
        _ => failure.with_known_advice(),
    }
}
