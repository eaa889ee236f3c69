//! Table of all benchmarks: one row per benchmark, one entry per metric.
//!
//! Identifiers are literal strings and never derived from types, because stored runs contain them.

use serde::{Deserialize, Serialize};

use crate::quantity::Unit;

mod command;
mod foreign;
mod memory;
mod mpi;
mod network;
mod rdma;
mod storage;
mod table;

pub use command::MEASURED_OF_PROGRAMS;
pub use mpi::{
    Collective, MpiBenchmarkKind, MpiPattern, MpiTest, NeighborTopology, Neighbors,
    RemoteOperation, RmaSynchronization, WindowCreation,
};
pub use rdma::RdmaTest;
use table::benchmark_table;

benchmark_table! {
    /// A named thing that can be measured. The set is closed, so that each `match` over it is
    /// exhaustive.
    Benchmark;
    /// Memory bandwidth.
    MemoryStream, "memory.stream", MEMORY_STREAM;
    /// Memory and cache latency.
    MemoryLatency, "memory.latency", MEMORY_LATENCY;
    /// Copies from memory near one domain to memory near another.
    MemoryCopy, "memory.copy_between_domains", MEMORY_COPY;
    /// Read bandwidth of caches and memory.
    CacheBandwidth, "memory.cache_bandwidth", memory::CACHE_BANDWIDTH;
    /// Latency of cache lines between two CPUs.
    CoreToCore, "memory.core_to_core", memory::CORE_TO_CORE;
    /// Memory latency over the bandwidth of other traffic.
    LoadedLatency, "memory.loaded_latency", memory::LOADED_LATENCY;
    /// Peak rate of fused multiply-adds.
    PeakFlops, "compute.peak_flops", PEAK_FLOPS;
    /// Dense LU factorisation and solve.
    Linpack, "compute.linpack", LINPACK;
    /// TCP between two hosts.
    NetworkTcp, "network.tcp", network::TCP;
    /// UDP between two hosts.
    NetworkUdp, "network.udp", network::UDP;
    /// ICMP echoes.
    NetworkIcmp, "network.icmp", network::ICMP;
    /// Reads and writes of files and devices.
    Storage, "storage", storage::STORAGE;
    /// Operations on file trees.
    StorageFiles, "storage.files", storage::FILES;
    /// The phases of IO500.
    Io500, "io500", storage::IO500;
    /// Any program, and the figures that it prints.
    Command, "command", command::COMMAND;
    /// Figures of other tools that no benchmark here defines.
    Foreign, "foreign", foreign::FOREIGN;
    groups {
        /// MPI tests, which have identifiers of their own.
        Mpi(MpiTest);
        /// RDMA tests, which have identifiers of their own.
        Rdma(RdmaTest);
    }
}

/// Definition of a benchmark: texts, metrics and defaults.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// Title for lists, on one line.
    pub title: &'static str,
    /// Description of the method in plain words (`assay help methods`).
    pub method: &'static str,
    /// Its metrics.
    pub metrics: &'static [Metric],
    /// The section of a report that prints it.
    pub section: ReportSection,
    /// Source of the variance between preparations.
    pub variance_source: VarianceSource,
    /// Default number of preparations of a case.
    pub preparations: u32,
    /// Settings that a suite can give it.
    pub settings: SuiteSettings,
    /// Default relative half-width of the interval to reach: well below the default margin of
    /// comparisons (2 %).
    pub target: f64,
}

/// Sections of a report. The general section prints benchmarks without a section of their own, so
/// that no result is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportSection {
    /// Memory bandwidth by placement.
    Bandwidth,
    /// A matrix of copies between domains.
    Copies,
    /// Latency over the working set.
    Ladder,
    /// Read bandwidth over the working set of each core.
    CacheBandwidth,
    /// Latency of cache lines between every two cores.
    CoreToCore,
    /// Latency over the bandwidth of other traffic.
    LoadedLatency,
    /// Multiply-add peak and LINPACK.
    Compute,
    /// Throughput and round trips.
    Network,
    /// Messages over sizes, side by side for every MPI.
    Mpi,
    /// I/O on files and devices.
    Storage,
    /// Operations on file trees.
    Files,
    /// Phases of IO500 with its score.
    Io500,
    /// Programs with their times, memory and printed figures.
    Programs,
    /// A table with a column for every dimension that differs.
    General,
}

impl ReportSection {
    /// Whether hosts share the resource that its benchmarks measure, so that their results have a
    /// total.
    pub const fn has_host_totals(self) -> bool {
        match self {
            Self::Storage | Self::Network => true,
            Self::Bandwidth
            | Self::Copies
            | Self::Ladder
            | Self::CacheBandwidth
            | Self::CoreToCore
            | Self::LoadedLatency
            | Self::Compute
            | Self::Mpi
            | Self::Files
            | Self::Io500
            | Self::Programs
            | Self::General => false,
        }
    }
}

/// Kinds of settings in suites: the keys that a measure accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuiteSettings {
    /// None: the machine determines everything.
    Nothing,
    /// Placements, threads and the size of the arrays.
    Stream,
    /// Working sets.
    Ladder,
    /// Working set of the chain, and buffers of the traffic.
    LoadedLatency,
    /// Placements, threads and instruction sets.
    PeakFlops,
    /// A system of equations.
    Linpack,
    /// Throughput and round trips over TCP.
    Tcp,
    /// The same over UDP.
    Udp,
    /// Echoes.
    Icmp,
    /// Blocks of files and devices.
    Storage,
    /// File trees.
    Files,
    /// Limits of the phases of IO500.
    Io500,
    /// Messages of MPI.
    Mpi,
    /// Sizes of RDMA messages.
    Rdma,
    /// A program, its figures and checks.
    Command,
}

/// Source of the variance between preparations: a property that all samples of one preparation
/// share by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VarianceSource {
    /// Placement of their pages in memory.
    Pages,
    /// Network path of their connections, and the CPUs that serve them.
    Connections,
    /// Processes of one launch.
    Launch,
}

/// Method by which several values are combined into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The median of samples, with an interval from order statistics.
    Median,
    /// Events over occasions, each summed first: Σ part / Σ whole.
    Ratio,
}

/// Definition of a metric: name, unit, direction and meaning.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// The stored name, unique within its benchmark.
    pub name: &'static str,
    /// The base unit.
    pub unit: Unit,
    /// Whether higher or lower values are better.
    pub better: Better,
    /// Precise definition of the value: its numerator and denominator.
    pub meaning: &'static str,
    /// Physical limit of the value.
    pub limit: Option<LimitKind>,
    /// Method by which several values are combined into one.
    pub pooling: Pooling,
    /// Label in lists of runs, for the few values that they show.
    pub headline: Option<&'static str>,
}

impl Metric {
    const fn new(
        name: &'static str,
        unit: Unit,
        better: Better,
        meaning: &'static str,
    ) -> Self {
        let pooling = Pooling::Median;
        Self { name, unit, better, meaning, limit: None, pooling, headline: None }
    }

    const fn with_limit(self, bound: LimitKind) -> Self {
        Self { limit: Some(bound), ..self }
    }

    const fn with_ratio_pooling(self) -> Self {
        Self { pooling: Pooling::Ratio, ..self }
    }

    const fn with_headline(self, label: &'static str) -> Self {
        Self { headline: Some(label), ..self }
    }
}

/// Direction in which values of a metric improve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
}

impl Better {
    /// Returns the stored word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }
}

/// Kinds of physical limits; [`crate::limit`] computes their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// Transfer rate of the memory modules.
    MemoryBandwidth,
    /// FLOP/cycle × measured clock × cores in double precision.
    ComputeFp64,
    /// The same in single precision.
    ComputeFp32,
    /// Nominal rate of the network device.
    Link,
    /// Throughput that the user states a volume is provisioned for.
    Provisioned,
}

/// Default number of preparations of a case: with fewer, the interval cannot cover the variance
/// between them.
const DEFAULT_PREPARATIONS: u32 = 3;

const fn bandwidth(name: &'static str, meaning: &'static str) -> Metric {
    Metric::new(name, Unit::BytePerSecond, Better::Higher, meaning)
        .with_limit(LimitKind::MemoryBandwidth)
}

const fn flops(name: &'static str, meaning: &'static str) -> Metric {
    Metric::new(name, Unit::FlopPerSecond, Better::Higher, meaning)
}

const MEMORY_STREAM: Definition = Definition {
    title: "sustained memory bandwidth (STREAM)",
    method: "\
Pinned threads stream through three arrays of 64-bit floating-point numbers; each thread touched its \
own part first, so that the part is in its local memory. One pass is timed \
from the common start to the end of the last thread. Bytes are counted as STREAM counts them: \
what the loop reads and writes, 2 arrays for Copy and Scale, 3 for Add and Triad, 1 for read and \
write; the extra read that an ordinary store causes (write-allocate) is not counted. \
Every variant that the processor supports is tried (AVX-512, AVX2, SSE2 or NEON; with and without \
non-temporal stores); the one that a short comparison finds fastest is used and named, and the \
report says if others were within its noise. Arrays are at least four times the sum \
of the last-level caches; if memory does not allow it, the result is labelled cache-assisted. \
After timing, every element is compared with its expected value.",
    metrics: &[
        bandwidth("copy", "c[i] = a[i]; 16 bytes per element over the time of one pass"),
        bandwidth("scale", "b[i] = q × c[i]; 16 bytes per element over the time of one pass"),
        bandwidth("add", "c[i] = a[i] + b[i]; 24 bytes per element over the time of one pass"),
        bandwidth(
            "triad",
            "a[i] = b[i] + q × c[i]; 24 bytes per element over the time of one pass",
        )
        .with_headline("Triad"),
        bandwidth("read", "sum of a[i]; 8 bytes per element over the time of one pass"),
        bandwidth("write", "a[i] = q; 8 bytes per element over the time of one pass"),
    ],
    section: ReportSection::Bandwidth,
    variance_source: VarianceSource::Pages,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Stream,
    target: 0.01,
};

const MEMORY_LATENCY: Definition = Definition {
    title: "load-to-use latency of caches and memory",
    method: "\
Pointer chasing: the cache lines of a working set are linked into one random cycle, and one pinned \
thread follows it with dependent loads. The figure is time over number of loads: the full latency \
of one load. Working sets grow from 4 KiB to beyond the last-level cache, so that each cache level \
shows as a step. Huge pages are requested to keep TLB misses small; whether they were granted is \
reported.",
    metrics: &[Metric::new("latency", Unit::Second, Better::Lower, "time per dependent load")
        .with_headline("latency")],
    section: ReportSection::Ladder,
    variance_source: VarianceSource::Pages,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Ladder,
    target: 0.01,
};

const MEMORY_COPY: Definition = Definition {
    title: "copies between every two NUMA nodes or last-level caches, and latency between nodes",
    method: "\
Pinned threads of one domain (the placement) copy an array in the local memory of another domain (the \
source) to an array in their own local memory. Domains are NUMA nodes or, on a machine with a single \
node, last-level caches. Every ordered pair is measured separately, including a domain with itself. \
Sources include nodes that have memory and no CPU (HBM, CXL). Between nodes the memory is requested from \
the source's node, and a sample of its pages is checked: more than 1 % elsewhere is an error. The latency \
between nodes is that of memory.latency with its largest working set, by the first CPU of the placement. \
Bytes are counted as in STREAM's Copy, 2 arrays over the time of a pass, so reads are half of the \
figure. Arrays are four times the last-level caches of both domains: this measures memory, and \
differences between the caches of one node are small. The kernels are STREAM's; a short \
comparison chooses the one that is used and named, and every element is compared afterwards.",
    metrics: &[
        Metric::new(
            "bandwidth",
            Unit::BytePerSecond,
            Better::Higher,
            "c[i] = a[i], a near the source, c near the placement; 16 bytes per element over the time of a pass",
        )
        .with_headline("slowest copy"),
        Metric::new(
            "latency",
            Unit::Second,
            Better::Lower,
            "time per dependent load by the first CPU of the placement in the memory of the source; NUMA nodes only",
        ),
    ],
    section: ReportSection::Copies,
    variance_source: VarianceSource::Pages,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Nothing,
    target: 0.01,
};

const PEAK_FLOPS: Definition = Definition {
    title: "peak rate of fused multiply-adds",
    method: "\
Independent chains of fused multiply-adds run in registers, without touching memory, on pinned \
threads; each multiply-add counts as two operations per element. The core clock is measured by \
a chain of dependent one-cycle additions in short slices between bursts of multiply-adds. The \
best rate per core over clock gives FLOP/cycle; rounded to vectors × units it gives Rpeak = cores × FLOP/cycle × clock, \
always printed with its three factors. Nothing is looked up in a list of processors.",
    metrics: &[
        flops("fp64", "64-bit operations per second, 2 per multiply-add")
            .with_limit(LimitKind::ComputeFp64)
            .with_headline("FP64"),
        flops("fp32", "32-bit operations per second, 2 per multiply-add")
            .with_limit(LimitKind::ComputeFp32),
        Metric::new(
            "core_clock",
            Unit::Hertz,
            Better::Higher,
            "cycles per second of one busy core, mean of the cores used",
        ),
    ],
    section: ReportSection::Compute,
    variance_source: VarianceSource::Pages,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::PeakFlops,
    target: 0.01,
};

const LINPACK: Definition = Definition {
    title: "dense LU factorisation and solve (LINPACK)",
    method: "\
A random dense system of N equations is factorised with partial pivoting and solved on all cores. \
The figure, Rmax, is HPL's: (2/3 N³ + 3/2 N²) operations over the time of factorisation and \
solve. The solution is then put back into the original system; HPL's scaled residual \
‖Ax−b‖∞ / (ε (‖A‖∞ ‖x‖∞ + ‖b‖∞) N) must stay below 16, or the measurement has failed. Rmax is \
given as a share of the measured multiply-add peak and of Rpeak.",
    metrics: &[flops(
        "rmax",
        "(2/3 N³ + 3/2 N²) operations over the time of factorisation and solve",
    )
    .with_limit(LimitKind::ComputeFp64)
    .with_headline("Rmax")],
    section: ReportSection::Compute,
    variance_source: VarianceSource::Pages,
    preparations: DEFAULT_PREPARATIONS,
    settings: SuiteSettings::Linpack,
    target: 0.01,
};

impl Benchmark {
    /// Returns the benchmark with this identifier.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|benchmark| benchmark.id() == id)
    }

    /// Returns the metric with this name.
    pub fn metric(self, name: &str) -> Option<&'static Metric> {
        self.definition().metrics.iter().find(|metric| metric.name == name)
    }
}

/// Whether a name of a metric, alone or after its benchmark and a slash, names this one.
pub fn is_metric(name: &str, benchmark: &str, metric: &str) -> bool {
    name == metric
        || name.strip_suffix(metric).and_then(|it| it.strip_suffix('/')) == Some(benchmark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_match_serde_names() {
        for benchmark in Benchmark::ALL {
            assert_eq!(Benchmark::from_id(benchmark.id()), Some(benchmark));
            let stored = serde_json::to_value(benchmark).unwrap();
            assert_eq!(stored, benchmark.id(), "serde name and table row must agree");
        }
    }

    #[test]
    fn metric_names_are_unique() {
        for benchmark in Benchmark::ALL {
            let mut names: Vec<_> =
                benchmark.definition().metrics.iter().map(|metric| metric.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), benchmark.definition().metrics.len(), "{}", benchmark.id());
        }
    }
}
