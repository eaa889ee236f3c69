//! Opens paths without following links that were inserted into them: `openat2(2)`, since Linux 5.6.
//!
//! On older kernels, or in a container that hides the call, a link in place of the file itself is
//! not followed, and the path must lead to the same file afterwards.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use assay_kernels::storage::several_hard_links;
use rustix::fs::{self, CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Opens an absolute path without links.
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let is_new = flags.contains(OFlags::CREATE);
    let mode = if is_new { Mode::from_raw_mode(0o644) } else { Mode::empty() };
    match fs::openat2(CWD, path, flags, mode, ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => {
            let file = File::from(fs::openat(CWD, path, flags, mode)?);
            let leads_to = path.canonicalize()?;
            if leads_to == path { Ok(file) } else { Err(Errno::LOOP.into()) }
        }
        other => Ok(File::from(other?)),
    }
}

/// Opens a file in an output folder, new or, if it `grows`, for appending; a link in its place is
/// an error, and so is a file with several hard links.
///
/// # Errors
/// The system's error.
pub fn open_output(path: &Path, grows: bool) -> io::Result<fs_err::File> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = OpenOptions::new();
    // Emptied only once its links are counted.
    options.write(true).create(true).truncate(false).append(grows).custom_flags(flags);
    let file = options.open(path).map_err(|error| {
        let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
        let why = if is_link { "the path is a symbolic link" } else { "it cannot be opened" };
        io::Error::new(error.kind(), format!("{}: {why}: {error}", path.display()))
    })?;
    let found = file.metadata()?;
    refuse_hard_links(&found, path)?;
    if found.is_file() && !grows {
        file.set_len(0)?;
    }
    Ok(fs_err::File::from_parts(file, path))
}

/// Refuses a file whose other names would change with it.
fn refuse_hard_links(found: &Metadata, path: &Path) -> io::Result<()> {
    several_hard_links(found).map_or(Ok(()), |links| {
        Err(io::Error::other(format!(
            "{} has {links} hard links, and the file under its other names would be overwritten",
            path.display()
        )))
    })
}

/// Refuses to replace another program's file: one that does not begin like the output, or that has
/// other names.
///
/// # Errors
/// The path, and that it exists already or has several hard links.
pub fn check_replaceable(path: &Path, begins: impl Fn(&[u8]) -> bool) -> io::Result<()> {
    const ENOUGH_BYTES: u64 = 64;
    let Ok(found) = path.symlink_metadata() else { return Ok(()) };
    if !found.is_file() {
        return Ok(());
    }
    refuse_hard_links(&found, path)?;
    let mut start = Vec::new();
    File::open(path)?.take(ENOUGH_BYTES).read_to_end(&mut start)?;
    if start.is_empty() || begins(&start) {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{} exists already, and its contents would be lost",
        path.display()
    )))
}

/// Whether both are the same file or device.
pub(super) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_not_written_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("precious"), "precious").unwrap();
        std::fs::hard_link(at("precious"), at("hard")).unwrap();
        std::os::unix::fs::symlink(at("precious"), at("symbolic")).unwrap();
        for (name, why) in
            [("hard", "2 hard links"), ("symbolic", "the path is a symbolic link")]
        {
            for grows in [true, false] {
                let error = open_output(&at(name), grows).unwrap_err().to_string();
                assert!(error.contains(why) && error.contains(name), "{error}");
            }
        }
        let error = check_replaceable(&at("hard"), |_| true).unwrap_err().to_string();
        assert!(error.contains("2 hard links"), "{error}");
        assert_eq!(std::fs::read_to_string(at("precious")).unwrap(), "precious");
        // A file with a single name is emptied.
        std::fs::write(at("own"), "old").unwrap();
        open_output(&at("own"), false).unwrap();
        assert_eq!(std::fs::read(at("own")).unwrap(), b"");
    }
}
