//! Runs on disk: append-only events, raw outputs by their hash, and an index that can be rebuilt.
//!
//! [`Store::begin`] starts a run and returns its [`RunWriter`]; [`Store::read`] rebuilds a run from
//! its events, even if it is incomplete; [`Store::list`] and [`Store::resolve`] find runs.
//! [`layout`] describes every file.
//!
//! Every line of events has its number and a checksum. Damaged, duplicated and missing lines are
//! reported ([`EventProblem`]) and the others are read ([`ReadRun::is_whole`]).
//!
//! **Errors.** [`StoreError`] names the path, the reason and a remedy. A store of a newer assay is refused unchanged; stores of every
//! release are fixtures of the tests.
//!
//! This crate never changes an event or a raw output after it was written, deletes runs only on
//! request, and never evaluates samples.

mod decoded;
mod error;
mod filter;
mod follow;
mod index;
mod layout;
mod line;
mod list_entry;
mod listing;
mod location;
mod lock;
pub mod mount;
mod parallel;
mod problem;
mod raw;
mod reader;
mod regular_file;
mod removal;
mod resolve;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use assay_model::doubt::Doubt;
use assay_model::event::RunStarted;
use assay_model::run::Run;

pub use error::StoreError;
pub use filter::RunFilter;
pub use follow::RunFollower;
pub use layout::{STORE_FORMAT, default_folder, new_run_id};
pub use list_entry::{
    Headline, HeadlineSource, ListEntry, RunDigest, RunListing, UnreadableEntry,
};
pub use location::StoreLocation;
pub use lock::StoreLock;
pub use parallel::parallel_map;
pub use problem::EventProblem;
pub use reader::ReadRun;
pub use removal::RunRemoval;
pub use resolve::{NamedRuns, ResolveError};
pub use verify::RunVerification;
pub use writer::RunWriter;

use layout::StoreLayout;

/// Rebuilds a run from the bytes of its file of events, as [`Store::read`] does.
///
/// # Errors
/// If its first event is missing, damaged or of a newer format.
pub fn decode(bytes: &[u8]) -> Result<(Run, Vec<EventProblem>), StoreError> {
    reader::decode_file(bytes, Path::new("events.jsonl"))
}

/// Folder of runs. Cheap to clone; any number of processes may use the same folder at once.
#[derive(Debug, Clone)]
pub struct Store {
    layout: StoreLayout,
    headlines: HeadlineSource,
}

impl Store {
    /// Opens the store in `folder`, and creates it if missing.
    ///
    /// # Errors
    /// If the path is not a folder, the store was written by a newer assay, or it cannot be read or
    /// created. [`StoreError::advice`] has the remedy.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let layout = StoreLayout::create(folder.into())?;
        Ok(Self { layout, headlines: HeadlineSource::NONE })
    }

    /// Opens the store in `folder` without creating it, for commands that only read.
    ///
    /// # Errors
    /// [`StoreError::NoStore`] if there is none, otherwise as [`Store::open`].
    pub fn open_existing(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let layout = StoreLayout::open_existing(folder.into())?;
        Ok(Self { layout, headlines: HeadlineSource::NONE })
    }

    /// Sets the function that adds headlines to each run of the listing.
    #[must_use]
    pub fn with_headlines(self, headlines: HeadlineSource) -> Self {
        Self { headlines, ..self }
    }

    /// Writes runs that can be made again from their source: they are on the disk only after
    /// [`Self::sync`].
    #[must_use]
    pub fn sync_at_end(self) -> Self {
        Self { layout: self.layout.sync_at_end(), ..self }
    }

    /// Brings everything that was written to the disk.
    ///
    /// # Errors
    /// If the file system fails to write.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.layout.sync_all()
    }

    /// Returns the folder of the store.
    pub fn folder(&self) -> &Path {
        self.layout.folder()
    }

    /// Begins the run that `started` names and writes its first event.
    ///
    /// # Errors
    /// [`StoreError::RunExists`] if the identifier is in use (try another one). Otherwise if the
    /// identifier is not a file name, or writing fails.
    pub fn begin(&self, started: RunStarted) -> Result<RunWriter, StoreError> {
        RunWriter::begin(self.layout.clone(), self.headlines, started)
    }

    /// Rebuilds a run from its events. Unreadable parts are reported and are not fatal, as long as
    /// the first event is readable.
    ///
    /// # Errors
    /// If there is no such run, or its first event is missing or damaged.
    pub fn read(&self, run_id: &str) -> Result<ReadRun, StoreError> {
        reader::read(&self.layout, run_id)
    }

    /// Reads a run like [`Self::read`]. If events were lost, the run has a doubt, which every report
    /// of it shows.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn read_with_doubts(&self, run_id: &str) -> Result<ReadRun, StoreError> {
        let mut read = self.read(run_id)?;
        if !read.is_whole() {
            read.run.doubts.push(Doubt::EventsLost { count: read.lost_events() });
        }
        Ok(read)
    }

    /// Reads the raw output with this hash, and checks it.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or its content has another hash.
    pub fn read_raw(&self, hash: &str) -> Result<Vec<u8>, StoreError> {
        raw::read(&self.layout, hash)
    }

    /// Returns the hash of these bytes if they are stored as a raw output.
    pub fn find_raw(&self, bytes: &[u8]) -> Option<String> {
        raw::find(&self.layout, bytes)
    }

    /// Replaces the stored copy of a raw output if its bytes differ from these; returns whether they did.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn repair_raw(&self, bytes: &[u8]) -> Result<bool, StoreError> {
        raw::repair(&self.layout, bytes)
    }

    /// Waits until no other process holds this lock, ten seconds at most, and holds it until the
    /// result is dropped. On a file system without locks it holds nothing.
    pub fn lock(&self) -> StoreLock {
        StoreLock::acquire(&self.layout)
    }

    /// Verifies all stored data of a run against checksums, hashes and the index.
    pub fn verify(&self, run_id: &str) -> RunVerification {
        let rows = index::load(&self.layout);
        verify::verify_run(&self.layout, self.headlines, run_id, rows.get(run_id))
    }

    /// Verifies many runs as [`Store::verify`] does, and reads the index once for all of them.
    pub fn verify_each<'a>(
        &'a self,
        run_ids: &'a [String],
    ) -> impl Iterator<Item = RunVerification> + 'a {
        let rows = index::load(&self.layout);
        run_ids
            .iter()
            .map(move |id| verify::verify_run(&self.layout, self.headlines, id, rows.get(id)))
    }

    /// Removes runs, and the raw outputs that no other run refers to.
    ///
    /// # Errors
    /// If one of them is being written, or removing fails; earlier runs of the list are already
    /// removed. Removes nothing if a folder of these runs contains a mount point.
    pub fn remove(&self, run_ids: &[String]) -> Result<Vec<RunRemoval>, StoreError> {
        removal::remove(&self.layout, run_ids)
    }

    /// Returns the effect that [`Store::remove`] would have.
    ///
    /// # Errors
    /// If a folder of these runs contains a mount point or cannot be read.
    pub fn survey_removal(&self, run_ids: &[String]) -> Result<Vec<RunRemoval>, StoreError> {
        removal::survey(&self.layout, run_ids)
    }

    /// Lists the identifiers of all runs, readable or not, ascending.
    ///
    /// # Errors
    /// If the folder of runs cannot be read.
    pub fn run_ids(&self) -> Result<Vec<String>, StoreError> {
        self.layout.run_ids()
    }

    /// Lists every run, newest first.
    ///
    /// # Errors
    /// If the folder of runs cannot be read. A missing or damaged index is not an error.
    pub fn list(&self) -> Result<RunListing, StoreError> {
        listing::list(&self.layout, self.headlines)
    }

    /// Returns the latest run if a stored identifier is later than `run_id`, which means that the
    /// clock was set back. A new run with this identifier then follows it.
    ///
    /// # Errors
    /// If the folder of runs cannot be read.
    pub fn latest_if_later_than(&self, run_id: &str) -> Result<Option<String>, StoreError> {
        listing::latest_if_later_than(&self.layout, self.headlines, run_id)
    }

    /// Resolves `name` to the identifier of a run: a whole identifier, the unique beginning or end of
    /// one, the label of one run, `latest` for the newest run with a result, or `latest~2` for the
    /// second before it.
    ///
    /// # Errors
    /// If no run matches, or more than one.
    pub fn resolve(&self, name: &str) -> Result<String, ResolveError> {
        resolve::resolve(&self.layout, self.headlines, name)
    }

    /// Returns the runs that `name` denotes: as [`Self::resolve`], but a label may have several.
    ///
    /// # Errors
    /// If no run matches, or the name is ambiguous.
    pub fn resolve_all(&self, name: &str) -> Result<NamedRuns, ResolveError> {
        resolve::resolve_all(&self.layout, self.headlines, name)
    }

    /// Returns a reader that follows a run while it is being written.
    pub fn follow(&self, run_id: &str) -> RunFollower {
        RunFollower::new(self.layout.clone(), run_id)
    }

    /// Returns the time at which a run was last added or removed; `None` if there are none.
    pub fn changed(&self) -> Option<SystemTime> {
        fs_err::metadata(self.layout.runs()).and_then(|it| it.modified()).ok()
    }

    /// Lists the runs that a process is writing now.
    ///
    /// # Errors
    /// If the folder of runs cannot be read.
    pub fn running(&self) -> Result<Vec<String>, StoreError> {
        let ids = self.layout.run_ids()?;
        Ok(ids.into_iter().filter(|id| reader::is_being_written(&self.layout, id)).collect())
    }
}
