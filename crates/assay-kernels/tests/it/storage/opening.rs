//! Tests of the preparation of files before the first I/O: page cache and allocation.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use assay_kernels::storage;
use assay_model::workload::storage::{
    AtEnd, ExpectedOrder, NewFile, StorageTarget, TargetOpening, TargetRotation,
};

use super::{Folder, MIB, run, sequential, stream, target, workload};

/// Returns the bytes that this process has read from storage. Concurrent tests can only add to it.
fn storage_read_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/io").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes: "));
    line.unwrap().parse().unwrap()
}

/// Reads cached files of 8 MiB in total twice. Returns the bytes read from storage.
fn read_twice(paths: &[&Path], opening: TargetOpening) -> u64 {
    let mut twice = stream(sequential(AtEnd::Wrap), 64 << 10, 1.0);
    twice.in_flight_per_target = 1;
    twice.targets = (0..paths.len()).collect();
    twice.conduct.turns = (paths.len() > 1).then_some(TargetRotation::Round);
    twice.stop_after_bytes = Some(2 * 8 * MIB);
    let bytes = 8 * MIB / paths.len() as u64;
    let file = |path: &&Path| StorageTarget { opening, ..target(path, bytes) };
    let files = paths.iter().map(file).collect();
    let before = storage_read_bytes();
    run(&workload(files, twice, None)).unwrap();
    storage_read_bytes() - before
}

#[test]
fn drops_the_cache_at_every_pass() {
    let folder = Folder::new();
    for count in [1, 4] {
        let made = |number: usize| {
            let path = folder.file(&format!("{count}-{number}"));
            fs::write(&path, vec![1; (8 << 20) / count]).unwrap();
            fs::File::open(&path).unwrap().sync_all().unwrap();
            path
        };
        let paths: Vec<_> = (0..count).map(made).collect();
        let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        let expects = Some(ExpectedOrder::Sequential);
        let opening = TargetOpening { drops_cache: true, expects, ..TargetOpening::default() };
        let dropped = read_twice(&paths, opening);
        if dropped == 0 {
            eprintln!("SKIPPED drops_the_cache_at_every_pass: the files are in memory");
            return;
        }
        assert!(dropped >= 2 * 8 * MIB, "{count} files: {dropped}");
    }
}

#[test]
fn creates_files_as_requested() {
    let folder = Folder::new();
    for (new_file, bytes, has_blocks) in [
        (NewFile::Allocated, MIB, true),
        (NewFile::AllocatedPastEnd, 0, true),
        (NewFile::Hole, MIB, false),
        (NewFile::Empty, 0, false),
    ] {
        let path = folder.file(&format!("{new_file:?}"));
        let file = StorageTarget {
            opening: TargetOpening { new_file, ..TargetOpening::default() },
            ..target(&path, MIB)
        };
        storage::create_unwritten(&file, &storage::OpenTargets::default()).unwrap();
        let found = path.metadata().unwrap();
        assert_eq!((found.len(), found.blocks() >= MIB / 512), (bytes, has_blocks), "{file:?}");
        // All of it can be written, independent of its allocation.
        let mut once = stream(sequential(AtEnd::Stop), 4096, 0.0);
        once.sync_every = 100;
        once.conduct.syncs_data_only = true;
        let outcome = run(&workload(vec![file], once, None)).unwrap();
        assert_eq!((outcome.error_count, path.metadata().unwrap().len()), (0, MIB));
        assert_eq!(outcome.streams[0].syncs.as_ref().map(|syncs| syncs.count), Some(2));
    }
}
