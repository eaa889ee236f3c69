//! Files of one run: its page, and its results for comparisons.

use assay_model::run::Run;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::run_doubts;
use assay_report::document::Document;
use assay_report::locale::Language;
use assay_report::{build, site};
use assay_run::failure::CommandFailure;
use assay_run::program;
use assay_stats::compare::{ResultKey, compare_stored_programs, key_results};
use assay_stats::history::RunResults;
use assay_stats::summarize::summarize;
use assay_store::{ListEntry, Store, StoreError, UnreadableEntry};

use super::folder::{FileRecord, RunRecord, fingerprint};
use super::placeholders::Placeholders;
use super::{SiteFiles, SiteWriter};

/// Files of one run, and its results for the histories.
pub(super) struct RunUpdate {
    pub(super) id: String,
    pub(super) record: RunRecord,
    pub(super) files: SiteFiles,
    /// Results, if they were read.
    pub(super) results: Option<RunResults>,
    pub(super) warnings: Vec<String>,
}

/// Outcome of reading one run: its update, or the reason why it cannot be read.
pub(super) type RunOutcome = Result<RunUpdate, UnreadableEntry>;

impl SiteWriter {
    /// Returns the fingerprint of everything that the files of a run depend on.
    pub(super) fn run_source(&self, run: &ListEntry) -> String {
        let entry = serde_json::to_string(run).unwrap_or_default();
        fingerprint(format!("{} {} {entry}", self.style_of_pages(), run.running).as_bytes())
    }

    /// Returns the conditions of every page: version of the program, language, zone of times, placeholders.
    pub(super) fn style_of_pages(&self) -> String {
        let salt = self.placeholders.map(Placeholders::salt).unwrap_or_default();
        let zone = assay_report::locale::time_zone_name();
        format!("{} {:?} {zone} {salt}", self.style.version, self.style.language)
    }

    /// Returns the files of a run that are up to date.
    pub(super) fn current_run(&self, run: &ListEntry) -> Option<RunUpdate> {
        let before = &self.folder.before;
        let record = before.runs.get(&run.id).filter(|it| it.source == self.run_source(run))?;
        let file = |name: String| {
            let record = before.files.get(&name).filter(|_| self.folder.has_file(&name))?;
            Some((name, record.clone(), false))
        };
        let files = [page_name(&run.id), results_name(&run.id)].map(file);
        Some(RunUpdate {
            id: run.id.clone(),
            record: record.clone(),
            files: files.into_iter().collect::<Option<_>>()?,
            results: None,
            warnings: Vec::new(),
        })
    }

    /// Reads a run and writes its files, unless they are current.
    pub(super) fn update_run(
        &self,
        store: &Store,
        run: &ListEntry,
    ) -> Result<RunOutcome, CommandFailure> {
        let mut read = match store.read_with_doubts(&run.id) {
            Ok(read) => read,
            Err(error) => {
                let reason = error.to_string();
                return Ok(Err(UnreadableEntry { id: run.id.clone(), reason }));
            }
        };
        let listed = match self.placeholders {
            Some(placeholders) => Some(placeholders.anonymise(&mut read.run, run)?),
            None => None,
        };
        let summary = summarize(&read.run);
        let keyed = key_results(&read.run, summary.results.clone());
        let current = self.current_run(run);
        let mut update = match current {
            Some(update) => update,
            None => {
                let record = RunRecord {
                    source: self.run_source(run),
                    machine: machine_type(&read.run),
                    listed,
                };
                let files = self.write_run_files(&run.id, || {
                    let document = run_document(&summary, &read.run);
                    [site::run_page(&document), render_results(&document, &summary, &keyed)]
                })?;
                let warnings = read.warnings().collect();
                RunUpdate { id: run.id.clone(), record, files, results: None, warnings }
            }
        };
        let doubts = run_doubts(&summary).cloned().collect();
        update.results = Some(RunResults::from_results(&read.run, keyed, doubts));
        Ok(Ok(update))
    }

    /// Writes the page and the results of a run, unless they are rendered on request.
    fn write_run_files(
        &self,
        id: &str,
        render: impl FnOnce() -> [String; 2],
    ) -> Result<SiteFiles, CommandFailure> {
        let names = [page_name(id), results_name(id)];
        if self.folder.renders_on_request() {
            return Ok(names.map(|name| (name, FileRecord::on_request(), true)).into());
        }
        let written =
            names.into_iter().zip(self.style.language.scope(render)).map(|(name, text)| {
                let (record, is_new) = self.folder.write(&name, &text)?;
                Ok((name, record, is_new))
            });
        written.collect()
    }
}

/// Renders a file of a run by its name in the site; `None` if it is no name of such a file.
pub(super) fn render_run_file(
    store: &Store,
    name: &str,
    language: Language,
) -> Option<Result<String, StoreError>> {
    let id = |folder, end| name.strip_prefix(folder)?.strip_suffix(end);
    let (id, is_page) = match (id("runs/", ".html"), id("results/", ".js")) {
        (Some(id), _) => (id, true),
        (None, Some(id)) => (id, false),
        (None, None) => return None,
    };
    let rendered = store.read_with_doubts(id).map(|read| {
        let summary = summarize(&read.run);
        language.scope(|| {
            let document = run_document(&summary, &read.run);
            match is_page {
                true => site::run_page(&document),
                false => {
                    let keyed = key_results(&read.run, summary.results.clone());
                    render_results(&document, &summary, &keyed)
                }
            }
        })
    });
    Some(rendered)
}

/// Builds the page of a run, with the comparison of its programs.
fn run_document(summary: &RunSummary, run: &Run) -> Document {
    let mut document = build::run_page(summary, Some(run));
    if run.started.plan.suite == program::SUITE {
        build::add_programs(&mut document, &compare_stored_programs(run));
    }
    document
}

/// Renders the script with the results of a run and its curves.
fn render_results(
    document: &Document,
    summary: &RunSummary,
    keyed: &[(ResultKey, MetricEstimate)],
) -> String {
    let estimates: Vec<_> = keyed.iter().map(|(_, it)| it).collect();
    let curves = site::curves_script(&summary.run.id, document, &estimates);
    site::results_script(summary, keyed) + &curves
}

fn page_name(id: &str) -> String {
    format!("runs/{id}.html")
}

fn results_name(id: &str) -> String {
    format!("results/{id}.js")
}

/// Returns the product name of the first host, or else the model of its processor.
fn machine_type(run: &Run) -> String {
    let facts = run.first_host().map(|host| &host.facts);
    let product = facts.and_then(|facts| facts.system.product.clone());
    let model = facts.map(|facts| facts.cpu.model.clone());
    product.filter(|it| !it.is_empty()).or(model).unwrap_or_default()
}
