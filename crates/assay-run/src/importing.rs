//! Stores results of other tools as runs, with exactly the information of their files.
//!
//! The machine of a file is unknown except for its name, so that the run has no facts, clock or
//! state. The file itself is stored as raw output under its hash.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_adapters::import::{
    self, FigureRule, FileTime, ImportFormat, ImportedMeasurement, LineSpan, ReadFile,
};
use assay_kernels::clock;
use assay_model::attribute::{Attribute, AttributeValue, Attributes, LOOPBACK};
use assay_model::benchmark::Benchmark;
use assay_model::entry::MeasuredSpan;
use assay_model::event::{HostClock, HostJoined, RunEvent, RunStarted, RunStatus, StopReason};
use assay_model::facts::{HostFacts, HostState};
use assay_model::plan::{Case, Plan, StoppingRule};
use assay_model::run::Run;
use assay_model::workload::{ImportedWorkload, Workload};
use assay_store::{ReadRun, Store, StoreError};
use jiff::Timestamp;

use crate::bind;
use crate::coordinator::Alone;
use crate::failure::CommandFailure;
use crate::listener::SilentListener;
use crate::log::RunLog;
use crate::recorder::{CaseState, Recorder};
use crate::recording::store_failure;
use crate::session::entropy;

mod dimensions;
mod source_file;

pub use dimensions::parse_dimensions;
pub use source_file::SourceFile;
use source_file::damaged_file;

/// Suite of imported runs.
pub const SUITE: &str = "import";
/// Host name for files that do not contain one.
pub const UNKNOWN_HOST: &str = "imported";
/// Relative interval width above which a result is doubtful.
const TARGET_WIDTH: f64 = 0.05;

/// Import that a caller wants, for any number of files.
#[derive(Debug)]
pub struct ImportRequest<'a> {
    /// Information that the files do not contain.
    pub details: ImportDetails,
    /// Patterns of figures; empty if the format is recognised by the content.
    pub rules: &'a [FigureRule],
    /// Whether the sound measurements of a damaged file are stored.
    pub accepts_damage: bool,
    /// Whether a file is stored again that the store already has.
    pub repeats: bool,
    /// Store of the runs; without it, nothing is stored.
    pub store: Option<&'a Store>,
    /// Earlier imports in the store.
    pub known: KnownImports,
}

/// Imported runs of a store, read at the first need. Other processes may add some at any time.
#[derive(Debug, Default)]
pub struct KnownImports(RefCell<ImportsByHash>);

#[derive(Debug, Default)]
struct ImportsByHash {
    /// Runs that were looked at.
    seen: HashSet<String>,
    /// Imported runs by the hash of their file, the newest first.
    runs: HashMap<String, Vec<String>>,
}

impl KnownImports {
    /// Returns the runs of a file, the newest first.
    fn find(&self, hash: &str, store: &Store) -> Result<Vec<String>, CommandFailure> {
        let mut known = self.0.borrow_mut();
        if known.seen.is_empty() {
            // The list has the suite of each run without reading it.
            let others = store.list()?.runs.into_iter().filter(|run| run.suite != SUITE);
            known.seen.extend(others.map(|run| run.id));
        }
        for id in store.run_ids()? {
            // A run that cannot be read is no earlier import.
            if known.seen.insert(id.clone())
                && let Ok(read) = store.read(&id)
                && read.run.started.plan.suite == SUITE
            {
                known.add(&read.run);
            }
        }
        Ok(known.runs.get(hash).cloned().unwrap_or_default())
    }
}

impl ImportsByHash {
    fn add(&mut self, run: &Run) {
        for raw in run.raw.values() {
            self.runs.entry(raw.clone()).or_default().insert(0, run.started.run.clone());
        }
    }
}

/// Outcome of a readable file.
#[derive(Debug)]
pub enum FileImport {
    /// Imported now.
    New(ImportedContents),
    /// Imported before.
    Known {
        /// Its stored runs.
        runs: Vec<Run>,
        /// Whether the stored copy of the file was damaged, and was replaced.
        is_repaired: bool,
    },
}

/// Contents of a file that became runs.
#[derive(Debug)]
pub struct ImportedContents {
    /// Format of the file.
    pub format: &'static ImportFormat,
    pub runs: Vec<Run>,
    /// Number of their measurements.
    pub measurements: usize,
    /// Parts that are left out, each with its line and the reason.
    pub left_out: Vec<String>,
    /// Damaged measurements, each with its line and the reason.
    pub failed: Vec<String>,
    /// Runs that the store already had of the same file.
    pub earlier: Vec<String>,
}

/// File of results with its format.
struct ImportSource<'a> {
    file: &'a SourceFile,
    format: &'static ImportFormat,
}

/// Reads a file, and stores its results unless the store already has them.
///
/// # Errors
/// A file that cannot be read or is damaged, or a store that cannot be used.
pub fn import_file(
    path: &Path,
    request: &ImportRequest<'_>,
) -> Result<FileImport, CommandFailure> {
    let file = SourceFile::open(path)?;
    let decoded = import::decode_text(&file.bytes);
    let ReadFile { format, contents, .. } = file.read(&decoded, request.rules)?;
    if let Some(failed) = contents.failed.first()
        && !request.accepts_damage
    {
        return Err(damaged_file(&file.name, &decoded, &contents, failed));
    }
    let source = ImportSource { file: &file, format };
    // Nobody else may store the same file between the search and the storing.
    let _lock = request.store.map(Store::lock);
    let earlier = match request.store {
        Some(store) => find_imported_runs(&source, &contents.measurements, request, store)?,
        None => EarlierImport::default(),
    };
    // A pattern of the user may find other figures under the same name.
    let may_be_known =
        !request.repeats && request.rules.is_empty() && !earlier.equal.is_empty();
    if let (Some(store), true) = (request.store, may_be_known) {
        let stored = earlier.equal.iter().map(|id| store.read(id).map(|it| it.run));
        let runs = stored.collect::<Result<Vec<Run>, StoreError>>()?;
        let is_repaired = store.repair_raw(&file.bytes)?;
        return Ok(FileImport::Known { runs, is_repaired });
    }
    let first_line = |lines: &LineSpan| *lines.start();
    let left_out = contents.left_out.iter().map(|it| {
        format_part(&file.name, it.lines.as_ref().map(first_line), &it.what, &it.why)
    });
    let failed = contents
        .failed
        .iter()
        .map(|it| format_part(&file.name, it.line(), &it.what, &it.error.to_string()));
    let (left_out, failed) = (left_out.collect(), failed.collect());
    let measurements = contents.measurements.len();
    let runs = store_runs(&source, contents.measurements, &request.details, request.store)?;
    let earlier = earlier.runs;
    Ok(FileImport::New(ImportedContents {
        format,
        runs,
        measurements,
        left_out,
        failed,
        earlier,
    }))
}

fn format_part(file: &str, line: Option<usize>, what: &str, why: &str) -> String {
    match line {
        Some(line) => format!("{file}:{line}: {what}: {why}"),
        None => format!("{what}: {why}"),
    }
}

/// Information of the user that the file does not contain.
#[derive(Debug, Clone, Default)]
pub struct ImportDetails {
    /// Name of the condition.
    pub label: Option<String>,
    /// Note on the run.
    pub note: Option<String>,
    /// Arguments after the name of the program.
    pub command: Vec<String>,
    /// Host of the measurement.
    pub host: Option<String>,
    /// Dimensions that override those of the file.
    pub dimensions: Attributes,
}

/// Records the results in the store, if there is one, one run for each machine in the file; run
/// identifiers are in the order of time.
fn store_runs(
    source: &ImportSource<'_>,
    found: Vec<ImportedMeasurement>,
    known: &ImportDetails,
    store: Option<&Store>,
) -> Result<Vec<Run>, CommandFailure> {
    let one = |(host, found): (String, Vec<ImportedMeasurement>)| {
        store_run(source, &found, (host, known), store)
    };
    group_by_host(found, known, source.format).into_iter().map(one).collect()
}

/// Completes the measurements by the user's details and groups them by their hosts, one for each run.
fn group_by_host(
    found: Vec<ImportedMeasurement>,
    known: &ImportDetails,
    format: &ImportFormat,
) -> Vec<(String, Vec<ImportedMeasurement>)> {
    let mut systems: Vec<(Option<String>, Vec<ImportedMeasurement>)> = Vec::new();
    for mut it in found {
        if !known.dimensions.is_empty() {
            it.dimensions.extend(known.dimensions.clone());
            import::check_conditions(&mut it, format);
        }
        add_loopback(&mut it);
        match systems.iter_mut().find(|(system, _)| *system == it.system) {
            Some((_, all)) => all.push(it),
            None => systems.push((it.system.clone(), vec![it])),
        }
    }
    let host = |system: Option<String>| {
        known.host.clone().or(system).unwrap_or_else(|| UNKNOWN_HOST.to_owned())
    };
    systems.into_iter().map(|(system, found)| (host(system), found)).collect()
}

/// Adds the loopback path, which `compare` never matches with a network, where the file names the
/// far end.
fn add_loopback(it: &mut ImportedMeasurement) {
    if !matches!(it.benchmark, Benchmark::NetworkTcp | Benchmark::NetworkUdp) {
        return;
    }
    let to = it.dimensions.get(&Attribute::To).and_then(AttributeValue::as_text);
    let is_loopback_address = |to: &str| to.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
    if to.is_some_and(|to| to == "localhost" || is_loopback_address(to)) {
        it.dimensions.entry(Attribute::Path).or_insert_with(|| LOOPBACK.into());
    }
}

/// Returns the runs that the store already has of a file with the same details.
fn find_imported_runs(
    source: &ImportSource<'_>,
    found: &[ImportedMeasurement],
    request: &ImportRequest<'_>,
    store: &Store,
) -> Result<EarlierImport, CommandFailure> {
    let mut earlier = EarlierImport::default();
    let Some(hash) = store.find_raw(&source.file.bytes) else { return Ok(earlier) };
    let known = &request.details;
    let ids = request.known.find(&hash, store)?;
    // A damaged run does not replace the file.
    let read = ids.iter().filter_map(|id| store.read(id).ok()).filter(ReadRun::is_whole);
    let groups = group_by_host(found.to_vec(), known, source.format);
    let plan = |found: &Vec<ImportedMeasurement>| import_plan(source.format, found).cases;
    let planned: Vec<_> = groups.iter().map(|(host, found)| (host, plan(found))).collect();
    let mut equal: Vec<Option<String>> = vec![None; planned.len()];
    for run in read.map(|it| it.run) {
        for ((host, cases), known_as) in planned.iter().zip(&mut equal) {
            let is_equal = run.started.label == known.label
                && run.first_host().is_some_and(|it| it.facts.name == **host)
                && run.started.plan.cases == *cases;
            if is_equal {
                known_as.get_or_insert_with(|| run.started.run.clone());
            }
        }
        earlier.runs.push(run.started.run);
    }
    earlier.equal = equal.into_iter().collect::<Option<_>>().unwrap_or_default();
    Ok(earlier)
}

/// Runs that the store has of a file.
#[derive(Debug, Clone, Default)]
struct EarlierImport {
    /// Identifiers, newest first.
    runs: Vec<String>,
    /// Newest of these runs for each host of the file, with all of its measurements and the same
    /// label, host and dimensions; empty if any is missing.
    equal: Vec<String>,
}

fn store_run(
    source: &ImportSource<'_>,
    found: &[ImportedMeasurement],
    (host, known): (String, &ImportDetails),
    store: Option<&Store>,
) -> Result<Run, CommandFailure> {
    let plan = import_plan(source.format, found);
    let began = found.iter().filter_map(|it| it.began).min();
    let measured_s = began.map(|it| it.unix_s).or(source.file.written_s);
    let moment = measured_s.and_then(|seconds| i64::try_from(seconds).ok());
    let moment = moment.and_then(|seconds| Timestamp::from_second(seconds).ok());
    let moment = moment.unwrap_or_else(Timestamp::now);
    let mut started = RunStarted {
        label: known.label.clone(),
        note: known.note.clone(),
        command: known.command.clone(),
        ..RunStarted::new(next_run_id(moment, store)?, moment.to_string(), plan.clone())
    };
    let writer = loop {
        match store.map(|store| store.begin(started.clone())).transpose() {
            Err(StoreError::RunExists { .. }) => started.run = next_run_id(moment, store)?,
            other => break other?,
        }
    };
    let mut listener = SilentListener;
    let mut log = RunLog::begin(writer, started, &mut listener, Box::new(Alone))?;
    let facts = HostFacts { name: host.clone(), ..HostFacts::default() };
    let (state, clock) = (HostState::default(), HostClock::default());
    let joined = HostJoined { host: host.clone(), facts, state, clock, labels: Vec::new() };
    log.add(RunEvent::HostJoined(Box::new(joined)))?;
    log.add_raw_output(file_name(&source.file.name), &source.file.bytes)?;
    for (case, found) in plan.cases.iter().zip(found) {
        record_case(case, found, source, &host, &mut log)?;
    }
    let state = HostState::default();
    let (finished, status) = (moment.to_string(), RunStatus::Complete);
    log.add(RunEvent::RunFinished { finished, status, state })?;
    Ok(log.finish())
}

/// Returns an identifier after those of the same second, so that files written in one second keep
/// the order of their import.
fn next_run_id(moment: Timestamp, store: Option<&Store>) -> Result<String, CommandFailure> {
    // Halving leaves numbers for later runs of the same second.
    let first = assay_store::new_run_id(moment, entropy() / 2);
    let second = first.trim_end_matches(|it| it != '-');
    let number = |id: &String| u16::from_str_radix(id.strip_prefix(second)?, 16).ok();
    let Some(store) = store else { return Ok(first) };
    let ids = store.run_ids()?;
    let next = ids.iter().rev().find_map(number).and_then(|last| last.checked_add(1));
    Ok(next.map_or_else(|| first.clone(), |next| assay_store::new_run_id(moment, next)))
}

fn record_case(
    case: &Case,
    found: &ImportedMeasurement,
    source: &ImportSource<'_>,
    host: &str,
    log: &mut RunLog<'_>,
) -> Result<(), CommandFailure> {
    log.add(RunEvent::CaseStarted { case: case.id.clone() })?;
    let cancel = AtomicBool::new(false);
    let mut state = CaseState::new(case, host);
    let mut recorder = Recorder::new(&mut state, log, &cancel, clock::now_ns());
    recorder.add_fact(Attribute::SourceFile, source.file.name.as_str());
    recorder.add_fact(Attribute::SourceFormat, source.format.name);
    if let Some(lines) = &found.lines {
        recorder.add_fact(Attribute::SourceLine, *lines.start() as u64);
    }
    if let Some(time) = found.began.filter(|it| !it.has_zone) {
        recorder.add_fact(Attribute::SourceTime, format_without_zone(time));
    }
    let span = MeasuredSpan { from_ns: 0, to_ns: 0, warmup: false };
    bind::record(&found.parsed, span, &mut recorder);
    recorder.flush().map_err(store_failure)?;
    log.add(RunEvent::CaseFinished { case: case.id.clone(), stopped: StopReason::Tool })
}

/// Formats a time that the file has without its zone: `2023-01-04T10:00:00`.
fn format_without_zone(time: FileTime) -> String {
    let moment = i64::try_from(time.unix_s).ok();
    let moment = moment.and_then(|seconds| Timestamp::from_second(seconds).ok());
    moment.map_or_else(String::new, |it| it.to_string().trim_end_matches('Z').to_owned())
}

/// Builds a plan with one case for each measurement; repeated names get a number.
fn import_plan(format: &ImportFormat, found: &[ImportedMeasurement]) -> Plan {
    let stopping =
        StoppingRule { target: TARGET_WIDTH, repetitions: 1, preparations: 1, budget_s: 0.0 };
    let mut taken: BTreeMap<String, u32> = BTreeMap::new();
    let case = |it: &ImportedMeasurement| {
        let name = format!("{}/{}/{}", it.benchmark.id(), it.name, format.tool);
        let times = taken.entry(name.clone()).and_modify(|times| *times += 1).or_insert(1);
        let id = if *times == 1 { name } else { format!("{name}#{times}") };
        let work = ImportedWorkload { of: it.benchmark, dimensions: it.dimensions.clone() };
        Case {
            id,
            by: format.tool.to_owned(),
            workload: Workload::Imported(work),
            stopping,
            pair: None,
        }
    };
    let cases = found.iter().map(case).collect();
    Plan::new(SUITE, 0.0, cases)
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests;
