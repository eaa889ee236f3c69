//! Runs on disk: append-only events, raw outputs by their hash, and an index that can be rebuilt.
//!
//! [`Store::begin`] starts a run and hands out its [`RunWriter`]; [`Store::read`] rebuilds a run
//! from its events, however far it came; [`Store::list`] and [`Store::resolve`] find runs.
//! [`layout`] describes every file.
//!
//! Every line of events carries its number and a checksum: what is damaged, doubled or missing is
//! named ([`Problem`]) and the rest is read ([`ReadRun::is_whole`]). Runs of format 1, which had
//! neither, are read for ever.
//!
//! This crate never changes an event or a raw output once it is written, deletes runs only by name
//! and never draws a conclusion from a sample.

mod decoded;
mod error;
mod format1;
mod index;
mod layout;
mod line;
mod listed;
mod listing;
pub mod mount;
mod problem;
mod raw;
mod reader;
mod removal;
mod resolve;
mod side_by_side;
mod verify;
mod writer;

use std::path::{Path, PathBuf};

use assay_model::event::RunStarted;
use assay_model::run::Run;

pub use error::StoreError;
pub use layout::{STORE_FORMAT, default_folder, new_run_id};
pub use listed::{Headline, Headlines, Listed, Listing, Unreadable};
pub use problem::Problem;
pub use reader::ReadRun;
pub use removal::Removed;
pub use resolve::ResolveError;
pub use verify::Verified;
pub use writer::RunWriter;

use layout::Layout;

/// A run from the bytes of its file of events, as [`Store::read`] makes it.
///
/// # Errors
/// When its first event is missing, damaged or of a newer format.
pub fn decode(bytes: &[u8]) -> Result<(Run, Vec<Problem>), StoreError> {
    reader::of_bytes(bytes, Path::new("events.jsonl"))
}

/// One folder of runs. Cheap to clone; any number of processes may use the same folder at once.
#[derive(Debug, Clone)]
pub struct Store {
    layout: Layout,
    headlines: Headlines,
}

impl Store {
    /// Opens the store in `folder` and creates what is missing of it.
    ///
    /// # Errors
    /// When something else is in its place, it was written by a newer assay, or it cannot be
    /// read or created. [`StoreError::advice`] says what to do.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let layout = Layout::create(folder.into())?;
        Ok(Self { layout, headlines: Headlines::NONE })
    }

    /// Opens the store in `folder` and creates nothing: for commands that only look.
    ///
    /// # Errors
    /// [`StoreError::NoStore`] when there is none, otherwise as [`Store::open`].
    pub fn open_existing(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let layout = Layout::existing(folder.into())?;
        Ok(Self { layout, headlines: Headlines::NONE })
    }

    /// The same store, whose listing also carries what `headlines` says about each run.
    #[must_use]
    pub fn with_headlines(self, headlines: Headlines) -> Self {
        Self { headlines, ..self }
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.layout.folder()
    }

    /// Begins the run that `started` names and writes its first event.
    ///
    /// # Errors
    /// [`StoreError::RunExists`] when the identifier is taken (make another and try again);
    /// otherwise when the identifier is not a file name or the disk refuses.
    pub fn begin(&self, started: RunStarted) -> Result<RunWriter, StoreError> {
        RunWriter::begin(self.layout.clone(), self.headlines, started)
    }

    /// Rebuilds a run from its events. What cannot be read of it is reported, not fatal, as long as
    /// the first event is there.
    ///
    /// # Errors
    /// When there is no such run, or its first event is missing or damaged.
    pub fn read(&self, run_id: &str) -> Result<ReadRun, StoreError> {
        reader::read(&self.layout, run_id)
    }

    /// The raw output with this hash, checked against it.
    ///
    /// # Errors
    /// When there is none, it cannot be read, or its content has another hash.
    pub fn raw(&self, hash: &str) -> Result<Vec<u8>, StoreError> {
        raw::read(&self.layout, hash)
    }

    /// Holds everything that is stored of a run against what was written.
    #[must_use]
    pub fn verify(&self, run_id: &str) -> Verified {
        verify::run(&self.layout, self.headlines, run_id)
    }

    /// Removes runs, with the raw outputs that no other run names.
    ///
    /// # Errors
    /// When one of them is being written, or the disk refuses; runs before that one are gone then. Where something is
    /// mounted in the folder of any of them nothing is removed.
    pub fn remove(&self, run_ids: &[String]) -> Result<Vec<Removed>, StoreError> {
        removal::remove(&self.layout, run_ids)
    }

    /// Looks what [`Store::remove`] would do.
    ///
    /// # Errors
    /// When something is mounted in the folder of one of the runs, or it cannot be read.
    pub fn survey_removal(&self, run_ids: &[String]) -> Result<Vec<Removed>, StoreError> {
        removal::survey(&self.layout, run_ids)
    }

    /// The identifiers of all runs, readable or not, ascending.
    ///
    /// # Errors
    /// When the folder of runs cannot be read.
    pub fn run_ids(&self) -> Result<Vec<String>, StoreError> {
        self.layout.run_ids()
    }

    /// Every run, newest first.
    ///
    /// # Errors
    /// When the folder of runs cannot be read. A missing or damaged index is not an error.
    pub fn list(&self) -> Result<Listing, StoreError> {
        listing::list(&self.layout, self.headlines)
    }

    /// The latest run, where the clock shows an earlier time now than it did for any that is stored: the one that a new run of
    /// this name comes after.
    ///
    /// # Errors
    /// When the folder of runs cannot be read.
    pub fn latest_beyond(&self, run_id: &str) -> Result<Option<String>, StoreError> {
        listing::latest_beyond(&self.layout, self.headlines, run_id)
    }

    /// The identifier of the run that `name` means: a whole identifier, the unique beginning of
    /// one, `latest`, or `latest~2` for the second before the latest.
    ///
    /// # Errors
    /// When it means none or more than one.
    pub fn resolve(&self, name: &str) -> Result<String, ResolveError> {
        resolve::resolve(&self.layout, self.headlines, name)
    }

    /// The runs that some process is writing now.
    ///
    /// # Errors
    /// When the folder of runs cannot be read.
    pub fn running(&self) -> Result<Vec<String>, StoreError> {
        let ids = self.layout.run_ids()?;
        Ok(ids.into_iter().filter(|id| reader::is_being_written(&self.layout, id)).collect())
    }
}
