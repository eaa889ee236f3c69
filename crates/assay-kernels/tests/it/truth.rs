//! Known truths: a device of known speed (a RAM disk behind the kernel's own throttle), and rates
//! that a load must keep.
//!
//! These tests need a quiet machine and skip themselves unless `ASSAY_TRUTH` is set. `cargo xtask
//! truth` runs every try alone, repeats it until a sequential test has decided, and parses the
//! output of [`print_try`].

#![expect(clippy::print_stdout, reason = "cargo xtask truth reads it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_kernels::storage::StorageError;
use assay_model::storage_outcome::StorageOutcome;
use assay_model::workload::storage::{
    AccessPattern, ArrivalProcess, EngineChoice, StorageLoad, Verify,
};

use crate::storage::device::RamDisk;
use crate::storage::{Folder, MIB, count, lay_out, run, stream, target, workload};

/// Returns whether truth tests are requested; otherwise prints that the test is skipped.
fn is_requested(test: &str) -> bool {
    let asked = std::env::var_os("ASSAY_TRUTH").is_some();
    if !asked {
        eprintln!(
            "SKIPPED {test}: a known truth needs a quiet machine and `cargo xtask truth`"
        );
    }
    asked
}

/// Prints the results of assay and fio, with the truth and its relative tolerance.
fn print_try(unit: &str, (truth, tolerance): (f64, f64), measured: f64, peer: Option<f64>) {
    let peer = peer.map_or("-".to_owned(), |value| value.to_string());
    println!("TRY {unit} {truth} {tolerance} {measured} fio {peer}");
}

/// Control group with a limit on one device; contains the calling thread until it is dropped.
struct Throttle {
    group: PathBuf,
    /// Group that the thread returns to.
    home: PathBuf,
    file: &'static str,
}

/// Version of the cgroup hierarchy: root, the file that accepts a thread or a process, and name and
/// format of the limits.
struct CgroupHierarchy {
    root: &'static str,
    members: &'static str,
    limits: [(&'static str, &'static str); 2],
}

const HIERARCHIES: [CgroupHierarchy; 2] = [
    CgroupHierarchy {
        root: "/sys/fs/cgroup/blkio",
        members: "tasks",
        limits: [
            ("blkio.throttle.read_iops_device", ""),
            ("blkio.throttle.read_bps_device", ""),
        ],
    },
    CgroupHierarchy {
        root: "/sys/fs/cgroup",
        members: "cgroup.procs",
        limits: [("io.max", "riops="), ("io.max", "rbps=")],
    },
];

#[derive(Clone, Copy)]
enum ThrottleLimit {
    ReadsPerS = 0,
    BytesPerS = 1,
}

impl Throttle {
    fn new(test: &str, disk: &RamDisk, limit: ThrottleLimit, value: u64) -> Option<Self> {
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
            eprintln!("SKIPPED {test}: this kernel or user cannot throttle a block device");
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

/// I/O in flight, warm-up and duration. The warm-up uses up the throttle's credit for the idle time
/// before.
const IN_FLIGHT: u32 = 32;
const WARM_UP_S: f64 = 1.0;
const DURATION_S: f64 = 2.0;

/// Measures a throttled RAM disk with assay, and with fio in bytes per second.
fn measure_throttled(
    test: &str,
    (limit, value): (ThrottleLimit, u64),
    (bytes, load): (u64, StorageLoad),
) -> Option<(StorageOutcome, Option<f64>)> {
    if !is_requested(test) {
        return None;
    }
    let disk = RamDisk::new(test, "256M")?;
    let mut target = target(&disk.path, 256 * MIB);
    target.direct = true;
    let mut reads = stream(AccessPattern::Random, bytes, 1.0);
    reads.in_flight_per_target = IN_FLIGHT;
    let mut phase = workload(vec![target], reads, Some(DURATION_S));
    let is_closed = matches!(load, StorageLoad::Closed);
    phase.load = load;
    phase.timing.warmup_s = if is_closed { WARM_UP_S } else { 0.0 };
    phase.engine = EngineChoice::Libaio;
    let throttle = Throttle::new(test, &disk, limit, value)?;
    let both = std::thread::scope(|scope| {
        let ahead = scope.spawn(|| {
            // SAFETY: the call takes numbers only. High priority, because the throttle gives credit
            // for time that a generator without a CPU leaves unused. Refused without root, as the
            // throttle is.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
            // fio has no load with fixed due times and latencies measured from them.
            (run(&phase).unwrap(), is_closed.then(|| measure_with_fio(&disk.path, bytes)))
        });
        ahead.join().unwrap()
    });
    drop(throttle);
    assert_eq!(both.0.error_count, 0, "{:?}", both.0.errors.first());
    Some(both)
}

/// Measures the same with fio, in bytes per second.
fn measure_with_fio(disk: &Path, bytes: u64) -> f64 {
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
    // KiB read, and the milliseconds taken.
    field(5) * 1024.0 / (field(8) * 1e-3)
}

#[test]
fn ten_thousand_reads_per_second_are_ten_thousand() {
    let test = "ten_thousand_reads_per_second_are_ten_thousand";
    let limit = (ThrottleLimit::ReadsPerS, 10_000);
    let Some((found, peer)) = measure_throttled(test, limit, (4096, StorageLoad::Closed))
    else {
        return;
    };
    let rate = count(&found) as f64 / found.elapsed_s;
    print_try("IO/s", (10_000.0, 0.005), rate, peer.map(|bytes_per_s| bytes_per_s / 4096.0));
}

#[test]
fn a_hundred_mebibytes_per_second_are_a_hundred() {
    let test = "a_hundred_mebibytes_per_second_are_a_hundred";
    let limit = (ThrottleLimit::BytesPerS, 100 * MIB);
    let Some((found, peer)) = measure_throttled(test, limit, (16_384, StorageLoad::Closed))
    else {
        return;
    };
    let bytes: u64 = found.tallies.iter().map(|part| part.tally.bytes).sum();
    print_try("B/s", (100.0 * MIB as f64, 0.005), bytes as f64 / found.elapsed_s, peer);
}

/// At 5,000 arrivals and 4,000 completions per second the queue grows by 1,000 a second. I/O that
/// completes at t was due at 4/5·t, so its latency from there is t/5, less the throttle's initial
/// credit. From a tenth to nine tenths of two seconds it grows by 0.32 s, while the service time
/// stays at 32 / 4,000 s.
#[test]
fn a_rate_that_is_not_reached_shows_in_the_latency_from_the_intended_start() {
    let test = "a_rate_that_is_not_reached_shows_in_the_latency_from_the_intended_start";
    let load = StorageLoad::Open { rate_per_s: 5000.0, arrivals: ArrivalProcess::Constant };
    let Some((found, _)) =
        measure_throttled(test, (ThrottleLimit::ReadsPerS, 4000), (4096, load))
    else {
        return;
    };
    let tally = &found.tallies[0].tally;
    let service_s = tally.service_ns.value_at_quantile(0.5) as f64 * 1e-9;
    let at = |share| tally.from_intended_ns.value_at_quantile(share) as f64 * 1e-9;
    assert!(service_s < at(0.5), "the wait before the start is no part of the service");
    assert!((count(&found) as f64) < 4800.0 * found.elapsed_s, "the rate is missed");
    print_try("s", (0.32, 0.1), at(0.9) - at(0.1), None);
}

/// Reports the engine whose count deviates most from the truth.
#[test]
fn a_rate_that_can_be_reached_is_kept() {
    if !is_requested("a_rate_that_can_be_reached_is_kept") {
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
        phase.load =
            StorageLoad::Open { rate_per_s: 2000.0, arrivals: ArrivalProcess::Constant };
        phase.engine = engine;
        let found = match run(&phase) {
            Err(StorageError::Engine { .. }) => continue,
            other => count(&other.unwrap()) as f64,
        };
        worst = if (found - 2000.0).abs() > (worst - 2000.0).abs() { found } else { worst };
    }
    print_try("count", (2000.0, 0.02), worst, None);
}

#[test]
fn a_cap_is_reached() {
    if !is_requested("a_cap_is_reached") {
        return;
    }
    let mut phase = workload(
        vec![target(Path::new("none"), 64 * MIB)],
        stream(AccessPattern::Random, 4096, 1.0),
        Some(1.0),
    );
    phase.engine = EngineChoice::Null;
    phase.load = StorageLoad::Capped { bytes_per_s: 8.0 * MIB as f64 };
    print_try("count", (2048.0, 0.02), count(&run(&phase).unwrap()) as f64, None);
}
