//! Measures the cost of touching and walking memory before the first case of a run that needs much
//! of it.
//!
//! The forecast of the run's duration uses these costs; none of them is a result.

use std::sync::atomic::AtomicBool;

use assay_kernels::clock;
use assay_kernels::memory::latency::{LatencyConfig, PointerChase};
use assay_kernels::memory::stream::{Stream, StreamConfig, StreamOperation, bytes_moved};
use assay_model::plan::Plan;
use assay_model::workload::{Workload, usual_line_bytes};

use crate::forecast::MemoryCosts;

/// Bytes of each array, and of the pointer chain: beyond the private caches, and a few tenths of a
/// second in total. On two CPUs with ten other threads it took 12 s.
const ARRAY_BYTES: usize = 32 << 20;
const CHAIN_BYTES: usize = 64 << 20;
/// Shortest budget that leaves time for the whole trial on a busy machine. A shorter one has a part of
/// it, but not less than an eighth.
const FULL_TRIAL_BUDGET_S: f64 = 120.0;
const SMALLEST_SHARE: f64 = 0.125;
/// Smallest case that is worth the trial; smaller ones end as soon as it would.
const SMALLEST_TRIAL_BYTES: u64 = 256 << 20;

/// Measures the memory costs on the first CPU of the plan. Returns `None` if no case needs much
/// memory, or if the trial fails, an error that the case reports.
pub(crate) fn measure_memory_costs(plan: &Plan, cancel: &AtomicBool) -> Option<MemoryCosts> {
    let cpu = plan.cases.iter().filter(|case| case.by == "assay").find_map(|case| {
        let cpu = case.workload.cpus().first().copied();
        cpu.filter(|_| walked_bytes(&case.workload) >= SMALLEST_TRIAL_BYTES)
    })? as usize;
    let (array_bytes, chain_bytes) = probe_bytes(plan.budget_s);
    let (touch_s, fill_s, walk_s, check_s) = measure_arrays((cpu, array_bytes), cancel)?;
    let line_s = measure_chain((cpu, chain_bytes), cancel)?;
    let costs = MemoryCosts { touch_s, fill_s, walk_s, check_s, line_s };
    // A shortened trial may fit into a shared cache.
    Some(if array_bytes < ARRAY_BYTES { costs.at_least(&MemoryCosts::TYPICAL) } else { costs })
}

/// Returns the bytes of each array and of the chain of a trial, in whole pages.
fn probe_bytes(budget_s: f64) -> (usize, usize) {
    const PAGE_BYTES: usize = 4096;
    let share = (budget_s / FULL_TRIAL_BUDGET_S).clamp(SMALLEST_SHARE, 1.0);
    let part = |bytes: usize| (share * (bytes / PAGE_BYTES) as f64) as usize * PAGE_BYTES;
    (part(ARRAY_BYTES), part(CHAIN_BYTES))
}

/// Returns the size of an array or a chain that the workload walks.
fn walked_bytes(workload: &Workload) -> u64 {
    match workload {
        Workload::Stream(work) => work.bytes_per_array * work.domains.len() as u64,
        Workload::Copy(work) => work.bytes_per_array,
        Workload::Latency(work) => work.bytes,
        Workload::LoadedLatency(work) => work.bytes,
        Workload::CacheBandwidth(work) => work.bytes_per_core,
        Workload::CoreToCore(_)
        | Workload::PeakFlops(_)
        | Workload::Linpack(_)
        | Workload::NetworkTcp(_)
        | Workload::NetworkUdp(_)
        | Workload::NetworkIcmp(_)
        | Workload::Storage(_)
        | Workload::Files(_)
        | Workload::Io500(_)
        | Workload::Command(_)
        | Workload::Imported(_)
        | Workload::Mpi(_)
        | Workload::Rdma(_) => 0,
    }
}

/// Returns the seconds per byte to touch, fill, walk and check the arrays.
fn measure_arrays(
    (cpu, array_bytes): (usize, usize),
    cancel: &AtomicBool,
) -> Option<(f64, f64, f64, f64)> {
    let config = StreamConfig {
        cpus: vec![cpu],
        bytes_per_array: array_bytes,
        source_cpus: Vec::new(),
        source_node: None,
        huge_pages: true,
    };
    let (began_s, mut touched_s) = (now_s(), 0.0);
    let mut stream = Stream::prepare(&config, cancel, &mut |_| touched_s = now_s()).ok()?;
    let filled_s = now_s();
    let mut walked_bytes = 0;
    for operation in StreamOperation::ALL {
        let kernel = Stream::kernels(operation).first()?.name;
        stream.repetition(operation, kernel).ok()?;
        walked_bytes += bytes_moved(operation, array_bytes);
    }
    let walked_s = now_s();
    stream.verify(cancel).ok()?;
    let bytes = (3 * array_bytes) as f64;
    Some((
        (touched_s - began_s) / bytes,
        (filled_s - touched_s) / bytes,
        (walked_s - filled_s) / walked_bytes as f64,
        (now_s() - walked_s) / bytes,
    ))
}

/// Returns the seconds per cache line to link the chain and to check it before and after.
fn measure_chain((cpu, chain_bytes): (usize, usize), cancel: &AtomicBool) -> Option<f64> {
    let line_bytes = usual_line_bytes() as usize;
    let config =
        LatencyConfig { cpu, bytes: chain_bytes, line_bytes, huge_pages: true, memory: None };
    let began_s = now_s();
    PointerChase::prepare(&config, cancel).ok()?.verify(cancel).ok()?;
    Some((now_s() - began_s) * line_bytes as f64 / chain_bytes as f64)
}

fn now_s() -> f64 {
    clock::seconds_between(0, clock::now_ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_is_shorter_for_a_short_budget() {
        for (budget_s, share) in [(0.0, 8), (12.0, 8), (60.0, 2), (120.0, 1), (1e9, 1)] {
            let expected = (ARRAY_BYTES / share, CHAIN_BYTES / share);
            assert_eq!(probe_bytes(budget_s), expected, "{budget_s}");
        }
    }
}
