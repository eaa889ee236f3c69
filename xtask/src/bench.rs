//! `cargo xtask bench …`: compares assay with other tools on this machine, in one run.
//!
//! Each comparison installs its peers from the system's packages and alternates with them. The
//! order of the turns is drawn from a seed and reversed every other turn. The results go to
//! `docs/benchmarks/`. A target that is missed is recorded as missed; no result is adjusted.

use std::path::Path;

use anyhow::{Result, bail};

use options::BenchOptions;

mod assay;
mod compute;
mod cpus;
mod dialects;
mod fleet;
mod footprint;
mod hpcc;
mod lapack;
mod likwid;
pub(crate) mod machine;
mod memory;
mod mpi;
mod network;
mod options;
mod order;
mod ratio;
mod storage;
mod store;
mod stream_loop;
mod timings;
mod workplace;

/// Options of all comparisons.
pub(crate) const USAGE: &str = "\
cargo xtask bench memory     against likwid-bench and a plain C loop → docs/benchmarks/memory.md
cargo xtask bench compute    against OpenBLAS and HPL → docs/benchmarks/compute.md
cargo xtask bench network    against iperf3, qperf and a bare loop, over loopback and veth → docs/benchmarks/network.md
cargo xtask bench mpi        against C compiled with each MPI's mpicc → docs/benchmarks/mpi.md
cargo xtask bench storage    against fio → docs/benchmarks/storage.md
cargo xtask bench dialects   assay fio against fio, small jobs of every kind → docs/benchmarks/dialects.md
cargo xtask bench fleet      a coordinator of 10 to 1,000 agents, against pdsh, clush and fio → docs/scaling-fleet.md
cargo xtask bench store      list, show, compare, report and import over 10,000 runs → docs/benchmarks/store.md
cargo xtask bench build      start-up, size and cold build → docs/benchmarks/build.md
    --turns N       number of turns (10; at least 6 for an interval)
    --threads N     number of CPUs, one per core first (all cores)
    --seed N        seed of the order of the turns (1)
    --bytes SIZE    memory: size of one array (4 × the sum of the last-level caches, 256 MiB at least)
    --n N,N,…       compute: orders of the system (4000,8000,16000)
    --hpcc-up-to N  compute: maximum order for hpcc (8000), whose other tests take too long beyond
";

/// Runs one comparison.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let (what, options) = match arguments {
        [what, rest @ ..] => (*what, BenchOptions::parse(rest)?),
        [] => bail!("expected a comparison\n{USAGE}"),
    };
    match what {
        "memory" => memory::run(root, &options),
        "compute" => compute::run(root, &options),
        "network" => network::run(root, &options),
        "mpi" => mpi::run(root, &options),
        "storage" => storage::run(root, &options),
        "dialects" => dialects::run(root, &options),
        "fleet" => fleet::run(root, &options),
        "store" => store::run(root, &options),
        "build" => footprint::run(root, &options),
        other => bail!("unknown comparison: {other}\n{USAGE}"),
    }
}
