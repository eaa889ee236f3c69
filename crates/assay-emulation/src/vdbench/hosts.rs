//! Parameter files with remote hosts (`hd=`): an agent on each host carries out its part of all
//! runs.
//!
//! Hosts are reached by ssh regardless of `shell=`, or by the command of `--via`. Nothing listens
//! on them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_dialects::vdbench::diagnostic::Diagnostic;
use assay_dialects::vdbench::{
    self, PathInfo, UsedHost, VdbenchEnv, VdbenchExecution, VdbenchInput, host_path,
};
use assay_fleet::remote::agents::{self, HostConnections};
use assay_fleet::remote::controller::ConnectionOptions;
use assay_fleet::remote::{Program, Via};
use assay_kernels::clock;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::storage::shares::storage_hosts::StorageHosts;
use fs_err as fs;

use super::{execute, load_file, read_and_compile, report_diagnostics};
use crate::options::vdbench::VdbenchArguments;
use crate::signals;
use crate::terminal::Terminal;

/// Hosts of which at least one is remote.
pub(super) struct RemoteHosts {
    /// Labels, in the order of the execution.
    names: Vec<String>,
    via: Via,
    /// Paths that each host examines.
    paths: Vec<Vec<PathBuf>>,
}

/// Returns the hosts of the parameter files if any of them is remote, and marks the input as
/// distributed. Errors in the files are reported later, when they are read.
pub(super) fn find_remote_hosts(
    input: &mut VdbenchInput,
    typed: &VdbenchArguments,
    terminal: &mut Terminal,
) -> Result<Option<RemoteHosts>, CommandFailure> {
    let Ok(execution) = compile_assuming_paths(input) else { return Ok(None) };
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own = own.trim().to_ascii_lowercase();
    let names_any = execution.hosts.iter().any(|host| host.location.is_some());
    if typed.via.is_some() && !names_any {
        return Err(CommandFailure::usage(
            "--via needs hosts, but the parameter file has none",
        )
        .with_reason("without hd= everything would run on this machine")
        .advise("name them: hd=vm1,system=vm1 before the storage, and host=vm1 at each sd=")
        .advise("leave out --via to measure here"));
    }
    let far = execution.hosts.iter().find(|host| !is_local(&host.system, &own));
    if far.is_none() && typed.via.is_none() {
        return Ok(None);
    }
    let template = typed
        .via
        .as_deref()
        .map(Via::parse)
        .transpose()
        .map_err(|error| CommandFailure::usage("cannot use --via").with_cause(&error))?;
    let own_words = |host: &UsedHost| match &template {
        Some(via) => via.words(&host.system),
        None if is_local(&host.system, &own) => vec!["env".to_owned()],
        None => ssh_words(host),
    };
    let words: BTreeMap<String, Vec<String>> =
        execution.hosts.iter().map(|host| (host.label.clone(), own_words(host))).collect();
    (input.is_apart, input.submitters) = (true, u32::MAX);
    let mut paths = vec![BTreeSet::new(); execution.hosts.len()];
    // Settings that hosts cannot carry out together are reported before connecting.
    let apart =
        compile_assuming_paths(input).map_err(|wrong| report_diagnostics(&wrong, terminal))?;
    for (host, target) in apart.placed_targets() {
        paths[host.unwrap_or(0)].insert(target.path.clone());
    }
    Ok(Some(RemoteHosts {
        names: execution.hosts.into_iter().map(|host| host.label).collect(),
        via: Via::with_host_commands(words),
        paths: paths.into_iter().map(|it| it.into_iter().collect()).collect(),
    }))
}

fn ssh_words(host: &UsedHost) -> Vec<String> {
    let login = host.user.iter().flat_map(|user| ["-l", user.as_str()]);
    let words = ["ssh", "-o", "BatchMode=yes"].into_iter().chain(login);
    words.chain([host.system.as_str()]).map(str::to_owned).collect()
}

/// Compiles the files under the assumption that all named paths exist.
fn compile_assuming_paths(input: &VdbenchInput) -> Result<VdbenchExecution, Vec<Diagnostic>> {
    let mut look = |_: &Path| Some(PathInfo { bytes: 1 << 40, device: false });
    vdbench::compile_files(
        input,
        &mut VdbenchEnv { read_file: &mut load_file, inspect: &mut look },
    )
}

fn is_local(system: &str, own: &str) -> bool {
    let system = system.to_ascii_lowercase();
    let short = own.split('.').next().unwrap_or_default();
    let is_loopback = matches!(system.as_str(), "localhost" | "127.0.0.1" | "::1");
    is_loopback || (!own.is_empty() && (system == own || system == short))
}

impl RemoteHosts {
    /// Executes the runs on all hosts.
    pub(super) fn execute(
        &self,
        typed: &VdbenchArguments,
        input: &VdbenchInput,
        terminal: &mut Terminal,
    ) -> Result<u8, CommandFailure> {
        let program = Program::running().map_err(|error| {
            CommandFailure::new(FailureKind::Internal, "cannot read this executable")
                .with_cause(&error)
        })?;
        let stop = signals::cancel_on_signals()?;
        let deadline = Duration::from_secs_f64(typed.host_deadline);
        let course = ConnectionOptions {
            via: &self.via,
            program: &program,
            relays: &[],
            deadline,
            cancel: &stop,
        };
        let body = |hosts: &mut dyn HostConnections| {
            let mut sharers = StorageHosts::gather(&self.names, hosts, deadline, &stop)?;
            let looked = sharers.inspect_paths(&self.paths, &stop)?;
            let mut present = BTreeMap::new();
            for ((name, paths), found) in self.names.iter().zip(&self.paths).zip(looked) {
                for (path, at) in paths.iter().zip(found) {
                    let at = at.map(|at| PathInfo { bytes: at.bytes, device: at.is_device });
                    present.insert(host_path(name, path), at);
                }
            }
            let at = |path: &Path| present.get(path).copied().flatten();
            let (execution, found) = read_and_compile(input, &at, terminal)?;
            let with = (&found, Some(&mut sharers));
            execute::execute(typed, (input, &execution), with, &stop, terminal)
        };
        agents::with_hosts(&self.names, &course, clock::now_ns, body)
    }
}
