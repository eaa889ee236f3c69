//! Preparation of latency measurements, verification of the chain, and rejected configurations.

use super::*;
use crate::pin;

static NEVER: AtomicBool = AtomicBool::new(false);

fn config(bytes: usize, line_bytes: usize) -> LatencyConfig {
    let cpu = pin::allowed_cpus().unwrap()[0];
    LatencyConfig { cpu, bytes, line_bytes, huge_pages: false, memory: None }
}

#[test]
fn rounds_sets_to_whole_lines() {
    for (bytes, line_bytes, made_bytes) in
        [(128, 64, 128), (4096, 64, 4096), (10_000, 128, 9984), (1 << 20, 64, 1 << 20)]
    {
        let mut latency = PointerChase::prepare(&config(bytes, line_bytes), &NEVER).unwrap();
        assert_eq!(latency.bytes(), made_bytes);
        assert!(latency.loads_per_repetition() >= LOADS_PER_STEP);
        for _ in 0..3 {
            assert!(latency.repetition() > 0.0);
        }
        latency.verify(&NEVER).unwrap();
        assert!(latency.huge_bytes().unwrap() <= made_bytes);
    }
}

#[test]
fn rejects_chain_that_misses_lines() {
    let mut latency = PointerChase::prepare(&config(64 << 10, 64), &NEVER).unwrap();
    latency.on_thread(Chain::shorten);
    match latency.verify(&NEVER) {
        Err(LatencyError::WrongChain { visited, lines: 1024 }) => assert!(visited < 1024),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rejects_impossible_configurations() {
    for (bytes, line_bytes) in [(0, 64), (127, 64), (4096, 0), (4096, 12), (64, 4096)] {
        let result = PointerChase::prepare(&config(bytes, line_bytes), &NEVER);
        assert!(matches!(result, Err(LatencyError::LinkLines { .. })), "{result:?}");
    }
    let too_large = PointerChase::prepare(&config(1 << 60, 64), &NEVER);
    assert!(matches!(too_large, Err(LatencyError::MapSet(_))));
    let nowhere = LatencyConfig { cpu: 8191, ..config(4096, 64) };
    assert!(matches!(
        PointerChase::prepare(&nowhere, &NEVER),
        Err(LatencyError::StartThread(_))
    ));
}

/// A set is never measured in other memory than requested.
#[test]
fn rejects_memory_of_missing_node() {
    let first = config(1 << 20, 64);
    for cpu in [None, Some(first.cpu)] {
        let memory = Some(MemoryNode { node: 1023, cpu });
        match PointerChase::prepare(&LatencyConfig { memory, ..first }, &NEVER) {
            Err(LatencyError::PlaceSet(_)) => {}
            Ok(_) if cpu.is_some() => {
                println!(
                    "SKIPPED rejects_memory_of_missing_node: no nodes of pages are reported"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Linking and checking sets of gigabytes takes seconds, so cancellation must end both early.
#[test]
fn cancellation_ends_preparation() {
    let cancelled = PointerChase::prepare(&config(8 << 20, 64), &AtomicBool::new(true));
    assert!(matches!(cancelled, Err(LatencyError::Cancelled)), "{cancelled:?}");
}
