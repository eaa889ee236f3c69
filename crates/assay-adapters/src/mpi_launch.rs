//! Command lines that start pinned MPI ranks under each launcher, and detection of the transport
//! that a library reports.
//!
//! Nothing here starts a process.

use assay_model::mpi_installation::{MpiInstallation, MpiLauncherKind};
use assay_model::workload::{MpiHosts, MpiWorkload};

use crate::invocation::{Invocation, ToolRequest, c_locale};

/// Command line of an MPI launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MpiLaunch {
    /// Path of the launcher.
    pub program: String,
    /// Its arguments, including the started program and its arguments.
    pub arguments: Vec<String>,
    /// Variables added to the environment.
    pub environment: Vec<(String, String)>,
}

impl MpiLaunch {
    /// Converts to a tool's invocation; the launcher binds the ranks.
    pub(crate) fn into_invocation(self, tool: &str, request: &ToolRequest<'_>) -> Invocation {
        let mut environment = self.environment;
        environment.push(c_locale());
        Invocation {
            program: self.program,
            arguments: self.arguments,
            environment,
            ..Invocation::new(request, tool)
        }
    }
}

/// Builds the command that starts `program` as the ranks of `work`. On this machine rank i runs on
/// the i-th CPU. Over several hosts there is one rank per core, and for a pair one rank on each
/// host.
pub fn build_launch(work: &MpiWorkload, program: &str, arguments: &[String]) -> MpiLaunch {
    let mut words = vec!["-n".to_owned(), work.ranks.to_string()];
    words.extend(host_options(work));
    words.extend(binding_options(work));
    words.extend(taskset_prefix(work));
    words.push(program.to_owned());
    words.extend(arguments.iter().cloned());
    let variables = environment(work).into_iter();
    MpiLaunch {
        program: work.mpi.launcher.clone(),
        arguments: words,
        environment: variables.map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

/// Pair of hosts that are reached through a command other than `ssh`.
#[derive(Debug)]
pub struct HostPair<'a> {
    /// Data addresses: of the launcher's host, and of the other one.
    pub addresses: &'a [String; 2],
    /// Program to start on each host.
    pub programs: &'a [String; 2],
    /// Command with the interface of `ssh`: takes a host and a command.
    pub shell: String,
}

/// Builds the command that starts one rank of `work` on each of two hosts.
pub fn build_pair_launch(
    work: &MpiWorkload,
    pair: &HostPair<'_>,
    arguments: &[String],
) -> MpiLaunch {
    let [own, other] = pair.addresses;
    let (shell, both) = (&*pair.shell, format!("{own},{other}"));
    let is_hydra =
        matches!(work.mpi.starter, MpiLauncherKind::Hydra | MpiLauncherKind::IntelHydra);
    let is_open = matches!(work.mpi.starter, MpiLauncherKind::Orte | MpiLauncherKind::Prrte);
    let mut line = match work.mpi.starter {
        // Named `rsh`, it is not given options of ssh.
        MpiLauncherKind::Hydra => to_strings(&["-launcher", "rsh", "-launcher-exec", shell]),
        MpiLauncherKind::IntelHydra => {
            to_strings(&["-bootstrap", "rsh", "-bootstrap-exec", shell])
        }
        // A daemon that leaves its session could no longer be tracked.
        MpiLauncherKind::Orte => {
            to_strings(&["--leave-session-attached", "--mca", "plm_rsh_agent", shell])
        }
        MpiLauncherKind::Prrte => {
            to_strings(&["--leave-session-attached", "--prtemca", "plm_ssh_agent", shell])
        }
        // srun reaches its hosts by itself.
        MpiLauncherKind::Srun => to_strings(&["--nodelist", &both, "--ntasks-per-node=1"]),
    };
    if is_hydra {
        line.extend(to_strings(&["-localhost", own, "-hosts", &both, "-ppn", "1"]));
    }
    line.extend(binding_options(work));
    for (nth, (address, program)) in pair.addresses.iter().zip(pair.programs).enumerate() {
        line.extend((nth > 0).then(|| ":".to_owned()));
        line.extend(to_strings(&["-n", "1"]));
        line.extend(is_open.then(|| to_strings(&["--host", address])).into_iter().flatten());
        line.extend(taskset_prefix(work));
        line.push(program.clone());
        line.extend(arguments.iter().cloned());
    }
    let variables = environment(work).into_iter();
    MpiLaunch {
        program: work.mpi.launcher.clone(),
        arguments: line,
        environment: variables.map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

fn to_strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn host_options(work: &MpiWorkload) -> Vec<String> {
    let MpiHosts { list, file } = &work.hosts;
    let (list_option, file_option) = match work.mpi.starter {
        MpiLauncherKind::Hydra | MpiLauncherKind::IntelHydra => ("-hosts", "-f"),
        MpiLauncherKind::Orte | MpiLauncherKind::Prrte => ("--host", "--hostfile"),
        MpiLauncherKind::Srun => ("--nodelist", "--nodefile"),
    };
    let given = [(list_option, list), (file_option, file)];
    let given =
        given.into_iter().filter_map(|(option, value)| Some((option, value.as_deref()?)));
    let mut found: Vec<String> =
        given.flat_map(|(option, value)| to_strings(&[option, value])).collect();
    if !work.hosts.is_local() && work.ranks == 2 && !is_one_host(list.as_deref()) {
        // Launchers fill one host before the next; a pair belongs on two hosts.
        found.extend(match work.mpi.starter {
            MpiLauncherKind::Hydra | MpiLauncherKind::IntelHydra => to_strings(&["-ppn", "1"]),
            MpiLauncherKind::Orte | MpiLauncherKind::Prrte => {
                to_strings(&["--map-by", "ppr:1:node"])
            }
            MpiLauncherKind::Srun => to_strings(&["--ntasks-per-node=1"]),
        });
    }
    found
}

/// Whether a list has only one host, which then runs both ranks of a pair: `node1`, `node1:2`, but
/// not `node1,node2` or Slurm's `node[1-2]`.
fn is_one_host(list: Option<&str>) -> bool {
    list.is_some_and(|list| !list.contains([',', '[']))
}

/// Returns the launcher's binding options; Intel MPI is configured by variables instead.
fn binding_options(work: &MpiWorkload) -> Vec<String> {
    let cpus = format_cpus(work);
    let threads = work.placement.placement == "same-core";
    match (work.mpi.starter, cpus.is_empty()) {
        (MpiLauncherKind::Hydra, true) => to_strings(&["-bind-to", "core"]),
        (MpiLauncherKind::Hydra, false) => to_strings(&["-bind-to", &format!("user:{cpus}")]),
        (MpiLauncherKind::IntelHydra, _) => Vec::new(),
        (MpiLauncherKind::Orte | MpiLauncherKind::Prrte, true) => {
            to_strings(&["--bind-to", "core"])
        }
        (MpiLauncherKind::Orte, false) => {
            let mut found = to_strings(&["--bind-to", "cpu-list:ordered", "--cpu-list", &cpus]);
            // Without it Open MPI counts cores as slots, and two threads of one core as one slot.
            found.extend(threads.then(|| "--use-hwthread-cpus".to_owned()));
            found
        }
        (MpiLauncherKind::Prrte, false) if !work.hosts.is_local() => {
            to_strings(&["--bind-to", "none"])
        }
        (MpiLauncherKind::Prrte, false) => {
            let threads = if threads { ":hwtcpus" } else { "" };
            to_strings(&["--map-by", &format!("pe-list={cpus}:ordered{threads}")])
        }
        (MpiLauncherKind::Srun, cpus_unknown) => {
            let process_management = match work.mpi.abi {
                assay_model::mpi_outcome::MpiAbi::OpenMpi => "--mpi=pmix",
                _ => "--mpi=pmi2",
            };
            let bind = if cpus_unknown {
                "--cpu-bind=cores".to_owned()
            } else {
                format!("--cpu-bind=map_cpu:{cpus}")
            };
            to_strings(&[process_management, &bind])
        }
    }
}

/// Returns a `taskset` prefix where Open MPI cannot bind: since version 5, `pe-list` and one rank
/// per host exclude each other.
fn taskset_prefix(work: &MpiWorkload) -> Vec<String> {
    let cpus = format_cpus(work);
    if work.mpi.starter == MpiLauncherKind::Prrte && !work.hosts.is_local() && !cpus.is_empty()
    {
        to_strings(&["taskset", "-c", &cpus])
    } else {
        Vec::new()
    }
}

/// Formats the CPUs of one host: `0,1`. Every host uses the same ones.
fn format_cpus(work: &MpiWorkload) -> String {
    let mut cpus = work.placement.cpus.clone();
    if is_one_host(work.hosts.list.as_deref()) && cpus.len() < work.ranks as usize {
        // The CPU near the network is meant for one rank of each host.
        cpus.clear();
    }
    cpus.dedup();
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn environment(work: &MpiWorkload) -> Vec<(&'static str, String)> {
    let on = || "1".to_owned();
    match work.mpi.starter {
        // MVAPICH binds again in MPI_Init, which would undo the launcher's binding.
        MpiLauncherKind::Hydra | MpiLauncherKind::Srun => {
            vec![("MV2_ENABLE_AFFINITY", "0".to_owned()), ("MPIR_CVAR_DEBUG_SUMMARY", on())]
        }
        MpiLauncherKind::IntelHydra => {
            let cpus = format_cpus(work);
            let place = match cpus.is_empty() {
                true => ("I_MPI_PIN_DOMAIN", "core".to_owned()),
                false => ("I_MPI_PIN_PROCESSOR_LIST", cpus),
            };
            // From level 3 on the library reports the provider of libfabric that it chose.
            vec![("I_MPI_PIN", on()), place, ("I_MPI_DEBUG", "3".to_owned())]
        }
        // Open MPI refuses to start as root unless confirmed twice. In a container root is normal,
        // and a user who starts assay as root intends it. Its choice of transport is reported at
        // level 10.
        MpiLauncherKind::Orte => vec![
            ("OMPI_ALLOW_RUN_AS_ROOT", on()),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", on()),
            ("OMPI_MCA_pml_base_verbose", "10".to_owned()),
        ],
        MpiLauncherKind::Prrte => vec![
            ("OMPI_ALLOW_RUN_AS_ROOT", on()),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", on()),
            ("PRTE_ALLOW_RUN_AS_ROOT", on()),
            ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", on()),
            ("OMPI_MCA_pml_base_verbose", "10".to_owned()),
        ],
    }
}

/// Finds the transport that the library reported when a job started: `UCX`, `OFI tcp`, `ob1`;
/// `None` if it reported none. Within a host all of them use shared memory.
pub fn find_transport(mpi: &MpiInstallation, printed: &str) -> Option<String> {
    let lines = || printed.lines().map(str::trim);
    match mpi.starter {
        MpiLauncherKind::Hydra | MpiLauncherKind::Srun
            if lines().any(|l| l.contains("UCX netmod")) =>
        {
            Some("UCX".to_owned())
        }
        MpiLauncherKind::Hydra | MpiLauncherKind::IntelHydra | MpiLauncherKind::Srun => {
            let marks = ["libfabric provider:", "provider:", "OFI provider:"];
            let provider = |line: &str| {
                let (_, rest) = marks.iter().find_map(|mark| line.split_once(mark))?;
                rest.split([' ', ',', ';']).find(|word| !word.is_empty()).map(str::to_owned)
            };
            let ofi = lines().find_map(provider).map(|name| format!("OFI {name}"));
            let tuned = || lines().any(|line| line.contains("tuning_generic_shm"));
            ofi.or_else(|| tuned().then(|| "shared memory".to_owned()))
        }
        MpiLauncherKind::Orte | MpiLauncherKind::Prrte => lines().find_map(|line| {
            let (_, rest) = line.split_once("selected ")?;
            let (name, _) = rest.split_once(" best priority")?;
            Some(name.to_owned())
        }),
    }
}

#[cfg(test)]
mod tests;
