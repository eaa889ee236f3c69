//! Checks of `assay doctor`: settings of this host that affect measurements, one row each.
//!
//! No check changes a setting; each prints the command that would. Settings hidden by a virtual
//! machine or a container are a separate outcome, neither good nor bad.

use assay_model::facts::{HostFacts, HostState};
use assay_model::finding::DoctorFinding;
use assay_model::network_setup::NetworkSetup;

use crate::root::Root;

mod check;
mod cpu;
mod devices;
mod installations;
mod kernel;
mod limits;
mod load;
mod memory;
mod mpi;
mod network;
mod path;
mod rdma;
mod storage;
pub mod topics;

use check::{CheckInput, DoctorCheck};

/// All checks in the order of the report.
const ALL_CHECKS: [&[DoctorCheck]; 11] = [
    cpu::CHECKS,
    memory::CHECKS,
    kernel::CHECKS,
    limits::CHECKS,
    network::CHECKS,
    devices::CHECKS,
    rdma::LINK_CHECKS,
    mpi::CHECKS,
    installations::CHECKS,
    storage::CHECKS,
    load::CHECKS,
];

/// Runs all checks on the host under `root`, with facts and state read just before. Adds the checks
/// of a path if `network` contains one. Takes about 0.2 s, in which it samples busy processes.
pub fn examine(
    root: &Root,
    facts: &HostFacts,
    state: &HostState,
    network: &NetworkSetup,
) -> Vec<DoctorFinding> {
    let input = CheckInput { root, facts, state, network };
    let has_host = network.path.as_ref().is_some_and(|path| path.host.is_some());
    let of_path = if has_host { path::CHECKS } else { &[] };
    let of_rdma = if rdma::has_devices(root) { rdma::CHECKS } else { &[] };
    ALL_CHECKS
        .into_iter()
        .chain([of_rdma, of_path])
        .flatten()
        .map(|check| check.run(&input))
        .collect()
}
