//! The checks of `assay doctor`: settings of this host that affect measurements, one row each.
//!
//! No check changes anything: how to change a setting is printed. What a virtual machine or a container
//! hides is a separate outcome, neither good nor bad.

use assay_model::facts::{HostFacts, HostState};
use assay_model::finding::Finding;
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

use check::{Check, Scene};

/// All checks, in the order in which they are reported.
const THEMES: [&[Check]; 11] = [
    cpu::CHECKS,
    memory::CHECKS,
    kernel::CHECKS,
    limits::CHECKS,
    network::CHECKS,
    devices::CHECKS,
    rdma::LINK,
    mpi::CHECKS,
    installations::CHECKS,
    storage::CHECKS,
    load::CHECKS,
];

/// Carries out every check on the host under `root`, whose facts and state were read just before,
/// those of a path where `network` has one. Takes about a fifth of a second, in which it watches
/// which processes are busy.
#[must_use]
pub fn examine(
    root: &Root,
    facts: &HostFacts,
    state: &HostState,
    network: &NetworkSetup,
) -> Vec<Finding> {
    let scene = Scene { root, facts, state, network };
    let has_host = network.path.as_ref().is_some_and(|path| path.host.is_some());
    let of_path = if has_host { path::CHECKS } else { &[] };
    let of_rdma = if rdma::is_there(root) { rdma::CHECKS } else { &[] };
    THEMES
        .into_iter()
        .chain([of_rdma, of_path])
        .flatten()
        .map(|check| check.carry_out(&scene))
        .collect()
}
