//! File with the ID of the process (`-I`).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use assay_run::failure::CommandFailure;

/// File with the ID of this process, which is removed at the end.
#[derive(Debug)]
pub(super) struct PidFile(PathBuf);

impl PidFile {
    /// Writes the file; replaces one whose process has ended, and nothing else.
    pub(super) fn create(path: &Path) -> Result<Self, CommandFailure> {
        let refuse = |why: String| {
            CommandFailure::usage(format!("cannot write the PID file {}", path.display()))
                .with_reason(why)
                .advise("choose another file with -I")
        };
        match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(refuse(error.to_string())),
            Ok(text) => match text.trim().parse::<u32>() {
                Err(_) if !text.is_empty() => {
                    return Err(refuse("it holds something else than a PID".to_owned()));
                }
                Ok(pid) if Path::new(&format!("/proc/{pid}")).exists() => {
                    return Err(refuse(format!("process {pid} is still running")));
                }
                Ok(_) | Err(_) => {}
            },
        }
        fs::write(path, std::process::id().to_string())
            .map_err(|error| refuse(error.to_string()))?;
        Ok(Self(path.to_owned()))
    }
}

impl PidFile {
    /// Replaces the ID by that of the process that continues.
    pub(super) fn replace(&self, process: u32) -> std::io::Result<()> {
        fs::write(&self.0, process.to_string())
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // A file that someone else has removed needs no removal.
        drop(fs::remove_file(&self.0));
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
        fs::remove_file(&path).unwrap();
    }
}
