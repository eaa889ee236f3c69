//! Tests of the expansion: requests, hosts and the resulting cases.

use expect_test::{Expect, expect};

use super::*;
use crate::benchmark::RdmaTest;
use crate::facts::{Cache, Cpu, NumaNode};
use crate::suite::{FileStep, FilesRequest, LinpackSize, MeasureRequest, RdmaRequest};
use crate::workload::file_set::FileWorkload;
use crate::workload::{RdmaConnection, RdmaDevice};

mod memory;
mod mpi;
mod pairs;

/// Two sockets, two last-level caches per socket, two cores per cache, two threads per core.
fn host() -> HostFacts {
    let mut host = HostFacts::default();
    host.memory.available_bytes = 64 << 30;
    host.cpu.flags = ["sse2", "avx2", "fma"].map(str::to_owned).to_vec();
    let cpu = |id: u32| Cpu { id, core: id % 8, socket: (id % 8) / 4, numa: (id % 8) / 4 };
    host.topology.cpus = (0..16).map(cpu).collect();
    let pair = |i: u32| vec![2 * i, 2 * i + 1, 2 * i + 8, 2 * i + 9];
    let cache = |i: u32| Cache { level: 3, bytes: 32 << 20, line_bytes: 64, cpus: pair(i) };
    host.topology.caches = (0..4).map(cache).collect();
    let node = |id: u32| NumaNode {
        id,
        cpus: (0..16).filter(|cpu| (cpu % 8) / 4 == id).collect(),
        bytes: 32 << 30,
    };
    host.topology.numa = (0..2).map(node).collect();
    host
}

const ASSAY: Measurer = Measurer { name: "assay", supports: |_| true };
const STREAM_ONLY: Measurer =
    Measurer { name: "stream", supports: |workload| workload.as_stream().is_some() };

fn plan(by: &str, request: MeasureRequest) -> Result<Plan, PlanError> {
    plan_with(by, request, &host(), MpiChoices::default())
}

fn plan_with(
    by: &str,
    request: MeasureRequest,
    host: &HostFacts,
    mpi: MpiChoices,
) -> Result<Plan, PlanError> {
    plan_of_pairs((by, request), host, mpi, None)
}

fn plan_of_pairs(
    (by, request): (&str, MeasureRequest),
    host: &HostFacts,
    mpi: MpiChoices,
    pairs: Option<PairChoices>,
) -> Result<Plan, PlanError> {
    let measure = Measure::new(request, 0.01);
    let suite = Suite {
        name: "test".into(),
        title: String::new(),
        budget_s: 60.0,
        measures: vec![measure],
    };
    expand(&suite, host, &PlanChoices { mpi, pairs, ..choices(by) })
}

fn plan_of_suite(suite: &Suite, by: &str) -> Result<Plan, PlanError> {
    expand(suite, &host(), &choices(by))
}

fn choices(by: &str) -> PlanChoices<'static> {
    PlanChoices {
        by: vec![by.into()],
        has_rdma: true,
        ..PlanChoices::new(&[ASSAY, STREAM_ONLY], 7)
    }
}

fn check(by: &str, request: MeasureRequest, expected: &Expect) {
    let text = match plan(by, request) {
        Err(error) => error.to_string(),
        Ok(plan) => plan.cases.iter().map(format_case).collect(),
    };
    expected.assert_eq(&text);
}

fn format_case(case: &Case) -> String {
    let detail = match &case.workload {
        Workload::Stream(work) => {
            let cpus: Vec<_> = work.domains.iter().map(|domain| &domain.cpus).collect();
            format!("{cpus:?} {} ×{}", Bytes(work.bytes_per_array), work.cache_multiple)
        }
        Workload::Copy(work) => format!(
            "{:?} from {:?} {}",
            work.domain.cpus,
            work.source.cpus,
            Bytes(work.bytes_per_array)
        ),
        Workload::CacheBandwidth(work) => format!("{:?}", work.domain.cpus),
        Workload::CoreToCore(work) => format!("{:?}", work.cpus()),
        Workload::LoadedLatency(work) => format!("{:?}", work.traffic.cpus),
        Workload::Linpack(work) => format!("{:?}", work.cpus),
        Workload::PeakFlops(work) => format!("{:?}", work.domain.cpus),
        Workload::Latency(work) => format!("{}", work.cpu),
        Workload::NetworkTcp(work)
        | Workload::NetworkUdp(work)
        | Workload::NetworkIcmp(work) => {
            format!("{:?} {:?}", work.port, work.test)
        }
        Workload::Storage(test) => {
            let work = &test.workload;
            let timing = &work.timing;
            format!(
                "{} {:?} {:?} {:.1} + {:.1} s, every {:.2} s",
                test.name,
                test.point,
                work.load,
                timing.warmup_s,
                timing.duration_s.unwrap_or(0.0),
                timing.interval_s
            )
        }
        Workload::Command(work) => work.run.line(),
        Workload::Imported(work) => format!("{:?}", work.dimensions),
        Workload::Files(test) => {
            let streams = |work: &FileWorkload| -> Vec<&str> {
                work.streams.iter().map(|stream| stream.operation.name()).collect()
            };
            let [tree] = test.workload.trees.as_slice() else { panic!("one tree") };
            format!(
                "{}: {:?}, then {:?} {:?} on {:?} directories and {:?} files in {}",
                test.name,
                streams(test.before.as_ref().unwrap()),
                streams(&test.workload),
                test.workload.streams[0].order,
                tree.directories(),
                tree.file_count(),
                tree.anchor.display()
            )
        }
        Workload::Io500(work) => format!(
            "{} tasks, {} s, {} in {}",
            work.tasks,
            work.stonewall_s,
            Bytes(work.ior_easy_bytes),
            work.folder.display()
        ),
        Workload::Rdma(work) => format!("{:?} B, {} times", work.sizes, work.iterations),
        Workload::Mpi(work) => format!(
            "{} ranks on {:?}, {} to {} B",
            work.ranks, work.placement.cpus, work.from_bytes, work.to_bytes
        ),
    };
    format!("{} {detail} {:.1} s\n", case.id, case.stopping.budget_s)
}

fn stream(placements: &[&str], threads: Option<u32>, bytes: Option<&str>) -> MeasureRequest {
    MeasureRequest::Stream {
        placements: placements.iter().map(|text| text.parse().unwrap()).collect(),
        threads,
        bytes: bytes.map(|text| text.parse().unwrap()),
    }
}

#[test]
fn placements_follow_the_topology() {
    for (placements, threads, expected) in [
        (
            &["node"][..],
            None,
            expect![[r#"
            memory.stream/node [[0, 1, 2, 3, 4, 5, 6, 7]] 512 MiB ×4 60.0 s
        "#]],
        ),
        (
            &["numa", "l3", "core"],
            None,
            expect![[r#"
            memory.stream/numa:0 [[0, 1, 2, 3]] 256 MiB ×4 7.5 s
            memory.stream/numa:1 [[4, 5, 6, 7]] 256 MiB ×4 7.5 s
            memory.stream/l3:0 [[0, 1]] 128 MiB ×4 7.5 s
            memory.stream/l3:1 [[2, 3]] 128 MiB ×4 7.5 s
            memory.stream/l3:2 [[4, 5]] 128 MiB ×4 7.5 s
            memory.stream/l3:3 [[6, 7]] 128 MiB ×4 7.5 s
            memory.stream/l3:together [[0, 1], [2, 3], [4, 5], [6, 7]] 128 MiB ×4 7.5 s
            memory.stream/core:0 [[0]] 128 MiB ×4 7.5 s
        "#]],
        ),
        (
            &["scaling"],
            None,
            expect![[r#"
            memory.stream/cores:1 [[0]] 128 MiB ×4 10.0 s
            memory.stream/cores:2 [[0, 1]] 128 MiB ×4 10.0 s
            memory.stream/cores:3 [[0, 1, 2]] 256 MiB ×4 10.0 s
            memory.stream/cores:4 [[0, 1, 2, 3]] 256 MiB ×4 10.0 s
            memory.stream/cores:6 [[0, 1, 2, 3, 4, 5]] 384 MiB ×4 10.0 s
            memory.stream/cores:8 [[0, 1, 2, 3, 4, 5, 6, 7]] 512 MiB ×4 10.0 s
        "#]],
        ),
        (
            &["node"],
            Some(4),
            expect![[r#"
            memory.stream/node [[0, 2, 4, 6]] 512 MiB ×4 60.0 s
        "#]],
        ),
    ] {
        check("assay", stream(placements, threads, None), &expected);
    }
}

#[test]
fn expands_all_measurers() {
    check(
        "all",
        stream(&["node"], None, None),
        &expect![[r#"
        memory.stream/node [[0, 1, 2, 3, 4, 5, 6, 7]] 512 MiB ×4 30.0 s
        memory.stream/node/stream [[0, 1, 2, 3, 4, 5, 6, 7]] 512 MiB ×4 30.0 s
    "#]],
    );
}

/// A duplicate request is measured once, with the time of both, so that the whole budget is used.
#[test]
fn merges_duplicate_placements() {
    for (placements, expected) in [
        (
            &["node", "node"][..],
            expect![[r#"
            memory.stream/node [[0, 1, 2, 3, 4, 5, 6, 7]] 512 MiB ×4 60.0 s
        "#]],
        ),
        (
            &["core:0", "core"],
            expect![[r#"
            memory.stream/core:0 [[0]] 128 MiB ×4 60.0 s
        "#]],
        ),
    ] {
        check("assay", stream(placements, None, None), &expected);
    }
}

#[test]
fn other_threads_are_another_case() {
    let text = "name = \"x\"\nbudget = \"60s\"\n\
         [[measure]]\nbenchmark = \"compute.linpack\"\nn = 448\n\
         [[measure]]\nbenchmark = \"compute.linpack\"\nn = 448\nthreads = 1\n\
         [[measure]]\nbenchmark = \"compute.linpack\"\nn = 448\nthreads = 1\n";
    let suite = crate::suite::parse_suite(text).unwrap();
    let plan = plan_of_suite(&suite, "assay").unwrap();
    let ids: Vec<&str> = plan.cases.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["compute.linpack/n=448", "compute.linpack/n=448/threads=1"]);
}

#[test]
fn merges_equal_measures_of_suites() {
    let suite = |name: &str, text: &str| {
        crate::suite::parse_suite(&format!("name = \"{name}\"\nbudget = \"60s\"\n{text}"))
            .unwrap()
    };
    let latency = "[[measure]]\nbenchmark = \"memory.latency\"\nto = \"4KiB\"\n";
    let stream = "[[measure]]\nbenchmark = \"memory.stream\"\nplacement = ";
    let a = suite("a", &format!("{latency}{stream}[\"node\", \"core\"]\n"));
    let b = suite("b", &format!("{latency}{stream}\"node\"\n"));
    for (suites, budget_s, expected) in [
        (vec![a.clone(), a.clone()], 60.0, vec![30.0, 22.5, 7.5]),
        (vec![a, b], 90.0, vec![30.0, 52.5, 7.5]),
    ] {
        let suite = Suite::merge(&suites);
        assert!((suite.budget_s - budget_s).abs() < 1e-9, "{}", suite.name);
        let plan = plan_of_suite(&suite, "assay").unwrap();
        let budgets: Vec<f64> = plan.cases.iter().map(|it| it.stopping.budget_s).collect();
        assert_eq!(budgets, expected, "{}", suite.name);
    }
}

/// Measurers that are missing are omitted. More threads than cores are reported as such.
#[test]
fn omits_optional_measures_with_reason() {
    let suite = |keys: &str| {
        let text = format!(
            "name = \"x\"\nbudget = \"60s\"\n[[measure]]\nbenchmark = \"memory.stream\"\noptional = true\n{keys}\n\
             [[measure]]\nbenchmark = \"compute.peak_flops\"\n"
        );
        crate::suite::parse_suite(&text).unwrap()
    };
    for (keys, expected) in [
        (
            "by = [\"assay\", \"likwid-bench\"]",
            ("memory.stream/likwid-bench", MissingRequirement::Tool, 30.0),
        ),
        ("by = \"likwid-bench\"", ("memory.stream", MissingRequirement::Tool, 60.0)),
        ("threads = 9", ("memory.stream", MissingRequirement::Cores, 60.0)),
        ("placement = \"numa:9\"", ("memory.stream", MissingRequirement::Domain, 60.0)),
    ] {
        let plan = plan_of_suite(&suite(keys), "assay").unwrap();
        let [OmittedMeasure { benchmark, reason, .. }] = plan.omitted.as_slice() else {
            panic!("{keys}: {:?}", plan.omitted)
        };
        // Omitted measures leave their time to the others.
        let last_s = plan.cases.last().unwrap().stopping.budget_s;
        assert_eq!((benchmark.as_str(), *reason, last_s), expected, "{keys}");
    }
}

#[test]
fn instruction_sets_follow_cpu_flags() {
    let every = MeasureRequest::PeakFlops {
        placements: vec![Placement::Node],
        threads: None,
        instruction_sets: InstructionSets::Every,
    };
    check(
        "assay",
        every,
        &expect![[r#"
        compute.peak_flops/node/avx2 [0, 1, 2, 3, 4, 5, 6, 7] 20.0 s
        compute.peak_flops/node/sse2 [0, 1, 2, 3, 4, 5, 6, 7] 20.0 s
        compute.peak_flops/node/portable [0, 1, 2, 3, 4, 5, 6, 7] 20.0 s
    "#]],
    );
}

#[test]
fn ladder_exceeds_last_level_cache() {
    let sizes = ladder_bytes(4096, 40_000);
    assert_eq!(sizes, [4096, 6144, 8192, 12288, 16384, 24576, 32768]);
    let plan =
        plan("assay", MeasureRequest::Latency { from: Bytes::kib(4), to: None }).unwrap();
    assert_eq!(plan.cases.last().unwrap().id, "memory.latency/bytes=134217728");
}

#[test]
fn long_chain_gets_larger_budget() {
    let request = MeasureRequest::Latency { from: Bytes(4 << 10), to: Some(Bytes(128 << 20)) };
    let plan = plan("assay", request).unwrap();
    let budget = |case: &Case| case.stopping.budget_s;
    let (first, last) = (&plan.cases[0], plan.cases.last().unwrap());
    assert!(budget(last) > 10.0 * budget(first), "{} {}", budget(first), budget(last));
    let whole: f64 = plan.cases.iter().map(budget).sum();
    assert!((whole - 60.0).abs() < 1e-9, "{whole}");
    // The largest working set represents the machine; half of it would need half as much.
    let half = plan.cases.iter().find(|case| case.id.ends_with("bytes=67108864")).unwrap();
    assert!(budget(last) > 5.0 * budget(half), "{} {}", budget(half), budget(last));
}

#[test]
fn hidden_domains_are_left_out_of_all() {
    let mut hidden = host();
    hidden.topology.caches.clear();
    hidden.topology.numa.clear();
    let cases = |placements: &[&str]| {
        let request = stream(placements, None, Some("1GiB"));
        plan_with("assay", request, &hidden, MpiChoices::default())
            .map(|plan| plan.cases.into_iter().map(|it| it.id).collect::<Vec<_>>())
    };
    let all = cases(&["all"]).unwrap();
    assert!(all.contains(&"memory.stream/node".to_owned()), "{all:?}");
    assert!(all.iter().all(|it| !it.contains("l3") && !it.contains("numa")), "{all:?}");
    assert!(cases(&["l3"]).is_err());
}

#[test]
fn rejects_impossible_requests() {
    let linpack = |size| MeasureRequest::Linpack { size, threads: None, blas: None };
    for (by, request, expected) in [
        (
            "assay",
            stream(&["numa:7"], None, None),
            expect!["there is no NUMA node 7 on this machine; it has numa:0, numa:1"],
        ),
        (
            "assay",
            stream(&["core:99"], None, None),
            expect![
                "there is no usable core 99 on this machine; it has core:0, core:1, core:2, core:3, core:4, core:5, core:6, core:7, core:8, core:9, core:10, core:11, core:12, core:13, core:14, core:15"
            ],
        ),
        (
            "assay",
            stream(&["node"], Some(9), None),
            expect!["9 threads do not fit node, which has 8 cores"],
        ),
        (
            "assay",
            stream(&["node"], Some(0), None),
            expect!["the number of threads must be at least 1"],
        ),
        (
            "assay",
            stream(&["node"], None, Some("1TiB")),
            expect![
                "STREAM with 3 arrays of 1 TiB needs 3.00 TiB, but only 51.2 GiB of memory is usable"
            ],
        ),
        (
            "assay",
            stream(&["node"], None, Some("1KiB")),
            expect!["an array is too small: 1 KiB given, at least 64 KiB needed"],
        ),
        ("assay", linpack(LinpackSize::Equations(0)), expect!["N must be at least 1"]),
        (
            "assay",
            linpack(LinpackSize::Equations(1_000_000)),
            expect![
                "a system of N = 1000000 needs 7.28 TiB, but only 64.0 GiB of memory is usable"
            ],
        ),
        (
            "hpcc",
            stream(&["node"], None, None),
            expect!["`hpcc` was not found on this machine; found: assay, stream"],
        ),
        (
            "stream",
            linpack(LinpackSize::Budget),
            expect!["nothing to measure: stream supports no benchmark of suite test"],
        ),
    ] {
        check(by, request, &expected);
    }
}

#[test]
fn linpack_fits_memory_and_budget() {
    for (size, expected) in [
        (LinpackSize::Equations(100), 100),
        (LinpackSize::Memory(0.8), 82880),
        (LinpackSize::Budget, 9472),
    ] {
        let plan =
            plan("assay", MeasureRequest::Linpack { size, threads: None, blas: None }).unwrap();
        assert_eq!(plan.cases[0].id, format!("compute.linpack/n={expected}"));
    }
    // On emulated CPUs, the usual size for this budget would take hours.
    for layers in ["qemu", "qemu, docker"] {
        let mut host = host();
        host.system.virtualization = Some(layers.to_owned());
        let request =
            MeasureRequest::Linpack { size: LinpackSize::Budget, threads: None, blas: None };
        let plan = plan_with("assay", request, &host, MpiChoices::default()).unwrap();
        assert_eq!(plan.cases[0].id, "compute.linpack/n=448", "{layers}");
    }
}

#[test]
fn expands_and_validates_network_tests() {
    use crate::suite::{NetworkProtocol, NetworkRequest};
    use crate::workload::{NetworkTest, NetworkThroughput, NetworkWorkload, TransferDirection};
    let throughput = |streams| {
        let (direction, seconds, copy) = (TransferDirection::Receive, 2, true);
        let (rate_bit_per_s, congestion) = (None, None);
        let test = NetworkTest::Throughput(NetworkThroughput {
            streams,
            direction,
            seconds,
            copy,
            segmentation: false,
            rate_bit_per_s,
            congestion,
        });
        let work = NetworkWorkload { to: None, port: Some(7), test };
        let (protocol, questions, is_length_told) = (NetworkProtocol::Tcp, vec![work], false);
        MeasureRequest::Network(NetworkRequest {
            protocol,
            tests: questions,
            has_explicit_length: is_length_told,
        })
    };
    check(
        "assay",
        throughput(6),
        &expect![[r#"
            network.tcp/loopback/receive/streams=6 Some(7) Throughput(NetworkThroughput { streams: 6, direction: Receive, seconds: 2, copy: true, segmentation: false, rate_bit_per_s: None, congestion: None }) 60.0 s
        "#]],
    );
    check("assay", throughput(0), &expect!["the number of streams must be at least 1"]);
    check(
        "assay",
        throughput(129),
        &expect!["the number of streams is 129, but must be at most 128"],
    );
}

fn storage(text: &str) -> MeasureRequest {
    let text = format!("name = \"x\"\n[[measure]]\nbenchmark = \"storage\"\n{text}");
    crate::suite::parse_suite(&text).unwrap().measures.remove(0).request
}

#[test]
fn storage_expands_sizes_depths_and_points() {
    for (text, expected) in [
        ("operation = \"read\"", expect!["no storage target is named"]),
        (
            "operation = \"read\"\npath = \"/v\"",
            expect![[r#"
            storage/random-read-8KiB random-read-8KiB None Closed 6.0 + 48.0 s, every 1.00 s 60.0 s
        "#]],
        ),
        (
            "operation = \"mix\"\npath = \"/v\"\nbs = [\"4KiB\", \"1MiB\"]\ndepth = [1, 8]",
            expect![[r#"
                storage/random-mix-4KiB-depth-1 random-mix-4KiB-depth-1 None Closed 1.5 + 12.0 s, every 0.20 s 15.0 s
                storage/random-mix-4KiB-depth-8 random-mix-4KiB-depth-8 None Closed 1.5 + 12.0 s, every 0.20 s 15.0 s
                storage/random-mix-1MiB-depth-1 random-mix-1MiB-depth-1 None Closed 1.5 + 12.0 s, every 0.20 s 15.0 s
                storage/random-mix-1MiB-depth-8 random-mix-1MiB-depth-8 None Closed 1.5 + 12.0 s, every 0.20 s 15.0 s
            "#]],
        ),
        (
            "name = \"RndRead\"\noperation = \"read\"\npath = \"/v\"\ncurve = [90, 50]",
            expect![[r#"
                storage/RndRead/max RndRead Some(Maximum) Closed 2.0 + 16.0 s, every 0.50 s 20.0 s
                storage/RndRead/50% RndRead Some(Share { percent: 50.0 }) ShareOf { phase: 0, percent: 50.0, rounding: Exact, arrivals: Exponential } 2.0 + 16.0 s, every 0.50 s 20.0 s
                storage/RndRead/90% RndRead Some(Share { percent: 90.0 }) ShareOf { phase: 0, percent: 90.0, rounding: Exact, arrivals: Exponential } 2.0 + 16.0 s, every 0.50 s 20.0 s
            "#]],
        ),
        (
            "operation = \"write\"\npath = \"/v\"\nrate = 5000\nlength = \"60s\"\nwarmup = \"1s\"",
            expect![[r#"
                storage/random-write-8KiB random-write-8KiB None Open { rate_per_s: 5000.0, arrivals: Exponential } 1.0 + 60.0 s, every 1.00 s 60.0 s
            "#]],
        ),
        (
            "name = \"RndRead\"\noperation = \"read\"\npath = \"/v\"\ncurve = [50]\nbend-points = 2",
            expect![[r#"
                storage/RndRead/max RndRead Some(Maximum) Closed 1.5 + 12.0 s, every 0.20 s 15.0 s
                storage/RndRead/50% RndRead Some(Share { percent: 50.0 }) ShareOf { phase: 0, percent: 50.0, rounding: Exact, arrivals: Exponential } 1.5 + 12.0 s, every 0.20 s 15.0 s
                storage/RndRead/bend-1 RndRead Some(Bend { nth: 1 }) ShareOf { phase: 0, percent: 100.0, rounding: Exact, arrivals: Exponential } 1.5 + 12.0 s, every 0.20 s 15.0 s
                storage/RndRead/bend-2 RndRead Some(Bend { nth: 2 }) ShareOf { phase: 0, percent: 100.0, rounding: Exact, arrivals: Exponential } 1.5 + 12.0 s, every 0.20 s 15.0 s
            "#]],
        ),
        (
            "operation = \"write\"\npath = \"/v\"\nsteady-state = true\nprecondition = \"2x\"\nlength = \"60s\"",
            expect![[r#"
                storage/random-write-8KiB random-write-8KiB None Closed 6.0 + 60.0 s, every 1.00 s 60.0 s
            "#]],
        ),
        (
            "operation = \"read\"\npath = \"/v\"\nfind-rate = \"p99<=1ms\"",
            expect![[r#"
                storage/random-read-8KiB random-read-8KiB None Closed 0.4 + 2.8 s, every 0.10 s 60.0 s
            "#]],
        ),
        (
            "operation = \"read\"\npath = \"/v\"\ndepth = 2\nthreads = 3",
            expect![
                "a depth of 2 is too small for 3 threads, each of which needs an I/O in flight"
            ],
        ),
        (
            "operation = \"read\"\npath = \"/v\"\ndepth = 99999",
            expect!["the depth is 99999, but must be at most 65536"],
        ),
        (
            "operation = \"read\"\npath = \"/v\"\nsize = \"4KiB\"",
            expect!["the target is too small: 4 KiB given, at least one block of 8 KiB needed"],
        ),
        (
            "operation = \"read\"\npath = \"/v\"\nbs = \"0B\"",
            expect!["the size of a block must be at least 1 B"],
        ),
    ] {
        check("assay", storage(text), &expected);
    }
}

/// Limits are named before anything is allocated: by depth, buffers and levels.
#[test]
fn rejects_storage_beyond_memory_and_kernel() {
    let error = |request| plan("assay", request).unwrap_err().to_string();
    let read = "operation = \"read\"\npath = \"/v\"\n";
    for (keys, expected) in [
        ("engine = \"null\"\ndepth = 99999", "the depth is 99999, but must be at most 65536"),
        ("bs = \"1GiB\"\ndepth = 128", "I/O with 128 buffers of 1 GiB needs 128 GiB"),
    ] {
        let found = error(storage(&format!("{read}{keys}")));
        assert!(found.starts_with(expected), "{found}");
    }
    let deep = FilesRequest {
        folder: Some("/t".into()),
        levels: 100_000_000,
        width: 1,
        files: 1,
        size: Bytes(1),
        steps: vec![FileStep::ALL[0]],
        threads: 1,
        bytes: None,
        random: true,
        rate_per_s: None,
        length_s: None,
        sync: false,
    };
    let found = error(MeasureRequest::Files(deep));
    assert_eq!(found, "the number of levels is 100000000, but must be at most 340");
}

#[test]
fn hidden_memory_is_named() {
    let hidden = HostFacts::default();
    let sizes = [
        sizes::array_bytes(&hidden, Some(Bytes(1 << 20)), 0, 1).map(drop),
        sizes::ladder(&hidden, Bytes(4096), None, 0).map(drop),
        sizes::equations(LinpackSize::Equations(100), &hidden, &[0], 1.0).map(drop),
    ];
    for found in sizes {
        let error = found.unwrap_err();
        assert!(error.to_string().contains("/proc/meminfo"), "{error}");
    }
}

/// The rest of the suite is measured; without a rest, the error remains.
#[test]
fn omits_what_needs_unknown_memory() {
    let mut hidden = host();
    hidden.memory.available_bytes = 0;
    let measure = |benchmark: &str| format!("[[measure]]\nbenchmark = \"{benchmark}\"\n");
    let outcome = |benchmarks: &[&str], host: &HostFacts| {
        let measures: String = benchmarks.iter().map(|it| measure(it)).collect();
        let text = format!("name = \"x\"\nbudget = \"60s\"\n{measures}");
        expand(&crate::suite::parse_suite(&text).unwrap(), host, &choices("assay"))
    };
    let plan = outcome(&["memory.stream", "compute.peak_flops", "memory.latency"], &hidden);
    let plan = plan.unwrap();
    let omitted: Vec<_> =
        plan.omitted.iter().map(|it| (it.benchmark.as_str(), it.reason)).collect();
    let unknown = MissingRequirement::KnownMemory;
    assert_eq!(omitted, [("memory.stream", unknown), ("memory.latency", unknown)]);
    assert!(plan.cases.iter().all(|it| it.id.starts_with("compute.peak_flops")));
    assert_eq!(outcome(&["memory.stream"], &hidden), Err(PlanError::UnknownMemory));
    // The limit of the control group is a known size.
    hidden.limits.memory_available_bytes = Some(8 << 30);
    assert_eq!(outcome(&["memory.stream"], &hidden).unwrap().omitted, []);
}

#[test]
fn file_operations_prepare_their_trees() {
    let files = |levels, width, size, steps: &[FileStep]| {
        MeasureRequest::Files(FilesRequest {
            folder: Some("/t".into()),
            levels,
            width,
            files: 5,
            size: Bytes(size),
            steps: steps.to_vec(),
            threads: 2,
            bytes: None,
            random: true,
            rate_per_s: None,
            length_s: None,
            sync: false,
        })
    };
    let usual: Vec<FileStep> =
        FileStep::ALL.into_iter().filter(|step| step.is_default).collect();
    check(
        "assay",
        files(2, 3, 4096, &usual),
        &expect![[r#"
        storage.files/mkdir-45-2-threads mkdir: ["delete", "rmdir"], then ["mkdir"] Once on Some(45) directories and Some(0) files in /t/assay-directories 8.6 s
        storage.files/stat-directory-45-2-threads stat-directory: ["mkdir"], then ["getattr"] Random on Some(45) directories and Some(0) files in /t/assay-directories 8.6 s
        storage.files/rmdir-45-2-threads rmdir: ["mkdir"], then ["rmdir"] Once on Some(45) directories and Some(0) files in /t/assay-directories 8.6 s
        storage.files/create-45x4KiB-2-threads create: ["mkdir", "delete"], then ["create"] Once on Some(12) directories and Some(45) files in /t/assay-files 8.6 s
        storage.files/stat-45x4KiB-2-threads stat: ["mkdir", "create"], then ["getattr"] Random on Some(12) directories and Some(45) files in /t/assay-files 8.6 s
        storage.files/read-45x4KiB-2-threads read: ["mkdir", "create"], then ["read"] Random on Some(12) directories and Some(45) files in /t/assay-files 8.6 s
        storage.files/delete-45x4KiB-2-threads delete: ["mkdir", "create"], then ["delete"] Once on Some(12) directories and Some(45) files in /t/assay-files 8.6 s
    "#]],
    );
    check(
        "assay",
        files(1, 3, 0, &FileStep::ALL),
        &expect!["a file that is read or written is too small: 0 B given, at least 1 B needed"],
    );
    check(
        "assay",
        files(64, 3, 1, &usual),
        &expect!["the number of files is 18446744073709551615, but must be at most 100000000"],
    );
}

#[test]
fn rdma_has_one_size_or_doubles_the_first() {
    let asked = RdmaRequest {
        test: RdmaTest::SendLatency,
        sizes: None,
        connection: RdmaConnection::Rc,
        iterations: None,
        depth: None,
        queue_pairs: 1,
        both: false,
        device: RdmaDevice::default(),
    };
    let request = |from, to| {
        let sizes = Some((Bytes(from), Bytes(to)));
        MeasureRequest::Rdma(RdmaRequest { sizes, ..asked.clone() })
    };
    let sizes = |request| {
        let plan = plan("assay", request).map_err(|error| error.to_string())?;
        let [case] = &plan.cases[..] else { panic!("{:?}", plan.cases) };
        let Some(work) = case.workload.as_rdma() else { panic!("{case:?}") };
        Ok::<_, String>((case.id.clone(), work.sizes.clone()))
    };
    let one = MeasureRequest::Rdma(asked.clone());
    assert_eq!(sizes(one), Ok(("rdma.send_lat/loopback/rc".to_owned(), vec![2])));
    let (id, all) = sizes(request(2, 8 << 20)).unwrap();
    assert_eq!(id, "rdma.send_lat/loopback/rc/2-8388608B");
    // The sizes of perftest's `-a`.
    assert_eq!((all.len(), all[0], all[22]), (23, 2, 8 << 20));
    assert_eq!(sizes(request(3, 13)).unwrap().1, [3, 6, 12]);
    assert_eq!(sizes(request(0, 1)).unwrap().1, [1]);
    let many = RdmaRequest {
        test: RdmaTest::WriteBandwidth,
        depth: Some(16),
        queue_pairs: 4,
        both: true,
        ..asked.clone()
    };
    assert_eq!(
        sizes(MeasureRequest::Rdma(many)).unwrap().0,
        "rdma.write_bw/loopback/rc/depth=16/queue-pairs=4/both"
    );
    let datagrams = |test, sizes| {
        let connection = RdmaConnection::Ud;
        MeasureRequest::Rdma(RdmaRequest { test, sizes, connection, ..asked.clone() })
    };
    assert_eq!(sizes(datagrams(RdmaTest::SendBandwidth, None)).unwrap().1, [1024]);
    assert_eq!(
        sizes(datagrams(RdmaTest::SendLatency, Some((Bytes(2), Bytes(8192))))).unwrap_err(),
        "a datagram is too large: 8 KiB given, at most 4 KiB possible"
    );
    let device = RdmaDevice {
        name: Some("mlx5_1".to_owned()),
        gid_index: Some(3),
        mtu_bytes: Some(512),
        ..RdmaDevice::default()
    };
    let on_device = RdmaRequest {
        test: RdmaTest::SendBandwidth,
        connection: RdmaConnection::Ud,
        device,
        ..asked.clone()
    };
    let id = "rdma.send_bw/loopback/ud/depth=128/device=mlx5_1/gid-index=3/path-mtu=512";
    assert_eq!(sizes(MeasureRequest::Rdma(on_device.clone())), Ok((id.to_owned(), vec![512])));
    let too_large = RdmaRequest { sizes: Some((Bytes(2), Bytes(1024))), ..on_device };
    assert_eq!(
        sizes(MeasureRequest::Rdma(too_large)).unwrap_err(),
        "a datagram is too large: 1 KiB given, at most 512 B possible"
    );
    for (from, to, expected) in [
        (4, 2, "the largest message is too small: 2 B given, at least 4 B needed"),
        (2, 2 << 30, "a message is too large: 2 GiB given, at most 1 GiB possible"),
    ] {
        assert_eq!(sizes(request(from, to)).unwrap_err(), expected);
    }
}

#[test]
fn copies_between_all_pairs_of_domains() {
    let request = || MeasureRequest::Machine(Benchmark::MemoryCopy);
    check(
        "assay",
        request(),
        &expect![[r#"
        memory.copy_between_domains/numa:0/from-numa:0 [0, 1, 2, 3] from [0, 1, 2, 3] 256 MiB 15.0 s
        memory.copy_between_domains/numa:0/from-numa:1 [0, 1, 2, 3] from [4, 5, 6, 7] 512 MiB 15.0 s
        memory.copy_between_domains/numa:1/from-numa:0 [4, 5, 6, 7] from [0, 1, 2, 3] 512 MiB 15.0 s
        memory.copy_between_domains/numa:1/from-numa:1 [4, 5, 6, 7] from [4, 5, 6, 7] 256 MiB 15.0 s
    "#]],
    );
    let mut one_node = host();
    one_node.topology.numa.truncate(1);
    let cases = |host: &HostFacts| -> Vec<String> {
        let plan = plan_with("assay", request(), host, MpiChoices::default()).unwrap();
        plan.cases.into_iter().map(|case| case.id).collect()
    };
    let caches = cases(&one_node);
    assert_eq!(caches.len(), 16);
    assert!(caches.contains(&"memory.copy_between_domains/l3:3/from-l3:0".to_owned()));
    one_node.topology.caches.clear();
    assert_eq!(cases(&one_node), ["memory.copy_between_domains/node/from-node"]);
}
