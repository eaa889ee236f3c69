//! Histories of the results of one host.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::benchmark::Benchmark;
use assay_report::build;
use assay_report::site::{self, HistoryTexts};
use assay_run::failure::CommandFailure;
use assay_stats::compare::DEFAULT_MARGIN;
use assay_stats::history::{ResultQuery, RunResults, history_of_results};
use assay_store::{ListEntry, Store, UnreadableEntry};

use super::folder::{HistoryRecord, HostRecord, RunRecord, fingerprint};
use super::runs::RunUpdate;
use super::{SiteFiles, SiteWriter};

/// Maximum number of runs of a history. The search for shifts permutes the runs 999 times: with
/// more of them, a site of many results takes minutes.
pub(super) const MAX_HISTORY_RUNS: usize = 300;
/// Seed of `assay history` without options.
const DEFAULT_SEED: u64 = 1;
/// Minimum number of runs and of histories per thread.
const MIN_RUNS_PER_THREAD: usize = 4;
const MIN_HISTORIES_PER_THREAD: usize = 2;

/// Files of the runs and histories of one host.
pub(super) struct HostUpdate {
    pub(super) record: HostRecord,
    pub(super) runs: BTreeMap<String, RunRecord>,
    pub(super) files: SiteFiles,
    pub(super) unreadable: Vec<UnreadableEntry>,
    pub(super) warnings: Vec<String>,
}

impl SiteWriter {
    /// Writes the files of the runs of one host, the oldest first, and of its histories.
    pub(super) fn update_host(
        &self,
        store: &Store,
        host: &str,
        runs: &[&ListEntry],
    ) -> Result<HostUpdate, CommandFailure> {
        let finished: Vec<&ListEntry> = runs.iter().copied().filter(|it| !it.running).collect();
        let in_history = &finished[finished.len().saturating_sub(MAX_HISTORY_RUNS)..];
        let history_ids: BTreeSet<&str> = in_history.iter().map(|it| it.id.as_str()).collect();
        let source = self.history_source(in_history);
        let current = self.current_histories(host, &source);
        let is_renewed = current.is_none();
        let outcomes = assay_store::parallel_map(runs, MIN_RUNS_PER_THREAD, |run| {
            let is_in_history = is_renewed && history_ids.contains(run.id.as_str());
            match self.current_run(run).filter(|_| !is_in_history) {
                Some(update) => Ok(Ok(update)),
                None => self.update_run(store, run).map(|outcome| {
                    outcome.map(|it| RunUpdate {
                        results: it.results.filter(|_| is_in_history),
                        ..it
                    })
                }),
            }
        });
        let mut update = HostUpdate {
            record: HostRecord { source, histories: Vec::new() },
            runs: BTreeMap::new(),
            files: SiteFiles::new(),
            unreadable: Vec::new(),
            warnings: Vec::new(),
        };
        let mut results = Vec::new();
        for outcome in outcomes {
            match outcome? {
                Ok(run) => {
                    update.runs.insert(run.id, run.record);
                    update.files.extend(run.files);
                    update.warnings.extend(run.warnings);
                    results.extend(run.results);
                }
                Err(unreadable) => update.unreadable.push(unreadable),
            }
        }
        let (histories, files) = match current {
            Some(current) => current,
            None => self.write_histories(host, &results)?,
        };
        update.record.histories = histories;
        update.files.extend(files);
        Ok(update)
    }

    /// Returns the fingerprint of everything that the histories of a host depend on.
    fn history_source(&self, runs: &[&ListEntry]) -> String {
        let sources: Vec<String> = runs.iter().map(|run| self.run_source(run)).collect();
        fingerprint(format!("{} {}", self.style_of_pages(), sources.join(" ")).as_bytes())
    }

    /// Returns the histories of a host if all of them are up to date.
    fn current_histories(
        &self,
        host: &str,
        source: &str,
    ) -> Option<(Vec<HistoryRecord>, SiteFiles)> {
        let before = &self.folder.before;
        let record = before.hosts.get(host).filter(|it| it.source == source)?;
        let file = |history: &HistoryRecord| {
            let name = file_name(&history.file);
            let record = before.files.get(&name).filter(|_| self.folder.has_file(&name))?;
            Some((name, record.clone(), false))
        };
        let files = record.histories.iter().map(file).collect::<Option<SiteFiles>>()?;
        Some((record.histories.clone(), files))
    }

    /// Writes the history of each metric, as `assay history METRIC --host HOST` selects it.
    fn write_histories(
        &self,
        host: &str,
        runs: &[RunResults],
    ) -> Result<(Vec<HistoryRecord>, SiteFiles), CommandFailure> {
        let metrics = metrics_of(runs);
        let written = assay_store::parallel_map(&metrics, MIN_HISTORIES_PER_THREAD, |metric| {
            self.style.language.scope(|| self.write_history(host, *metric, runs))
        });
        let (mut records, mut files) = (Vec::new(), SiteFiles::new());
        for history in written {
            if let Some((record, file)) = history? {
                records.push(record);
                files.extend(file);
            }
        }
        Ok((records, files))
    }

    fn write_history(
        &self,
        host: &str,
        (benchmark, metric): (&str, &str),
        runs: &[RunResults],
    ) -> Result<Option<(HistoryRecord, SiteFiles)>, CommandFailure> {
        let query = ResultQuery { benchmark: Some(benchmark), metric, parameters: &[] };
        let chosen = (DEFAULT_MARGIN, DEFAULT_SEED);
        let found = history_of_results(runs, &query, build::representative, chosen);
        let Some(history) = found else { return Ok(None) };
        let identity = format!("{host}\n{benchmark}\n{metric}");
        let file = format!("{}.html", fingerprint(identity.as_bytes()));
        let name = file_name(&file);
        let (record, is_new) = self.folder.write(&name, &site::history_page(&history))?;
        let HistoryTexts { title, newest, runs, changes } = HistoryTexts::new(&history);
        let history = HistoryRecord { file, title, newest, runs, changes };
        Ok(Some((history, vec![(name, record, is_new)])))
    }
}

fn file_name(file: &str) -> String {
    format!("history/{file}")
}

/// Returns the metrics that the runs have, in the order of the table of benchmarks.
fn metrics_of(runs: &[RunResults]) -> Vec<(&'static str, &'static str)> {
    let results = runs.iter().flat_map(RunResults::results);
    let measured: BTreeSet<(&str, &str)> =
        results.map(|(_, it)| (it.benchmark.as_str(), it.metric.as_str())).collect();
    let known = Benchmark::ALL.into_iter().flat_map(|benchmark| {
        let definition = benchmark.definition();
        definition.metrics.iter().map(move |metric| (benchmark.id(), metric.name))
    });
    known.filter(|metric| measured.contains(metric)).collect()
}
