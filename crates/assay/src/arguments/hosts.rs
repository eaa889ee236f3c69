//! What may be typed where other hosts take part.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::seconds;

/// Other hosts and the way to them.
#[derive(Debug, Args)]
pub(crate) struct HostsArguments {
    /// Hosts: a list like vm1,vm[2-24], a file of lists (with a / in its name), or slurm
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
}

/// What becomes of a run of which a host fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnHostFailure {
    /// It goes on with the others
    Continue,
    /// It ends; what was measured to its end is kept
    Stop,
}
