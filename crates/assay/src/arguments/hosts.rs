//! What may be typed where other hosts take part.

use std::path::PathBuf;

use assay_fleet::pairs::Matrix;
use clap::{Args, ValueEnum};

use super::seconds;

/// Other hosts and the way to them.
#[derive(Debug, Args)]
pub(crate) struct HostsArguments {
    /// Hosts: a list like vm1,vm[2-24], a fleet file (.toml), a file of lists (with a / in its name), or slurm
    #[arg(long, value_name = "LIST", help_heading = "Hosts")]
    pub(crate) hosts: Option<String>,
    /// Command that gives a pipe to a process on a host, like 'kubectl exec -i {host} --'
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "ssh -o BatchMode=yes {host}",
        requires = "hosts",
        help_heading = "Hosts"
    )]
    pub(crate) via: String,
    /// How long a host may take to answer
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        value_parser = seconds,
        requires = "hosts",
        help_heading = "Hosts"
    )]
    pub(crate) host_deadline: f64,
}

/// A run on several hosts.
#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    #[command(flatten)]
    pub(crate) hosts: HostsArguments,
    /// What becomes of the run when a host fails
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value_t = OnHostFailure::Continue,
        requires = "hosts",
        help_heading = "Hosts"
    )]
    pub(crate) on_host_failure: OnHostFailure,
    /// How long a case may take on any host [default: as long as it does, if others take as long]
    #[arg(
        long,
        value_name = "TIME",
        value_parser = seconds,
        requires = "hosts",
        help_heading = "Hosts"
    )]
    pub(crate) case_deadline: Option<f64>,
    /// Write the hosts that are lost or worse than their peers to this file, in one line, as
    /// `scontrol update NodeName=$(cat FILE) State=DRAIN Reason=assay` takes them
    #[arg(long, value_name = "FILE", requires = "hosts", help_heading = "Hosts")]
    pub(crate) drain_list: Option<PathBuf>,
    /// Measure the network from one host to another: pairs like a:b,c:d; with a + between them together
    #[arg(
        long,
        value_name = "LIST",
        requires = "hosts",
        conflicts_with_all = ["matrix", "to"],
        help_heading = "Hosts"
    )]
    pub(crate) pairs: Option<String>,
    /// Measure the network between all hosts
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        requires = "hosts",
        conflicts_with = "to",
        help_heading = "Hosts"
    )]
    pub(crate) matrix: Option<MatrixArgument>,
}

/// Which pairs of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatrixArgument {
    /// From every host to every other one, pair by pair
    All,
    /// From every host to the next one, pair by pair
    Ring,
    /// From the first half of the hosts to the second half, all at once
    Bisection,
}

impl MatrixArgument {
    pub(crate) const fn meant(self) -> Matrix {
        match self {
            Self::All => Matrix::All,
            Self::Ring => Matrix::Ring,
            Self::Bisection => Matrix::Bisection,
        }
    }
}

/// What becomes of a run of which a host fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnHostFailure {
    /// It goes on with the others
    Continue,
    /// It ends; what was measured to its end is kept
    Stop,
}
