//! Signals and kills: finished cases are kept, and the next command works.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::processes::send_signal;
use crate::program::{World, files_below};

const SUITE: &str = r#"
name = "long"
budget = "60s"
[[measure]]
benchmark = "memory.latency"
from = "4KiB"
to = "4KiB"
share = 0.001
[[measure]]
benchmark = "memory.stream"
array-size = "1MiB"
interval = "0.0001%"
"#;

/// Starts the suite and waits until its first case is finished.
fn start_until_first_case_finished(world: &World) -> Child {
    start_until(world, "case-finished")
}

/// Starts the suite and waits for an event.
fn start_until(world: &World, event: &str) -> Child {
    world.write("long.toml", SUITE);
    let mut child = world
        .command(&["run", "long.toml", "--events"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let reader = BufReader::new(child.stdout.as_mut().unwrap());
    let come = reader.lines().map_while(Result::ok).find(|line| line.contains(event));
    assert!(come.is_some(), "no {event} was printed");
    child
}

/// Checks the status of the latest run and returns its benchmarks without repetitions.
fn stored_benchmarks(world: &World, status: &str) -> Vec<String> {
    let document = world.json(&["show", "latest", "--json"]);
    assert_eq!(document["run"]["status"], status);
    let results: &Vec<Value> = document["results"].as_array().unwrap();
    let benchmarks = results.iter().map(|it| it["benchmark"].as_str().unwrap().to_owned());
    let mut benchmarks: Vec<String> = benchmarks.collect();
    benchmarks.dedup();
    benchmarks
}

#[test]
fn signal_stops_run_and_keeps_finished_cases() {
    for name in ["INT", "TERM", "HUP"] {
        let world = World::new();
        let child = start_until_first_case_finished(&world);
        send_signal(child.id(), name);
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{err}");
        assert!(err.contains("interrupted"), "{err}");
        assert!(err.contains("stopping; press again to stop at once"), "{err}");
        // Complete preparations of the other case count, too.
        let kept = stored_benchmarks(&world, "interrupted");
        assert_eq!(kept[0], "memory.latency");
        assert!(matches!(&kept[1..], [] | [_]), "{kept:?}");
    }
}

/// Repetitions of a transfer and intervals of I/O are finished samples.
#[test]
fn interrupted_case_keeps_finished_samples() {
    // All three run at once, because each needs the same time.
    let begun = [
        (&["net", "throughput", "--for", "60s"][..], "goodput"),
        (&["storage", "read", "--engine", "null", "--for", "60s"], "rate"),
        (&["linpack", "--n", "2000", "--budget", "60s"], "rmax"),
    ]
    .map(|(words, metric)| {
        let world = World::new();
        let mut command = world.command(words);
        let child = command.args(["--by", "assay"]).stderr(Stdio::piped()).spawn().unwrap();
        (words, metric, world, child)
    });
    // Long enough for one repetition of seven seconds on any machine, even with all three running.
    std::thread::sleep(std::time::Duration::from_secs(12));
    for (words, metric, world, mut child) in begun {
        send_signal(child.id(), "INT");
        assert_eq!(child.wait().unwrap().code(), Some(4));
        let document = world.json(&["show", "latest", "--json"]);
        assert_eq!(document["run"]["status"], "interrupted");
        let results = document["results"].as_array().unwrap();
        assert!(results.iter().any(|it| it["metric"] == metric), "{words:?} {document}");
    }
}

/// Rounds until steady state, and rates that met a goal.
#[test]
fn interruption_keeps_finished_rounds_and_rates() {
    for (words, until, name, doubt) in [
        (&["--steady-state", "--for", "2s"][..], "round 2:", "HUP", "steady-state-not-reached"),
        (
            &["--find-rate", "p99<=1s", "--for", "1s", "--depth", "1"],
            ": met",
            "INT",
            "search-not-finished",
        ),
    ] {
        let world = World::new();
        let all = [&["storage", "read", "--engine", "null"][..], words].concat();
        let mut child = world.command(&all).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines =
            BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains(until)), "{words:?}");
        send_signal(child.id(), name);
        let rest: Vec<String> = lines.collect();
        assert_eq!(child.wait().unwrap().code(), Some(4));
        assert!(rest.iter().any(|it| it.contains("finished cases are kept")), "{rest:?}");
        let document = world.json(&["show", "latest", "--json"]);
        assert_eq!(document["run"]["status"], "interrupted");
        let results = document["results"].as_array().unwrap();
        let rate = results.iter().find(|it| it["metric"] == "rate").unwrap();
        let is_doubt = |it: &Value| it["id"] == doubt;
        assert!(rate["warnings"].as_array().unwrap().iter().any(is_doubt), "{rate}");
        assert!(!document["steps"].as_array().unwrap().is_empty(), "{document}");
    }
}

/// The rates that a search has tried are measured, whether one of them met the goal or not.
#[test]
fn search_keeps_rates_that_missed_goal() {
    for (is_ended, status) in [(true, "interrupted"), (false, "failed")] {
        let world = World::new();
        let words = ["storage", "read", "--engine", "null", "--find-rate", "p99<=1ns"];
        let mut command = world.command(&[&words[..], &["--for", "300ms"]].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines =
            BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains(": missed")));
        if is_ended {
            send_signal(child.id(), "INT");
        }
        let rest: Vec<String> = lines.collect();
        assert_eq!(child.wait().unwrap().code(), Some(4));
        let document = world.json(&["show", "latest", "--json"]);
        assert_eq!(document["run"]["status"], status, "{rest:?}");
        assert_eq!(document["results"].as_array().unwrap().len(), 0, "{document}");
        assert_eq!(document["failures"][0]["id"], "no-rate-keeps-goal");
        let steps = document["steps"].as_array().unwrap();
        for metric in ["rate", "late", "latency_from_intended"] {
            let is_missed =
                |it: &Value| it["metric"] == metric && it["parameters"]["shown"] == "misses";
            assert!(steps.iter().any(is_missed), "{metric}: {document}");
        }
        let page = world.assay(&["show", "latest"]).succeeded().out;
        assert!(
            page.contains("median from due") && !page.contains("Nothing was measured"),
            "{page}"
        );
    }
}

#[test]
fn killed_run_keeps_finished_cases() {
    let world = World::new();
    let mut child = start_until_first_case_finished(&world);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        stored_benchmarks(&world, "unfinished"),
        ["memory.latency"],
        "exactly the first case"
    );
}

#[test]
fn run_without_measurement_is_hidden_and_pruned() {
    let world = World::new();
    let mut child = start_until(&world, "run-started");
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = |all: &[&str]| {
        let document = world.json(&[&["list", "--json"], all].concat());
        document["runs"].as_array().unwrap().len()
    };
    assert_eq!((listed(&[]), listed(&["--all"])), (0, 1));
    world.assay(&["prune", "--failed"]).succeeded();
    assert_eq!(listed(&["--all"]), 0);
}

#[test]
fn list_survives_loss_of_index() {
    let world = World::new();
    world.assay(&["stream", "--bytes", "1MiB", "--budget", "shortest"]).succeeded();
    let before = world.json(&["list", "--json"]);
    let store = world.path("assay");
    let index = files_below(&store).into_iter().filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("index.jsonl"))
    });
    let deleted = index.map(|path| std::fs::remove_file(path).unwrap()).count();
    assert!(deleted > 0, "there was an index");
    assert_eq!(world.json(&["list", "--json"]), before);
}

#[test]
fn stopped_process_adds_paused_warning() {
    let world = World::new();
    let arguments = ["storage", "read", "--engine", "null", "--for", "5s", "--events"];
    let mut command = world.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("case-started")));
    send_signal(child.id(), "STOP");
    std::thread::sleep(std::time::Duration::from_secs(2));
    send_signal(child.id(), "CONT");
    let paused = lines.filter(|line| line.contains("\"paused\"")).count();
    assert!(child.wait().unwrap().success());
    assert_eq!(paused, 1);
    let document = world.json(&["show", "latest", "--json"]);
    let is_paused = |warning: &Value| warning["id"] == "paused";
    let is_reported =
        |result: &Value| result["warnings"].as_array().unwrap().iter().any(is_paused);
    assert!(document["results"].as_array().unwrap().iter().any(is_reported), "{document}");
}
