//! Which files assay created: one small record per file beside the stored runs, written before there is a
//! file, so that a crash leaves nothing behind that cannot be found and removed.
//!
//! A record identifies a file by path, device, inode and birth time: another file in its place is never
//! mistaken for assay's own.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::{advice, made_tree};
use crate::failure::Failure;

/// An announced file is made at once. One that was born later than this is somebody else's.
const AT_ONCE_NS: u64 = 5_000_000_000;

/// The longest tick of the kernel's clock that files are dated with, at 100 a second.
const TICK_NS: u64 = 10_000_000;

/// Below the folder of the store.
const FOLDER: &str = "created-files";

/// The records of one store.
#[derive(Debug)]
pub struct Created {
    folder: PathBuf,
}

/// One file that assay made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Where it lies, without links.
    pub path: PathBuf,
    device: u64,
    inode: u64,
    /// Nanoseconds since 1970, where the file system keeps it.
    born_ns: Option<u64>,
    /// When it was announced, in nanoseconds since 1970; `None` = it was made, and the three fields
    /// above are its own.
    #[serde(default)]
    announced_ns: Option<u64>,
    /// What is behind it.
    #[serde(default)]
    made: Made,
    /// Its size once it is laid out, in bytes; `None` = it is not, or the work was cut off.
    pub laid_out_bytes: Option<u64>,
    /// The process that made it.
    process: u32,
    /// Distinguishes processes of the same number.
    started: String,
    #[serde(skip)]
    record: PathBuf,
}

/// What a record stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Made {
    /// The file itself.
    #[default]
    File,
    /// The file tree in its folder, which it marks.
    Tree,
    /// That, and the folder too.
    TreeAndFolder,
}

impl Created {
    /// The records beside the runs in `store`; without one, in the user's own store.
    pub fn open(store: Option<&Path>) -> Result<Self, Failure> {
        let folder = store
            .map(Path::to_path_buf)
            .or_else(|| assay_store::default_folder(|name| std::env::var_os(name)));
        let folder = folder.ok_or_else(|| {
            Failure::measurement("there is no place to keep which files assay makes")
                .advise("name a folder with --store, or set XDG_DATA_HOME or HOME")
        })?;
        Ok(Self { folder: folder.join(FOLDER) })
    }

    /// Every file that assay made and that is still the same file.
    pub fn list(&self) -> Vec<Record> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut records: Vec<Record> = entries
            .flatten()
            .filter_map(|entry| {
                let text = fs::read(entry.path()).ok()?;
                let mut record: Record = serde_json::from_slice(&text).ok()?;
                record.record = entry.path();
                record.recognise();
                Some(record)
            })
            .collect();
        records.sort_by(|a, b| a.path.cmp(&b.path));
        records
    }

    /// The record of this very file, if assay made it.
    pub fn find(&self, path: &Path) -> Option<Record> {
        self.list().into_iter().find(|record| record.path == path && record.is_still_there())
    }

    /// Makes an empty file and its record.
    pub fn create(&self, path: &Path) -> Result<Record, Failure> {
        let cannot = |error: &io::Error| {
            let what = format!("the file {} cannot be made", path.display());
            advice::added(Failure::measurement(what).because(error))
        };
        let mut record = self.announce(path).map_err(|error| cannot(&error))?;
        let made = File::options().write(true).create_new(true).open(path);
        let file = made.map_err(|error| {
            // There is no file of ours, so nobody looks for the record.
            drop(fs::remove_file(&record.record));
            cannot(&error)
        })?;
        let kept = file.metadata().and_then(|found| {
            record.is_about(&found);
            record.keep()
        });
        kept.map_err(|error| {
            // It is empty and a moment old.
            drop(fs::remove_file(path));
            drop(fs::remove_file(&record.record));
            cannot(&error)
        })?;
        Ok(record)
    }

    /// Writes down that a file is about to be made.
    fn announce(&self, path: &Path) -> io::Result<Record> {
        fs::create_dir_all(&self.folder)?;
        let record = Record {
            path: path.to_path_buf(),
            device: 0,
            inode: 0,
            born_ns: None,
            announced_ns: u64::try_from(now_ns()).ok(),
            made: Made::File,
            laid_out_bytes: None,
            process: std::process::id(),
            started: this_process().to_owned(),
            record: self.folder.join(new_name()),
        };
        record.keep()?;
        Ok(record)
    }

    /// Makes the mark of a file tree, with these words in it, and its record.
    pub fn mark(&self, path: &Path, words: &str, made: Made) -> Result<(), Failure> {
        let mut record = self.create(path)?;
        record.made = made;
        record.keep().and_then(|()| fs::write(path, words)).map_err(|error| {
            Failure::measurement(format!("the mark {} cannot be made", path.display()))
                .because(&error)
        })
    }

    /// Removes every file that this process made, and its record; what could not be removed comes
    /// back with the reason.
    pub fn remove_own(&self) -> Vec<(PathBuf, io::Error)> {
        let own = |record: &Record| record.started == this_process();
        let records = self.list().into_iter().filter(own);
        records
            .filter_map(|record| {
                record.remove().err().map(|error| (record.path.clone(), error))
            })
            .collect()
    }
}

impl Record {
    /// Whether the file at the path is the one that was made.
    pub fn is_still_there(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| {
            let same = found.dev() == self.device && found.ino() == self.inode;
            same && (self.born_ns.is_none() || born_ns(&found) == self.born_ns)
        })
    }

    /// Takes an announced file for the one that was made after a crash cut that off: nothing is in it, and
    /// it was born when it was announced.
    fn recognise(&mut self) {
        let Some(announced_ns) = self.announced_ns else { return };
        let Ok(found) = fs::symlink_metadata(&self.path) else { return };
        // What was never written was changed last when it was made.
        let born = born_ns(&found).or_else(|| since_1970_ns(found.modified()));
        // File systems tell the time in ticks of the kernel, so that a birth may seem to come first.
        let first_ns = announced_ns.saturating_sub(TICK_NS);
        let at_once = first_ns..announced_ns.saturating_add(AT_ONCE_NS);
        if found.is_file() && found.len() == 0 && born.is_some_and(|it| at_once.contains(&it)) {
            self.is_about(&found);
        }
    }

    /// The file that was announced is this one.
    fn is_about(&mut self, found: &std::fs::Metadata) {
        (self.device, self.inode) = (found.dev(), found.ino());
        self.born_ns = born_ns(found);
        self.announced_ns = None;
    }

    /// The process that made it, if it still runs.
    pub fn in_use_by(&self) -> Option<u32> {
        let name = fs::read_to_string(format!("/proc/{}/comm", self.process)).ok()?;
        let other = self.started != this_process();
        (other && name.trim() == "assay").then_some(self.process)
    }

    /// Notes that the file is laid out with this many bytes.
    pub fn laid_out(&mut self, bytes: u64) -> io::Result<()> {
        self.laid_out_bytes = Some(bytes);
        self.keep()
    }

    /// Notes that the file is not laid out any more: parts of it were given back.
    pub fn has_holes(&mut self) -> io::Result<()> {
        self.laid_out_bytes = None;
        self.keep()
    }

    /// Removes the file if it is still the one that was made, and the record in any case. `true` =
    /// there was a file.
    pub fn remove(&self) -> io::Result<bool> {
        let there = self.is_still_there();
        if there {
            let folder = self.path.parent().filter(|_| self.made != Made::File);
            folder.map_or(Ok(()), made_tree::remove)?;
            fs::remove_file(&self.path)?;
            if let Some(folder) = folder.filter(|_| self.made == Made::TreeAndFolder) {
                // What somebody else put there keeps the folder.
                drop(std::fs::remove_dir(folder));
            }
        }
        fs::remove_file(&self.record)?;
        Ok(there)
    }

    /// Writes the record so that it is whole or not there, also after a power cut.
    fn keep(&self) -> io::Result<()> {
        let draft = self.record.with_extension("draft");
        let mut file = fs::File::create(&draft)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()?;
        fs::rename(&draft, &self.record)
    }
}

fn born_ns(found: &std::fs::Metadata) -> Option<u64> {
    since_1970_ns(found.created())
}

fn since_1970_ns(time: io::Result<SystemTime>) -> Option<u64> {
    u64::try_from(time.ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

fn this_process() -> &'static str {
    static STARTED: OnceLock<String> = OnceLock::new();
    STARTED.get_or_init(|| format!("{}-{}", std::process::id(), now_ns()))
}

fn new_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}.json", this_process(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_that_was_made_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let created = Created::open(Some(folder.path())).unwrap();
        let [ours, replaced] = ["ours", "replaced"].map(|name| folder.path().join(name));
        for path in [&ours, &replaced] {
            created.create(path).unwrap();
        }
        // Renamed over it, so that the inode is another one for certain.
        let foreign = folder.path().join("foreign");
        std::fs::write(&foreign, "precious").unwrap();
        std::fs::rename(&foreign, &replaced).unwrap();
        assert!(created.find(&ours).is_some());
        assert!(created.find(&replaced).is_none());
        assert!(created.remove_own().is_empty());
        assert!(!ours.exists());
        assert_eq!(std::fs::read_to_string(&replaced).unwrap(), "precious");
        assert!(created.list().is_empty());
    }

    #[test]
    fn a_file_that_is_there_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let created = Created::open(Some(folder.path())).unwrap();
        let path = folder.path().join("foreign");
        std::fs::write(&path, "precious").unwrap();
        assert!(created.create(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        assert!(created.list().is_empty());
    }

    #[test]
    fn a_crash_before_the_record_is_whole_leaves_a_file_that_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let created = Created::open(Some(folder.path())).unwrap();
        let [missing, empty, foreign, older] =
            ["missing", "empty", "foreign", "older"].map(|name| folder.path().join(name));
        std::fs::write(&older, "").unwrap();
        std::thread::sleep(std::time::Duration::from_nanos(3 * TICK_NS));
        for path in [&missing, &empty, &foreign, &older] {
            created.announce(path).unwrap();
        }
        // The crash comes after this.
        std::fs::write(&empty, "").unwrap();
        std::fs::write(&foreign, "precious").unwrap();
        let there: Vec<PathBuf> = created
            .list()
            .into_iter()
            .filter(Record::is_still_there)
            .map(|record| record.path)
            .collect();
        assert_eq!(there, std::slice::from_ref(&empty));
        assert!(created.remove_own().is_empty());
        assert!(created.list().is_empty());
        assert!(!empty.exists() && foreign.exists() && older.exists());
    }

    #[test]
    fn a_broken_record_harms_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let created = Created::open(Some(folder.path())).unwrap();
        created.create(&folder.path().join("ours")).unwrap();
        std::fs::write(folder.path().join(FOLDER).join("broken.json"), "{").unwrap();
        assert_eq!(created.list().len(), 1);
    }
}
