//! Tests that create, use and remove trees on this machine's temporary file system.

use std::path::{Path, PathBuf};

use assay_model::workload::file_set::{
    FileAccess, FileOperation, FileOrder, FileTree, StopAfter, TreePart,
};
use assay_model::workload::storage::{ArrivalProcess, SizeShare, StorageTiming};

use super::*;

/// Folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("assay-files-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn size(bytes: u64) -> Vec<SizeShare> {
    vec![SizeShare::single(bytes)]
}

fn tree(anchor: &Path) -> FileTree {
    FileTree {
        name: "fsd1".into(),
        anchor: anchor.into(),
        depth: 2,
        width: 3,
        files: 4,
        files_on_all_levels: false,
        sizes: size(10_000),
        most_files: None,
        used_files: None,
        direct: false,
        sync: false,
        sync_at_close: false,
        part: None,
    }
}

fn stream(operation: FileOperation, order: FileOrder) -> FileStream {
    FileStream {
        name: "fwd1".into(),
        tree: 0,
        operation,
        threads: 3,
        order,
        access: FileAccess::Sequential,
        read_share: None,
        sizes: size(4096),
        stop_after: None,
        rate_share: 1.0,
        of_directories: false,
    }
}

fn workload(anchor: &Path, streams: Vec<FileStream>, duration_s: Option<f64>) -> FileWorkload {
    FileWorkload {
        trees: vec![tree(anchor)],
        streams,
        in_turn: duration_s.is_none(),
        load: FileLoad::Closed,
        timing: StorageTiming { interval_s: 0.1, ..StorageTiming::new(duration_s) },
        compressible: 0.0,
        seed: 7,
    }
}

fn run_workload(workload: &FileWorkload) -> FileOutcome {
    let stop = AtomicBool::new(false);
    let mut on_interval = |_: &FileInterval| {};
    let mut control = FileControl {
        stop: &stop,
        on_ready: &mut || {},
        on_interval: &mut on_interval,
        max_errors: 50,
    };
    run(workload, &mut control).unwrap()
}

fn create_tree(anchor: &Path) -> FileOutcome {
    let once = |operation| stream(operation, FileOrder::Once);
    let streams = vec![once(FileOperation::Mkdir), once(FileOperation::Create)];
    run_workload(&workload(anchor, streams, None))
}

#[test]
fn creates_and_removes_a_whole_tree() {
    let folder = Folder::new("whole");
    let outcome = create_tree(&folder.0);
    assert_eq!((outcome.error_count, outcome.ended), (0, EndReason::Work));
    assert_eq!(outcome.total.count_of(FileOperation::Mkdir).count, 12);
    for operation in [FileOperation::Open, FileOperation::Create, FileOperation::Close] {
        assert_eq!(outcome.total.count_of(operation).count, 36, "{operation:?}");
    }
    assert_eq!(
        outcome.total.count_of(FileOperation::Write).count,
        3 * 36,
        "4096 + 4096 + 1808 bytes"
    );
    assert_eq!(outcome.total.written_bytes, 360_000);
    assert_eq!(outcome.total.requested.count, 48, "writes come along");
    let last = folder.0.join("vdb.1_3.dir/vdb.2_3.dir/vdb_f0004.file");
    assert_eq!(std::fs::metadata(last).unwrap().len(), 10_000);
    let again = create_tree(&folder.0);
    assert_eq!(again.total.requested.count, 0, "nothing is missing");
    let once = |operation| stream(operation, FileOrder::Once);
    let streams = vec![once(FileOperation::Delete), once(FileOperation::Rmdir)];
    let outcome = run_workload(&workload(&folder.0, streams, None));
    assert_eq!((outcome.error_count, outcome.ended), (0, EndReason::Work));
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn counts_each_operation_by_kind() {
    let folder = Folder::new("each");
    create_tree(&folder.0);
    let table = [
        (FileOperation::Getattr, 36, 0),
        (FileOperation::Setattr, 36, 0),
        (FileOperation::Access, 36, 0),
        (FileOperation::Open, 36, 0),
        (FileOperation::Close, 36, 0),
        (FileOperation::Read, 108, 360_000),
        (FileOperation::Delete, 36, 0),
    ];
    for (operation, expected, read_bytes) in table {
        let streams = vec![stream(operation, FileOrder::Once)];
        let outcome = run_workload(&workload(&folder.0, streams, Some(30.0)));
        assert_eq!(outcome.ended, EndReason::Work, "{operation:?}");
        assert_eq!(outcome.total.count_of(operation).count, expected, "{operation:?}");
        assert_eq!(outcome.total.requested.count, expected, "{operation:?}");
        assert_eq!(outcome.total.read_bytes, read_bytes, "{operation:?}");
        assert_eq!(outcome.error_count, 0, "{operation:?} {:?}", outcome.errors);
    }
}

/// Counts of the real Vdbench 5.04.06 on such a tree with `format=directories`: each file is
/// created, opened and closed once and stays empty; attributes are queried, nothing is read.
#[test]
fn created_files_stay_empty_until_written() {
    let folder = Folder::new("empty");
    let all =
        |operation, stop_after| FileStream { stop_after, ..stream(operation, FileOrder::Once) };
    let directories = all(FileOperation::Mkdir, None);
    run_workload(&workload(&folder.0, vec![directories], None));
    let file = folder.0.join("vdb.1_1.dir/vdb.2_1.dir/vdb_f0001.file");
    let table = [
        // Operation, its count, opens, creates, bytes of a file afterwards.
        (all(FileOperation::Create, Some(StopAfter::Bytes(0))), 36, 36, 36, 0),
        (all(FileOperation::Create, Some(StopAfter::Bytes(0))), 0, 0, 0, 0),
        (all(FileOperation::Getattr, None), 36, 0, 0, 0),
        (all(FileOperation::Open, None), 36, 36, 0, 0),
        (all(FileOperation::Read, None), 0, 0, 0, 0),
        (all(FileOperation::Write, None), 108, 36, 0, 10_000),
        (all(FileOperation::Read, None), 108, 36, 0, 10_000),
    ];
    for (one, count, opens, creates, bytes) in table {
        let operation = one.operation;
        let outcome = run_workload(&workload(&folder.0, vec![one], Some(30.0)));
        assert_eq!(outcome.error_count, 0, "{operation:?} {:?}", outcome.errors);
        let counted = [operation, FileOperation::Open, FileOperation::Create]
            .map(|it| outcome.total.count_of(it).count);
        assert_eq!(counted, [count, opens, creates], "{operation:?}");
        assert_eq!(std::fs::metadata(&file).unwrap().len(), bytes, "{operation:?}");
    }
}

#[test]
fn sequential_writes_create_missing_files() {
    let folder = Folder::new("new");
    let directories = stream(FileOperation::Mkdir, FileOrder::Once);
    run_workload(&workload(&folder.0, vec![directories], None));
    let write = stream(FileOperation::Write, FileOrder::Once);
    let outcome = run_workload(&workload(&folder.0, vec![write.clone()], Some(30.0)));
    assert_eq!(outcome.total.count_of(FileOperation::Create).count, 36);
    assert_eq!((outcome.total.written_bytes, outcome.error_count), (360_000, 0));
    let again = run_workload(&workload(&folder.0, vec![write], Some(30.0)));
    assert_eq!(again.total.count_of(FileOperation::Create).count, 0);
    let mut anywhere = stream(FileOperation::Write, FileOrder::Once);
    anywhere.access = FileAccess::Random;
    std::fs::remove_file(folder.0.join("vdb.1_1.dir/vdb.2_1.dir/vdb_f0001.file")).unwrap();
    let outcome = run_workload(&workload(&folder.0, vec![anywhere], Some(30.0)));
    assert_eq!(outcome.total.count_of(FileOperation::Open).count, 35, "those that are there");
}

#[test]
fn closes_files_after_the_requested_amount() {
    let folder = Folder::new("left");
    create_tree(&folder.0);
    for (stop_after, access, expected) in [
        (StopAfter::Operations(2), FileAccess::Random, 72),
        (StopAfter::Bytes(4096), FileAccess::Sequential, 36),
        (StopAfter::Share(0.5), FileAccess::Sequential, 72),
    ] {
        let mut one = stream(FileOperation::Write, FileOrder::Once);
        (one.stop_after, one.access) = (Some(stop_after), access);
        let outcome = run_workload(&workload(&folder.0, vec![one], Some(30.0)));
        assert_eq!(
            outcome.total.count_of(FileOperation::Write).count,
            expected,
            "{stop_after:?}"
        );
        assert_eq!(outcome.total.count_of(FileOperation::Open).count, 36, "{stop_after:?}");
    }
    let mut anew = stream(FileOperation::Write, FileOrder::Once);
    anew.access = FileAccess::SequentialAnew;
    let outcome = run_workload(&workload(&folder.0, vec![anew], Some(30.0)));
    assert_eq!(outcome.total.count_of(FileOperation::Delete).count, 36);
    assert_eq!(outcome.total.count_of(FileOperation::Create).count, 36);
    assert_eq!(outcome.total.written_bytes, 360_000);
}

#[test]
fn rate_is_kept_and_latency_includes_the_wait() {
    let folder = Folder::new("rate");
    create_tree(&folder.0);
    let mut mixed = stream(FileOperation::Read, FileOrder::Random);
    (mixed.read_share, mixed.access) = (Some(0.5), FileAccess::RandomShared);
    let mut workload = workload(&folder.0, vec![mixed], Some(1.0));
    workload.load = FileLoad::Open { per_s: 200.0, arrivals: ArrivalProcess::Constant };
    let outcome = run_workload(&workload);
    assert_eq!(outcome.ended, EndReason::Time);
    // Each thread may have one due at once; a slow machine completes fewer.
    let due = 200.0 * outcome.elapsed_s + 3.0;
    let done = outcome.total.requested.count;
    assert!(done >= 1 && done as f64 <= due, "{done} of {due}");
    let from_intended = outcome.total.from_intended_ns.unwrap();
    // Operations due and not started at the end count as well.
    assert!(from_intended.len() >= 200, "{}", from_intended.len());
    assert!(from_intended.len() as f64 <= due && from_intended.len() >= done);
    assert!(from_intended.max() > 2, "a histogram that does not grow holds 2 ns at most");
}

#[test]
fn streams_that_feed_each_other_continue() {
    let folder = Folder::new("fed");
    create_tree(&folder.0);
    let streams = vec![
        stream(FileOperation::Create, FileOrder::Random),
        stream(FileOperation::Delete, FileOrder::Random),
    ];
    let outcome = run_workload(&workload(&folder.0, streams, Some(0.3)));
    assert_eq!((outcome.ended, outcome.error_count), (EndReason::Time, 0));
    let [created, deleted] = [FileOperation::Create, FileOperation::Delete]
        .map(|it| outcome.total.count_of(it).count);
    assert!(
        deleted >= 1 && created <= deleted && deleted <= created + 36,
        "{created} {deleted}"
    );
}

#[test]
fn reports_impossible_operations() {
    let folder = Folder::new("cannot");
    let streams = vec![stream(FileOperation::Create, FileOrder::Once)];
    let outcome = run_workload(&workload(&folder.0, streams, Some(30.0)));
    assert_eq!(outcome.total.requested.count, 0);
    assert_eq!(outcome.error_count, 36, "there are no directories");
    let streams = vec![stream(FileOperation::Read, FileOrder::Random)];
    let outcome = run_workload(&workload(&folder.0, streams, Some(30.0)));
    assert_eq!((outcome.total.requested.count, outcome.ended), (0, EndReason::Work));
}

#[test]
fn two_hosts_create_and_remove_a_shared_tree() {
    let folder = Folder::new("shared");
    let once = |operation| stream(operation, FileOrder::Once);
    let both = |streams: &[FileOperation], part: &dyn Fn(u64) -> TreePart| {
        let work = |nth| {
            let streams = streams.iter().map(|it| once(*it)).collect();
            let mut work = workload(&folder.0, streams, None);
            work.trees[0].part = Some(part(nth));
            work
        };
        let works = [work(0), work(1)];
        thread::scope(|scope| {
            let both = works.each_ref().map(|work| scope.spawn(|| run_workload(work)));
            both.map(|it| it.join().unwrap())
        })
    };
    let sum = |outcomes: &[FileOutcome; 2], operation| {
        outcomes.iter().map(|it| it.total.count_of(operation).count).sum::<u64>()
    };
    let own = |nth| TreePart { nth, of: 2 };
    let made = both(&[FileOperation::Mkdir, FileOperation::Create], &own);
    assert!(made.iter().all(|it| it.error_count == 0), "{made:?}");
    assert_eq!(sum(&made, FileOperation::Mkdir), 12);
    assert!(made.iter().all(|it| it.total.count_of(FileOperation::Create).count == 18));
    let all = |_| TreePart { nth: 0, of: 1 };
    let gone = both(&[FileOperation::Delete, FileOperation::Rmdir], &all);
    assert!(gone.iter().all(|it| it.error_count == 0), "{gone:?}");
    assert_eq!((sum(&gone, FileOperation::Delete), sum(&gone, FileOperation::Rmdir)), (36, 12));
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

/// Replaces a file of a tree by a hard link to somebody's; returns that one.
fn linked(folder: &Folder, bytes: usize) -> PathBuf {
    let theirs = folder.0.join("theirs");
    std::fs::write(&theirs, vec![b'x'; bytes]).unwrap();
    let file = folder.0.join("vdb.1_1.dir/vdb.2_1.dir/vdb_f0001.file");
    std::fs::remove_file(&file).unwrap();
    std::fs::hard_link(&theirs, &file).unwrap();
    theirs
}

#[test]
fn a_file_with_hard_links_is_not_written() {
    let refused = |workload: &FileWorkload| {
        let stop = AtomicBool::new(false);
        let mut control = FileControl {
            stop: &stop,
            on_ready: &mut || {},
            on_interval: &mut |_: &FileInterval| {},
            max_errors: 50,
        };
        matches!(run(workload, &mut control), Err(StorageError::HardLinks { links: 2, .. }))
    };
    let folder = Folder::new("linked");
    create_tree(&folder.0);
    let theirs = linked(&folder, 10_000);
    let once = |operation| stream(operation, FileOrder::Once);
    let mut mixed = once(FileOperation::Read);
    (mixed.read_share, mixed.access) = (Some(0.5), FileAccess::Random);
    for one in [once(FileOperation::Write), once(FileOperation::Setattr), mixed] {
        assert!(refused(&workload(&folder.0, vec![one.clone()], Some(30.0))), "{one:?}");
    }
    // Nothing of it is changed by these.
    for one in [once(FileOperation::Read), once(FileOperation::Create)] {
        let outcome = run_workload(&workload(&folder.0, vec![one], Some(30.0)));
        assert_eq!(outcome.error_count, 0, "{:?}", outcome.errors);
    }
    assert_eq!(std::fs::read(&theirs).unwrap(), vec![b'x'; 10_000]);
    // A file in part would be emptied first.
    let theirs = linked(&folder, 9_999);
    assert!(refused(&workload(&folder.0, vec![once(FileOperation::Create)], Some(30.0))));
    // What is removed first, or written anew, leaves the other names alone.
    let mut anew = once(FileOperation::Write);
    anew.access = FileAccess::SequentialAnew;
    let outcome = run_workload(&workload(&folder.0, vec![anew], Some(30.0)));
    assert_eq!((outcome.error_count, outcome.total.written_bytes), (0, 360_000));
    assert_eq!(std::fs::read(&theirs).unwrap(), vec![b'x'; 9_999]);
}

/// Whoever opens a file looks again: the link may have come after the look.
#[test]
fn a_hard_link_that_appears_during_a_phase_is_not_written_through() {
    let folder = Folder::new("appears");
    create_tree(&folder.0);
    for (operation, anew) in [(FileOperation::Write, false), (FileOperation::Create, true)] {
        let workload =
            workload(&folder.0, vec![stream(operation, FileOrder::Once)], Some(30.0));
        let state =
            TreeState::scan(&workload.trees[0], Changes::default(), &AtomicBool::new(false))
                .unwrap();
        let theirs = linked(&folder, 10_000);
        let error = open_file::open_tree_file(&state, 0, true, anew).unwrap_err();
        assert!(error.to_string().contains("2 hard links"), "{error}");
        assert_eq!(std::fs::read(&theirs).unwrap(), vec![b'x'; 10_000], "{operation:?}");
    }
}

/// A scan of millions of files takes minutes, so it looks at the flag before each of them.
#[test]
fn scan_ends_when_the_phase_is_stopped() {
    let folder = Folder::new("stopped");
    create_tree(&folder.0);
    let workload =
        workload(&folder.0, vec![stream(FileOperation::Write, FileOrder::Once)], Some(30.0));
    let tree = &workload.trees[0];
    let stop = AtomicBool::new(true);
    let scanned = TreeState::scan(tree, Changes::default(), &stop).unwrap_err();
    assert!(matches!(scanned, StorageError::Interrupted), "{scanned}");
    let changes = Changes::from_workload(&workload, 0);
    let searched = changes.refuse_hard_links(tree, &stop).unwrap_err();
    assert!(matches!(searched, StorageError::Interrupted), "{searched}");
}
