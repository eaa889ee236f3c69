//! Comparison of two conditions: labels, stored runs, and commands that switch between the
//! conditions.

use std::process::Stdio;

use crate::processes::{send_signal, wait_until};
use crate::program::World;

/// Suite with one quick case that yields enough samples for an interval.
const SUITE: &str = r#"
name = "tiny"
budget = "2s"
[[measure]]
benchmark = "memory.latency"
from = "4KiB"
to = "4KiB"
"#;

fn world_with_suite() -> World {
    let world = World::new();
    world.write("tiny.toml", SUITE);
    world
}

#[test]
fn labelled_runs_are_compared_in_every_format() {
    let world = world_with_suite();
    // Several runs per label: only the newest of each would be one run each.
    for label in ["on", "off", "on", "off", "on", "off"] {
        world
            .assay(&["run", "tiny.toml", "--budget", "shortest", "--label", label])
            .succeeded();
    }
    let list = world.json(&["list", "--json"]);
    assert_eq!(
        (&list["runs"][0]["label"], &list["runs"][1]["label"]),
        (&"off".into(), &"on".into())
    );
    // No machine exceeds this margin, but a busy one can leave the verdict open.
    let compared = |more: &[&str]| {
        let words = [&["compare", "on", "off", "--margin", "99%"], more].concat();
        let outcome = world.assay(&words);
        assert!(matches!(outcome.code, 0 | 6), "{outcome:?}");
        outcome
    };
    let document = compared(&["--json"]);
    let verdict = if document.code == 0 { "equivalent" } else { "cannot-tell" };
    let document: serde_json::Value = serde_json::from_str(&document.out).unwrap();
    assert_eq!(document["pairs"][0]["verdict"], verdict, "{document}");
    assert_eq!((&document["a"]["name"], &document["b"]["name"]), (&"on".into(), &"off".into()));
    assert_eq!(
        document["b"]["runs"].as_array().unwrap().len(),
        3,
        "a label stands for all its runs"
    );
    assert_eq!((&document["tested"], &document["design"]), (&1.into(), &"independent".into()));
    let ratio = document["pairs"][0]["ratio"].as_f64().unwrap();
    let ends = &document["pairs"][0]["ratio_ci"];
    assert!(ends[0].as_f64().unwrap() <= ratio && ratio <= ends[1].as_f64().unwrap());
    assert!(compared(&[]).out.contains("off ÷"));
    for (format, sign) in [("markdown", "| ---"), ("html", "<table"), ("csv", "ratio_low")] {
        assert!(compared(&["--format", format]).out.contains(sign), "{format}");
    }
    // A run that is named twice counts once.
    let twice = world.assay(&["compare", "latest~1,on", "latest", "--json"]);
    let twice: serde_json::Value = serde_json::from_str(&twice.out).unwrap();
    assert_eq!(twice["a"]["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn one_run_each_gives_ratio_without_verdict() {
    let world = world_with_suite();
    for label in ["on", "off"] {
        world
            .assay(&["run", "tiny.toml", "--budget", "shortest", "--label", label])
            .succeeded();
    }
    let reported = world.assay(&["compare", "on", "off"]).failed_with(6).out;
    let words = reported.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        words.matches("too few for a verdict").count(),
        1,
        "reported once, at the top\n{reported}"
    );
    assert!(
        words.contains("One run per condition is too few for a verdict: about "),
        "{reported}"
    );
    for absent in ["cannot tell", "metrics tested", "Compared with"] {
        assert!(!words.contains(absent), "{absent}: {reported}");
    }
    let itself = world.assay(&["compare", "latest", "latest"]).failed_with(2);
    assert!(itself.err.contains("on both sides"), "{itself:?}");
    let other = world.assay(&["compare", "on", "on,latest"]).failed_with(2);
    assert!(other.err.contains("on both sides"), "{other:?}");
}

/// Differing thread counts do not make different machines: the row shows both counts.
#[test]
fn comparison_shows_differing_thread_counts() {
    let world = World::new();
    for threads in ["2", "1"] {
        let words = ["stream", "--bytes", "1MiB", "--budget", "shortest", "--threads", threads];
        world.assay(&words).succeeded();
    }
    let reported = world.assay(&["compare", "latest~1", "latest"]).out;
    let words =
        reported.split_whitespace().collect::<Vec<_>>().join(" ").replace('\u{a0}', " ");
    assert!(words.contains("2 threads / 1 thread"), "{reported}");
}

#[test]
fn history_is_shown_in_every_format() {
    let world = world_with_suite();
    for _ in 0..3 {
        world.assay(&["run", "tiny.toml", "--budget", "shortest"]).succeeded();
    }
    let document = world.json(&["history", "latency", "--json"]);
    assert_eq!(document["points"].as_array().unwrap().len(), 3, "{document}");
    assert_eq!(document["method"]["name"], "e-divisive-means");
    assert_eq!(document["benchmark"], "memory.latency");
    let listed = world.json(&["list", "--json"])["runs"][2]["id"].clone();
    assert_eq!(document["points"][0]["run"], listed, "the oldest first");
    let words = ["history", "memory.latency/latency", "--where", "bytes=4KiB"];
    for (format, sign) in [
        ("text", "Too few runs to tell"),
        ("text", " UTC\n"),
        ("markdown", "| ---"),
        ("html", "<table"),
        ("svg", "<svg"),
        ("csv", "is_change"),
    ] {
        let reported =
            world.assay(&[&words[..], &["--format", format]].concat()).succeeded().out;
        assert!(reported.contains(sign), "{format}: {reported}");
    }
    for (wrong, part) in [
        (&["history", "latencie"][..], "did you mean latency"),
        (&["history", "triad"], "no stored run"),
        (&["history", "latency", "--label", "x"], "labelled x"),
        (&["history", "latency", "--host", "nowhere"], "of nowhere"),
        (&["history", "latency", "--where", "bytes=8KiB"], "bytes=8KiB"),
        (&["history", "latency", "--where", "byte=1"], "did you mean bytes"),
    ] {
        let refused = world.assay(wrong).failed_with(2);
        assert!(refused.err.contains(part), "{refused:?}");
    }
}

/// The plan of a comparison in turns counts its runs, switches and settling.
#[test]
fn dry_run_counts_turns_and_settling() {
    let world = world_with_suite();
    let plan =
        ["run", "tiny.toml", "--budget", "10s", "--dry-run", "--switch", "true", "false"];
    let options = ["--turns", "4", "--control", "--settle", "7s", "--seed", "1"];
    let document = world.json(&[&plan[..], &options, &["--json"]].concat());
    let turns = &document["turns"];
    let (runs, commands) = (turns["runs"].as_u64(), turns["commands"].as_u64().unwrap());
    assert_eq!((runs, &turns["settle_s"]), (Some(6), &7.0.into()), "{turns}");
    let total_s = turns["total_s"].as_f64().unwrap();
    assert!((3..=7).contains(&commands) && total_s >= 60.0 + 7.0 * 3.0, "{turns}");
    let text = world.assay(&[&plan[..], &options].concat()).succeeded().out;
    assert!(text.contains("Runs: 6, each of 1 cases in 10 s."), "{text}");
    assert_eq!(world.json(&["list", "--json"])["runs"].as_array().map(Vec::len), Some(0));
}

#[test]
fn list_filters_runs() {
    let world = World::new();
    world.write("tiny.toml", SUITE);
    world.assay(&["run", "tiny.toml", "--budget", "shortest", "--label", "on"]).succeeded();
    world.assay(&["run", "tiny.toml", "--budget", "shortest", "--label", "off"]).succeeded();
    let suite =
        world.json(&["list", "--json"])["runs"][0]["suite"].as_str().unwrap().to_owned();
    for (words, expected) in [
        (&[][..], 2),
        (&["--label", "on"], 1),
        (&["--label", "nothing"], 0),
        (&["--suite", suite.as_str()], 2),
        (&["--suite", "other"], 0),
        (&["--host", "nowhere"], 0),
        (&["--since", "2026-01-01"], 2),
        (&["--since", "9999-01-01"], 0),
        (&["--since", "1d"], 2),
        (&["--since", "12h"], 2),
    ] {
        let listed = world.json(&[&["list", "--json"], words].concat());
        assert_eq!(listed["runs"].as_array().map(Vec::len), Some(expected), "{words:?}");
    }
    // Stored runs that the filter excludes are counted.
    let none = world.assay(&["list", "--suite", "other"]).succeeded().out;
    assert!(none.contains("No run matches the filter; stored runs: 2."), "{none}");
    let refused = world.assay(&["list", "--since", "yesterday"]).failed_with(2).err;
    assert!(refused.contains("expected a day like 2026-11-22"), "{refused}");
}

/// A run has the same names in every command: identifier, its end, label, latest.
#[test]
fn runs_are_named_alike_everywhere() {
    let world = world_with_suite();
    for label in ["on", "off", "on"] {
        world
            .assay(&["run", "tiny.toml", "--budget", "shortest", "--label", label])
            .succeeded();
    }
    let runs = world.json(&["list", "--json"])["runs"].clone();
    let ids: Vec<&str> = (0..3).map(|at| runs[at]["id"].as_str().unwrap()).collect();
    let end = ids[1].rsplit_once('-').unwrap().1;
    for name in [ids[1], end, "off", "latest~1"] {
        for words in [&["show", name, "--json"][..], &["report", name, "--json"]] {
            assert_eq!(world.json(words)["run"]["id"], ids[1], "{words:?}");
        }
        let removed = world.json(&["rm", name, "--dry-run", "--json"]);
        assert_eq!(removed["runs"][0], ids[1], "{name}");
        world.assay(&["verify", name]).succeeded();
    }
    let several = world.assay(&["show", "on"]).failed_with(2).err;
    assert!(
        several.contains("`on` is the label of 2 runs") && several.contains(ids[2]),
        "{several}"
    );
    let removed = world.json(&["rm", "on", "--dry-run", "--json"]);
    assert_eq!(removed["runs"].as_array().map(Vec::len), Some(2), "{removed}");
    let system = world.assay(&["show", "hbv4"]).failed_with(2).err;
    assert!(system.contains("assay references azure/hbv4"), "{system}");
    let held = world.assay(&["compare", "latest", "hbv4"]);
    assert!(!held.err.contains("there is no run"), "{held:?}");
}

#[test]
fn rejects_impossible_comparisons() {
    let world = world_with_suite();
    world.assay(&["run", "tiny.toml"]).succeeded();
    let unknown = world.assay(&["compare", "on", "latest"]).failed_with(2);
    assert!(unknown.err.contains("--label"), "{unknown:?}");
    let other = ["stream", "--bytes", "1MiB", "--budget", "shortest"];
    world.assay(&other).succeeded();
    let nothing = world.assay(&["compare", "latest~1", "latest"]).failed_with(2);
    assert!(nothing.err.contains("the conditions have no common results"), "{nothing:?}");
    for wrong in [
        &["compare", "latest", "latest", "--margin", "0%"][..],
        &["run", "tiny.toml", "--label", "on,off"],
        &["run", "tiny.toml", "--switch", "true", "true", "--label", "on,on"],
        &["run", "tiny.toml", "--switch", "true", "true", "--turns", "3"],
        &["run", "tiny.toml", "--switch", "true"],
        &["run", "tiny.toml", "--turns", "4"],
        &["run", "tiny.toml", "--margin", "5%"],
        &["run", "tiny.toml", "--control"],
        &["run", "tiny.toml", "--switch", "true", "true", "--strict"],
        &["run", "tiny.toml", "--switch", "true", "true", "--expect", "azure/hb"],
    ] {
        let outcome = world.assay(wrong).failed_with(2);
        assert!(!outcome.err.is_empty());
    }
    assert_eq!(world.json(&["list", "--json"])["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn conditions_alternate_and_first_is_restored() {
    let world = world_with_suite();
    let switch = ["--switch", "echo one >> told", "echo two >> told", "--settle", "0s"];
    let words = [
        &["run", "tiny.toml", "--budget", "shortest", "--label", "one,two", "--json"],
        &switch[..],
    ];
    let course = ["--turns", "6", "--control", "--seed", "4", "--margin", "99%"];
    let words = [&words.concat(), &course[..]].concat();
    let outcome = world.assay(&words);
    // On a busy machine the verdict may stay open even for equal conditions.
    assert!([0, 6].contains(&outcome.code), "{outcome:?}");
    let document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    for runs in [&document["a"]["runs"], &document["b"]["runs"], &document["control"]] {
        assert_eq!(runs.as_array().unwrap().len(), 3, "{document}");
    }
    assert_eq!((&document["margin"], &document["design"]), (&0.99.into(), &"turns".into()));
    assert!(document["pairs"][0]["floor"].is_array(), "{document}");
    let list = world.json(&["list", "--json"]);
    let runs = list["runs"].as_array().unwrap().iter().rev();
    let labels: Vec<&str> = runs.map(|it| it["label"].as_str().unwrap()).collect();
    let backwards: Vec<&str> = labels[..3].iter().rev().copied().collect();
    assert_eq!(labels[3..6], backwards, "every second block reverses the one before it");
    let mut expected = labels.clone();
    expected.push("one");
    expected.dedup();
    let reported = std::fs::read_to_string(world.path("told")).unwrap();
    let reported: Vec<&str> = reported.lines().collect();
    assert_eq!(
        reported, expected,
        "a command for every change, and the first condition at the end"
    );
    // The runs are stored with their turns, so a later comparison gives the same result.
    let later = world.assay(&["compare", "one", "two", "--margin", "99%", "--json"]);
    assert_eq!(later.code, outcome.code, "{later:?}");
    let later: serde_json::Value = serde_json::from_str(&later.out).unwrap();
    assert_eq!((&later["pairs"], &later["design"]), (&document["pairs"], &"turns".into()));
}

/// Two conditions that differ by half: all turns are not needed.
#[test]
fn clear_conditions_end_early_and_compare_later_agrees() {
    let world = World::new();
    world.write(
        "sleep.toml",
        "name = \"sleep\"\n[[measure]]\nbenchmark = \"command\"\nname = \"sleep\"\nrun = \"sleep $(cat time)\"\n\
         shell = true\nruns = 2\n",
    );
    let switch = ["--switch", "echo 0.05 > time", "echo 0.1 > time", "--settle", "0s"];
    let words = [&["run", "sleep.toml", "--label", "one,two", "--json"], &switch[..]].concat();
    let outcome = world.assay(&words).failed_with(5);
    let document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    let blocks = document["a"]["runs"].as_array().unwrap().len();
    assert!((6..=9).contains(&blocks), "{document}");
    assert_eq!(document["design"], "looks");
    assert!(outcome.err.contains(&format!("decided after {blocks} blocks")), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(world.path("time")).unwrap(), "0.05\n");
    let later = world.assay(&["compare", "one", "two", "--json"]).failed_with(5);
    let later: serde_json::Value = serde_json::from_str(&later.out).unwrap();
    assert_eq!((&later["pairs"], &later["design"]), (&document["pairs"], &"looks".into()));
}

/// The exit code is that of the comparison.
#[test]
fn switch_has_exit_code_of_compare() {
    let world = world_with_suite();
    let words = [
        "run",
        "tiny.toml",
        "--budget",
        "shortest",
        "--switch",
        "true",
        "true",
        "--turns",
        "2",
    ];
    world.assay(&words).failed_with(6);
}

#[test]
fn failed_switch_command_is_named_and_first_condition_restored() {
    let world = world_with_suite();
    let switch = ["--switch", "echo one >> told", "echo no such card >&2; exit 3"];
    let words = [&["run", "tiny.toml", "--budget", "shortest", "--settle", "0s"], &switch[..]];
    let outcome = world.assay(&[&words.concat()[..], &["--seed", "1"]].concat()).failed_with(4);
    for part in ["echo no such card", "code 3", "it printed: no such card"] {
        assert!(outcome.err.contains(part), "{outcome:?}");
    }
    assert_eq!(std::fs::read_to_string(world.path("told")).unwrap(), "one\none\n");
}

#[test]
fn interruption_restores_first_condition() {
    let world = world_with_suite();
    let switch = ["--switch", "echo one > told", "echo two > told"];
    let words =
        [&["run", "tiny.toml", "--budget", "shortest", "--settle", "0s"], &switch[..]].concat();
    let child =
        world.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_told(&world, "two\n");
    send_signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("interrupted"), "{err}");
    assert_eq!(told(&world), "one\n", "{err}");
}

/// Starts a run with two conditions whose commands write to a file when they begin; waits until it
/// contains `until`.
fn start_switched_run(world: &World, first: &str, until: &str) -> std::process::Child {
    let words = ["run", "tiny.toml", "--budget", "shortest", "--settle", "0s", "--quiet"];
    let switch = ["--seed", "1", "--switch", first, "echo two > told"];
    let child = world.command(&[&words[..], &switch].concat()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    wait_until_told(world, until);
    child
}

/// Returns what the commands of a run have written to the file `told`.
fn told(world: &World) -> String {
    std::fs::read_to_string(world.path("told")).unwrap_or_default()
}

fn wait_until_told(world: &World, text: &str) {
    wait_until(text, || told(world) == text);
}

/// A switch back to the first condition that was interrupted is run again, to its end.
#[test]
fn interrupted_restore_is_run_again() {
    let world = world_with_suite();
    // The first attempt hangs, and is interrupted meanwhile.
    let first =
        "[ -e begun ] || { : > begun; echo hangs > told; sleep 1000; }; echo one > told";
    let child = start_switched_run(&world, first, "hangs\n");
    send_signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{err}");
    let told = std::fs::read_to_string(world.path("told")).unwrap();
    assert_eq!(told, "one\n", "{err}");
    for part in ["back to A: `[ -e begun ]", "up to 15 minutes", "leaves B"] {
        assert!(err.contains(part), "{part}: {err}");
    }
}

/// A second interruption ends the command that restores the first condition, with its children.
#[test]
fn second_interruption_ends_switch_command() {
    use std::io::Read as _;
    use std::os::unix::process::ExitStatusExt as _;
    let world = world_with_suite();
    let first = "[ -e begun ] && { echo back > told; sleep 1000; echo one > told; }; : > begun";
    let mut child = start_switched_run(&world, first, "two\n");
    send_signal(child.id(), "INT");
    wait_until_told(&world, "back\n");
    // A signal within 0.3 s belongs to the first one.
    std::thread::sleep(std::time::Duration::from_millis(400));
    send_signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().signal(), Some(2));
    let mut err = String::new();
    // The pipe ends when every process that inherited it has ended.
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(err.contains("back to A"), "{err}");
    let folder = std::fs::canonicalize(world.path("")).unwrap();
    let is_left = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
    };
    wait_until("the end of the switch back and of its sleep", || {
        !std::fs::read_dir("/proc").unwrap().flatten().any(|entry| is_left(&entry))
    });
}

/// Without any match, the nearest results are named once instead of listing every result.
#[test]
fn comparison_without_matches_names_nearest_results() {
    let world = World::new();
    for (label, depth) in [("shallow", "4"), ("deep", "8")] {
        let measure = |bytes: &str| {
            format!(
                "[[measure]]\nbenchmark = \"storage\"\noperation = \"read\"\nengine = \"null\"\n\
                 bs = \"{bytes}\"\ndepth = {depth}\n"
            )
        };
        let measures = ["4KiB", "8KiB", "16KiB"].map(measure).concat();
        let suite = format!("name = \"x\"\nbudget = \"2s\"\n{measures}");
        world.write("x.toml", &suite);
        world.assay(&["run", "x.toml", "--label", label]).succeeded();
    }
    let compared = world.assay(&["compare", "shallow", "deep"]).failed_with(2);
    let says = |text: &str| compared.out.matches(text).count();
    assert_eq!(
        says(
            "The closest match is rate (storage): 4 in flight in shallow, 8 in flight in deep"
        ),
        1,
        "{compared:?}"
    );
    assert_eq!(says(": shallow only\n"), 10, "{compared:?}");
    assert!(says("more.") == 1, "{compared:?}");
    let document = world.assay(&["compare", "shallow", "deep", "--json"]).failed_with(2).out;
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert!(document["unmatched"].as_array().unwrap().len() > 20, "{document}");
}
