//! Pairs of cores by distance, and sizes of loaded latency.

use super::*;
use crate::plan::MissingRequirement;
use crate::workload::CpuPairs;

const PAIRS: MeasureRequest = MeasureRequest::Machine(Benchmark::CoreToCore);
const LOADED: MeasureRequest = MeasureRequest::LoadedLatency { to: None, bytes: None };

fn expand_one(request: MeasureRequest, host: &HostFacts) -> Result<Plan, PlanError> {
    plan_with("assay", request, host, MpiChoices::default())
}

fn pair_groups(host: &HostFacts) -> String {
    let plan = expand_one(PAIRS, host).unwrap();
    let work = plan.cases[0].workload.as_core_to_core().unwrap();
    let line = |group: &CpuPairs| format!("{}: {:?}\n", group.distance, group.pairs);
    work.groups.iter().map(line).collect()
}

#[test]
fn pairs_every_core_with_every_other_and_its_own_second_thread() {
    expect![[r#"
        same-core: [[0, 8], [1, 9], [2, 10], [3, 11], [4, 12], [5, 13], [6, 14], [7, 15]]
        same-cache: [[0, 1], [2, 3], [4, 5], [6, 7]]
        same-socket: [[0, 2], [0, 3], [1, 2], [1, 3], [4, 6], [4, 7], [5, 6], [5, 7]]
        across-sockets: [[0, 4], [0, 5], [0, 6], [0, 7], [1, 4], [1, 5], [1, 6], [1, 7], [2, 4], [2, 5], [2, 6], [2, 7], [3, 4], [3, 5], [3, 6], [3, 7]]
    "#]]
    .assert_eq(&pair_groups(&host()));
    let mut two_threads = host();
    two_threads.topology.cpus.retain(|cpu| [0, 8].contains(&cpu.id));
    assert_eq!(pair_groups(&two_threads), "same-core: [[0, 8]]\n");
}

/// All cores at once have the caches between them, so the ladder of each core ends earlier.
#[test]
fn reads_sets_beyond_the_caches_by_one_core_and_by_all() {
    let request = MeasureRequest::CacheBandwidth { from: Bytes::kib(4), to: None };
    let plan = expand_one(request, &host()).unwrap();
    let ladder = |placement: &str| -> Vec<u64> {
        let works = plan.cases.iter().filter_map(|case| case.workload.as_cache_bandwidth());
        works
            .filter(|it| it.domain.placement == placement)
            .map(|it| it.bytes_per_core)
            .collect()
    };
    let ends = |ladder: Vec<u64>| (ladder[0], ladder[ladder.len() - 1]);
    assert_eq!(ends(ladder("core:0")), (4 << 10, 128 << 20));
    assert_eq!(ends(ladder("node")), (4 << 10, 64 << 20));
}

#[test]
fn loads_every_core_but_the_first() {
    let plan = expand_one(LOADED, &host()).unwrap();
    let work = plan.cases[0].workload.as_loaded_latency().unwrap();
    assert_eq!((work.cpu, &work.traffic.cpus[..]), (0, &[1, 2, 3, 4, 5, 6, 7][..]));
    // The largest step of the ladder up to four times the core's cache of 32 MiB.
    assert_eq!(work.bytes, 128 << 20);
    // All caches have 128 MiB together, and each generator a seventh of four times that.
    assert_eq!(work.bytes_per_generator, 74 << 20);
    assert!(work.pauses_ns.is_sorted());
}

#[test]
fn refuses_buffers_that_are_too_small_or_do_not_fit() {
    for (bytes, expected) in [
        (Bytes::kib(4), "a traffic buffer is too small: 4 KiB given, at least 64 KiB needed"),
        (
            Bytes(16 << 30),
            "traffic with 7 buffers of 16 GiB needs 112 GiB, but only 51.1 GiB of memory is usable",
        ),
    ] {
        let request = MeasureRequest::LoadedLatency { to: None, bytes: Some(bytes) };
        assert_eq!(expand_one(request, &host()).unwrap_err().to_string(), expected);
    }
}

/// Of a server whose second-level caches together exceed its last-level cache, every set ends at
/// four times all caches.
#[test]
fn second_level_caches_count() {
    let mut server = host();
    let cache = |level, bytes, cpus| Cache { level, bytes, line_bytes: 64, cpus };
    let second = (0..8).map(|core| cache(2, 2 << 20, vec![core, core + 8]));
    server.topology.caches = second.chain([cache(3, 8 << 20, (0..16).collect())]).collect();
    assert_eq!(server.topology.cache_bytes(&[0]), 10 << 20);
    assert_eq!(server.topology.cache_bytes(&[0, 8, 1]), 12 << 20);
    let request = MeasureRequest::CacheBandwidth { from: Bytes::kib(4), to: None };
    let plan = expand_one(request, &server).unwrap();
    let works = plan.cases.iter().filter_map(|case| case.workload.as_cache_bandwidth());
    // 24 MiB for eight cores: the largest step of each up to 12 MiB.
    let node = works.filter(|it| it.domain.placement == "node");
    assert_eq!(node.map(|it| it.bytes_per_core).max(), Some(12 << 20));
    let plan = expand_one(LOADED, &server).unwrap();
    let work = plan.cases[0].workload.as_loaded_latency().unwrap();
    // The chain exceeds the last level alone; seven generators share four times 24 MiB.
    assert_eq!((work.bytes, work.bytes_per_generator), (32 << 20, 14 << 20));
    // A guest that shows only first-level caches hides the others.
    server.topology.caches = vec![cache(1, 32 << 10, vec![0])];
    assert_eq!(server.topology.cache_bytes(&[0]), 0);
}

#[test]
fn chain_and_buffers_fit_memory_together() {
    let sizes = |available_bytes: u64, to: Option<Bytes>| {
        let mut small = host();
        small.memory.available_bytes = available_bytes;
        let request = MeasureRequest::LoadedLatency { to, bytes: None };
        expand_one(request, &small).map(|plan| {
            let work = plan.cases[0].workload.as_loaded_latency().unwrap();
            let buffers = work.bytes_per_generator * work.traffic.cpus.len() as u64;
            assert!((work.bytes + buffers) as f64 <= available_bytes as f64 * 0.8);
            (work.bytes, work.bytes_per_generator)
        })
    };
    // 0.8 × 200 MiB less the chain of 128 MiB, between seven generators.
    assert_eq!(sizes(200 << 20, None).unwrap(), (128 << 20, (32 << 20) / 7));
    // The chain takes everything.
    let error = sizes(160 << 20, None).unwrap_err();
    let expected =
        "traffic with 7 buffers of 64 KiB needs 448 KiB, but only 0 B of memory is usable";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.missing_requirement(), Some(MissingRequirement::Memory));
    let error = sizes(4 << 30, Some(Bytes(3 << 30))).unwrap();
    assert_eq!(error.0, 3 << 30);
}

#[test]
fn single_core_is_a_missing_requirement() {
    let mut one_core = host();
    one_core.topology.cpus.truncate(1);
    for request in [PAIRS, LOADED] {
        let error = expand_one(request, &one_core).unwrap_err();
        let expected = "2 threads do not fit this machine, which has 1 core";
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.missing_requirement(), Some(MissingRequirement::Cores));
    }
}
