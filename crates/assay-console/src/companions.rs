//! Files that a page replaces: an older page, and its companions with data and pictures.
//!
//! A page replaces only a page of assay.
//!
//! The user did not name these files. A companion therefore replaces only a companion of the page
//! that is being replaced, and never another file.

use std::fs;
use std::path::{Path, PathBuf};

use assay_report::words::sentence;
use assay_run::failure::CommandFailure;

use crate::output_file;
use crate::terminal::Terminal;

/// First characters of a page's data, and of its pictures.
const COMPANION_STARTS: [&str; 2] = ["{\n  \"schema\": ", "<svg class=\"plot\""];

/// Part of every page that assay wrote, for a site or alone.
const PAGE_MARK: &str = "<meta name=\"generator\" content=\"assay";

#[derive(Debug)]
pub struct CompanionFile<'t> {
    pub path: PathBuf,
    /// Its content.
    pub text: &'t str,
}

/// Returns the path for the data of a page: the page's name with the extension `json`, or
/// `data.json` if that is the page itself.
pub fn data_path(page: &Path) -> PathBuf {
    let data = page.with_extension("json");
    if data == page { page.with_extension("data.json") } else { data }
}

/// Rejects a path with a file that is no page of assay. An empty file and a stream hold nothing to
/// lose.
///
/// # Errors
/// The failure names the file.
pub fn check_page(page: &Path) -> Result<(), CommandFailure> {
    if output_file::is_stream(page) {
        return Ok(());
    }
    let old_page = fs::read(page).unwrap_or_default();
    if old_page.is_empty() || String::from_utf8_lossy(&old_page).contains(PAGE_MARK) {
        return Ok(());
    }
    Err(CommandFailure::usage(format!("{} already exists", page.display()))
        .with_reason("it is no page of assay")
        .advise("give the page another name, or remove that file"))
}

/// Rejects a companion whose path has a file that the page being replaced does not refer to.
///
/// # Errors
/// The failure names the file.
pub fn check(page: &Path, companions: &[CompanionFile<'_>]) -> Result<(), CommandFailure> {
    let old_page = fs::read(page).unwrap_or_default();
    let old_page = String::from_utf8_lossy(&old_page);
    for CompanionFile { path, .. } in companions {
        if path.symlink_metadata().is_err() {
            continue;
        }
        let name = path.file_name().map(|it| it.to_string_lossy()).unwrap_or_default();
        let old_companion = fs::read_to_string(path).unwrap_or_default();
        let is_companion = COMPANION_STARTS.iter().any(|it| old_companion.starts_with(it));
        if !(is_companion && old_page.contains(&*name)) {
            let (page, path) = (page.display(), path.display());
            return Err(CommandFailure::usage(format!("{path} already exists"))
                .with_reason(format!("{page} needs a companion file of that name"))
                .advise("give the page another name, or move that file"));
        }
    }
    Ok(())
}

/// Writes the companions and prints their names.
///
/// # Errors
/// A file that cannot be written.
pub fn write(
    companions: &[CompanionFile<'_>],
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    for CompanionFile { path, text } in companions {
        output_file::write(path, text)?;
    }
    let names: Vec<String> =
        companions.iter().map(|it| it.path.display().to_string()).collect();
    if !names.is_empty() {
        terminal.note(&sentence("written-beside", &[("files", &names.join(" "))]));
    }
    Ok(())
}
