//! Cache bandwidth, loaded latency, and latency between the cores of a node.

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::Benchmark::{CacheBandwidth, CoreToCore, LoadedLatency};
use assay_model::doubt::Doubt;
use assay_model::event::RunStatus;
use assay_model::plan::expand::ladder_bytes;
use assay_model::summary::{MetricEstimate, RunSummary};

use crate::maker::{EstimateBuilder, estimate, summary};
use crate::node;

/// Cores of the node.
const CORES: u64 = 192;

/// Curves of three mixes, and pairs of `cores` cores with two threads each: eight cores share a
/// cache.
pub(crate) fn loaded_and_core_to_core(cores: u32) -> RunSummary {
    let mut summary = summary("memory", RunStatus::Complete, node::host());
    summary.results = [cache_bandwidth(), loaded_latency(), core_to_core(cores)].concat();
    summary
}

/// Plateaus of one core, and of all 192 with their parts of the shared caches.
fn cache_bandwidth() -> Vec<MetricEstimate> {
    let rate = |bytes: u64, levels: [(u64, f64); 3], memory: f64| {
        levels.into_iter().find(|(size, _)| bytes <= *size).map_or(memory, |(_, rate)| rate)
    };
    let core = [(32 << 10, 410e9), (1 << 20, 205e9), (96 << 20, 88e9)];
    let node = [(32 << 10, 78.1e12), (1 << 20, 39e12), (12 << 20, 10.1e12)];
    let curve = |place: &str, threads: u64, to: u64, levels, memory: f64| {
        let point = |bytes: &u64| {
            estimate(CacheBandwidth, "read", rate(*bytes, levels, memory), 0.005)
                .with(Attribute::Placement, place)
                .with(Attribute::Threads, threads)
                .with(Attribute::Bytes, *bytes)
                .with(Attribute::Kernel, "avx512")
        };
        ladder_bytes(4096, to).iter().map(point).collect::<Vec<_>>()
    };
    let one = curve("core:0", 1, 384 << 20, core, 31e9);
    [one, curve("node", CORES, 48 << 20, node, 806e9)].concat()
}

fn loaded_latency() -> Vec<MetricEstimate> {
    let point = |latency_s: f64, bandwidth: f64| {
        [("latency", latency_s), ("bandwidth", bandwidth)].map(|(metric, median)| {
            estimate(LoadedLatency, metric, median, 0.008)
                .with(Attribute::Placement, "node")
                .with(Attribute::Threads, 191_u64)
                .with(Attribute::Bytes, 384_u64 << 20)
        })
    };
    let mut all = Vec::new();
    all.extend(point(121e-9, 0.53e9).map(|it| it.with(Attribute::Point, "idle")));
    for (share, highest) in [(1.0, 806e9), (0.67, 722e9), (0.5, 690e9)] {
        for (pause_ns, load) in [(0, 1.0), (160, 0.97), (640, 0.82), (5120, 0.2)] {
            // The wait of a queue grows with its load.
            let latency_s = 121e-9 * (1.0 + 0.12 * load / (1.04 - load));
            all.extend(point(latency_s, load * highest).map(|it| {
                it.with(Attribute::ReadShare, AttributeValue::Number(share))
                    .with(Attribute::PauseS, AttributeValue::Number(f64::from(pause_ns) / 1e9))
            }));
        }
    }
    let last = all.len() - 1;
    let doubt = Doubt::TrafficAboveStream { traffic: 690e9, stream: 640e9 };
    all[last - 7] = all[last - 7].clone().with_doubt(doubt);
    all
}

fn core_to_core(cores: u32) -> Vec<MetricEstimate> {
    let between = |a: u32, b: u32| match () {
        () if a / 8 == b / 8 => ("same-cache", 24e-9 + f64::from(b - a) * 0.4e-9),
        () if a / 48 == b / 48 => ("same-socket", 92e-9 + f64::from(b % 8) * 1e-9),
        () => ("across-sockets", 187e-9 + f64::from(b % 8) * 1e-9),
    };
    let mut all: Vec<MetricEstimate> = Vec::new();
    let siblings = (0..cores).map(|core| (core, core + cores, ("same-core", 7.2e-9)));
    let pairs = (0..cores).flat_map(|a| (a + 1..cores).map(move |b| (a, b, between(a, b))));
    let pairs: Vec<_> = siblings.chain(pairs).collect();
    for (distance, median) in [
        ("same-core", 7.2e-9),
        ("same-cache", 25.4e-9),
        ("same-socket", 95.1e-9),
        ("across-sockets", 190.2e-9),
    ] {
        if pairs.iter().any(|(_, _, (it, _))| *it == distance) {
            all.push(
                estimate(CoreToCore, "latency", median, 0.006)
                    .with(Attribute::Placement, distance),
            );
        }
    }
    all.extend(pairs.into_iter().map(|(a, b, (distance, median))| {
        estimate(CoreToCore, "pair_latency", median, 0.02)
            .with(Attribute::Placement, format!("core:{b}"))
            .with(Attribute::Source, format!("core:{a}"))
            .with(Attribute::Distance, distance)
    }));
    all
}
