//! Streams of targets, and the number of steps that collecting them takes.

use std::path::PathBuf;

use assay_model::workload::storage::{AccessPattern, StorageTarget};

use super::*;

/// Returns a workload of `count` targets, each with a stream of its own; every second one writes.
fn workload(count: usize) -> StorageWorkload {
    let target =
        |index| StorageTarget::new("t", PathBuf::from(format!("t{index}")), Some(8192));
    let stream = |index: usize| {
        let mut stream = StorageStream::new(AccessPattern::Random, 4096, (index % 2) as f64);
        stream.targets = vec![index];
        stream
    };
    StorageWorkload::new(
        (0..count).map(target).collect(),
        (0..count).map(stream).collect(),
        Some(1.0),
    )
}

#[test]
fn asking_for_streams_visits_each_reference_once() {
    for count in [100, 400] {
        let workload = workload(count);
        let streams = StreamsByTarget::collect(&workload);
        let visited: usize = (0..count).map(|target| streams.users(target).len()).sum();
        assert_eq!(visited, count);
        for target in 0..count {
            assert_eq!(streams.is_written(target), target % 2 == 0, "{target}");
        }
    }
}

#[test]
fn missing_target_has_no_streams() {
    let mut workload = workload(2);
    workload.streams[0].targets = vec![1, 7];
    let streams = StreamsByTarget::collect(&workload);
    assert!(streams.users(0).is_empty() && !streams.is_written(0));
    assert_eq!(streams.users(1).len(), 2);
}
