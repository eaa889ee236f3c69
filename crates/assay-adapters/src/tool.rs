//! Table of tools: one row per tool that can measure workloads of assay.
//!
//! A row has the detection of the tool, the workloads that it supports, its command and its parser.
//! To add a tool, add a file under `tool/` and a row here.

use assay_model::benchmark::{MpiTest, RdmaTest};
use assay_model::workload::{NetworkWorkload, Workload};

use crate::invocation::{Invocation, ToolRequest};
use crate::outputs::{Outputs, ParsedOutput, ToolError, is_plausible};

mod fio;
mod hpcc;
mod imb;
mod ior;
pub(crate) mod ior_rows;
mod iperf3;
mod likwid_bench;
mod mpi_rows;
mod osu;
mod perftest;
mod ping;
mod qperf;
mod sockperf;
pub(crate) mod storage;
mod stream;
mod vdbench;
mod xhpl;

/// Adapter of one tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolAdapter {
    /// Stored name, as in `--by`.
    pub name: &'static str,
    /// Description of the tool and its measurements, in one or two sentences.
    pub about: &'static str,
    /// Detection on a machine.
    pub detect: ToolDetection,
    /// Whether it can measure a workload.
    pub supports: fn(&Workload) -> bool,
    /// Builds the processes that measure a supported workload.
    pub command: fn(&ToolRequest<'_>) -> Result<Vec<Invocation>, ToolError>,
    /// Parses the output of one process into samples.
    pub parse: fn(&Invocation, &Outputs) -> Result<ParsedOutput, ToolError>,
}

impl ToolAdapter {
    /// Parses the output of one process into samples, each of which is plausible.
    ///
    /// # Errors
    /// If the output is not a measurement, or has implausible values.
    pub fn read(
        &self,
        invocation: &Invocation,
        outputs: &Outputs,
    ) -> Result<ParsedOutput, ToolError> {
        let parsed = (self.parse)(invocation, outputs)?;
        let impossible = parsed.values.iter().find_map(|measured| {
            let value = measured.samples.iter().find(|value| !is_plausible(**value))?;
            Some((measured.metric, value))
        });
        match impossible {
            Some((metric, value)) => Err(ToolError::InvalidNumber {
                what: metric.to_owned(),
                text: value.to_string(),
            }),
            None => Ok(parsed),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct ToolDetection {
    /// Names to look for in `PATH`, preferred ones first.
    pub programs: &'static [&'static str],
    /// Environment variable with a path that overrides the search.
    pub path_variable: &'static str,
    /// Text that an executable found by its name must contain. A path from the user is not checked,
    /// because it may be a script.
    pub required_text: Option<&'static str>,
    /// Source of its version.
    pub version: VersionSource,
    /// Whether it is started under an MPI launcher if there is one.
    pub uses_launcher: bool,
    /// Advice on installing it, for messages.
    pub hint: &'static str,
}

impl ToolDetection {
    /// Defaults of a row: no text to look for, no version without a measurement, no launcher.
    const DEFAULT: Self = Self {
        programs: &[],
        path_variable: "",
        required_text: None,
        version: VersionSource::FromMeasurement,
        uses_launcher: false,
        hint: "",
    };
}

/// Source of a tool's version.
#[derive(Debug, Clone, Copy)]
pub enum VersionSource {
    /// Printed for an option.
    FromOption {
        /// Arguments that print the version.
        arguments: &'static [&'static str],
        /// Parses the version from standard output.
        read: fn(&str) -> Option<String>,
    },
    /// Only printed by a measurement: the tool always measures when it is started.
    FromMeasurement,
}

/// Row of a tool whose module has the parts of an adapter.
macro_rules! tool {
    ($module:ident, $name:literal, $about:literal) => {
        ToolAdapter {
            name: $name,
            about: $about,
            detect: $module::DETECTION,
            supports: $module::supports,
            command: $module::command,
            parse: $module::parse,
        }
    };
}

/// Every tool, in the order in which they are listed.
pub const TOOLS: &[ToolAdapter] = &[
    tool!(
        hpcc,
        "hpcc",
        "The HPC Challenge suite: HPL and STREAM as MPI programs, one rank per CPU. Its \
                other tests cannot be switched off."
    ),
    tool!(
        xhpl,
        "xhpl",
        "High-Performance Linpack as you built it, with the BLAS you linked: one rank per \
                CPU under an MPI launcher, one process with threads without."
    ),
    tool!(
        stream,
        "stream",
        "McCalpin's STREAM as you compiled it. The size of its arrays is fixed when it is \
                compiled; the actual size is reported with the result."
    ),
    tool!(
        likwid_bench,
        "likwid-bench",
        "The memory kernels of LIKWID, written in assembly, with the widest vectors and \
                with non-temporal stores: copy, triad, read and write."
    ),
    tool!(
        osu,
        "osu",
        "Your OSU micro-benchmarks, versions 5 to 7, under the MPI they were built with."
    ),
    tool!(
        imb,
        "imb",
        "Intel MPI Benchmarks, for MPIs with MPICH's ABI. Collective calls run back to back without \
                a barrier, unlike OSU's and assay's."
    ),
    tool!(
        fio,
        "fio",
        "The flexible I/O tester, with a job file for the same I/O: files or \
                devices, pattern, sizes, depth, rate, warm-up and length."
    ),
    tool!(
        ior,
        "ior",
        "Your IOR, versions 3 and 4: a task of an MPI launcher for each I/O in flight, one file, \
                without a rate. Its bandwidth includes opening and closing the file."
    ),
    tool!(
        vdbench,
        "vdbench",
        "Your Vdbench 5.04 with its Java, with a parameter file for the same I/O, \
                also at a rate. Its response time is the mean of an interval."
    ),
    tool!(
        iperf3,
        "iperf3",
        "ESnet's iperf3 as client: goodput over TCP and UDP, with the CPU time of the two \
                processes alone. The far end is `iperf3 -s` or `assay iperf3 -s`."
    ),
    tool!(
        qperf,
        "qperf",
        "qperf as client: the mean of half a round trip over TCP and UDP, and the goodput \
                of one TCP stream. The far end is `qperf` or `assay qperf`."
    ),
    tool!(
        sockperf,
        "sockperf",
        "sockperf as client: half round trips over TCP and UDP, of messages of 14 bytes or more. The far \
                end is `sockperf server` or `assay sockperf server`."
    ),
    tool!(ping, "ping", "The system's ping: round trips of ICMP echoes, a hundred at a time."),
    perftest::adapter(
        "ib_send_lat",
        &["ib_send_lat"],
        "perftest over RDMA: half a round trip of messages. The far end is `assay rdma`, which starts its server.",
        |workload| perftest::supports(workload, RdmaTest::SendLatency),
    ),
    perftest::adapter(
        "ib_send_bw",
        &["ib_send_bw"],
        "perftest over RDMA: the average rate of messages. The far end is `assay rdma`, which starts its server.",
        |workload| perftest::supports(workload, RdmaTest::SendBandwidth),
    ),
    perftest::adapter(
        "ib_write_lat",
        &["ib_write_lat"],
        "perftest over RDMA: half a round trip of writes. The far end is `assay rdma`, which starts its server.",
        |workload| perftest::supports(workload, RdmaTest::WriteLatency),
    ),
    perftest::adapter(
        "ib_write_bw",
        &["ib_write_bw"],
        "perftest over RDMA: the average rate of writes. The far end is `assay rdma`, which starts its server.",
        |workload| perftest::supports(workload, RdmaTest::WriteBandwidth),
    ),
    perftest::adapter(
        "ib_read_lat",
        &["ib_read_lat"],
        "perftest over RDMA: the time of a read. The far end is `assay rdma`, which starts its server.",
        |workload| perftest::supports(workload, RdmaTest::ReadLatency),
    ),
    perftest::adapter(
        "ib_read_bw",
        &["ib_read_bw"],
        "perftest over RDMA: the average rate of reads. The far end is `assay rdma`, which starts its server.",
        |workload| perftest::supports(workload, RdmaTest::ReadBandwidth),
    ),
    perftest::adapter(
        "ib_atomic_lat",
        &["ib_atomic_lat"],
        "perftest over RDMA: the time of a fetch-and-add. The far end is `assay rdma`, which starts its server.",
        |workload| perftest::supports(workload, RdmaTest::AtomicLatency),
    ),
    perftest::adapter(
        "ib_atomic_bw",
        &["ib_atomic_bw"],
        "perftest over RDMA: the average rate of fetch-and-adds. The far end is `assay rdma`, which starts its server.",
        |workload| perftest::supports(workload, RdmaTest::AtomicBandwidth),
    ),
];

pub use perftest::arguments as perftest_arguments;

/// Returns the test with this name in IMB.
pub(crate) fn find_imb_test(name: &str) -> Option<MpiTest> {
    MpiTest::ALL.into_iter().find(|test| imb::imb_name(*test) == Some(name))
}

/// Converts intervals of Vdbench to samples.
pub(crate) fn vdbench_samples(
    stretches: &[crate::vdbench_flat::VdbenchInterval],
) -> ParsedOutput {
    vdbench::interval_samples(stretches)
}

/// Returns the adapter with this name.
pub fn find(name: &str) -> Option<&'static ToolAdapter> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Builds the process of a client that measures against another host; it is not bound to CPUs.
fn client_invocation(
    request: &ToolRequest<'_>,
    label: &str,
    arguments: Vec<String>,
) -> Invocation {
    Invocation { arguments, ..Invocation::new(request, label) }
}

/// Returns the other host. For workloads without one the caller starts a server on loopback.
fn server_address(work: &NetworkWorkload) -> &str {
    work.to.as_deref().unwrap_or("127.0.0.1")
}

/// Returns the error for a workload that a tool does not support.
fn unsupported(tool: &'static str, workload: &Workload) -> ToolError {
    let benchmark = workload.benchmark().id();
    let why = format!("{benchmark} of this size, placement or library");
    ToolError::UnsupportedWorkload { tool, why }
}

#[cfg(test)]
mod tests;
