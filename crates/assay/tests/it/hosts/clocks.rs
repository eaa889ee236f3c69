//! System clock steps while hosts measure: the host is named, and no measurement is affected.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::program::{World, results};

/// Returns Debian's libfaketime, which intercepts a program's reads of the system clock.
fn faketime(test: &str) -> Option<PathBuf> {
    let name =
        format!("/usr/lib/{}-linux-gnu/faketime/libfaketimeMT.so.1", std::env::consts::ARCH);
    let library = PathBuf::from(name);
    if !library.exists() {
        eprintln!("SKIPPED {test}: faketime is not installed");
        return None;
    }
    Some(library)
}

/// Returns the environment that fakes the system clock from a file, but not the monotonic clock of
/// measurements.
fn faketime_environment(world: &World, library: &Path, clock: &str) -> [String; 4] {
    [
        format!("LD_PRELOAD={}", library.display()),
        format!("FAKETIME_TIMESTAMP_FILE={}", world.path(clock).display()),
        "FAKETIME_NO_CACHE=1".to_owned(),
        "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
    ]
}

/// Sets a clock's offset in seconds from the machine's clock. The rename is atomic for concurrent
/// readers.
fn set_clock(world: &World, clock: &str, seconds: i32) {
    world.write("new", &format!("{seconds:+}\n"));
    std::fs::rename(world.path("new"), world.path(clock)).unwrap();
}

/// Suite with ten reads a second for eight seconds: long enough to step a clock meanwhile.
const SLOW: &str = "name = \"slow\"\nbudget = \"8s\"\n[[measure]]\nbenchmark = \"storage\"\n\
    operation = \"read\"\npattern = \"random\"\nbs = [\"4KiB\"]\nsize = \"64KiB\"\ndepth = 1\n\
    buffered = true\nengine = \"threads\"\nrate = 10\narrivals = \"constant\"\nlength = \"8s\"\n";

/// Returns the reported clock step of each host; a result's doubt without a host is about the
/// result's host.
fn clock_steps(document: &Value) -> Vec<(String, f64)> {
    let list = |it: &Value| it.as_array().unwrap().clone();
    let of_results = list(&document["results"]).into_iter().flat_map(|result| {
        let host = result["host"].as_str().unwrap().to_owned();
        list(&result["warnings"]).into_iter().map(move |doubt| (host.clone(), doubt))
    });
    let of_run = list(&document["warnings"]).into_iter().map(|it| (String::new(), it));
    let mut steps: Vec<(String, f64)> = Vec::new();
    for (host, doubt) in of_results.chain(of_run).filter(|it| it.1["id"] == "clock-stepped") {
        assert!(doubt["advice"].as_str().unwrap().contains("timedatectl"), "{doubt:#}");
        let told = &doubt["arguments"];
        let host = told["host"].as_str().map_or(host, str::to_owned);
        let own = if told["doubt"].is_object() { &told["doubt"]["arguments"] } else { told };
        let named = doubt["text"].as_str().unwrap().starts_with(&format!("{host}: "));
        assert_eq!(named, told["host"].is_string(), "{doubt:#}");
        if steps.iter().all(|it| it.0 != host) {
            steps.push((host, own["seconds"].as_f64().unwrap()));
        }
    }
    steps.sort_by(|a, b| a.0.cmp(&b.0));
    steps
}

#[test]
fn clock_step_is_reported_and_affects_no_result() {
    let test = "clock_step_is_reported_and_affects_no_result";
    let Some(library) = faketime(test) else { return };
    let world = World::in_memory();
    world.write("slow.toml", SLOW);
    for clock in ["clock.here", "clock.steady", "clock.back", "clock.ahead"] {
        set_clock(&world, clock, 0);
    }
    let via =
        format!("env {}", faketime_environment(&world, &library, "clock.{host}").join(" "));
    let here = faketime_environment(&world, &library, "clock.here");
    let here = here.iter().map(|it| it.split_once('=').unwrap());
    let target = world.path("data.{host}").display().to_string();
    let words = ["run", "./slow.toml", "--hosts", "steady,back,ahead", "--via", &via];
    let words =
        [&words[..], &["--target", &target, "--events", "--quiet", "--label", "set"]].concat();
    let mut running = world.command(&words);
    running.envs(here.clone()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = running.spawn().unwrap();
    for line in BufReader::new(running.stdout.take().unwrap()).lines() {
        if line.unwrap().contains("case-started") {
            set_clock(&world, "clock.back", -3600);
            set_clock(&world, "clock.ahead", 86_400);
            set_clock(&world, "clock.here", -7200);
        }
    }
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document = world.json(&["show", "--json"]);
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let mut expected = [("ahead", 86_400.0), ("back", -3600.0), (own.trim(), -7200.0)]
        .map(|(host, by_s)| (host.to_owned(), by_s));
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    let steps = clock_steps(&document);
    let is_near =
        |(a, b): (&(String, f64), &(String, f64))| a.0 == b.0 && (a.1 - b.1).abs() < 1.0;
    assert!(
        steps.len() == 3 && steps.iter().zip(&expected).all(is_near),
        "{steps:?} {document:#}"
    );
    // All hosts measured to the end and began together, and the run ends after it began.
    let found = results(&document, "storage", "rate");
    let hosts: Vec<&str> = found.iter().map(|it| it["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["steady", "back", "ahead", "all"]);
    for result in &found[..3] {
        assert!(result["parameters"]["start_skew"].as_f64().unwrap() < 600.0, "{result:#}");
    }
    let time =
        |key: &str| document["run"][key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let took = time("finished").duration_since(time("started"));
    assert!((8..600).contains(&took.as_secs()), "{took:?}");
    // The next run is the latest, though its clock time is two hours earlier.
    let words =
        ["stream", "--bytes", "1MiB", "--budget", "shortest", "--label", "next", "--quiet"];
    let mut next = world.command(&words);
    assert!(next.envs(here).output().unwrap().status.success());
    let latest = |name: &str| world.json(&["show", name, "--json"])["run"]["label"].clone();
    assert_eq!([latest("latest"), latest("latest~1")], ["next", "set"]);
}

/// The second condition is measured after the first, but its clock time is two hours earlier.
#[test]
fn compared_runs_keep_measurement_order_despite_clock_step() {
    let test = "compared_runs_keep_measurement_order_despite_clock_step";
    let Some(library) = faketime(test) else { return };
    let world = World::in_memory();
    let here = faketime_environment(&world, &library, "clock.here");
    let here = here.iter().map(|it| it.split_once('=').unwrap());
    for (label, by_s) in [("before", 0), ("after", -7200)] {
        set_clock(&world, "clock.here", by_s);
        for _ in 0..2 {
            let words =
                ["linpack", "--n", "64", "--budget", "shortest", "--quiet", "--label", label];
            let mut command = world.command(&words);
            assert!(command.envs(here.clone()).output().unwrap().status.success());
        }
    }
    let compared = world.command(&["compare", "before", "after", "--json"]).output().unwrap();
    let compared: Value = serde_json::from_slice(&compared.stdout).unwrap();
    let listed = world.json(&["list", "--json"]);
    let listed = listed["runs"].as_array().unwrap().iter().rev();
    let listed: Vec<&Value> = listed.map(|run| &run["id"]).collect();
    let ids = |side: &str| compared[side]["runs"].as_array().unwrap().clone();
    assert!(listed.into_iter().eq([ids("a"), ids("b")].concat().iter()), "{compared:#}");
    let differences = compared["differences"].as_array().unwrap();
    let order = differences.iter().find(|it| it["a"] == "first");
    assert!(order.is_some_and(|it| it["b"] == "later"), "{compared:#}");
}

#[test]
fn vdbench_reports_clock_step_of_host() {
    let test = "vdbench_reports_clock_step_of_host";
    let Some(library) = faketime(test) else { return };
    let world = World::new();
    for clock in ["clock.one", "clock.two"] {
        set_clock(&world, clock, 0);
    }
    let storage = |host: u32| {
        let lun = world.path(&format!("file{host}"));
        format!("sd=sd{host},host=vm{host},lun=\"{}\",size=1m\n", lun.display())
    };
    let text = format!(
        "hd=vm1,system=one\nhd=vm2,system=two\n{}{}wd=wd1,sd=*,xfersize=4k\n\
         rd=rd1,wd=wd1,iorate=100,elapsed=8,interval=1\n",
        storage(1),
        storage(2),
    );
    world.write("file", &text);
    let via =
        format!("env {}", faketime_environment(&world, &library, "clock.{host}").join(" "));
    let mut running = world.command(&["vdbench", "-f", "file", "--via", &via]);
    let mut running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = Vec::new();
    for line in BufReader::new(running.stdout.take().unwrap()).lines() {
        said.push(line.unwrap());
        if said.last().unwrap().contains("Starting RD=rd1") {
            set_clock(&world, "clock.two", -3600);
        }
    }
    let said = said.join("\n");
    assert!(running.wait().unwrap().success(), "{said}");
    let about =
        said.lines().find(|line| line.contains("the system clock was stepped by -3600"));
    assert!(about.is_some_and(|it| it.contains("vm2") && it.contains("timedatectl")), "{said}");
    assert!(!said.contains("vm1: the system clock"), "{said}");
    let document = world.json(&["show", "--json"]);
    let steps = clock_steps(&document);
    assert!(
        matches!(&steps[..], [(host, by_s)] if host == "vm2" && (by_s + 3600.0).abs() < 1.0),
        "{steps:?}"
    );
}
