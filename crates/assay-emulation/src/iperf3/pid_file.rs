//! File with the ID of the process (`-I`).

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

use assay_run::failure::CommandFailure;

/// File with the ID of this process, which is removed at the end.
#[derive(Debug)]
pub(super) struct PidFile {
    path: PathBuf,
    file: File,
}

impl PidFile {
    /// Writes the file; replaces one whose process has ended, and nothing else. Follows no symbolic
    /// link: the file may be in a folder that everyone can write to.
    pub(super) fn create(path: &Path) -> Result<Self, CommandFailure> {
        let refuse = |why: String| {
            CommandFailure::usage(format!("cannot write the PID file {}", path.display()))
                .with_reason(why)
                .advise("choose another file with -I")
        };
        let before = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(refuse(error.to_string())),
            Ok(metadata) if !metadata.is_file() => {
                return Err(refuse("it is not a regular file".to_owned()));
            }
            Ok(_) => Some(fs::read_to_string(path).map_err(|it| refuse(it.to_string()))?),
        };
        if let Some(text) = before {
            match text.trim().parse::<u32>() {
                Err(_) if !text.is_empty() => {
                    return Err(refuse("it holds something else than a PID".to_owned()));
                }
                Ok(pid) if Path::new(&format!("/proc/{pid}")).exists() => {
                    return Err(refuse(format!("process {pid} is still running")));
                }
                Ok(_) | Err(_) => {}
            }
            fs::remove_file(path).map_err(|error| refuse(error.to_string()))?;
        }
        let file = File::create_new(path).map_err(|error| refuse(error.to_string()))?;
        let created = Self { path: path.to_owned(), file };
        created.replace(std::process::id()).map_err(|error| refuse(error.to_string()))?;
        Ok(created)
    }

    /// Replaces the ID by that of the process that continues.
    pub(super) fn replace(&self, process: u32) -> io::Result<()> {
        let mut file = &self.file;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(process.to_string().as_bytes())
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // A file that someone else has removed needs no removal.
        drop(fs::remove_file(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pid_file_replaces_only_that_of_an_ended_process() {
        let path = std::env::temp_dir().join(format!("assay-{}.pid", std::process::id()));
        let own = std::process::id().to_string();
        let above_all_pids = u32::MAX.to_string();
        let table =
            [("", true), (above_all_pids.as_str(), true), ("notes\n", false), (&own, false)];
        for (before, is_written) in table {
            fs::write(&path, before).unwrap();
            let file = PidFile::create(&path);
            assert_eq!(file.is_ok(), is_written, "{before:?}");
            let after = fs::read_to_string(&path).unwrap();
            assert_eq!(after, if is_written { &own } else { before });
            drop(file);
            assert_eq!(path.exists(), !is_written);
        }
        let link = path.with_extension("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for target in ["", &above_all_pids] {
            fs::write(&path, target).unwrap();
            assert!(PidFile::create(&link).is_err(), "{target:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), target);
        }
        fs::remove_file(&path).unwrap();
        assert!(PidFile::create(&link).is_err(), "a link to nothing");
        fs::remove_file(&link).unwrap();
    }
}
