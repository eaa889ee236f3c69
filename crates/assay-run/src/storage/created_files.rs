//! List of the files that assay created. Each file has a small record next to the stored runs. The
//! record is written before the file exists, so that files left by a crash can be found and
//! removed.
//!
//! A record is signed with a key of its store. It identifies a file by path, device, inode, time of
//! birth and an extended attribute that copies lack, and, while no run uses the file, also by its
//! time of last change. A file that someone else replaced or changed never counts as assay's own.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use fs_err as fs;
use rustix::fs::{AtFlags, OFlags, XattrFlags};
use serde::{Deserialize, Serialize};

use super::{created_tree, safe_open};
use crate::failure::CommandFailure;

/// Maximum time between the announcement of a file and its birth. A file born later belongs to
/// someone else.
const MAX_CREATION_DELAY_NS: u64 = 5_000_000_000;

/// Longest tick of the kernel's clock for file times, at 100 Hz.
const TICK_NS: u64 = 10_000_000;

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
}

impl CreatedFiles {
    /// Opens the records next to the runs in `store`; without one, those in the user's own store.
    pub fn open(store: Option<&Path>) -> Result<Self, CommandFailure> {
        let folder = store
            .map(Path::to_path_buf)
            .or_else(|| assay_store::default_folder(|name| std::env::var_os(name)));
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
            .map(|path| {
                let read = read_own_file(&path, MAX_RECORD_BYTES).ok();
                let record = read.zip(key).and_then(|(text, key)| {
                    let record: CreatedRecord = serde_json::from_slice(&text).ok()?;
                    (record.with_signature(&key).signature == record.signature)
                        .then_some(record)
                });
                let mut record = record.ok_or_else(|| path.clone())?;
                record.record = path;
                record.adopt_if_empty();
                Ok(record)
            })
            .collect()
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
        let mut record = self.announce(path, most_bytes).map_err(|error| cannot(&error))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let file = safe_open::open(path, flags).map_err(|error| {
            // Our file does not exist, so the record is not needed.
            drop(fs::remove_file(&record.record));
            cannot(&error)
        })?;
        let kept = record.set_mark(&file).and_then(|()| record.save());
        kept.map_err(|error| {
            // The file is empty and was just created.
            drop(fs::remove_file(path));
            drop(fs::remove_file(&record.record));
            cannot(&error)
        })?;
        Ok((record, file))
    }

    /// Records that a file is about to be created.
    fn announce(&self, path: &Path, most_bytes: u64) -> io::Result<CreatedRecord> {
        if !self.folder.is_dir() {
            if let Some(store) = self.folder.parent() {
                fs::create_dir_all(store)?;
            }
            match std::fs::DirBuilder::new().mode(0o700).create(&self.folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error);
                }
                _ => {}
            }
        }
        let record = CreatedRecord {
            path: path.to_path_buf(),
            device: 0,
            inode: 0,
            born_ns: None,
            announced_ns: u64::try_from(now_ns()).ok(),
            mark: None,
            made: CreatedKind::File,
            laid_out_bytes: None,
            left: None,
            most_bytes,
            process: std::process::id(),
            started: process_key().to_owned(),
            used_by: process_key().to_owned(),
            signature: String::new(),
            record: self.folder.join(new_record_name()),
        };
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

    /// Removes every file that this process created, and its record; returns those that could not
    /// be removed, with the reason.
    pub fn remove_created(&self) -> Vec<(PathBuf, io::Error)> {
        let own = |record: &CreatedRecord| record.started == process_key();
        let records = self.list().into_iter().filter(own);
        records
            .filter_map(|record| {
                record.remove().err().map(|error| (record.path.clone(), error))
            })
            .collect()
    }

    /// Records the state of every file that this process used: any later change is not assay's.
    pub fn end_all_uses(&self) -> io::Result<()> {
        let used = |it: &CreatedRecord| {
            it.used_by == process_key() && it.left.is_none() && it.is_unchanged()
        };
        self.list().into_iter().filter(used).try_for_each(|mut record| record.end_use())
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
        let draft = self.folder.join(format!("{}.draft", process_key()));
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
    /// Whether the file at the path is the one that was created, and only assay has changed it.
    pub fn is_unchanged(&self) -> bool {
        let folder = self.path.parent();
        // With a link in the path, it leads to another file than the recorded one.
        let is_straight =
            folder.is_some_and(|it| it.canonicalize().is_ok_and(|found| found == it));
        is_straight && fs::symlink_metadata(&self.path).is_ok_and(|found| self.matches(&found))
    }

    fn matches(&self, found: &std::fs::Metadata) -> bool {
        let same = found.is_file() && found.dev() == self.device && found.ino() == self.inode;
        let marked = self.mark.as_ref().is_none_or(|mark| {
            let mut bytes = [0; 64];
            rustix::fs::lgetxattr(&self.path, MARK_ATTRIBUTE, &mut bytes)
                .is_ok_and(|length| bytes.get(..length) == Some(mark.as_bytes()))
        });
        // An inode alone proves nothing: numbers are reused.
        let is_born = match self.born_ns {
            None => self.mark.is_some(),
            born => born_ns(found) == born,
        };
        let untouched = match self.left {
            Some(left) => left == LeftState::from_metadata(found),
            None => found.len() <= self.most_bytes,
        };
        same && marked && is_born && untouched
    }

    /// Accepts the file of an announced record after a crash, if it is empty and was born at the
    /// time of the announcement.
    fn adopt_if_empty(&mut self) {
        let Some(announced_ns) = self.announced_ns else { return };
        let Ok(found) = fs::symlink_metadata(&self.path) else { return };
        // File times advance in ticks of the kernel, so a birth may appear to precede the
        // announcement.
        let first_ns = announced_ns.saturating_sub(TICK_NS);
        let at_once = first_ns..announced_ns.saturating_add(MAX_CREATION_DELAY_NS);
        let is_born = born_ns(&found).is_some_and(|it| at_once.contains(&it));
        if found.is_file() && found.len() == 0 && is_born {
            self.set_identity(&found);
        }
    }

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

    /// Returns the other process that uses the file, if it still runs.
    pub fn in_use_by(&self) -> Option<u32> {
        let name = fs::read_to_string(format!("/proc/{}/comm", self.process)).ok()?;
        let other = self.left.is_none() && self.used_by != process_key();
        (other && name.trim() == "assay").then_some(self.process)
    }

    /// Whether the record covers a tree.
    pub fn is_tree(&self) -> bool {
        self.made != CreatedKind::File
    }

    /// Records that this process writes the file, up to `most_bytes`.
    pub fn begin_use(&mut self, most_bytes: u64) -> io::Result<()> {
        let found = fs::symlink_metadata(&self.path)?;
        self.left = None;
        self.most_bytes = self.most_bytes.max(most_bytes).max(found.len());
        self.process = std::process::id();
        self.used_by = process_key().to_owned();
        self.save()
    }

    fn end_use(&mut self) -> io::Result<()> {
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

    /// Removes the file if it is still the one that was created, and the record in any case.
    /// Returns whether the file existed.
    pub fn remove(&self) -> io::Result<bool> {
        let there = self.is_unchanged();
        if let (true, Some(folder), Some(name)) =
            (there, self.path.parent(), self.path.file_name())
        {
            let opened = safe_open::open(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
            if self.made != CreatedKind::File {
                created_tree::remove_tree(folder)?;
            }
            let found = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if (found.st_dev, found.st_ino) != (self.device, self.inode) {
                return Ok(false);
            }
            rustix::fs::unlinkat(&opened, name, AtFlags::empty())?;
            if self.made == CreatedKind::TreeAndFolder {
                // The folder stays if it contains other files.
                drop(std::fs::remove_dir(folder));
            }
        }
        fs::remove_file(&self.record)?;
        Ok(there)
    }

    /// Returns a copy with its correct signature.
    fn with_signature(&self, key: &[u8; 32]) -> Self {
        let plain = Self { signature: String::new(), record: PathBuf::new(), ..self.clone() };
        let text = serde_json::to_vec(&plain).unwrap_or_default();
        let signature = blake3::keyed_hash(key, &text).to_hex().to_string();
        Self { signature, record: self.record.clone(), ..plain }
    }

    /// Writes the record atomically, even across a power failure.
    fn save(&self) -> io::Result<()> {
        let signed = self.with_signature(&self.store().key()?);
        let draft = self.record.with_extension("draft");
        let mut options = std::fs::OpenOptions::new();
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(flags);
        let mut file = options.open(&draft)?;
        file.write_all(&serde_json::to_vec(&signed)?)?;
        file.sync_all()?;
        fs::rename(&draft, &self.record)
    }
}

impl LeftState {
    fn from_metadata(found: &std::fs::Metadata) -> Self {
        let changed_ns = found.ctime().saturating_mul(1_000_000_000);
        Self { changed_ns: changed_ns.saturating_add(found.ctime_nsec()), bytes: found.len() }
    }
}

fn born_ns(found: &std::fs::Metadata) -> Option<u64> {
    since_1970_ns(found.created())
}

fn since_1970_ns(time: io::Result<SystemTime>) -> Option<u64> {
    u64::try_from(time.ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

fn process_key() -> &'static str {
    static STARTED: OnceLock<String> = OnceLock::new();
    STARTED.get_or_init(|| format!("{}-{}", std::process::id(), now_ns()))
}

fn new_record_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}.json", process_key(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_only_created_file() {
        let folder = tempfile::tempdir().unwrap();
        let created = CreatedFiles::open(Some(folder.path())).unwrap();
        let [ours, replaced] = ["ours", "replaced"].map(|name| folder.path().join(name));
        for path in [&ours, &replaced] {
            created.create(path, 0).unwrap();
        }
        // Replaces the file by a rename, so that the inode certainly differs.
        let foreign = folder.path().join("foreign");
        std::fs::write(&foreign, "precious").unwrap();
        std::fs::rename(&foreign, &replaced).unwrap();
        assert!(created.find(&ours).is_some());
        assert!(created.find(&replaced).is_none());
        assert!(created.remove_created().is_empty());
        assert!(!ours.exists());
        assert_eq!(std::fs::read_to_string(&replaced).unwrap(), "precious");
        assert!(created.list().is_empty());
    }

    #[test]
    fn refuses_to_create_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        let created = CreatedFiles::open(Some(folder.path())).unwrap();
        let path = folder.path().join("foreign");
        std::fs::write(&path, "precious").unwrap();
        assert!(created.create(&path, 0).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        assert!(created.list().is_empty());
    }

    #[test]
    fn recognises_file_of_announced_record() {
        let folder = tempfile::tempdir().unwrap();
        let created = CreatedFiles::open(Some(folder.path())).unwrap();
        let [missing, empty, foreign, older] =
            ["missing", "empty", "foreign", "older"].map(|name| folder.path().join(name));
        std::fs::write(&older, "").unwrap();
        std::thread::sleep(std::time::Duration::from_nanos(3 * TICK_NS));
        for path in [&missing, &empty, &foreign, &older] {
            created.announce(path, 0).unwrap();
        }
        // The simulated crash comes after this.
        std::fs::write(&empty, "").unwrap();
        std::fs::write(&foreign, "precious").unwrap();
        let there: Vec<PathBuf> = created
            .list()
            .into_iter()
            .filter(CreatedRecord::is_unchanged)
            .map(|record| record.path)
            .collect();
        assert_eq!(there, std::slice::from_ref(&empty));
        assert!(created.remove_created().is_empty());
        assert!(created.list().is_empty());
        assert!(!empty.exists() && foreign.exists() && older.exists());
    }

    #[test]
    fn ignores_malformed_record() {
        let folder = tempfile::tempdir().unwrap();
        let created = CreatedFiles::open(Some(folder.path())).unwrap();
        created.create(&folder.path().join("ours"), 0).unwrap();
        std::fs::write(folder.path().join(RECORDS_FOLDER).join("broken.json"), "{").unwrap();
        assert_eq!(created.list().len(), 1);
    }

    #[test]
    fn changed_file_is_not_own() {
        let folder = tempfile::tempdir().unwrap();
        let created = CreatedFiles::open(Some(folder.path())).unwrap();
        let path = folder.path().canonicalize().unwrap().join("kept");
        created.create(&path, 8).unwrap();
        std::fs::write(&path, "of assay").unwrap();
        created.end_all_uses().unwrap();
        assert!(created.find(&path).is_some());
        std::thread::sleep(std::time::Duration::from_nanos(3 * TICK_NS));
        // Inode, birth, attribute and length stay the same.
        std::fs::write(&path, "precious").unwrap();
        assert!(created.find(&path).is_none());
        assert!(created.remove_created().is_empty());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn rejects_edited_and_irregular_records() {
        let folder = tempfile::tempdir().unwrap();
        let created = CreatedFiles::open(Some(folder.path())).unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        let (record, _) = created.create(&at("ours"), 0).unwrap();
        let (other, _) = created.create(&at("other"), 0).unwrap();
        // A record is edited to cover the other file, with its inode and birth.
        let edited = CreatedRecord { path: other.path.clone(), ..record.clone() };
        let text = serde_json::to_string(&edited).unwrap();
        std::fs::write(&record.record, text).unwrap();
        let pipe = folder.path().join(RECORDS_FOLDER).join("pipe.json");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        let link = folder.path().join(RECORDS_FOLDER).join("link.json");
        std::os::unix::fs::symlink(&other.record, &link).unwrap();
        assert_eq!(created.list().len(), 1);
        assert_eq!(created.invalid_records().len(), 3);
        // Records signed with a key that others can read are not valid.
        std::fs::write(folder.path().join(RECORDS_FOLDER).join(KEY_FILE), [7; 32]).unwrap();
        assert!(created.list().is_empty());
    }
}
