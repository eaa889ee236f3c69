//! Two conditions: labels, comparisons of stored runs, and commands that switch between them.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::World;

/// A suite of one quick case that gives enough samples for an interval.
const SUITE: &str = r#"
name = "tiny"
budget = "2s"
[[measure]]
benchmark = "memory.latency"
from = "4KiB"
to = "4KiB"
"#;

fn world() -> World {
    let world = World::new();
    world.write("tiny.toml", SUITE);
    world
}

#[test]
fn labelled_runs_are_compared_in_every_format() {
    let world = world();
    for label in ["on", "off"] {
        world.assay(&["run", "tiny.toml", "--label", label]).succeeded();
    }
    let list = world.json(&["list", "--json"]);
    assert_eq!(
        (&list["runs"][0]["label"], &list["runs"][1]["label"]),
        (&"off".into(), &"on".into())
    );
    // With a margin that no machine exceeds the verdict is known.
    let compared = |more: &[&str]| {
        let words = [&["compare", "on", "off", "--margin", "99%"], more].concat();
        world.assay(&words).succeeded().out
    };
    let document: serde_json::Value = serde_json::from_str(&compared(&["--json"])).unwrap();
    assert_eq!(document["pairs"][0]["verdict"], "equivalent", "{document}");
    assert_eq!((&document["a"]["name"], &document["b"]["name"]), (&"on".into(), &"off".into()));
    let ratio = document["pairs"][0]["ratio"].as_f64().unwrap();
    let ends = &document["pairs"][0]["ratio_ci"];
    assert!(ends[0].as_f64().unwrap() <= ratio && ratio <= ends[1].as_f64().unwrap());
    assert!(compared(&[]).contains("off ÷"));
    for (format, sign) in [("markdown", "| ---"), ("html", "<table"), ("csv", "ratio_low")] {
        assert!(compared(&["--format", format]).contains(sign), "{format}");
    }
    let same = world.json(&["compare", "latest~1,on", "latest", "--margin", "99%", "--json"]);
    assert_eq!(same["a"]["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let world = world();
    world.assay(&["run", "tiny.toml"]).succeeded();
    let unknown = world.assay(&["compare", "on", "latest"]).failed_with(2);
    assert!(unknown.err.contains("--label"), "{unknown:?}");
    let other = ["stream", "--bytes", "1MiB", "--budget", "1s"];
    world.assay(&other).succeeded();
    let nothing = world.assay(&["compare", "latest~1", "latest"]).failed_with(2);
    assert!(nothing.err.contains("nothing in common"), "{nothing:?}");
    for wrong in [
        &["compare", "latest", "latest", "--margin", "0%"][..],
        &["run", "tiny.toml", "--label", "on,off"],
        &["run", "tiny.toml", "--switch", "true", "true", "--label", "on,on"],
        &["run", "tiny.toml", "--switch", "true", "true", "--turns", "3"],
        &["run", "tiny.toml", "--switch", "true"],
        &["run", "tiny.toml", "--turns", "4"],
        &["run", "tiny.toml", "--margin", "5%"],
    ] {
        let outcome = world.assay(wrong).failed_with(2);
        assert!(!outcome.err.is_empty());
    }
    assert_eq!(world.json(&["list", "--json"])["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn conditions_take_turns_and_the_first_one_is_left_behind() {
    let world = world();
    let switch = ["--switch", "echo one >> told", "echo two >> told"];
    let words =
        [&["run", "tiny.toml", "--budget", "1s", "--label", "one,two", "--json"], &switch[..]];
    let words = [&words[..], &[&["--margin", "99%"]]].concat();
    let outcome = world.assay(&words.concat()).succeeded();
    let document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    for side in ["a", "b"] {
        assert_eq!(document[side]["runs"].as_array().unwrap().len(), 2, "{document}");
    }
    assert_eq!(document["margin"], 0.99);
    let told = std::fs::read_to_string(world.path("told")).unwrap();
    assert_eq!(told, "one\ntwo\none\n", "the second condition holds for two turns");
    let list = world.json(&["list", "--json"]);
    let labels: Vec<_> =
        list["runs"].as_array().unwrap().iter().map(|it| &it["label"]).collect();
    assert_eq!(labels, ["one", "two", "two", "one"]);
}

#[test]
fn a_command_that_fails_is_named_and_the_first_is_run_again() {
    let world = world();
    let switch = ["--switch", "echo one >> told", "echo no such card >&2; exit 3"];
    let words = [&["run", "tiny.toml", "--budget", "1s"], &switch[..]].concat();
    let outcome = world.assay(&words).failed_with(4);
    for part in ["echo no such card", "code 3", "it said: no such card"] {
        assert!(outcome.err.contains(part), "{outcome:?}");
    }
    assert_eq!(std::fs::read_to_string(world.path("told")).unwrap(), "one\none\n");
}

#[test]
fn an_interruption_leaves_the_first_condition_behind() {
    let world = world();
    let switch = ["--switch", "echo one > told", "echo two > told"];
    let words = [&["run", "tiny.toml", "--budget", "5s"], &switch[..]].concat();
    let child =
        world.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let told = || std::fs::read_to_string(world.path("told")).unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(120);
    while told() != "two\n" {
        assert!(Instant::now() < deadline, "the second condition was never reached");
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("interrupted"), "{err}");
    assert_eq!(told(), "one\n", "{err}");
}
