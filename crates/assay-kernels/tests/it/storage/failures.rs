//! Tests that failed I/O is reported with its offset, and that the rest goes on.

use std::fs::File;
use std::process::Command;

use assay_model::storage_outcome::{EndReason, IoOperation};

use super::device::{AttachedLoop, Tmpfs};
use super::*;

/// Creates a workload of one stream over two targets.
fn both(first: StorageTarget, second: StorageTarget, read_share: f64) -> StorageWorkload {
    let mut stream = stream(sequential(AtEnd::Stop), 4096, read_share);
    stream.targets = vec![0, 1];
    workload(vec![first, second], stream, None)
}

fn done_on(outcome: &StorageOutcome, target: usize) -> u64 {
    outcome.tallies.iter().filter(|it| it.target == target).map(|it| it.tally.count).sum()
}

#[test]
fn read_beyond_the_end_is_short() {
    let folder = Folder::new();
    let (whole, cut) = (folder.file("whole"), folder.file("cut"));
    fs::write(&whole, vec![1; MIB as usize]).unwrap();
    fs::write(&cut, vec![1; 10 * 4096 + 100]).unwrap();
    let outcome = run(&both(target(&cut, 12 * 4096), target(&whole, MIB), 1.0)).unwrap();
    assert_eq!((done_on(&outcome, 0), done_on(&outcome, 1)), (10, 256));
    let found: Vec<_> = outcome
        .errors
        .iter()
        .map(|it| (it.target, it.operation, it.offset, it.reason.as_str()))
        .collect();
    let expected = [
        (0, IoOperation::Read, 10 * 4096, "short: 100 of 4096 B"),
        (0, IoOperation::Read, 11 * 4096, "short: 0 of 4096 B"),
    ];
    assert_eq!((found.as_slice(), outcome.error_count), (&expected[..], 2));
}

#[test]
fn a_full_file_system_is_reported_with_the_offset() {
    let Some(full) = Tmpfs::mount("a_full_file_system_is_reported_with_the_offset", 256 << 10)
    else {
        return;
    };
    let folder = Folder::new();
    let phase = both(target(&full.file("f"), MIB), target(&folder.file("f"), MIB), 0.0);
    let outcome = run(&phase).unwrap();
    assert_eq!((done_on(&outcome, 0), done_on(&outcome, 1)), (64, 256));
    let first = &outcome.errors[0];
    assert_eq!((first.target, first.operation), (0, IoOperation::Write));
    assert!(first.offset >= 256 << 10 && first.reason.contains("No space left"), "{first:?}");
}

#[test]
fn a_device_that_loses_its_medium_is_given_up() {
    let test = "a_device_that_loses_its_medium_is_given_up";
    let folder = Folder::new();
    let path = folder.file("medium");
    fs::write(&path, vec![7; 2 * MIB as usize]).unwrap();
    let Some(device) = AttachedLoop::attach(test, &path) else { return };
    File::options().write(true).open(&path).unwrap().set_len(MIB).unwrap();
    let mut phase = workload(
        vec![StorageTarget { direct: true, ..target(&device.0, 2 * MIB) }],
        stream(AccessPattern::Permutation, 4096, 1.0),
        Some(60.0),
    );
    phase.targets[0].range_bytes = Some((MIB, 2 * MIB));
    let outcome = run(&phase).unwrap();
    assert_eq!(outcome.ended, EndReason::Errors);
    assert!(outcome.error_count >= 100 && count(&outcome) == 0, "{}", outcome.error_count);
    assert!(outcome.errors.iter().all(|it| it.reason.contains("Input/output error")));
    assert!(outcome.errors.iter().all(|it| (MIB..2 * MIB).contains(&it.offset)));
}

#[test]
fn other_targets_continue_when_one_disappears() {
    let folder = Folder::new();
    let [gone, stays] = ["gone", "stays"].map(|name| folder.file(name));
    for path in [&gone, &stays] {
        fs::write(path, vec![1; MIB as usize]).unwrap();
    }
    let mut stream = stream(AccessPattern::Random, 4096, 1.0);
    stream.targets = vec![0, 1];
    let phase = workload(vec![target(&gone, MIB), target(&stays, MIB)], stream, Some(1.0));
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            File::options().write(true).open(&gone).unwrap().set_len(0).unwrap();
        });
        run(&phase).unwrap()
    });
    assert_eq!(outcome.ended, EndReason::Time, "the other target goes on to the end");
    assert!(outcome.error_count >= 100, "it is given up only then: {}", outcome.error_count);
    for failure in &outcome.errors {
        assert_eq!((failure.target, failure.bytes), (0, 4096), "{failure:?}");
        assert!(failure.offset < MIB && failure.reason == "short: 0 of 4096 B", "{failure:?}");
    }
    let after = outcome.intervals.last().unwrap();
    assert!(after.reads.count > 0 && done_on(&outcome, 1) > done_on(&outcome, 0));
}

fn check_refused(workload: &StorageWorkload, expected: &str) {
    let error = run(workload).expect_err(expected).to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn rejects_contradictory_workloads_before_the_start() {
    let folder = Folder::new();
    let path = folder.file("f");
    fs::write(&path, vec![0; MIB as usize]).unwrap();
    let random = || {
        let mut random = stream(AccessPattern::Random, 4096, 1.0);
        random.sizes[0].step_bytes = 0;
        random
    };
    let good = || workload(vec![target(&path, MIB)], random(), Some(1.0));
    let changed = |change: &dyn Fn(&mut StorageWorkload)| {
        let mut workload = good();
        change(&mut workload);
        workload
    };
    for (workload, expected) in [
        (changed(&|it| it.streams.clear()), "the workload has no streams"),
        (changed(&|it| it.timing.duration_s = None), "never ends"),
        (changed(&|it| it.streams[0].targets = vec![3]), "names target 3"),
        (changed(&|it| it.streams[0].sizes = size(0)), "I/O of 0 B"),
        (changed(&|it| it.streams[0].sizes = size(2 * MIB)), "does not fit into the 1 MiB"),
        (changed(&|it| it.streams[0].in_flight_per_target = 0), "nothing in flight"),
        (changed(&|it| it.load = StorageLoad::Capped { bytes_per_s: f64::NAN }), "found NaN"),
        (changed(&|it| it.targets[0].range_bytes = Some((MIB, 2 * MIB))), "is outside its"),
        (changed(&|it| it.targets[0].align_bytes = Some(0)), "at multiples of 0 B"),
        (changed(&|it| it.streams[0].sizes[0].max_bytes = 8192), "in steps of 0 B"),
        (
            changed(&|it| {
                it.data.verify = Verify::OnRead;
                it.targets[0].size_bytes = Some(1 << 50);
            }),
            "have 274877906944 blocks",
        ),
        (changed(&|it| it.targets[0].path = folder.file("missing")), "cannot open"),
        (
            changed(&|it| {
                it.data.verify = Verify::OnRead;
                it.streams[0].sizes = size(1000);
            }),
            "1000 B is not a multiple of the 512 B that verification requires",
        ),
        (
            changed(&|it| {
                it.engine = EngineChoice::Null;
                it.data.verify = Verify::OnRead;
            }),
            "nothing to verify",
        ),
    ] {
        check_refused(&workload, expected);
    }
    fs::write(&path, "").unwrap();
    check_refused(
        &changed(&|it| it.targets[0].size_bytes = None),
        "is empty and has no configured size",
    );
}

#[test]
fn direct_io_off_its_granule_is_refused() {
    let folder = Folder::new();
    let path = folder.file("f");
    fs::write(&path, vec![0; MIB as usize]).unwrap();
    let mut phase =
        workload(vec![target(&path, MIB)], stream(AccessPattern::Random, 100, 1.0), Some(0.1));
    phase.targets[0].direct = true;
    match run(&phase) {
        Err(StorageError::Direct { .. }) => {
            eprintln!("SKIPPED direct_io_off_its_granule_is_refused: no O_DIRECT in {path:?}");
        }
        other => {
            let error = other.expect_err("100 B are no multiple of any sector").to_string();
            assert!(error.contains("that direct I/O requires"), "{error}");
        }
    }
}

/// Returns whether a command succeeded.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|it| it.status.success())
}
