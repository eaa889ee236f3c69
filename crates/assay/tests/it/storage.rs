//! Storage commands: results, kept and removed files, rejected targets, and files left by a crash.
//!
//! Files are small and go through the page cache, because a folder for tests may be in memory.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::processes::{send_signal, wait_until};
use crate::program::{Outcome, World, results};

/// 300 ms on a file of one mebibyte.
const SHORT_OPTIONS: &[&str] =
    &["--size", "1MiB", "--for", "300ms", "--buffered", "--depth", "4"];

fn storage(world: &World, verb: &str, arguments: &[&str]) -> Outcome {
    world.assay(&[&["storage", verb], arguments, SHORT_OPTIONS].concat())
}

fn record_count(world: &World) -> usize {
    let folder = world.path("assay").join("created-files");
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .filter(|it| it.as_ref().unwrap().path().extension() == Some("json".as_ref()))
        .count()
}

#[test]
fn storage_commands_report_results_and_leave_nothing() {
    let world = World::in_memory();
    for (verb, operation) in [("read", "read"), ("write", "write"), ("mix", "mix")] {
        let arguments =
            [&["storage", verb, "file", "--random", "--json"], SHORT_OPTIONS].concat();
        let document = world.json(&arguments);
        for metric in ["rate", "bandwidth", "latency", "cpu_per_io"] {
            let all = results(&document, "storage", metric);
            let is_whole = |it: &&&Value| it["parameters"]["operation"] == operation;
            let found: Vec<&Value> = all.iter().filter(is_whole).copied().collect();
            assert_eq!(found.len(), 1, "{verb} {metric}");
            assert!(found[0]["median"].as_f64().unwrap() > 0.0);
            let parameters = &found[0]["parameters"];
            assert_eq!(parameters["operation"], operation);
            assert_eq!(parameters["pattern"], "random");
            assert_eq!(parameters["bytes"], 8192);
            assert_eq!(parameters["depth"], 4);
            assert!(parameters["engine_reason"]["id"].is_string());
        }
        assert!(results(&document, "storage", "latency_from_intended").is_empty());
        assert!(!world.path("file").exists());
        assert_eq!(record_count(&world), 0);
    }
}

#[test]
fn open_loop_reports_both_latencies_and_missed_rate() {
    let world = World::in_memory();
    let arguments =
        [&["storage", "read", "file", "--rate", "500", "--json"], SHORT_OPTIONS].concat();
    let document = world.json(&arguments);
    let due = results(&document, "storage", "latency_from_intended");
    assert_eq!(due.len(), 1);
    assert_eq!(due[0]["parameters"]["requested_rate"], 500.0);
    // No storage completes 10⁹ I/O per second, one at a time.
    let impossible = ["storage", "read", "file", "--rate", "1G", "--depth", "1", "--json"];
    let arguments = [&impossible[..], &SHORT_OPTIONS[..SHORT_OPTIONS.len() - 2]].concat();
    let document = world.json(&arguments);
    assert!(is_missed(&document), "{document}");
    // By chance, the first thousand arrivals of this schedule come 3 % late.
    let easy =
        ["storage", "read", "--engine", "null", "--random", "--rate", "1k", "--seed", "2026"];
    let document = world.json(&[&easy[..], &["--for", "1s", "--json"]].concat());
    assert!(!is_missed(&document), "{document}");
}

fn is_missed(document: &serde_json::Value) -> bool {
    let warnings = results(document, "storage", "rate")[0]["warnings"].clone();
    warnings.as_array().unwrap().iter().any(|warning| warning["id"] == "rate-missed")
}

#[test]
fn null_engine_opens_nothing() {
    let world = World::in_memory();
    let document =
        world.json(&["storage", "read", "--engine", "null", "--for", "200ms", "--json"]);
    assert_eq!(results(&document, "storage", "rate")[0]["parameters"]["target"], "none");
    assert!(!world.path("null").exists());
}

#[test]
fn kept_files_are_reused_and_removed_by_clean() {
    let world = World::in_memory();
    storage(&world, "read", &["file", "--keep"]).succeeded();
    assert_eq!(std::fs::metadata(world.path("file")).unwrap().len(), 1 << 20);
    // assay created the file, so no permission is needed.
    storage(&world, "write", &["file"]).succeeded();
    assert!(
        world.path("file").exists(),
        "a file of an earlier run is not this run's to remove"
    );
    assert!(world.assay(&["storage", "clean", "--dry-run"]).succeeded().out.contains("file"));
    assert!(world.assay(&["storage", "clean"]).succeeded().out.contains("removed"));
    assert!(!world.path("file").exists());
    assert_eq!(record_count(&world), 0);
    world.assay(&["storage", "clean"]).succeeded();
}

#[test]
fn foreign_files_are_read_and_not_written() {
    let world = World::in_memory();
    let path = world.path("foreign");
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    storage(&world, "read", &["foreign"]).succeeded();
    for verb in ["write", "mix"] {
        let refused = storage(&world, verb, &["foreign"]).failed_with(2);
        assert!(refused.err.contains("--destroy-data="), "{refused:?}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), vec![7; 1 << 20]);
    storage(&world, "write", &["foreign", "--destroy-data", "foreign"]).succeeded();
    assert_ne!(std::fs::read(&path).unwrap(), vec![7; 1 << 20]);
    assert!(world.assay(&["storage", "clean"]).succeeded().out.contains("no files"));
    assert!(path.exists());
}

#[test]
fn rejects_impossible_requests_before_writing() {
    let world = World::in_memory();
    for (arguments, code, says) in [
        (&["storage", "read"][..], 2, "TARGET"),
        (&["storage", "read", "--engine", "libaio"], 2, "name a file"),
        (&["storage", "read", "/dev/no-such-device"], 2, "lsblk"),
        (&["storage", "read", "file", "--bs", "0"], 2, "block"),
        (&["storage", "read", "file", "--bs", "2MiB", "--size", "1MiB"], 2, "too small"),
        (&["storage", "read", "file", "--depth", "0"], 2, "depth"),
        (&["storage", "read", "file", "--threads", "9", "--depth", "1"], 2, "threads"),
        (&["storage", "read", "file", "--rate", "0"], 2, "expected a value above zero"),
        (&["storage", "read", "file", "--for", "10"], 2, "unit"),
        (&["storage", "mix", "file", "--read-share", "100%"], 2, "between"),
        (&["storage", "mix", "file", "--read-share", "700"], 2, "like `70%`"),
        (&["storage", "read", "file", "--size", "4096TiB"], 4, "have to stay free"),
        (&["storage", "read", "no/folder/file"], 2, "folder"),
        (&["run", "storage-local", "--target", "no/folder"], 2, "folder"),
        (&["run", "storage-volume", "--target", "no/folder"], 2, "folder"),
        (&["run", "storage-files", "--target", "no/folder"], 2, "folder"),
        (&["storage", "read", "/dev/zero"], 2, "character device"),
        (&["storage", "read", "/mnt/nothing-is-mounted-here/file"], 2, "nothing is mounted"),
        (
            &["storage", "read", "/mnt/no-volume"],
            2,
            "there is no /mnt/no-volume, and nothing is mounted on /mnt\n",
        ),
        (&["storage", "files", "/mnt/no-volume"], 2, "make the folder /mnt/no-volume"),
        (&["storage", "files", "no/folder"], 2, "make the folder above it"),
        (&["storage", "files", ".", "--operations", "unlink"], 2, "stat-directory"),
        (&["run", "storage-local"], 2, "--target"),
        (&["run", "storage-local", "--target", ".", "--provisioned", "5"], 2, "unit"),
    ] {
        let outcome = world.assay(arguments).failed_with(code);
        assert!(outcome.err.contains(says), "{arguments:?}: {outcome:?}");
        assert!(!world.path("file").exists());
        assert_eq!(record_count(&world), 0);
    }
}

#[test]
fn rejects_unsupported_direct_io_before_layout() {
    let world = World::in_memory();
    let arguments = ["storage", "read", "file", "--bs", "3", "--size", "1MiB", "--for", "1s"];
    let outcome = world.assay(&arguments).failed_with(4);
    // Not all file systems support direct I/O.
    let says = ["that direct I/O requires; use a multiple", "cannot be opened with O_DIRECT"];
    assert!(says.iter().any(|says| outcome.err.contains(says)), "{outcome:?}");
    assert!(!outcome.err.contains("is written in full first"), "{outcome:?}");
    assert!(!world.path("file").exists());
    assert_eq!(record_count(&world), 0);
}

#[test]
fn suites_resolve_every_case() {
    let world = World::in_memory();
    for (suite, cases) in
        [("storage-local", 7), ("storage-volume", 6 * 11), ("storage-files", 2 * 7)]
    {
        let plan = world.json(&["run", suite, "--target", ".", "--dry-run", "--json"]);
        assert_eq!(plan["cases"].as_array().unwrap().len(), cases, "{suite}");
    }
    let text =
        world.assay(&["run", "storage-volume", "--target", ".", "--dry-run"]).succeeded();
    assert!(text.out.contains("maximum"), "{}", text.out);
}

#[test]
fn response_curve_has_every_point() {
    let world = World::in_memory();
    world.write(
        "curve.toml",
        r#"
name = "curve"
budget = "3s"
[[measure]]
benchmark = "storage"
name = "RndRead"
operation = "read"
depth = 2
buffered = true
size = "1MiB"
curve = [1, 2, 3, 4, 5]
provisioned = "1TB/s"
"#,
    );
    let document = world.json(&["run", "curve.toml", "--target", ".", "--json"]);
    let due = results(&document, "storage", "latency_from_intended");
    assert_eq!(due.len(), 5);
    assert!(due.iter().all(|it| it["parameters"]["knee"].is_string()));
    let limit = &results(&document, "storage", "bandwidth")[0]["limit"]["value"];
    assert_eq!(limit.as_f64(), Some(1e12));
    let page = world.assay(&["report", "latest", "--format", "html"]).succeeded().out;
    assert!(page.contains("<svg") && page.contains("Response curve of RndRead"));
}

/// The budget has time for all maxima, but not for all points of the curves.
#[test]
fn kept_budget_leaves_out_points_before_maxima() {
    let world = World::in_memory();
    let measure = |operation: &str| {
        format!(
            "[[measure]]\nbenchmark = \"storage\"\nname = \"{operation}\"\noperation = \"{operation}\"\n\
             depth = 2\nbuffered = true\nsize = \"1MiB\"\nlength = \"1s\"\ncurve = [10, 30, 50, 70, 90, 95]\n"
        )
    };
    let measures = ["read", "write", "mix"].map(measure).concat();
    world.write("curves.toml", &format!("name = \"curves\"\n{measures}"));
    let words = ["run", "curves.toml", "--target", ".", "--budget", "16s", "--quiet"];
    let shown = world.assay(&words).succeeded();
    assert!(shown.err.contains("cases were not measured: the budget of"), "{shown:?}");
    let document = world.json(&["show", "latest", "--json"]);
    let omitted = document["omitted"].as_array().unwrap();
    assert!(!omitted.is_empty(), "{document:#}");
    for it in omitted {
        assert_eq!(it["reason"], "time");
        assert!(it["benchmark"].as_str().unwrap().ends_with('%'), "{it}");
    }
    let maxima = results(&document, "storage", "latency");
    let maxima: Vec<&str> = maxima.iter().filter_map(|it| it["case"].as_str()).collect();
    for name in ["read/max", "write/max", "mix/max"] {
        assert!(maxima.iter().any(|it| it.ends_with(name)), "{name}: {maxima:?}");
    }
    let page = world.assay(&["report", "latest"]).succeeded().out;
    assert!(page.contains(omitted[0]["benchmark"].as_str().unwrap()), "{page}");
}

#[test]
fn bend_points_are_added_and_drawn() {
    let world = World::in_memory();
    world.write(
        "curve.toml",
        r#"
name = "curve"
budget = "3s"
[[measure]]
benchmark = "storage"
name = "RndRead"
operation = "read"
depth = 2
buffered = true
size = "1MiB"
curve = [1, 2, 3, 4, 5]
bend-points = 6
"#,
    );
    let document = world.json(&["run", "curve.toml", "--target", ".", "--json"]);
    let due = results(&document, "storage", "latency_from_intended");
    let share = |it: &&Value| it["parameters"]["percent_of_max"].as_f64().unwrap();
    let shares: Vec<f64> = due.iter().map(share).collect();
    assert!((5..=11).contains(&shares.len()), "{shares:?}");
    assert!(shares.iter().all(|it| (1.0..100.0).contains(it)), "{shares:?}");
    let picture = world.assay(&["report", "latest", "--format", "svg"]).succeeded().out;
    assert!(
        picture.starts_with("<svg xmlns=") && picture.contains("Response curve of RndRead")
    );
    assert_eq!(picture.matches("<svg").count(), picture.matches("</svg>").count());
    assert!(picture.matches("<svg").count() >= 3);
    world.assay(&["storage", "read", "--engine", "null", "--for", "100ms"]).succeeded();
    let refused = world.assay(&["report", "latest", "--format", "svg"]).failed_with(2);
    assert!(refused.err.contains("no plot"), "{refused:?}");
}

#[test]
fn find_rate_meets_latency_goal() {
    let world = World::in_memory();
    let goal = ["storage", "read", "file", "--find-rate", "p99<=10s", "--json"];
    let document = world.json(&[&goal[..], SHORT_OPTIONS].concat());
    let parameters = &results(&document, "storage", "rate")[0]["parameters"];
    let number = |name: &str| parameters[name].as_f64().unwrap();
    assert!(number("goal_rate") > 0.0 && number("goal_rate") < number("goal_missed_at"));
    assert!(number("goal_missed_at") <= number("greatest_rate"));
    assert_eq!(parameters["requested_rate"], parameters["goal_rate"]);
    assert_eq!(parameters["goal"], "p99 <= 10.00 s");
    let steps = document["steps"].as_array().unwrap();
    let tries = steps.iter().filter(|it| it["metric"] == "late").count();
    assert!((1..=16).contains(&tries), "{document}");
    let page = world.assay(&["show"]).succeeded().out;
    assert!(page.contains("is met at") && page.contains("Search steps of"), "{page}");
    // No storage completes an I/O within a nanosecond.
    let goal = ["storage", "read", "file", "--find-rate", "p50<=1ns"];
    let failed = world.assay(&[&goal[..], SHORT_OPTIONS].concat()).failed_with(4);
    assert!(failed.err.contains("no rate was shown to meet p50 <= 1.000 ns"), "{failed:?}");
    for (arguments, says) in [
        (["--find-rate", "p99<=1ms", "--rate", "5"], "cannot be used with"),
        (["--find-rate", "fast", "--for", "1s"], "p99<=1ms"),
        (["--precondition=twice", "--for", "1s", "--random"], "2x"),
    ] {
        let all = [&["storage", "read", "file"][..], &arguments].concat();
        assert!(world.assay(&all).failed_with(2).err.contains(says), "{arguments:?}");
    }
}

#[test]
fn steady_state_rounds_end_when_steady_or_at_maximum() {
    let world = World::in_memory();
    let rounds =
        ["storage", "write", "file", "--random", "--steady-state", "--precondition", "--json"];
    let document = world.json(&[&rounds[..], SHORT_OPTIONS].concat());
    let parameters = &results(&document, "storage", "rate")[0]["parameters"];
    assert_eq!(parameters["precondition_passes"], 2);
    let rounds = document["steps"].as_array().unwrap().len();
    assert_eq!(parameters["rounds"], rounds);
    assert!(rounds >= 5);
    assert!(parameters["steady"] == true || rounds == 25, "{document}");
    let page = world.assay(&["show"]).succeeded().out;
    assert!(page.contains("steady state") && page.contains("  round  "), "{page}");
    // Preconditioning writes, also before a test that only reads.
    std::fs::write(world.path("foreign"), vec![7; 1 << 20]).unwrap();
    let arguments = ["storage", "read", "foreign", "--precondition", "--for", "100ms"];
    assert!(world.assay(&arguments).failed_with(2).err.contains("--destroy-data="));
    assert_eq!(std::fs::read(world.path("foreign")).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn rounds_use_different_random_blocks() {
    let world = World::in_memory();
    const BLOCKS: u64 = 16_384;
    let file = std::fs::File::create(world.path("file")).unwrap();
    file.set_len(BLOCKS * 4096).unwrap();
    let write = ["storage", "write", "file", "--destroy-data=file", "--random", "--bs", "4k"];
    let rounds = ["--steady-state", "--rate", "5000", "--for", "300ms", "--buffered", "--json"];
    let document = world.json(&[&write[..], &rounds].concat());
    let is_rate = |step: &&Value| step["metric"] == "rate";
    let rate = |step: &Value| step["median"].as_f64().unwrap();
    let rates: f64 =
        document["steps"].as_array().unwrap().iter().filter(is_rate).map(rate).sum();
    // A tenth of the first round is warm-up.
    let written = rates * 0.3 + 150.0;
    // Writing into a sparse file allocates blocks: k random writes allocate n (1 − e^−k/n) of n
    // blocks.
    let n = BLOCKS as f64;
    let expected = n * (1.0 - (-written / n).exp());
    let distinct = file.metadata().unwrap().blocks() as f64 * 512.0 / 4096.0;
    assert!((distinct / expected - 1.0).abs() < 0.1, "{distinct} of {expected}");
}

#[test]
fn seed_repeats_plan_and_default_seeds_differ() {
    let world = World::in_memory();
    let plan = |more: &[&str]| {
        let read = ["storage", "read", "file", "--dry-run", "--json"];
        world.json(&[&read[..], more].concat())
    };
    let seeds = |plan: &Value| {
        (plan["seed"].as_u64(), plan["cases"][0]["workload"]["workload"]["seed"].as_u64())
    };
    let seven = plan(&["--seed", "7"]);
    assert_eq!(seven, plan(&["--seed", "7"]));
    assert_eq!(seeds(&seven).0, Some(7));
    let (one, other) = (plan(&[]), plan(&[]));
    assert_ne!(seeds(&one), seeds(&other));
    assert_ne!(seeds(&one).1, seeds(&seven).1);
}

/// SNIA's Performance Test Specification has rounds of a minute.
#[test]
fn steady_state_round_lasts_a_minute() {
    let world = World::in_memory();
    let length = |more: &[&str]| {
        let read = ["storage", "read", "file", "--steady-state", "--dry-run", "--json"];
        let plan = world.json(&[&read[..], more].concat());
        plan["cases"][0]["workload"]["workload"]["timing"]["duration_s"].as_f64()
    };
    assert_eq!((length(&[]), length(&["--for", "5s"])), (Some(60.0), Some(5.0)));
    // The budget but for a second covers all 25 rounds, each with a tenth for warming up.
    let of_budget = length(&["--budget", "55s"]).unwrap();
    assert!((of_budget - 2.0 * 54.0 / 55.0).abs() < 1e-9, "{of_budget}");
}

#[test]
fn malformed_storage_suite_exits_with_3() {
    let world = World::in_memory();
    world.write(
        "bad.toml",
        "name = \"x\"\n[[measure]]\nbenchmark = \"storage\"\noperation = 5\n",
    );
    world.assay(&["run", "bad.toml", "--target", "."]).failed_with(3);
}

/// Starts a run and waits until its file is laid out.
fn start_run(world: &World) -> Child {
    let arguments = ["storage", "read", "file", "--size", "1MiB", "--for", "60s", "--buffered"];
    let mut command = world.command(&arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let bytes = || std::fs::metadata(world.path("file")).map_or(0, |it| it.len());
    wait_until("the file is laid out", || bytes() >= 1 << 20);
    child
}

fn end_with_signal(mut child: Child, signal: &str) {
    send_signal(child.id(), signal);
    child.wait().unwrap();
}

#[test]
fn clean_removes_file_of_killed_run() {
    let world = World::in_memory();
    let child = start_run(&world);
    let file: PathBuf = world.path("file");
    // `clean` does not remove a file that a run uses.
    assert!(world.assay(&["storage", "clean"]).succeeded().out.contains("uses it"));
    assert!(file.exists());
    end_with_signal(child, "KILL");
    assert!(file.exists());
    assert!(world.assay(&["storage", "clean"]).succeeded().out.contains("removed"));
    assert!(!file.exists());
}

#[test]
fn interrupted_run_removes_its_file() {
    let world = World::in_memory();
    end_with_signal(start_run(&world), "INT");
    assert!(!world.path("file").exists());
    assert_eq!(record_count(&world), 0);
}

/// Loop device over a file, detached on drop.
pub(crate) struct LoopDevice(pub(crate) String);

impl LoopDevice {
    /// Creates a file with a loop device over it; prints that the test is skipped and returns
    /// `None` where that is not possible.
    pub(crate) fn over_new_file(path: &std::path::Path, test: &str) -> Option<Self> {
        std::fs::File::create(path).unwrap().set_len(8 << 20).unwrap();
        Self::over_existing(path, test)
    }

    /// Creates a loop device over an existing file or device; `None` like [`Self::over_new_file`].
    pub(crate) fn over_existing(path: &std::path::Path, test: &str) -> Option<Self> {
        let made = Command::new("losetup").args(["-f", "--show"]).arg(path).output();
        let made = made.ok().filter(|made| made.status.success());
        let Some(made) = made else {
            eprintln!("SKIPPED {test}: losetup cannot create a loop device here");
            return None;
        };
        Some(Self(String::from_utf8(made.stdout).unwrap().trim().to_owned()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).stderr(Stdio::null()).status());
        drop(Command::new("losetup").args(["-d", &self.0]).status());
    }
}

#[test]
fn devices_are_written_only_with_permission_and_unmounted() {
    let test = "devices_are_written_only_with_permission_and_unmounted";
    let world = World::in_memory();
    let Some(device) = LoopDevice::over_new_file(&world.path("disk"), test) else { return };
    let arguments = |verb: &'static str, more: &[&'static str]| {
        let mut all = vec!["storage", verb, device.0.as_str(), "--for", "200ms"];
        all.extend(more);
        all.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let run = |verb, named: bool| {
        let more: &[&'static str] =
            if named { &["--depth", "4", "--destroy-data"] } else { &[] };
        let mut all = arguments(verb, more);
        all.extend(named.then(|| device.0.clone()));
        world.assay(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    run("read", false).succeeded();
    assert!(run("write", false).failed_with(2).err.contains("--destroy-data="));
    run("write", true).succeeded();
    let made = Command::new("mkfs.ext4").args(["-q", &device.0]).status();
    std::fs::create_dir(world.path("mounted")).unwrap();
    let mounted = || Command::new("mount").arg(&device.0).arg(world.path("mounted")).status();
    if !made.is_ok_and(|made| made.success()) || !mounted().is_ok_and(|it| it.success()) {
        eprintln!("SKIPPED {test}: mkfs.ext4 or mount does not work here");
        return;
    }
    assert!(run("write", true).failed_with(2).err.contains("mounted on"));
    let folder = world.path("mounted");
    let read_only = Command::new("mount").args(["-o", "remount,ro"]).arg(&folder).status();
    assert!(read_only.unwrap().success());
    let refused = storage(&world, "read", &["mounted"]).failed_with(2);
    assert!(refused.err.contains("is mounted read-only"), "{refused:?}");
    assert_eq!(record_count(&world), 0);
}

#[test]
fn fio_can_measure_the_same_case() {
    let test = "fio_can_measure_the_same_case";
    let there = Command::new("fio").arg("--version").stdout(Stdio::null()).status();
    if !there.is_ok_and(|it| it.success()) {
        eprintln!("SKIPPED {test}: fio is not installed");
        return;
    }
    let world = World::in_memory();
    let arguments =
        [&["storage", "read", "file", "--by", "assay,fio", "--json"], SHORT_OPTIONS].concat();
    // fio counts its time in whole seconds.
    let arguments: Vec<&str> =
        arguments.into_iter().map(|word| if word == "300ms" { "1s" } else { word }).collect();
    let document = world.json(&arguments);
    for metric in ["rate", "bandwidth", "latency"] {
        let found = results(&document, "storage", metric);
        let by: Vec<_> = found.iter().map(|it| it["tool"]["name"].as_str().unwrap()).collect();
        assert_eq!(by, ["assay", "fio"], "{metric}");
        assert_eq!(found[0]["parameters"]["test"], found[1]["parameters"]["test"]);
    }
    assert!(!world.path("file").exists());
}

#[test]
fn failing_device_is_reported_with_offset_and_others_continue() {
    let test = "failing_device_is_reported_with_offset_and_others_continue";
    let world = World::in_memory();
    let Some(device) = LoopDevice::over_new_file(&world.path("disk"), test) else { return };
    std::fs::File::options()
        .write(true)
        .open(world.path("disk"))
        .unwrap()
        .set_len(1 << 20)
        .unwrap();
    let measure = |name: &str, path: &str| {
        format!(
            "[[measure]]\nbenchmark = \"storage\"\nname = \"{name}\"\npath = \"{path}\"\n\
             operation = \"read\"\nbs = \"4KiB\"\nbuffered = {}\n",
            name == "good"
        )
    };
    let cases = measure("bad", &device.0) + &measure("good", "file") + "size = \"1MiB\"\n";
    world.write("two.toml", &format!("name = \"two\"\nbudget = \"1s\"\n{cases}"));
    let failed = world.assay(&["run", "two.toml", "--json"]).failed_with(4);
    assert!(failed.err.contains("storage/bad failed"), "{failed:?}");
    let document: Value = serde_json::from_str(&failed.out).unwrap();
    let reason = document["failures"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("Input/output error") && reason.contains("at byte "), "{reason}");
    let done = results(&document, "storage", "rate");
    assert_eq!((done.len(), &done[0]["parameters"]["test"]), (1, &Value::from("good")));
}

#[test]
fn sparse_file_adds_warning() {
    let world = World::in_memory();
    std::fs::File::create(world.path("sparse")).unwrap().set_len(4 << 20).unwrap();
    let document =
        world.json(&[&["storage", "read", "sparse", "--json"], &SHORT_OPTIONS[2..]].concat());
    let rate = results(&document, "storage", "rate");
    let doubted = |warning: &serde_json::Value| warning["id"] == "file-with-holes";
    assert!(rate[0]["warnings"].as_array().unwrap().iter().any(doubted), "{rate:?}");
}
