//! Files in another tool's language, read whole. Never reads without end: a device or a pipe may have none.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use assay_run::failure::Failure;

/// A hundred thousand lines have 10 MiB; what is this much longer was not written by anybody.
const MOST_BYTES: u64 = 128 << 20;

/// The bytes of the file at `path`.
///
/// # Errors
/// What the system says, or that the file is larger than any job file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it has more than 128 MiB"));
    }
    Ok(bytes)
}

/// Why a file that a user names is of no use.
pub fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::usage(format!("{} cannot be read", path.display())).because(error);
    match error.kind() {
        io::ErrorKind::NotFound => failure.advise("check its name, and the folder it is in"),
        _ => failure.with_known_advice(),
    }
}

/// The same as text.
///
/// # Errors
/// As [`read`], or that the bytes are no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(io::Error::other)
}
