//! Folder of a site: its manifest, and which of its files are ours. A server has it in memory.
//!
//! On a disk, only files that a site wrote are replaced or removed. Every file is replaced as a whole; the manifest is
//! written last, so that an interrupted site is continued by the next call.

use std::collections::{BTreeMap, HashMap};
use std::fs::{Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use assay_model::poisoned_lock::PoisonedLock as _;
use assay_report::site::{MARK, MARK_REACH};
use assay_run::failure::CommandFailure;
use assay_store::ListEntry;
use fs_err as fs;
use serde::{Deserialize, Serialize};

/// Name of the manifest.
pub(super) const MANIFEST: &str = "assay-site.json";
/// Version of the manifest.
const SCHEMA: u32 = 1;
/// Maximum size of a manifest; that of 10,000 runs has 3 MB.
const MAX_MANIFEST_BYTES: u64 = 1 << 30;
/// Folders of a site; the first is the site itself.
const FOLDERS: [&str; 6] = ["", "runs", "results", "history", "data", "verdicts"];
/// Beginning of the names of drafts that [`write_file`] renames.
const DRAFT_PREFIX: &str = ".assay-draft-";
/// Number of hexadecimal digits of a fingerprint.
const FINGERPRINT_DIGITS: usize = 32;

/// Record of all files that a site wrote, and of their sources.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SiteManifest {
    schema: u32,
    /// Files by their name within the site.
    pub(super) files: BTreeMap<String, FileRecord>,
    /// Runs by identifier.
    pub(super) runs: BTreeMap<String, RunRecord>,
    /// Histories by the name of the host.
    pub(super) hosts: BTreeMap<String, HostRecord>,
    /// Verdicts by the name of their files.
    #[serde(default)]
    pub(super) verdicts: BTreeMap<String, VerdictRecord>,
}

/// File that a site wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRecord {
    bytes: u64,
    fingerprint: String,
}

impl FileRecord {
    /// Record of a file that is rendered when it is requested.
    pub(super) const fn on_request() -> Self {
        Self { bytes: 0, fingerprint: String::new() }
    }
}

/// Run whose page was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RunRecord {
    /// Fingerprint of the sources of its files.
    pub(super) source: String,
    /// Type of the machine.
    pub(super) machine: String,
    /// Its entry in the list with placeholders, in a site without identifying texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) listed: Option<ListEntry>,
}

/// Host whose histories were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HostRecord {
    /// Fingerprint of the runs of its histories.
    pub(super) source: String,
    pub(super) histories: Vec<HistoryRecord>,
}

/// History, as the list of histories shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HistoryRecord {
    pub(super) file: String,
    pub(super) title: String,
    pub(super) newest: String,
    pub(super) runs: usize,
    pub(super) changes: usize,
}

/// Pair of labels that was compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VerdictRecord {
    /// Fingerprint of the runs of both labels.
    pub(super) source: String,
    pub(super) host: String,
    pub(super) labels: [String; 2],
    /// Conclusion in one sentence; empty without common results, and then there are no files.
    pub(super) conclusion: String,
}

/// Opened folder of a site, which no other process writes meanwhile.
#[derive(Debug)]
pub(super) struct SiteFolder {
    place: SitePlace,
    /// Sizes of the files that the folder has, by their name within the site.
    present: HashMap<String, u64>,
    /// Manifest of the previous call.
    pub(super) before: SiteManifest,
}

/// Place of the files of a site.
#[derive(Debug)]
enum SitePlace {
    /// Folder, locked until the end of the call.
    Disk { path: PathBuf, _lock: fs::File },
    /// Memory of a server.
    Memory(Arc<HeldFiles>),
}

/// Files of a site in memory, with their manifest.
#[derive(Debug)]
pub(super) struct HeldFiles(Mutex<HeldState>);

#[derive(Debug)]
struct HeldState {
    files: HashMap<String, Arc<str>>,
    manifest: SiteManifest,
}

/// File of a site that is asked for.
#[derive(Debug)]
pub(super) enum HeldFile {
    /// Its contents.
    Text(Arc<str>),
    /// It is rendered on request.
    OnRequest,
    /// The site has no such file.
    Missing,
}

impl HeldFiles {
    pub(super) fn new() -> Self {
        Self(Mutex::new(HeldState { files: HashMap::new(), manifest: SiteManifest::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, HeldState> {
        // Every change below is complete before the lock is released.
        self.0.lock().even_if_poisoned()
    }

    pub(super) fn find(&self, name: &str) -> HeldFile {
        let state = self.lock();
        match state.files.get(name) {
            Some(file) => HeldFile::Text(Arc::clone(file)),
            None if state.manifest.files.contains_key(name) => HeldFile::OnRequest,
            None => HeldFile::Missing,
        }
    }

    pub(super) fn manifest(&self) -> SiteManifest {
        self.lock().manifest.clone()
    }

    fn insert(&self, name: &str, content: &str) {
        self.lock().files.insert(name.to_owned(), Arc::from(content));
    }

    /// Removes the files that the site no longer has; returns their number.
    fn finish(&self, manifest: &SiteManifest) -> usize {
        let mut state = self.lock();
        let is_obsolete = |name: &&String| !manifest.files.contains_key(*name);
        let removed = state.manifest.files.keys().filter(is_obsolete).count();
        state.files.retain(|name, _| manifest.files.contains_key(name));
        state.manifest = manifest.clone();
        removed
    }
}

impl SiteManifest {
    pub(super) fn new() -> Self {
        let (files, runs, hosts, verdicts) = Default::default();
        Self { schema: SCHEMA, files, runs, hosts, verdicts }
    }
}

/// Returns a fingerprint of a content: the beginning of its BLAKE3 hash.
pub(super) fn fingerprint(content: &[u8]) -> String {
    blake3::hash(content).to_hex()[..FINGERPRINT_DIGITS].to_owned()
}

impl SiteFolder {
    /// Opens a folder that is new, empty or a site.
    ///
    /// # Errors
    /// If the folder has files of others, is being written, or cannot be read or created.
    pub(super) fn open(path: &Path) -> Result<Self, CommandFailure> {
        if path.exists() && !path.is_dir() {
            return Err(CommandFailure::usage(format!("{} is not a folder", path.display()))
                .advise("name a folder that does not exist yet"));
        }
        fs::create_dir_all(path).map_err(|error| folder_error(path, &error))?;
        let lock = fs::File::open(path).map_err(|error| folder_error(path, &error))?;
        // Only a held lock refuses: some file systems have no locks.
        if matches!(lock.file().try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(CommandFailure::usage(format!(
                "another process writes the site {}",
                path.display()
            ))
            .advise("wait until it has ended"));
        }
        let before = read_manifest(path)?;
        for name in FOLDERS {
            let folder = path.join(name);
            fs::create_dir_all(&folder).map_err(|error| folder_error(&folder, &error))?;
        }
        let present = find_files(path).map_err(|error| folder_error(path, &error))?;
        let place = SitePlace::Disk { path: path.to_owned(), _lock: lock };
        Ok(Self { place, present, before })
    }

    /// Opens the site that a server has in memory.
    pub(super) fn in_memory(memory: &Arc<HeldFiles>) -> Self {
        let before = memory.manifest();
        let present = before.files.iter().map(|(name, file)| (name.clone(), file.bytes));
        Self {
            present: present.collect(),
            before,
            place: SitePlace::Memory(Arc::clone(memory)),
        }
    }

    /// Whether pages of runs are not written, but rendered when they are requested.
    pub(super) const fn renders_on_request(&self) -> bool {
        matches!(self.place, SitePlace::Memory(_))
    }

    /// Whether the folder has a file as the manifest records it.
    pub(super) fn has_file(&self, name: &str) -> bool {
        let recorded = self.before.files.get(name);
        recorded.is_some_and(|record| self.present.get(name) == Some(&record.bytes))
    }

    /// Writes a file unless it has this content; returns its record, and whether it was written.
    ///
    /// # Errors
    /// If a file of others has that name, or writing fails.
    pub(super) fn write(
        &self,
        name: &str,
        content: &str,
    ) -> Result<(FileRecord, bool), CommandFailure> {
        let record = FileRecord {
            bytes: content.len() as u64,
            fingerprint: fingerprint(content.as_bytes()),
        };
        if self.has_file(name) && self.before.files.get(name) == Some(&record) {
            return Ok((record, false));
        }
        let path = match &self.place {
            SitePlace::Disk { path, .. } => path.join(name),
            SitePlace::Memory(memory) => {
                memory.insert(name, content);
                return Ok((record, true));
            }
        };
        if self.present.contains_key(name)
            && !self.before.files.contains_key(name)
            && !is_marked(&path)
        {
            let what = format!("{} was not written by `assay site`", path.display());
            return Err(CommandFailure::usage(what).advise("move it, or name another folder"));
        }
        write_file(&path, content)?;
        Ok((record, true))
    }

    /// Removes the files of the previous call that the site no longer has, and writes the manifest;
    /// returns the number of files removed.
    ///
    /// # Errors
    /// If a file cannot be removed or written.
    pub(super) fn finish(self, manifest: &SiteManifest) -> Result<usize, CommandFailure> {
        let path = match &self.place {
            SitePlace::Disk { path, .. } => path,
            SitePlace::Memory(memory) => return Ok(memory.finish(manifest)),
        };
        let mut removed = 0;
        // Names that the folder does not have are not followed: a manifest can be changed by hand.
        let is_obsolete = |name: &&String| {
            !manifest.files.contains_key(*name) && self.present.contains_key(*name)
        };
        for name in self.before.files.keys().filter(is_obsolete) {
            let path = path.join(name);
            fs::remove_file(&path).map_err(|error| {
                CommandFailure::measurement(format!("cannot remove {}", path.display()))
                    .with_cause(&error)
                    .with_known_advice()
            })?;
            removed += 1;
        }
        write_manifest(path, manifest)?;
        Ok(removed)
    }
}

/// Reads the manifest, and starts one in a new or empty folder.
fn read_manifest(folder: &Path) -> Result<SiteManifest, CommandFailure> {
    let path = folder.join(MANIFEST);
    let file = match fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            reject_foreign_files(folder)?;
            let manifest = SiteManifest::new();
            write_manifest(folder, &manifest)?;
            return Ok(manifest);
        }
        Err(error) => return Err(folder_error(&path, &error)),
    };
    let mut text = String::new();
    let read = file.take(MAX_MANIFEST_BYTES).read_to_string(&mut text);
    read.map_err(|error| folder_error(&path, &error))?;
    let manifest = serde_json::from_str::<SiteManifest>(&text);
    manifest.ok().filter(|it| it.schema == SCHEMA).ok_or_else(|| {
        CommandFailure::usage(format!("{} is no manifest of this version", path.display()))
            .with_reason("it is damaged, or another version of assay wrote it")
            .advise("remove the folder, or name another one")
    })
}

fn write_manifest(folder: &Path, manifest: &SiteManifest) -> Result<(), CommandFailure> {
    let text = serde_json::to_string(manifest).map_err(|error| {
        CommandFailure::measurement("cannot write the manifest as JSON").with_cause(&error)
    })?;
    write_file(&folder.join(MANIFEST), &text)
}

/// Creates or replaces a file atomically. It can be derived again, and is not brought to the disk at
/// once.
fn write_file(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let written = || {
        let mut draft = tempfile::Builder::new()
            .prefix(DRAFT_PREFIX)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(path.parent().unwrap_or(Path::new(".")))?;
        draft.write_all(text.as_bytes())?;
        draft.persist(path).map(drop).map_err(|error| error.error)
    };
    written().map_err(|error| CommandFailure::from_write_error(path, &error))
}

fn reject_foreign_files(folder: &Path) -> Result<(), CommandFailure> {
    let mut entries = fs::read_dir(folder).map_err(|error| folder_error(folder, &error))?;
    let Some(Ok(entry)) = entries.next() else { return Ok(()) };
    let what = format!("{} contains files of others", folder.display());
    Err(CommandFailure::usage(what)
        .with_reason(format!("it has {} and no {MANIFEST}", entry.file_name().display()))
        .advise("name a new or an empty folder, or one that `assay site` wrote"))
}

/// Finds all files of the site with their sizes, and removes drafts of an interrupted call.
fn find_files(site: &Path) -> io::Result<HashMap<String, u64>> {
    let mut present = HashMap::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(site.join(folder))? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|_| !metadata.is_dir()) else { continue };
            if name.starts_with(DRAFT_PREFIX) && metadata.is_file() {
                fs::remove_file(entry.path())?;
            } else if folder.is_empty() {
                present.insert(name.to_owned(), metadata.len());
            } else {
                present.insert(format!("{folder}/{name}"), metadata.len());
            }
        }
    }
    Ok(present)
}

/// Whether a file starts like those of a site: a call that was interrupted before its manifest.
fn is_marked(path: &Path) -> bool {
    let is_regular = path.symlink_metadata().is_ok_and(|it| it.is_file());
    let mut start = Vec::new();
    let read = fs::File::open(path)
        .and_then(|file| file.take(MARK_REACH as u64).read_to_end(&mut start));
    is_regular && read.is_ok() && String::from_utf8_lossy(&start).contains(MARK)
}

fn folder_error(path: &Path, error: &io::Error) -> CommandFailure {
    CommandFailure::measurement(format!("cannot open {} as a site", path.display()))
        .with_cause(error)
        .with_known_advice()
}
