//! Binds workloads to the code that measures them; the only module that knows both.

mod cache_bandwidth;
mod case_errors;
mod chosen_loops;
mod clock;
mod command;
mod copy;
mod core_to_core;
mod files;
mod io500;
mod latency;
mod linpack;
mod loaded_latency;
mod memory_costs;
mod mpi;
mod network;
mod peak_flops;
mod rdma;
mod run_cache;
mod storage;
mod stream;
mod tool;

use std::cell::RefCell;

use assay_dialects::wire::iperf3::TransportProtocol;
use assay_model::event::StopReason;
use assay_model::facts::HostFacts;
use assay_model::failure::FailureReason;
use assay_model::plan::Case;
use assay_model::workload::Workload;

use crate::measurement_loop::Turns;
use crate::recorder::{CaseError, Recorder};
use crate::storage::options::RunOptions;
use crate::tools::Tools;

pub(crate) use clock::characterise_clock;
pub(crate) use memory_costs::measure_memory_costs;
use network::TrafficKind;
pub(crate) use run_cache::RunCache;
pub(crate) use tool::record_once as record;

/// Host, tools and options that all cases of a run share.
pub(crate) struct CaseEnv<'a> {
    pub(crate) host: &'a HostFacts,
    pub(crate) tools: &'a Tools,
    /// Options that bound what may be done to storage.
    pub(crate) storage: &'a RunOptions,
}

/// Measures a case that has no turns. `known` caches the findings of earlier cases.
pub(crate) fn measure(
    case: &Case,
    env: &CaseEnv<'_>,
    known: &RefCell<RunCache>,
    recorder: &mut Recorder<'_, '_>,
) -> Result<StopReason, CaseError> {
    let outcome = measure_whole(case, env, &known.borrow(), recorder);
    known.borrow_mut().record_outcome(case, &outcome);
    outcome
}

fn measure_whole(
    case: &Case,
    env: &CaseEnv<'_>,
    known: &RunCache,
    recorder: &mut Recorder<'_, '_>,
) -> Result<StopReason, CaseError> {
    let CaseEnv { host, tools, storage: options } = *env;
    if let Some(found) = tools.get(&case.by) {
        if let Some(test) = case.workload.as_storage() {
            let case = storage::prepare(case, test, options, recorder)?;
            return tool::measure(&case, found, &host.cpu.flags, known, recorder);
        }
        return tool::measure(case, found, &host.cpu.flags, known, recorder);
    }
    if let Some(work) = case.workload.as_io500() {
        return io500::measure(work, options, recorder);
    }
    match (case.workload.as_storage(), case.workload.as_files()) {
        (Some(test), _) => storage::measure(case, test, options, recorder),
        (None, Some(test)) => files::measure(test, options, recorder),
        // Imported results are not measured again; all other workloads have turns.
        (None, None) => Err(FailureReason::NoSamples.into()),
    }
}

/// Returns the turns of a case whose preparations may alternate with those of other cases.
///
/// Returns `None` for a case that occupies the machine until it ends.
pub(crate) fn turns<'c>(
    case: &'c Case,
    host: &'c HostFacts,
    tools: &'c Tools,
    known: &'c RefCell<RunCache>,
) -> Option<Turns<'c>> {
    let network = |work, by| Some(network::turns(work, by, known));
    if let Some(found) = tools.get(&case.by) {
        return Some(rdma::perftest_turns((case, case.workload.as_rdma()?), found));
    }
    match &case.workload {
        Workload::Stream(work) => Some(stream::turns(work, known)),
        Workload::Latency(work) => Some(latency::turns(work)),
        Workload::Copy(work) => Some(copy::turns(work, known)),
        Workload::CacheBandwidth(work) => Some(cache_bandwidth::turns(work)),
        Workload::CoreToCore(work) => Some(core_to_core::turns(work)),
        Workload::LoadedLatency(work) => Some(loaded_latency::turns(work)),
        Workload::PeakFlops(work) => Some(peak_flops::turns(work)),
        Workload::Linpack(work) => Some(linpack::turns(work, &host.topology)),
        Workload::Mpi(work) => Some(mpi::turns(case, work, known)),
        Workload::NetworkTcp(work) => {
            network(work, TrafficKind::Protocol(TransportProtocol::Tcp))
        }
        Workload::NetworkUdp(work) => {
            network(work, TrafficKind::Protocol(TransportProtocol::Udp))
        }
        Workload::NetworkIcmp(work) => network(work, TrafficKind::Icmp),
        Workload::Rdma(work) => Some(rdma::turns(work)),
        Workload::Command(work) => Some(command::turns(work)),
        Workload::Storage(_)
        | Workload::Files(_)
        | Workload::Io500(_)
        | Workload::Imported(_) => None,
    }
}

/// Converts CPU numbers to the type that the kernels take.
fn cpu_numbers(cpus: &[u32]) -> Vec<usize> {
    cpus.iter().map(|cpu| *cpu as usize).collect()
}
