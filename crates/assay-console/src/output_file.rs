//! Writes a result to a file named by the user. A regular file is written completely or not at all.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use assay_run::failure::{CommandFailure, FailureKind};

/// Writes `text` to `path`. A regular file is created or replaced atomically. A device, pipe or
/// terminal (`/dev/null`, `/dev/stdout`) is written to instead: replacing it would remove it for
/// all users.
pub fn write(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let result = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(metadata) if !metadata.is_file() => write_into(path, text),
        // A symbolic link stays; its target is replaced.
        Ok(_) => path.canonicalize().and_then(|target| replace(&target, text)),
        Err(_) => replace(path, text),
    };
    result.map_err(|error| write_error(path, &error))
}

/// Checks before a measurement that a path can be written. Changes no file.
pub fn check_writable(path: &Path) -> Result<(), CommandFailure> {
    let folder = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(metadata) if !metadata.is_file() => return Ok(()),
        Ok(_) => path.canonicalize(),
        Err(_) => Ok(path.to_owned()),
    };
    let attempt =
        folder.and_then(|path| tempfile::Builder::new().tempfile_in(folder_of(&path)));
    attempt.map(drop).map_err(|error| {
        let mut failure = write_error(path, &error);
        failure.kind = FailureKind::Usage;
        failure
    })
}

fn write_error(path: &Path, error: &io::Error) -> CommandFailure {
    // The error contains the path of the temporary file, which the user does not need.
    let why = error.to_string();
    let why = why.split(" at path \"").next().unwrap_or_default();
    let failure = CommandFailure::measurement(format!("cannot write {}", path.display()))
        .with_reason(why);
    match error.kind() {
        io::ErrorKind::NotFound => failure.advise("name a file in a folder that exists"),
        io::ErrorKind::PermissionDenied => {
            failure.advise("name a file in a folder that you may write to")
        }
        io::ErrorKind::IsADirectory => failure.advise("name a file in that folder"),
        io::ErrorKind::StorageFull => {
            failure.advise("free some space, or name a file on another file system")
        }
        _ => failure.with_known_advice(),
    }
}

fn write_into(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // Readable as the user's umask allows, like a file created by a shell redirection.
    let mode = Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(mode).tempfile_in(folder_of(path))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{FileTypeExt as _, symlink};

    use super::*;

    #[test]
    fn replaces_file_with_umask_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let (path, reference) = (folder.path().join("page"), folder.path().join("usual"));
        fs::write(&reference, "").unwrap();
        for text in ["first", "second"] {
            write(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&reference));
    }

    #[test]
    fn errors_hide_the_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        for (path, reason, advice) in [
            (folder.path().join("no/page"), "No such file or directory", "folder that exists"),
            (folder.path().to_owned(), "is a directory", "in that folder"),
        ] {
            for failure in [write(&path, ""), check_writable(&path)].map(Result::unwrap_err) {
                let message = failure.reason();
                assert!(message.contains(reason) && !message.contains("at path"), "{message}");
                assert!(failure.advice().contains(advice), "{}", failure.advice());
            }
        }
    }

    #[test]
    fn check_changes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (existing, absent) = (folder.path().join("there"), folder.path().join("absent"));
        fs::write(&existing, "old").unwrap();
        for path in [&existing, &absent, Path::new("/dev/null")] {
            check_writable(path).unwrap();
        }
        assert_eq!(fs::read_to_string(&existing).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn keeps_symbolic_links() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "old").unwrap();
        symlink(&target, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    }

    #[test]
    fn writes_into_pipes() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let status = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(status.success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read_to_string(pipe).unwrap())
        };
        write(&pipe, "text").unwrap();
        assert_eq!(reader.join().unwrap(), "text");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }
}
