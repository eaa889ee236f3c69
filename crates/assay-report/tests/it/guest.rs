//! Small KVM guest, alone and with an official tool in addition to assay.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark::{Linpack, MemoryStream, PeakFlops};
use assay_model::doubt::Doubt;
use assay_model::event::RunStatus;
use assay_model::facts::{Cache, Cpu, HostFacts, NumaNode};
use assay_model::plan::expand::ladder_bytes;
use assay_model::summary::{MetricEstimate, RunSummary};

use crate::maker::{EstimateBuilder, estimate, ladder, summary};

pub(crate) fn host() -> HostFacts {
    let mut host = HostFacts {
        name: "node-7".to_owned(),
        fingerprint: "5e0c1f".to_owned(),
        ..HostFacts::default()
    };
    host.cpu.vendor = "AuthenticAMD".to_owned();
    host.cpu.model = "AMD EPYC".to_owned();
    host.cpu.signature = Some("25/17/1".to_owned());
    host.cpu.nominal_hz = Some(2.6e9);
    host.system.distribution = Some("Debian GNU/Linux 12 (bookworm)".to_owned());
    host.system.kernel = "6.1.0".to_owned();
    host.system.architecture = "x86_64".to_owned();
    host.system.kernel_command_line =
        Some("root=/dev/vda1 ro console=ttyS0 mitigations=auto <none>".to_owned());
    host.system.virtualization = Some("kvm".to_owned());
    host.system.clock_source = Some("tsc".to_owned());
    host.memory.total_bytes = 25_100_000_000;
    host.topology.cpus = (0..2).map(|id| Cpu { id, core: id, socket: 0, numa: 0 }).collect();
    let cache = |level, bytes, cpus: &[u32]| Cache {
        level,
        bytes,
        line_bytes: 64,
        cpus: cpus.to_vec(),
    };
    host.topology.caches = vec![
        cache(1, 32 << 10, &[0]),
        cache(1, 32 << 10, &[1]),
        cache(2, 1 << 20, &[0]),
        cache(2, 1 << 20, &[1]),
        cache(3, 32 << 20, &[0, 1]),
    ];
    host.topology.numa = vec![NumaNode { id: 0, cpus: vec![0, 1], bytes: 25_100_000_000 }];
    host.settings.insert("transparent_hugepage/enabled".to_owned(), "madvise".to_owned());
    host.mitigations.insert("spectre_v2".to_owned(), "Mitigation: Retpolines".to_owned());
    host.versions.insert("assay".to_owned(), "0.1.0".to_owned());
    host
}

fn stream(
    metric: &str,
    placement: &str,
    threads: u64,
    median: f64,
    kernel: &str,
) -> MetricEstimate {
    estimate(MemoryStream, metric, median, 0.003)
        .with(Attribute::Placement, placement)
        .with(Attribute::Threads, threads)
        .with(Attribute::BytesPerArray, 128_u64 << 20)
        .with(Attribute::Kernel, kernel)
        .with(Attribute::Concurrent, false)
}

fn streams() -> Vec<MetricEstimate> {
    let table = [
        ("copy", 38.2e9, 27.1e9, "avx512-nt"),
        ("scale", 38.0e9, 26.9e9, "avx512-nt"),
        ("add", 41.3e9, 28.8e9, "avx512-nt"),
        ("triad", 41.2e9, 28.7e9, "avx512-nt"),
        ("read", 46.9e9, 31.0e9, "avx2"),
        ("write", 37.7e9, 26.0e9, "avx512-nt"),
    ];
    let node =
        table.iter().map(|(metric, node, _, kernel)| stream(metric, "node", 2, *node, kernel));
    let core = table
        .iter()
        .map(|(metric, _, core, kernel)| stream(metric, "core:0", 1, *core, kernel));
    node.chain(core).collect()
}

fn compute() -> Vec<MetricEstimate> {
    let peak = |metric: &str, median: f64, rpeak: f64, flop: u32| {
        estimate(PeakFlops, metric, median, 0.0012)
            .with(Attribute::Placement, "node")
            .with(Attribute::Threads, 2_u64)
            .with(Attribute::InstructionSet, "avx512")
            .with(Attribute::Rpeak, rpeak)
            .with(Attribute::FlopPerCycle, u64::from(flop))
            .with(Attribute::RpeakCores, 2_u64)
            .with(Attribute::RpeakClock, 3.7e9)
    };
    let clock = estimate(PeakFlops, "core_clock", 3.7e9, 0.0004)
        .with(Attribute::Placement, "node")
        .with(Attribute::Threads, 2_u64)
        .with(Attribute::InstructionSet, "avx512");
    let mut solve = estimate(Linpack, "rmax", 214.6e9, 0.004)
        .with(Attribute::N, 8000_u64)
        .with(Attribute::Threads, 2_u64)
        .with(Attribute::Blas, "assay")
        .with(Attribute::Residual, 0.003_14)
        .with(Attribute::Rpeak, 236.8e9)
        .with(Attribute::PercentOfRpeak, 90.6)
        .with(Attribute::RpeakCores, 2_u64)
        .with(Attribute::FlopPerCycle, 32_u64)
        .with(Attribute::RpeakClock, 3.7e9);
    (solve.n, solve.n_effective) = (10, 7.2);
    vec![peak("fp64", 236.1e9, 236.8e9, 32), peak("fp32", 472.0e9, 473.6e9, 64), clock, solve]
}

/// Suite `quick` on a guest that hides SMBIOS.
pub(crate) fn quick() -> RunSummary {
    let mut summary = summary("quick", RunStatus::Complete, host());
    summary.results = streams();
    summary.results.extend(ladder(
        &ladder_bytes(4096, 128 << 20),
        &[(32 << 10, 1.08e-9), (1 << 20, 3.86e-9), (32 << 20, 13.4e-9)],
        108e-9,
    ));
    summary.results.extend(compute());
    summary
}

/// STREAM and LINPACK by assay and by `hpcc`.
pub(crate) fn quick_with_hpcc() -> RunSummary {
    let mut summary = summary("side-by-side", RunStatus::Complete, host());
    let by_hpcc = |metric: &str, median: f64| {
        let mut estimate = stream(metric, "node", 2, median, "").by_tool("hpcc", "1.5.0");
        estimate.parameters.remove(&Attribute::Kernel);
        (estimate.n, estimate.ci) = (1, None);
        estimate.with_doubt(Doubt::NoInterval {
            n: 1,
            n_effective: 1.0,
            needed: 6,
            by_tool: true,
        })
    };
    summary.results = streams().into_iter().filter(|e| e.metric == "triad").collect();
    summary.results.push(by_hpcc("triad", 31.4e9));
    let own = compute().pop().unwrap();
    let mut theirs =
        own.clone().by_tool("hpcc", "1.5.0").with(Attribute::Blas, "OpenBLAS 0.3.21");
    theirs.median = 198.2e9;
    theirs.parameters.remove(&Attribute::PercentOfRpeak);
    (theirs.n, theirs.ci) = (3, None);
    summary.results.extend([own, theirs]);
    summary
}
