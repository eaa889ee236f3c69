//! Readers of tool outputs. Each parses an input as the output of every invocation of its tool,
//! planned for a synthetic host.

use std::sync::LazyLock;

use assay_adapters::invocation::{InstalledTool, Invocation, ToolRequest};
use assay_adapters::launcher::{Launcher, LauncherKind};
use assay_adapters::outputs::Outputs;
use assay_adapters::tool::{self, TOOLS, ToolAdapter};
use assay_model::facts::{Cache, Cpu, HostFacts, NumaNode};
use assay_model::mpi_installation::{MpiInstallation, MpiLauncherKind};
use assay_model::mpi_outcome::MpiAbi;
use assay_model::plan::Plan;
use assay_model::plan::expand::{Measurer, MpiChoices, PlanChoices, PlanError, expand};
use assay_model::suite::{self, Suite};
use assay_model::workload::Workload;

/// Suite with one case of every kind that a tool can measure.
const SUITE_TEXT: &str = r#"
name = "all"
budget = "600s"
[[measure]]
benchmark = "memory.stream"
array-size = "1MiB"
[[measure]]
benchmark = "memory.latency"
[[measure]]
benchmark = "compute.linpack"
n = 1000
[[measure]]
benchmark = "compute.peak_flops"
[[measure]]
benchmark = "network.tcp"
to = "h"
streams = [1, 2]
direction = ["send", "receive", "both"]
[[measure]]
benchmark = "network.udp"
to = "h"
rate = "100Mbit/s"
[[measure]]
benchmark = "network.tcp"
to = "h"
measures = "latency"
[[measure]]
benchmark = "network.udp"
to = "h"
measures = "latency"
message-size = ["1B", "64B"]
[[measure]]
benchmark = "network.icmp"
to = "h"
[[measure]]
benchmark = "storage"
path = "/a/file"
size = "1GiB"
operation = "mix"
bs = ["8KiB"]
[[measure]]
benchmark = "storage"
path = "/a/file"
size = "1GiB"
operation = "write"
pattern = "sequential"
bs = ["1MiB"]
"#;

static HOST: LazyLock<HostFacts> = LazyLock::new(synthetic_host);
static MEASURERS: LazyLock<Vec<Measurer>> = LazyLock::new(|| {
    let ourselves = Measurer { name: "assay", supports: |_| true };
    let tools = TOOLS.iter().map(|tool| Measurer { name: tool.name, supports: tool.supports });
    std::iter::once(ourselves).chain(tools).collect()
});
static WORKLOADS: LazyLock<Vec<Workload>> = LazyLock::new(|| {
    let mpi = assay_model::benchmark::Benchmark::ALL.map(|it| it.id());
    let mpi = mpi.iter().filter(|id| id.starts_with("mpi."));
    let mpi = mpi.map(|id| format!("[[measure]]\nbenchmark = \"{id}\"\n"));
    let text = format!("{SUITE_TEXT}{}", mpi.collect::<String>());
    let suite = suite::parse_suite(&text).expect("it is written here");
    let plan = plan(&suite).expect("it is written for the host that is made here");
    plan.cases.into_iter().map(|case| case.workload).collect()
});

/// Returns a host with two sockets of two cores with two threads each.
fn synthetic_host() -> HostFacts {
    let mut host = HostFacts::default();
    host.memory.available_bytes = 64 << 30;
    host.cpu.flags = ["sse2", "avx2", "fma"].map(str::to_owned).to_vec();
    let cpu = |id: u32| Cpu { id, core: id % 4, socket: (id % 4) / 2, numa: (id % 4) / 2 };
    host.topology.cpus = (0..8).map(cpu).collect();
    let cpus_of_socket =
        |socket: u32| (0..8).filter(|cpu| (cpu % 4) / 2 == socket).collect::<Vec<u32>>();
    let cache =
        |id: u32| Cache { level: 3, bytes: 32 << 20, line_bytes: 64, cpus: cpus_of_socket(id) };
    host.topology.caches = (0..2).map(cache).collect();
    let node = |id: u32| NumaNode { id, cpus: cpus_of_socket(id), bytes: 32 << 30 };
    host.topology.numa = (0..2).map(node).collect();
    host
}

/// Plans a suite for the synthetic host.
pub(crate) fn plan(suite: &Suite) -> Result<Plan, PlanError> {
    let installation = MpiInstallation {
        key: "mpi".into(),
        name: "Intel MPI".into(),
        version: "2021.18".into(),
        prefix: "/opt/mpi".into(),
        library: "/opt/mpi/lib/libmpi.so.12".into(),
        abi: MpiAbi::Mpich,
        launcher: "/opt/mpi/bin/mpiexec".into(),
        starter: MpiLauncherKind::IntelHydra,
    };
    let mpi = MpiChoices { installations: vec![installation], ..MpiChoices::default() };
    let tools = vec!["assay".to_owned()];
    let choices =
        PlanChoices { by: tools, mpi, has_rdma: true, ..PlanChoices::new(&MEASURERS, 1) };
    expand(suite, &HOST, &choices)
}

/// Returns the invocations of a tool for all workloads that it supports.
fn build_invocations(tool: &ToolAdapter) -> Vec<Invocation> {
    let launcher = Launcher {
        path: "/usr/bin/mpirun".to_owned(),
        kind: LauncherKind::OpenMpi,
        version: None,
    };
    let installed = InstalledTool {
        path: format!("/opt/{}", tool.name),
        version: None,
        launcher: Some(launcher),
    };
    let request =
        |workload| ToolRequest { workload, tool: &installed, repetitions: 1, cpu_flags: &[] };
    let supported = WORKLOADS.iter().filter(|workload| (tool.supports)(workload));
    supported.filter_map(|workload| (tool.command)(&request(workload)).ok()).flatten().collect()
}

/// Parses a text as the output of every invocation of a tool.
fn parse_output(name: &str, invocations: &[Invocation], bytes: &[u8]) -> String {
    let tool = tool::find(name).expect("every tool here has its row");
    assert!(!invocations.is_empty(), "{name} has no invocation");
    let text = String::from_utf8_lossy(bytes);
    let results = invocations.iter().map(|invocation| {
        let mut outputs = Outputs { exit_code: Some(0), ..Outputs::default() };
        match invocation.files_to_read.first() {
            Some(file) => drop(outputs.files.insert(file.clone(), text.clone().into_owned())),
            None => outputs.stdout = text.clone().into_owned(),
        }
        match tool.read(invocation, &outputs) {
            Ok(parsed) => format!("{} values", parsed.values.len()),
            Err(error) => error.to_string(),
        }
    });
    results.collect()
}

/// Imports a text and describes the result.
pub(crate) fn import(bytes: &[u8]) -> String {
    match assay_adapters::import::read(&assay_adapters::import::decode_text(bytes)) {
        Ok(file) => {
            format!("{} {}", file.format.name, file.contents.measurements.len().ilog2())
        }
        Err(error) => {
            assert!(error.line().is_none_or(|line| line > 0), "lines are counted from 1");
            error.to_string()
        }
    }
}

macro_rules! tools {
    ($($reader:ident $name:literal),*) => {$(
        pub(crate) fn $reader(bytes: &[u8]) -> String {
            static INVOCATIONS: LazyLock<Vec<Invocation>> =
                LazyLock::new(|| build_invocations(tool::find($name).expect("it has its row")));
            parse_output($name, &INVOCATIONS, bytes)
        }
    )*};
}
tools!(
    hpcc "hpcc", xhpl "xhpl", stream "stream", likwid "likwid-bench", osu "osu", imb "imb", fio "fio",
    ior "ior", vdbench "vdbench", iperf3 "iperf3", qperf "qperf", sockperf "sockperf", ping "ping"
);
