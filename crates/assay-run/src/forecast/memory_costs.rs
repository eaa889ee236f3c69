//! Costs of memory on a host, and the time of a first result that they dominate.

use assay_model::workload::{NodeMemory, Workload};

/// Seconds of a pair of cores in one round: starting two threads, their warm-up and a few repetitions.
const CORE_PAIR_S: f64 = 1.5e-3;
/// Number of STREAM's arrays.
const STREAM_ARRAYS: f64 = 3.0;
/// Arrays that the six operations access, each counted once: 2 + 2 + 3 + 3 + 1 + 1.
const ARRAYS_WALKED: f64 = 12.0;
const ARRAYS_COPIED: f64 = 2.0;

/// Costs of memory on this host, in seconds per byte and thread unless stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MemoryCosts {
    /// First touch of new memory, by all touching threads together: the kernel must find it, and in
    /// a guest also the host.
    pub(crate) touch_s: f64,
    pub(crate) fill_s: f64,
    pub(crate) walk_s: f64,
    pub(crate) check_s: f64,
    /// Seconds per cache line of a pointer chain, to link and to check it.
    pub(crate) line_s: f64,
}

impl MemoryCosts {
    /// Costs of a typical current server, for plans that are only printed and measure nothing.
    pub(crate) const TYPICAL: Self =
        Self { touch_s: 5e-10, fill_s: 1e-10, walk_s: 1e-10, check_s: 2e-10, line_s: 1e-7 };

    /// Returns the larger of each cost.
    pub(crate) const fn at_least(&self, least: &Self) -> Self {
        Self {
            touch_s: self.touch_s.max(least.touch_s),
            fill_s: self.fill_s.max(least.fill_s),
            walk_s: self.walk_s.max(least.walk_s),
            check_s: self.check_s.max(least.check_s),
            line_s: self.line_s.max(least.line_s),
        }
    }

    /// Seconds of one preparation, one repetition and one check, if memory dominates them.
    /// `had_bytes` were touched before.
    pub(super) fn least_s(&self, workload: &Workload, had_bytes: &mut f64) -> f64 {
        let mut touch_s = |bytes: f64, threads: f64| {
            let new = (bytes - *had_bytes).max(0.0);
            *had_bytes = had_bytes.max(bytes);
            // Reused memory is only filled with zeros.
            new * self.touch_s + (bytes - new) * self.fill_s / threads
        };
        let mut walked = |array: f64, walks: f64, threads: f64| {
            let bytes = STREAM_ARRAYS * array;
            let worked_s = bytes * (self.fill_s + self.check_s) + walks * array * self.walk_s;
            touch_s(bytes, threads) + worked_s / threads
        };
        match workload {
            Workload::Stream(work) => {
                let threads: usize = work.domains.iter().map(|it| it.cpus.len()).sum();
                let array = work.bytes_per_array as f64 * work.domains.len() as f64;
                walked(array, ARRAYS_WALKED, threads.max(1) as f64)
            }
            Workload::Copy(work) => {
                let threads = work.domain.cpus.len().max(1) as f64;
                let copied_s = walked(work.bytes_per_array as f64, ARRAYS_COPIED, threads);
                let lines = |it: NodeMemory| it.chain_bytes / u64::from(it.line_bytes.max(1));
                copied_s + work.node.map_or(0, lines) as f64 * self.line_s
            }
            Workload::Latency(work) => {
                let lines = work.bytes as f64 / f64::from(work.line_bytes.max(1));
                touch_s(work.bytes as f64, 1.0) + lines * self.line_s
            }
            Workload::LoadedLatency(work) => {
                let lines = work.bytes as f64 / f64::from(work.line_bytes.max(1));
                let buffers = work.bytes_per_generator as f64 * work.traffic.cpus.len() as f64;
                touch_s(work.bytes as f64 + buffers, 1.0) + lines * self.line_s
            }
            Workload::CacheBandwidth(work) => {
                let threads = work.domain.cpus.len() as f64;
                touch_s(work.bytes_per_core as f64 * threads, threads)
            }
            Workload::CoreToCore(work) => {
                let pairs: usize = work.groups.iter().map(|group| group.pairs.len()).sum();
                CORE_PAIR_S * pairs as f64
            }
            Workload::PeakFlops(_)
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
            | Workload::Rdma(_) => 0.0,
        }
    }
}
