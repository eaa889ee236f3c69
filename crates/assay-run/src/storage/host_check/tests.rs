//! Plans that a small host, or one without `/proc`, cannot carry out.

use assay_model::workload::storage::{
    AccessPattern, AtEnd, Cursor, StoragePhase, StorageStream, StorageWorkload,
};

use super::*;

/// Returns a plan with one phase of mixed reads and writes.
fn plan(engine: EngineChoice, bytes: u64, depth: u32) -> StoragePlan {
    let pattern =
        AccessPattern::Sequential { cursor: Cursor::Shared, at_end: AtEnd::Wrap, gap_bytes: 0 };
    let stream = StorageStream {
        in_flight_per_target: depth,
        ..StorageStream::new(pattern, bytes, 0.5)
    };
    let workload =
        StorageWorkload { engine, ..StorageWorkload::new(Vec::new(), vec![stream], Some(1.0)) };
    let phase = StoragePhase::new("p", workload);
    StoragePlan { phases: vec![phase] }
}

#[test]
fn buffers_must_fit_the_memory() {
    let mut host = HostFacts::default();
    host.memory.available_bytes = 100 << 20;
    for (bytes, depth, expected) in [
        // 80 % of the memory are usable, and reads and writes have buffers of their own.
        (1 << 20, 40, None),
        (1 << 20, 41, Some("I/O with 82 buffers of 1 MiB needs 82.0 MiB")),
        (u64::MAX, 1, Some("I/O with 2 buffers of")),
        // Buffers begin at page boundaries.
        (1, 10_241, Some("I/O with 20482 buffers of 1 B needs")),
        (u64::MAX, u32::MAX, Some("I/O with")),
    ] {
        let checked = check_memory(&plan(EngineChoice::Auto, bytes, depth), &host);
        let reason = checked.err().map(|failure| failure.reason());
        assert_eq!(reason.is_some(), expected.is_some(), "{bytes} {depth}: {reason:?}");
        let reason = reason.unwrap_or_default();
        assert!(reason.contains(expected.unwrap_or_default()), "{reason}");
    }
    // A host that hides its memory is not refused.
    let unknown = HostFacts::default();
    check_memory(&plan(EngineChoice::Auto, 1 << 20, 41), &unknown).unwrap();
}

#[test]
fn missing_proc_is_named() {
    let missing = Path::new("/no-proc/thread-self/fd");
    check_descriptors(&plan(EngineChoice::Null, 4096, 1), missing).unwrap();
    let failure = check_descriptors(&plan(EngineChoice::Auto, 4096, 1), missing).unwrap_err();
    assert!(failure.reason().contains("/proc is not mounted"), "{failure}");
}
