//! Tests of the pinning of workers.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::*;

/// Checks whether `workers` workers with `in_flight` I/O each are pinned, each to its own CPU.
fn check(
    (workers, in_flight): (usize, u32),
    engine: EngineKind,
    (may_detour, is_far): (bool, bool),
    expected: bool,
) {
    let target = StorageTarget {
        direct: true,
        ..StorageTarget::new("t", "/never/opened", Some(1 << 20))
    };
    let mut opened = OpenedTarget::without_file(&target).unwrap();
    (opened.may_fall_back, opened.is_remote) = (may_detour, is_far);
    let plan = || WorkerPlan {
        stream: 0,
        lanes: vec![worker_plans::LanePlan {
            target: 0,
            slots: in_flight,
            area: opened.area,
            position: Arc::new(AtomicU64::new(0)),
            arrivals: None,
            id: 0,
            others: Vec::new(),
        }],
        cap_bytes_per_s: None,
    };
    let plans: Vec<WorkerPlan> = (0..workers).map(|_| plan()).collect();
    let mut found = worker_cpus(&plans, engine, &[opened]);
    assert_eq!(found.len(), workers);
    let case = format!("{workers} × {in_flight}, {engine:?}, {may_detour}, {is_far}");
    assert!(found.iter().all(|cpu| cpu.is_some() == expected), "{case}: {found:?}");
    found.sort_unstable();
    found.dedup();
    assert!(!expected || found.len() == workers, "{case}: {found:?}");
}

#[test]
fn worker_alternating_with_the_kernel_is_pinned() {
    let all = pin::allowed_cpus().unwrap().len();
    check((all, 1), EngineKind::IoUring, (true, false), true);
    check((all, 8), EngineKind::Libaio, (false, false), true);
    check((all + 1, 1), EngineKind::IoUring, (true, false), false);
    check((all, 1), EngineKind::Threads, (true, false), false);
    if all < 2 {
        return eprintln!("SKIPPED worker_alternating_with_the_kernel_is_pinned: one CPU");
    }
    check((1, 1), EngineKind::IoUring, (true, false), true);
    check((1, 2), EngineKind::IoUring, (true, false), false);
    check((1, 1), EngineKind::Libaio, (true, false), false);
    check((1, 1), EngineKind::IoUring, (false, false), false);
    check((1, 1), EngineKind::IoUring, (true, true), false);
}
