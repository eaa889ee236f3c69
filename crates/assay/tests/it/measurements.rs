//! Small measurements from end to end: stored and printed results are complete and consistent.

use serde_json::Value;

use crate::program::{Outcome, World, results};

/// Small arrays make the values cache-assisted, and the tests check for that warning.
const STREAM: [&str; 7] =
    ["stream", "--bytes", "1MiB", "--threads", "1", "--budget", "shortest"];

fn stream(world: &World, more: &[&str]) -> Value {
    world.json(&[&STREAM[..], &["--json"], more].concat())
}

#[test]
fn json_document_has_documented_fields() {
    let world = World::new();
    let document = stream(&world, &[]);
    assert_eq!(document["schema"], 2);
    assert_eq!(document["statistics"], 6);
    assert_eq!(document["run"]["status"], "complete");
    assert_eq!(document["failures"], Value::Array(vec![]));
    assert!(document["hosts"][0]["fingerprint"].as_str().is_some_and(|text| !text.is_empty()));
    for metric in ["copy", "scale", "add", "triad", "read", "write"] {
        let found = results(&document, "memory.stream", metric);
        assert_eq!(found.len(), 1, "{metric}");
        let result = found[0];
        assert_eq!(result["unit"], "B/s");
        assert_eq!(result["better"], "higher");
        assert_eq!(result["tool"]["name"], "assay");
        assert_eq!(result["parameters"]["placement"], "node");
        assert_eq!(result["parameters"]["threads"], 1);
        assert_eq!(result["parameters"]["bytes_per_array"], 1 << 20);
        assert!(result["parameters"]["kernel"].is_string());
        let number = |key: &str| result[key].as_f64().unwrap();
        assert!(number("min") <= number("median") && number("median") <= number("max"));
        assert!(number("min") <= number("mean") && number("mean") <= number("max"));
        // Few samples on a busy machine may not suffice for an interval.
        assert!(result["ci"][0].as_f64().is_none_or(|low| low <= number("median")));
        assert!(number("n_effective") <= number("n"));
        let ids: Vec<&str> = result["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| w["id"].as_str().unwrap())
            .collect();
        assert!(ids.contains(&"cache-assisted"), "{ids:?}");
    }
}

#[test]
fn stored_run_equals_printed_document() {
    let world = World::new();
    let printed = stream(&world, &[]);
    let shown = world.json(&["show", "latest", "--json"]);
    assert_eq!(printed, shown);
    let id = printed["run"]["id"].as_str().unwrap();
    assert_eq!(
        world.json(&["show", &id[..id.len() - 1], "--json"]),
        printed,
        "a unique beginning"
    );
    stream(&world, &[]);
    assert_eq!(world.json(&["show", "latest~1", "--json"]), printed);
}

#[test]
fn events_are_json_lines() {
    let world = World::new();
    let outcome = world.assay(&[&STREAM[..], &["--events"]].concat()).succeeded();
    let events: Vec<Value> =
        outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["event"], "run-started");
    assert_eq!(events.last().unwrap()["event"], "run-finished");
    assert!(events.iter().any(|event| event["event"] == "sample"));
    assert_eq!(events[1]["event"], "host-joined");
    assert!(events[1]["clock"]["resolution_s"].as_f64().unwrap() > 0.0, "measured first");
}

/// A format that only stored runs have is rejected before anything is measured. If a finished run
/// turns out not to have the format, the error names the stored run.
#[test]
fn unavailable_format_costs_no_measurement() {
    let world = World::new();
    let learn = world.assay(&[&STREAM[..], &["--format", "learn"]].concat()).failed_with(2);
    assert!(learn.err.contains("--format learn needs a stored run"), "{learn:?}");
    let help = world.assay(&["help", "stream"]).succeeded().out;
    assert!(!help.contains("learn"), "{help}");
    let svg = world.assay(&[&STREAM[..], &["--format", "svg"]].concat()).failed_with(2);
    assert!(svg.err.contains("no plots in \"sustained memory bandwidth"), "{svg:?}");
    assert_eq!(world.json(&["list", "--all", "--json"])["runs"].as_array().unwrap().len(), 0);
}

/// Whether a run is trusted depends on the machine, but every output must agree on it.
#[test]
fn trust_verdict_is_the_same_everywhere() {
    let world = World::new();
    world.write(
        "tiny.toml",
        "name = \"tiny\"\nbudget = \"1s\"\n[[measure]]\nbenchmark = \"memory.latency\"\n\
         from = \"4KiB\"\nto = \"4KiB\"\n",
    );
    let strict = world.assay(&["run", "tiny.toml", "--strict"]);
    let document = world.json(&["show", "latest", "--json"]);
    let reasons = document["trust"]["because"].as_array().unwrap();
    let is_trusted = document["trust"]["verdict"] == "trusted";
    assert_eq!(is_trusted, reasons.is_empty(), "{reasons:?}");
    assert_eq!(strict.code, if is_trusted { 0 } else { 6 }, "{strict:?}");
    let level = document["trust"]["level"].as_str().unwrap();
    assert_eq!(level == "sound", is_trusted, "{level}");
    let has_notice = strict.out.contains(&format!("{level}: "));
    assert_eq!(has_notice, !is_trusted, "{}", strict.out);
    let listed = &world.json(&["list", "--json"])["runs"][0];
    assert_eq!((&listed["trusted"], &listed["trust"]), (&is_trusted.into(), &level.into()));
    let listed = world.assay(&["list"]).succeeded().out;
    assert_eq!(listed.contains(level), !is_trusted, "{listed}");
    // Without time for a second sample, a run is never trusted.
    let budget = ["linpack", "--n", "1200", "--budget", "shortest", "--strict", "--json"];
    let hasty = world.assay(&budget);
    let document: Value = serde_json::from_str(&hasty.out).unwrap();
    assert_eq!(
        (hasty.code, &document["trust"]["verdict"]),
        (6, &"untrusted".into()),
        "{hasty:?}"
    );
    // Without a printed report, the reason of the exit code goes to standard error.
    let notices = |text: &str, prefix: &str| {
        let levels = ["noisy", "suspect"];
        levels
            .map(|level| text.matches(&format!("{prefix}{level}: ")).count())
            .iter()
            .sum::<usize>()
    };
    let said = |outcome: &Outcome| notices(&outcome.err, "--strict: ");
    assert_eq!(said(&hasty), 1, "{hasty:?}");
    let hasty = ["linpack", "--n", "1200", "--budget", "shortest", "--strict", "--quiet"];
    let to_file = world.assay(&[&hasty[..], &["-o", "out.txt"]].concat()).failed_with(6);
    assert_eq!(said(&to_file), 1, "{to_file:?}");
    let printed = world.assay(&hasty).failed_with(6);
    // The notice, and the meaning of the verdicts.
    assert_eq!((said(&printed), notices(&printed.out, "") > 0), (0, true), "{printed:?}");
}

/// A burst of other work hits one preparation of each case, not all preparations of one case.
#[test]
fn cases_alternate_by_preparation() {
    let world = World::new();
    let case = "[[measure]]\nbenchmark = \"memory.latency\"\ninterval = \"0.0001%\"\n";
    let suite =
        format!("name = \"turns\"\nbudget = \"4s\"\n{case}from = \"4KiB\"\nto = \"8KiB\"\n");
    world.write("turns.toml", &suite);
    let outcome = world.assay(&["run", "turns.toml", "--events"]).succeeded();
    let events: Vec<Value> =
        outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut turns: Vec<(u64, u64)> = events
        .iter()
        .filter(|event| event["event"] == "sample")
        .map(|it| (it["series"].as_u64().unwrap(), it["preparation"].as_u64().unwrap()))
        .collect();
    turns.dedup();
    // Alternating direction.
    let there = |preparation| [0, 1, 2].map(|series| (series, preparation));
    let back = [2, 1, 0].map(|series| (series, 1));
    let expected = [there(0), back, there(2)].concat();
    // A busy machine may not complete three turns.
    let known = turns.len().min(expected.len());
    assert!(known > 3 && turns[..known] == expected[..known], "{turns:?}");
    let at = |series: u64| -> Vec<u64> {
        let own = events.iter().filter(|it| it["event"] == "sample" && it["series"] == series);
        own.map(|it| it["at_ns"].as_u64().unwrap()).collect()
    };
    assert!(at(0).is_sorted() && at(1).is_sorted());
}

#[test]
fn small_system_is_solved_and_checked() {
    let world = World::new();
    for n in ["1", "7", "200"] {
        let document = world.json(&["linpack", "--n", n, "--budget", "shortest", "--json"]);
        let found = results(&document, "compute.linpack", "rmax");
        assert_eq!(found.len(), 1);
        let result = found[0];
        assert_eq!(result["unit"], "FLOP/s");
        assert_eq!(result["parameters"]["n"].to_string(), n);
        assert!(result["parameters"]["residual"].as_f64().unwrap() < 16.0);
        assert!(result["limit"]["basis"].is_string(), "the measured peak is the limit");
    }
}

#[test]
fn every_benchmark_of_a_suite_is_measured() {
    let world = World::new();
    world.write(
        "small.toml",
        r#"
name = "small"
budget = "6s"
[[measure]]
benchmark = "memory.stream"
placement = ["numa", "l3", "core", "scaling"]
array-size = "1MiB"
[[measure]]
benchmark = "memory.latency"
to = "16KiB"
[[measure]]
benchmark = "memory.cache_bandwidth"
to = "16KiB"
[[measure]]
benchmark = "compute.peak_flops"
instruction-sets = "every"
[[measure]]
benchmark = "compute.linpack"
n = 300
"#,
    );
    let document = world.json(&["run", "small.toml", "--json"]);
    for (benchmark, metric) in [
        ("memory.stream", "triad"),
        ("memory.latency", "latency"),
        ("memory.cache_bandwidth", "read"),
        ("compute.peak_flops", "fp64"),
        ("compute.peak_flops", "fp32"),
        ("compute.linpack", "rmax"),
    ] {
        assert!(!results(&document, benchmark, metric).is_empty(), "{benchmark} {metric}");
    }
    let placements: Vec<&str> = results(&document, "memory.stream", "triad")
        .iter()
        .map(|result| result["parameters"]["placement"].as_str().unwrap())
        .collect();
    for placement in ["numa:0", "l3:0", "cores:1"] {
        assert!(placements.contains(&placement), "{placement} in {placements:?}");
    }
}

#[test]
fn plan_resolves_every_parameter() {
    let world = World::new();
    let plan = world.json(&["run", "quick", "--dry-run", "--json"]);
    for case in plan["cases"].as_array().unwrap() {
        assert!(case["stopping"]["budget_s"].as_f64().unwrap() > 0.0);
        assert!(case["workload"]["benchmark"].is_string());
    }
    assert!(!world.path("assay").exists(), "a dry run stores nothing");
    let text = world.assay(&["run", "quick", "--dry-run"]).succeeded().out;
    assert!(text.contains("memory.stream/node"), "{text}");
}

/// A plan warns where its budget is too short.
#[test]
fn plan_warns_of_too_short_budget() {
    let world = World::new();
    for (words, expected) in [
        ("run network --budget 40s", None),
        ("run network --budget 10s", Some("cases get fewer than 3 repetitions")),
        ("net throughput 127.0.0.1 --for 1s", None),
        ("linpack --n 1000 --budget 1000s", None),
        ("linpack --n 20000 --budget shortest", Some("one solve of N = 20000 takes")),
    ] {
        let words: Vec<&str> = words.split(' ').chain(["--dry-run"]).collect();
        let out = world.assay(&words).succeeded().out;
        let said = ["fewer than 3 repetitions", "one solve of"];
        match expected {
            Some(expected) => assert!(out.contains(expected), "{out}"),
            None => assert!(!said.iter().any(|it| out.contains(it)), "{out}"),
        }
    }
}

/// The budget of this run has no time for all placements and working sets.
#[test]
fn cases_without_time_are_named() {
    let world = World::new();
    let words = ["run", "memory", "--budget", "shortest", "--quiet"];
    let shown = world.assay(&words).succeeded();
    assert!(shown.err.contains("cases were not measured: the budget of"), "{shown:?}");
    let document = world.json(&["show", "latest", "--json"]);
    let omitted = document["omitted"].as_array().unwrap();
    let cut: Vec<&str> = omitted
        .iter()
        .filter(|it| it["reason"] == "time")
        .map(|it| it["benchmark"].as_str().unwrap())
        .collect();
    assert!(!cut.is_empty(), "{document:#}");
    let results = document["results"].as_array().unwrap();
    let is_measured = |case: &&str| results.iter().any(|it| it["case"] == **case);
    assert!(!cut.iter().any(is_measured), "{document:#}");
    assert!(!results.is_empty(), "{document:#}");
    assert!(world.assay(&["show", "latest"]).succeeded().out.contains(cut[0]));
}

#[test]
fn concurrent_assay_adds_warning() {
    let world = World::new();
    let mut first = world
        .command(&["stream", "--bytes", "1MiB", "--budget", "20s", "--events"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut reader = std::io::BufReader::new(first.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    assert!(line.contains("run-started"), "{line}");
    let document = stream(&world, &[]);
    first.kill().unwrap();
    first.wait().unwrap();
    let warnings = document["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["id"] == "another-assay"), "{warnings:?}");
    assert_eq!(world.json(&["list", "--all", "--json"])["runs"].as_array().unwrap().len(), 2);
}

/// Every pair of cores and every point of a curve is a result, and the plots are on the page.
#[test]
fn measures_pairs_of_cores_and_latency_under_load() {
    let world = World::new();
    world.write(
        "cores.toml",
        "name = \"cores\"\nbudget = \"4s\"\n[[measure]]\nbenchmark = \"memory.core_to_core\"\n\
         optional = true\n[[measure]]\nbenchmark = \"memory.loaded_latency\"\noptional = true\n\
         to = \"1MiB\"\narray-size = \"256KiB\"\n",
    );
    if std::thread::available_parallelism().is_ok_and(|it| it.get() < 2) {
        println!("SKIPPED measures_pairs_of_cores_and_latency_under_load: one CPU");
        return;
    }
    let document = world.json(&["run", "./cores.toml", "--json"]);
    assert_eq!(document["failures"], Value::Array(vec![]));
    let distances = results(&document, "memory.core_to_core", "latency");
    let pairs = results(&document, "memory.core_to_core", "pair_latency");
    assert!(!distances.is_empty() && pairs.len() >= distances.len());
    for pair in &pairs {
        let parameters = &pair["parameters"];
        let distance = &parameters["distance"];
        assert!(distances.iter().any(|it| it["parameters"]["placement"] == *distance));
        assert_ne!(parameters["placement"], parameters["source"]);
    }
    for metric in ["latency", "bandwidth"] {
        let points = results(&document, "memory.loaded_latency", metric);
        let is_idle = |it: &&&Value| it["parameters"]["point"] == "idle";
        assert_eq!(points.iter().filter(is_idle).count(), 1, "{metric}");
        let pauses = |share: f64| {
            let is_mix = |it: &&&Value| it["parameters"]["read_share"].as_f64() == Some(share);
            points.iter().filter(is_mix).count()
        };
        assert_eq!([1.0, 0.67, 0.5].map(pauses), [11; 3], "{metric}");
        assert!(points.iter().all(|it| it["median"].as_f64().is_some_and(|it| it > 0.0)));
    }
    let svg = world.assay(&["show", "latest", "--format", "svg"]).succeeded().out;
    assert!(svg.contains("bandwidth of all traffic"), "{svg}");
    let text = world.assay(&["show", "latest"]).succeeded().out;
    for heading in ["Memory latency under load", "Latency between cores"] {
        assert!(text.contains(heading), "{text}");
    }
}
