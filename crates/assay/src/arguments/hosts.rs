//! Options of runs with other hosts.

use std::path::PathBuf;

use assay_console::options::HostsArguments;
use assay_fleet::pairs::PairMatrix;
use clap::{Args, ValueEnum};

use super::parse_seconds;
use super::values::{Choice, one_of};

/// Options of a run on several hosts.
#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    #[command(flatten)]
    pub(crate) hosts: HostsArguments,
    /// Action if a host fails
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value_t = OnHostFailure::Continue,
        requires = "several",
        help_heading = "Hosts"
    )]
    pub(crate) on_host_failure: OnHostFailure,
    /// Maximum time of a case on any host [default: no limit while other hosts take as long]
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_seconds,
        requires = "several",
        help_heading = "Hosts"
    )]
    pub(crate) case_deadline: Option<f64>,
    /// Write hosts that are lost, worse than their peers or beyond a gate of --expect to this file, in one
    /// line for `scontrol update NodeName=$(cat FILE) State=DRAIN Reason=assay`
    #[arg(long, value_name = "FILE", requires = "several", help_heading = "Hosts")]
    pub(crate) drain_list: Option<PathBuf>,
    /// Machines that reach the hosts by --via, an equal part each, and relay their messages: for
    /// thousands of hosts, or for hosts that this machine cannot reach
    #[arg(
        long,
        value_name = "LIST",
        requires = "several",
        conflicts_with = "binary",
        help_heading = "Hosts"
    )]
    pub(crate) relays: Option<String>,
    /// Measure the network, RDMA or MPI from one host to another: pairs like a:b,c:d; pairs joined
    /// by + run at the same time
    #[arg(
        long,
        value_name = "LIST",
        requires = "several",
        conflicts_with_all = ["matrix", "to"],
        help_heading = "Hosts"
    )]
    pub(crate) pairs: Option<String>,
    /// Measure the network, RDMA or MPI between all hosts
    #[arg(
        long,
        value_parser = one_of(&MATRICES),
        value_name = "WHICH",
        requires = "several",
        conflicts_with = "to",
        help_heading = "Hosts"
    )]
    pub(crate) matrix: Option<PairMatrix>,
}

const MATRICES: [Choice<PairMatrix>; 4] = [
    (&["all"], "From every host to every other one, pair by pair", PairMatrix::All),
    (&["ring"], "From every host to the next one, pair by pair", PairMatrix::Ring),
    (
        &["neighbours", "neighbors"],
        "Like ring, in two or three rounds of pairs that share no host and are measured together",
        PairMatrix::Neighbours,
    ),
    (
        &["bisection"],
        "From the first half of the hosts to the second half, all at once",
        PairMatrix::Bisection,
    ),
];

/// Action after the failure of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnHostFailure {
    /// Continue with the others
    Continue,
    /// Stop the run; keep completed measurements
    Stop,
}
