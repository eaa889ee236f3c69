//! Known truths: a device of known speed, which is the kernel's own throttle in front of a RAM disk, and
//! rates that a load keeps.
//!
//! They need a quiet machine and skip themselves unless `ASSAY_TRUTH` is set. `cargo xtask truth` makes every
//! try alone, repeats it until a sequential test has decided, and reads what [`reported`] prints.

#![expect(clippy::print_stdout, reason = "cargo xtask truth reads it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_kernels::storage::StorageError;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{AccessPattern, Arrivals, EngineChoice, Load, Verify};

use crate::storage::device::RamDisk;
use crate::storage::{Folder, MIB, count, lay_out, run, stream, target, workload};

/// Whether this try is requested; if not, says which test is skipped.
fn is_asked_for(test: &str) -> bool {
    let asked = std::env::var_os("ASSAY_TRUTH").is_some();
    if !asked {
        eprintln!(
            "SKIPPED {test}: a known truth needs a quiet machine and `cargo xtask truth`"
        );
    }
    asked
}

/// Reports what was measured and what fio measured, for the truth with this relative tolerance.
fn reported(unit: &str, (truth, tolerance): (f64, f64), measured: f64, peer: Option<f64>) {
    let peer = peer.map_or("-".to_owned(), |value| value.to_string());
    println!("TRY {unit} {truth} {tolerance} {measured} fio {peer}");
}

/// A group of processes with a limit on one device; the calling thread is in it until it is dropped.
struct Throttle {
    group: PathBuf,
    /// Where the thread goes back to.
    home: PathBuf,
    file: &'static str,
}

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

/// Reads of this many bytes, so many of them in flight, for so long after a warm-up: the throttle gives
/// credit for the idle time before.
const IN_FLIGHT: u32 = 32;
const WARM_UP_S: f64 = 1.0;
const DURATION_S: f64 = 2.0;

/// What assay finds on a throttled RAM disk, and what fio transfers per second there.
fn throttled(
    test: &str,
    (limit, value): (Limit, u64),
    (bytes, load): (u64, Load),
) -> Option<(StorageOutcome, Option<f64>)> {
    if !is_asked_for(test) {
        return None;
    }
    let disk = RamDisk::new(test, "256M")?;
    let mut target = target(&disk.path, 256 * MIB);
    target.direct = true;
    let mut reads = stream(AccessPattern::Random, bytes, 1.0);
    reads.in_flight_per_target = IN_FLIGHT;
    let mut phase = workload(vec![target], reads, Some(DURATION_S));
    let is_closed = matches!(load, Load::Closed);
    phase.load = load;
    phase.timing.warmup_s = if is_closed { WARM_UP_S } else { 0.0 };
    phase.engine = EngineChoice::Libaio;
    let throttle = Throttle::new(test, &disk, limit, value)?;
    let both = std::thread::scope(|scope| {
        let ahead = scope.spawn(|| {
            // Ahead of what else the machine does: the throttle gives credit for time that a
            // generator without a CPU leaves unused. Refused without root, as the throttle is.
            // SAFETY: the call takes numbers only.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
            // fio has no load that is due at fixed moments and timed from them.
            (run(&phase).unwrap(), is_closed.then(|| fio(&disk.path, bytes)))
        });
        ahead.join().unwrap()
    });
    drop(throttle);
    assert_eq!(both.0.error_count, 0, "{:?}", both.0.errors.first());
    Some(both)
}

/// The same by fio, in bytes per second.
fn fio(disk: &Path, bytes: u64) -> f64 {
    let output = Command::new("fio")
        .args(["--name=peer", "--rw=randread", "--ioengine=libaio", "--direct=1", "--thread"])
        .args(["--norandommap", "--time_based", "--output-format=terse", "--terse-version=3"])
        .arg(format!("--filename={}", disk.display()))
        .arg(format!("--bs={bytes}"))
        .arg(format!("--iodepth={IN_FLIGHT}"))
        .arg(format!("--ramp_time={WARM_UP_S}"))
        .arg(format!("--runtime={DURATION_S}"))
        .output()
        .expect("fio is installed for the tests");
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.starts_with("3;")).unwrap();
    let field = |at: usize| line.split(';').nth(at).unwrap().parse::<f64>().unwrap();
    // KiB that were read, and the milliseconds they took.
    field(5) * 1024.0 / (field(8) * 1e-3)
}

#[test]
fn ten_thousand_reads_per_second_are_ten_thousand() {
    let test = "ten_thousand_reads_per_second_are_ten_thousand";
    let limit = (Limit::ReadsPerS, 10_000);
    let Some((found, peer)) = throttled(test, limit, (4096, Load::Closed)) else { return };
    let rate = count(&found) as f64 / found.elapsed_s;
    reported("IO/s", (10_000.0, 0.005), rate, peer.map(|bytes_per_s| bytes_per_s / 4096.0));
}

#[test]
fn a_hundred_mebibytes_per_second_are_a_hundred() {
    let test = "a_hundred_mebibytes_per_second_are_a_hundred";
    let limit = (Limit::BytesPerS, 100 * MIB);
    let Some((found, peer)) = throttled(test, limit, (16_384, Load::Closed)) else { return };
    let bytes: u64 = found.tallies.iter().map(|part| part.tally.bytes).sum();
    reported("B/s", (100.0 * MIB as f64, 0.005), bytes as f64 / found.elapsed_s, peer);
}

/// At 5,000 arrivals and 4,000 completions per second the queue grows by 1,000 a second: what completes
/// at t was due at 4/5·t, so its latency from there is t/5, less what the throttle gave in advance. From a
/// tenth to nine tenths of two seconds it grows by 0.32 s, while that in service stays at 32 / 4,000 s.
#[test]
fn a_rate_that_is_not_reached_shows_in_the_latency_from_the_intended_start() {
    let test = "a_rate_that_is_not_reached_shows_in_the_latency_from_the_intended_start";
    let load = Load::Open { rate_per_s: 5000.0, arrivals: Arrivals::Constant };
    let Some((found, _)) = throttled(test, (Limit::ReadsPerS, 4000), (4096, load)) else {
        return;
    };
    let tally = &found.tallies[0].tally;
    let service_s = tally.service_ns.value_at_quantile(0.5) as f64 * 1e-9;
    let at = |share| tally.from_intended_ns.value_at_quantile(share) as f64 * 1e-9;
    assert!(service_s < at(0.5), "the wait before the start is no part of the service");
    assert!((count(&found) as f64) < 4800.0 * found.elapsed_s, "the rate is missed");
    reported("s", (0.32, 0.1), at(0.9) - at(0.1), None);
}

/// The engine whose count is the farthest from the truth.
#[test]
fn a_rate_that_can_be_reached_is_kept() {
    if !is_asked_for("a_rate_that_can_be_reached_is_kept") {
        return;
    }
    let folder = Folder::new();
    let file = target(&folder.file("f"), MIB);
    lay_out(&file, Verify::Off);
    let mut worst = 2000.0_f64;
    for engine in [EngineChoice::IoUring, EngineChoice::Threads, EngineChoice::Null] {
        let mut reads = stream(AccessPattern::Random, 4096, 1.0);
        reads.threads = 2;
        let mut phase = workload(vec![file.clone()], reads, Some(1.0));
        phase.load = Load::Open { rate_per_s: 2000.0, arrivals: Arrivals::Constant };
        phase.engine = engine;
        let found = match run(&phase) {
            Err(StorageError::Engine { .. }) => continue,
            other => count(&other.unwrap()) as f64,
        };
        worst = if (found - 2000.0).abs() > (worst - 2000.0).abs() { found } else { worst };
    }
    reported("count", (2000.0, 0.02), worst, None);
}

#[test]
fn a_cap_is_reached() {
    if !is_asked_for("a_cap_is_reached") {
        return;
    }
    let mut phase = workload(
        vec![target(Path::new("none"), 64 * MIB)],
        stream(AccessPattern::Random, 4096, 1.0),
        Some(1.0),
    );
    phase.engine = EngineChoice::Null;
    phase.load = Load::Capped { bytes_per_s: 8.0 * MIB as f64 };
    reported("count", (2048.0, 0.02), count(&run(&phase).unwrap()) as f64, None);
}
