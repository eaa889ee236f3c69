//! Tests of the end of phases, and of the consistency of their counts.

use std::os::fd::AsRawFd;

use assay_kernels::clock;
use assay_model::storage_outcome::{EndReason, IntervalTally, IoOperation};
use assay_model::workload::storage::TargetRotation;

use super::*;

fn null(stream: StorageStream, duration_s: Option<f64>) -> StorageWorkload {
    let mut workload = workload(vec![target(Path::new("none"), 64 * MIB)], stream, duration_s);
    workload.engine = EngineChoice::Null;
    workload
}

#[test]
fn phase_ends_when_its_work_is_done() {
    let once = || stream(sequential(AtEnd::Stop), 4096, 1.0);
    let mut by_stream = null(stream(AccessPattern::Random, 4096, 0.5), None);
    by_stream.streams[0].stop_after_bytes = Some(10 * MIB);
    let mut by_phase = null(stream(AccessPattern::Permutation, 4096, 0.0), Some(60.0));
    by_phase.timing.stop_after_bytes = Some(3 * MIB + 1);
    let mut per_thread = null(once(), None);
    per_thread.streams[0].threads = 3;
    per_thread.streams[0].pattern = AccessPattern::Sequential {
        cursor: Cursor::PerThread,
        at_end: AtEnd::Stop,
        gap_bytes: 0,
    };
    let mut at_a_rate = null(once(), None);
    at_a_rate.targets[0].size_bytes = Some(MIB);
    at_a_rate.streams[0].own_rate_per_s = Some(10_000.0);
    for (workload, ios) in [
        (null(once(), None), 64 * 256),
        (by_stream, 10 * 256),
        (by_phase, 3 * 256 + 1),
        (per_thread, 3 * 64 * 256),
        (at_a_rate, 256),
    ] {
        let outcome = run(&workload).unwrap();
        assert_eq!((outcome.ended, count(&outcome)), (EndReason::Work, ios));
        assert_eq!(outcome.error_count, 0);
    }
}

#[test]
fn rotating_targets_are_counted_separately() {
    let sizes = [MIB, 3 * MIB, 4096];
    for (turns, pattern) in [
        (TargetRotation::InOrder, sequential(AtEnd::Stop)),
        (TargetRotation::BySize, AccessPattern::Permutation),
    ] {
        let mut workload = null(stream(pattern, 4096, 0.0), None);
        workload.targets =
            sizes.iter().map(|bytes| target(Path::new("none"), *bytes)).collect();
        workload.streams[0].targets = vec![2, 0, 1];
        workload.streams[0].conduct.turns = Some(turns);
        workload.streams[0].stop_after_bytes = Some(sizes.iter().sum());
        let outcome = run(&workload).unwrap();
        let by_target: Vec<u64> = (0..3)
            .map(|target| {
                let parts = outcome.tallies.iter().filter(|it| it.target == target);
                parts.map(|it| it.tally.count).sum()
            })
            .collect();
        assert_eq!(by_target.iter().sum::<u64>(), 1025, "{turns:?}");
        match turns {
            TargetRotation::InOrder => assert_eq!(by_target, [256, 768, 1]),
            // Five standard deviations of a binomial with n = 1025 and p = 1/4.
            _ => assert!(by_target[0].abs_diff(256) < 70, "{by_target:?}"),
        }
    }
}

#[test]
fn series_and_totals_agree() {
    let folder = Folder::new();
    let mut mixed = stream(AccessPattern::Random, 4096, 0.7);
    mixed.threads = 2;
    let mut phase = workload(vec![target(&folder.file("f"), MIB)], mixed, Some(0.7));
    phase.timing.warmup_s = 0.3;
    lay_out(&phase.targets[0], Verify::Off);
    let mut seen: Vec<IntervalTally> = Vec::new();
    let stop = AtomicBool::new(false);
    let mut on_interval = |entry: &IntervalTally| seen.push(entry.clone());
    let mut control = PhaseControl {
        stop: &stop,
        held: &OpenTargets::default(),
        on_ready: None,
        on_interval: &mut on_interval,
    };
    let outcome = storage::run(&phase, &mut control).unwrap();
    assert_eq!(outcome.ended, EndReason::Time);
    assert!((outcome.elapsed_s - 0.7).abs() < 1e-9, "{}", outcome.elapsed_s);
    let spans: Vec<(f64, f64, bool)> = seen
        .iter()
        .map(|it| {
            let ms = |s: f64| (s * 1e3).round();
            (ms(it.start_s), ms(it.length_s), it.warmup)
        })
        .collect();
    let expected = [
        (0.0, 250.0, true),
        (250.0, 50.0, true),
        (300.0, 250.0, false),
        (550.0, 250.0, false),
        (800.0, 200.0, false),
    ];
    assert_eq!(spans, expected);
    assert_eq!(seen.len(), outcome.intervals.len());
    let counted = || seen.iter().filter(|it| !it.warmup);
    for (operation, in_series) in [
        (IoOperation::Read, counted().map(|it| it.reads.count).sum::<u64>()),
        (IoOperation::Write, counted().map(|it| it.writes.count).sum()),
    ] {
        let total = outcome.tallies.iter().find(|it| it.operation == operation).unwrap();
        assert_eq!(total.tally.count, in_series, "{operation:?}");
        assert_eq!(total.tally.service_ns.len(), in_series);
        assert_eq!(total.tally.bytes, in_series * 4096);
    }
    let by_stream: u64 = counted().map(|it| it.streams[0].reads + it.streams[0].writes).sum();
    assert_eq!(by_stream, count(&outcome));
}

/// Little's law: in flight = rate × latency. Both sides are counted in different places.
#[test]
fn littles_law_holds() {
    let folder = Folder::new();
    for depth in [1, 16] {
        let mut reads = stream(AccessPattern::Random, 4096, 1.0);
        reads.in_flight_per_target = depth;
        let mut phase = workload(vec![target(&folder.file("f"), MIB)], reads, Some(0.5));
        phase.timing.interval_s = 0.5;
        lay_out(&phase.targets[0], Verify::Off);
        let off = || {
            let outcome = run(&phase).unwrap();
            let entry = &outcome.intervals[0];
            assert!(entry.in_flight <= f64::from(depth) * 1.0001, "{}", entry.in_flight);
            let product = entry.reads.service_sum_ns as f64 * 1e-9 / entry.length_s;
            (entry.in_flight / product - 1.0).abs()
        };
        // I/O in flight at the end of the interval is missing on one side, which is much if the
        // generator then waits for a CPU. A wrong count fails every time.
        let closest = (0..10).map(|_| off()).find(|off| *off < 0.02);
        assert!(closest.is_some(), "{depth}");
    }
}

#[test]
fn same_seed_repeats_offsets() {
    let folder = Folder::new();
    let contents = |seed| {
        let mut writes = stream(AccessPattern::Random, 4096, 0.0);
        writes.in_flight_per_target = 1;
        writes.stop_after_bytes = Some(MIB / 8);
        let path = folder.file("seeded");
        let mut phase = workload(vec![target(&path, MIB)], writes, None);
        (phase.seed, phase.engine) = (seed, EngineChoice::Threads);
        fs::write(&path, vec![0; MIB as usize]).unwrap();
        run(&phase).unwrap();
        fs::read(&path).unwrap()
    };
    assert!(contents(1) == contents(1));
    assert!(contents(1) != contents(2));
}

#[test]
fn interrupt_ends_the_phase_and_keeps_counts() {
    let stop = AtomicBool::new(false);
    let mut entries = 0;
    let mut on_interval = |_: &IntervalTally| {
        entries += 1;
        stop.store(true, Ordering::Relaxed);
    };
    let phase = null(stream(AccessPattern::Random, 4096, 1.0), Some(600.0));
    let outcome = storage::run(
        &phase,
        &mut PhaseControl {
            stop: &stop,
            held: &OpenTargets::default(),
            on_ready: None,
            on_interval: &mut on_interval,
        },
    )
    .unwrap();
    assert_eq!(outcome.ended, EndReason::Interrupted);
    assert!(count(&outcome) > 0 && entries >= 1);
    assert!(outcome.elapsed_s < 600.0);
}

#[test]
fn phase_begins_at_the_common_start() {
    const LATER_NS: u64 = 200_000_000;
    let phase = null(stream(AccessPattern::Random, 4096, 1.0), Some(0.05));
    let (stop, held) = (AtomicBool::new(false), OpenTargets::default());
    let begun_ns = clock::now_ns();
    // A common start in the past neither delays the phase nor shortens it.
    for moment_ns in [begun_ns + LATER_NS, begun_ns] {
        let (mut asked, mut firsts_ns) = (0, Vec::new());
        let mut on_ready = || {
            asked += 1;
            PhaseStart::At(moment_ns)
        };
        let mut on_interval = |_: &IntervalTally| firsts_ns.push(clock::now_ns());
        let mut control = PhaseControl {
            stop: &stop,
            held: &held,
            on_ready: Some(&mut on_ready),
            on_interval: &mut on_interval,
        };
        let outcome = storage::run(&phase, &mut control).unwrap();
        assert!((outcome.elapsed_s - 0.05).abs() < 1e-9, "{}", outcome.elapsed_s);
        assert!(asked == 1 && firsts_ns[0] > moment_ns, "{asked} {firsts_ns:?}");
    }
}

#[test]
fn phase_that_never_begins_does_no_io() {
    let phase = null(stream(AccessPattern::Random, 4096, 1.0), Some(600.0));
    let (stop, held) = (AtomicBool::new(false), OpenTargets::default());
    let mut control = PhaseControl {
        stop: &stop,
        held: &held,
        on_ready: Some(&mut || PhaseStart::Never),
        on_interval: &mut |_: &IntervalTally| {},
    };
    assert_eq!(count(&storage::run(&phase, &mut control).unwrap()), 0);
}

#[test]
fn laid_out_file_has_its_size_and_no_holes() {
    let folder = Folder::new();
    for bytes in [1, 4096, MIB, 3 * MIB + 123] {
        for direct in [true, false] {
            let path = folder.file("laid-out");
            let target = StorageTarget { direct, ..target(&path, bytes) };
            lay_out(&target, Verify::Off);
            let file = fs::File::open(&path).unwrap();
            assert_eq!(file.metadata().unwrap().len(), bytes);
            // SAFETY: the call takes numbers only.
            let hole = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_HOLE) };
            assert_eq!(hole as u64, bytes, "the first hole is the end");
            let contents = fs::read(&path).unwrap();
            let zeros = contents.iter().filter(|&&byte| byte == 0).count();
            assert!(zeros * 100 <= contents.len().max(100) * 2, "{zeros} of {bytes} are 0");
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn submission_and_completion_add_up_to_latency() {
    let folder = Folder::new();
    let file = target(&folder.0.join("file"), 4 * MIB);
    lay_out(&file, Verify::Off);
    let mut workload =
        workload(vec![file], stream(AccessPattern::Random, 4096, 0.5), Some(0.3));
    workload.engine = EngineChoice::Libaio;
    workload.streams[0].conduct.times_submission = true;
    let outcome = run(&workload).unwrap();
    let [of_stream] = &outcome.streams[..] else { panic!("{:?}", outcome.streams) };
    for of in [IoOperation::Read, IoOperation::Write] {
        let all = outcome.tallies.iter().find(|it| it.operation == of).unwrap();
        let submission = of_stream.submissions[of as usize].as_ref().unwrap();
        let completion = of_stream.completions[of as usize].as_ref().unwrap();
        assert_eq!(completion.count, all.tally.count);
        // I/O in flight at the end has been submitted, but does not count as completed.
        assert!(submission.count >= completion.count);
        assert!(completion.service_sum_ns < all.tally.service_sum_ns);
        let sum_ns = submission.service_sum_ns + completion.service_sum_ns;
        assert!(sum_ns >= all.tally.service_sum_ns);
    }
}
