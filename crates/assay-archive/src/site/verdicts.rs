//! Verdicts between the labels of one host, as `assay compare A B --host HOST` gives them.
//!
//! A pair is compared again when a run of either label was added, changed or removed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use assay_model::run::Run;
use assay_model::summary::MetricEstimate;
use assay_report::site::{self, SiteLabels, SiteVerdict};
use assay_run::failure::CommandFailure;
use assay_stats::compare::{
    Condition, DEFAULT_MARGIN, ResultKey, compare_results, key_results,
};
use assay_stats::rank_statistic::MAX_VALUES;
use assay_stats::summarize::summarize;
use assay_store::{ListEntry, Store};

use super::folder::{SiteManifest, VerdictRecord, fingerprint};
use super::{SiteFiles, SiteWriter};

/// Maximum number of labels whose pairs are compared: the newest ones.
pub(super) const MAX_LABELS: usize = 30;
/// Maximum number of pairs of labels: those with the newest runs.
pub(super) const MAX_PAIRS: usize = 500;
/// Minimum number of runs and of pairs per thread.
const MIN_RUNS_PER_THREAD: usize = 4;
const MIN_PAIRS_PER_THREAD: usize = 2;

/// Pair of labels of one host; the first label is the older one.
struct LabelPair<'l> {
    host: &'l str,
    labels: [&'l str; 2],
    /// Finished runs of each label, the oldest first.
    runs: [Vec<&'l ListEntry>; 2],
}

/// Run with its results, without its samples.
struct KeptRun {
    run: Run,
    results: Vec<(ResultKey, MetricEstimate)>,
}

/// Runs of all labels of one host, the oldest first.
type LabelledRuns<'l> = BTreeMap<(&'l str, &'l str), Vec<&'l ListEntry>>;

impl SiteWriter {
    /// Writes the verdicts between labels. `runs` are all runs of the store, the newest first;
    /// `is_shown` selects those of the site.
    pub(super) fn write_verdicts(
        &self,
        store: &Store,
        runs: &[ListEntry],
        manifest: &mut SiteManifest,
    ) -> Result<SiteFiles, CommandFailure> {
        let is_shown = |run: &&ListEntry| manifest.runs.contains_key(&run.id);
        let positions: HashMap<&str, usize> =
            runs.iter().rev().enumerate().map(|(at, run)| (run.id.as_str(), at)).collect();
        let pairs = label_pairs(runs, runs.iter().filter(is_shown), &positions);
        let mut files = SiteFiles::new();
        let mut records = BTreeMap::new();
        let mut outdated = Vec::new();
        for pair in pairs {
            let (file, source) = (self.verdict_file(&pair), self.verdict_source(&pair));
            match self.current_verdict(&file, &source) {
                Some((record, current)) => {
                    files.extend(current);
                    records.insert(file, record);
                }
                None => outdated.push((pair, file, source)),
            }
        }
        let kept = self.read_labelled_runs(store, &outdated)?;
        let written = assay_store::parallel_map(
            &outdated,
            MIN_PAIRS_PER_THREAD,
            |(pair, file, source)| {
                let written = self
                    .style
                    .language
                    .scope(|| self.write_verdict(pair, (file, source), &kept, &positions));
                written.map(|it| it.map(|it| (file.clone(), it)))
            },
        );
        for verdict in written {
            if let Some((file, (record, new))) = verdict? {
                files.extend(new);
                records.insert(file, record);
            }
        }
        manifest.verdicts = records;
        Ok(files)
    }

    fn verdict_file(&self, pair: &LabelPair<'_>) -> String {
        let [one, two] = pair.labels;
        let salt = self.style_of_pages();
        fingerprint(format!("{salt}\n{}\n{one}\n{two}", pair.host).as_bytes())
    }

    /// Returns the fingerprint of everything that a verdict depends on.
    fn verdict_source(&self, pair: &LabelPair<'_>) -> String {
        let sources = pair.runs.iter().map(|runs| {
            runs.iter().map(|run| self.run_source(run)).collect::<Vec<_>>().join(" ")
        });
        let sources = sources.collect::<Vec<_>>().join("\n");
        fingerprint(format!("{}\n{sources}", self.style_of_pages()).as_bytes())
    }

    /// Returns the files of a verdict that are up to date; a pair without common results has none.
    fn current_verdict(&self, file: &str, source: &str) -> Option<(VerdictRecord, SiteFiles)> {
        let before = &self.folder.before;
        let record = before.verdicts.get(file).filter(|it| it.source == source)?;
        let find = |name: String| {
            let record = before.files.get(&name).filter(|_| self.folder.has_file(&name))?;
            Some((name, record.clone(), false))
        };
        let files = match record.conclusion.is_empty() {
            true => Vec::new(),
            false => file_names(file).map(find).into_iter().collect::<Option<SiteFiles>>()?,
        };
        Some((record.clone(), files))
    }

    /// Reads all runs of these pairs, each once.
    fn read_labelled_runs(
        &self,
        store: &Store,
        pairs: &[(LabelPair<'_>, String, String)],
    ) -> Result<HashMap<String, KeptRun>, CommandFailure> {
        let runs = pairs.iter().flat_map(|(pair, ..)| pair.runs.iter().flatten());
        let unique: BTreeMap<&str, &ListEntry> =
            runs.map(|run| (run.id.as_str(), *run)).collect();
        let unique: Vec<&ListEntry> = unique.into_values().collect();
        let read = assay_store::parallel_map(&unique, MIN_RUNS_PER_THREAD, |run| {
            // A run that cannot be read is named in the overview, and its labels have no verdict.
            let Ok(mut read) = store.read_with_doubts(&run.id) else { return Ok(None) };
            if let Some(placeholders) = self.placeholders {
                placeholders.anonymise(&mut read.run, run)?;
            }
            let results = key_results(&read.run, summarize(&read.run).results);
            for series in read.run.cases.iter_mut().flat_map(|case| &mut case.series) {
                (series.samples, series.distributions) = Default::default();
            }
            Ok(Some((run.id.clone(), KeptRun { run: read.run, results })))
        });
        read.into_iter().filter_map(Result::transpose).collect()
    }

    /// Compares two labels and writes the files of the verdict; `None` if a run cannot be read.
    fn write_verdict(
        &self,
        pair: &LabelPair<'_>,
        (file, source): (&str, &str),
        kept: &HashMap<String, KeptRun>,
        positions: &HashMap<&str, usize>,
    ) -> Result<Option<(VerdictRecord, SiteFiles)>, CommandFailure> {
        let sides = pair.runs.each_ref().map(|runs| labelled_side(runs, kept, positions));
        let [Some(one), Some(two)] = &sides else { return Ok(None) };
        let results = |run: &Run| {
            kept.get(&run.started.run).map(|it| it.results.clone()).unwrap_or_default()
        };
        let (comparison, keys) =
            compare_results(one.condition(), two.condition(), DEFAULT_MARGIN, &results);
        let host = self.public_host(pair.host);
        let mut record = VerdictRecord {
            source: source.to_owned(),
            host: host.clone(),
            labels: [&one.label, &two.label].map(Clone::clone),
            conclusion: String::new(),
        };
        let mut files = SiteFiles::new();
        if !comparison.pairs.is_empty() {
            record.conclusion = site::verdict_conclusion(&comparison);
            let verdict =
                SiteVerdict { host: &host, file, comparison: &comparison, keys: &keys };
            let texts = [site::verdict_page(&verdict), site::verdict_script(&verdict)];
            for (name, text) in file_names(file).into_iter().zip(texts) {
                let (record, is_new) = self.folder.write(&name, &text)?;
                files.push((name, record, is_new));
            }
        }
        Ok(Some((record, files)))
    }
}

/// Runs of one label in the form that a comparison takes.
struct LabelSide {
    label: String,
    runs: Vec<Run>,
    positions: Vec<usize>,
}

impl LabelSide {
    fn condition(&self) -> Condition<'_> {
        Condition { name: &self.label, runs: &self.runs, positions: &self.positions }
    }
}

fn labelled_side(
    runs: &[&ListEntry],
    kept: &HashMap<String, KeptRun>,
    positions: &HashMap<&str, usize>,
) -> Option<LabelSide> {
    let read = runs.iter().map(|run| kept.get(&run.id).map(|it| it.run.clone()));
    let read = read.collect::<Option<Vec<Run>>>()?;
    Some(LabelSide {
        label: read.first()?.started.label.clone()?,
        runs: read,
        positions: runs
            .iter()
            .filter_map(|run| positions.get(run.id.as_str()).copied())
            .collect(),
    })
}

/// Returns the pairs of the newest labels, those with the newest runs first.
fn label_pairs<'l>(
    all: &'l [ListEntry],
    shown: impl Iterator<Item = &'l ListEntry>,
    positions: &HashMap<&str, usize>,
) -> Vec<LabelPair<'l>> {
    let mut newest = Vec::new();
    let mut seen = HashSet::new();
    let mut chosen = BTreeSet::new();
    for run in shown {
        let Some(label) = run.label.as_deref().filter(|it| can_be_typed(it)) else { continue };
        if (chosen.contains(label) || chosen.len() < MAX_LABELS)
            && seen.insert((run.host.as_str(), label))
        {
            chosen.insert(label);
            newest.push((run.host.as_str(), label));
        }
    }
    let mut labelled = LabelledRuns::new();
    for run in all.iter().rev().filter(|run| !run.running) {
        let label = run.label.as_deref().unwrap_or_default();
        if seen.contains(&(run.host.as_str(), label)) {
            labelled.entry((&run.host, label)).or_default().push(run);
        }
    }
    labelled.retain(|_, runs| is_comparable(runs));
    let mut pairs = Vec::new();
    for (at, one) in newest.iter().enumerate() {
        for two in newest[..at].iter().filter(|two| two.0 == one.0) {
            let Some(runs) = labelled.get(one).zip(labelled.get(two)) else { continue };
            pairs.push(make_pair(one.0, [one.1, two.1], runs, positions));
        }
    }
    pairs.truncate(MAX_PAIRS);
    pairs
}

/// Orders two labels by the position of their first runs.
fn make_pair<'l>(
    host: &'l str,
    [one, two]: [&'l str; 2],
    (of_one, of_two): (&Vec<&'l ListEntry>, &Vec<&'l ListEntry>),
    positions: &HashMap<&str, usize>,
) -> LabelPair<'l> {
    let first = |runs: &[&ListEntry]| runs.first().and_then(|it| positions.get(it.id.as_str()));
    let (labels, runs) = match first(of_one) <= first(of_two) {
        true => ([one, two], [of_one.clone(), of_two.clone()]),
        false => ([two, one], [of_two.clone(), of_one.clone()]),
    };
    LabelPair { host, labels, runs }
}

/// Whether a label names its runs in a command: a comma divides names.
fn can_be_typed(label: &str) -> bool {
    !label.is_empty() && !label.contains(',') && label.trim() == label
}

/// Whether `assay compare` accepts these runs as one condition: not too many, of one machine.
fn is_comparable(runs: &[&ListEntry]) -> bool {
    let machines: BTreeSet<&str> = runs.iter().map(|run| run.fingerprint.as_str()).collect();
    runs.len() <= MAX_VALUES && machines.len() == 1
}

fn file_names(file: &str) -> [String; 2] {
    [format!("verdicts/{file}.html"), format!("verdicts/{file}.js")]
}

/// Returns the list of verdicts for the comparison.
pub(super) fn label_rows(manifest: &SiteManifest) -> Vec<SiteLabels<'_>> {
    let shown = manifest.verdicts.iter().filter(|(_, record)| !record.conclusion.is_empty());
    let mut rows: Vec<SiteLabels<'_>> = shown
        .map(|(file, record)| SiteLabels {
            host: &record.host,
            labels: [&record.labels[0], &record.labels[1]],
            file,
            conclusion: &record.conclusion,
        })
        .collect();
    rows.sort_by_key(|row| (row.host, row.labels));
    rows
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(number: usize, host: &str, label: &str, fingerprint: &str) -> ListEntry {
        let entry = json!({
            "id": format!("run-{number:03}"), "label": label, "suite": "quick",
            "started": "2026-11-21T10:44:55Z", "finished": null, "status": "complete",
            "cases_planned": 1, "cases_finished": 1, "cases_failed": 0, "host": host,
            "other_hosts": 0, "fingerprint": fingerprint, "is_whole": true, "losses": 0,
            "headlines": [], "trust": "sound", "metrics": [],
        });
        serde_json::from_value(entry).unwrap()
    }

    /// Returns the pairs of runs that are given the oldest first.
    fn check(runs: &[(&str, &str, &str)], expected: &[[&str; 3]]) {
        let numbered = runs.iter().enumerate();
        let entries: Vec<ListEntry> = numbered
            .map(|(at, (host, label, print))| entry(at, host, label, print))
            .rev()
            .collect();
        let positions =
            entries.iter().rev().enumerate().map(|(at, run)| (run.id.as_str(), at)).collect();
        let pairs = label_pairs(&entries, entries.iter(), &positions);
        let found: Vec<[&str; 3]> =
            pairs.iter().map(|it| [it.host, it.labels[0], it.labels[1]]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn labels_of_one_host_and_machine_are_paired() {
        check(&[("a", "on", "1"), ("a", "off", "1"), ("a", "on", "1")], &[["a", "on", "off"]]);
        check(&[("a", "on", "1"), ("b", "off", "1")], &[]);
        check(&[("a", "on", "1"), ("a", "off", "1"), ("a", "on", "2")], &[]);
        check(
            &[("a", "on,off", "1"), ("a", " off", "1"), ("a", "", "1"), ("a", "x", "1")],
            &[],
        );
    }

    #[test]
    fn newest_labels_are_paired() {
        let labels: Vec<String> = (0..MAX_LABELS + 2).map(|at| format!("label-{at}")).collect();
        let entries: Vec<ListEntry> = labels
            .iter()
            .enumerate()
            .map(|(at, label)| entry(at, "a", label, "1"))
            .rev()
            .collect();
        let pairs = label_pairs(&entries, entries.iter(), &HashMap::new());
        assert_eq!(pairs.len(), MAX_LABELS * (MAX_LABELS - 1) / 2);
        assert!(pairs.iter().all(|pair| !pair.labels.contains(&"label-1")));
    }
}
