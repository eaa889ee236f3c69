//! Facts of a host: CPU, topology, memory, limits, kernel settings, versions.
//!
//! Only reads files: starts no process, loads no module, needs no privilege. Values hidden by a
//! guest, a container or missing privileges are `None`.

use std::collections::BTreeMap;

use assay_model::facts::HostFacts;

use crate::cpus;
use crate::root::Root;

mod cpu;
mod fingerprint;
mod kernel_parameters;
mod limits;
mod memory;
mod settings;
mod smbios;
mod system;
mod topology;
mod virtualization;

pub use system::host_name;

/// Reads the facts of the host under `root`. Takes a few milliseconds and changes nothing.
pub fn read(root: &Root) -> HostFacts {
    let usable = cpus::usable(root);
    let environment = virtualization::read(root);
    let guest = environment.hypervisor.is_some();
    let system = system::read(root, &environment);
    let cpu = cpu::read(root, &usable, guest);
    let fingerprint = fingerprint::compute(root, &cpu, &system, &environment);
    HostFacts {
        name: host_name(root),
        fingerprint,
        topology: topology::read(root, &usable),
        memory: memory::read(root, guest),
        limits: limits::read(root),
        settings: settings::read(root),
        mitigations: mitigations(root),
        versions: system::versions(root, &system),
        cpu,
        system,
    }
}

fn mitigations(root: &Root) -> BTreeMap<String, String> {
    let directory = "sys/devices/system/cpu/vulnerabilities";
    let state = |name: String| Some((root.text(&format!("{directory}/{name}"))?, name));
    let states = root.names(directory).into_iter().filter_map(state);
    states.map(|(state, name)| (name, state)).collect()
}
