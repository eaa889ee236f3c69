//! Working directory of a child with its input and output files.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Component, Path, PathBuf};

use super::{ChildCommand, ProcessError};

/// Working directory of a child; a temporary one is removed on drop.
pub(super) enum WorkingDirectory {
    Existing(PathBuf),
    Temporary(tempfile::TempDir),
}

impl WorkingDirectory {
    /// Creates or opens the directory and writes the input files.
    pub(super) fn prepare(command: &ChildCommand) -> Result<Self, ProcessError> {
        let files = command.input_files.iter().map(|(path, _)| path);
        for path in files.chain(&command.output_files) {
            check_inside(path)?;
        }
        let directory = match &command.directory {
            Some(path) => open_existing(path)?,
            None => Self::Temporary(create_temporary()?),
        };
        for (path, content) in &command.input_files {
            let path = directory.path().join(path);
            write_new(&path, content)
                .map_err(|source| ProcessError::WriteFile { path, source })?;
        }
        Ok(directory)
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Existing(path) => path,
            Self::Temporary(directory) => directory.path(),
        }
    }

    /// Reads those of the files that exist; a file larger than `cap_bytes` is an error.
    pub(super) fn collect(
        &self,
        program: &Path,
        paths: &[PathBuf],
        cap_bytes: u64,
    ) -> Result<BTreeMap<PathBuf, Vec<u8>>, ProcessError> {
        let mut files = BTreeMap::new();
        for path in paths {
            match read_capped(&self.path().join(path), cap_bytes) {
                Ok(content) if content.len() as u64 > cap_bytes => {
                    return Err(ProcessError::TooLarge {
                        program: program.to_owned(),
                        what: path.display().to_string(),
                        cap_bytes,
                    });
                }
                Ok(content) => drop(files.insert(path.clone(), content)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(ProcessError::ReadFile { path: path.clone(), source });
                }
            }
        }
        Ok(files)
    }
}

fn open_existing(path: &Path) -> Result<WorkingDirectory, ProcessError> {
    let to_error = |source| ProcessError::Directory { path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(to_error)?;
    // Checked here: starting a program in a missing directory reports that the program is missing.
    fs::read_dir(&absolute).map_err(to_error)?;
    Ok(WorkingDirectory::Existing(absolute))
}

fn create_temporary() -> Result<tempfile::TempDir, ProcessError> {
    let to_error = |source| ProcessError::Directory { path: std::env::temp_dir(), source };
    tempfile::Builder::new().prefix("assay-").tempdir().map_err(to_error)
}

/// Returns an error for an absolute path, and for one with `..`.
fn check_inside(path: &Path) -> Result<(), ProcessError> {
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let has_name = path.file_name().is_some();
    (is_inside && has_name)
        .then_some(())
        .ok_or_else(|| ProcessError::OutsidePath { path: path.to_owned() })
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(content)
}

/// Reads one byte more than the cap, so that the caller detects larger files.
fn read_capped(path: &Path, cap_bytes: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(cap_bytes.saturating_add(1)).read_to_end(&mut content)?;
    Ok(content)
}
