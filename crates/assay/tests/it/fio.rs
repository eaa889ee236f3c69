//! `assay fio` compared with the real fio on the same jobs: same keys, same types, consistent
//! figures. Files are small and in the test's own folder.

use std::process::Command;

use serde_json::Value;

use crate::processes::send_signal;
use crate::program::World;

const MIB: u64 = 1 << 20;

/// Job with two groups: a mix of two clones, and a sequential write that ends by its size.
const JOB: &str = "[global]\nioengine=psync\nsize=2m\nthread\n\
                   [mix]\nrw=randrw\nrwmixread=50\nbs=8k\nnumjobs=2\ngroup_reporting\n\
                   time_based\nruntime=1\nfilename=mix\n\
                   [fill]\nstonewall\nrw=write\nbs=64k\nfilename=fill\n";

fn parse_json(text: &str) -> Value {
    let start = text.find("\n{").map_or(0, |at| if text.starts_with('{') { 0 } else { at + 1 });
    serde_json::from_str(&text[start..]).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the output of the real fio; `None` where it is not installed.
fn run_real_fio(world: &World, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("fio");
    let output = command.args(arguments).current_dir(world.path("")).output().ok()?;
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Collects every path in a document with the type of its value: percentiles by name, disks by key.
/// Options are skipped, because the real fio also lists those of the process.
fn collect_shape(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(_) if path.ends_with(" options") => found.push(path.to_owned()),
        Value::Object(entries) => {
            for (name, value) in entries {
                collect_shape(value, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(values) if path.ends_with("disk_util") => {
            values
                .iter()
                .take(1)
                .for_each(|disk| collect_shape(disk, &format!("{path}[]"), found));
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                collect_shape(value, &format!("{path}[{index}]"), found);
            }
        }
        Value::Number(number) if number.is_f64() => found.push(format!("{path} fraction")),
        Value::Number(_) => found.push(format!("{path} whole")),
        Value::String(_) => found.push(format!("{path} text")),
        Value::Bool(_) | Value::Null => found.push(format!("{path} other")),
    }
}

/// Checks invariants of every fio document, from assay or the real fio.
fn check_figures(document: &Value) {
    for job in document["jobs"].as_array().unwrap() {
        assert_eq!(job["error"], 0);
        for way in ["read", "write"] {
            let side = &job[way];
            let number = |name: &str| side[name].as_f64().unwrap();
            if number("total_ios") < 1.0 {
                continue;
            }
            let seconds = number("runtime") / 1e3;
            // Whole milliseconds are too coarse for less than a tenth of a second.
            let near = |one: f64, other: f64| seconds < 0.1 || (one / other - 1.0).abs() < 0.01;
            assert!(near(number("bw_bytes"), number("io_bytes") / seconds), "{side:#}");
            assert!(near(number("iops"), number("total_ios") / seconds), "{side:#}");
            let latency = |name: &str| side["clat_ns"][name].as_f64().unwrap();
            assert!(latency("min") <= latency("mean") && latency("mean") <= latency("max"));
            let percentiles = side["clat_ns"]["percentile"].as_object().unwrap();
            let mut values: Vec<(f64, u64)> = percentiles
                .iter()
                .map(|(name, value)| (name.parse().unwrap(), value.as_u64().unwrap()))
                .collect();
            values.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert!(values.is_sorted_by_key(|(_, value)| *value), "{values:?}");
        }
        let depths = job["iodepth_level"].as_object().unwrap();
        let sum: f64 = depths.values().map(|share| share.as_f64().unwrap()).sum();
        assert!(sum > 99.0, "{depths:?}");
    }
}

#[test]
fn json_has_keys_and_types_of_real_fio() {
    let world = World::new();
    world.write("job.fio", JOB);
    let ours = world.assay(&["fio", "job.fio", "--output-format=json"]).succeeded();
    let ours = parse_json(&ours.out);
    check_figures(&ours);
    let [mix, fill] = &ours["jobs"].as_array().unwrap()[..] else { panic!("{ours:#}") };
    assert_eq!((&mix["jobname"], &fill["jobname"]), (&"mix".into(), &"fill".into()));
    assert_eq!((&mix["groupid"], &fill["groupid"]), (&0.into(), &1.into()));
    assert_eq!(fill["write"]["io_bytes"], 2 * MIB);
    assert_eq!(fill["write"]["total_ios"], 32);
    assert_eq!(ours["global options"]["size"], "2m");
    assert_eq!(mix["job options"]["rwmixread"], "50");
    let Some(real) = run_real_fio(&world, &["job.fio", "--output-format=json"]) else {
        eprintln!("SKIPPED json_has_keys_and_types_of_real_fio: fio is not installed");
        return;
    };
    let real = parse_json(&real);
    check_figures(&real);
    let (mut expected, mut found) = (vec![], vec![]);
    collect_shape(&real, "", &mut expected);
    collect_shape(&ours, "", &mut found);
    // A file system without a device has no disk statistics.
    let plain = |path: &String| !path.contains("disk_util");
    expected.retain(plain);
    found.retain(plain);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(real["jobs"][1]["write"]["io_bytes"], fill["write"]["io_bytes"]);
}

#[test]
fn job_from_options_keeps_files_unless_unlinked() {
    let world = World::new();
    let line = "fio --name=some --rw=randread --bs=4k --size=1m --ioengine=libaio --iodepth=4 \
                --numjobs=2 --output-format=terse";
    let words: Vec<&str> = line.split_whitespace().collect();
    let lines = world.assay(&words).succeeded().out;
    let fields: Vec<Vec<&str>> = lines.lines().map(|line| line.split(';').collect()).collect();
    assert_eq!(fields.len(), 2, "{lines}");
    assert!(fields.iter().all(|job| job[0] == "3" && job[2] == "some" && job[5] == "1024"));
    assert!(world.path("some.0.0").exists() && world.path("some.1.0").exists());
    let unlinked = [&words[..], &["--unlink=1", "--directory=."]].concat();
    let world = World::new();
    world.assay(&unlinked).succeeded();
    assert!(!world.path("some.0.0").exists());
}

/// The hint is printed last and on a terminal only, because scripts parse what a tool prints to a
/// pipe.
#[test]
fn terminal_shows_where_run_is_stored() {
    let world = World::new();
    let program = env!("CARGO_BIN_EXE_assay");
    let report = |more: &str| {
        let line = format!("{program} fio --name=a --ioengine=null --size=64k {more} >out");
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(world.path("."));
        let reported = script.env("XDG_DATA_HOME", world.path(".")).env_remove("ASSAY_STORE");
        reported.output().map(|reported| String::from_utf8(reported.stdout).unwrap())
    };
    let Ok(reported) = report("") else {
        eprintln!("SKIPPED terminal_shows_where_run_is_stored: there is no script(1)");
        return;
    };
    let id = world.json(&["show", "--json"])["run"]["id"].as_str().unwrap().to_owned();
    assert!(
        reported.trim_end().ends_with(&format!("Stored as {id}: assay show {id}")),
        "{reported}"
    );
    let out = std::fs::read_to_string(world.path("out")).unwrap();
    assert!(out.contains("a: (g=0)") && !out.contains("Stored"), "{out}");
    assert!(!report("--no-store").unwrap().contains("Stored"));
}

#[test]
fn writes_text_and_json_to_output_file() {
    let world = World::new();
    let line =
        "fio --name=a --rw=write --size=256k --output-format=normal,json --output=result";
    let outcome = world.assay(&line.split_whitespace().collect::<Vec<_>>()).succeeded();
    assert!(outcome.err.is_empty(), "{}: scripts treat it as a failure", outcome.err);
    let written = std::fs::read_to_string(world.path("result")).unwrap();
    for part in ["a: (g=0): rw=write, bs=(R) 4096B-4096B", "Run status group 0 (all jobs):"] {
        assert!(written.contains(part), "{written}");
    }
    check_figures(&parse_json(&written));
}

#[test]
fn verify_reads_back_written_data() {
    let world = World::new();
    let line =
        "fio --name=a --rw=randwrite --size=1m --bs=4k --verify=crc32c --output-format=json";
    let outcome = world.assay(&line.split_whitespace().collect::<Vec<_>>()).succeeded();
    let document = parse_json(&outcome.out);
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 256);
    assert_eq!(document["jobs"][0]["read"]["total_ios"], 256);
}

/// The last I/O begins within `size` and may end after it, if the file is larger.
#[test]
fn last_io_after_the_size_is_verified() {
    let world = World::new();
    world.assay(&["fio", "--name=all", "--filename=f", "--rw=write", "--size=1m"]).succeeded();
    for options in [
        &["--bs=4k,8k", "--random_distribution=zipf:1.2", "--rw=randrw"][..],
        &["--bs=4k,8k", "--random_generator=lfsr", "--rw=randrw"],
        &["--bs=4k", "--blockalign=6k", "--random_generator=lfsr", "--rw=randwrite"],
        &["--bs=4k,8k", "--rw=rw"],
    ] {
        let common = ["fio", "--name=part", "--filename=f", "--size=20k", "--verify=crc32c"];
        world.assay(&[&common[..], options].concat()).succeeded();
    }
}

#[test]
fn refuses_to_overwrite_foreign_file() {
    let world = World::new();
    let path = world.write("mine", &"x".repeat(1 << 20));
    let job = ["fio", "--name=a", "--rw=write", "--size=1m", "--filename=mine"];
    world.assay(&job).failed_with(2);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x".repeat(1 << 20));
    let permission = format!("--destroy-data={}", path.display());
    world.assay(&[&job[..], &[&permission]].concat()).succeeded();
}

#[test]
fn errors_have_exit_code_and_position() {
    let world = World::new();
    world.write("bad.fio", "[a]\nrw=read\niodpeth=3\n");
    let outcome = world.assay(&["fio", "bad.fio"]).failed_with(3);
    assert!(outcome.err.contains("bad.fio:3:1"), "{}", outcome.err);
    assert!(outcome.err.contains("did you mean `iodepth`?"), "{}", outcome.err);
    let outcome = world.assay(&["fio", "--name=a", "--rw=randred"]).failed_with(2);
    assert!(outcome.err.contains("--rw=randred"), "{}", outcome.err);
    world.assay(&["fio", "bad"]).failed_with(2);
    world.assay(&["fio"]).failed_with(2);
    let dry = world.assay(&["fio", "--name=a", "--size=1m", "--dry-run"]).succeeded();
    assert!(dry.out.contains("sequential read"), "{}", dry.out);
    assert!(!world.path("a.0.0").exists());
}

#[test]
fn interrupted_run_prints_partial_results() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let world = World::new();
    let line = "fio --name=a --rw=randread --size=1m --time_based --runtime=60 \
                --output-format=normal,json --write_iops_log=a --log_avg_msec=100";
    let mut child = world
        .command(&line.split_whitespace().collect::<Vec<_>>())
        .args(["--name=b", "--stonewall", "--rw=read", "--size=1m"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The file is laid out before the first measured I/O.
    let reader = BufReader::new(child.stderr.as_mut().unwrap());
    assert!(reader.lines().map_while(Result::ok).any(|line| line.contains("laying out")));
    std::thread::sleep(std::time::Duration::from_millis(1000));
    send_signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    let (out, err) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("interrupted"), "{err}");
    assert!(out.contains("Run status group 0 (all jobs):"), "{out}");
    let document = parse_json(&out);
    assert_eq!(document["jobs"].as_array().unwrap().len(), 2);
    assert!(document["jobs"][0]["read"]["total_ios"].as_u64().unwrap() > 0);
    assert_eq!(document["jobs"][1]["read"]["total_ios"], 0);
    assert!(!std::fs::read_to_string(world.path("a_iops.1.log")).unwrap().is_empty());
    let shown = world.assay(&["show", "latest", "--as", "fio-json"]).succeeded();
    assert!(out.ends_with(&shown.out), "{out}\n{}", shown.out);
    assert_eq!(world.json(&["list", "--json"])["runs"][0]["status"], "interrupted");
}

/// Syncs, trims, several files and pauses, with figures known in advance.
#[test]
fn counts_syncs_trims_files_and_pauses() {
    let run = |line: &str| {
        let world = World::new();
        let words = format!("fio --name=a --size=1m --bs=4k --output-format=json {line}");
        let outcome = world.assay(&words.split_whitespace().collect::<Vec<_>>()).succeeded();
        (parse_json(&outcome.out), world)
    };
    let (synced, _) = run("--rw=write --fsync=16");
    // As in fio, a sync comes before the write that follows, and none follows the last.
    assert_eq!(synced["jobs"][0]["sync"]["total_ios"], 15);
    assert_eq!(synced["jobs"][0]["sync"]["lat_ns"]["N"], 15);
    let (trimmed, world) = run("--rw=randtrim --bs=64k");
    assert_eq!(trimmed["jobs"][0]["trim"]["total_ios"], 16);
    assert_eq!(trimmed["jobs"][0]["write"]["total_ios"], 0);
    let left = std::fs::read(world.path("a.0.0")).unwrap();
    assert!(
        left.len() == 1 << 20 && left.iter().all(|byte| *byte == 0),
        "everything was trimmed"
    );
    for turns in ["roundrobin", "random", "sequential"] {
        let line = format!("--rw=randread --nrfiles=8 --file_service_type={turns}");
        let (several, world) = run(&line);
        assert_eq!(several["jobs"][0]["read"]["total_ios"], 256, "{turns}");
        assert!(world.path("a.0.7").is_file());
    }
    let (sizes, _) = run("--rw=randrw --bs=4k,16k --number_ios=500 --loops=100 --norandommap");
    let way = |name: &str, of: &str| sizes["jobs"][0][name][of].as_u64().unwrap();
    assert_eq!(way("read", "io_bytes"), way("read", "total_ios") * 4096);
    assert_eq!(way("write", "io_bytes"), way("write", "total_ios") * 16384);
    let (strided, _) =
        run("--rw=read --size=16m --zonemode=strided --zonesize=1m --zoneskip=3m");
    // Zones wrap until `size` was read, as in fio 3.33.
    assert_eq!(strided["jobs"][0]["read"]["io_bytes"], 16 * MIB);
    let (steady, _) = run("--rw=randread --runtime=60 --time_based --ss=iops:90% --ss_dur=1");
    assert_eq!(steady["jobs"][0]["steadystate"]["attained"], 1);
    assert!(steady["jobs"][0]["read"]["runtime"].as_u64().unwrap() < 60_000);
    // A hundred I/O with a pause of a millisecond between them.
    let (paused, _) = run("--rw=randread --thinktime=1ms --size=400k");
    assert!(paused["jobs"][0]["read"]["runtime"].as_u64().unwrap() >= 99, "{paused:#}");
}

#[test]
fn concurrent_jobs_have_own_runtimes() {
    let world = World::new();
    world.write(
        "job.fio",
        "[global]\nsize=1m\ntime_based\n[long]\nrw=read\nruntime=2\n\
         [late]\nrw=read\nstartdelay=1\nruntime=500ms\n",
    );
    let outcome = world.assay(&["fio", "job.fio", "--output-format=json"]).succeeded();
    let document = parse_json(&outcome.out);
    let runtime = |job: usize| document["jobs"][job]["read"]["runtime"].as_u64().unwrap();
    assert!(runtime(1) < runtime(0) && runtime(1) > 0, "{} {}", runtime(0), runtime(1));
    world.write(
        "end.fio",
        "[global]\nsize=1m\n[long]\nrw=read\ntime_based\nruntime=60\n\
         [short]\nrw=read\nexitall\n",
    );
    let outcome = world.assay(&["fio", "end.fio", "--output-format=json"]).succeeded();
    let document = parse_json(&outcome.out);
    assert!(document["jobs"][0]["read"]["runtime"].as_u64().unwrap() < 60_000);
}

#[test]
fn max_latency_ends_job_with_error() {
    let world = World::new();
    let line = "fio --name=a --rw=read --size=1m --max_latency=0.1 --output-format=json";
    let outcome = world.assay(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(outcome.err.contains(", more than the maximum of"), "{}", outcome.err);
}

const MIX: &str = "[global]\nsize=1m\nbs=4k\ntime_based\nruntime=700ms\nbwavgtime=100\n\
                   [mix]\nrw=randrw\nrwmixread=${SHARE}\nioengine=libaio\niodepth=4\n";

/// Consecutive groups, two jobs of one name, and an included file.
const GROUPS: &str = "[global]\nsize=1m\ninclude more.fio\n\
                      [a]\nrw=write\nfsync=16\n[b]\nrw=read\n\
                      [a]\nstonewall\nrw=randread\n[check]\nstonewall\nrw=write\nverify=crc32c\n";

const CLONES: &str = "[many]\nrw=randread\nsize=512k\nnumjobs=3\ngroup_reporting\nrandrepeat=0\n\
                      nrfiles=2\npercentile_list=50:99.5\nwrite_lat_log=x\n";

/// Environment, job files and data files change between the run and `show`.
#[test]
fn shown_output_equals_live_output() {
    for (nth, job) in [MIX, GROUPS, CLONES].into_iter().enumerate() {
        for shape in ["normal", "json", "json+", "terse"] {
            let world = World::new();
            world.write("job.fio", job);
            world.write("more.fio", "bs=8k\n");
            let format = format!("--output-format={shape}");
            let mut command = world.command(&["fio", "job.fio", &format]);
            let output = command.env("SHARE", "70").env("TZ", "UTC-3").output().unwrap();
            assert!(output.status.success(), "{nth} {shape}: {output:?}");
            let live = String::from_utf8(output.stdout).unwrap();
            for gone in ["job.fio", "more.fio"] {
                std::fs::remove_file(world.path(gone)).unwrap();
            }
            for file in crate::program::files_below(&world.path("")) {
                if file.parent() == Some(&world.path("")) {
                    std::fs::write(file, "of another size").unwrap();
                }
            }
            let shown = ["show", "latest", "--as", &format!("fio-{shape}")];
            let shown = world.assay(&shown).succeeded();
            assert!(shown.out == live, "{nth} {shape}: {live}\n{}", shown.out);
        }
    }
}

#[test]
fn shown_formats_equal_output_file() {
    let world = World::new();
    let line = "fio --name=a --rw=randread --size=256k --output-format=terse,json+,normal \
                --output=result --store=kept --label=here";
    world.assay(&line.split_whitespace().collect::<Vec<_>>()).succeeded();
    let written = std::fs::read_to_string(world.path("result")).unwrap();
    let shown = |shape: &str| {
        let words = ["show", "--store", "kept", "latest", "--as", shape];
        world.assay(&words).succeeded().out
    };
    let normal = shown("fio-normal");
    let at = normal.find("\na: (groupid").unwrap();
    let (start, end) = normal.split_at(at);
    assert_eq!(written, [start, &shown("fio-terse"), &shown("fio-json+"), end].concat());
}

#[test]
fn run_is_stored_unless_no_store() {
    let world = World::new();
    let words = |extra: &str| {
        let line = format!(
            "fio --name=a --rw=randrw --size=1m --time_based --runtime=1300ms --bwavgtime=100 {extra}"
        );
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |extra: &str| {
        let words = words(extra);
        world.assay(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    run("--no-store").succeeded();
    assert_eq!(world.json(&["list", "--json"])["runs"].as_array().unwrap().len(), 0);
    let both = run("--no-store --store=x").failed_with(2);
    assert!(both.err.contains("--no-store is given"), "{}", both.err);
    // The store's name is taken by a file: nothing is measured.
    world.write("taken", "");
    run("--store=taken --filename=never").failed_with(4);
    assert!(!world.path("never").exists());
    run("--label=one").succeeded();
    run("--label two").succeeded();
    let listed = world.json(&["list", "--json"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2, "{listed:#}");
    assert_eq!(listed["runs"][0]["label"], "two");
    let compared = world.assay(&["compare", "one", "two", "--json"]);
    assert!(matches!(compared.code, 0 | 5 | 6), "{compared:?}");
    let compared: Value = serde_json::from_str(&compared.out).unwrap();
    assert!(compared.to_string().contains("\"phase\":\"a\""), "{compared:#}");
    let shown = world.json(&["show", "latest", "--json"]);
    let rates = crate::program::results(&shown, "storage", "rate");
    assert_eq!(rates.len(), 1, "{shown:#}");
    // 13 stretches of 100 ms, of which at most half count as warm-up.
    assert!(rates[0]["n"].as_u64().is_some_and(|n| n >= 6), "{rates:#?}");
    let page = world.assay(&["report", "latest", "--format", "markdown"]).succeeded();
    assert!(page.out.contains("| a |"), "{}", page.out);
    let other = world.assay(&["show", "latest", "--as", "ping"]).failed_with(2);
    assert!(other.err.contains("as ping: it was started as fio"), "{}", other.err);
}

#[test]
fn failed_run_is_stored_with_failures() {
    let world = World::new();
    let line = "fio --name=a --rw=read --size=1m --max_latency=0.1 --output-format=json";
    let outcome = world.assay(&line.split_whitespace().collect::<Vec<_>>()).failed_with(4);
    let shown = world.assay(&["show", "latest", "--as", "fio-json"]).succeeded();
    assert_eq!(shown.out, outcome.out);
    assert!(parse_json(&outcome.out)["jobs"][0]["error"].as_u64().unwrap() > 0);
    let run = world.json(&["show", "latest", "--json"]);
    assert_eq!(run["failures"][0]["id"], "io-failed", "{run:#}");
    // A phase that cannot run has no results; the others have theirs.
    let line = "fio --name=odd --rw=read --bs=1000 --direct=1 --size=1m \
                --name=fine --stonewall --direct=0 --bs=4k --rw=read --size=1m";
    world.write("odd.0.0", &"x".repeat(1 << 20));
    let outcome = world.assay(&line.split_whitespace().collect::<Vec<_>>());
    if outcome.code == 4 {
        let shown = world.assay(&["show", "latest", "--as", "fio-json"]).failed_with(4);
        assert!(shown.err.contains("the run has no outcome.json"), "{}", shown.err);
        let run = world.json(&["show", "latest", "--json"]);
        assert_eq!(run["failures"][0]["case"], "fio/odd", "{run:#}");
        assert_eq!(crate::program::results(&run, "storage", "bandwidth").len(), 1);
    } else {
        eprintln!(
            "SKIPPED failed_run_is_stored_with_failures: this file system accepts any size of direct I/O"
        );
    }
    // A rejected job is not stored as a run.
    let before = world.json(&["list", "--json"]);
    world.write("mine", &"x".repeat(1 << 20));
    world
        .assay(&["fio", "--name=a", "--rw=write", "--size=1m", "--filename=mine"])
        .failed_with(2);
    assert_eq!(world.json(&["list", "--json"]), before);
}
