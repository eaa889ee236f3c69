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

fn check_close(name: &str, found: f64, truth: f64, tolerance: f64) {
    assert!((found / truth - 1.0).abs() <= tolerance, "{name}: {found} instead of {truth}");
}

/// Runs until `value` is within half a percent of `truth`, three times at most: on a busy machine the
/// generator can still be stopped for a tenth of a second, which the throttle makes up for at once.
fn check_exact(
    (test, limit, truth): (&str, Limit, u64),
    bytes: u64,
    value: fn(&StorageOutcome) -> u64,
) {
    let mut found = Vec::new();
    for _ in 0..3 {
        let asked = (bytes, Load::Closed, 4.0);
        let Some(outcome) = throttled(test, (limit, truth), asked) else { return };
        let per_s = value(&outcome) as f64 / outcome.elapsed_s;
        if (per_s / truth as f64 - 1.0).abs() <= 0.005 {
            return;
        }
        found.push(per_s);
    }
    panic!("{found:?} instead of {truth}");
}

#[test]
fn ten_thousand_reads_per_second_are_ten_thousand() {
    let test = "ten_thousand_reads_per_second_are_ten_thousand";
    check_exact((test, Limit::ReadsPerS, 10_000), 4096, count);
}

#[test]
fn a_hundred_mebibytes_per_second_are_a_hundred() {
    let test = "a_hundred_mebibytes_per_second_are_a_hundred";
    let bytes = |it: &StorageOutcome| it.tallies.iter().map(|part| part.tally.bytes).sum();
    check_exact((test, Limit::BytesPerS, 100 * MIB), 16_384, bytes);
}

/// At 5,000 arrivals and 4,000 completions per second the queue grows by 1,000 a second: what completes
/// at t was due at 4/5·t, so its latency from there is t/5.
#[test]
fn a_rate_that_is_not_reached_shows_in_the_latency_from_the_intended_start() {
    let test = "a_rate_that_is_not_reached_shows_in_the_latency_from_the_intended_start";
    let load = Load::Open { rate_per_s: 5000.0, arrivals: Arrivals::Constant };
    let Some(outcome) = throttled(test, (Limit::ReadsPerS, 4000), (4096, load, 4.0)) else {
        return;
    };
    check_close("IO/s", count(&outcome) as f64 / outcome.elapsed_s, 4000.0, 0.03);
    let tally = &outcome.tallies[0].tally;
    let quantile = |share| tally.from_intended_ns.value_at_quantile(share) as f64 * 1e-9;
    check_close("greatest", quantile(1.0), 0.8, 0.1);
    check_close("median", quantile(0.5), 0.4, 0.15);
    // In service are the 32 that the depth allows, and no more: 32 / 4,000 s.
    let service_s = tally.service_ns.value_at_quantile(0.5) as f64 * 1e-9;
    assert!(service_s < 0.1, "{service_s}");
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
