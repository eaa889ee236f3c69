//! Large node: 24 last-level caches, four NUMA nodes, a visible DRAM limit, scaling.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark::{MemoryCopy, MemoryStream};
use assay_model::doubt::Doubt;
use assay_model::event::RunStatus;
use assay_model::facts::{Cache, Cpu, HostFacts, MemoryModule, NumaNode};
use assay_model::limit::LimitBasis;
use assay_model::plan::expand::ladder_bytes;
use assay_model::summary::{MetricEstimate, RunSummary};

use crate::maker::{EstimateBuilder, estimate, ladder, summary};

const LIMIT: f64 = 921.6e9;
const CORES: u32 = 192;

pub(crate) fn host() -> HostFacts {
    let mut host = HostFacts {
        name: "node-7".to_owned(),
        fingerprint: "77aa01".to_owned(),
        ..HostFacts::default()
    };
    host.cpu.model = "AMD EPYC 9684X 96-Core Processor".to_owned();
    host.system.kernel = "5.14.0-427.el9.x86_64".to_owned();
    host.memory.total_bytes = 768 << 30;
    let cpu = |id| Cpu { id, core: id % 96, socket: id / 96, numa: id / 48 };
    host.topology.cpus = (0..CORES).map(cpu).collect();
    let cache = |level, bytes, cpus| Cache { level, bytes, line_bytes: 64, cpus };
    let own = |level, bytes| (0..CORES).map(move |cpu| cache(level, bytes, vec![cpu]));
    host.topology.caches = own(1, 32 << 10).chain(own(2, 1 << 20)).collect();
    let shared = (0..24).map(|i| cache(3, 96 << 20, (i * 8..i * 8 + 8).collect()));
    host.topology.caches.extend(shared);
    let numa =
        |id: u32| NumaNode { id, cpus: (id * 48..id * 48 + 48).collect(), bytes: 192 << 30 };
    host.topology.numa = (0..4).map(numa).collect();
    let module = |i: u32| MemoryModule {
        locator: format!("DIMM {i}"),
        bank: format!("CHANNEL {i}"),
        bytes: 32 << 30,
        width_bits: 64,
        transfers_per_s: 4_800_000_000,
        kind: "DDR5".to_owned(),
    };
    host.memory.modules = Some((0..24).map(module).collect());
    host
}

fn stream(metric: &str, placement: &str, threads: u64, median: f64) -> MetricEstimate {
    estimate(MemoryStream, metric, median, 0.004)
        .with(Attribute::Placement, placement)
        .with(Attribute::Threads, threads)
        .with(Attribute::BytesPerArray, (384 << 20) * threads.div_ceil(8))
        .with(Attribute::Kernel, "avx512-nt")
        .with(Attribute::Concurrent, false)
}

pub(crate) fn memory() -> RunSummary {
    let mut summary = summary("memory", RunStatus::Complete, host());
    let basis = LimitBasis::MemoryChannels {
        channels: 24,
        transfers_per_s: 4_800_000_000,
        width_bits: 64,
    };
    for (metric, median) in
        [("copy", 752e9), ("triad", 771e9), ("read", 806e9), ("write", 690e9)]
    {
        summary
            .results
            .push(stream(metric, "node", 192, median).with_limit(LIMIT, basis.clone()));
    }
    for numa in 0..4 {
        let median = 191e9 + f64::from(numa) * 1e9;
        summary.results.push(stream("triad", &format!("numa:{numa}"), 48, median));
    }
    for i in 0..24 {
        let place = format!("l3:{i}");
        let single = 33.1e9 - f64::from(i % 7) * 0.11e9;
        let together = 31.9e9 - f64::from((i * 5) % 11) * 0.09e9;
        summary.results.push(stream("triad", &place, 8, single));
        let mut shared = stream("triad", &place, 8, together).with(Attribute::Concurrent, true);
        if i == 17 {
            shared = shared.with_doubt(Doubt::WideInterval {
                width: 0.024,
                target: 0.01,
                n: 15,
                n_effective: 15.0,
                by_tool: false,
            });
        }
        summary.results.push(shared);
    }
    for cores in [1u32, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192] {
        let linear = 26e9 * f64::from(cores);
        let place = format!("cores:{cores}");
        for (metric, top) in [("triad", 771e9), ("read", 806e9), ("write", 690e9)] {
            let caches = f64::from(cores.div_ceil(8)) * top / 24.0 * 1.02;
            let median = linear.min(caches).min(top);
            let estimate = stream(metric, &place, u64::from(cores), median);
            summary.results.push(estimate.with_limit(LIMIT, basis.clone()));
        }
    }
    summary.results.extend(ladder(
        &ladder_bytes(4096, 384 << 20),
        &[(32 << 10, 1.08e-9), (1 << 20, 3.9e-9), (96 << 20, 15.2e-9)],
        121e-9,
    ));
    summary
}

/// Copies and loads between two nodes with CPUs, and from one that only has memory.
pub(crate) fn nodes() -> RunSummary {
    let mut host = host();
    host.topology.numa.truncate(2);
    host.topology.memory_nodes = vec![NumaNode { id: 2, cpus: vec![], bytes: 128 << 30 }];
    let mut summary = summary("memory", RunStatus::Complete, host);
    for (to, from) in (0..2).flat_map(|to| (0..3).map(move |from| (to, from))) {
        let (rate, latency_s) = match from {
            2 => (24.1e9, 268e-9),
            from if from == to => (171e9, 104e-9),
            _ => (68.3e9, 187e-9),
        };
        for (metric, median) in [("bandwidth", rate), ("latency", latency_s)] {
            summary.results.push(
                estimate(MemoryCopy, metric, median, 0.004)
                    .with(Attribute::Placement, format!("numa:{to}"))
                    .with(Attribute::Source, format!("numa:{from}"))
                    .with(Attribute::Threads, 48_u64)
                    .with(Attribute::Kernel, "avx512-nt"),
            );
        }
    }
    summary
}

/// Matrix of copies; the far half of the domains is slower, one pair is doubtful.
pub(crate) fn copies(domains: usize) -> RunSummary {
    let mut summary = summary("memory", RunStatus::Complete, host());
    for (to, from) in (0..domains).flat_map(|to| (0..domains).map(move |from| (to, from))) {
        let is_far = (to < domains / 2) != (from < domains / 2);
        let median = match (to == from, is_far) {
            (true, _) => 38.21e9,
            (false, false) => 33.4e9,
            (false, true) => 9.876e9 + to as f64 * 1e6,
        };
        let mut pair = estimate(MemoryCopy, "bandwidth", median, 0.004)
            .with(Attribute::Placement, format!("l3:{to}"))
            .with(Attribute::Source, format!("l3:{from}"))
            .with(Attribute::Threads, 8_u64)
            .with(Attribute::Kernel, "avx512-nt");
        if (to, from) == (1, 0) {
            pair = pair.with_doubt(Doubt::NoInterval {
                n: 1,
                n_effective: 1.0,
                needed: 6,
                by_tool: true,
            });
        }
        summary.results.push(pair);
    }
    summary
}
