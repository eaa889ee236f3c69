//! Tests of the pinning of workers.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use assay_model::workload::storage::{Opening, WriteSync};

use super::*;

/// Checks whether `workers` workers with `in_flight` I/O each are pinned, each to its own CPU.
fn check(
    (workers, in_flight): (usize, u32),
    engine: Engine,
    (may_detour, is_far): (bool, bool),
    expected: bool,
) {
    let target = StorageTarget {
        name: "t".to_owned(),
        path: "/never/opened".into(),
        size_bytes: Some(1 << 20),
        range_bytes: None,
        direct: true,
        sync: WriteSync::None,
        align_bytes: None,
        sync_at_end: false,
        opening: Opening::default(),
    };
    let mut opened = Opened::without_file(&target).unwrap();
    (opened.may_detour, opened.is_far) = (may_detour, is_far);
    let plan = || WorkerPlan {
        stream: 0,
        lanes: vec![crew::LanePlan {
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
    let mut found = cpus(&plans, engine, &[opened]);
    assert_eq!(found.len(), workers);
    let case = format!("{workers} × {in_flight}, {engine:?}, {may_detour}, {is_far}");
    assert!(found.iter().all(|cpu| cpu.is_some() == expected), "{case}: {found:?}");
    found.sort_unstable();
    found.dedup();
    assert!(!expected || found.len() == workers, "{case}: {found:?}");
}

#[test]
fn a_worker_that_takes_turns_with_the_kernel_stays_on_its_cpu() {
    let all = pin::allowed_cpus().unwrap().len();
    check((all, 1), Engine::IoUring, (true, false), true);
    check((all, 8), Engine::Libaio, (false, false), true);
    check((all + 1, 1), Engine::IoUring, (true, false), false);
    check((all, 1), Engine::Threads, (true, false), false);
    if all < 2 {
        return eprintln!("SKIPPED a_worker_that_takes_turns_with_the_kernel: one CPU");
    }
    check((1, 1), Engine::IoUring, (true, false), true);
    check((1, 2), Engine::IoUring, (true, false), false);
    check((1, 1), Engine::Libaio, (true, false), false);
    check((1, 1), Engine::IoUring, (false, false), false);
    check((1, 1), Engine::IoUring, (true, true), false);
}
