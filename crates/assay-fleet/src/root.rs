//! Root directory for `/proc`, `/sys` and `/etc`, with functions to read files below it.
//!
//! Production code uses `/`; tests use trees captured on other machines. Nothing here writes or
//! panics on unexpected content.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Maximum number of bytes read from a file. The largest real one, `/proc/cpuinfo` of a machine
/// with a thousand CPUs, has about 2 MB.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Directory under which the files of a host are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    directory: PathBuf,
}

/// Reason why a file is unavailable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnavailableFile {
    /// File that does not exist: an older kernel, a guest or a container does not show it.
    NotVisible,
    /// File that could not be read or parsed, with the reason.
    Unreadable(String),
}

impl Root {
    /// Creates the root of the running machine.
    pub fn machine() -> Self {
        Self::from_directory("/")
    }

    /// Creates the root of a captured tree: `directory` replaces `/`.
    pub fn from_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Reads the text of `path` (without a leading slash), trimmed; replaces bytes that are not
    /// UTF-8.
    ///
    /// # Errors
    /// [`UnavailableFile::NotVisible`] if there is no such file or the kernel does not support it,
    /// and [`UnavailableFile::Unreadable`] with the reason for other errors.
    pub fn read(&self, path: &str) -> Result<String, UnavailableFile> {
        match self.read_bytes(path, MAX_FILE_BYTES) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) => Err(file_error(path, &error)),
        }
    }

    /// Reads the text of `path`, trimmed; `None` if it is missing or empty.
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(path).ok().filter(|text| !text.is_empty())
    }

    /// Reads the number in `path`.
    pub fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// Reads at most the first `most_bytes` bytes of `path`.
    pub fn read_bytes(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(self.directory.join(path))?.take(most_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the names in a directory, sorted; empty if it is not visible.
    pub fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.directory.join(path)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// Returns the numbers N, ascending, of the entries `prefixN` in a directory.
    pub fn entry_numbers(&self, path: &str, prefix: &str) -> Vec<u32> {
        let number = |name: &String| name.strip_prefix(prefix)?.parse().ok();
        let mut numbers: Vec<u32> = self.names(path).iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns the path that represents an absolute path of the host.
    pub fn host_path(&self, path: &Path) -> PathBuf {
        self.directory.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Returns whether `path` exists.
    pub fn exists(&self, path: &str) -> bool {
        self.directory.join(path).exists()
    }
}

/// Returns the selected word of a list of choices: `always [madvise] never` → `madvise`. Returns
/// texts without brackets unchanged.
pub fn selected_choice(text: &str) -> &str {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(choice, _)| choice)
}

/// Writes a file of a test's tree, with its folders.
#[cfg(test)]
pub(crate) fn write_file(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn file_error(path: &str, error: &io::Error) -> UnavailableFile {
    match error.kind() {
        // Pressure files of a kernel started with `psi=0` open but cannot be read.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::Unsupported => {
            UnavailableFile::NotVisible
        }
        _ => UnavailableFile::Unreadable(format!("/{path}: {error}")),
    }
}
