//! Lifecycle of one MPI rank: from the launcher's environment to the outcome of the job on rank 0.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use assay_kernels::mpi::{MpiError, MpiWorld, StuckHandler, memory_bytes};
use assay_model::benchmark::{MpiBenchmarkKind, MpiPattern, NeighborTopology};
use assay_model::entry::MeasurementEntry;
use assay_model::event::StopReason;
use assay_model::failure::FailureReason;
use assay_model::mpi_installation::{MpiInstallation, MpiLauncherKind};
use assay_model::mpi_outcome::{FORMAT, MpiFailure, MpiOutcome, MpiSizeResult};
use assay_model::path_text;
use assay_model::phrase::Phrase;
use assay_model::workload::{Domain, MpiHosts, MpiWorkload, Workload};

use super::launcher_env::LauncherEnv;
use super::method;
use super::options::MpiOptions;
use super::ranks::{self, ConnectedRanks};
use super::single_size::{self, SizeStep};
use crate::failure::CommandFailure;

/// Event of a running job, for the code that prints and stores. Only notes and aborts occur on
/// ranks other than 0.
#[derive(Debug)]
pub enum RankEvent<'a> {
    /// Note that is printed on a line of its own.
    Note(&'a Phrase),
    /// The ranks are connected and will measure.
    Started(&'a MpiOutcome),
    /// Another size is measured.
    SizeMeasured(&'a MpiOutcome, &'a MpiSizeResult),
    /// All sizes are measured.
    AllMeasured(&'a MpiOutcome),
    /// This rank failed alone, and ends all others.
    Aborting(&'a CommandFailure),
}

/// Receiver of job events; an error from it ends the job.
pub type RankListener<'l> = dyn FnMut(RankEvent<'_>) -> Result<(), CommandFailure> + 'l;

/// Options and environment of one rank.
#[derive(Debug, Clone, Copy)]
pub struct RankTask<'j> {
    pub options: &'j MpiOptions,
    pub env: &'j LauncherEnv,
    /// File to which rank 0 writes the outcome so far after every size.
    pub outcome_file: Option<&'j Path>,
    /// Exit code of the process if a single rank fails.
    pub failure_exit_code: u8,
}

/// Result of a rank that has ended.
#[derive(Debug)]
pub struct RankOutcome {
    /// Whether this is rank 0, the only one with the complete outcome.
    pub is_root: bool,
    pub outcome: MpiOutcome,
    /// Whether any rank received wrong contents.
    pub is_damaged: bool,
    /// The same for this rank, with the reason.
    pub verdict: Result<(), CommandFailure>,
}

/// Measures all sizes in order.
///
/// # Errors
/// When nothing can be measured; all ranks fail for the same reason.
pub fn run(
    task: &RankTask<'_>,
    listener: &mut RankListener<'_>,
) -> Result<RankOutcome, CommandFailure> {
    let RankTask { options, env: launcher_env, outcome_file, .. } = *task;
    let sizes = method::message_sizes(options);
    // Some launchers do not announce the number of ranks.
    if launcher_env.ranks.is_some() || launcher_env.rank.is_none() {
        check_rank_count(options, launcher_env.ranks.unwrap_or(1))?;
    }
    let mut ranks = connect_ranks(task, listener)?;
    if let Err(failure) = check_ranks_and_memory(options, &mut ranks, &sizes) {
        drop(ranks.world.finish());
        return Err(failure);
    }
    if let Err(failure) = measure_sizes(task, &sizes, &mut ranks, listener) {
        // Only this rank failed, and the others wait for it.
        abort_job(task, &ranks.world, listener, &failure)
    }
    ranks.record_current_cpus()?;
    if ranks.world.rank() == 0 {
        listener(RankEvent::AllMeasured(&ranks.outcome))?;
    }
    finish_launch(ranks, outcome_file)
}

/// Initialises the library on all ranks and finishes it. Returns the ranks, without any figures, on
/// rank 0.
///
/// # Errors
/// When the library cannot be initialised or finished.
pub fn greet(
    task: &RankTask<'_>,
    listener: &mut RankListener<'_>,
) -> Result<Option<MpiOutcome>, CommandFailure> {
    let ConnectedRanks { world, outcome, .. } = connect_ranks(task, listener)?;
    let is_root = world.rank() == 0;
    world.finish().map_err(|error| ranks::mpi_failure(&error))?;
    Ok(is_root.then_some(outcome))
}

/// Opens and initialises the library.
fn connect_ranks(
    task: &RankTask<'_>,
    listener: &mut RankListener<'_>,
) -> Result<ConnectedRanks, CommandFailure> {
    let RankTask { options, env: launcher_env, .. } = *task;
    let library = ranks::open_library(&options.library, launcher_env)?;
    library.check_support(options.test.kind()).map_err(|error| ranks::mpi_failure(&error))?;
    ranks::warn_of_mismatch(&library, launcher_env, &mut |note| {
        listener(RankEvent::Note(note))
    })?;
    ConnectedRanks::initialize(&library, launcher_env, options)
}

fn measure_sizes(
    task: &RankTask<'_>,
    sizes: &[u64],
    ranks: &mut ConnectedRanks,
    listener: &mut RankListener<'_>,
) -> Result<(), CommandFailure> {
    let is_root = ranks.world.rank() == 0;
    if is_root {
        listener(RankEvent::Started(&ranks.outcome))?;
    }
    if task.options.test.kind() == MpiBenchmarkKind::ForkedLatency {
        fork_processes(task.options, &mut ranks.world)?;
    }
    let budget_s = task.options.budget_s / sizes.len() as f64;
    for bytes in sizes {
        let size = measure_size(task, (*bytes, budget_s), &ranks.world, listener)?;
        if is_root {
            listener(RankEvent::SizeMeasured(&ranks.outcome, &size))?;
        }
        ranks.outcome.sizes.push(size);
        if let Some(file) = task.outcome_file.filter(|_| is_root) {
            write_outcome(file, &ranks.outcome)?;
        }
    }
    Ok(())
}

/// Reports the failure of this rank and ends the job.
fn abort_job(
    task: &RankTask<'_>,
    world: &MpiWorld,
    listener: &mut RankListener<'_>,
    failure: &CommandFailure,
) -> ! {
    // If the report fails, too, there is no remedy.
    drop(listener(RankEvent::Aborting(failure)));
    world.abort(task.failure_exit_code)
}

/// Measures one size. If threads do not end after an error of one, reports it and ends the job.
fn measure_size(
    task: &RankTask<'_>,
    (bytes, budget_s): (u64, f64),
    world: &MpiWorld,
    listener: &mut RankListener<'_>,
) -> Result<MpiSizeResult, CommandFailure> {
    let listener = RefCell::new(listener);
    let end_job = |error: &MpiError| {
        abort_job(task, world, &mut **listener.borrow_mut(), &ranks::mpi_failure(error));
    };
    let on_stuck = StuckHandler(&end_job);
    let step = SizeStep { options: task.options, bytes, budget_s, on_stuck };
    single_size::measure_size(world, &step).map_err(|error| ranks::mpi_failure(&error))
}

/// Forks the requested number of processes on ranks 0 and 1.
fn fork_processes(options: &MpiOptions, world: &mut MpiWorld) -> Result<(), CommandFailure> {
    let (first, second) = method::workers(options).unwrap_or_default();
    let count = if world.rank() == 0 { first } else { second };
    world.fork_processes(count).map_err(|error| {
        CommandFailure::measurement(format!("cannot fork {count} processes"))
            .with_cause(&error)
            .advise("fork fewer of them, like -t 1:1")
    })
}

/// Finishes the job; no result counts if any contents were wrong.
fn finish_launch(
    ranks: ConnectedRanks,
    outcome_file: Option<&Path>,
) -> Result<RankOutcome, CommandFailure> {
    let ConnectedRanks { world, mut outcome, .. } = ranks;
    let is_root = world.rank() == 0;
    let verdict = match first_damaged_size(&outcome) {
        // All ranks have the same count and therefore the same verdict.
        Some((bytes, wrong)) => {
            Err(CommandFailure::measurement(format!("{wrong} messages of {bytes} B arrived damaged"))
                .advise("choose another transport, and report the fault to its makers: this MPI or its transport loses or mixes data"))
        }
        None => Ok(()),
    };
    outcome.complete = verdict.is_ok();
    outcome.failure = verdict.as_ref().err().map(to_mpi_failure);
    let failed = world
        .broadcast_number(u64::from(verdict.is_err()))
        .map_err(|error| ranks::mpi_failure(&error))?;
    world.finish().map_err(|error| ranks::mpi_failure(&error))?;
    if let Some(file) = outcome_file.filter(|_| is_root) {
        write_outcome(file, &outcome)?;
    }
    Ok(RankOutcome { is_root, outcome, is_damaged: failed > 0, verdict })
}

/// Returns the first size with wrong contents, and the number of wrong messages.
fn first_damaged_size(outcome: &MpiOutcome) -> Option<(u64, u64)> {
    let wrong = |size: &MpiSizeResult| Some((size.bytes, size.validation?.wrong));
    outcome.sizes.iter().filter_map(wrong).find(|(_, wrong)| *wrong > 0)
}

/// Returns the job as a named workload, as soon as the ranks are connected; `None` without a known
/// library.
pub fn named_workload(
    options: &MpiOptions,
    outcome: &MpiOutcome,
) -> Option<(String, Workload)> {
    Some((options.test.name().to_owned(), Workload::Mpi(workload(options, outcome)?)))
}

/// Returns the entries of an outcome for its record.
pub fn entries(outcome: &MpiOutcome) -> Vec<MeasurementEntry> {
    let doubts = outcome.binding_doubt().map(MeasurementEntry::Doubt);
    [outcome.to_facts(), outcome.to_entries(), outcome.to_single_entries()]
        .into_iter()
        .flatten()
        .chain(doubts)
        .collect()
}

/// Returns why the measurement stopped: OSU's method takes one figure per size; assay's stops when
/// all sizes are precise or the time is spent.
///
/// # Errors
/// Contents were wrong.
pub fn stop_reason(outcome: &MpiOutcome) -> Result<StopReason, FailureReason> {
    if let Some((bytes, _)) = first_damaged_size(outcome) {
        return Err(FailureReason::WrongContents { bytes });
    }
    let precise_flag = |size: &MpiSizeResult| size.precise;
    let precise: Option<Vec<bool>> = outcome.sizes.iter().map(precise_flag).collect();
    Ok(match precise {
        None => StopReason::Tool,
        Some(all) if all.iter().all(|it| *it) => StopReason::Precise,
        Some(_) => StopReason::Budget,
    })
}

/// Builds the workload that a suite would have requested; the launcher chose the library and the
/// CPUs.
fn workload(options: &MpiOptions, outcome: &MpiOutcome) -> Option<MpiWorkload> {
    let sizes = method::message_sizes(options);
    let library = outcome.library.as_ref()?;
    let prefix = options.library.prefix.as_deref();
    let prefix = prefix.map_or(String::new(), |it| path_text::encode(it.as_os_str()));
    let starter = match outcome.launcher.as_str() {
        "intel-hydra" => MpiLauncherKind::IntelHydra,
        "orterun" => MpiLauncherKind::Orte,
        "prterun" => MpiLauncherKind::Prrte,
        "slurm" => MpiLauncherKind::Srun,
        _ => MpiLauncherKind::Hydra,
    };
    let only_one = |cpus: &Vec<u32>| match cpus[..] {
        [cpu] => Some(cpu),
        _ => None,
    };
    let cpus: Option<Vec<u32>> = outcome.ranks.iter().map(|it| only_one(&it.cpus)).collect();
    Some(MpiWorkload {
        test: options.test,
        mpi: MpiInstallation {
            key: library.label().to_lowercase().replace(' ', "-"),
            name: library.name.clone(),
            version: library.version.clone(),
            prefix,
            library: library.path.clone(),
            abi: library.abi,
            launcher: outcome.launcher.clone(),
            starter,
        },
        ranks: outcome.ranks.len() as u32,
        placement: Domain { placement: "launcher".to_owned(), cpus: cpus.unwrap_or_default() },
        hosts: MpiHosts::default(),
        from_bytes: *sizes.first()?,
        to_bytes: *sizes.last()?,
        preset: options.preset,
    })
}

fn check_ranks_and_memory(
    options: &MpiOptions,
    ranks: &mut ConnectedRanks,
    sizes: &[u64],
) -> Result<(), CommandFailure> {
    check_rank_count(options, ranks.world.size())?;
    if options.test.kind().is_neighborhood() {
        ranks.join_neighborhood(&options.topology)?;
    }
    if options.test.kind().is_fan() {
        ranks.join_fan()?;
    }
    let Some(largest) = sizes.last() else {
        let smallest = method::minimum_bytes(options);
        return Err(CommandFailure::usage(
            "there is no size between the smallest and the largest",
        )
        .with_reason(format!("messages of {} have at least {smallest} B", options.test.name()))
        .advise("write the smallest before the largest, like -m 4:4MiB"));
    };
    let kind = options.test.kind();
    let parts = match &ranks.outcome.topology {
        Some(topology) => options.topology.max_degree(&topology.lengths),
        None => ranks.world.size() as usize,
    };
    let each_rank_bytes = usize::try_from(*largest).ok().and_then(|bytes| {
        memory_bytes(kind, bytes, parts, method::messages_at_once(options), options.buffers)
    });
    // Validation keeps four more copies of the window, which is one of three buffers.
    let each_rank_bytes = match options.validate && kind.is_one_sided() {
        true => each_rank_bytes.and_then(|bytes| bytes.checked_add(bytes / 3 * 4)),
        false => each_rank_bytes,
    };
    ranks.check_memory(*largest, each_rank_bytes)
}

/// Checks the number of ranks: some benchmarks need exactly two, some an even number, all at least
/// two.
fn check_rank_count(options: &MpiOptions, ranks: u32) -> Result<(), CommandFailure> {
    let name = options.test.name();
    if options.test.kind().is_neighborhood() {
        return check_topology_ranks(options, ranks);
    }
    let missing = match options.test.pattern() {
        _ if ranks < 2 && !options.test.kind().is_startup() => Some("two ranks or more"),
        MpiPattern::Pair if ranks != 2 => Some("exactly two ranks"),
        MpiPattern::Pairs if !ranks.is_multiple_of(2) => Some("an even number of ranks"),
        _ => None,
    };
    let Some(required) = missing else { return Ok(()) };
    let actual = match ranks {
        1 => "there is one rank only".to_owned(),
        ranks => format!("there are {ranks}"),
    };
    Err(CommandFailure::usage(format!("{name} needs {required}, and {actual}"))
        .advise(format!("start it with an MPI launcher: mpirun -n 2 assay mpi {name}")))
}

/// Checks that there are as many ranks as the topology needs.
fn check_topology_ranks(options: &MpiOptions, ranks: u32) -> Result<(), CommandFailure> {
    let (name, needed) = (options.test.name(), options.topology.min_ranks().max(2));
    if u64::from(ranks) >= needed {
        return Ok(());
    }
    let failure = CommandFailure::usage(format!(
        "the topology of {name} needs {needed} ranks or more, and there are {ranks}"
    ));
    Err(match options.topology {
        NeighborTopology::Cartesian { dimensions, radius } => failure
            .with_reason(format!(
                "a neighbourhood of cart:{dimensions}:{radius} has (2 × {radius} + 1)^{dimensions} ranks, all of them \
                 different"
            ))
            .advise(format!("start more of them: mpirun -n {needed} assay mpi {name}")),
        NeighborTopology::Graph { .. } => failure
            .advise(format!("start more of them, or use a graph of the ranks 0 to {}", ranks.saturating_sub(1))),
    })
}

/// Writes the outcome of a job that never began.
///
/// # Errors
/// When it cannot be written.
pub fn write_failed_outcome(
    file: &Path,
    options: &MpiOptions,
    launcher_env: &LauncherEnv,
    failure: &CommandFailure,
) -> Result<(), CommandFailure> {
    let outcome = MpiOutcome {
        format: FORMAT,
        assay: env!("CARGO_PKG_VERSION").to_owned(),
        benchmark: options.test.name().to_owned(),
        preset: options.preset.name().to_owned(),
        library: None,
        launcher: launcher_env.launcher.to_owned(),
        ranks: Vec::new(),
        environment: BTreeMap::new(),
        window: method::window(options),
        settings: method::unusual_settings(options),
        topology: None,
        sizes: Vec::new(),
        complete: false,
        failure: Some(to_mpi_failure(failure)),
    };
    write_outcome(file, &outcome)
}

fn to_mpi_failure(failure: &CommandFailure) -> MpiFailure {
    MpiFailure { reason: failure.reason(), advice: failure.advice() }
}

/// Writes a temporary file and renames it, so that no reader sees a partial outcome.
fn write_outcome(file: &Path, outcome: &MpiOutcome) -> Result<(), CommandFailure> {
    let text = serde_json::to_vec(outcome).expect("an outcome has only text keys");
    let mut temporary = file.as_os_str().to_owned();
    temporary.push(".part");
    fs_err::write(&temporary, text).and_then(|()| fs_err::rename(&temporary, file)).map_err(
        |error| CommandFailure::measurement("cannot write the samples").with_cause(&error),
    )
}
