//! Site in the memory of a server: the same files as on a disk, except pages of runs, which are
//! rendered when they are requested.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_report::locale::Language;
use assay_run::failure::CommandFailure;
use assay_store::{RunListing, Store, StoreError};

use super::folder::{SiteFolder, SiteManifest};
use super::runs::render_run_file;
use super::{SiteWriter, WrittenSite};

/// Files of a site by their names.
#[derive(Debug)]
pub(crate) struct SiteMemory {
    language: Language,
    state: Mutex<SiteState>,
    /// Held while a page is rendered: a run may take much memory.
    rendering: Mutex<()>,
}

#[derive(Debug)]
struct SiteState {
    files: HashMap<String, Arc<str>>,
    manifest: SiteManifest,
}

/// Difference between the lists of runs before and after an update.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SiteChange {
    /// Number of scripts with the list of runs.
    pub(crate) pieces: usize,
    /// Numbers of the changed scripts.
    pub(crate) changed: Vec<usize>,
    /// Whether the list or the runs that cannot be read differ.
    pub(crate) differs: bool,
    /// Warnings about runs that were read.
    pub(crate) warnings: Vec<String>,
}

impl SiteMemory {
    pub(crate) fn new(language: Language) -> Self {
        let state = SiteState { files: HashMap::new(), manifest: SiteManifest::new() };
        Self { language, state: Mutex::new(state), rendering: Mutex::new(()) }
    }

    fn lock(&self) -> MutexGuard<'_, SiteState> {
        // Every change below is complete before the lock is released.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the files from the list of runs; returns the changes of the list.
    ///
    /// # Errors
    /// If a page cannot be rendered. The files remain usable.
    pub(crate) fn update(
        self: &Arc<Self>,
        store: Option<&Store>,
        listing: RunListing,
    ) -> Result<SiteChange, CommandFailure> {
        let before = self.manifest();
        let writer =
            SiteWriter { folder: SiteFolder::in_memory(self), language: self.language };
        let WrittenSite { warnings, .. } = writer.write_site(store, listing)?;
        let after = self.manifest();
        let piece = |number: usize| format!("data/runs-{number}.js");
        let pieces =
            (0..).take_while(|number| after.files.contains_key(&piece(*number))).count();
        let differs = |number: &usize| {
            before.files.get(&piece(*number)) != after.files.get(&piece(*number))
        };
        let changed = (0..pieces).filter(differs).collect();
        let [was, is] = [&before, &after].map(|site| site.files.get("index.html"));
        let is_shorter = before.files.contains_key(&piece(pieces));
        let differs = is_shorter || was != is || (0..pieces).any(|number| differs(&number));
        Ok(SiteChange { pieces, changed, differs, warnings })
    }

    /// Returns a file of the site; `None` if the site has no such file.
    ///
    /// # Errors
    /// If the run of a page cannot be read.
    pub(crate) fn read(
        &self,
        store: impl FnOnce() -> Result<Store, CommandFailure>,
        name: &str,
    ) -> Result<Option<Arc<str>>, CommandFailure> {
        {
            let state = self.lock();
            if let Some(file) = state.files.get(name) {
                return Ok(Some(Arc::clone(file)));
            }
            if !state.manifest.files.contains_key(name) {
                return Ok(None);
            }
        }
        let _one_at_a_time = self.rendering.lock().unwrap_or_else(PoisonError::into_inner);
        let rendered = render_run_file(&store()?, name, self.language);
        let failure = |error: StoreError| CommandFailure::from_store(&error);
        rendered.transpose().map_err(failure).map(|file| file.map(Arc::from))
    }

    pub(super) fn manifest(&self) -> SiteManifest {
        self.lock().manifest.clone()
    }

    pub(super) fn insert(&self, name: &str, content: &str) {
        self.lock().files.insert(name.to_owned(), Arc::from(content));
    }

    /// Removes the files that the site no longer has; returns their number.
    pub(super) fn finish(&self, manifest: &SiteManifest) -> usize {
        let mut state = self.lock();
        let is_obsolete = |name: &&String| !manifest.files.contains_key(*name);
        let removed = state.manifest.files.keys().filter(is_obsolete).count();
        state.files.retain(|name, _| manifest.files.contains_key(name));
        state.manifest = manifest.clone();
        removed
    }
}
