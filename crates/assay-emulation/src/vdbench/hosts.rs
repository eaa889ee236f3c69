//! Parameter files with remote hosts (`hd=`): an agent on each host executes its part of all runs.
//!
//! Hosts are reached by ssh regardless of `shell=`, or by the command of `--via`. The agents open no
//! port.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_console::host_access::read_program;
use assay_dialects::vdbench::diagnostic::Diagnostic;
use assay_dialects::vdbench::{
    self, PathInfo, UsedHost, VdbenchEnv, VdbenchExecution, VdbenchInput, host_path,
};
use assay_fleet::remote::Via;
use assay_fleet::remote::agents;
use assay_fleet::remote::connection_options::ConnectionOptions;
use assay_fleet::remote::host_events::HostConnections;
use assay_kernels::clock;
use assay_run::failure::CommandFailure;
use assay_run::storage::shares::storage_hosts::StorageHosts;
use fs_err as fs;

use super::{execute, load_file, read_and_compile, report_diagnostics};
use crate::options::vdbench::VdbenchArguments;
use crate::signals;
use crate::terminal::Terminal;

/// Hosts of which at least one is remote.
pub(super) struct RemoteHosts {
    /// Labels of the hosts, in the order of the execution.
    names: Vec<String>,
    via: Via,
    /// Paths of the targets of each host, which it inspects before the execution.
    paths: Vec<Vec<PathBuf>>,
}

/// Returns the hosts of the parameter files if any of them is remote, and marks the input as
/// distributed. `None` for files with errors too, which are reported when the files are read.
pub(super) fn find_remote_hosts(
    input: &mut VdbenchInput,
    typed: &VdbenchArguments,
    terminal: &mut Terminal,
) -> Result<Option<RemoteHosts>, CommandFailure> {
    let Ok(execution) = compile_assuming_paths(input) else { return Ok(None) };
    let own_name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own_name = own_name.trim().to_ascii_lowercase();
    let has_named_system = execution.hosts.iter().any(|host| host.location.is_some());
    if typed.via.is_some() && !has_named_system {
        return Err(CommandFailure::usage(
            "--via needs hosts, but the parameter file has none",
        )
        .with_reason("without hd= everything would run on this machine")
        .advise("name them: hd=vm1,system=vm1 before the storage, and host=vm1 at each sd=")
        .advise("leave out --via to measure here"));
    }
    let remote = execution.hosts.iter().find(|host| !is_local(&host.system, &own_name));
    if remote.is_none() && typed.via.is_none() {
        return Ok(None);
    }
    let template = typed
        .via
        .as_deref()
        .map(Via::parse)
        .transpose()
        .map_err(|error| CommandFailure::usage("cannot use --via").with_cause(&error))?;
    let host_command = |host: &UsedHost| match &template {
        Some(via) => via.words(&host.system),
        None if is_local(&host.system, &own_name) => vec!["env".to_owned()],
        None => ssh_words(host),
    };
    let commands: BTreeMap<String, Vec<String>> =
        execution.hosts.iter().map(|host| (host.label.clone(), host_command(host))).collect();
    (input.is_apart, input.submitters) = (true, u32::MAX);
    let mut paths = vec![BTreeSet::new(); execution.hosts.len()];
    // Settings that are unsupported on several hosts are reported before connecting.
    let distributed = compile_assuming_paths(input)
        .map_err(|diagnostics| report_diagnostics(&diagnostics, terminal))?;
    for (host, target) in distributed.placed_targets() {
        paths[host.unwrap_or(0)].insert(target.path.clone());
    }
    Ok(Some(RemoteHosts {
        names: execution.hosts.into_iter().map(|host| host.label).collect(),
        via: Via::with_host_commands(commands),
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
    let mut inspect = |_: &Path| Some(PathInfo { bytes: 1 << 40, device: false });
    vdbench::compile_files(
        input,
        &mut VdbenchEnv { read_file: &mut load_file, inspect: &mut inspect },
    )
}

fn is_local(system: &str, own_name: &str) -> bool {
    let system = system.to_ascii_lowercase();
    let short = own_name.split('.').next().unwrap_or_default();
    let is_loopback = matches!(system.as_str(), "localhost" | "127.0.0.1" | "::1");
    is_loopback || (!own_name.is_empty() && (system == own_name || system == short))
}

impl RemoteHosts {
    /// Connects to all hosts and executes the runs on them. Returns the exit code.
    pub(super) fn execute(
        &self,
        typed: &VdbenchArguments,
        input: &VdbenchInput,
        terminal: &mut Terminal,
    ) -> Result<u8, CommandFailure> {
        let program = read_program(&[])?;
        let stop = signals::cancel_on_signals()?;
        let deadline = Duration::from_secs_f64(typed.host_deadline);
        let options = ConnectionOptions {
            via: &self.via,
            program: &program,
            relays: &[],
            deadline,
            cancel: &stop,
        };
        let execute_runs = |hosts: &mut dyn HostConnections| {
            let mut storage_hosts = StorageHosts::gather(&self.names, hosts, deadline, &stop)?;
            let path_infos = storage_hosts.inspect_paths(&self.paths, &stop)?;
            let mut infos_by_path = BTreeMap::new();
            for ((name, paths), infos) in self.names.iter().zip(&self.paths).zip(path_infos) {
                for (path, info) in paths.iter().zip(infos) {
                    let info =
                        info.map(|it| PathInfo { bytes: it.bytes, device: it.is_device });
                    infos_by_path.insert(host_path(name, path), info);
                }
            }
            let find_info = |path: &Path| infos_by_path.get(path).copied().flatten();
            let (execution, inputs) = read_and_compile(input, &find_info, terminal)?;
            let parts = (&inputs, Some(&mut storage_hosts));
            execute::execute(typed, (input, &execution), parts, &stop, terminal)
        };
        agents::with_hosts(&self.names, &options, clock::now_ns, execute_runs)
    }
}
