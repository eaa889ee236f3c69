//! Placeholders for names of hosts, addresses and paths in a site for others.
//!
//! A placeholder is a digest with a secret key of the store, which never leaves the store: the same
//! name has the same placeholder in all pages and calls, and guessed names cannot be tested without the key.

use assay_model::run::Run;
use assay_report::anonymous::Anonymiser;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::storage::created_files::CreatedFiles;
use assay_store::{ListEntry, StoreLocation, UnreadableEntry};

/// Purpose of the secret; changing it changes all placeholders.
const PURPOSE: &str = "assay 2026-11-27 placeholders of a site";

/// Source of the placeholders of one store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placeholders {
    key: [u8; 32],
}

impl Placeholders {
    /// Opens the secret key of a store, and creates it if it is missing.
    pub(super) fn open(store: &StoreLocation) -> Result<Self, CommandFailure> {
        let created = CreatedFiles::open(store.folder.as_deref())?;
        Ok(Self { key: created.derive_secret(PURPOSE)? })
    }

    fn anonymiser(self) -> Anonymiser {
        Anonymiser::with_digest(move |text| {
            blake3::keyed_hash(&self.key, text.as_bytes()).to_hex().to_string()
        })
    }

    /// Returns the name of a host in the site.
    pub(super) fn host(self, name: &str) -> String {
        self.anonymiser().host_placeholder(name)
    }

    /// Returns a text that differs for each key; it keeps fingerprints of sources from being tested
    /// with guessed names.
    pub(super) fn salt(self) -> String {
        blake3::Hash::from_bytes(self.key).to_hex().to_string()
    }

    /// Replaces the identifying texts of a run and returns its entry in the list without them.
    pub(super) fn anonymise(
        self,
        run: &mut Run,
        entry: &ListEntry,
    ) -> Result<ListEntry, CommandFailure> {
        let mut names = self.anonymiser();
        let mut entry = entry.clone();
        anonymise_run(run, &mut names)?;
        names.replace_all(&mut entry).map_err(|error| anonymise_failure(&error))?;
        Ok(entry)
    }

    /// Returns the reason why a run cannot be read without paths.
    pub(super) fn anonymise_reason(self, unreadable: &UnreadableEntry) -> UnreadableEntry {
        let reason = self.anonymiser().anonymise_text(&unreadable.reason);
        UnreadableEntry { id: unreadable.id.clone(), reason }
    }
}

/// Replaces the identifying texts of a run.
///
/// # Errors
/// If its events have no form in JSON.
pub fn anonymise_run(run: &mut Run, names: &mut Anonymiser) -> Result<(), CommandFailure> {
    names.anonymise_run(run).map_err(|error| anonymise_failure(&error))
}

fn anonymise_failure(error: &serde_json::Error) -> CommandFailure {
    CommandFailure::new(FailureKind::Internal, "cannot anonymise the run").with_cause(error)
}
