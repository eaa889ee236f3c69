//! List of the files that assay created. Each file has a small record next to the stored runs. The
//! record is written before the file exists, so that files left by a crash can be found and
//! removed.
//!
//! A record is signed with a key of its store. It identifies a file by path, device, inode, time of
//! birth and an extended attribute that copies lack, and, while no run uses the file, also by its
//! time of last change. Where a file system has neither births nor attributes, an open handle shows
//! during the run that the file is the same, and the time of the last change after it. A file that
//! someone else replaced or changed never counts as assay's own.
//!
//! Every process that uses a file holds a lock on its record; no other process removes it then.

mod called_files;
mod open_handles;
mod recognition;
mod removal;
mod removal_note;
mod test_folders;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use fs_err as fs;
use rustix::fs::{OFlags, XattrFlags};
use serde::{Deserialize, Serialize};

pub use self::recognition::UnrecognisedFile;
use self::recognition::born_ns;
pub use self::removal::{CreatedRemoval, LeftFiles};
pub use self::test_folders::{open_folder, remove_same_folder};
use super::{record_lock, safe_open};
use crate::failure::CommandFailure;

/// Folder of the records in the store.
const RECORDS_FOLDER: &str = "created-files";
/// File in it with the key that signs records. Anyone with access to it can forge records.
const KEY_FILE: &str = "key";
/// Limit for the size of a record, which is dominated by one path.
const MAX_RECORD_BYTES: u64 = 64 << 10;
/// Extended attribute of a file that assay created.
const MARK_ATTRIBUTE: &str = "user.assay.made";

/// Records of one store.
#[derive(Debug)]
pub struct CreatedFiles {
    folder: PathBuf,
}

/// Record of one file that assay created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CreatedRecord {
    /// Path of the file, without links.
    #[serde(with = "assay_model::path_text")]
    pub path: PathBuf,
    device: u64,
    inode: u64,
    /// Birth time in nanoseconds since 1970, if the file system stores it.
    born_ns: Option<u64>,
    /// Time of the announcement in nanoseconds since 1970; `None` once the file exists and the
    /// three fields above describe it.
    #[serde(default)]
    announced_ns: Option<u64>,
    /// Value of the extended attribute, if the file system supports it.
    #[serde(default)]
    mark: Option<String>,
    /// Kind of object that the record covers.
    #[serde(default)]
    made: CreatedKind,
    /// Size in bytes once the file is laid out; `None` if it is not, or the work was interrupted.
    pub laid_out_bytes: Option<u64>,
    /// State after the last use; `None` while a run uses it, or after an interrupted run.
    #[serde(default)]
    left: Option<LeftState>,
    /// Whether its last user removes it, because its creator ended before. Absent from other
    /// records, so that signatures of earlier versions stay valid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_abandoned: bool,
    /// Maximum size in bytes that the current run gives it.
    #[serde(default)]
    most_bytes: u64,
    /// Process that used it last.
    process: u32,
    /// Keys of the processes that created it and used it last; they differ even if a process number
    /// is reused.
    started: String,
    #[serde(default)]
    used_by: String,
    /// Signature over all of the above, with the key of the store.
    #[serde(default)]
    signature: String,
    #[serde(skip)]
    record: PathBuf,
    /// Whether it describes the file only because that is empty and was born at the announcement.
    #[serde(skip)]
    is_adopted: bool,
}

/// State of a file at the end of a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct LeftState {
    /// Time of the last status change in nanoseconds since 1970, which cannot be set back.
    changed_ns: i64,
    bytes: u64,
}

/// Kind of object that a record covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CreatedKind {
    /// The file itself.
    #[default]
    File,
    /// The file tree in the folder that this file marks.
    Tree,
    /// That tree and its folder.
    TreeAndFolder,
    /// The folder itself, and the directories and files of mdtest in it.
    TestFolder,
}

impl CreatedFiles {
    /// Opens the records next to the runs in `store`; without one, those in the user's own store.
    pub fn open(store: Option<&Path>) -> Result<Self, CommandFailure> {
        let folder = match store {
            Some(folder) => Some(folder.to_path_buf()),
            None => assay_store::default_folder(|name| std::env::var_os(name))?,
        };
        let folder = folder.ok_or_else(|| {
            CommandFailure::measurement("there is no folder for the list of created files")
                .advise("name a folder with --store, or set XDG_DATA_HOME or HOME")
        })?;
        Ok(Self { folder: folder.join(RECORDS_FOLDER) })
    }

    /// Returns all records with a valid signature of this user.
    pub fn list(&self) -> Vec<CreatedRecord> {
        let mut records: Vec<CreatedRecord> =
            self.entries().into_iter().filter_map(Result::ok).collect();
        records.sort_by(|a, b| a.path.cmp(&b.path));
        records
    }

    /// Returns the paths among the records that are not valid: edited, of another user, or not
    /// regular files.
    pub fn invalid_records(&self) -> Vec<PathBuf> {
        self.entries().into_iter().filter_map(Result::err).collect()
    }

    fn entries(&self) -> Vec<Result<CreatedRecord, PathBuf>> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let key = self.key().ok();
        let paths = entries.flatten().map(|entry| entry.path());
        paths
            .filter(|path| path.extension().is_some_and(|it| it == "json"))
            .map(|path| Self::read_record(&path, key).ok_or(path))
            .collect()
    }

    /// Reads a record; `None` without a valid signature by the key.
    fn read_record(path: &Path, key: Option<[u8; 32]>) -> Option<CreatedRecord> {
        let text = read_own_file(path, MAX_RECORD_BYTES).ok()?;
        let mut record: CreatedRecord = serde_json::from_slice(&text).ok()?;
        if record.with_signature(&key?).signature != record.signature {
            return None;
        }
        record.record = path.to_path_buf();
        record.adopt_if_empty();
        Some(record)
    }

    /// Returns the record of the file at `path`, if assay created it.
    pub fn find(&self, path: &Path) -> Option<CreatedRecord> {
        self.list().into_iter().find(|record| record.path == path && record.is_unchanged())
    }

    /// Creates an empty file that will hold up to `most_bytes`, and its record.
    pub fn create(
        &self,
        path: &Path,
        most_bytes: u64,
    ) -> Result<(CreatedRecord, File), CommandFailure> {
        let cannot = |error: &io::Error| {
            let what = format!("cannot create the file {}", path.display());
            CommandFailure::measurement(what).with_cause(error).with_known_advice()
        };
        let announced = self.announce(path, most_bytes, CreatedKind::File);
        let mut record = announced.map_err(|error| cannot(&error))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let file = safe_open::open(path, flags).map_err(|error| {
            // Our file does not exist, so the record is not needed.
            drop(record.forget());
            cannot(&error)
        })?;
        let marked = record.set_mark(&file).and_then(|()| record.keep_open(&file));
        let kept = marked.and_then(|()| record.save());
        kept.map_err(|error| {
            // The file is empty and was just created.
            drop(fs::remove_file(path));
            drop(record.forget());
            cannot(&error)
        })?;
        Ok((record, file))
    }

    /// Records that a call of a phase may create a file, which stays empty.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn announce_call(&self, path: &Path) -> Result<CreatedRecord, CommandFailure> {
        self.announce(path, 0, CreatedKind::File).map_err(|error| {
            CommandFailure::measurement(format!("cannot create the file {}", path.display()))
                .with_cause(&error)
                .with_known_advice()
        })
    }

    fn create_folder(&self) -> io::Result<()> {
        if self.folder.is_dir() {
            return Ok(());
        }
        if let Some(store) = self.folder.parent() {
            fs::create_dir_all(store)?;
        }
        match std::fs::DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns a secret of this user's store for one purpose, derived from the key of the records.
    ///
    /// # Errors
    /// If the store is of another user, or cannot be written.
    pub fn derive_secret(&self, purpose: &str) -> Result<[u8; 32], CommandFailure> {
        let key = self.create_folder().and_then(|()| self.key());
        let key = key.map_err(|error| {
            CommandFailure::measurement("cannot read the secret key of the store")
                .with_cause(&error)
                .advise("use a store that only you write, named by --store")
        })?;
        Ok(blake3::derive_key(purpose, &key))
    }

    /// Records that a file is about to be created.
    fn announce(
        &self,
        path: &Path,
        most_bytes: u64,
        made: CreatedKind,
    ) -> io::Result<CreatedRecord> {
        self.create_folder()?;
        let record = CreatedRecord {
            path: path.to_path_buf(),
            device: 0,
            inode: 0,
            born_ns: None,
            announced_ns: u64::try_from(now_ns()).ok(),
            mark: None,
            made,
            laid_out_bytes: None,
            left: None,
            is_abandoned: false,
            most_bytes,
            process: std::process::id(),
            started: process_key().to_owned(),
            used_by: process_key().to_owned(),
            signature: String::new(),
            record: self.folder.join(format!("{}.json", unique_name())),
            is_adopted: false,
        };
        // Locked before it can be found: `storage clean` sees no record that is not in use.
        record_lock::hold(&record.record, true)?;
        record.save()?;
        Ok(record)
    }

    /// Creates the mark of a file tree with this text, and its record.
    pub fn create_mark(
        &self,
        path: &Path,
        words: &str,
        made: CreatedKind,
    ) -> Result<(), CommandFailure> {
        let (mut record, mut file) = self.create(path, words.len() as u64)?;
        record.made = made;
        let kept = record.save().and_then(|()| file.write_all(words.as_bytes()));
        kept.and_then(|()| record.end_use()).map_err(|error| {
            CommandFailure::measurement(format!("cannot create the mark {}", path.display()))
                .with_cause(&error)
        })
    }

    /// Removes drafts of records, which only a killed process leaves.
    pub fn remove_drafts(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Drafts of the key have no record.
            let parts: Vec<&str> = name.split('.').collect();
            let [record, _, "draft"] = parts.as_slice() else { continue };
            let record = self.folder.join(format!("{record}.json"));
            if record_lock::is_held_elsewhere(&record) != Some(true) {
                drop(fs::remove_file(&path));
            }
        }
    }

    /// Returns the key; creates it with the first record.
    fn key(&self) -> io::Result<[u8; 32]> {
        let path = self.folder.join(KEY_FILE);
        let read = || {
            let bytes = read_own_file(&path, 33)?;
            let is_private = path.symlink_metadata()?.mode() & 0o077 == 0;
            let key = <[u8; 32]>::try_from(bytes).ok().filter(|_| is_private);
            key.ok_or_else(|| {
                io::Error::other(format!(
                    "{} is not a key that only its owner can read",
                    path.display()
                ))
            })
        };
        match read() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let mut key = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        // The key appears atomically: if another process creates one at the same time, the first
        // one counts.
        let draft = self.folder.join(format!("{}.draft", unique_name()));
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(&key)?;
        file.sync_all()?;
        match fs::hard_link(&draft, &path) {
            // The file system may not support hard links.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                fs::rename(&draft, &path)?;
            }
            _ => fs::remove_file(&draft)?,
        }
        read()
    }
}

/// Reads a regular file of this user; rejects pipes, links and longer files.
fn read_own_file(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let found = file.metadata()?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    if !found.is_file() || !is_own || found.len() > most_bytes {
        return Err(io::Error::other(format!(
            "{} is not a regular file of this user",
            path.display()
        )));
    }
    let mut bytes = Vec::new();
    file.take(most_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl CreatedRecord {
    /// Records that the announced file is this one.
    fn set_identity(&mut self, found: &std::fs::Metadata) {
        (self.device, self.inode) = (found.dev(), found.ino());
        self.born_ns = born_ns(found);
        self.announced_ns = None;
    }

    /// Sets the extended attribute of the new file, if its file system supports it.
    fn set_mark(&mut self, file: &File) -> io::Result<()> {
        self.set_identity(&file.metadata()?);
        let Self { device, inode, born_ns, .. } = self;
        let bound = format!("{MARK_ATTRIBUTE} {device} {inode} {born_ns:?}");
        let key = self.store().key()?;
        let mark = blake3::keyed_hash(&key, bound.as_bytes()).to_hex().to_string();
        let set =
            rustix::fs::fsetxattr(file, MARK_ATTRIBUTE, mark.as_bytes(), XattrFlags::empty());
        self.mark = set.is_ok().then_some(mark);
        Ok(())
    }

    fn store(&self) -> CreatedFiles {
        CreatedFiles { folder: self.record.parent().map(Path::to_path_buf).unwrap_or_default() }
    }

    /// Whether another process uses the file.
    pub fn is_in_use(&self) -> bool {
        let is_held = record_lock::is_held_elsewhere(&self.record);
        is_held.unwrap_or_else(|| self.seems_in_use())
    }

    /// Whether a process of that name and number runs: for earlier versions, and on file systems
    /// without locks.
    fn seems_in_use(&self) -> bool {
        let name = fs::read_to_string(format!("/proc/{}/comm", self.process));
        let other = self.left.is_none() && self.used_by != process_key();
        other && name.is_ok_and(|name| name.trim() == "assay")
    }

    /// Locks the record until the end of all uses, so that no other process removes the file.
    ///
    /// # Errors
    /// If another process is removing it, or the lock cannot be created.
    pub fn hold(&self) -> io::Result<()> {
        record_lock::hold(&self.record, false)
    }

    /// Whether the record covers the tree in the folder of its file.
    pub fn is_tree(&self) -> bool {
        matches!(self.made, CreatedKind::Tree | CreatedKind::TreeAndFolder)
    }

    /// Records that this process writes the file, up to `most_bytes`.
    pub fn begin_use(&mut self, most_bytes: u64) -> io::Result<()> {
        record_lock::hold(&self.record, true)?;
        let found = fs::symlink_metadata(&self.path)?;
        self.left = None;
        self.most_bytes = self.most_bytes.max(most_bytes).max(found.len());
        self.process = std::process::id();
        self.used_by = process_key().to_owned();
        self.save()
    }

    fn end_use(&mut self) -> io::Result<()> {
        if self.left.is_some() && !self.is_abandoned {
            return Ok(());
        }
        self.is_abandoned = false;
        self.left = Some(LeftState::from_metadata(&fs::symlink_metadata(&self.path)?));
        self.save()
    }

    /// Records that the file is laid out with this many bytes.
    pub fn set_laid_out(&mut self, bytes: u64) -> io::Result<()> {
        self.laid_out_bytes = Some(bytes);
        self.save()
    }

    /// Records that the file is no longer laid out, because parts of it were deallocated.
    pub fn clear_laid_out(&mut self) -> io::Result<()> {
        self.laid_out_bytes = None;
        self.save()
    }

    /// Returns a copy with its correct signature.
    fn with_signature(&self, key: &[u8; 32]) -> Self {
        let plain = Self { signature: String::new(), record: PathBuf::new(), ..self.clone() };
        let text = serde_json::to_vec(&plain).unwrap_or_default();
        let signature = blake3::keyed_hash(key, &text).to_hex().to_string();
        Self { signature, record: self.record.clone(), ..plain }
    }

    /// Writes the record atomically, even across a power failure. Several processes may do so at
    /// the same time, each with a draft of its own.
    fn save(&self) -> io::Result<()> {
        let signed = self.with_signature(&self.store().key()?);
        let draft = self.record.with_extension(format!("{}.draft", unique_name()));
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&draft)?;
        let text = serde_json::to_vec(&signed)?;
        let written = file.write_all(&text).and_then(|()| file.sync_all());
        let saved = written.and_then(|()| fs::rename(&draft, &self.record));
        saved.inspect_err(|_| drop(fs::remove_file(&draft)))
    }
}

impl LeftState {
    fn from_metadata(found: &std::fs::Metadata) -> Self {
        let changed_ns = found.ctime().saturating_mul(1_000_000_000);
        Self { changed_ns: changed_ns.saturating_add(found.ctime_nsec()), bytes: found.len() }
    }
}

fn process_key() -> &'static str {
    static STARTED: OnceLock<String> = OnceLock::new();
    STARTED.get_or_init(|| format!("{}-{}", std::process::id(), now_ns()))
}

/// Returns a name that no other call returns, in any process.
fn unique_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", process_key(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

#[cfg(test)]
mod tests;
