//! `assay storage`: single measurements of a file, a volume or a device, and removal of files that
//! assay left behind.

use std::path::{Path, PathBuf};

use assay_model::benchmark::Benchmark;
use assay_model::path_text;
use assay_model::suite::{
    AccessOrder, FileStep, FilesRequest, Measure, MeasureRequest, StorageRequest, Suite,
};
use assay_model::workload::measurement_mode::{self, MeasurementMode, SteadyRule};
use assay_model::workload::storage::EngineChoice;
use serde_json::{Value, json};

use crate::arguments::MeasuringArguments;
use crate::arguments::storage::{
    StorageArguments, StorageCleanArguments, StorageCommand, StorageFilesArguments,
    StoragePermissions, StorageTestArguments,
};
use crate::arguments::values::IoRate;
use crate::delivery::ReportExtent;
use crate::page;
use crate::pipeline;
use crate::terminal::Terminal;
use assay_console::options::StoreArguments;
use assay_run::failure::CommandFailure;
use assay_run::run_request::RunRequest;
use assay_run::storage::clean::{self, CleanRequest, CleanedFile};
use assay_run::storage::created_files::CreatedFiles;
use assay_run::storage::options::RunOptions;
use assay_run::storage::target_overrides::StorageOverrides;

/// Target relative half-width of the interval, as for figures of a remote volume.
const TARGET_HALF_WIDTH: f64 = 0.05;
/// Default length of a test in seconds.
const DEFAULT_LENGTH_S: f64 = 10.0;
/// Warm-up time as a share of the measured time.
const WARMUP_SHARE: f64 = 0.1;
/// Share of the budget of a test for opening and closing its targets.
const OPENING_SHARE: f64 = 0.05;
/// Seconds of a budget for the start and the end of the command, at most a quarter of it.
const OPENING_S: f64 = 1.0;

pub(crate) fn storage(
    typed: &StorageArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    match &typed.what {
        StorageCommand::Read(test) => measure(test, 1.0, terminal),
        StorageCommand::Write(test) => measure(test, 0.0, terminal),
        StorageCommand::Mix(mix) => measure(&mix.test, mix.read_share, terminal),
        StorageCommand::Files(typed) => measure_files(typed, terminal),
        StorageCommand::Clean(typed) => clean(typed, terminal),
    }
}

/// Returns the options of the run that the user set.
pub(crate) fn run_options(
    permissions: &StoragePermissions,
    store: &StoreArguments,
) -> RunOptions {
    RunOptions {
        destroy_data: permissions.destroy_data.clone(),
        target_on_root: permissions.target_on_root,
        keep: permissions.keep,
        store: store.folder.clone(),
        ..RunOptions::default()
    }
}

fn measure(
    typed: &StorageTestArguments,
    read_share: f64,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.targets.is_empty() && typed.engine != EngineChoice::Null {
        return Err(CommandFailure::usage("no storage target given")
            .advise("name a file, a folder or a device, like `assay storage read /data`"));
    }
    let is_passes = |it: &&PathBuf| {
        it.to_str().is_some_and(|it| measurement_mode::parse_passes(it).is_ok()) && !it.exists()
    };
    if let Some(passes) = typed.targets.iter().find(is_passes)
        && typed.precondition.is_some()
    {
        let passes = passes.display();
        return Err(CommandFailure::usage(format!("`{passes}` would be a target"))
            .with_reason("the passes of --precondition need an equals sign")
            .advise(format!(
                "write --precondition={passes}; ./{passes} is a file of that name"
            )));
    }
    // The budget of a single test is its time, including all its rounds or rates with their
    // warm-up.
    let usual_s = if typed.steady_state { SteadyRule::ROUND_S } else { DEFAULT_LENGTH_S };
    let mode = typed.measurement_mode();
    let timed_share = match mode {
        MeasurementMode::Once => 1.0 - OPENING_SHARE,
        MeasurementMode::Rounds(_) | MeasurementMode::Search(_) => 1.0,
    };
    let share = timed_share / ((1.0 + WARMUP_SHARE) * f64::from(mode.max_measurements()));
    let cases = (typed.bs.len() * typed.depth.len()).max(1) as f64;
    let of_budget = typed.measuring.budget.map(|it| {
        let seconds = it.seconds();
        (seconds - OPENING_S.min(0.25 * seconds)) * share / cases
    });
    let length_s = of_budget.or(typed.length).unwrap_or(usual_s);
    let request = StorageRequest {
        name: None,
        targets: Vec::new(),
        size: None,
        read_share,
        order: if typed.random { AccessOrder::Random } else { AccessOrder::Sequential },
        bytes: typed.bs.clone(),
        depths: typed.depth.clone(),
        threads: typed.threads,
        rate: offered_rate(typed)?.map(|rate| (rate, typed.arrivals)),
        engine: typed.engine,
        buffered: typed.buffered,
        sync_at_end: false,
        length_s: Some(length_s),
        warmup_s: Some(WARMUP_SHARE * length_s),
        curve: Vec::new(),
        bend_points: 0,
        precondition_passes: typed.precondition.unwrap_or(0),
        mode,
        provisioned_bytes_per_s: None,
    };
    let budget_s = cases * length_s * (1.0 + WARMUP_SHARE) * f64::from(mode.max_measurements());
    let mut suite =
        single_suite(Benchmark::Storage, budget_s, MeasureRequest::Storage(Box::new(request)));
    let aim = StorageOverrides {
        targets: typed.targets.clone(),
        size_bytes: typed.size.map(|size| size.0),
        provisioned_bytes_per_s: None,
    };
    aim.apply(&mut suite);
    run(&suite, (&typed.permissions, &typed.measuring), terminal)
}

/// Returns the I/O per second of `--rate`. A bandwidth gives it by the size of one I/O.
fn offered_rate(typed: &StorageTestArguments) -> Result<Option<f64>, CommandFailure> {
    match (typed.rate, typed.bs.as_slice()) {
        (None, _) => Ok(None),
        (Some(rate), [size]) => Ok(Some(rate.per_second(*size))),
        (Some(IoRate::PerSecond(rate)), _) => Ok(Some(rate)),
        (Some(IoRate::Bandwidth(_)), _) => {
            let what = "a bandwidth as --rate needs a single size of I/O";
            Err(CommandFailure::usage(what)
                .with_reason("every --bs would have another number of I/O per second")
                .advise("name one --bs, or give --rate in I/O per second, like 5000"))
        }
    }
}

/// Measures a file tree, like the benchmark `storage.files` of a suite.
fn measure_files(
    typed: &StorageFilesArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let is_asked = |step: &FileStep| match typed.operations.as_slice() {
        [] => step.is_default,
        operations => operations.contains(step),
    };
    let steps: Vec<FileStep> = FileStep::ALL.into_iter().filter(is_asked).collect();
    let budget_s = typed.length.unwrap_or(DEFAULT_LENGTH_S) * steps.len() as f64;
    let request = FilesRequest {
        folder: Some(typed.anchor.clone()),
        levels: typed.levels,
        width: typed.width,
        files: typed.files,
        size: typed.size,
        steps,
        threads: typed.threads,
        bytes: typed.bs,
        random: typed.random,
        rate_per_s: typed.rate,
        length_s: typed.length,
        sync: typed.sync,
    };
    let suite = single_suite(Benchmark::StorageFiles, budget_s, MeasureRequest::Files(request));
    run(&suite, (&typed.permissions, &typed.measuring), terminal)
}

/// Returns a suite with a single storage benchmark.
fn single_suite(benchmark: Benchmark, budget_s: f64, request: MeasureRequest) -> Suite {
    let title = benchmark.definition().title.to_owned();
    let measure = Measure::new(request, TARGET_HALF_WIDTH);
    Suite { name: "storage".to_owned(), title, budget_s, measures: vec![measure] }
}

fn run(
    suite: &Suite,
    (permissions, measuring): (&StoragePermissions, &MeasuringArguments),
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let storage = run_options(permissions, &measuring.store);
    let request = RunRequest { storage, ..pipeline::request_from_options(suite, measuring) };
    pipeline::run_suite(&request, measuring, ReportExtent::Full, terminal)
}

/// Returns the absolute path of a folder, as records have it.
fn existing_folder(path: &Path) -> Result<PathBuf, CommandFailure> {
    path.canonicalize().map_err(|error| {
        CommandFailure::usage(format!("cannot look into {}", path.display()))
            .with_cause(&error)
            .advise("name a folder that exists, or none to remove all files created by assay")
    })
}

/// Removes files created by assay, unless another assay is using them.
fn clean(typed: &StorageCleanArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    let created = CreatedFiles::open(typed.store.folder.as_deref())?;
    let below = typed.below.as_deref().map(existing_folder).transpose()?;
    let request = CleanRequest {
        only_looks: typed.dry_run,
        forgets: typed.forget,
        below: below.as_deref(),
    };
    let cleaned = clean::clean(&created, request);
    let mut text: String = cleaned.files.iter().map(|it| format!("{}\n", it.line)).collect();
    if cleaned.files.is_empty() && cleaned.failure.is_none() {
        text.push_str("no files created by assay\n");
    }
    let file = |it: &CleanedFile| json!({ "path": path_text::encode(it.path.as_os_str()), "what": it.outcome });
    let files: Vec<Value> = cleaned.files.iter().map(file).collect();
    page::publish_brief(&text, &json!({ "files": files }), &typed.answer, terminal)?;
    cleaned.failure.map_or(Ok(0), Err)
}
