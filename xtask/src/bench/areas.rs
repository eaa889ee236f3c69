//! Areas of `cargo xtask bench`: their packages, scripts, suites and peers.

use crate::newest::{self, NewestPackage};
use crate::packages::{self, SystemPackage};
use crate::wheels::{self, Wheel};

/// Area with a page of its own.
#[derive(Debug)]
pub(super) struct BenchArea {
    /// Its name, which its page has as well.
    pub(super) name: &'static str,
    /// Title of the page.
    pub(super) title: &'static str,
    pub(super) packages: &'static [SystemPackage],
    /// Peers of a newer release than this machine's.
    pub(super) newest: &'static [NewestPackage],
    pub(super) wheels: &'static [Wheel],
    /// Script that is called with `setup` before; empty = none.
    pub(super) script: &'static str,
    /// Whether the script is called with `clean` afterwards.
    pub(super) has_clean: bool,
    pub(super) suites: &'static [BenchSuite],
}

/// Suite of an area.
#[derive(Debug)]
pub(super) struct BenchSuite {
    /// Name of its file in `suites/bench`.
    pub(super) file: &'static str,
    pub(super) peers: PeerLevels,
    /// Difference that counts as equivalent.
    pub(super) margin: &'static str,
}

/// Levels of a suite that are compared with assay.
#[derive(Debug)]
pub(super) enum PeerLevels {
    /// Nothing: a single run.
    Alone,
    /// Levels of the factor `tool` other than `assay`.
    Tools(&'static [&'static str]),
    /// The same, for each level of the factor `path`.
    ToolsByPath(&'static [&'static str], &'static [&'static str]),
}

impl PeerLevels {
    /// Returns the labels of each comparison: of the peer's runs and of assay's.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        let pair = |before: &str, tool: &str| {
            (format!("{before}tool={tool}"), format!("{before}tool=assay"))
        };
        match self {
            Self::Alone => Vec::new(),
            Self::Tools(tools) => tools.iter().map(|tool| pair("", tool)).collect(),
            Self::ToolsByPath(paths, tools) => paths
                .iter()
                .flat_map(|path| tools.iter().map(move |tool| (path, tool)))
                .map(|(path, tool)| pair(&format!("path={path} "), tool))
                .collect(),
        }
    }
}

/// Margin of `assay compare`.
const MARGIN: &str = "2%";

const fn suite(file: &'static str, peers: PeerLevels) -> BenchSuite {
    BenchSuite { file, peers, margin: MARGIN }
}

/// Areas, in the order in which they are measured.
pub(super) const AREAS: &[BenchArea] = &[
    BenchArea {
        name: "memory",
        title: "Memory bandwidth beside other tools",
        packages: packages::FOR_BENCH_MEMORY,
        newest: &[],
        wheels: &[],
        script: "memory",
        has_clean: false,
        suites: &[suite("memory", PeerLevels::Tools(&["likwid-bench", "loop", "sweep"]))],
    },
    BenchArea {
        name: "compute",
        title: "LINPACK beside other tools",
        packages: packages::FOR_BENCH_COMPUTE,
        newest: &[newest::OPENBLAS],
        wheels: &wheels::BLAS,
        script: "compute",
        has_clean: false,
        suites: &[
            suite(
                "compute",
                PeerLevels::Tools(&["debian-openblas", "scipy-openblas64", "mkl"]),
            ),
            suite("compute-hpl", PeerLevels::Tools(&["hpcc"])),
        ],
    },
    BenchArea {
        name: "storage",
        title: "Storage beside fio",
        packages: packages::FOR_BENCH_STORAGE,
        newest: &[newest::FIO],
        wheels: &[],
        script: "storage",
        has_clean: true,
        suites: &[suite("storage", PeerLevels::Tools(&["fio"]))],
    },
    BenchArea {
        name: "dialects",
        title: "fio's language beside fio",
        packages: packages::FOR_BENCH_STORAGE,
        newest: &[newest::FIO],
        wheels: &[],
        script: "",
        has_clean: false,
        // Two runs of one tool on a shared disk differ by as much.
        suites: &[BenchSuite {
            file: "dialects",
            peers: PeerLevels::Tools(&["fio"]),
            margin: "10%",
        }],
    },
    BenchArea {
        name: "network",
        title: "Network beside other tools",
        packages: packages::FOR_BENCH_NETWORK,
        newest: &[newest::IPERF3],
        wheels: &[],
        script: "network",
        has_clean: true,
        suites: &[
            suite(
                "network",
                PeerLevels::ToolsByPath(&["loopback", "veth"], &["iperf3", "loop"]),
            ),
            suite(
                "network-udp",
                PeerLevels::ToolsByPath(&["loopback", "veth"], &["iperf3", "loop"]),
            ),
            suite("network-splice", PeerLevels::Tools(&["iperf3"])),
            suite("network-echo", PeerLevels::Tools(&["qperf", "sockperf", "loop"])),
            suite(
                "network-connections",
                PeerLevels::ToolsByPath(&["loopback", "veth"], &["loop"]),
            ),
        ],
    },
    BenchArea {
        name: "mpi",
        title: "MPI beside compiled C",
        packages: packages::FOR_BENCH_MPI,
        newest: &[],
        wheels: &wheels::MPI,
        script: "mpi",
        has_clean: false,
        suites: &[suite("mpi", PeerLevels::Alone)],
    },
    BenchArea {
        name: "store",
        title: "assay's own commands",
        packages: &[],
        newest: &[],
        wheels: &[],
        script: "store",
        has_clean: false,
        suites: &[suite("store", PeerLevels::Alone)],
    },
    BenchArea {
        name: "build",
        title: "A cold build",
        packages: &[],
        newest: &[],
        wheels: &[],
        script: "",
        has_clean: false,
        suites: &[suite("build", PeerLevels::Alone)],
    },
];
