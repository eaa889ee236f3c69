//! `assay fio` beside the real fio on random jobs: the same counts, bytes, offsets, sizes and JSON
//! paths.
//!
//! `ASSAY_DIFFERENTIAL_JOBS` and `ASSAY_DIFFERENTIAL_SEED` select other jobs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use crate::program::World;

/// Jobs of one run of the tests: about half a second each.
const JOBS: u64 = 40;
const SEED: u64 = 3_330_003;

/// Reproducible draws: splitmix64 (Steele, Lea, Flood 2014).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn choose<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[(self.next() % list.len() as u64) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

/// Options with their values, each given with the probability in percent.
const COMMON: &[(&str, u64, &[&str])] = &[
    ("size", 100, &["1m", "2m", "512k", "1000k"]),
    ("filesize", 15, &["2m", "4m"]),
    ("offset", 15, &["64k", "128k"]),
    ("io_size", 15, &["256k", "3m"]),
    ("loops", 15, &["2", "3"]),
    ("number_ios", 15, &["10", "100", "77"]),
    ("numjobs", 15, &["2"]),
    ("rwmixread", 15, &["70", "10", "99"]),
    ("allrandrepeat", 10, &["1"]),
];
const OF_RANDOM: &[(&str, u64, &[&str])] = &[
    ("norandommap", 20, &["1"]),
    ("percentage_random", 20, &["50", "30,70", "0", "100,20"]),
    ("randseed", 10, &["1", "4711", "99999"]),
    ("random_generator", 10, &["tausworthe64", "tausworthe"]),
    ("rw_sequencer", 10, &["identical", "sequential"]),
];
const SIZES: &[(&str, &[&str])] = &[
    ("bs", &["4k", "8k", "16k", "64k"]),
    ("bs", &["4k,8k", "16k,", ",8k", "4k,16k,8k", "8k,4k"]),
    ("bsrange", &["4k-16k", "1k-8k", "4k-16k,8k-32k"]),
    ("bssplit", &["4k/50:64k/50", "4k/10:8k/20:16k/70", "4k/60:8k/40,64k/100", "8k/:16k/"]),
];
const ENGINES: &[&str] = &["psync", "psync", "sync", "libaio", "io_uring", "null"];

fn draw_job(draws: &mut Draws) -> String {
    let rw = draws.choose(&["read", "write", "rw", "randread", "randwrite", "randrw"]);
    let is_random = rw.starts_with("rand");
    let postfix = match is_random {
        true => draws.choose(&["", "", "", ":4"]),
        false => draws.choose(&["", "", "", ":4k", ":-8k", ":64k"]),
    };
    let mut job = format!("[a]\nwrite_lat_log=L\nlog_offset=1\nrw={rw}{postfix}\n");
    let (name, values) = SIZES[(draws.next() % SIZES.len() as u64) as usize];
    writeln!(job, "{name}={}", draws.choose(values)).unwrap();
    let options = COMMON.iter().chain(OF_RANDOM.iter().filter(|_| is_random));
    for (name, percent, values) in options {
        if draws.chance(*percent) {
            writeln!(job, "{name}={}", draws.choose(values)).unwrap();
        }
    }
    if draws.chance(15) {
        writeln!(job, "zonemode=strided\nzonesize={}", draws.choose(&["64k", "128k"])).unwrap();
        writeln!(job, "zoneskip={}", draws.choose(&["0", "64k"])).unwrap();
        if draws.chance(50) {
            writeln!(job, "zonerange={}", draws.choose(&["64k", "128k", "256k"])).unwrap();
        }
    }
    let engine = draws.choose(ENGINES);
    writeln!(job, "ioengine={engine}").unwrap();
    if matches!(engine, "libaio" | "io_uring" | "null") && draws.chance(60) {
        writeln!(job, "iodepth={}", draws.choose(&["4", "16"])).unwrap();
    }
    job
}

/// Record of a job: exit, counts and bytes of each direction, and every I/O of the logs.
#[derive(Debug, PartialEq, Eq)]
struct JobTrace {
    succeeded: bool,
    counts: Vec<String>,
    paths: BTreeSet<String>,
    ios: Vec<String>,
}

fn trace(mut command: Command, world: &World, job: &str) -> Option<(JobTrace, String)> {
    let path = world.write("job.fio", job);
    let output = command
        .args([path.to_str().unwrap(), "--output-format=json"])
        .current_dir(world.path(""))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: Value =
        text.find('{').map_or(Value::Null, |at| serde_json::from_str(&text[at..]).unwrap());
    let mut counts = vec![];
    let mut paths = BTreeSet::new();
    for entry in document["jobs"].as_array().into_iter().flatten() {
        for way in ["read", "write", "trim"] {
            counts
                .push(format!("{way} {} {}", entry[way]["total_ios"], entry[way]["io_bytes"]));
        }
        collect_paths(entry, "", &mut paths);
    }
    let mut ios = vec![];
    for number in 1..=2 {
        let log = std::fs::read_to_string(world.path(&format!("L_lat.{number}.log")));
        let log = log.unwrap_or_default();
        let mut lines: Vec<String> = log
            .lines()
            .map(|line| line.split(", ").skip(2).take(3).collect::<Vec<_>>().join(" "))
            .collect();
        // Several I/O in flight end in any order.
        if job.contains("iodepth") {
            lines.sort();
        }
        ios.extend(lines);
    }
    Some((JobTrace { succeeded: output.status.success(), counts, paths, ios }, message))
}

/// Collects the paths of a document, without the job's options.
fn collect_paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries.iter().filter(|(name, _)| *name != "job options") {
                collect_paths(value, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Bool(_)
        | Value::Null => {
            found.insert(path.to_owned());
        }
    }
}

/// Returns a number of the environment.
fn number_of_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_jobs_do_the_same_as_in_fio() {
    let jobs = number_of_environment("ASSAY_DIFFERENTIAL_JOBS", JOBS);
    let seed = number_of_environment("ASSAY_DIFFERENTIAL_SEED", SEED);
    let mut differing = String::new();
    let mut compared = 0;
    for nth in 0..jobs {
        let job = draw_job(&mut Draws(seed.wrapping_add(nth << 32)));
        let (there, here) = (World::in_memory(), World::in_memory());
        let Some((expected, _)) = trace(Command::new("fio"), &there, &job) else {
            eprintln!("SKIPPED random_jobs_do_the_same_as_in_fio: fio is not installed");
            return;
        };
        let (found, message) =
            trace(here.command(&["fio", "--no-store"]), &here, &job).unwrap();
        if !expected.succeeded {
            assert!(!found.succeeded, "fio refuses it:\n{job}");
            continue;
        }
        // Refused by name: what no job can tell from a difference is not compared.
        if found.counts.is_empty() && message.contains("error: ") {
            continue;
        }
        compared += 1;
        if found != expected {
            let at = found.ios.iter().zip(&expected.ios).position(|(one, other)| one != other);
            writeln!(
                differing,
                "{job}fio {:?}, assay {:?}, first other I/O {at:?}, other paths {:?}\n{message}",
                expected.counts,
                found.counts,
                expected.paths.symmetric_difference(&found.paths).collect::<Vec<_>>()
            )
            .unwrap();
        }
    }
    assert!(differing.is_empty(), "seed {seed}, {jobs} jobs:\n{differing}");
    assert!(compared * 2 > jobs, "only {compared} of {jobs} jobs were compared");
}
