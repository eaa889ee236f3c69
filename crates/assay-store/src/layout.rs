//! Layout of a store on disk, and names of its runs.
//!
//! ```text
//! FORMAT                       the version of this layout: `1`; never replaced, because an import
//!                              locks it (flock) until its file is stored
//! runs/<run-id>/events.jsonl   one JSON object per line with its number and a checksum, append-only;
//!                              locked (flock) by the process that writes it, so that
//!                              others see that it is running
//! raw/<2 hex>/<BLAKE3 hex>     raw outputs of tools under the hash of their content
//! index.jsonl                  a cache of the listing; may be deleted at any time
//! ```
//!
//! A layout that an older assay would misread gets a new number in `FORMAT`. Events carry a version
//! of their own ([`assay_model::event::FORMAT`]).

use std::ffi::OsString;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::error::StoreError;
use crate::regular_file;

/// Version of the layout that this crate writes, and the newest it can read.
pub const STORE_FORMAT: u32 = 1;

const MAX_ID_LENGTH: usize = 64;
/// Maximum size of the format file, which holds one number.
const MAX_FORMAT_BYTES: u64 = 4096;

/// Name of the only file in the folder of a run.
pub(crate) const EVENTS: &str = "events.jsonl";

/// Returns the default folder of runs: `$XDG_DATA_HOME/assay`. If that variable is unset or empty,
/// it is `$HOME/.local/share/assay`. `None` if neither variable is usable.
///
/// # Errors
/// If `XDG_DATA_HOME` is relative. The XDG base directory specification ignores such a path, but
/// its runs would be in a folder that the user did not name.
pub fn default_folder(
    environment: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<PathBuf>, StoreError> {
    let path = |name| environment(name).map(PathBuf::from).filter(|it| *it != Path::new(""));
    let data = match path("XDG_DATA_HOME") {
        Some(data) if data.is_absolute() => Some(data),
        Some(path) => return Err(StoreError::RelativeDataHome { path }),
        None => {
            path("HOME").filter(|it| it.is_absolute()).map(|home| home.join(".local/share"))
        }
    };
    Ok(data.map(|data| data.join("assay")))
}

/// Returns a new identifier, `20261121-104455-7f3a`: UTC time to the second, and a number that
/// distinguishes runs of the same second. Identifiers sort by time.
pub fn new_run_id(now: jiff::Timestamp, entropy: u16) -> String {
    format!("{}-{entropy:04x}", now.strftime("%Y%m%d-%H%M%S"))
}

/// Whether `id` can safely be the name of a folder below `runs/`.
pub(crate) fn is_run_id(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    id.len() <= MAX_ID_LENGTH
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(plain)
}

/// Time at which written data must be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// After each case: a measurement cannot be repeated.
    EachCase,
    /// After the last run: the data can be read again from their source.
    AtEnd,
}

/// Paths of one store, and the durability of what is written to them.
#[derive(Debug, Clone)]
pub(crate) struct StoreLayout {
    folder: PathBuf,
    durability: Durability,
}

impl StoreLayout {
    /// Opens the store in `folder`, and creates it if missing.
    pub(crate) fn create(folder: PathBuf) -> Result<Self, StoreError> {
        let layout = Self { folder, durability: Durability::EachCase };
        layout.reject_file()?;
        if !layout.check_format()? && !layout.check_runs()? {
            layout.write_format().map_err(|source| layout.cannot_open(source))?;
            layout.check_format()?;
        }
        Ok(layout)
    }

    /// Opens the store in `folder`, which must exist.
    pub(crate) fn open_existing(folder: PathBuf) -> Result<Self, StoreError> {
        let layout = Self { folder, durability: Durability::EachCase };
        layout.reject_file()?;
        if layout.check_format()? || layout.check_runs()? {
            Ok(layout)
        } else {
            Err(StoreError::NoStore { path: layout.folder })
        }
    }

    /// Returns the same paths, whose data are synced by [`Self::sync_all`] only.
    pub(crate) fn sync_at_end(self) -> Self {
        Self { durability: Durability::AtEnd, ..self }
    }

    /// Whether data are synced by [`Self::sync_all`] only.
    pub(crate) fn is_synced_at_end(&self) -> bool {
        self.durability == Durability::AtEnd
    }

    /// Syncs the file system of the store.
    pub(crate) fn sync_all(&self) -> Result<(), StoreError> {
        let synced = fs::File::open(&self.folder)
            .and_then(|folder| rustix::fs::syncfs(&folder).map_err(io::Error::from));
        synced.map_err(|source| StoreError::Sync { path: self.folder.clone(), source })
    }

    /// Syncs the data of a file, unless all are synced at the end.
    pub(crate) fn sync_file(&self, file: &std::fs::File) -> io::Result<()> {
        match self.durability {
            Durability::EachCase => file.sync_data(),
            Durability::AtEnd => Ok(()),
        }
    }

    /// Syncs a folder, so that new names survive a power failure, unless all are synced at the end.
    pub(crate) fn sync_folder(&self, folder: &Path) {
        match self.durability {
            Durability::EachCase => sync_folder(folder),
            Durability::AtEnd => {}
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    pub(crate) fn run(&self, id: &str) -> PathBuf {
        self.runs().join(id)
    }

    pub(crate) fn events(&self, id: &str) -> PathBuf {
        self.run(id).join(EVENTS)
    }

    pub(crate) fn raw(&self) -> PathBuf {
        self.folder.join("raw")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.folder.join("index.jsonl")
    }

    /// Lists the names of all folders that can be runs, ascending.
    pub(crate) fn run_ids(&self) -> Result<Vec<String>, StoreError> {
        let path = self.runs();
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other,
        };
        // Most file systems return the type with the directory entry; a `stat` for each would
        // dominate the time.
        let named = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            let kind = entry.file_type()?;
            let is_folder = kind.is_dir() || (kind.is_symlink() && entry.path().is_dir());
            Ok(entry.file_name().into_string().ok().filter(|id| is_folder && is_run_id(id)))
        };
        let ids = entries.and_then(|entries| {
            entries.filter_map(|entry| named(entry).transpose()).collect::<io::Result<Vec<_>>>()
        });
        let mut ids = ids.map_err(|source| StoreError::Read { path, source })?;
        ids.sort_unstable();
        Ok(ids)
    }

    pub(crate) fn format(&self) -> PathBuf {
        self.folder.join("FORMAT")
    }

    fn cannot_open(&self, source: io::Error) -> StoreError {
        StoreError::Open { path: self.folder.clone(), source }
    }

    fn reject_file(&self) -> Result<(), StoreError> {
        match std::fs::metadata(&self.folder) {
            Ok(found) if !found.is_dir() => {
                Err(StoreError::NotAFolder { path: self.folder.clone() })
            }
            Err(source)
                if !matches!(
                    source.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Err(self.cannot_open(source))
            }
            _ => Ok(()),
        }
    }

    /// Returns `false` if there is no format file yet.
    fn check_format(&self) -> Result<bool, StoreError> {
        let path = self.format();
        let text = match regular_file::read(&path, MAX_FORMAT_BYTES) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).trim().to_owned(),
            Err(StoreError::Read { source, .. })
                if matches!(
                    source.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(false);
            }
            Err(StoreError::Read { source, .. }) => return Err(self.cannot_open(source)),
            Err(error) => return Err(self.cannot_open(io::Error::other(error))),
        };
        match text.parse::<u32>() {
            Ok(found) if found > STORE_FORMAT => {
                Err(StoreError::Newer { path, found, known: STORE_FORMAT })
            }
            Ok(_) => Ok(true),
            Err(_) => Err(StoreError::Format { path, text: text.chars().take(40).collect() }),
        }
    }

    /// Refuses runs without a format file. Returns whether another process has written the file
    /// meanwhile; `false` if there are no runs.
    fn check_runs(&self) -> Result<bool, StoreError> {
        // A folder without a readable list of runs is no store.
        let ids = self.run_ids().unwrap_or_default();
        let runs = ids.iter().filter(|id| self.events(id).is_file()).count();
        match runs {
            0 => Ok(false),
            _ if self.check_format()? => Ok(true),
            _ => Err(StoreError::FormatLost { path: self.format(), runs }),
        }
    }

    /// Writes a temporary file and renames it, so that another process never reads a partial file.
    /// A format file that another process wrote in the meantime stays.
    fn write_format(&self) -> io::Result<()> {
        fs::create_dir_all(self.runs())?;
        let mut file = new_temporary_file(&self.folder)?;
        io::Write::write_all(&mut file, format!("{STORE_FORMAT}\n").as_bytes())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(self.format()) {
            Ok(_) => {}
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {}
            // This needs hard links or `RENAME_NOREPLACE`; some file systems have neither.
            Err(failed) => {
                failed.file.persist(self.format()).map_err(|failed| failed.error)?;
            }
        }
        sync_folder(&self.folder);
        Ok(())
    }
}

/// Creates a temporary file whose mode follows the umask, as that of any other file: a group may
/// share a store.
pub(crate) fn new_temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)
}

/// Syncs a folder, so that new names survive a power failure. Some file systems cannot sync a
/// folder; then only this guarantee is lost.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = fs::File::open(folder) {
        drop(folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_folder_follows_environment() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let get = |name: &str| {
                variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).into())
            };
            let folder = default_folder(get).unwrap();
            assert_eq!(folder, expected.map(PathBuf::from), "{variables:?}");
        };
        check(&[("XDG_DATA_HOME", "/data"), ("HOME", "/home/a")], Some("/data/assay"));
        check(&[("HOME", "/home/a")], Some("/home/a/.local/share/assay"));
        check(&[("XDG_DATA_HOME", ""), ("HOME", "/h")], Some("/h/.local/share/assay"));
        check(&[("XDG_DATA_HOME", "")], None);
        check(&[("HOME", "h")], None);
        check(&[], None);
    }

    /// The lock of another process is on the file that it wrote.
    #[test]
    fn second_creator_keeps_format_file_of_first() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().unwrap();
        let layout = StoreLayout::create(folder.path().to_owned()).unwrap();
        let inode = || layout.format().metadata().unwrap().ino();
        let first = inode();
        layout.write_format().unwrap();
        assert_eq!(inode(), first);
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["FORMAT", "runs"], "no temporary file is left");
    }

    #[test]
    fn refuses_relative_data_home() {
        for text in ["data", "./data", "../data", "~/data"] {
            let error = default_folder(|_| Some(text.into())).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("XDG_DATA_HOME is not an absolute path: {text}")
            );
            assert!(error.advice().starts_with("set XDG_DATA_HOME to an absolute path"));
        }
    }

    #[test]
    fn identifiers_are_safe_names() {
        let now: jiff::Timestamp = "2026-11-21T10:44:55.9Z".parse().unwrap();
        assert_eq!(new_run_id(now, 0x7f3a), "20261121-104455-7f3a");
        assert_eq!(new_run_id(now, 1), "20261121-104455-0001");
        assert!(is_run_id(&new_run_id(now, 0)));
        for bad in ["", ".", "..", "../x", "a/b", "-x", "a b", "é", &"a".repeat(65)] {
            assert!(!is_run_id(bad), "{bad}");
        }
    }
}
