//! Store, selection and language of the pages.

use assay_report::locale::Language;
use assay_run::failure::CommandFailure;
use assay_store::{RunFilter, RunListing, Store, StoreLocation};

/// Pages that a caller wants: of which runs, in which language.
#[derive(Debug, Clone)]
pub struct ArchiveRequest {
    /// Store of the runs.
    pub store: StoreLocation,
    /// Runs with a page.
    pub filter: RunFilter,
    /// Language of the pages.
    pub language: Language,
    /// Version of the program; pages of another version are rendered anew.
    pub version: &'static str,
}

impl ArchiveRequest {
    /// Opens the store.
    ///
    /// # Errors
    /// If it is missing or cannot be used.
    pub fn open_store(&self) -> Result<Store, CommandFailure> {
        self.store.open_existing().map_err(CommandFailure::from)
    }

    /// Lists all runs of the store. A missing default store counts as empty.
    ///
    /// # Errors
    /// If the store cannot be used.
    pub fn list_runs(&self) -> Result<RunListing, CommandFailure> {
        self.store.list().map_err(CommandFailure::from)
    }
}
