//! What may be typed after `storage`, and what every command that writes to storage understands.

use std::path::PathBuf;

use assay_model::quantity::{Bytes, Quantity, Unit};
use assay_model::workload::course::{self, Course, LatencyGoal, SteadyRule};
use assay_model::workload::storage::{Arrivals, EngineChoice};
use clap::{Args, Subcommand, ValueEnum};

use super::{MeasuringArguments, StoreArguments, seconds};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  assay storage read /data --random --bs 4k --depth 64      a file is made in /data, and removed\n  \
                  assay storage write /data/new --bs 1MiB --size 10GiB\n  \
                  assay storage mix /data --read-share 70% --rate 5000      I/O is due 5000 times a second\n  \
                  assay storage read /dev/nvme1n1 --for 60s --by assay,fio\n  \
                  assay storage read --engine null --random                 what the generator itself can do")]
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
    /// Read and write
    Mix(StorageMixArguments),
    /// Remove the files that assay made and that are still there, also after a crash
    Clean(StorageCleanArguments),
}

#[derive(Debug, Args)]
pub(crate) struct StorageTestArguments {
    /// Files, folders to make a file in, or devices
    #[arg(value_name = "TARGET", required_unless_present = "engine")]
    pub(crate) targets: Vec<PathBuf>,
    /// Size of one I/O, like 8k or 1MiB
    #[arg(long, value_name = "SIZE", default_value = "8KiB")]
    pub(crate) bs: Bytes,
    /// Anywhere, every block equally likely [default: one block after another]
    #[arg(long)]
    pub(crate) random: bool,
    /// I/O in flight on each target, all threads together
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub(crate) depth: u32,
    /// Threads that submit
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: u32,
    /// I/O per second that are due, whatever happened to earlier ones [default: as fast as it goes]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// The law of the gaps between I/O that are due
    #[arg(long, value_enum, default_value_t = Gaps::Exponential, requires = "rate")]
    pub(crate) arrivals: Gaps,
    /// Time that counts, like 60s; a tenth more warms up
    #[arg(long = "for", value_name = "TIME", value_parser = seconds, default_value = "10s")]
    pub(crate) length: f64,
    /// Find the greatest rate that keeps a latency, counted from the moment I/O is due, like `p99<=1ms`; every
    /// rate that is tried takes the time of --for
    #[arg(long, value_name = "GOAL", value_parser = LatencyGoal::parse, conflicts_with = "rate")]
    pub(crate) find_rate: Option<LatencyGoal>,
    /// Measure round after round, each of the time of --for, until five of them differ by 20 % at most and
    /// slope by 10 % at most (SNIA), 25 rounds at most
    #[arg(long, conflicts_with = "find_rate")]
    pub(crate) steady_state: bool,
    /// First write all of every target this often, and once more in random order with --random; a
    /// file or a device that assay did not make must be named with --destroy-data
    #[arg(
        long,
        value_name = "PASSES",
        value_parser = course::passes,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2x"
    )]
    pub(crate) precondition: Option<u32>,
    /// How I/O is handed to the kernel
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub(crate) engine: Engine,
    /// Size that a file is made with [default: 1 GiB; 100 GiB with --engine null, where nothing is made]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// Use the page cache; the result says so
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
    #[arg(long, value_name = "SHARE", value_parser = read_share, default_value = "50%")]
    pub(crate) read_share: f64,
    #[command(flatten)]
    pub(crate) test: StorageTestArguments,
}

/// What may be overwritten, and what stays.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StoragePermissions {
    /// Overwrite this device, or this file although assay did not make it; may be given several times
    #[arg(long, value_name = "PATH")]
    pub(crate) destroy_data: Vec<PathBuf>,
    /// Use the root's file system where a volume should be mounted: below /mnt, /media, /srv, /data and the mount
    /// points of /etc/fstab and systemd
    #[arg(long, alias = "allow-unmounted")]
    pub(crate) target_on_root: bool,
    /// Keep the files that are made; `assay storage clean` removes them
    #[arg(long)]
    pub(crate) keep: bool,
}

/// Where questions about storage go.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StorageAimArguments {
    /// A file, a folder or a device that questions about storage go to; may be given several times
    #[arg(long = "target", value_name = "PATH", num_args = 1..)]
    pub(crate) targets: Vec<PathBuf>,
    /// Size that files for questions about storage are made with [default: as the suite says, or 1 GiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// What the volume is provisioned for, like 4500MiB/s
    #[arg(long = "ceiling", value_name = "RATE", value_parser = bandwidth)]
    pub(crate) provisioned: Option<f64>,
    #[command(flatten)]
    pub(crate) permissions: StoragePermissions,
}

#[derive(Debug, Args)]
pub(crate) struct StorageCleanArguments {
    /// Only tell which files there are
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// The best that the kernel grants
    Auto,
    /// Submission and completion rings
    #[value(name = "io_uring")]
    IoUring,
    /// io_submit and io_getevents
    Libaio,
    /// One blocking call per thread
    Threads,
    /// Nothing is opened: what the generator itself costs
    Null,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Gaps {
    /// Independent users
    Exponential,
    /// Equally likely between 0 and twice the mean
    Uniform,
    /// All the same
    Constant,
}

impl StorageTestArguments {
    /// How often it is measured.
    pub(crate) const fn course(&self) -> Course {
        match (self.find_rate, self.steady_state) {
            (Some(goal), _) => Course::Search(goal),
            (None, true) => Course::Rounds(SteadyRule::SNIA),
            (None, false) => Course::Once,
        }
    }
}

impl Engine {
    pub(crate) const fn choice(self) -> EngineChoice {
        match self {
            Self::Auto => EngineChoice::Auto,
            Self::IoUring => EngineChoice::IoUring,
            Self::Libaio => EngineChoice::Libaio,
            Self::Threads => EngineChoice::Threads,
            Self::Null => EngineChoice::Null,
        }
    }
}

impl Gaps {
    pub(crate) const fn arrivals(self) -> Arrivals {
        match self {
            Self::Exponential => Arrivals::Exponential,
            Self::Uniform => Arrivals::Uniform,
            Self::Constant => Arrivals::Constant,
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    positive(text, Unit::IoPerSecond)
}

fn bandwidth(text: &str) -> Result<f64, String> {
    if text.trim().ends_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("`{text}` has no unit; write it like `4500MiB/s`"));
    }
    positive(text, Unit::BytePerSecond)
}

fn positive(text: &str, unit: Unit) -> Result<f64, String> {
    let value = Quantity::parse(text, unit).map_err(|error| error.to_string())?.value;
    if value > 0.0 { Ok(value) } else { Err("it must be more than zero".into()) }
}

fn read_share(text: &str) -> Result<f64, String> {
    let share = assay_model::quantity::ratio(text).map_err(|error| error.to_string())?;
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else {
        Err("it must lie between 0% and 100%, like `70%`; `read` and `write` do only one of them"
            .into())
    }
}
