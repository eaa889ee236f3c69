//! `assay site`: writes a static site of the stored runs into a folder.

mod folder;
mod histories;
mod memory;
mod placeholders;
mod runs;
mod verdicts;

use std::collections::BTreeMap;

use assay_model::failure::os_error;
use assay_report::build::ListedRun;
use assay_report::locale::Language;
use assay_report::site::{self, HistoryTexts, SiteContents, SiteHistory, SiteRun};
use assay_report::words;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_store::{ListEntry, RunListing, Store};

use super::list::list_row;
use crate::arguments::site::SiteArguments;
use crate::failure::exit_code;
use crate::store_access;
use crate::terminal::Terminal;
use folder::{FileRecord, SiteFolder, SiteManifest};
use histories::MAX_HISTORY_RUNS;
use placeholders::Placeholders;
use verdicts::{MAX_LABELS, MAX_PAIRS};

pub(crate) use memory::{SiteChange, SiteMemory};

/// Number of runs in one script of the list. A new run changes only the last script.
const RUNS_PER_PIECE: usize = 500;

pub(crate) fn site(
    typed: &SiteArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let mut listing = store_access::list_runs(&typed.store)?;
    let simplify = |text: String| os_error::simplify_message(&text);
    let notes = listing.doubts.iter().map(|doubt| simplify(words::doubt(doubt).text));
    notes.for_each(|text| terminal.note(&text));
    for run in &listing.unreadable {
        terminal.note(&format!("warning: cannot read run {}: {}", run.id, run.reason));
    }
    // Verdicts are those of all runs of a label.
    let all_runs = listing.runs.clone();
    listing.runs.retain(|run| typed.filter.matches(run));
    let placeholders = typed.anonymous.then(|| Placeholders::open(&typed.store)).transpose()?;
    let writer = SiteWriter {
        folder: SiteFolder::open(&typed.site)?,
        language: typed.screen.language().unwrap_or(Language::INVARIANT),
        placeholders,
    };
    let store = match listing.runs.is_empty() {
        true => None,
        false => Some(store_access::open_for_reading(&typed.store)?),
    };
    let are_whole = listing.runs.iter().all(|run| run.is_whole);
    let written = writer.write_site(store.as_ref().map(|it| (it, &*all_runs)), listing)?;
    written.warnings.iter().for_each(|warning| terminal.note(warning));
    let page = typed.site.join("index.html");
    terminal.print_line(&words::sentence(
        "site-written",
        &[
            ("page", &page.display().to_string()),
            ("runs", &written.runs.to_string()),
            ("written", &written.written.to_string()),
            ("kept", &written.kept.to_string()),
            ("removed", &written.removed.to_string()),
        ],
    ));
    let is_complete = are_whole && written.unreadable == 0;
    Ok(if is_complete { 0 } else { exit_code(FailureKind::Measurement) })
}

/// Writer of the files of a site.
struct SiteWriter {
    folder: SiteFolder,
    language: Language,
    /// Placeholders of identifying texts, if the site shall have none of those.
    placeholders: Option<Placeholders>,
}

/// Result of a call.
#[derive(Debug, Default)]
struct WrittenSite {
    runs: usize,
    written: usize,
    kept: usize,
    removed: usize,
    /// Number of folders without a readable run.
    unreadable: usize,
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
        written.unreadable = listing.unreadable.len();
        files.extend(self.language.scope(|| self.write_overview(&listing, &manifest))?);
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
