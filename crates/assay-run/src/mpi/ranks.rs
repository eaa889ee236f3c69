//! Initialises MPI from the launcher's environment, or explains why it is not possible.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use assay_fleet::root::Root;
use assay_kernels::mpi::{Abi, LoadedMpi, MpiError, MpiWorld};
use assay_kernels::pin;
use assay_model::benchmark::MpiBenchmarkKind;
use assay_model::mpi_outcome::{FORMAT, MpiAbi, MpiLibrary, MpiOutcome, MpiRank};
use assay_model::path_text;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::Bytes;

use super::launcher_env::{HYDRA, LauncherEnv, MpiMake, SLURM};
use super::library_search::{self, LibrarySearchEnv};
use super::method;
use super::options::{MpiOptions, RequestedLibrary};
use crate::failure::CommandFailure;

pub use self::banner::parse_banner;
use self::hello::RankHello;

mod banner;
mod fan;
mod hello;
mod neighborhood;

/// Delay before a library that may not fit is initialised, so that the note about it reaches the
/// launcher. Such a library ends its process at once; a launcher then ends all ranks and drops
/// output that it has not read yet.
pub const NOTE_DELAY: Duration = Duration::from_millis(300);

const MATCHING_LAUNCHER_ADVICE: &str = "start with the mpirun of that library, or name the launcher's own library with --mpi PREFIX";

/// Maximum number of programs between this process and the launcher, such as a shell, `taskset`,
/// `numactl` or a wrapper of the site.
const MAX_ANCESTORS: usize = 8;

/// Prefixes of variables that choose networks, transports and algorithms.
const TRANSPORT_VARIABLES: &[&str] = &[
    "UCX_",
    "FI_",
    "OMPI_MCA_pml",
    "OMPI_MCA_btl",
    "OMPI_MCA_mtl",
    "OMPI_MCA_osc",
    "OMPI_MCA_coll",
    "I_MPI_FABRICS",
    "I_MPI_OFI",
    "I_MPI_SHM",
    "I_MPI_PIN",
    "I_MPI_ADJUST",
    "MPIR_CVAR_",
    "MPICH_",
    "MV2_",
    "PSM2_",
    "PSM3_",
];

/// How the library is initialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryStart {
    /// By `MPI_Init`.
    OneThread,
    /// By `MPI_Init_thread`, for calls from several threads at once.
    Threads,
    /// By a session (MPI 4).
    Session,
}

/// Ranks of a job that have exchanged their hellos.
#[derive(Debug)]
pub struct MpiJob {
    pub world: MpiWorld,
    pub library: MpiLibrary,
    /// Name of the launcher.
    pub launcher: &'static str,
    pub ranks: Vec<MpiRank>,
    /// Host and available memory of every rank.
    host_memory: Vec<(String, Option<u64>)>,
}

/// Ranks of a job that measures messages.
#[derive(Debug)]
pub struct ConnectedRanks {
    pub world: MpiWorld,
    /// Outcome before the first size; the same on all ranks except for the environment.
    pub outcome: MpiOutcome,
    /// Host and available memory of every rank.
    host_memory: Vec<(String, Option<u64>)>,
}

/// Opens the requested library, or the one that belongs to the launcher.
///
/// # Errors
/// There is none, or it cannot serve the launcher's ranks.
pub fn open_library(
    requested: &RequestedLibrary,
    launcher_env: &LauncherEnv,
) -> Result<LoadedMpi, CommandFailure> {
    let variable = |name: &str| std::env::var_os(name);
    let ancestors = ancestors();
    let resolve = |path: &Path| path.canonicalize().ok();
    let search_env = LibrarySearchEnv {
        variable: &variable,
        ancestors: &ancestors,
        resolve: &resolve,
        cray: &assay_fleet::mpi::find_cray_library,
    };
    let files = match (&requested.file, &requested.prefix) {
        (Some(file), _) => vec![path_text::encode(file.as_os_str())],
        (None, Some(prefix)) => {
            // The size of the world later reveals a library of another make.
            let files = [launcher_env.make, MpiMake::Any]
                .map(|make| library_search::libraries_below(prefix, make, &search_env))
                .concat();
            if files.is_empty() {
                let what = format!("there is no MPI library below {}", prefix.display());
                return Err(CommandFailure::measurement(what).advise(
                    "name the folder that holds `bin` and `lib`, or the library with --mpi-library",
                ));
            }
            files
        }
        (None, None) => {
            // A request for PMIx from a batch system probably means Open MPI rather than MPICH.
            let open_mpi = (launcher_env.launcher == SLURM && launcher_env.provides_pmix)
                .then(|| library_search::candidate_libraries(MpiMake::OpenMpi, &search_env));
            let of_launcher =
                library_search::candidate_libraries(launcher_env.make, &search_env);
            open_mpi.into_iter().flatten().chain(of_launcher).collect()
        }
    };
    let library = open_first(&files)?;
    check_pmix_support(&library, launcher_env)?;
    Ok(library)
}

/// Reports a library that may not find the other ranks, by rank 0 alone, and waits until the launcher
/// has read it.
///
/// # Errors
/// Those of `on_note`.
pub fn warn_of_mismatch(
    mpi: &LoadedMpi,
    launcher_env: &LauncherEnv,
    on_note: &mut dyn FnMut(&Phrase) -> Result<(), CommandFailure>,
) -> Result<(), CommandFailure> {
    let Some(note) = launcher_mismatch(mpi, launcher_env) else { return Ok(()) };
    if launcher_env.is_reporting_rank() {
        on_note(&note)?;
    }
    thread::sleep(NOTE_DELAY);
    Ok(())
}

/// Returns why a library may not find the other ranks: it ends the process during initialisation,
/// or makes each rank a world of one.
fn launcher_mismatch(mpi: &LoadedMpi, launcher_env: &LauncherEnv) -> Option<Phrase> {
    find_mismatch(&parse_banner(mpi.banner()).0, mpi.path(), launcher_env)
}

fn find_mismatch(name: &str, path: &str, launcher_env: &LauncherEnv) -> Option<Phrase> {
    let is_open_mpi = name == "Open MPI";
    let is_foreign = match launcher_env.make {
        MpiMake::OpenMpi => !is_open_mpi,
        MpiMake::Mpich => is_open_mpi,
        MpiMake::Any => false,
    };
    let launcher = launcher_env.launcher;
    if is_foreign {
        Some(phrase!(
            "other-make",
            "{path} is of another make than {launcher}, which started this process",
            path = path,
            launcher = launcher,
        ))
    } else if launcher == SLURM && is_open_mpi && !launcher_env.provides_pmix {
        Some(phrase!(
            "not-served",
            "{path} is Open MPI, and srun was started without PMIx: add `--mpi=pmix`",
            path = path,
        ))
    } else if launcher == HYDRA && name == "Intel MPI" {
        Some(phrase!(
            "served-in-part",
            "{path} is Intel MPI, and MPICH's {launcher}, which started this process, works with some of its versions only: \
             where `MPI_Init` fails, start with the `mpiexec.hydra` of Intel MPI",
            path = path,
            launcher = launcher,
        ))
    } else {
        None
    }
}

/// Returns an error if every rank would certainly be a world of one: Open MPI from version 5 on
/// supports `PMIx` alone. Starting it nevertheless would leave a segment of 16 MiB in `/dev/shm`
/// for each rank.
fn check_pmix_support(
    mpi: &LoadedMpi,
    launcher_env: &LauncherEnv,
) -> Result<(), CommandFailure> {
    let (name, version) = parse_banner(mpi.banner());
    let major = version.split('.').next().and_then(|it| it.parse().ok()).unwrap_or(0);
    if name != "Open MPI"
        || major < 5
        || launcher_env.make != MpiMake::Mpich
        || launcher_env.provides_pmix
    {
        return Ok(());
    }
    let what = format!("{} cannot serve {name} {version}", launcher_env.launcher);
    let why = format!(
        "{} needs PMIx, which this launcher does not support: every rank would be a world of one",
        mpi.path()
    );
    Err(CommandFailure::measurement(what).with_reason(why).advise(MATCHING_LAUNCHER_ADVICE))
}

fn open_first(files: &[String]) -> Result<LoadedMpi, CommandFailure> {
    let mut failure = CommandFailure::measurement("no MPI library can be opened");
    for file in files {
        match LoadedMpi::open(file) {
            Ok(mpi) => return Ok(mpi),
            Err(error) => failure = failure.with_cause(&error),
        }
    }
    Err(failure.advise(
        "install an MPI (Debian: mpich or openmpi-bin) and start this command with its `mpirun`, \
         or name the library with --mpi PREFIX or --mpi-library FILE",
    ))
}

/// Returns the programs that this process descends from, the nearest first, as far as they are
/// visible.
fn ancestors() -> Vec<PathBuf> {
    let root = Root::machine();
    let parent = |process: u32| -> Option<u32> {
        let status = root.text(&format!("proc/{process}/status"))?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
    };
    let processes = std::iter::successors(parent(std::process::id()), |it| parent(*it));
    processes
        .take(MAX_ANCESTORS)
        .filter_map(|process| std::fs::read_link(format!("/proc/{process}/exe")).ok())
        .collect()
}

impl MpiJob {
    /// Initialises the library and exchanges the hellos of all ranks.
    ///
    /// # Errors
    /// The library fails, the ranks do not find each other, or differ in version or options.
    pub fn connect(
        mpi: &LoadedMpi,
        launcher_env: &LauncherEnv,
        start: LibraryStart,
    ) -> Result<Self, CommandFailure> {
        let library = describe_library(mpi);
        let world = match start {
            LibraryStart::OneThread => mpi.start(),
            LibraryStart::Threads => mpi.start_threaded(),
            LibraryStart::Session => mpi.start_session(),
        };
        let world = world.map_err(|error| mpi_failure(&error))?;
        if let Err(failure) = check_world_size(&world, launcher_env, &library) {
            // Each isolated rank ends its own world; there is nothing else to end.
            drop(world.finish());
            return Err(failure);
        }
        let hello = RankHello::of_this_rank();
        let messages =
            world.all_gather(&serde_json::to_vec(&hello).expect("a hello has only text keys"));
        let hellos =
            hello::parse_hellos(&messages.map_err(|error| mpi_failure(&error))?, &hello)?;
        let ranks = hellos.iter().zip(0..).map(|(hello, rank)| hello.to_mpi_rank(rank));
        let ranks = ranks.collect();
        let host_memory =
            hellos.into_iter().map(|it| (it.host, it.memory_available_bytes)).collect();
        Ok(Self { world, library, launcher: launcher_env.launcher, ranks, host_memory })
    }
}

impl ConnectedRanks {
    /// Connects the ranks of a benchmark.
    ///
    /// # Errors
    /// Those of [`MpiJob::connect`].
    pub fn initialize(
        mpi: &LoadedMpi,
        launcher_env: &LauncherEnv,
        options: &MpiOptions,
    ) -> Result<Self, CommandFailure> {
        let start = match (options.process_set, options.test.kind()) {
            (true, _) => LibraryStart::Session,
            (false, MpiBenchmarkKind::ThreadsLatency) => LibraryStart::Threads,
            (false, _) => LibraryStart::OneThread,
        };
        let job = MpiJob::connect(mpi, launcher_env, start)?;
        let MpiJob { world, library, launcher, ranks, host_memory } = job;
        let outcome = MpiOutcome {
            format: FORMAT,
            assay: env!("CARGO_PKG_VERSION").to_owned(),
            benchmark: options.test.name().to_owned(),
            preset: options.preset.name().to_owned(),
            library: Some(library),
            launcher: launcher.to_owned(),
            ranks,
            environment: transport_variables(),
            window: method::window(options),
            settings: method::unusual_settings(options),
            topology: None,
            sizes: Vec::new(),
            complete: false,
            failure: None,
        };
        Ok(Self { world, outcome, host_memory })
    }

    /// Returns an error unless each host has enough memory for all of its ranks.
    pub fn check_memory(
        &self,
        bytes: u64,
        each_rank_bytes: Option<usize>,
    ) -> Result<(), CommandFailure> {
        let mut hosts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        let needed = each_rank_bytes.map_or(u64::MAX, |bytes| bytes as u64);
        for (host, available) in &self.host_memory {
            let entry = hosts.entry(host).or_insert((0, u64::MAX));
            entry.0 = entry.0.saturating_add(needed);
            entry.1 = entry.1.min(available.unwrap_or(u64::MAX));
        }
        let overcommitted =
            hosts.into_iter().find(|(_, (needed, available))| needed > available);
        let is_countable = bytes <= i32::MAX as u64;
        if overcommitted.is_none() && is_countable {
            return Ok(());
        }
        let what = format!("messages of {} cannot be measured", Bytes(bytes));
        let why = match overcommitted {
            Some((host, (needed, available))) => format!(
                "the ranks on {host} need {}, and {} are free there",
                Bytes(needed).to_quantity(),
                Bytes(available).to_quantity()
            ),
            None => "MPI counts the bytes of a message with 31 bits".to_owned(),
        };
        Err(CommandFailure::measurement(what)
            .with_reason(why)
            .advise("set a smaller largest size, like -m :1MiB, or use fewer ranks per host"))
    }

    /// Adds the CPU that each rank runs on now to those seen before.
    pub fn record_current_cpus(&mut self) -> Result<(), CommandFailure> {
        let now = pin::current_cpu().map_or(u32::MAX, |cpu| cpu as u32);
        let messages =
            self.world.all_gather(&now.to_le_bytes()).map_err(|error| mpi_failure(&error))?;
        for (rank, message) in self.outcome.ranks.iter_mut().zip(messages) {
            let cpu = message.try_into().map_or(u32::MAX, u32::from_le_bytes);
            if cpu != u32::MAX && !rank.seen_on.contains(&cpu) {
                rank.seen_on.push(cpu);
            }
        }
        Ok(())
    }
}

pub fn mpi_failure(error: &MpiError) -> CommandFailure {
    let advice = match error {
        MpiError::Symbol { missing: "MPI_Session_init", .. } => {
            "sessions are new in MPI 4: leave -I out, or use a newer library"
        }
        MpiError::Unsupported { .. } => {
            "measure the collective without _persistent, or use a newer library"
        }
        MpiError::OneThread { .. } => {
            "measure multi_lat, which has several ranks instead of threads, or use another library"
        }
        MpiError::Memory { .. } => "set a smaller largest size, like -m :1MiB",
        _ => "run the same with the MPI's own programs to see whether it works at all",
    };
    CommandFailure::measurement("the MPI library failed").with_cause(error).advise(advice)
}

/// Checks the size of the world: with a library that does not match its launcher, every rank is a
/// world of one.
fn check_world_size(
    world: &MpiWorld,
    launcher_env: &LauncherEnv,
    library: &MpiLibrary,
) -> Result<(), CommandFailure> {
    let size = world.size();
    let launcher = launcher_env.launcher;
    let what = match launcher_env.ranks {
        Some(ranks) if ranks != size => {
            format!("{launcher} started {ranks} ranks, but the library sees a world of {size}")
        }
        // The launcher sets no number of ranks, but a single rank needs no launcher.
        None if launcher_env.rank.is_some() && size == 1 => {
            format!("{launcher} started this rank, but the library sees a world of 1")
        }
        _ => return Ok(()),
    };
    let failure = CommandFailure::measurement(what);
    let library = format!("{} {} ({})", library.name, library.version, library.path);
    Err(if launcher_env.launcher == SLURM {
        failure
            .with_reason(format!("{library} was not served by srun, and measured nothing"))
            .advise(
                "`srun --mpi=pmi2` serves MPICH, Intel MPI and MVAPICH, `srun --mpi=pmix` Open MPI; \
                 `srun --mpi=list` lists what this Slurm supports",
            )
    } else {
        failure
            .with_reason(format!(
                "{library} does not match the make or version of the launcher, and measured nothing"
            ))
            .advise(MATCHING_LAUNCHER_ADVICE)
    })
}

fn transport_variables() -> BTreeMap<String, String> {
    // Variables that a launcher sets for itself do not describe the transport.
    let of_launcher = ["MV2_COMM_WORLD", "MPICH_INTERFACE_HOSTNAME"];
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| TRANSPORT_VARIABLES.iter().any(|prefix| name.starts_with(prefix)))
        .filter(|(name, _)| !of_launcher.iter().any(|prefix| name.starts_with(prefix)))
        .collect()
}

/// Describes a library by its banner and path.
fn describe_library(mpi: &LoadedMpi) -> MpiLibrary {
    let (name, version) = parse_banner(mpi.banner());
    let (major, minor) = mpi.standard();
    MpiLibrary {
        name,
        version,
        banner: mpi.banner().to_owned(),
        path: mpi.path().to_owned(),
        abi: match mpi.abi() {
            Abi::Mpich => MpiAbi::Mpich,
            Abi::OpenMpi => MpiAbi::OpenMpi,
            Abi::Standard => MpiAbi::Standard,
        },
        standard: format!("{major}.{minor}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warns_of_library_and_launcher_mismatch() {
        let env = |launcher, make| LauncherEnv {
            launcher,
            make,
            rank: Some(0),
            ranks: Some(2),
            provides_pmix: false,
        };
        for (name, env, expected) in [
            ("MPICH", env(HYDRA, MpiMake::Mpich), None),
            ("MVAPICH", env(HYDRA, MpiMake::Mpich), None),
            ("Intel MPI", env("intel-hydra", MpiMake::Mpich), None),
            (
                "Intel MPI",
                env(HYDRA, MpiMake::Mpich),
                Some("works with some of its versions only"),
            ),
            ("Open MPI", env(HYDRA, MpiMake::Mpich), Some("of another make than hydra")),
            ("MPICH", env("orterun", MpiMake::OpenMpi), Some("of another make than orterun")),
            ("Open MPI", env("orterun", MpiMake::OpenMpi), None),
            ("Open MPI", env(SLURM, MpiMake::Any), Some("--mpi=pmix")),
            ("MPICH", env(SLURM, MpiMake::Any), None),
        ] {
            let mismatch = find_mismatch(name, "/x/libmpi.so", &env);
            let is_expected = match (&mismatch, expected) {
                (Some(mismatch), Some(expected)) => mismatch.to_string().contains(expected),
                (mismatch, expected) => mismatch.is_none() && expected.is_none(),
            };
            assert!(is_expected, "{name} {env:?}: {mismatch:?}");
        }
    }
}
