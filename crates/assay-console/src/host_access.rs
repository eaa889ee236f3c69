//! Access to other hosts: their names, the transports to them, and this program's executables.
//!
//! Allocates the nodes if Slurm is asked; never connects to a host.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_fleet::fleet_file::{self, FleetHost};
use assay_fleet::hosts;
use assay_fleet::remote::connection_options::ConnectionOptions;
use assay_fleet::remote::{HostFailure, Program, Via};
use assay_fleet::slurm::{Allocation, SlurmError};
use assay_model::path_text;
use assay_report::build::UnreachableHost;
use assay_report::words;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::job_file;

use crate::options::HostsArguments;
use crate::terminal::Terminal;

/// Hosts, and the transport to them.
#[derive(Debug)]
pub struct HostAccess {
    /// The hosts, in the order in which they were named.
    pub hosts: Vec<FleetHost>,
    via: Via,
    program: Program,
    deadline: Duration,
    /// Slurm allocation, released when the value is dropped.
    _nodes: Option<Allocation>,
}

impl HostAccess {
    /// Resolves the options: lists, fleet files, Slurm's nodes, transports and executables.
    ///
    /// # Errors
    /// Invalid names, transports or executables; nodes that Slurm does not allocate.
    pub fn resolve(
        typed: &HostsArguments,
        cancel: &AtomicBool,
        terminal: &mut Terminal,
    ) -> Result<Self, CommandFailure> {
        let nodes = match (&typed.hosts, &typed.slurm) {
            (None, Some(request)) => Some(allocate_nodes(request, cancel, terminal)?),
            _ => None,
        };
        let list = nodes.as_ref().map(|it| &it.nodes).or(typed.hosts.as_ref());
        let hosts = read_hosts(list.map_or("", String::as_str))?;
        let via = match &nodes {
            Some(nodes) => typed.via.replace("{job}", &nodes.number),
            None => typed.via.clone(),
        };
        Ok(Self {
            via: parse_transports(&via, &typed.via, &hosts)?,
            program: read_program(&typed.binary)?,
            deadline: Duration::from_secs_f64(typed.host_deadline),
            hosts,
            _nodes: nodes,
        })
    }

    /// Returns the names of the hosts.
    pub fn names(&self) -> Vec<String> {
        self.hosts.iter().map(|host| host.name.clone()).collect()
    }

    /// Returns the options of the connections to the hosts, through these relays.
    pub const fn connection_options<'a>(
        &'a self,
        relays: &'a [String],
        cancel: &'a AtomicBool,
    ) -> ConnectionOptions<'a> {
        let Self { via, program, deadline, .. } = self;
        ConnectionOptions { via, program, relays, deadline: *deadline, cancel }
    }
}

/// Waits until Slurm allocates the requested nodes.
fn allocate_nodes(
    request: &str,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<Allocation, CommandFailure> {
    terminal.note(words::message("slurm-waiting"));
    let nodes = Allocation::request(request, cancel).map_err(|error| {
        let failure = match error {
            SlurmError::InvalidOption { .. } => CommandFailure::usage("cannot use --slurm"),
            _ => CommandFailure::measurement("cannot allocate Slurm nodes"),
        };
        failure.with_cause(&error).advise(error.advice())
    })?;
    let arguments = [("nodes", nodes.nodes.as_str()), ("job", nodes.number.as_str())];
    terminal.note(&words::sentence("slurm-gave", &arguments));
    Ok(nodes)
}

/// Reads a list of hosts, or a fleet file.
fn read_hosts(list: &str) -> Result<Vec<FleetHost>, CommandFailure> {
    if list.ends_with(".toml") {
        return read_fleet_file(list.strip_prefix('@').unwrap_or(list));
    }
    let names = hosts::parse(list).map_err(|error| {
        CommandFailure::usage("cannot use --hosts").with_cause(&error).advise(error.advice())
    })?;
    Ok(names.iter().map(|name| FleetHost::from_name(name)).collect())
}

fn read_fleet_file(file: &str) -> Result<Vec<FleetHost>, CommandFailure> {
    let path = &path_text::decode_path(file);
    let text =
        job_file::read_text(path).map_err(|error| job_file::unreadable_error(path, &error))?;
    fleet_file::parse(&text).map_err(|error| {
        let file = path.display().to_string();
        CommandFailure::usage(format!("fleet file {file}: {error}"))
            .at_span(&file, &text, error.span.clone())
            .advise(error.help)
    })
}

/// Parses the common transport and those of single hosts; `typed` is the user's text.
fn parse_transports(
    common: &str,
    typed: &str,
    hosts: &[FleetHost],
) -> Result<Via, CommandFailure> {
    let mut via = Via::parse(common).map_err(|error| {
        CommandFailure::usage(format!("cannot use --via {typed:?}")).with_cause(&error)
    })?;
    for host in hosts {
        if let Some(host_via) = &host.via {
            // Already checked when the file was read.
            let host_via = Via::parse(host_via)
                .map_err(|error| CommandFailure::usage(host_via).with_cause(&error))?;
            via.set_host_command(&host.name, &host_via);
        }
    }
    Ok(via)
}

/// Reads the executable that the hosts start, with those for other architectures: the named ones,
/// then those installed together with this one.
///
/// # Errors
/// A file that cannot be read, or is no executable of this version.
pub fn read_program(others: &[PathBuf]) -> Result<Program, CommandFailure> {
    let mut program = Program::running().map_err(|error| {
        CommandFailure::new(FailureKind::Internal, "cannot read this executable")
            .with_cause(&error)
    })?;
    for file in others {
        program.add_builds(file).map_err(|error| {
            CommandFailure::usage(format!("cannot use --binary {}", file.display()))
                .with_cause(&error)
                .advise("name an executable of assay for the other architecture, or a folder of them")
        })?;
    }
    program.add_installed_builds();
    Ok(program)
}

/// Describes a host that cannot be reached, for a document.
pub fn describe_unreachable<'a>(name: &'a str, failure: &HostFailure) -> UnreachableHost<'a> {
    let (reason, advice) = (failure_reason(failure), failure.advice().to_owned());
    UnreachableHost { name, reason, advice }
}

/// Returns the reason of a host's failure, with its cause.
pub fn failure_reason(failure: &HostFailure) -> String {
    let what = CommandFailure::measurement(failure.to_string());
    match std::error::Error::source(failure) {
        Some(source) => what.with_cause(source).reason(),
        None => what.reason(),
    }
}
