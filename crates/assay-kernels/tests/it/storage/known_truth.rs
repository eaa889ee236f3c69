//! A device of known speed: the kernel's own throttle in front of a RAM disk.

use std::sync::Mutex;

use assay_model::workload::storage::Arrivals;

use super::device::RamDisk;
use super::*;

/// A group of processes with a limit on one device; the calling thread is in it until it is dropped.
struct Throttle {
    group: PathBuf,
    /// Where the thread goes back to.
    home: PathBuf,
    file: &'static str,
}

/// One thread of this process is throttled at a time: the newer hierarchy moves whole processes.
static ALONE: Mutex<()> = Mutex::new(());

/// The older and the newer hierarchy: root, the file that takes a thread or a process, name and form
/// of the limit.
struct Hierarchy {
    root: &'static str,
    members: &'static str,
    limits: [(&'static str, &'static str); 2],
}

const HIERARCHIES: [Hierarchy; 2] = [
    Hierarchy {
        root: "/sys/fs/cgroup/blkio",
        members: "tasks",
        limits: [
            ("blkio.throttle.read_iops_device", ""),
            ("blkio.throttle.read_bps_device", ""),
        ],
    },
    Hierarchy {
        root: "/sys/fs/cgroup",
        members: "cgroup.procs",
        limits: [("io.max", "riops="), ("io.max", "rbps=")],
    },
];

#[derive(Clone, Copy)]
enum Limit {
    ReadsPerS = 0,
    BytesPerS = 1,
}

impl Throttle {
    fn new(test: &str, disk: &RamDisk, limit: Limit, value: u64) -> Option<Self> {
        let made = HIERARCHIES.iter().find_map(|hierarchy| {
            let group =
                Path::new(hierarchy.root).join(format!("assay-{}-{test}", std::process::id()));
            let (file, prefix) = hierarchy.limits[limit as usize];
            fs::create_dir(&group).ok()?;
            let throttle =
                Self { group, home: PathBuf::from(hierarchy.root), file: hierarchy.members };
            let line = format!("{} {prefix}{value}", disk.number());
            fs::write(throttle.group.join(file), line).ok()?;
            fs::write(throttle.group.join(throttle.file), "0").ok()?;
            Some(throttle)
        });
        if made.is_none() {
            eprintln!(
                "SKIPPED {test}: this kernel throttles no block device, or not for this user"
            );
        }
        made
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let _ = fs::write(self.home.join(self.file), "0");
        let _ = fs::remove_dir(&self.group);
    }
}

/// Reads a throttled RAM disk for `duration_s` after a warm-up.
fn throttled(
    test: &str,
    (limit, value): (Limit, u64),
    (bytes, load, duration_s): (u64, Load, f64),
) -> Option<StorageOutcome> {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let disk = RamDisk::new(test, "256M")?;
    let mut target = target(&disk.path, 256 * MIB);
    target.direct = true;
    let mut reads = stream(AccessPattern::Random, bytes, 1.0);
    reads.in_flight_per_target = 32;
    let mut phase = workload(vec![target], reads, Some(duration_s));
    phase.load = load;
    // The throttle gives credit for the idle time before.
    phase.timing.warmup_s = if matches!(phase.load, Load::Closed) { 1.0 } else { 0.0 };
    phase.engine = EngineChoice::Libaio;
    let throttle = Throttle::new(test, &disk, limit, value)?;
    let outcome = std::thread::scope(|scope| {
        let ahead = scope.spawn(|| {
            // Ahead of what else the machine does: the throttle gives credit for time that a
            // generator without a CPU leaves unused. Refused without root, as the throttle is.
            // SAFETY: the call takes numbers only.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
            run(&phase).unwrap()
        });
        ahead.join().unwrap()
    });
    drop(throttle);
    assert_eq!(outcome.error_count, 0, "{:?}", outcome.errors.first());
    Some(outcome)
}

/// Runs until `value` is close to `truth`, three times at most: on a busy machine the generator can still
/// be stopped for a tenth of a second, which the throttle makes up for at once.
fn check(
    (test, limit): (&str, (Limit, u64)),
    asked: &(u64, Load, f64),
    value: fn(&StorageOutcome) -> f64,
    (truth, tolerance): (f64, f64),
) {
    let mut found = Vec::new();
    for _ in 0..3 {
        let Some(outcome) = throttled(test, limit, asked.clone()) else { return };
        found.push(value(&outcome));
        if found.iter().any(|it| (it / truth - 1.0).abs() <= tolerance) {
            return;
        }
    }
    panic!("{found:?} instead of {truth}");
}

#[test]
fn ten_thousand_reads_per_second_are_ten_thousand() {
    let test = "ten_thousand_reads_per_second_are_ten_thousand";
    let rate = |it: &StorageOutcome| count(it) as f64 / it.elapsed_s;
    let asked = (4096, Load::Closed, 4.0);
    check((test, (Limit::ReadsPerS, 10_000)), &asked, rate, (10_000.0, 0.005));
}

#[test]
fn a_hundred_mebibytes_per_second_are_a_hundred() {
    let test = "a_hundred_mebibytes_per_second_are_a_hundred";
    let bandwidth = |it: &StorageOutcome| {
        let bytes: u64 = it.tallies.iter().map(|part| part.tally.bytes).sum();
        bytes as f64 / it.elapsed_s
    };
    let asked = (16_384, Load::Closed, 4.0);
    let limit = (Limit::BytesPerS, 100 * MIB);
    check((test, limit), &asked, bandwidth, (100.0 * MIB as f64, 0.005));
}

/// At 5,000 arrivals and 4,000 completions per second the queue grows by 1,000 a second: what completes
/// at t was due at 4/5·t, so its latency from there is t/5, less what the throttle gave in advance. From a
/// tenth to nine tenths of four seconds it grows by 0.64 s, while that in service stays at 32 / 4,000 s.
#[test]
fn a_rate_that_is_not_reached_shows_in_the_latency_from_the_intended_start() {
    let test = "a_rate_that_is_not_reached_shows_in_the_latency_from_the_intended_start";
    let load = Load::Open { rate_per_s: 5000.0, arrivals: Arrivals::Constant };
    let growth = |it: &StorageOutcome| {
        let tally = &it.tallies[0].tally;
        let service_s = tally.service_ns.value_at_quantile(0.5) as f64 * 1e-9;
        let at = |share| tally.from_intended_ns.value_at_quantile(share) as f64 * 1e-9;
        assert!(service_s < at(0.5), "the wait before the start is no part of the service");
        assert!((count(it) as f64) < 4800.0 * it.elapsed_s, "the rate is missed");
        at(0.9) - at(0.1)
    };
    let limit = (Limit::ReadsPerS, 4000);
    check((test, limit), &(4096, load, 4.0), growth, (0.64, 0.1));
}

#[test]
fn a_rate_that_can_be_reached_is_kept() {
    let folder = Folder::new();
    let file = target(&folder.file("f"), MIB);
    lay_out(&file, Verify::Off);
    for (engine, arrivals) in [
        (EngineChoice::IoUring, Arrivals::Constant),
        (EngineChoice::Threads, Arrivals::Constant),
        (EngineChoice::Null, Arrivals::Constant),
    ] {
        let mut reads = stream(AccessPattern::Random, 4096, 1.0);
        reads.threads = 2;
        let mut phase = workload(vec![file.clone()], reads, Some(1.0));
        phase.load = Load::Open { rate_per_s: 2000.0, arrivals };
        phase.engine = engine;
        let outcome = match run(&phase) {
            Err(StorageError::Engine { .. }) => continue,
            other => other.unwrap(),
        };
        // A busy machine may leave the last few arrivals undone.
        let found = count(&outcome);
        assert!((1800..=2001).contains(&found), "{engine:?}: {found}");
        let tally = &outcome.tallies[0].tally;
        assert_eq!(tally.from_intended_ns.len(), tally.service_ns.len());
    }
}

#[test]
fn a_cap_is_kept() {
    let mut phase = workload(
        vec![target(Path::new("none"), 64 * MIB)],
        stream(AccessPattern::Random, 4096, 1.0),
        Some(1.0),
    );
    phase.engine = EngineChoice::Null;
    phase.load = Load::Capped { bytes_per_s: 8.0 * MIB as f64 };
    let outcome = run(&phase).unwrap();
    let found = count(&outcome);
    assert!((1800..=2057).contains(&found), "{found}");
}
