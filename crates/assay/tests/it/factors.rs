//! Factors: levels in suites and on the command line, their commands, and what is compared.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::processes::{send_signal, wait_until};
use crate::program::World;

/// Suite of a program that prints a figure equal to one factor, while another is applied by commands
/// that leave a log.
const SUITE: &str = r#"
name = "varied"
budget = "60s"
blocks = 7
[[factor]]
name = "mode"
levels = ["a", "b"]
apply = "echo {mode} >> log; echo {mode} > mode"
restore = "echo restored >> log; rm mode"
[[factor]]
name = "size"
levels = [1, 2]
[[measure]]
benchmark = "command"
run = ["echo", "FOM = {size}"]
metrics = [{ name = "fom", find = 'FOM = ([0-9]+)', better = "higher" }]
runs = 1
"#;

/// Returns the levels of a metric with their letters, in text.
fn letters(document: &Value, metric: &str) -> Vec<String> {
    let metrics = document["metrics"].as_array().unwrap();
    let metric = metrics.iter().find(|it| it["metric"] == metric).unwrap();
    let level = |it: &Value| {
        let levels = it["levels"].as_object().unwrap();
        let levels =
            levels.iter().map(|(name, level)| format!("{name}={}", level.as_str().unwrap()));
        format!("{} {}", levels.collect::<Vec<_>>().join(" "), it["letters"].as_str().unwrap())
    };
    metric["levels"].as_array().unwrap().iter().map(level).collect()
}

#[test]
fn levels_of_a_program_have_known_ratios() {
    let world = World::new();
    let words = ["exec", "-q", "-r", "7", "--metric", "fom: FOM = ([0-9]+)", "--factor"];
    let program = ["--", "echo", "FOM = {n}"];
    let of = |more: &[&'static str]| [&words[..], &["n=1..4*2"], more, &program].concat();
    let document = world.json(&of(&["--json"]));
    assert_eq!(letters(&document, "score"), ["n=1 a", "n=2 b", "n=4 c"], "{document:#}");
    let metrics = document["metrics"].as_array().unwrap();
    let fom = metrics.iter().find(|it| it["metric"] == "score").unwrap();
    let ratios: Vec<Option<f64>> =
        fom["levels"].as_array().unwrap().iter().map(|it| it["ratio"].as_f64()).collect();
    assert_eq!(ratios[0], None);
    for (ratio, expected) in ratios[1..].iter().zip([2.0, 4.0]) {
        assert!((ratio.unwrap() - expected).abs() < 1e-9, "{ratio:?}");
    }
    assert_eq!((&document["blocks"], &fom["overall"]["test"]), (&7.into(), &"friedman".into()));
    let text = world.assay(&of(&[])).succeeded().out;
    assert!(text.contains("Levels of n") && text.contains("letters"), "{text}");
    let svg = world.assay(&of(&["--format", "svg"])).succeeded().out;
    assert!(svg.contains("<svg") && svg.contains("over n"), "{svg}");
    let csv = world.assay(&of(&["--format", "csv"])).succeeded().out;
    assert!(csv.starts_with("benchmark,case,metric,factor.n,value"), "{csv}");
}

#[test]
fn suite_applies_and_restores_levels() {
    let world = World::new();
    world.write("varied.toml", SUITE);
    let plan = world.json(&["run", "varied.toml", "--dry-run", "--json"]);
    assert_eq!((&plan["turns"], &plan["blocks"]), (&28.into(), &7.into()));
    assert_eq!(plan["combinations"].as_array().unwrap().len(), 4);
    let planned = world.assay(&["run", "varied.toml", "--dry-run"]).succeeded().out;
    assert!(planned.contains("4 combinations in 7 blocks"), "{planned}");
    assert!(planned.contains("mode: restore"), "{planned}");
    assert_eq!(plan["factors"][0]["restore"], "echo restored >> log; rm mode");
    assert!(!world.path("log").exists(), "nothing was applied");
    let words = ["run", "varied.toml", "-q", "--settle", "0s", "--seed", "2"];
    let document = world.json(&[&words[..], &["--json"]].concat());
    let expected = ["mode=a size=1 a", "mode=a size=2 b", "mode=b size=1 a", "mode=b size=2 b"];
    // With six pairs, seven blocks are too few for ranks.
    let metric = &document["metrics"][0];
    assert_eq!(metric["needed_blocks"], 8, "{metric:#}");
    assert_eq!(letters(&document, "score").len(), expected.len());
    let eight = world.json(&[&words[..], &["--json", "--blocks", "8"]].concat());
    assert_eq!(letters(&eight, "score"), expected, "{eight:#}");
    let log = std::fs::read_to_string(world.path("log")).unwrap();
    assert!(log.ends_with("restored\n") && log.matches("restored").count() == 2, "{log}");
    assert!(!world.path("mode").exists());
    let list = world.json(&["list", "--json"]);
    let runs = list["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 28 + 32);
    assert!(runs.iter().any(|it| it["label"] == "mode=b size=2"), "{list:#}");
    // The times of two equal programs may differ or not; the figure differs.
    let compared = world.assay(&["compare", "mode=a size=1", "mode=a size=2", "--json"]);
    let compared: Value = serde_json::from_str(&compared.out).unwrap();
    let pairs = compared["pairs"].as_array().unwrap();
    let fom = pairs.iter().find(|it| it["a"]["metric"] == "score").unwrap();
    assert!((fom["ratio"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{fom:#}");
}

/// Suite of one factor of numbers, whose figure saturates.
const SATURATING: &str = r#"
name = "saturating"
budget = "30s"
blocks = 8
[[factor]]
name = "depth"
levels = [4, 1, 2]
[[measure]]
benchmark = "command"
run = ["sh", "-c", "test {depth} = 1 && echo FOM = 1 || echo FOM = 2"]
metrics = [{ name = "fom", find = 'FOM = ([0-9]+)', better = "higher" }]
runs = 1
"#;

#[test]
fn stored_levels_are_printed_again() {
    let world = World::new();
    world.write("x.toml", SATURATING);
    let live = world.json(&["run", "x.toml", "-q", "--seed", "3", "--json"]);
    let score = live["metrics"].as_array().unwrap().iter().find(|it| it["metric"] == "score");
    let sufficient = &score.unwrap()["sufficient"];
    assert_eq!((&sufficient["level"], &sufficient["larger"]), (&2.into(), &Value::from([0])));
    let shown = world.json(&["show", "latest~5", "--json"]);
    assert_eq!(shown["levels"], live, "a run of the measurement has all of it");
    assert_eq!(world.json(&["report", "latest", "--format", "json"])["levels"], live);
    assert_eq!(world.json(&["compare", "latest", "--json"]), live);
    for (words, parts) in [
        (
            &["show", "latest"][..],
            &["Levels of depth", "smallest sufficient level is depth=2", "(4) is"][..],
        ),
        (
            &["report", "latest", "--format", "html"],
            &["Levels of depth", "<svg class=\"plot\""],
        ),
        (&["report", "latest", "--format", "markdown"], &["Levels of depth", "| depth |"]),
        (&["show", "latest", "--format", "svg"], &["over depth"]),
    ] {
        let outcome = world.assay(words).succeeded();
        parts
            .iter()
            .for_each(|part| assert!(outcome.out.contains(part), "{part}: {outcome:?}"));
    }
    // Programs are levels of one run.
    let words = ["exec", "-q", "-r", "7", "--factor", "n=1,2", "--", "echo", "{n}"];
    let live = world.json(&[&words[..4], &["--json"], &words[4..]].concat());
    assert_eq!(world.json(&["show", "latest", "--json"])["levels"], live);
    // Levels are part of an anonymous page, and stay apart there.
    let words = ["exec", "-q", "-r", "7", "--factor", "dir=/home/ann/a,/home/ann/b", "--"];
    world.assay(&[&words[..], &["echo", "{dir}"]].concat()).succeeded();
    for format in ["text", "json"] {
        let words = ["report", "latest", "--anonymous", "--format", format];
        let page = world.assay(&words).succeeded().out;
        assert!(!page.contains("/home"), "{page}");
        assert!(page.contains("/path-1") && page.contains("/path-2"), "{page}");
    }
    let alone = world.json(&["exec", "-q", "-r", "1", "--json", "true"]);
    assert_eq!(alone["levels"], Value::Null);
    let refused = world.assay(&["compare", "latest"]).failed_with(2);
    assert!(refused.err.contains("a run without levels of factors to compare"), "{refused:?}");
}

#[test]
fn any_number_of_labels_is_compared() {
    let world = World::new();
    world.write("x.toml", SATURATING);
    world.json(&["run", "x.toml", "-q", "--json"]);
    // Labels of one factor are its levels again.
    let levels = world.json(&["compare", "depth=1", "depth=2", "depth=4", "--json"]);
    assert_eq!(levels["factors"], Value::from(["depth"]));
    assert_eq!(letters(&levels, "score"), ["depth=1 a", "depth=2 b", "depth=4 b"]);
    for (label, score) in [("a", "1"), ("b", "1"), ("c", "2")] {
        for _ in 0..3 {
            let program = ["sh", "-c", &format!("echo FOM = {score}")].map(str::to_owned);
            let metric = ["--metric", "fom: FOM = ([0-9]+)", "--label", label];
            let words = [&["exec", "-q", "-r", "1", "-n", "x"][..], &metric, &["--"]].concat();
            let words: Vec<&str> =
                words.into_iter().chain(program.iter().map(String::as_str)).collect();
            world.assay(&words).succeeded();
        }
    }
    let independent = world.json(&["compare", "a", "b", "c", "--json"]);
    assert_eq!(independent["design"], "independent");
    assert_eq!(independent["conditions"][2]["levels"]["label"], "c");
    let text = world.assay(&["compare", "a", "b", "c"]).succeeded().out;
    assert!(text.contains("Levels of label") && text.contains("all runs of one"), "{text}");
    for (words, part) in [
        (&["compare", "a", "b", "a"][..], "is on both sides"),
        (&["compare", "a", "b", "none"], "none"),
        (
            &["compare", "a", "b", "c", "--expect", "x.toml"],
            "--expect needs two conditions, not 3",
        ),
    ] {
        let refused = world.assay(words).failed_with(2);
        assert!(refused.err.contains(part), "{words:?}: {refused:?}");
    }
}

#[test]
fn options_of_benchmarks_are_varied() {
    let world = World::new();
    // The example of docs/factors.md.
    let words = ["run", "network", "--factor", "streams=1..8*2", "--dry-run", "--json"];
    let plan = world.json(&words);
    assert_eq!(plan["combinations"].as_array().unwrap().len(), 4, "{plan:#}");
}

#[test]
fn failures_restore_and_name_their_place() {
    let world = World::new();
    let check = |from: &str, to: &str, parts: &[&str]| {
        world.write("x.toml", &SUITE.replace(from, to));
        let words = ["run", "x.toml", "-q", "--settle", "0s", "--blocks", "1"];
        let outcome = world.assay(&words).failed_with(4);
        parts
            .iter()
            .for_each(|part| assert!(outcome.err.contains(part), "{part}: {outcome:?}"));
        outcome
    };
    check(
        "echo {mode} > mode",
        "touch mode; echo no {mode} >&2; exit 3",
        &["cannot apply mode=", "it ended with code 3; it printed: no ", "x.toml:8:9"],
    );
    assert!(!world.path("mode").exists(), "restored");
    let left = check("rm mode", "rm mode; exit 7", &["cannot restore mode", "x.toml:9:11"]);
    assert!(left.out.contains("Levels of mode, size"), "the levels are printed: {left:?}");
    for words in
        [&["exec", "-q", "-r", "1", "true"][..], &["exec", "--no-store", "-qr1", "true"]]
    {
        let next = world.assay(words).succeeded();
        assert!(next.err.contains("left a level of mode applied"), "{next:?}");
    }
    // A page that cannot be written does not hide the level that is still applied.
    std::fs::create_dir(world.path("out")).unwrap();
    world.write("x.toml", &SUITE.replace("rm mode", "rm -r mode out; exit 7"));
    let words = ["run", "x.toml", "--settle", "0s", "--blocks", "1", "-o", "out/x.html"];
    let unwritten = world.assay(&words).failed_with(4);
    for part in ["cannot restore mode", "a level of mode is still applied", "out/x.html"] {
        assert!(unwritten.err.contains(part), "{part}: {unwritten:?}");
    }
    // A program that fails at one level leaves the others comparable.
    check("\"echo\", \"FOM", "\"sh\", \"-c\", \"test {size} = 1 && echo FOM", &["failed"]);
}

#[test]
fn interruption_restores_and_kill_is_reported() {
    let world = World::new();
    let slow = SUITE.replace("[\"echo\", \"FOM = {size}\"]", "[\"sleep\", \"5{size}\"]");
    world.write("slow.toml", &slow.replace("metrics =", "#"));
    let start = || {
        let mut command = world.command(&["run", "slow.toml", "--settle", "0s"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("a level is applied", || world.path("mode").exists());
        child
    };
    let child = start();
    send_signal(child.id(), "INT");
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(4), "{err}");
    assert!(err.contains("the measurement of the factors was interrupted"), "{err}");
    assert!(!world.path("mode").exists(), "restored: {err}");
    let child = start();
    send_signal(child.id(), "KILL");
    child.wait_with_output().unwrap();
    let next = world.assay(&["exec", "-q", "-r", "1", "true"]).succeeded();
    let part = "a measurement that was killed left a level of mode applied; restore by";
    assert!(next.err.contains(part), "{next:?}");
}

#[test]
fn wrong_factors_are_refused() {
    let world = World::new();
    world.write("x.toml", SUITE);
    for (words, code, part) in [
        (&["run", "x.toml", "--factor", "depth=1,2"][..], 3, "factor `depth` has no effect"),
        (&["run", "x.toml", "--factor", "size="], 2, "factor `size` has no levels"),
        (&["run", "x.toml", "--factor", "size=1..300"], 2, "more than 256 levels"),
        (&["run", "x.toml", "--factor", "size=1..200"], 3, "400 combinations"),
        (
            &["run", "x.toml", "--factor", "mode=1..100", "--factor", "size=1..100"],
            3,
            "10000 combinations, and at most 256 are measured: 100 of mode, 100 of size",
        ),
        (&["run", "x.toml", "--factor", "hosts=1,2"], 2, "factor `hosts` needs --hosts"),
        (&["run", "x.toml", "--factor", "size={mode}"], 2, "names a factor"),
        (&["run", "x.toml", "--switch", "a", "b"], 2, "--switch cannot be used with factors"),
        (&["run", "x.toml", "--strict"], 2, "--strict cannot be used with factors"),
        (&["run", "x.toml", "quick"], 3, "a suite with factors is several suites"),
        (&["run", "x.toml", "quick", "--factor", "size=1"], 2, "varies a single suite"),
        (&["run", "quick", "--blocks", "3"], 2, "nothing takes turns"),
        (&["exec", "--factor", "n=1,2", "--", "true"], 2, "no program names `{n}`"),
        (&["exec", "--factor", "n=1,2", "--", "echo", "{n}{m}"], 2, "`{m}` names no factor"),
        (&["exec", "--factor", "a=1..99", "--factor", "b=1..99", "--", "{a}{b}"], 2, "9801"),
    ] {
        let refused = world.assay(words).failed_with(code);
        assert!(refused.err.contains(part), "{words:?}: {refused:?}");
    }
}

/// Returns the path of an example suite.
fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/examples");
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn examples_over_mixes_and_connections_are_planned() {
    let world = World::new();
    let plan = |name: &str| {
        world.json(&["run", &example(name), "--target", "data", "--dry-run", "--json"])
    };
    let mix = plan("storage-mix.toml");
    assert_eq!((&mix["turns"], &mix["blocks"]), (&154.into(), &14.into()), "{mix:#}");
    let combinations = mix["combinations"].as_array().unwrap();
    let reads = |it: &Value| it["levels"]["reads"].as_str().unwrap().to_owned();
    let levels: Vec<String> = combinations.iter().map(reads).collect();
    assert_eq!(levels[..3], ["0", "10", "20"]);
    assert_eq!((levels.len(), levels[10].as_str()), (11, "100"));
    let shares = combinations.iter().map(|it| it["plan"]["cases"].to_string());
    for (share, cases) in ["0.0", "0.1", "0.2"].into_iter().zip(shares) {
        let part = format!("\"read_share\":{share}");
        assert_eq!(cases.matches(&part).count(), 2, "{part}: {cases}");
    }
    let mounts = plan("nfs-nconnect.toml");
    assert_eq!(mounts["turns"], 70, "{mounts:#}");
    let apply = mounts["factors"][0]["apply"].as_str().unwrap();
    assert!(apply.contains("nconnect={nconnect}"), "{apply}");
}

#[test]
fn share_of_reads_is_a_factor_from_reads_to_writes() {
    let world = World::in_memory();
    let suite = std::fs::read_to_string(example("storage-mix.toml")).unwrap();
    let small = "operation = \"mix\"\nsize = \"1MiB\"\nbuffered = true\nengine = \"threads\"";
    world.write("mix.toml", &suite.replace("operation = \"mix\"", small));
    let words = ["run", "mix.toml", "--target", "data", "-q", "--budget", "shortest", "--json"];
    let levels = ["--factor", "reads=100,50,0", "--blocks", "2"];
    let document = world.json(&[&words[..], &levels].concat());
    let metrics = document["metrics"].as_array().unwrap();
    for metric in ["rate", "latency"] {
        let found = metrics.iter().filter(|it| it["metric"] == metric);
        let counts: Vec<usize> =
            found.map(|it| it["levels"].as_array().unwrap().len()).collect();
        assert_eq!(counts, [3, 3], "random and sequential {metric}: {document:#}");
    }
}

#[test]
fn example_is_measured() {
    let world = World::new();
    let suite = example("factors.toml");
    let document = world.json(&["run", &suite, "-q", "--settle", "0s", "--json"]);
    let output = letters(&document, "penalty");
    assert_eq!(output.len(), 6, "{output:?}");
    // The size of an output has no noise: every combination has a letter of its own, or the same size.
    assert!(output[0].ends_with(" a") && !output[5].contains('a'), "{output:?}");
    assert!(!world.path("assay-example.txt").exists());
}
