//! `assay exec` and the benchmark `command`: programs that print figures, fail, hang and leave
//! children. All programs are lines of the shell.

use std::path::Path;

use expect_test::expect;
use serde_json::Value;

use crate::processes::{END_LIMIT, is_reached_within};
use crate::program::{World, results};

mod applications;
mod outputs;
mod repetitions;
mod verdicts;

/// A program that prints the numbers 1, 2, 3 … in turn, one in each run.
const COUNTER: &str = "n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n; \
                       echo \"FOM = $n GB/s\"; echo \"cost $n\" >&2; echo done";

/// Metrics of the counter.
const COUNTED: [&str; 4] =
    ["--metric", "fom: FOM = ([0-9]+) GB/s", "--metric", "cost: cost ([0-9]+) lower"];

fn measure(world: &World, options: &[&str], line: &str) -> Value {
    let words = [&["exec", "--json", "-q"], options, &["--", "sh", "-c", line]].concat();
    world.json(&words)
}

#[test]
fn figures_of_a_program_have_known_values() {
    let world = World::new();
    let options = [&["-r", "7", "--correct", "find=^done$"], &COUNTED[..]].concat();
    let document = measure(&world, &options, COUNTER);
    for (metric, test, expected) in [("bandwidth", "fom", 4e9), ("penalty", "cost", 4.0)] {
        let found = results(&document, "command", metric);
        let [one] = found.as_slice() else { panic!("{document:#}") };
        assert_eq!(one["median"].as_f64(), Some(expected), "{one:#}");
        assert_eq!((&one["n"], &one["parameters"]["test"]), (&7.into(), &test.into()));
        assert_eq!(one["parameters"]["checked"], "output");
    }
    for metric in ["wall_time", "cpu_time"] {
        let found = results(&document, "command", metric);
        assert!(found[0]["median"].as_f64().unwrap() > 0.0, "{metric}: {document:#}");
    }
    let start = results(&document, "command", "wall_time")[0];
    assert!(start["parameters"]["start_time"].as_f64().unwrap() > 0.0, "{start:#}");
}

#[test]
fn stored_runs_serve_all_commands() {
    let world = World::new();
    for label in ["before", "after"] {
        measure(&world, &["-r", "6", "-n", "app", "--label", label], "sleep 0.01");
    }
    let list = world.assay(&["list"]).succeeded().out;
    assert!(list.contains("exec") && list.contains("wall time"), "{list}");
    let shown = world.assay(&["show", "latest"]).succeeded().out;
    for part in ["Programs", "wall time", "CPU time", "not checked", "An empty program takes"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let compared = world.assay(&["compare", "before", "after"]).out;
    assert!(compared.contains("wall time") && compared.contains("÷"), "{compared}");
    world.assay(&["history", "command/wall_time"]).succeeded();
    let german = world.assay(&["report", "latest", "--locale", "de"]).succeeded().out;
    assert!(german.contains("Laufzeit") && german.contains("nicht geprüft"), "{german}");
    world.assay(&["verify"]).succeeded();
}

#[test]
fn programs_are_compared_in_random_blocks() {
    let world = World::new();
    let words =
        ["exec", "-q", "-r", "14", "--seed", "5", "-n", "fast", "-n", "slow", "-n", "same"];
    let programs = ["sleep 0.01", "sleep 0.05", "sleep 0.0100"];
    let outcome = world.assay(&[&words[..], &programs].concat()).succeeded();
    let compared = outcome.out.split("Programs compared with fast").nth(1).unwrap();
    let wall = |name: &str| {
        let is_it = |line: &&str| line.contains("wall time") && line.contains(name);
        compared.lines().find(is_it).unwrap_or_else(|| panic!("{}", outcome.out))
    };
    assert!(wall("slow").contains("worse"), "{compared}");
    assert!(!wall("same").contains("worse"), "{compared}");
    let run: Value = world.json(&["show", "latest", "--json"]);
    assert_eq!(results(&run, "command", "wall_time").len(), 3);
}

#[test]
fn a_wrong_repetition_fails_with_its_reason() {
    let world = World::new();
    let metric = |text: &'static str| vec!["--metric", text];
    let fom = || metric("fom: FOM = ([^ ]+) GB/s");
    let table: [(Vec<&str>, &str, &str); 9] = [
        (vec![], "echo bad >&2; exit 3", "ended with code 3, expected 0; it printed: bad"),
        (vec!["--correct", "exit=3"], "exit 0", "ended with code 0, expected 3"),
        (vec![], "kill -11 $$", "was ended by signal 11"),
        (vec!["--timeout", "200ms"], "sleep 60", "did not end within 0.2 s"),
        (vec!["--correct", "find=^ok$"], "echo okay", "matches `^ok$`"),
        (fom(), "echo nothing", "no line of the output matches the pattern of \"fom\""),
        (
            fom(),
            "echo FOM = 1; echo FOM = 2 >&2",
            "\"fom\" was found twice: in line 1 of standard output and in line 1 of standard error",
        ),
        (fom(), "echo FOM = many", "line 1 of standard output: expected a plain number"),
        (fom(), r"printf '\377\376\001'", "(the output is not text)"),
    ];
    for (options, line, expected) in table {
        let words =
            [&["exec", "-q", "-r", "2"], &options[..], &["--", "sh", "-c", line]].concat();
        let outcome = world.assay(&words).failed_with(4);
        assert!(outcome.err.contains(expected), "{line}: {}", outcome.err);
        assert!(outcome.err.contains("help:"), "{line}: {}", outcome.err);
    }
    // The failed output is kept.
    let run = world.json(&["show", "latest", "--json"]);
    assert_eq!(run["results"].as_array().unwrap().len(), 0, "{run:#}");
}

#[test]
fn wrong_options_and_programs_are_refused() {
    let world = World::new();
    world.write("text", "no program");
    let check = |words: &[&str], code: i32, expected: &str| {
        let outcome = world.assay(&[&["exec"], words].concat()).failed_with(code);
        assert!(outcome.err.contains(expected), "{words:?}: {}", outcome.err);
    };
    check(&["--", "./there-is-none"], 4, "cannot find the program ./there-is-none");
    check(&["--", "./text"], 4, "cannot execute ./text");
    check(&["sleep", "1"], 4, "cannot find the program 1");
    check(&["a 'b"], 2, "the quote ' has no end");
    check(&["true", "true"], 2, "two programs have the name `true`");
    check(&["-n", "a", "-n", "b", "--", "true"], 2, "2 names for 1 programs");
    check(&["--metric", "fom: FOM [0-9]+ GB/s", "--", "true"], 2, "has no group");
    check(&["--metric", "fom: FOM ([0-9]+) parsecs", "--", "true"], 2, "is no known unit");
    check(&["--metric", "Wall time: ([0-9]+) s", "--", "true"], 2, "measures of every program");
    check(&["--factor", "n=1", "--", "true", "{n}"], 2, "each factor has one level");
    check(&["--prepare", "false", "--", "true"], 4, "a preparation has to end with code 0");
    check(&["--correct", "find=(", "--", "true"], 2, "find=(");
    check(&["--correct", "exit=999", "--", "true"], 2, "expected an exit code");
    check(&["--cpus", "9-1", "--", "true"], 2, "expected CPU numbers");
    check(&[], 2, "PROGRAM");
}

#[test]
fn children_end_with_the_run() {
    let world = World::new();
    let line = "sleep 1000 & echo $! >> children";
    let outcome = world.assay(&["exec", "-r", "2", "--", "sh", "-c", line]).succeeded();
    assert!(outcome.err.contains("processes that outlived"), "{}", outcome.err);
    let children = std::fs::read_to_string(world.path("children")).unwrap();
    assert_eq!(children.lines().count(), 2, "{children}");
    let is_alive = |id: &str| {
        let stat = std::fs::read_to_string(Path::new("/proc").join(id).join("stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z"))
    };
    assert!(is_reached_within(END_LIMIT, || !children.lines().any(is_alive)), "{children}");
}

#[test]
fn endless_output_keeps_its_ends() {
    let world = World::new();
    let line = "yes abcdefghi | head -n 8000000; echo 'FOM = 3 GB/s'";
    let options = ["-r", "1", "--metric", "fom: FOM = ([0-9]+) GB/s"];
    let document = measure(&world, &options, line);
    assert_eq!(results(&document, "command", "bandwidth")[0]["median"], 3e9);
    let largest = crate::program::files_below(&world.path(""))
        .iter()
        .map(|file| std::fs::metadata(file).map_or(0, |it| it.len()))
        .max();
    assert!(largest.unwrap() < 40 << 20, "{largest:?}");
}

#[test]
fn preparation_and_warm_up_do_not_count() {
    let world = World::new();
    let options = ["-r", "3", "-w", "2", "--prepare", "sh -c 'echo p >> prepared'"];
    let options = [&options[..], &COUNTED].concat();
    let document = measure(&world, &options, COUNTER);
    let fom = results(&document, "command", "bandwidth")[0];
    assert_eq!((fom["median"].as_f64(), &fom["n"]), (Some(4e9), &3.into()), "{fom:#}");
    let prepared = std::fs::read_to_string(world.path("prepared")).unwrap();
    assert_eq!(prepared.lines().count(), 5);
}

#[test]
fn suites_measure_programs() {
    let world = World::new();
    let suite =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/examples/programs.toml");
    let suite = suite.to_str().unwrap();
    let document = world.json(&["run", suite, "--budget", "shortest", "-q", "--json"]);
    let additions = results(&document, "command", "score");
    assert_eq!(additions[0]["median"], 20000.0, "{document:#}");
    let named = |name: &str| {
        let all = results(&document, "command", "wall_time");
        all.iter().any(|it| it["parameters"]["program"] == name)
    };
    assert!(named("awk") && named("sort"), "{document:#}");
    assert_eq!(document["omitted"][0]["reason"], "tool");
}

#[test]
fn suites_choose_what_is_counted() {
    let world = World::new();
    let head = "name = \"x\"\n[[measure]]\nbenchmark = \"command\"\nrun = [\"echo\", \"a 5\"]\nruns = 2\n";
    let keys = "usage = [\"cpu\"]\nmetrics = [{ name = \"a\", find = 'a ([0-9]+)' }]\n";
    world.write("x.toml", &format!("{head}{keys}"));
    let document = world.json(&["run", "./x.toml", "-q", "--json"]);
    let metrics = document["results"].as_array().unwrap().iter().map(|it| it["metric"].clone());
    assert_eq!(metrics.collect::<Vec<_>>(), ["cpu_time", "score"], "{document:#}");
    world.write("x.toml", &format!("{head}usage = []\n"));
    let refused = world.assay(&["run", "./x.toml"]).failed_with(3);
    assert!(refused.err.contains("nothing would be measured"), "{}", refused.err);
}

#[test]
fn wrong_suites_are_located() {
    let world = World::new();
    let check = |keys: &str, expected: &expect_test::Expect| {
        let text = format!("name = \"x\"\n[[measure]]\nbenchmark = \"command\"\n{keys}\n");
        world.write("x.toml", &text);
        expected.assert_eq(&world.assay(&["run", "./x.toml"]).failed_with(3).err);
    };
    check(
        "run = 5",
        &expect![[r#"
        error: suite ./x.toml: expected a program and its arguments
           ╭─[./x.toml:4:7]
         3 │ benchmark = "command"
         4 │ run = 5
           ·       ┬
           ·       ╰── here
           ╰────
          help: like `["./app", "-n", "100"]`
    "#]],
    );
    check(
        "run = [\"true\"]\nmetrics = [{ name = \"a\", find = \"[0-9]\" }]",
        &expect![[r#"
        error: cannot find the metric "a"
           ╭─[./x.toml:5:1]
         4 │ run = ["true"]
         5 │ metrics = [{ name = "a", find = "[0-9]" }]
           · ─────────────────────┬────────────────────
           ·                      ╰── here
           ╰────
          why: `[0-9]` has no group: put the number into parentheses
    "#]],
    );
    check(
        "run = [\"true\"]\nmetrics = [{ name = \"a\", find = \"([0-9])\", unit = \"x\" }]",
        &expect![[r#"
            error: cannot find the metric "a"
               ╭─[./x.toml:5:1]
             4 │ run = ["true"]
             5 │ metrics = [{ name = "a", find = "([0-9])", unit = "x" }]
               · ────────────────────────────┬───────────────────────────
               ·                             ╰── here
               ╰────
              why: `x` is no known unit, like s, us, 1/s, GB/s, MiB/s, Gbit/s, IO/s, GFLOP/s, %
        "#]],
    );
    check(
        "run = [\"true\"]\ncorrect = { exit = -1 }",
        &expect![[r#"
        error: suite ./x.toml: expected an exit code from 0 to 255, or "any"
           ╭─[./x.toml:5:20]
         4 │ run = ["true"]
         5 │ correct = { exit = -1 }
           ·                    ─┬
           ·                     ╰── here
           ╰────
    "#]],
    );
    check(
        "run = [\"true\", \"a\"]\nshell = true",
        &expect![[r#"
        error: suite ./x.toml: the shell takes one line, not a list
           ╭─[./x.toml:4:7]
         3 │ benchmark = "command"
         4 │ run = ["true", "a"]
           ·       ──────┬──────
           ·             ╰── here
         5 │ shell = true
           ╰────
          help: like `"./a | ./b"`
    "#]],
    );
}
