//! Static site of the stored runs: written into a folder, or held in the memory of a server.

mod folder;
mod histories;
mod memory;
mod placeholders;
mod runs;
mod verdicts;

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::failure::os_error;
use assay_report::build::ListedRun;
use assay_report::locale::Language;
use assay_report::site::{self, HistoryTexts, SiteContents, SiteHistory, SiteRun};
use assay_report::words;
use assay_run::failure::CommandFailure;
use assay_store::{ListEntry, RunFilter, RunListing, Store};

use crate::ArchiveRequest;
use crate::run_list::{list_row, no_match_failure};
use folder::{FileRecord, SiteFolder, SiteManifest};
use histories::MAX_HISTORY_RUNS;
use placeholders::Placeholders;
use verdicts::{MAX_LABELS, MAX_PAIRS};

pub(crate) use memory::{SiteChange, SiteMemory};
pub use placeholders::anonymise_run;

/// Number of runs in one script of the list. A new run changes only the last script.
const RUNS_PER_PIECE: usize = 500;

/// Site to write into a folder.
#[derive(Debug)]
pub struct SiteRequest<'a> {
    /// Runs and language of the pages.
    pub pages: ArchiveRequest,
    /// Folder: a new or an empty one, or one with a site.
    pub folder: &'a Path,
    /// Whether placeholders replace names of hosts and users, addresses, paths and serial numbers.
    pub is_anonymous: bool,
}

/// Writes the files of a site that have changed, and passes warnings to `warn`.
///
/// # Errors
/// If the store or the folder cannot be used, or the folder has files of others.
pub fn write_site(
    request: &SiteRequest<'_>,
    warn: &mut dyn FnMut(&str),
) -> Result<WrittenSite, CommandFailure> {
    let pages = &request.pages;
    let mut listing = pages.list_runs()?;
    let simplify = |text: String| os_error::simplify_message(&text);
    listing.doubts.iter().for_each(|doubt| warn(&simplify(words::doubt(doubt).text)));
    for run in &listing.unreadable {
        warn(&format!("warning: cannot read run {}: {}", run.id, run.reason));
    }
    // Verdicts are those of all runs of a label.
    let all_runs = listing.runs.clone();
    listing.runs.retain(|run| pages.filter.matches(run));
    if listing.runs.is_empty() && pages.filter != RunFilter::default() {
        return Err(no_match_failure(&pages.filter, &all_runs));
    }
    let placeholders =
        request.is_anonymous.then(|| Placeholders::open(&pages.store)).transpose()?;
    let writer = SiteWriter {
        folder: SiteFolder::open(request.folder)?,
        style: PageStyle { language: pages.language, version: pages.version },
        placeholders,
    };
    let store = match listing.runs.is_empty() {
        true => None,
        false => Some(pages.open_store()?),
    };
    let are_whole = listing.runs.iter().all(|run| run.is_whole);
    let mut written = writer.write_site(store.as_ref().map(|it| (it, &*all_runs)), listing)?;
    written.warnings.drain(..).for_each(|warning| warn(&warning));
    written.is_complete &= are_whole;
    Ok(written)
}

/// Properties of every page: another one makes all pages new.
#[derive(Debug, Clone, Copy)]
struct PageStyle {
    language: Language,
    version: &'static str,
}

/// Writer of the files of a site.
struct SiteWriter {
    folder: SiteFolder,
    style: PageStyle,
    /// Placeholders of identifying texts, if the site shall have none of those.
    placeholders: Option<Placeholders>,
}

/// Site after a call.
#[derive(Debug, Default)]
pub struct WrittenSite {
    /// Number of runs with a page.
    pub runs: usize,
    /// Number of files that were written.
    pub written: usize,
    /// Number of files that were up to date.
    pub kept: usize,
    /// Number of files that were removed.
    pub removed: usize,
    /// Whether every run could be read completely.
    pub is_complete: bool,
    warnings: Vec<String>,
}

/// Files of a site by name, each with its record, and whether it was written now.
type SiteFiles = Vec<(String, FileRecord, bool)>;

impl SiteWriter {
    /// Writes all files that have changed, and removes those of runs that are gone. The overview
    /// comes after the pages to which it links.
    fn write_site(
        self,
        store: Option<(&Store, &[ListEntry])>,
        mut listing: RunListing,
    ) -> Result<WrittenSite, CommandFailure> {
        let mut written = WrittenSite::default();
        let mut manifest = SiteManifest::new();
        let mut files = SiteFiles::new();
        if let Some((store, all_runs)) = store {
            let updates = self.update_hosts(store, &listing.runs)?;
            for (host, update) in updates {
                manifest.hosts.insert(host, update.record);
                manifest.runs.extend(update.runs);
                files.extend(update.files);
                written.warnings.extend(update.warnings);
                listing.unreadable.extend(update.unreadable);
            }
            files.extend(self.write_verdicts(store, all_runs, &mut manifest)?);
        }
        listing.runs.retain(|run| manifest.runs.contains_key(&run.id));
        written.runs = listing.runs.len();
        written.is_complete = listing.unreadable.is_empty();
        files.extend(self.style.language.scope(|| self.write_overview(&listing, &manifest))?);
        for (name, record, is_new) in files {
            *(if is_new { &mut written.written } else { &mut written.kept }) += 1;
            manifest.files.insert(name, record);
        }
        written.removed = self.folder.finish(&manifest)?;
        Ok(written)
    }

    /// Writes the pages about all runs.
    fn write_overview(
        &self,
        listing: &RunListing,
        manifest: &SiteManifest,
    ) -> Result<SiteFiles, CommandFailure> {
        let runs: Vec<SiteRun<'_>> =
            listing.runs.iter().rev().map(|run| site_run(run, manifest)).collect();
        let unreadable: Vec<_> = listing
            .unreadable
            .iter()
            .map(|it| match self.placeholders {
                Some(placeholders) => placeholders.anonymise_reason(it),
                None => it.clone(),
            })
            .map(|it| (it.id, it.reason))
            .collect();
        let mut files = SiteFiles::new();
        let mut write = |name: &str, text: &str| {
            let (record, is_new) = self.folder.write(name, text)?;
            files.push((name.to_owned(), record, is_new));
            Ok::<(), CommandFailure>(())
        };
        write("site.css", &site::style())?;
        write("site.js", site::SCRIPT)?;
        write("page.js", &site::page_script())?;
        write("pictures.js", site::PICTURES_SCRIPT)?;
        write("compare.html", &site::comparison_page_with_labels([MAX_LABELS, MAX_PAIRS]))?;
        write("data/labels.js", &site::labels_script(&verdicts::label_rows(manifest)))?;
        for (piece, runs) in runs.chunks(RUNS_PER_PIECE).enumerate() {
            write(&format!("data/runs-{piece}.js"), &site::runs_script(piece, runs))?;
        }
        write("history.html", &histories_page(manifest))?;
        let pieces = runs.len().div_ceil(RUNS_PER_PIECE);
        let contents = SiteContents { runs: &runs, pieces, unreadable: &unreadable };
        write("index.html", &site::overview_page(&contents))?;
        Ok(files)
    }

    /// Returns the name of a host in the site.
    fn public_host(&self, host: &str) -> String {
        self.placeholders.map_or_else(|| host.to_owned(), |it| it.host(host))
    }

    /// Groups the runs by host, the oldest first, and writes the pages of each host.
    fn update_hosts(
        &self,
        store: &Store,
        runs: &[ListEntry],
    ) -> Result<Vec<(String, histories::HostUpdate)>, CommandFailure> {
        let mut hosts: BTreeMap<&str, Vec<&ListEntry>> = BTreeMap::new();
        for run in runs.iter().rev() {
            hosts.entry(&run.host).or_default().push(run);
        }
        let hosts: Vec<(&str, Vec<&ListEntry>)> = hosts.into_iter().collect();
        let updates = assay_store::parallel_map(&hosts, 1, |(host, runs)| {
            let name = self.public_host(host);
            let update = self.update_host(store, &name, runs)?;
            Ok((name, update))
        });
        updates.into_iter().collect()
    }
}

fn site_run<'r>(run: &'r ListEntry, manifest: &'r SiteManifest) -> SiteRun<'r> {
    let record = manifest.runs.get(&run.id);
    let machine = record.map_or("", |record| record.machine.as_str());
    let shown = record.and_then(|record| record.listed.as_ref()).unwrap_or(run);
    let listed = ListedRun { is_running: run.running, ..list_row(shown) };
    SiteRun { listed, started: &run.started, machine }
}

fn histories_page(manifest: &SiteManifest) -> String {
    let records = manifest.hosts.iter().flat_map(|(host, record)| {
        record.histories.iter().map(move |history| (host.as_str(), history))
    });
    let texts: Vec<_> = records
        .map(|(host, it)| {
            let (title, newest) = (it.title.clone(), it.newest.clone());
            let texts = HistoryTexts { title, newest, runs: it.runs, changes: it.changes };
            (host, it.file.as_str(), texts)
        })
        .collect();
    let histories = texts.iter().map(|(host, file, texts)| SiteHistory { host, file, texts });
    site::histories_page(&histories.collect::<Vec<_>>(), MAX_HISTORY_RUNS)
}
