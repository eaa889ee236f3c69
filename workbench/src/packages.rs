//! System packages of the tests and comparisons, each with its reason.
//!
//! Installs missing packages with Debian's package manager. Never removes or upgrades any.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::command;

/// System package with the reason why it is needed.
#[derive(Debug, Clone, Copy)]
pub struct SystemPackage {
    /// Name in Debian 12.
    pub name: &'static str,
    /// Purpose of the package.
    pub reason: &'static str,
}

const fn package(name: &'static str, reason: &'static str) -> SystemPackage {
    SystemPackage { name, reason }
}

const GCC: SystemPackage =
    package("gcc", "compiles the plain C programs assay is compared with");
const LIBC: SystemPackage = package("libc6-dev", "headers and start files for gcc");
const GIT: SystemPackage = package("git", "lists the files of the tree for `tidy`");
const HPCC: SystemPackage = package("hpcc", "the official HPL and STREAM, as peers");
const OPENMPI: SystemPackage =
    package("openmpi-bin", "`mpirun`, without which hpcc does not start");
const LIKWID: SystemPackage =
    package("likwid", "`likwid-bench`, the memory kernels of the field");
const OPENBLAS: SystemPackage = package("libopenblas0-pthread", "the BLAS that `--blas` opens");

const MPICH: SystemPackage = package("mpich", "an MPI with the MPICH ABI, for `assay mpi`");
const OPENMPI_HEADERS: SystemPackage = package("libopenmpi-dev", "its `mpicc`");
const MPICH_HEADERS: SystemPackage = package("libmpich-dev", "its `mpicc`");
const SLURM_CONTROLLER: SystemPackage =
    package("slurmctld", "a Slurm of one node, whose `srun` starts ranks of `assay mpi`");
const SLURM_NODE: SystemPackage = package("slurmd", "its node");
const SLURM_CLIENT: SystemPackage = package("slurm-client", "`srun`, `salloc` and `sbatch`");
const MUNGE: SystemPackage = package("munge", "authentication between Slurm's daemons");
const SSH: SystemPackage = package("openssh-client", "the transport to other hosts");
const SSH_SERVER: SystemPackage = package("openssh-server", "the SSH server on those hosts");
const SUDO: SystemPackage = package("sudo", "another user's permissions, as a transport");
const BUSYBOX: SystemPackage =
    package("busybox", "the shell and commands of small systems, to test scripts");
const PODMAN: SystemPackage = package("podman", "containers as hosts");
const PMIX: SystemPackage =
    package("libpmix-dev", "the unversioned library name that Slurm's plugin loads for PMIx");
const VENV: SystemPackage =
    package("python3-venv", "environments for the MPIs that Debian lacks, and for fio-plot");

const IPERF3: SystemPackage =
    package("iperf3", "client and server of the network tests, in all pairings");
const QPERF: SystemPackage =
    package("qperf", "client and server of the ping-pong, in all pairings");
const SOCKPERF: SystemPackage =
    package("sockperf", "client and server of its tests, in all pairings");
const JQ: SystemPackage = package("jq", "reads the figures of JSON output in `suites/bench`");
const PING: SystemPackage = package("iputils-ping", "`ping`, as a peer");
const IPROUTE: SystemPackage =
    package("iproute2", "`ip` and `tc`: namespaces and a link of known speed");
const ETHTOOL: SystemPackage =
    package("ethtool", "turns off offloads on the link of known speed");

const RPM: SystemPackage = package("rpm", "`rpmbuild` and `rpm2cpio`, for the RPM package");
const RPMLINT: SystemPackage = package("rpmlint", "checks the RPM package");
const LINTIAN: SystemPackage = package("lintian", "checks the Debian package");
const DEBOOTSTRAP: SystemPackage =
    package("debootstrap", "clean roots in which the packages are installed");
const LMOD: SystemPackage = package("lmod", "modules, for EasyBuild");
const SKOPEO: SystemPackage = package("skopeo", "reads the OCI image");

const CHROMIUM: SystemPackage = package("chromium", "renders HTML reports, headless");
const JAVA: SystemPackage =
    package("default-jre-headless", "runs the W3C's checker of HTML and CSS");

const SEVEN_ZIP: SystemPackage =
    package("p7zip", "`7zr`, an application with a figure of merit");
const SYSBENCH: SystemPackage = package("sysbench", "another one");

const FIO: SystemPackage = package("fio", "the usual storage benchmark, as a peer");

const PROMETHEUS: SystemPackage =
    package("prometheus", "`promtool`, which checks exported metrics");
const NODE_EXPORTER: SystemPackage =
    package("prometheus-node-exporter", "collects exported metrics from a file");
const INFLUXDB: SystemPackage =
    package("influxdb", "`influxd`, which stores exported lines of results");

const FAKETIME: SystemPackage = package("faketime", "sets the clock of a host during a run");

const PDSH: SystemPackage =
    package("pdsh", "starts a command on many hosts, as a peer of agents");
const CLUSH: SystemPackage = package("clustershell", "`clush`, likewise");

const QEMU: SystemPackage =
    package("qemu-system-x86", "runs the guests of the laboratory, emulated if necessary");
const CPIO: SystemPackage = package("cpio", "packs their file systems");
const KMOD: SystemPackage = package("kmod", "`depmod` and `modprobe`: dependencies of modules");
const QEMU_USER: SystemPackage =
    package("qemu-user", "`qemu-aarch64`: runs aarch64 programs on this machine");
const GCC_ARM: SystemPackage = package("gcc-aarch64-linux-gnu", "links aarch64 programs");
const LIBC_ARM: SystemPackage = package("libc6-dev-arm64-cross", "the C library for aarch64");
const BINUTILS: SystemPackage =
    package("binutils", "`strip`, since a guest has little memory, and `objdump`");

const SHELLCHECK: SystemPackage = package("shellcheck", "checks the shell scripts of the tree");
const STRACE: SystemPackage =
    package("strace", "makes the n-th call of a run fail, for `cargo xtask faults`");

const BINDFS: SystemPackage =
    package("bindfs", "a FUSE daemon that is ended during a run, for `cargo xtask faults`");

const TASKSET: SystemPackage =
    package("util-linux", "`taskset` and `lscpu`: runs all contenders on the same CPUs");

/// Packages of the memory bandwidth comparison.
pub const FOR_BENCH_MEMORY: &[SystemPackage] = &[GCC, LIBC, LIKWID, JQ];
/// Packages of the LINPACK comparison.
pub const FOR_BENCH_COMPUTE: &[SystemPackage] = &[GCC, LIBC, HPCC, OPENMPI, OPENBLAS, VENV, JQ];

/// Packages of `cargo xtask tidy`.
pub const FOR_TIDY: &[SystemPackage] = &[SHELLCHECK];

/// Packages that pack and check the released files.
pub const FOR_DIST: &[SystemPackage] =
    &[GIT, VENV, BINUTILS, CPIO, RPM, RPMLINT, LINTIAN, SKOPEO, PODMAN];

/// Further packages of the released files of all machines.
pub const FOR_RELEASE: &[SystemPackage] = &[DEBOOTSTRAP, LMOD, QEMU_USER, LIBC_ARM];

/// Packages that inject faults.
pub const FOR_FAULTS: &[SystemPackage] = &[STRACE, TASKSET, IPROUTE, FIO, BINDFS];

/// Packages of the laboratory. The contents of its guests are downloaded, not installed.
pub const FOR_LAB: &[SystemPackage] = &[QEMU, CPIO, KMOD, BINUTILS];

/// Additional packages of its scenario for aarch64.
pub const FOR_LAB_ARM: &[SystemPackage] = &[QEMU_USER, GCC_ARM, LIBC_ARM];

/// Packages of the tests; a test without its package skips itself by name.
pub const FOR_TESTS: &[SystemPackage] = &[
    GCC,
    LIBC,
    GIT,
    HPCC,
    OPENMPI,
    MPICH,
    SLURM_CONTROLLER,
    SLURM_NODE,
    SLURM_CLIENT,
    MUNGE,
    SSH,
    SSH_SERVER,
    SUDO,
    BUSYBOX,
    PODMAN,
    PMIX,
    VENV,
    LIKWID,
    OPENBLAS,
    IPERF3,
    QPERF,
    SOCKPERF,
    PING,
    IPROUTE,
    ETHTOOL,
    SEVEN_ZIP,
    SYSBENCH,
    FIO,
    PROMETHEUS,
    NODE_EXPORTER,
    INFLUXDB,
    FAKETIME,
    CHROMIUM,
    JAVA,
];

/// Packages of the MPI comparison.
pub const FOR_BENCH_MPI: &[SystemPackage] =
    &[GCC, LIBC, OPENMPI, OPENMPI_HEADERS, MPICH, MPICH_HEADERS, VENV, TASKSET];

/// Packages of the network comparison.
pub const FOR_BENCH_NETWORK: &[SystemPackage] =
    &[GCC, LIBC, IPERF3, QPERF, SOCKPERF, IPROUTE, TASKSET, JQ];

/// Packages of the comparison with many hosts.
pub const FOR_BENCH_FLEET: &[SystemPackage] = &[PDSH, CLUSH, FIO, TASKSET];
/// Packages of the storage comparison.
pub const FOR_BENCH_STORAGE: &[SystemPackage] = &[FIO, JQ];

/// Installs the missing ones of `packages`. Prints and skips those that cannot be installed.
pub fn install(root: &Path, packages: &[SystemPackage]) -> Result<()> {
    if !command::is_installed("dpkg-query") || !command::is_installed("apt-get") {
        println!("packages: apt is not available; using the installed packages");
        return Ok(());
    }
    let missing = find_missing(root, packages)?;
    if missing.is_empty() {
        println!("packages: all {} are installed", packages.len());
        return Ok(());
    }
    for package in &missing {
        println!("packages: {} is missing: {}", package.name, package.reason);
    }
    if !is_root() {
        println!("packages: cannot install: not root");
        return Ok(());
    }
    let updated = command::run(command::at_root(root, "apt-get").args(["update", "-qq"]));
    if let Err(error) = updated.and_then(|()| apt_install(root, &missing)) {
        println!("packages: {error:#}; continuing without them");
    }
    Ok(())
}

fn apt_install(root: &Path, packages: &[SystemPackage]) -> Result<()> {
    command::run(
        command::at_root(root, "apt-get")
            .args(["install", "-qq", "-y", "--no-install-recommends"])
            .args(packages.iter().map(|package| package.name))
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

fn find_missing(root: &Path, packages: &[SystemPackage]) -> Result<Vec<SystemPackage>> {
    let names = packages.iter().map(|package| package.name);
    // `dpkg-query` exits with 1 for unknown packages, but lists the others.
    let listed = command::capture(
        command::at_root(root, "dpkg-query")
            .args(["--show", "--showformat=${Package} ${db:Status-Status}\n"])
            .args(names),
    )?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let installed = parse_installed(&listed);
    Ok(packages.iter().filter(|package| !installed.contains(package.name)).copied().collect())
}

/// Parses lines of `name status` and returns the names with status `installed`.
fn parse_installed(listed: &str) -> BTreeSet<&str> {
    listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, status)| *status == "installed")
        .map(|(name, _)| name)
        .collect()
}

/// Whether the effective user of this process is root, according to proc(5).
fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    user.and_then(|ids| ids.split_whitespace().nth(1)) == Some("0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_packages_not_installed() {
        let listed = "gcc installed\nhpcc config-files\nlikwid not-installed\ntime installed\n";
        assert_eq!(parse_installed(listed), BTreeSet::from(["gcc", "time"]));
    }
}
