//! Binds workloads to the code that measures them; the only module that knows both.

mod clock;
mod copy;
mod files;
mod latency;
mod linpack;
mod mpi;
mod network;
mod peak_flops;
mod rdma;
mod storage;
mod stream;
mod tool;

use assay_dialects::wire::iperf3::Protocol;
use assay_model::event::Stopped;
use assay_model::facts::HostFacts;
use assay_model::failure::Failure as CaseFailure;
use assay_model::plan::Case;
use assay_model::workload::Workload;

use crate::measuring::{Turns, all};
use crate::recorder::{CaseError, Recorder};
use crate::storage::options::RunOptions;
use crate::tools::Tools;

pub(crate) use clock::characterise_clock;
pub(crate) use network::Known;
pub(crate) use tool::record_once as record;

/// What is the same for all cases of a run.
pub(crate) struct Surroundings<'a> {
    pub(crate) host: &'a HostFacts,
    pub(crate) tools: &'a Tools,
    /// What may be done to storage.
    pub(crate) storage: &'a RunOptions,
}

/// Measures one case until its stopping rule is content. `known` is what earlier cases found hosts to lack.
pub(crate) fn measure(
    case: &Case,
    surroundings: &Surroundings<'_>,
    known: &mut Known,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Stopped, CaseError> {
    let outcome = of_kind(case, surroundings, known, recorder);
    known.learn(case, &outcome);
    outcome
}

fn of_kind(
    case: &Case,
    surroundings: &Surroundings<'_>,
    known: &Known,
    recorder: &mut Recorder<'_, '_>,
) -> Result<Stopped, CaseError> {
    let Surroundings { host, tools, storage: options } = *surroundings;
    if let Some(found) = tools.get(&case.by) {
        if let Workload::Storage(test) = &case.workload {
            let Some(case) = storage::prepare(case, test, options, recorder)? else {
                return Ok(Stopped::NotNeeded);
            };
            recorder.gate()?;
            return tool::measure(&case, found, &host.cpu.flags, known, recorder);
        }
        return tool::measure(case, found, &host.cpu.flags, known, recorder);
    }
    match &case.workload {
        Workload::Stream(work) => all(stream::turns(work), recorder),
        Workload::Latency(work) => all(latency::turns(work), recorder),
        Workload::Copy(work) => all(copy::turns(work), recorder),
        Workload::PeakFlops(work) => all(peak_flops::turns(work), recorder),
        Workload::Linpack(work) => all(linpack::turns(work), recorder),
        Workload::NetworkTcp(work) => network::measure(work, Protocol::Tcp, known, recorder),
        Workload::NetworkUdp(work) => network::measure(work, Protocol::Udp, known, recorder),
        Workload::NetworkIcmp(work) => network::icmp(work, known, recorder),
        Workload::Mpi(work) => all(mpi::turns(case, work), recorder),
        Workload::Rdma(work) => rdma::measure(work, recorder),
        Workload::Storage(test) => storage::measure(case, test, options, recorder),
        Workload::Files(test) => files::measure(test, options, recorder),
        // What others measured before is not carried out again.
        Workload::Imported(_) => Err(CaseFailure::NoSamples.into()),
    }
}

/// A case whose preparations, between which others may have theirs, are turns; `None` where it has the
/// machine until it ends.
pub(crate) fn turns<'c>(case: &'c Case, tools: &Tools) -> Option<Turns<'c>> {
    if tools.get(&case.by).is_some() {
        return None;
    }
    match &case.workload {
        Workload::Stream(work) => Some(stream::turns(work)),
        Workload::Latency(work) => Some(latency::turns(work)),
        Workload::Copy(work) => Some(copy::turns(work)),
        Workload::PeakFlops(work) => Some(peak_flops::turns(work)),
        Workload::Linpack(work) => Some(linpack::turns(work)),
        Workload::Mpi(work) => Some(mpi::turns(case, work)),
        Workload::NetworkTcp(_)
        | Workload::NetworkUdp(_)
        | Workload::NetworkIcmp(_)
        | Workload::Storage(_)
        | Workload::Files(_)
        | Workload::Rdma(_)
        | Workload::Imported(_) => None,
    }
}

/// CPU numbers as the kernels take them.
fn cpu_numbers(cpus: &[u32]) -> Vec<usize> {
    cpus.iter().map(|cpu| *cpu as usize).collect()
}
