//! What happens to a file before its first I/O: its cache, and what it is made as.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use assay_kernels::storage;
use assay_model::workload::storage::{AtEnd, ExpectedOrder, NewFile, Opening, StorageTarget};

use super::{Folder, MIB, run, sequential, stream, target, workload};

/// Bytes that this process has made the storage deliver. Other tests of it can only add some.
fn delivered() -> u64 {
    let text = fs::read_to_string("/proc/self/io").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes: "));
    line.unwrap().parse().unwrap()
}

/// Two passes over a file that the page cache holds; what the storage delivered.
fn read_twice(path: &Path, opening: Opening) -> u64 {
    let mut twice = stream(sequential(AtEnd::Wrap), 64 << 10, 1.0);
    twice.in_flight_per_target = 1;
    twice.stop_after_bytes = Some(2 * 8 * MIB);
    let file = StorageTarget { opening, ..target(path, 8 * MIB) };
    let before = delivered();
    run(&workload(vec![file], twice, None)).unwrap();
    delivered() - before
}

#[test]
fn a_cache_that_is_dropped_is_dropped_at_every_pass() {
    let folder = Folder::new();
    let path = folder.file("f");
    fs::write(&path, vec![1; 8 << 20]).unwrap();
    fs::File::open(&path).unwrap().sync_all().unwrap();
    let expects = Some(ExpectedOrder::Sequential);
    let dropped =
        read_twice(&path, Opening { drops_cache: true, expects, ..Opening::default() });
    if dropped == 0 {
        eprintln!(
            "SKIPPED a_cache_that_is_dropped_is_dropped_at_every_pass: files lie in memory"
        );
        return;
    }
    assert!(dropped >= 2 * 8 * MIB, "{dropped}");
}

#[test]
fn a_file_is_made_as_it_is_asked_for() {
    let folder = Folder::new();
    for (new_file, bytes, has_blocks) in [
        (NewFile::Allocated, MIB, true),
        (NewFile::AllocatedPastEnd, 0, true),
        (NewFile::Hole, MIB, false),
        (NewFile::Empty, 0, false),
    ] {
        let path = folder.file(&format!("{new_file:?}"));
        let file = StorageTarget {
            opening: Opening { new_file, ..Opening::default() },
            ..target(&path, MIB)
        };
        storage::make_unwritten(&file, &storage::Held::default()).unwrap();
        let found = path.metadata().unwrap();
        assert_eq!((found.len(), found.blocks() >= MIB / 512), (bytes, has_blocks), "{file:?}");
        // All of it can be written, whatever it was made as.
        let mut once = stream(sequential(AtEnd::Stop), 4096, 0.0);
        once.sync_every = 100;
        once.conduct.syncs_data_only = true;
        let outcome = run(&workload(vec![file], once, None)).unwrap();
        assert_eq!((outcome.error_count, path.metadata().unwrap().len()), (0, MIB));
        assert_eq!(outcome.streams[0].syncs.as_ref().map(|syncs| syncs.count), Some(2));
    }
}
