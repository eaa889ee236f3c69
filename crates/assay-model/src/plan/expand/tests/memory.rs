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
            "traffic with 7 buffers of 16 GiB needs 112 GiB, but only 51.2 GiB of memory is usable",
        ),
    ] {
        let request = MeasureRequest::LoadedLatency { to: None, bytes: Some(bytes) };
        assert_eq!(expand_one(request, &host()).unwrap_err().to_string(), expected);
    }
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
