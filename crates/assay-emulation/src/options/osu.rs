//! Options of `assay mpi`: OSU's options with OSU's meaning, and assay's own.

mod topology;
pub(super) mod unsupported;
mod unsupported_benchmarks;

use std::path::PathBuf;

use assay_dialects::osu::HELLO_TITLE;
use assay_model::benchmark::{MpiTest, NeighborTopology, RmaSynchronization, WindowCreation};
use assay_model::quantity::Bytes;
use assay_model::workload::MpiPreset;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use self::topology::parse_topology;
use self::unsupported::UnsupportedMpiArguments;
pub use self::unsupported_benchmarks::find_unsupported_benchmark;
use assay_console::options::{RecordArguments, parse_seconds};

#[derive(Debug, Args)]
pub struct MpiArguments {
    /// Benchmark, named like OSU's programs
    #[arg(value_name = "BENCHMARK", value_parser = program_parser())]
    pub program: MpiProgram,
    /// Method: assay's records every batch and gives intervals; OSU's gives one figure
    #[arg(long, value_enum, default_value_t = PresetArgument::Assay)]
    pub preset: PresetArgument,
    /// Message sizes, like 1:4MiB, :8KiB, or 1MiB for the maximum only [default: as OSU]
    #[arg(short = 'm', long = "message-size", value_name = "MIN:MAX", value_parser = parse_sizes)]
    pub sizes: Option<MessageSizeRange>,
    /// Iterations timed together [default: with assay's method as many as fit a millisecond,
    /// otherwise as OSU]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub iterations: Option<u64>,
    /// Warm-up iterations, not timed [default: as OSU]
    #[arg(short = 'x', long = "warmup", value_name = "N")]
    pub warm_up: Option<u64>,
    /// Window size of bandwidth tests: messages in flight [default: 64]
    #[arg(short = 'W', long = "window-size", value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub window: Option<u32>,
    /// Bandwidth tests: one buffer for all messages of a window, or one each
    #[arg(short, long = "buffer-num", value_enum, ignore_case = true)]
    pub buffers: Option<BufferNumber>,
    /// One-sided benchmarks: creation of the window [default: as OSU: allocate, create for get_acc_latency]
    #[arg(short = 'w', long = "win-options", value_enum, ignore_case = true)]
    pub window_creation: Option<WindowArgument>,
    /// One-sided benchmarks: synchronisation [default: as OSU: flush, lock for get_acc_latency, pscw for put_bibw]
    #[arg(short = 's', long = "sync-option", value_enum, ignore_case = true)]
    pub synchronization: Option<SynchronizationArgument>,
    /// Non-blocking collectives: number of MPI_Test calls during the computation; latency_mt, latency_mp:
    /// threads or forked processes of the receiver, or N:M of sender and receiver [default: 1:2, 2:2]
    #[arg(short = 't', long = "num-test-calls", value_name = "N", value_parser = CallsOrWorkers::parse)]
    pub calls_or_workers: Option<CallsOrWorkers>,
    /// Neighbourhood collectives: cart:DIMENSIONS:RADIUS, or graph:FILE with a line FROM,TO for each edge
    /// [default: cart:1:1]
    #[arg(short = 'N', long = "nhbr", value_name = "TOPOLOGY", value_parser = parse_topology)]
    pub topology: Option<NeighborTopology>,
    /// Print the emulated version of OSU's program and the version of assay
    #[arg(short = 'v', long = "version")]
    pub tell_version: bool,
    /// Initialise with MPI_Session_init (MPI 4)
    #[arg(short = 'I', long = "session")]
    pub process_set: bool,
    /// Validate the contents of every message, in a separate pass
    #[arg(short = 'c', long = "validation")]
    pub validate: bool,
    /// With -c: warm-up iterations before those that are validated
    #[arg(short = 'u', long = "validation-warmup", value_name = "N", default_value_t = 5)]
    pub validation_warm_up: u64,
    /// Full output. Collectives: also minimum and maximum over the ranks, and iterations; non-blocking ones:
    /// also the times of start, test and wait
    #[arg(short, long)]
    pub full: bool,
    /// Percentiles of single messages, calls or windows, timed one by one in a separate pass
    #[arg(short = 'z', long = "tail-lat", value_name = "P,P,…", num_args = 0..=1,
        default_missing_value = "50,90,99", value_delimiter = ',', value_parser = parse_percentile)]
    pub percentiles: Vec<f64>,
    /// Data type of reductions [default: floats, integers with osu-7]; other messages are bytes
    #[arg(short = 'T', long = "type", value_enum, ignore_case = true)]
    pub element: Option<ElementType>,
    /// Time budget for all sizes together, like 20s; only for assay's own method
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, default_value = "20s")]
    pub budget: f64,
    /// Installation prefix of the MPI to use [default: that of the launcher]
    #[arg(long = "mpi", value_name = "PREFIX", conflicts_with = "library")]
    pub prefix: Option<PathBuf>,
    /// Path of the MPI library to use
    #[arg(long = "mpi-library", value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Write every sample to this file as JSON and print nothing
    #[arg(long, value_name = "FILE", hide = true, conflicts_with = "json")]
    pub raw: Option<PathBuf>,
    #[command(flatten)]
    pub keep: RecordArguments,
    #[command(flatten)]
    pub refused: UnsupportedMpiArguments,
}

/// Program of OSU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MpiProgram {
    /// Benchmark.
    Test(MpiTest),
    /// Initialises the library and prints the number of ranks.
    Hello,
}

impl MpiProgram {
    const HELLO: &str = "hello";

    /// Returns the program with a name after `osu_`.
    pub fn from_name(name: &str) -> Option<Self> {
        let hello = (name == Self::HELLO).then_some(Self::Hello);
        hello.or_else(|| MpiTest::from_name(name).map(Self::Test))
    }

    /// Returns the name after `osu_`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Test(test) => test.name(),
            Self::Hello => Self::HELLO,
        }
    }

    /// Returns the title that the program prints.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Test(test) => test.osu_title(),
            Self::Hello => HELLO_TITLE,
        }
    }

    /// Returns the benchmark; that of the initialisation for the program that does no more.
    pub const fn test(self) -> MpiTest {
        match self {
            Self::Test(test) => test,
            Self::Hello => MpiTest::Init,
        }
    }
}

/// Measurement method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PresetArgument {
    /// Batches until the median is known to 1 %, and single messages
    Assay,
    /// OSU 5.4.3: one figure from a fixed number of iterations, timed together
    #[value(name = "osu-5.4.3")]
    Osu5,
    /// OSU 7: the same, but the clock is read around every iteration
    #[value(name = "osu-7")]
    Osu7,
}

impl PresetArgument {
    /// Returns the preset in its stored form.
    pub const fn to_preset(self) -> MpiPreset {
        match self {
            Self::Assay => MpiPreset::Assay,
            Self::Osu5 => MpiPreset::Osu5,
            Self::Osu7 => MpiPreset::Osu7,
        }
    }
}

/// Buffers of the messages in a window, in OSU's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BufferNumber {
    /// One buffer for all
    Single,
    /// One buffer each
    Multiple,
}

/// Creation of the window that ranks access, in OSU's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WindowArgument {
    /// By MPI_Win_create
    Create,
    /// By MPI_Win_allocate
    Allocate,
    /// By MPI_Win_create_dynamic
    Dynamic,
}

impl WindowArgument {
    pub const fn to_creation(self) -> WindowCreation {
        match self {
            Self::Create => WindowCreation::Create,
            Self::Allocate => WindowCreation::Allocate,
            Self::Dynamic => WindowCreation::Dynamic,
        }
    }
}

/// Synchronisation of one-sided operations, in OSU's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SynchronizationArgument {
    /// MPI_Win_lock and MPI_Win_unlock around each turn
    Lock,
    /// MPI_Win_flush after each turn
    Flush,
    /// MPI_Win_flush_local after each turn
    #[value(name = "flush_local")]
    FlushLocal,
    /// MPI_Win_lock_all and MPI_Win_unlock_all around each turn
    #[value(name = "lock_all")]
    LockAll,
    /// MPI_Win_post, start, complete and wait
    Pscw,
    /// MPI_Win_fence
    Fence,
}

impl SynchronizationArgument {
    pub const fn to_synchronization(self) -> RmaSynchronization {
        match self {
            Self::Lock => RmaSynchronization::Lock,
            Self::Flush => RmaSynchronization::Flush,
            Self::FlushLocal => RmaSynchronization::FlushLocal,
            Self::LockAll => RmaSynchronization::LockAll,
            Self::Pscw => RmaSynchronization::Pscw,
            Self::Fence => RmaSynchronization::Fence,
        }
    }
}

/// Element type of reductions, in OSU's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ElementType {
    /// 32-bit integers
    #[value(name = "mpi_int", alias = "int")]
    Integer,
    /// Single precision
    #[value(name = "mpi_float", alias = "float")]
    Float,
    /// Bytes, for all operations but reductions
    #[value(name = "mpi_char", alias = "char")]
    Byte,
}

/// Value of `-t`: one number, or the threads or processes of two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallsOrWorkers {
    /// Calls of `MPI_Test`, or threads or processes of the receiver.
    One(u32),
    /// Threads or processes of the sender and of the receiver.
    Pair(u32, u32),
}

impl CallsOrWorkers {
    /// Maximum number of calls of `MPI_Test`, as protection against typing errors.
    const MAX_CALLS: u32 = 1_000_000;

    fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.parse::<u32>() {
            Ok(number) if (1..=Self::MAX_CALLS).contains(&number) => Ok(number),
            _ => Err(format!(
                "expected a number from 1 to {}, or two like 4:6, found {text:?}",
                Self::MAX_CALLS
            )),
        };
        match text.split_once(':') {
            Some((first, second)) => Ok(Self::Pair(number(first)?, number(second)?)),
            None => number(text).map(Self::One),
        }
    }
}

/// Range of message sizes; bounds that are not given are the preset's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageSizeRange {
    pub minimum_bytes: Option<u64>,
    pub maximum_bytes: Option<u64>,
}

fn program_parser() -> impl TypedValueParser<Value = MpiProgram> {
    let known = MpiTest::ALL.into_iter().map(MpiTest::name).chain([MpiProgram::HELLO]);
    let known = known.map(PossibleValue::new);
    let refused =
        unsupported_benchmarks::names().map(|name| PossibleValue::new(name).hide(true));
    PossibleValuesParser::new(known.chain(refused)).try_map(|name| {
        MpiProgram::from_name(&name).ok_or_else(|| unsupported_benchmarks::explain(&name))
    })
}

/// Parses `MIN:MAX`, `MIN:`, `:MAX`, or a maximum only, as OSU does.
fn parse_sizes(text: &str) -> Result<MessageSizeRange, String> {
    let size = |text: &str| -> Result<Option<u64>, String> {
        match text {
            "" => Ok(None),
            text => text.parse::<Bytes>().map(|size| Some(size.0)).map_err(|e| e.to_string()),
        }
    };
    let (minimum, maximum) = text.split_once(':').unwrap_or(("", text));
    let sizes =
        MessageSizeRange { minimum_bytes: size(minimum)?, maximum_bytes: size(maximum)? };
    match sizes {
        MessageSizeRange { minimum_bytes: None, maximum_bytes: None } => {
            Err("expected sizes like 1:4MiB, the smallest first".to_owned())
        }
        MessageSizeRange { minimum_bytes: Some(minimum), maximum_bytes: Some(maximum) }
            if minimum > maximum =>
        {
            Err(format!("{minimum} B is more than {maximum} B; write the smallest first"))
        }
        sizes => Ok(sizes),
    }
}

fn parse_percentile(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent),
        _ => Err("expected a number between 0 and 100, like 99.9".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_sizes_like_osu() {
        for (text, expected) in [
            ("1:8", Some((Some(1), Some(8)))),
            ("1:4MiB", Some((Some(1), Some(4 << 20)))),
            (":8KiB", Some((None, Some(8192)))),
            ("64:", Some((Some(64), None))),
            ("1024", Some((None, Some(1024)))),
            ("8:1", None),
            (":", None),
            ("", None),
            ("a:b", None),
        ] {
            let read =
                parse_sizes(text).ok().map(|sizes| (sizes.minimum_bytes, sizes.maximum_bytes));
            assert_eq!(read, expected, "{text}");
        }
    }
}
