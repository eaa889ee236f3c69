//! Options of `assay plan`: calculations before a measurement, and from stored runs.

use assay_console::options::{StoreArguments, parse_milliseconds};
use assay_model::quantity::Unit;
use assay_model::sizing::{ServiceLevel, VolumeKind};
use clap::{ArgGroup, Args, Subcommand};

use super::values::{Bandwidth, Choice, one_of, parse_positive, parse_rate};
use super::{BriefPageArguments, parse_margin};

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(subcommand)]
    pub(crate) what: PlanCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Rate, latency and I/O in flight: any two give the third
    #[command(visible_alias = "little")]
    LittlesLaw(LittlesLawArguments),
    /// Quota and throughput of an Azure NetApp Files volume: one gives the other
    Anf(AnfArguments),
    /// Repetitions of stored runs: which one narrows the interval most for its time, and how many runs
    /// find a difference
    Runs(RepetitionArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RepetitionArguments {
    /// Stored runs of the same suite under one condition: runs or a label
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Relative difference between two conditions that is to be found
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = parse_margin)]
    pub(crate) difference: f64,
    /// Only this metric, like triad or memory.stream/triad [default: the main results]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    #[command(flatten)]
    pub(crate) answer: BriefPageArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
pub(crate) struct LittlesLawArguments {
    /// I/O per second, like 3500 or 300k
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) rate: Option<f64>,
    /// Time per I/O, like 1.14ms
    #[arg(long, value_name = "TIME", value_parser = parse_milliseconds)]
    pub(crate) latency: Option<f64>,
    /// I/O in flight: threads with one I/O each, or depth × jobs
    #[arg(long, aliases = ["in-flight", "threads"], value_name = "N", value_parser = parse_count)]
    pub(crate) depth: Option<f64>,
    #[command(flatten)]
    pub(crate) answer: BriefPageArguments,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("given").required(true).args(["throughput", "quota"])))]
pub(crate) struct AnfArguments {
    /// Required throughput, like 4500MiB/s: prints the necessary quota
    #[arg(long, value_name = "BANDWIDTH", value_parser = Bandwidth::parse)]
    pub(crate) throughput: Option<Bandwidth>,
    /// Quota, like 10TiB: prints the resulting throughput
    #[arg(long, value_name = "SIZE", value_parser = parse_quota)]
    pub(crate) quota: Option<f64>,
    /// Service level
    #[arg(long, alias = "service-level", value_parser = one_of(&LEVELS), ignore_case = true)]
    pub(crate) level: ServiceLevel,
    /// Kind of volume, which limits its throughput
    #[arg(long, value_parser = one_of(&VOLUMES), default_value = "regular")]
    pub(crate) volume: VolumeKind,
    /// Round trip to the volume, like 0.5ms: prints the necessary TCP window
    #[arg(long, value_name = "TIME", value_parser = parse_milliseconds)]
    pub(crate) round_trip: Option<f64>,
    /// Connections of the mount (nconnect), or of all clients together
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) connections: u32,
    #[command(flatten)]
    pub(crate) answer: BriefPageArguments,
}

const LEVELS: [Choice<ServiceLevel>; 3] = [
    (&["standard"], "16 MiB/s per TiB", ServiceLevel::Standard),
    (&["premium"], "64 MiB/s per TiB", ServiceLevel::Premium),
    (&["ultra"], "128 MiB/s per TiB", ServiceLevel::Ultra),
];

const VOLUMES: [Choice<VolumeKind>; 2] = [
    (&["regular"], "At most 4500 MiB/s", VolumeKind::Regular),
    (&["large"], "At most 1600, 6400 or 12800 MiB/s, by service level", VolumeKind::Large),
];

/// Parses a quota. It may be fractional, as it is printed: 70.31 TiB is not a whole number of
/// bytes.
fn parse_quota(text: &str) -> Result<f64, String> {
    if text.trim().ends_with(|last: char| last.is_ascii_digit()) {
        return Err(format!("`{text}` has no unit; write it like `{}TiB`", text.trim()));
    }
    parse_positive(text, Unit::Byte)
}

fn parse_count(text: &str) -> Result<f64, String> {
    parse_positive(text, Unit::Count)
}
