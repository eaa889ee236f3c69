//! Options of `assay storage`, and options of every command that writes to storage.

use std::path::PathBuf;

use assay_model::quantity::Bytes;
use assay_model::suite::FileStep;
use assay_model::workload::measurement_mode::{self, LatencyGoal, MeasurementMode, SteadyRule};
use assay_model::workload::storage::{ArrivalProcess, EngineChoice};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::values::{Bandwidth, Choice, IoRate, one_of, parse_io_rate, parse_rate};
use super::{BriefPageArguments, MeasuringArguments, StoreArguments, parse_seconds};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  assay storage read /data --random --bs 4k --depth 64      a file is created in /data, and removed\n  \
                  assay storage write /data/new --bs 1MiB --size 10GiB\n  \
                  assay storage mix /data --read-share 70% --rate 5000      I/O is due 5000 times a second\n  \
                  assay storage read /dev/nvme1n1 --for 60s --by assay,fio\n  \
                  assay storage files /data --threads 4                     files created, queried, read and removed\n  \
                  assay storage read --engine null --random                 limits of the generator itself")]
pub(crate) struct StorageArguments {
    #[command(subcommand)]
    pub(crate) what: StorageCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StorageCommand {
    /// Read from a file or a device
    Read(StorageTestArguments),
    /// Write to a file or a device
    Write(StorageTestArguments),
    /// Read from and write to a file or a device
    Mix(StorageMixArguments),
    /// Create, query, read and remove a tree of files, as mdtest
    Files(StorageFilesArguments),
    /// Remove files that assay created and did not remove, for example after a crash
    Clean(StorageCleanArguments),
}

#[derive(Debug, Args)]
pub(crate) struct StorageTestArguments {
    /// Files, folders to create a file in, or devices
    #[arg(value_name = "TARGET", required_unless_present = "engine")]
    pub(crate) targets: Vec<PathBuf>,
    /// Size of one I/O, like 8k or 1MiB, or several like 4k,64k; 8k, 8kb and 8KiB are 8192 B, 8kB is 8000 B
    #[arg(
        long,
        alias = "block-size",
        value_name = "SIZE",
        value_delimiter = ',',
        default_value = "8KiB"
    )]
    pub(crate) bs: Vec<Bytes>,
    /// Random offsets, uniformly distributed [default: sequential]
    #[arg(long)]
    pub(crate) random: bool,
    /// I/O in flight per target (queue depth), all threads together; several like 1,8,64
    #[arg(long, aliases = ["queue-depth", "iodepth"], value_name = "N", value_delimiter = ',', default_value = "32")]
    pub(crate) depth: Vec<u32>,
    /// Number of threads that submit I/O
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: u32,
    /// I/O per second, like 5000, or bandwidth, like 400MiB/s, as an open loop: due times are fixed in advance
    /// [default: closed loop, unlimited]
    #[arg(long, value_name = "RATE", value_parser = parse_io_rate)]
    pub(crate) rate: Option<IoRate>,
    /// Distribution of inter-arrival times
    #[arg(long, value_parser = one_of(&ARRIVALS), default_value = "exponential", requires = "rate")]
    pub(crate) arrivals: ArrivalProcess,
    /// Measured time, like 60s, after a warm-up of a tenth of it [default: 10s; with --steady-state 60s per round]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_seconds, conflicts_with = "budget")]
    pub(crate) length: Option<f64>,
    /// Find the maximum rate that meets a latency goal, like `p99<=1ms`, counted from when I/O is due; each
    /// rate is tried for the time of --for
    #[arg(long, value_name = "GOAL", value_parser = LatencyGoal::parse, conflicts_with = "rate")]
    pub(crate) find_rate: Option<LatencyGoal>,
    /// Measure rounds of the time of --for until steady state by SNIA's rule: over five rounds a range of at
    /// most 20 % and a slope of at most 10 %; at most 25 rounds
    #[arg(long, conflicts_with = "find_rate")]
    pub(crate) steady_state: bool,
    /// Precondition: first write every target in full this many times, and once more in random order with
    /// --random; a file or device that assay did not create must be named with --destroy-data
    #[arg(
        long,
        value_name = "PASSES",
        value_parser = measurement_mode::parse_passes,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2x"
    )]
    pub(crate) precondition: Option<u32>,
    /// I/O engine
    #[arg(long, value_parser = one_of(&ENGINES), default_value = "auto")]
    pub(crate) engine: EngineChoice,
    /// Size of files that are created [default: 1 GiB; 100 GiB with --engine null, which creates none]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// Use the page cache (no O_DIRECT); the result is marked as buffered
    #[arg(long)]
    pub(crate) buffered: bool,
    #[command(flatten)]
    pub(crate) permissions: StoragePermissions,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

#[derive(Debug, Args)]
pub(crate) struct StorageMixArguments {
    /// Share of reads, like 70%
    #[arg(long, aliases = ["reads", "rwmixread"], value_name = "SHARE", value_parser = parse_read_share)]
    #[arg(default_value = "50%")]
    pub(crate) read_share: f64,
    #[command(flatten)]
    pub(crate) test: StorageTestArguments,
}

#[derive(Debug, Args)]
pub(crate) struct StorageFilesArguments {
    /// Folder in which the tree is created, and from which it is removed
    #[arg(value_name = "DIR")]
    pub(crate) anchor: PathBuf,
    /// Operations, in the order of mdtest [default: mkdir, stat-directory, rmdir, create, stat,
    /// read, delete]
    #[arg(
        long,
        value_name = "OPERATION",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(FileStep::ALL.map(|step| step.name)).map(|it| find_step(&it))
    )]
    pub(crate) operations: Vec<FileStep>,
    /// Levels of directories
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) levels: u32,
    /// Directories in each directory
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) width: u64,
    /// Files in each directory of the last level
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) files: u64,
    /// Size of a file
    #[arg(long, value_name = "SIZE", default_value = "4KiB")]
    pub(crate) size: Bytes,
    /// Size of one read or write [default: the whole file]
    #[arg(long, value_name = "SIZE")]
    pub(crate) bs: Option<Bytes>,
    /// Number of threads, each with one operation at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: u32,
    /// Access files in random order [default: one after another]
    #[arg(long)]
    pub(crate) random: bool,
    /// Operations per second, as an open loop [default: unlimited]
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) rate: Option<f64>,
    /// Measured time of each operation, like 60s [default: passes over the whole tree]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_seconds, conflicts_with = "budget")]
    pub(crate) length: Option<f64>,
    /// fsync every written file before it is closed
    #[arg(long)]
    pub(crate) sync: bool,
    #[command(flatten)]
    pub(crate) permissions: StoragePermissions,
    #[command(flatten)]
    pub(crate) measuring: MeasuringArguments,
}

/// Permission to overwrite, and files to keep.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StoragePermissions {
    /// Allow overwriting this device, or this file that assay did not create; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) destroy_data: Vec<PathBuf>,
    /// Use the root's file system where a volume should be mounted: below /mnt, /media, /srv, /data and the mount
    /// points of /etc/fstab and systemd
    #[arg(long)]
    pub(crate) target_on_root: bool,
    /// Keep created files; `assay storage clean` removes them
    #[arg(long)]
    pub(crate) keep: bool,
}

/// Targets of storage benchmarks.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StorageTargetArguments {
    /// File, folder or device for storage benchmarks; repeatable
    #[arg(long = "target", value_name = "PATH", num_args = 1..)]
    pub(crate) targets: Vec<PathBuf>,
    /// Size of files created for storage benchmarks [default: the suite's, or 1 GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// Provisioned throughput of the volume, like 4500MiB/s
    #[arg(long, alias = "ceiling", value_name = "BANDWIDTH", value_parser = Bandwidth::parse)]
    pub(crate) provisioned: Option<Bandwidth>,
    #[command(flatten)]
    pub(crate) permissions: StoragePermissions,
}

impl StorageTargetArguments {
    /// Returns the first option that was given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--target", !self.targets.is_empty()),
            ("--size", self.size.is_some()),
            ("--provisioned", self.provisioned.is_some()),
            ("--destroy-data", !self.permissions.destroy_data.is_empty()),
            ("--target-on-root", self.permissions.target_on_root),
            ("--keep", self.permissions.keep),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

#[derive(Debug, Args)]
pub(crate) struct StorageCleanArguments {
    /// Only files in this folder [default: all files created by assay]
    #[arg(value_name = "FOLDER")]
    pub(crate) below: Option<PathBuf>,
    /// Only list the files
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove the records of files that are not recognised; the files stay
    #[arg(long)]
    pub(crate) forget: bool,
    #[command(flatten)]
    pub(crate) answer: BriefPageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

const ENGINES: [Choice<EngineChoice>; 6] = [
    (&["auto"], "Best engine that the kernel supports", EngineChoice::Auto),
    (&["io_uring"], "io_uring", EngineChoice::IoUring),
    (
        &["io_uring-polled"],
        "io_uring that asks the device for completions instead of waiting for interrupts",
        EngineChoice::IoUringPolled,
    ),
    (&["libaio"], "Linux native AIO (io_submit, io_getevents)", EngineChoice::Libaio),
    (&["threads"], "Blocking calls, one per thread", EngineChoice::Threads),
    (&["null"], "No I/O: measures the cost of the load generator itself", EngineChoice::Null),
];

const ARRIVALS: [Choice<ArrivalProcess>; 3] = [
    (&["exponential"], "Poisson arrivals: independent users", ArrivalProcess::Exponential),
    (&["uniform"], "Uniform between 0 and twice the mean", ArrivalProcess::Uniform),
    (&["constant"], "Constant", ArrivalProcess::Constant),
];

impl StorageTestArguments {
    /// Returns how the test is repeated.
    pub(crate) const fn measurement_mode(&self) -> MeasurementMode {
        match (self.find_rate, self.steady_state) {
            (Some(goal), _) => MeasurementMode::Search(goal),
            (None, true) => MeasurementMode::Rounds(SteadyRule::SNIA),
            (None, false) => MeasurementMode::Once,
        }
    }
}

/// Returns the operation of this name, which the parser has validated.
fn find_step(name: &str) -> FileStep {
    let all = FileStep::ALL.into_iter();
    all.clone().find(|step| step.name == name).unwrap_or(FileStep::ALL[0])
}

fn parse_read_share(text: &str) -> Result<f64, String> {
    let share = assay_model::quantity::parse_share(text).map_err(|error| error.to_string())?;
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else {
        Err("expected a share between 0% and 100%, like `70%`; use `read` or `write` for only one of them"
            .into())
    }
}
