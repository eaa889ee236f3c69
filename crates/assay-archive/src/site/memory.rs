//! Site in the memory of a server: the same files as on a disk, except pages of runs, which are
//! rendered when they are requested.

use std::sync::{Arc, Mutex};

use assay_model::poisoned_lock::PoisonedLock as _;
use assay_run::failure::CommandFailure;
use assay_store::{ListEntry, RunListing, Store};

use super::folder::{HeldFile, HeldFiles, SiteFolder};
use super::runs::render_run_file;
use super::{PageStyle, SiteWriter, WrittenSite};
use crate::ArchiveRequest;

/// Files of a site by their names.
#[derive(Debug)]
pub(crate) struct SiteMemory {
    style: PageStyle,
    held: Arc<HeldFiles>,
    /// Held while a page is rendered: a run may take much memory.
    rendering: Mutex<()>,
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
    pub(crate) fn new(pages: &ArchiveRequest) -> Self {
        let style = PageStyle { language: pages.language, version: pages.version };
        Self { style, held: Arc::new(HeldFiles::new()), rendering: Mutex::new(()) }
    }

    /// Updates the files from the list of runs; returns the changes of the list. Verdicts are those of
    /// all runs of the store, the newest first.
    ///
    /// # Errors
    /// If a page cannot be rendered. The files remain usable.
    pub(crate) fn update(
        &self,
        store: Option<(&Store, &[ListEntry])>,
        listing: RunListing,
    ) -> Result<SiteChange, CommandFailure> {
        let before = self.held.manifest();
        let writer = SiteWriter {
            folder: SiteFolder::in_memory(&self.held),
            style: self.style,
            placeholders: None,
        };
        let WrittenSite { warnings, .. } = writer.write_site(store, listing)?;
        let after = self.held.manifest();
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
        match self.held.find(name) {
            HeldFile::Text(file) => return Ok(Some(file)),
            HeldFile::Missing => return Ok(None),
            HeldFile::OnRequest => {}
        }
        let _one_at_a_time = self.rendering.lock().even_if_poisoned();
        let rendered = render_run_file(&store()?, name, self.style.language);
        Ok(rendered.transpose()?.map(Arc::from))
    }
}
