//! Reads job files of other tools into memory, up to a maximum size: devices and pipes may never
//! end.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::failure::CommandFailure;

/// Maximum size of a job file. A hundred thousand lines take 10 MiB; larger files are not written
/// by hand.
const MAX_BYTES: u64 = 128 << 20;

/// Reads the file at `path`.
///
/// # Errors
/// The system's error, or that the file exceeds the maximum size.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("the file is larger than 128 MiB"));
    }
    Ok(bytes)
}

/// Returns the failure for a file named by the user that cannot be read.
pub fn unreadable_error(path: &Path, error: &io::Error) -> CommandFailure {
    let failure =
        CommandFailure::usage(format!("cannot read {}", path.display())).with_cause(error);
    match error.kind() {
        io::ErrorKind::NotFound => failure.advise("check the name and the folder"),
        _ => failure.with_known_advice(),
    }
}

/// Reads the file at `path` as text.
///
/// # Errors
/// See [`read`]; also if the bytes are not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(io::Error::other)
}
