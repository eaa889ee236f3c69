//! Factors on several hosts: levels that every host applies, numbers of hosts, and what is left.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::processes;
use crate::program::World;

/// Suite whose levels every host applies, leaving a log of its own; `{size}` is printed.
const APPLIED: &str = r#"
name = "varied"
budget = "60s"
blocks = 3
[[factor]]
name = "mode"
levels = ["a", "b"]
apply = "echo {mode} >> log.$NAME"
restore = "echo restored >> log.$NAME"
[[factor]]
name = "size"
levels = [1, 2]
[[measure]]
benchmark = "command"
run = ["echo", "FOM = {size}"]
metrics = [{ name = "fom", find = 'FOM = ([0-9]+)', better = "higher" }]
runs = 1
"#;

/// Suite over the number of hosts.
const SCALING: &str = r#"
name = "scaling"
budget = "6s"
blocks = 3
[[factor]]
name = "hosts"
levels = [1, 2]
[[measure]]
benchmark = "storage"
operation = "read"
pattern = "random"
bs = ["4KiB"]
size = "1MiB"
buffered = true
engine = "threads"
"#;

/// Returns the words of a run on hosts, each of which has its name in `$NAME`.
fn words<'w>(suite: &'w str, hosts: &'w str, more: &[&'w str]) -> Vec<&'w str> {
    let words = ["run", suite, "--hosts", hosts, "--via", "env NAME={host}"];
    [&words[..], &["--host-deadline", "50s", "--settle", "0s"], more].concat()
}

fn log(world: &World, host: &str) -> String {
    std::fs::read_to_string(world.path(&format!("log.{host}"))).unwrap_or_default()
}

#[test]
fn every_host_applies_and_restores_levels() {
    let world = World::new();
    world.write("x.toml", APPLIED);
    let plan = world.json(&words("x.toml", "h[1-2]", &["--dry-run", "--json"]));
    assert_eq!(plan["combinations"].as_array().unwrap().len(), 4, "{plan:#}");
    assert_eq!(log(&world, "h1"), "", "nothing was applied");
    let document = world.json(&words("x.toml", "h[1-2]", &["-q", "--json"]));
    let metrics = document["metrics"].as_array().unwrap();
    let scores: Vec<&Value> = metrics.iter().filter(|it| it["metric"] == "score").collect();
    assert_eq!(scores.len(), 2, "one table a host: {document:#}");
    for score in scores {
        let medians: Vec<f64> = score["levels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["result"]["median"].as_f64().unwrap())
            .collect();
        assert_eq!(medians, [1.0, 2.0, 1.0, 2.0], "{score:#}");
    }
    for host in ["h1", "h2"] {
        let log = log(&world, host);
        assert!(log.contains("a\n") && log.contains("b\n"), "{log}");
        assert!(log.ends_with("restored\n") && log.matches("restored").count() == 1, "{log}");
    }
    assert_eq!(world.json(&["compare", "latest", "--json"]), document, "from the store");
}

#[test]
fn number_of_hosts_is_a_factor_with_its_efficiency() {
    let world = World::in_memory();
    world.write("x.toml", SCALING);
    let without_settle = |more: &[&'static str]| {
        let words = ["run", "x.toml", "--via", "env NAME={host}", "--target", "data.{host}"];
        [&words[..], more].concat()
    };
    let document = world.json(&without_settle(&["--hosts", "h[1-2]", "-q", "--json"]));
    let metrics = document["metrics"].as_array().unwrap();
    let rate = metrics.iter().find(|it| it["metric"] == "rate").unwrap();
    let levels = rate["levels"].as_array().unwrap();
    let hosts: Vec<&Value> = levels.iter().map(|it| &it["levels"]["hosts"]).collect();
    assert_eq!(hosts, ["1", "2"], "{rate:#}");
    for (level, count) in levels[1..].iter().zip([2.0]) {
        let ratio = level["ratio"].as_f64().unwrap();
        let efficiency = level["efficiency"].as_f64().unwrap();
        assert!((efficiency - ratio / count).abs() < 1e-9, "{level:#}");
        assert!(level["efficiency_ci"].is_array(), "{level:#}");
    }
    assert_eq!(levels[0]["efficiency"], Value::Null);
    assert!(levels.iter().all(|it| it["result"]["host"] == "all"), "only totals: {rate:#}");
    let show = world.assay(&["compare", "latest"]).succeeded().out;
    assert!(show.contains("efficiency"), "{show}");
    for (more, part) in [
        (
            &["--hosts", "h1"][..],
            "level 2 of factor `hosts` needs 2 hosts, and --hosts names 1",
        ),
        (&["--hosts", "h[1-2]", "--factor", "hosts=1,x"], "`x` is not a number of hosts"),
        (&["--hosts", "h[1-2]", "--expect", "x.toml"], "--expect cannot be used with factors"),
    ] {
        let refused = world.assay(&without_settle(more)).failed_with(2);
        assert!(refused.err.contains(part), "{more:?}: {refused:?}");
    }
    let alone = world.assay(&["run", "x.toml", "--target", "data"]).failed_with(2);
    assert!(alone.err.contains("factor `hosts` needs --hosts"), "{alone:?}");
}

#[test]
fn hosts_that_fail_are_named_and_others_restored() {
    let world = World::new();
    let check = |from: &str, to: &str, parts: &[&str]| {
        for host in ["h1", "h2"] {
            drop(std::fs::remove_file(world.path(&format!("log.{host}"))));
        }
        world.write("x.toml", &APPLIED.replace(from, to));
        let outcome = world.assay(&words("x.toml", "h[1-2]", &["-q", "--blocks", "1"]));
        let outcome = outcome.failed_with(4);
        let has = |part: &&&str| outcome.err.contains(**part);
        assert!(parts.iter().all(|part| has(&part)), "{parts:?}: {outcome:?}");
        assert!(log(&world, "h1").ends_with("restored\n"), "{outcome:?}");
    };
    check(
        "apply = \"",
        "apply = \"[ $NAME = h1 ] || { echo no {mode} >&2; exit 3; }; ",
        &["cannot apply mode=", " on h2", "it ended with code 3; it printed: no "],
    );
    check(
        "restore = \"",
        "restore = \"[ $NAME = h1 ] || exit 7; ",
        &[
            "cannot restore the factors on h2",
            "it ended with code 7",
            "a level may still be applied",
        ],
    );
    // The agent on one host is killed while it applies a level.
    check(
        "apply = \"",
        "apply = \"[ $NAME = h1 ] || kill -9 $PPID; ",
        &["cannot apply mode=", " on h2"],
    );
    world.write("one.toml", "name = \"one\"\nbudget = \"5s\"\n[[measure]]\nbenchmark = \"command\"\nrun = [\"true\"]\nruns = 1\n");
    let words = ["run", "one.toml", "-q", "--hosts", "h2", "--via", "env NAME={host}"];
    let next = world.assay(&words).succeeded();
    let part = "h2: a measurement that was killed left a level of mode applied; restore by";
    assert!(next.err.contains(part), "{next:?}");
}

/// Starts a run that never ends, and waits until both hosts have begun to apply both levels.
fn start_endless(world: &World, apply: &str) -> Child {
    let endless = APPLIED.replace("[\"echo\", \"FOM = {size}\"]", "[\"sleep\", \"5{size}\"]");
    let second = format!(
        "name = \"size\"\napply = \"{apply}\"\nrestore = \"echo restored >> log.second.$NAME\""
    );
    let endless = endless.replace("name = \"size\"", &second);
    world.write("x.toml", &endless.replace("metrics =", "#"));
    let mut command = world.command(&words("x.toml", "h[1-2]", &[]));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    await_logs(world, "");
    child
}

/// Waits until the logs of both levels on both hosts end in a text and are not empty.
fn await_logs(world: &World, end: &str) {
    let is_there = |host: &str| {
        let log = log(world, host);
        !log.is_empty() && log.ends_with(end)
    };
    await_that(world, || ["h1", "h2", "second.h1", "second.h2"].into_iter().all(is_there));
}

/// Limit of a wait for a state that a run reaches within seconds.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// Waits for a state that a run reaches within seconds.
fn await_that(world: &World, is_reached: impl Fn() -> bool) {
    let is_reached = processes::is_reached_within(WAIT_LIMIT, is_reached);
    let logs = ["h1", "h2", "second.h1", "second.h2"].map(|host| log(world, host));
    assert!(is_reached, "{logs:?} {:?}", processes_in(world));
}

/// Returns the identifiers of the processes that work in the folder of the test.
fn processes_in(world: &World) -> Vec<PathBuf> {
    let folder = world.path("").canonicalize().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_there = |path: &PathBuf| path.join("cwd").read_link().is_ok_and(|it| it == folder);
    entries.filter(is_there).collect()
}

#[test]
fn hosts_restore_after_interruption_and_without_coordinator() {
    let apply = "echo {size} >> log.second.$NAME";
    let endless = format!("trap '' TERM; {apply}; while :; do sleep 0.1; done");
    for (signal, apply) in [("INT", apply), ("KILL", apply), ("KILL", &endless)] {
        let world = World::new();
        let child = start_endless(&world, apply);
        processes::send_signal(child.id(), signal);
        let ended = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&ended.stderr);
        await_logs(&world, "restored\n");
        await_that(&world, || processes_in(&world).is_empty());
        let records = world.path("assay").join("applied-factors");
        let left = crate::program::files_below(&records);
        assert!(left.is_empty(), "{signal}: {left:?}");
        if signal == "INT" {
            assert_eq!(ended.status.code(), Some(4), "{err}");
            assert!(err.contains("the measurement of the factors was interrupted"), "{err}");
        }
    }
}
