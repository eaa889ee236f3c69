//! Readers of the files of a store: regular files only, and at most a given number of bytes.
//!
//! A pipe or a device in the place of a file never delays or fills a reader: files are opened
//! without waiting and examined before a byte is read.

use std::fs::{FileType, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use fs_err as fs;
use rustix::fs::OFlags;

use crate::error::StoreError;

/// Maximum size of a file of events, of the index and of a raw output. Readers hold a file in
/// memory. The largest runs, of thousands of hosts, have some hundred megabytes.
pub(crate) const MAX_BYTES: u64 = 1 << 30;
/// Maximum number of lines of a file: its maximum size in samples, which have 110 to 130 bytes.
/// Each decoded line takes memory, however short it is.
pub(crate) const MAX_LINES: usize = 8 << 20;
/// Flags that neither wait for the other end of a pipe nor make a terminal the controlling one.
const WITHOUT_WAITING: i32 = OFlags::NONBLOCK.union(OFlags::NOCTTY).bits().cast_signed();

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> Result<fs::File, StoreError> {
    let failed = |source| StoreError::Read { path: path.to_owned(), source };
    // Opening some devices has effects: a tape is rewound.
    check_kind(path, &fs::metadata(path).map_err(failed)?)?;
    let options =
        std::fs::OpenOptions::new().read(true).custom_flags(WITHOUT_WAITING).open(path);
    let file = fs::File::from_parts(options.map_err(failed)?, path);
    check_kind(path, &file.metadata().map_err(failed)?)?;
    Ok(file)
}

/// Opens a regular file for appending, and creates it if it is missing.
pub(crate) fn open_to_append(path: &Path) -> io::Result<fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true).custom_flags(WITHOUT_WAITING);
    let file = fs::File::from_parts(options.open(path)?, path);
    check_kind(path, &file.metadata()?).map_err(io::Error::other)?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    let failed = |source| StoreError::Read { path: path.to_owned(), source };
    let too_large = || StoreError::TooLarge { path: path.to_owned(), limit };
    let file = open(path)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let capacity = usize::try_from(size).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(capacity).map_err(|error| failed(io::Error::other(error)))?;
    // The file may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// Whether a text has more lines than any reader decodes.
pub(crate) fn has_too_many_lines(bytes: &[u8]) -> bool {
    bytes.iter().filter(|byte| **byte == b'\n').count() > MAX_LINES
}

fn check_kind(path: &Path, metadata: &Metadata) -> Result<(), StoreError> {
    match describe_irregular(metadata.file_type()) {
        Some(kind) => Err(StoreError::NotRegular { path: path.to_owned(), kind }),
        None => Ok(()),
    }
}

/// Describes a file that is not a regular one.
fn describe_irregular(kind: FileType) -> Option<&'static str> {
    match () {
        () if kind.is_file() => None,
        () if kind.is_dir() => Some("a folder"),
        () if kind.is_fifo() => Some("a pipe"),
        () if kind.is_socket() => Some("a socket"),
        () => Some("a device"),
    }
}
