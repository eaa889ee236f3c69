//! Where `/proc`, `/sys` and `/etc` are looked up, and how their files are read.
//!
//! In production this is `/`; tests look at trees captured on other machines. Nothing here writes,
//! and nothing here panics on what a file contains.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Longest file that is read. The largest of the real ones, `/proc/cpuinfo` of a machine with a
/// thousand CPUs, has about 2 MB; anything longer is not what it seems to be.
const MOST_BYTES: u64 = 16 << 20;

/// The directory under which a host's own files are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    directory: PathBuf,
}

/// Why a file told nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// There is no such file here: an older kernel, a guest or a container does not show it.
    NotVisible,
    /// It is there, but could not be read or understood; the reason.
    Unreadable(String),
}

impl Root {
    /// The machine this program runs on.
    #[must_use]
    pub fn machine() -> Self {
        Self::at("/")
    }

    /// A captured tree: `directory` stands for `/`.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The text of `path` (without a leading slash), trimmed; bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// [`Missing::NotVisible`] when there is no such file or the kernel does not support it, and
    /// [`Missing::Unreadable`] with the reason for everything else.
    pub fn read(&self, path: &str) -> Result<String, Missing> {
        match self.bytes(path, MOST_BYTES) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) => Err(missing(path, &error)),
        }
    }

    /// The text of `path`, trimmed; `None` when there is none.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(path).ok().filter(|text| !text.is_empty())
    }

    /// The number that `path` holds.
    #[must_use]
    pub fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// At most the first `most_bytes` bytes of `path`.
    ///
    /// # Errors
    /// The system's error.
    pub fn bytes(&self, path: &str, most_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(self.directory.join(path))?.take(most_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The names in a directory, sorted; none when it is not visible.
    #[must_use]
    pub fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.directory.join(path)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// The numbers N, ascending, for which a directory has an entry `prefixN`.
    #[must_use]
    pub fn numbered(&self, path: &str, prefix: &str) -> Vec<u32> {
        let number = |name: &String| name.strip_prefix(prefix)?.parse().ok();
        let mut numbers: Vec<u32> = self.names(path).iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// What stands for an absolute path of the host.
    #[must_use]
    pub fn place(&self, path: &Path) -> PathBuf {
        self.directory.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Whether there is anything at `path`.
    #[must_use]
    pub fn exists(&self, path: &str) -> bool {
        self.directory.join(path).exists()
    }
}

/// The chosen word of a file that lists its choices: `always [madvise] never` → `madvise`. A file
/// without brackets is returned as it is.
#[must_use]
pub fn chosen(text: &str) -> &str {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(choice, _)| choice)
}

fn missing(path: &str, error: &io::Error) -> Missing {
    match error.kind() {
        // Pressure files of a kernel that was started with `psi=0` open, but do not read.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::Unsupported => {
            Missing::NotVisible
        }
        _ => Missing::Unreadable(format!("/{path}: {error}")),
    }
}
