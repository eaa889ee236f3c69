//! Status file (`-x`): number of files of a task, which a run with a deadline writes and later runs read.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use assay_dialects::mdtest::layout::TreeSize;
use assay_dialects::mdtest::options::MdtestOptions;
use assay_model::path_text;
use rustix::fs::{Access, OFlags};

use crate::failure::CommandFailure;
use crate::storage::safe_open;

/// Maximum length of the number, with spaces.
const MAX_BYTES: u64 = 64;

/// Whether the run writes the file.
const fn is_written(options: &MdtestOptions) -> bool {
    options.create && options.deadline_s > 0
}

/// Returns the file, if the run reads it.
fn file_to_read(options: &MdtestOptions) -> Option<&String> {
    let is_read = !options.create && options.files_only;
    options.status_file.as_ref().filter(|_| is_read)
}

/// Refuses a file that the run could not read or write.
///
/// # Errors
/// The refusal.
pub(super) fn check(options: &MdtestOptions) -> Result<(), CommandFailure> {
    let Some(path) = options.status_file.as_ref().map(|it| path_text::decode_path(it)) else {
        return Ok(());
    };
    if !is_written(options) {
        return read(options).map(drop);
    }
    check_writable(&path).map_err(|error| cannot_write(&path, &error))
}

fn check_writable(path: &Path) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    safe_open::check_replaceable(path, |start| is_number(start.trim_ascii()))?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    Ok(rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

fn cannot_write(path: &Path, error: &io::Error) -> CommandFailure {
    CommandFailure::measurement(format!("cannot write {}", path.display()))
        .with_cause(error)
        .advise("name a file in a folder that exists and is yours")
}

/// Returns whether a run needs the file and it is missing.
pub(super) fn is_missing(options: &MdtestOptions) -> bool {
    file_to_read(options).is_some_and(|file| {
        let found = path_text::decode_path(file).metadata();
        found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    })
}

/// Reads the number of files of each task, if the run uses those of an earlier one.
///
/// # Errors
/// If the file has no such number.
pub(super) fn read(options: &MdtestOptions) -> Result<Option<u64>, CommandFailure> {
    let Some(file) = file_to_read(options).filter(|_| !is_missing(options)) else {
        return Ok(None);
    };
    let path = path_text::decode_path(file);
    let items = read_number(&path).map_err(|error| {
        let what = format!("cannot read the number of items from {}", path.display());
        CommandFailure::measurement(what)
            .with_cause(&error)
            .advise("create the items with -C, -W and the same -x first, or leave out -x")
    })?;
    let resized = MdtestOptions { items, items_per_directory: 0, ..options.clone() };
    match TreeSize::from_options(&resized) {
        Some(_) => Ok(Some(items)),
        None => {
            let what =
                format!("the number of items in {}, {items}, is too large", path.display());
            Err(CommandFailure::usage(what)
                .with_reason("the order of random items is kept in memory")
                .advise("name the file that the run with -C and -W has written"))
        }
    }
}

fn read_number(path: &Path) -> io::Result<u64> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    text.trim().parse().map_err(io::Error::other)
}

/// Writes the number of files of each task, for runs that use them later.
///
/// # Errors
/// The system's error.
pub(super) fn write(options: &MdtestOptions, items: u64) -> Result<(), CommandFailure> {
    let Some(file) = &options.status_file else { return Ok(()) };
    let path = path_text::decode_path(file);
    replace(&path, items).map_err(|error| cannot_write(&path, &error))
}

fn replace(path: &Path, items: u64) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.draft", std::process::id()));
    let draft = PathBuf::from(name);
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).open(&draft)?;
    let written = io::Write::write_all(&mut &file, items.to_string().as_bytes());
    let replaced = written.and_then(|()| std::fs::rename(&draft, path));
    replaced.inspect_err(|_| drop(std::fs::remove_file(&draft)))
}
