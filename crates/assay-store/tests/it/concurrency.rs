//! Tests of several concurrent writers on one store.

use std::collections::BTreeSet;

use assay_store::{Store, StoreError};

use crate::sample_run;

#[test]
fn concurrent_writers_lose_nothing() {
    const WRITERS: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    let write = |number: usize| {
        // Each thread opens the store itself, as processes do.
        let store = Store::open(folder.path().join("assay")).unwrap();
        let mut writer =
            store.begin(sample_run::run_started(&format!("run-{number}"))).unwrap();
        let hash = writer.write_raw(b"the same output").unwrap();
        for event in sample_run::events_after_start() {
            writer.append(&event).unwrap();
            store.list().unwrap();
        }
        assert_eq!(store.read_raw(&hash).unwrap(), b"the same output");
        assert_eq!(writer.finish(None), None);
    };
    std::thread::scope(|scope| {
        (0..WRITERS).for_each(|number| drop(scope.spawn(move || write(number))));
    });
    let store = Store::open(folder.path().join("assay")).unwrap();
    let listing = store.list().unwrap();
    assert_eq!((listing.runs.len(), listing.doubts.len()), (WRITERS, 0));
    for run in listing.runs {
        let read = store.read(&run.id).unwrap();
        assert_eq!(read.problems, []);
        assert_eq!(read.run.finished_cases().count(), 2);
    }
}

#[test]
fn identifier_is_assigned_once() {
    let (_folder, store) = sample_run::temporary_store();
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let begin = || scope.spawn(|| store.begin(sample_run::run_started("same")).map(|_| ()));
        let threads: Vec<_> = (0..8).map(|_| begin()).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let is_rejected = |outcome: &&Result<(), StoreError>| {
        matches!(outcome, Err(StoreError::RunExists { .. }))
    };
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert_eq!(outcomes.iter().filter(is_rejected).count(), 7);
}

/// The run of another process is reported as running while that process holds the lock.
#[test]
fn other_process_is_running_until_killed() {
    let (_folder, store) = sample_run::temporary_store();
    drop(store.begin(sample_run::run_started("other")).unwrap());
    let events = store.folder().join("runs/other/events.jsonl");
    let mut child = match std::process::Command::new("flock")
        .args(["--exclusive", events.to_str().unwrap(), "sleep", "60"])
        .spawn()
    {
        Ok(child) => child,
        Err(error) => return sample_run::skip("another process", &format!("flock: {error}")),
    };
    let mut running = BTreeSet::new();
    for _ in 0..500 {
        running.extend(store.running().unwrap());
        if !running.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(running.into_iter().collect::<Vec<_>>(), ["other"]);
}
