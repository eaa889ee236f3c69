//! Exports the results of stored runs for other programs, once or whenever the runs change.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use assay_model::benchmark::{self, Benchmark};
use assay_model::run::Run;
use assay_model::spelling::nearest_word;
use assay_model::summary::RunSummary;
use assay_report::export::{ExportFormat, ExportedFiles, ExportedRun, Exporter};
use assay_run::failure::CommandFailure;
use assay_stats::summarize::summarize;
use assay_store::{ListEntry, RunFilter, RunListing, Store, StoreLocation};
use jiff::Timestamp;

use crate::store_watch::{StoreFollower, StoreWatch};

/// Runs to export, and their format.
#[derive(Debug, Clone)]
pub struct ExportRequest {
    /// Store of the runs.
    pub store: StoreLocation,
    /// Conditions on the runs. With a metric, only its results are exported.
    pub filter: RunFilter,
    /// Runs and labels; empty for all runs that have ended.
    pub names: Vec<String>,
    /// Whether only the newest run of each host, suite and label is exported.
    pub only_latest: bool,
    /// Format.
    pub format: ExportFormat,
}

/// Exported runs.
#[derive(Debug)]
pub struct RunExport {
    /// Contents to write.
    pub files: ExportedFiles,
    /// Warnings about runs that could not be read, or not completely.
    pub warnings: Vec<String>,
    /// Number of results that the format cannot contain.
    pub left_out: usize,
    /// Whether everything could be read.
    pub is_whole: bool,
}

/// Takes an export, or the failure of one.
pub type DeliverExport<'d> =
    dyn FnMut(Result<RunExport, &CommandFailure>) -> Result<(), CommandFailure> + 'd;

/// Runs to export, oldest first, and runs that cannot be read, with the reason.
#[derive(Debug, Default, PartialEq, Eq)]
struct ExportSelection {
    runs: Vec<String>,
    unreadable: Vec<(String, String)>,
}

impl ExportRequest {
    /// Exports the selected runs.
    ///
    /// # Errors
    /// If no run is selected, too many for the format, or the store cannot be read.
    pub fn export(&self) -> Result<RunExport, CommandFailure> {
        let listing = self.store.list()?;
        let selection = self.select_runs(&listing)?;
        if selection == ExportSelection::default() {
            self.open_store()?;
            self.filter.metric.as_deref().map_or(Ok(()), check_metric)?;
            return Err(CommandFailure::usage("no stored run matches")
                .advise("`assay list` shows the stored runs, `assay list --all` also those without a result"));
        }
        self.export_selection(&selection)
    }

    /// Passes an export to `deliver` whenever the selected runs differ, until `cancel` is set. A
    /// failure, also one of `deliver`, is passed to it once, and the export is tried again.
    pub fn follow(&self, cancel: &AtomicBool, deliver: &mut DeliverExport<'_>) {
        let mut follower = ExportFollower { request: self, exported: None, deliver };
        let mut watch = StoreWatch::new(self.store.clone());
        watch.look(&mut follower);
        watch.follow(&mut follower, cancel);
    }

    fn open_store(&self) -> Result<Store, CommandFailure> {
        self.store.open_existing().map_err(CommandFailure::from)
    }

    fn export_selection(
        &self,
        selection: &ExportSelection,
    ) -> Result<RunExport, CommandFailure> {
        if self.format == ExportFormat::Bencher && selection.runs.len() > 1 {
            return Err(CommandFailure::usage(format!(
                "a report of Bencher has one run, and {} runs match",
                selection.runs.len()
            ))
            .advise("name one run: `assay export bencher latest`"));
        }
        let unreadable = selection.unreadable.iter();
        let mut warnings: Vec<String> =
            unreadable.map(|(id, reason)| unreadable_warning(id, reason)).collect();
        let store = self.open_store()?;
        let mut exporter = Exporter::new(self.format);
        let mut is_whole = selection.unreadable.is_empty();
        for id in &selection.runs {
            is_whole &= self.add_run((&store, id), &mut exporter, &mut warnings);
        }
        let finished = exporter.finish();
        let (files, left_out) = (finished.files, finished.left_out);
        Ok(RunExport { files, warnings, left_out, is_whole })
    }

    /// Selects runs. Runs that are being measured are exported only if they are named.
    fn select_runs(&self, listing: &RunListing) -> Result<ExportSelection, CommandFailure> {
        let named = self.resolve_names(listing)?;
        let is_named = |id: &str| named.as_ref().is_none_or(|ids| ids.contains(id));
        let is_selected = |run: &&ListEntry| {
            is_named(&run.id) && self.filter.matches(run) && (named.is_some() || !run.running)
        };
        let mut series = HashSet::new();
        let mut runs = Vec::new();
        for run in listing.runs.iter().filter(is_selected) {
            // The list begins with the newest run.
            let is_first = series.insert((&run.host, &run.suite, &run.label));
            if is_first || !self.only_latest {
                runs.push(run.id.clone());
            }
        }
        let unreadable = listing.unreadable.iter().filter(|it| is_named(&it.id));
        Ok(ExportSelection {
            runs: runs.into_iter().rev().collect(),
            unreadable: unreadable.map(|it| (it.id.clone(), it.reason.clone())).collect(),
        })
    }

    /// Resolves the named runs and labels; `None` without names.
    fn resolve_names(
        &self,
        listing: &RunListing,
    ) -> Result<Option<HashSet<String>>, CommandFailure> {
        if self.names.is_empty() {
            return Ok(None);
        }
        let store = self.open_store()?;
        let mut ids = HashSet::new();
        for name in &self.names {
            let has_label = |run: &&ListEntry| run.label.as_ref() == Some(name) && !run.running;
            let labelled = listing.runs.iter().filter(has_label).map(|run| run.id.clone());
            match store.resolve(name) {
                Ok(id) => {
                    ids.insert(id);
                }
                Err(error) => {
                    let before = ids.len();
                    ids.extend(labelled);
                    if ids.len() == before {
                        let failure = CommandFailure::from(error);
                        return Err(failure.advise("or name a label of runs"));
                    }
                }
            }
        }
        Ok(Some(ids))
    }

    /// Adds a run to the export. Returns whether all of it could be read.
    fn add_run(
        &self,
        (store, id): (&Store, &str),
        exporter: &mut Exporter,
        warnings: &mut Vec<String>,
    ) -> bool {
        match store.read_with_doubts(id) {
            Ok(read) => {
                warnings.extend(read.warnings());
                let is_whole = read.is_whole();
                let summary = summarize(&read.run);
                let mut run = exported_run(read.run, summary, is_whole);
                if let Some(metric) = &self.filter.metric {
                    run.retain_metric(metric);
                }
                exporter.add(&run);
                is_whole
            }
            Err(error) => {
                let failure = CommandFailure::from(error);
                warnings.push(unreadable_warning(id, &failure.reason()));
                false
            }
        }
    }
}

fn unreadable_warning(id: &str, reason: &str) -> String {
    format!("warning: cannot read run {id}: {reason}")
}

/// Prepares a run with its summary for an export; `is_whole` if all its stored events could be read.
pub fn exported_run(run: Run, summary: RunSummary, is_whole: bool) -> ExportedRun {
    let started = run.started.started.parse::<Timestamp>().ok();
    let started_ns = started.and_then(|it| i64::try_from(it.as_nanosecond()).ok());
    ExportedRun::new(run, summary, (started_ns, is_whole))
}

/// Export that is repeated.
struct ExportFollower<'e> {
    request: &'e ExportRequest,
    /// Selection that was delivered last.
    exported: Option<ExportSelection>,
    deliver: &'e mut DeliverExport<'e>,
}

impl StoreFollower for ExportFollower<'_> {
    fn update(&mut self, _: Option<&Store>, listing: RunListing) -> Result<(), CommandFailure> {
        let selection = self.request.select_runs(&listing)?;
        let is_first = self.exported.is_none() && selection == ExportSelection::default();
        if !is_first && self.exported.as_ref() != Some(&selection) {
            (self.deliver)(Ok(self.request.export_selection(&selection)?))?;
            self.exported = Some(selection);
        }
        Ok(())
    }

    fn report_problem(&mut self, failure: Option<&CommandFailure>) {
        if let Some(failure) = failure {
            // Its own failure to report one cannot be reported.
            drop((self.deliver)(Err(failure)));
        }
    }
}

/// Rejects a name that no benchmark has a metric of.
fn check_metric(name: &str) -> Result<(), CommandFailure> {
    let all = || {
        Benchmark::ALL.into_iter().flat_map(|it| {
            it.definition().metrics.iter().map(move |metric| (it.id(), metric.name))
        })
    };
    if all().any(|(id, metric)| benchmark::is_metric(name, id, metric)) {
        return Ok(());
    }
    let failure = CommandFailure::usage(format!("there is no metric `{name}`"));
    let near = nearest_word(name, all().map(|(_, metric)| metric));
    Err(near
        .map(|near| format!("did you mean {near}?"))
        .into_iter()
        .fold(failure, CommandFailure::advise)
        .advise("`assay help methods` lists all metrics"))
}
