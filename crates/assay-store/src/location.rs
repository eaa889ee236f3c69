//! Location of a store that may appear, change or vanish while a program runs.

use std::path::PathBuf;

use crate::Store;
use crate::error::StoreError;
use crate::layout::default_folder;
use crate::list_entry::{HeadlineSource, RunListing};

/// Folder of a store, and the headlines of its list. The store is opened anew for each use.
#[derive(Debug, Clone)]
pub struct StoreLocation {
    /// Folder that the user named; `None` for the default one.
    pub folder: Option<PathBuf>,
    /// Function that adds headlines to the list.
    pub headlines: HeadlineSource,
}

impl StoreLocation {
    /// Opens the store, and creates it if it is missing; `None` if the environment has no folder
    /// for it.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn create(&self) -> Result<Option<Store>, StoreError> {
        let store = self.resolve_folder()?.map(Store::open).transpose()?;
        Ok(store.map(|it| it.with_headlines(self.headlines)))
    }

    /// Opens the store if it exists.
    ///
    /// # Errors
    /// As [`Store::open_existing`].
    pub fn open_existing(&self) -> Result<Store, StoreError> {
        let folder = self.resolve_folder()?.unwrap_or_default();
        Store::open_existing(folder).map(|store| store.with_headlines(self.headlines))
    }

    /// Lists all runs. A missing default store counts as empty.
    ///
    /// # Errors
    /// If the store that the user named is missing, or it cannot be read.
    pub fn list(&self) -> Result<RunListing, StoreError> {
        match self.open_existing() {
            Err(StoreError::NoStore { .. }) if self.folder.is_none() => {
                Ok(RunListing { runs: vec![], unreadable: vec![], doubts: vec![] })
            }
            store => store?.list(),
        }
    }

    /// Returns the named folder, or the default one; `None` if the environment has none.
    fn resolve_folder(&self) -> Result<Option<PathBuf>, StoreError> {
        match self.folder.clone() {
            Some(folder) => Ok(Some(folder)),
            None => default_folder(|name| std::env::var_os(name)),
        }
    }
}
