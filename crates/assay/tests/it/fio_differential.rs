//! `assay fio` beside the real fio on random jobs: the same counts, bytes, offsets, sizes and JSON
//! paths.
//!
//! `ASSAY_DIFFERENTIAL_JOBS` and `ASSAY_DIFFERENTIAL_SEED` select other jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use crate::program::World;
use random_jobs::random_job;

mod explicit_jobs;
mod random_jobs;
mod verification;

/// Jobs of one run of the tests: about half a second each.
const JOBS: u64 = 40;
const SEED: u64 = 3_330_003;
/// Maximum percentage of jobs that fio itself does not end, or does not do twice in the same way.
const MAX_UNCOMPARABLE_PERCENT: u64 = 3;
/// Runs of fio that tell whether a job that differs is always done in the same way.
const REPETITIONS: usize = 3;
/// Seconds after which a job does not end: the longest takes about one.
const LIMIT_S: &str = "20";
/// Exit code of `timeout` if there is no such program.
const MISSING: i32 = 127;

/// Record of a job: exit, counts and bytes of each direction, and every I/O of the logs.
#[derive(Debug, PartialEq, Eq)]
struct JobTrace {
    succeeded: bool,
    is_endless: bool,
    counts: Vec<String>,
    paths: BTreeSet<String>,
    ios: Vec<String>,
}

/// Returns a command that ends after the limit.
fn limited(command: &Command) -> Command {
    let mut limited = Command::new("timeout");
    // The processes of fio's jobs leave its process group: one that is busy for ever ends itself.
    limited.args([
        "--kill-after=5",
        LIMIT_S,
        "sh",
        "-c",
        "ulimit -S -t 10; exec \"$0\" \"$@\"",
    ]);
    limited.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited
}

/// Runs a job; returns its record and standard error, `None` if the program is missing.
fn trace(command: &Command, world: &World, job: &str) -> Option<(JobTrace, String)> {
    let path = world.write("job.fio", job);
    let output = limited(command)
        .args([path.to_str().unwrap(), "--output-format=json"])
        .current_dir(world.path(""))
        .output()
        .unwrap();
    if output.status.code() == Some(MISSING) {
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: Value =
        text.find('{').map_or(Value::Null, |at| serde_json::from_str(&text[at..]).unwrap());
    let mut counts = vec![];
    let mut paths = BTreeSet::new();
    let makes_calls = job.contains("ioengine=file");
    let has_passes =
        ["verify=", "sync=", "sync_file_range="].iter().any(|option| job.contains(option));
    for entry in document["jobs"].as_array().into_iter().flatten() {
        // Both read back in a phase of its own, and sync, apart from these counts.
        let shares = ["iodepth_submit", "iodepth_level"];
        for shares in shares.iter().filter(|_| !has_passes) {
            counts.push(format!("{shares} {}", used_classes(&entry[*shares])));
        }
        for way in ["read", "write", "trim", "mixed"] {
            counts
                .push(format!("{way} {} {}", entry[way]["total_ios"], entry[way]["io_bytes"]));
            if makes_calls {
                let calls = ["clat_ns", "lat_ns"].map(|name| entry[way][name]["N"].to_string());
                counts.push(calls.join(" "));
            }
        }
        let blocks = ["psync", "sync", "mmap"].map(|engine| format!("ioengine={engine}\n"));
        let blocks = blocks.iter().any(|engine| job.contains(engine));
        // Syncs at the end, and those before a verification, are not part of these counts here.
        if blocks && !job.contains("end_fsync=1") && !job.contains("verify=") {
            counts.push(format!("sync {}", entry["sync"]["total_ios"]));
        }
        collect_paths(entry, "", &mut paths);
    }
    let mut ios = vec![];
    for number in 1..=3 {
        let kind = if makes_calls { "clat" } else { "lat" };
        let log = std::fs::read_to_string(world.path(&format!("L_{kind}.{number}.log")));
        let log = log.unwrap_or_default();
        // fio notes a read that verifies with the priority of an earlier I/O, and submits it without.
        let has_stale = job.contains("cmdprio_") && job.contains("verify=");
        let columns = if has_stale { 3 } else { 4 };
        let mut lines: Vec<String> = log
            .lines()
            .map(|line| line.split(", ").skip(2).take(columns).collect::<Vec<_>>().join(" "))
            .collect();
        // Several I/O in flight end in any order.
        let is_in_order = job.contains("verify_backlog=") && job.contains("ioengine=psync\n");
        if !is_in_order && job.contains("iodepth") {
            lines.sort();
        }
        ios.extend(lines);
    }
    // 124 at the limit; killed, if that does not end it; SIGXCPU, if a job is busy for ever.
    let is_endless = matches!(output.status.code(), Some(124 | 137) | None)
        || message.contains("got signal=24");
    let succeeded = output.status.success();
    Some((JobTrace { succeeded, is_endless, counts, paths, ios }, message))
}

/// Returns the classes of a distribution that are not empty.
fn used_classes(shares: &Value) -> String {
    let used = shares.as_object().into_iter().flatten();
    let used = used.filter(|(_, share)| share.as_f64() > Some(0.0));
    used.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
}

/// Collects the paths and types of a document, without the job's options.
fn collect_paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries.iter().filter(|(name, _)| *name != "job options") {
                collect_paths(value, &format!("{path}/{name}"), found);
            }
        }
        Value::Number(number) => {
            let kind = if number.is_f64() { "real" } else { "whole" };
            found.insert(format!("{path} {kind}"));
        }
        Value::Array(_) | Value::String(_) | Value::Bool(_) | Value::Null => {
            found.insert(path.to_owned());
        }
    }
}

fn number_of_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs a job by both programs; returns what differs, `None` if fio does not do it or assay refuses it
/// by name: what no job can tell from a difference is not compared.
fn compare(job: &str, expected: &JobTrace, complaint: &str) -> Option<Result<(), String>> {
    let here = World::in_memory();
    let (found, message) = trace(&here.command(&["fio", "--no-store"]), &here, job).unwrap();
    if found.is_endless {
        return Some(Err(format!("{job}assay does not end")));
    }
    if !expected.succeeded {
        // fio finds overlapping writes of its own damaged, and damages its own memory in zones.
        let is_bug = ["verify: ", "verify failed at file", "got signal=11"];
        let is_bug = is_bug.iter().any(|text| complaint.contains(text));
        let differs = found.succeeded && !is_bug;
        return differs.then(|| Err(format!("{job}fio fails: {complaint}")));
    }
    if found.counts.is_empty() && message.contains("error: ") {
        return None;
    }
    if found == *expected {
        return Some(Ok(()));
    }
    let at = found.ios.iter().zip(&expected.ios).position(|(one, other)| one != other);
    Some(Err(format!(
        "{job}fio {:?}, assay {:?}, {} and {} I/O, first other I/O {at:?}, other paths {:?}\n{message}",
        expected.counts,
        found.counts,
        expected.ios.len(),
        found.ios.len(),
        expected.paths.symmetric_difference(&found.paths).collect::<Vec<_>>()
    )))
}

/// Whether fio itself does a job in another way when it does it again.
fn varies(job: &str, expected: &JobTrace) -> bool {
    (0..REPETITIONS).any(|_| {
        let there = World::in_memory();
        trace(&Command::new("fio"), &there, job).is_none_or(|(again, _)| again != *expected)
    })
}

#[test]
fn random_jobs_do_the_same_as_in_fio() {
    let jobs = number_of_environment("ASSAY_DIFFERENTIAL_JOBS", JOBS);
    let seed = number_of_environment("ASSAY_DIFFERENTIAL_SEED", SEED);
    let mut differing = String::new();
    let (mut compared, mut endless, mut varying) = (0, 0, 0);
    for nth in 0..jobs {
        let job = random_job(seed.wrapping_add(nth << 32));
        let there = World::in_memory();
        let Some((expected, complaint)) = trace(&Command::new("fio"), &there, &job) else {
            eprintln!("SKIPPED random_jobs_do_the_same_as_in_fio: fio is not installed");
            return;
        };
        if expected.is_endless {
            eprintln!("fio does not end this job within {LIMIT_S} s:\n{job}");
            endless += 1;
            continue;
        }
        match compare(&job, &expected, &complaint) {
            None => {}
            Some(Ok(())) => compared += 1,
            Some(Err(difference)) if varies(&job, &expected) => {
                eprintln!("fio does not repeat this job: {difference}");
                varying += 1;
            }
            Some(Err(difference)) => writeln!(differing, "{difference}").unwrap(),
        }
    }
    eprintln!(
        "{compared} of {jobs} jobs were compared; fio did not end {endless}, not repeat {varying}"
    );
    assert!(differing.is_empty(), "seed {seed}, {jobs} jobs:\n{differing}");
    assert!(compared * 2 > jobs, "only {compared} of {jobs} jobs were compared");
    let uncomparable = endless + varying;
    assert!(
        uncomparable * 100 <= jobs * MAX_UNCOMPARABLE_PERCENT,
        "{uncomparable} of {jobs} jobs tell nothing"
    );
}

#[test]
fn writes_are_verified_when_fio_verifies_them() {
    const RUNS: &str = "rw=randwrite:4\nbssplit=8k/:16k/\npercentage_random=50\n";
    const FREE: &str = "rw=randwrite\nbs=16k\nnorandommap=1\n";
    // Completions of io_uring have no fixed order.
    let engines = ["libaio", "psync"];
    let cases = [
        (RUNS, "verify_backlog=8\niodepth=16\n"),
        (RUNS, "verify_backlog=17\nverify_backlog_batch=4\niodepth=16\n"),
        (RUNS, "verify_backlog=8\niodepth=16\niodepth_batch=4\niodepth_batch_complete_min=3\n"),
        (RUNS, "verify_backlog=8\niodepth=4\niodepth_low=1\niodepth_batch=100\n"),
        (RUNS, "verify_backlog=8\nverify_backlog_batch=3\n"),
        (FREE, "verify_backlog=4\nverify_backlog_batch=9\n"),
        (FREE, "verify_backlog=4\niodepth=16\n"),
        ("rw=randrw\n", "verify_backlog=4\niodepth=8\n"),
        ("rw=write:4k\nnrfiles=3\n", "verify_backlog=5\niodepth=8\nloops=2\n"),
    ];
    for (engine, (order, options)) in
        engines.iter().flat_map(|engine| cases.map(|case| (engine, case)))
    {
        let job = format!(
            "[a]\nwrite_lat_log=L\nlog_offset=1\n{order}size=512k\nio_size=3m\nverify=xxhash\n\
             ioengine={engine}\n{options}"
        );
        let there = World::in_memory();
        let Some((expected, complaint)) = trace(&Command::new("fio"), &there, &job) else {
            return eprintln!(
                "SKIPPED writes_are_verified_when_fio_verifies_them: fio is not installed"
            );
        };
        assert!(expected.succeeded, "{job}{complaint}");
        assert_eq!(compare(&job, &expected, &complaint), Some(Ok(())));
    }
}

/// Runs a job in an empty folder in memory; returns its document, standard error and success.
fn run_job(program: &str, job: &str) -> Option<(Value, String, bool)> {
    let world = World::in_memory();
    let path = world.write("job.fio", job);
    let mut command = match program {
        "fio" => Command::new("fio"),
        _ => world.command(&["fio", "--no-store"]),
    };
    command.args([path.to_str().unwrap(), "--output-format=json"]);
    let output = command.current_dir(world.path("")).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let document =
        text.find('{').map_or(Value::Null, |at| serde_json::from_str(&text[at..]).unwrap());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((document["jobs"][0].clone(), message, output.status.success()))
}

#[test]
fn calls_have_the_sizes_of_fio() {
    const SHARES: [&str; 3] = ["iodepth_level", "iodepth_submit", "iodepth_complete"];
    for options in [
        "ioengine=libaio\niodepth=16\n",
        "ioengine=libaio\niodepth=15\niodepth_batch=5\niodepth_batch_complete_min=3\niodepth_batch_complete_max=5\n",
        "ioengine=libaio\niodepth=32\niodepth_batch=0\niodepth_low=4\n",
        "ioengine=libaio\niodepth=8\niodepth_batch_complete_min=0\n",
        "ioengine=io_uring\niodepth=16\niodepth_batch=16\niodepth_batch_complete_min=16\n",
        "ioengine=io_uring\niodepth=64\n",
        "ioengine=null\niodepth=16\niodepth_batch=6\n",
        "ioengine=null\n",
        "ioengine=psync\n",
    ] {
        let job = format!("[a]\nrw=randread\nbs=4k\nsize=4m\n{options}");
        let Some((expected, ..)) = run_job("fio", &job) else {
            eprintln!("SKIPPED calls_have_the_sizes_of_fio: fio is not installed");
            return;
        };
        let (found, message, _) = run_job("assay", &job).unwrap();
        for shares in SHARES {
            for (class, share) in expected[shares].as_object().unwrap() {
                let ours = found[shares][class].as_f64().unwrap_or(f64::NAN);
                let difference = (ours - share.as_f64().unwrap()).abs();
                assert!(
                    difference < 1.0,
                    "{job}{shares} {class}: {ours}, fio {share}\n{message}"
                );
            }
        }
    }
}

#[test]
fn job_below_its_minimum_rate_fails_as_in_fio() {
    let job = "[a]\nrw=read\nsize=1m\nthinktime=20ms\ntime_based\nruntime=9\n";
    for (option, reason) in [
        ("rate_min=1g", "rate_min=1073741824B/s not met, got "),
        ("rate_iops_min=1000000", "rate_iops_min=1000000 not met, got "),
    ] {
        let job = format!("{job}rate_cycle=100\n{option}\n");
        let Some((expected, message, succeeded)) = run_job("fio", &job) else {
            eprintln!(
                "SKIPPED job_below_its_minimum_rate_fails_as_in_fio: fio is not installed"
            );
            return;
        };
        assert!(!succeeded && message.contains(reason), "{message}");
        let (found, message, succeeded) = run_job("assay", &job).unwrap();
        assert!(!succeeded && message.contains(reason), "{message}");
        assert_eq!(found["error"], expected["error"], "{found}");
        let ms = |entry: &Value| entry["read"]["runtime"].as_f64().unwrap();
        assert!(ms(&found) < 4000.0 && ms(&expected) < 4000.0, "{found}");
    }
}

/// Returns the I/O of each direction.
fn ios(entry: &Value) -> [&Value; 2] {
    ["read", "write"].map(|way| &entry[way]["total_ios"])
}

#[test]
fn ended_jobs_and_ramp_times_count_as_in_fio() {
    for job in [
        // The first I/O is slower than the limit: nothing is verified or repeated.
        "rw=write\nverify=crc32c\nsize=1m\nbs=256k\nmax_latency=1\n",
        "rw=write\nverify=crc32c\nsize=1m\nloops=3\nbs=256k\nmax_latency=1\n",
        "rw=randread\nsize=1m\nloops=3\nbs=256k\nmax_latency=1\n",
        // The job ends within its ramp time.
        "rw=read\nsize=1m\nramp_time=9\n",
        "rw=randrw\nsize=1m\nramp_time=9\nioengine=libaio\niodepth=4\n",
        "rw=write\nsize=1m\nnumjobs=2\nramp_time=9\n",
    ] {
        let job = format!("[a]\n{job}");
        let Some((expected, _, succeeded)) = run_job("fio", &job) else {
            eprintln!(
                "SKIPPED ended_jobs_and_ramp_times_count_as_in_fio: fio is not installed"
            );
            return;
        };
        let (found, message, found_succeeded) = run_job("assay", &job).unwrap();
        assert_eq!(found_succeeded, succeeded, "{job}{message}");
        assert_eq!(found["error"], expected["error"], "{job}{message}");
        assert_eq!(ios(&found), ios(&expected), "{job}{message}");
    }
}

#[test]
fn patterns_are_written_as_by_fio() {
    for options in [
        "buffer_pattern=0xdeadbeef\"abc\"-5\n",
        "verify=pattern\nverify_pattern=0xfeed0\nverify_backlog=4\n",
        "verify=pattern\nverify_pattern=\"abc\"\nbs=4k,8k\n",
        "verify=pattern\nverify_pattern=\"abc\"\nbsrange=4k-16k\n",
        "verify=pattern\nverify_pattern=%o\n",
        "verify=pattern\nverify_pattern=1%o\"abc\"%o\nbs=4k,8k\n",
        "verify=pattern\nverify_pattern=1%o\nbs=5k\nverify_backlog=3\n",
    ] {
        let job = format!("[a]\nfilename=x\nrw=write\nbs=4k\nsize=64k\n{options}");
        let contents = |world: &World, mut command: Command| {
            let path = world.write("job.fio", &job);
            let output = command.arg(path).current_dir(world.path("")).output().ok()?;
            assert!(output.status.success(), "{job}{output:?}");
            Some(std::fs::read(world.path("x")).unwrap())
        };
        let (there, here) = (World::in_memory(), World::in_memory());
        let Some(expected) = contents(&there, Command::new("fio")) else {
            eprintln!("SKIPPED patterns_are_written_as_by_fio: fio is not installed");
            return;
        };
        let found = contents(&here, here.command(&["fio", "--no-store"])).unwrap();
        assert!(found == expected, "{job}{:x?}\n{:x?}", &found[..32], &expected[..32]);
    }
}

#[test]
fn damage_of_a_pattern_is_found() {
    let world = World::in_memory();
    let write = ["fio", "--name=a", "--filename=x", "--rw=write", "--size=64k", "--no-store"];
    let pattern = ["--verify=pattern", "--verify_pattern=0xdeadbeef"];
    world.assay(&[&write[..], &pattern[..]].concat()).succeeded();
    let check = ["fio", "--name=a", "--filename=x", "--rw=read", "--size=64k", "--no-store"];
    let check = [&check[..], &pattern[..]].concat();
    world.assay(&check).succeeded();
    let mut contents = std::fs::read(world.path("x")).unwrap();
    contents[5000] = 0;
    std::fs::write(world.path("x"), contents).unwrap();
    let run = world.assay(&check).failed_with(4);
    assert!(run.err.contains("byte 904 differs from the pattern"), "{}", run.err);
}

#[test]
fn duplicates_have_the_requested_share() {
    let world = World::in_memory();
    let job = ["fio", "--name=a", "--filename=x", "--rw=write", "--size=8m", "--no-store"];
    world.assay(&[&job[..], &["--dedupe_percentage=30"]].concat()).succeeded();
    let contents = std::fs::read(world.path("x")).unwrap();
    let unique: BTreeSet<&[u8]> = contents.chunks(4096).collect();
    let blocks = contents.len() / 4096;
    // Binomial, n = 2048, p = 0.7: 1434 ± 5 standard deviations of 20.7.
    assert!(unique.len().abs_diff(blocks * 7 / 10) < 104, "{} of {blocks}", unique.len());
}

/// Duplicates repeat a small set of blocks, which several jobs share with `dedupe_global`.
#[test]
fn duplicates_of_a_working_set_are_those_of_fio() {
    const TEST: &str = "duplicates_of_a_working_set_are_those_of_fio";
    let job = "[global]\nrw=randwrite\nioengine=libaio\niodepth=4\nsize=4m\ndedupe_percentage=50\n\
               dedupe_mode=working_set\ndedupe_working_set_percentage=5\ndedupe_global=GLOBAL\n\
               [a]\nfilename=a\n[b]\nfilename=b\n";
    for global in ["0", "1"] {
        let job = job.replace("GLOBAL", global);
        // Different blocks of each file, of both, and those that are there more than once.
        let counts = |world: &World, mut command: Command| {
            let path = world.write("job.fio", &job);
            let output = command.arg(path).current_dir(world.path("")).output().ok()?;
            assert!(output.status.success(), "{job}{output:?}");
            let files = ["a", "b"].map(|name| std::fs::read(world.path(name)).unwrap());
            let [a, b] = &files;
            let both = || a.chunks(4096).chain(b.chunks(4096));
            let mut times: BTreeMap<&[u8], u32> = BTreeMap::new();
            both().for_each(|block| *times.entry(block).or_default() += 1);
            let unique = |file: &[u8]| file.chunks(4096).collect::<BTreeSet<_>>().len();
            let repeated = times.values().filter(|count| **count > 1).count();
            Some([unique(a), unique(b), times.len(), repeated])
        };
        let (there, here) = (World::in_memory(), World::in_memory());
        let Some(expected) = counts(&there, Command::new("fio")) else {
            return eprintln!("SKIPPED {TEST}: fio is not installed");
        };
        let found = counts(&here, here.command(&["fio", "--no-store"])).unwrap();
        // Binomial, n = 1024, p = 0.5: 5 standard deviations of 16 for each, of both programs.
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.abs_diff(expected) < 160, "{job}{found:?} {expected:?}");
        }
        // 51 blocks of each job, or together.
        let most = if global == "1" { 55 } else { 110 };
        assert!(found[3] <= most && expected[3] <= most, "{job}{found:?} {expected:?}");
        assert!(found[3] > most / 2, "{job}{found:?} {expected:?}");
    }
}

#[test]
fn results_so_far_are_printed_at_the_interval() {
    let world = World::in_memory();
    let job = ["fio", "--name=a", "--ioengine=null", "--rw=read", "--size=1g", "--no-store"];
    let timed = ["--time_based", "--runtime=3", "--thinktime=1000", "--status-interval=1"];
    let run = world.assay(&[&job[..], &timed[..], &["--output-format=json"]].concat());
    let documents: Vec<Value> = serde_json::Deserializer::from_str(&run.succeeded().out)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let ios = |document: &Value| document["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
    let counts: Vec<u64> = documents.iter().map(ios).collect();
    assert!(counts.len() >= 2 && counts.is_sorted() && counts[0] > 0, "{counts:?}");
    let samples = &documents[0]["jobs"][0]["read"]["clat_ns"]["N"];
    assert_eq!(samples.as_u64(), Some(counts[0]));
}

#[test]
fn priorities_and_submission_times_are_in_the_logs() {
    let job = "[a]\nioengine=libaio\niodepth=4\nrw=read\nsize=256k\nprio=3\nprioclass=2\n\
               log_prio=1\nlog_offset=1\nwrite_lat_log=L\n";
    let columns = |world: &World, mut command: Command| {
        let path = world.write("job.fio", job);
        command.arg(path).current_dir(world.path("")).output().ok()?;
        let column = |kind: &str| {
            let log = std::fs::read_to_string(world.path(&format!("L_{kind}.1.log"))).unwrap();
            let lines: Vec<String> = log
                .lines()
                .map(|line| line.split(", ").skip(2).collect::<Vec<_>>().join(" "))
                .collect();
            BTreeSet::from_iter(lines)
        };
        Some(["lat", "slat", "clat"].map(column))
    };
    let (there, here) = (World::in_memory(), World::in_memory());
    let Some(expected) = columns(&there, Command::new("fio")) else {
        eprintln!(
            "SKIPPED priorities_and_submission_times_are_in_the_logs: fio is not installed"
        );
        return;
    };
    let found = columns(&here, here.command(&["fio", "--no-store"])).unwrap();
    assert_eq!(found, expected);
    assert_eq!(found[1].len(), 64);
}

#[test]
fn traces_have_the_io_of_fio() {
    for options in [
        "rw=randrw\nnrfiles=2\nsize=128k\n",
        "rw=write\nsize=64k\nverify=crc32c\n",
        "rw=randread\nbsrange=4k-16k\nsize=256k\nloops=2\n",
    ] {
        let job = format!("[a]\nwrite_iolog=trace\n{options}");
        let lines = |world: &World, mut command: Command| {
            let path = world.write("job.fio", &job);
            command.arg(path).current_dir(world.path("")).output().ok()?;
            let text = std::fs::read_to_string(world.path("trace")).unwrap();
            assert!(text.starts_with("fio version 3 iolog\n"), "{text}");
            let ios = text.lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned()));
            Some(ios.filter(|line| line.split(' ').count() == 4).collect::<Vec<_>>())
        };
        let (there, here) = (World::in_memory(), World::in_memory());
        let Some(expected) = lines(&there, Command::new("fio")) else {
            eprintln!("SKIPPED traces_have_the_io_of_fio: fio is not installed");
            return;
        };
        let found = lines(&here, here.command(&["fio", "--no-store"])).unwrap();
        assert!(!expected.is_empty());
        assert_eq!(found, expected, "{job}");
    }
}

/// Runs a job; returns the lines of its log and its priorities with their counts.
fn priorities(world: &World, mut command: Command, job: &str) -> Option<(Vec<String>, String)> {
    let path = world.write("job.fio", job);
    command.args([path.to_str().unwrap(), "--output-format=json"]);
    let output = command.current_dir(world.path("")).output().ok()?;
    assert!(output.status.success(), "{job}{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let document: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let mut found = String::new();
    for way in ["read", "write"] {
        for entry in document["jobs"][0][way]["prios"].as_array().into_iter().flatten() {
            let latency = ["clat_ns", "lat_ns"].map(|name| {
                let keys = entry[name].as_object().into_iter().flat_map(|it| it.keys());
                (keys.cloned().collect::<Vec<_>>().join(" "), entry[name]["N"].clone())
            });
            writeln!(found, "{way} {} {} {latency:?}", entry["prioclass"], entry["prio"])
                .unwrap();
        }
    }
    let log = std::fs::read_to_string(world.path("L_lat.1.log")).unwrap();
    let columns = |line: &str| line.split(", ").skip(2).collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = log.lines().map(columns).collect();
    lines.sort();
    Some((lines, found))
}

#[test]
fn single_io_has_the_priorities_of_fio() {
    const NEVER_REAL_TIME: &str = "cmdprio_class=2\n";
    for options in [
        "ioengine=libaio\nrw=randrw\ncmdprio_percentage=20\ncmdprio=1\n",
        "ioengine=io_uring\nrw=randrw\ncmdprio_percentage=30,50\ncmdprio=3\nprio=5\n",
        "ioengine=libaio\nrw=rw\nloops=2\ncmdprio_percentage=0,40\ncmdprio=2\n",
        "ioengine=libaio\nrw=randrw\nbssplit=4k/50:8k/50\nlat_percentiles=1\n\
         cmdprio_bssplit=4k/20/2/1:8k/50/3/0:4k/10\n",
        "ioengine=io_uring\nrw=randwrite\nrandrepeat=1\nbssplit=4k/50:8k/50\nverify=crc32c\n\
         cmdprio_bssplit=4k/30/0/4,8k/60\n",
        // One priority alone is not listed.
        "ioengine=libaio\nrw=read\ncmdprio_percentage=100\n",
    ] {
        let job = format!(
            "[a]\nsize=512k\niodepth=4\nlog_prio=1\nlog_offset=1\nwrite_lat_log=L\n\
             {NEVER_REAL_TIME}{options}"
        );
        let (there, here) = (World::in_memory(), World::in_memory());
        let Some(expected) = priorities(&there, Command::new("fio"), &job) else {
            eprintln!("SKIPPED single_io_has_the_priorities_of_fio: fio is not installed");
            return;
        };
        let found = priorities(&here, here.command(&["fio", "--no-store"]), &job).unwrap();
        assert!(!expected.0.is_empty(), "{job}");
        assert_eq!(found, expected, "{job}");
    }
}
