//! The suite `io500`: its phases, its score, and the files that stay.

use serde_json::Value;

use crate::program::World;

/// Suite with a stonewall of a second and known numbers of files.
const SMALL: &str = r#"
name = "small"
title = "IO500 with few files"
budget = "30s"

[[measure]]
benchmark = "io500"
threads = 2
stonewall = "1s"
ior-easy-size = "8MiB"
ior-hard-segments = 20
mdtest-easy-files = 150
mdtest-hard-files = 250
"#;

fn world_with_suite() -> World {
    let world = World::new();
    std::fs::write(world.path("small.toml"), SMALL).unwrap();
    std::fs::create_dir(world.path("data")).unwrap();
    world
}

const RUN: [&str; 5] = ["run", "small.toml", "--target", "data", "--target-on-root"];

/// Number of a metric of a phase in a document.
fn number(document: &Value, phase: &str, metric: &str) -> f64 {
    let results = document["results"].as_array().unwrap();
    let found = results
        .iter()
        .find(|it| it["parameters"]["phase"] == phase && it["metric"] == metric)
        .unwrap_or_else(|| panic!("{phase} {metric}: {document:#}"));
    found["median"].as_f64().unwrap()
}

/// The configuration of the program IO500 is a suite; an unknown key is named with its line.
#[test]
fn configuration_of_the_program_is_a_suite() {
    let world = World::new();
    std::fs::create_dir(world.path("data")).unwrap();
    let config = "[global]\ndatadir = data # here\n[debug]\nstonewall-time = 1\n[ior-easy]\nblockSize = 8m\n\
                  [ior-hard]\nsegmentCount = 20\n[mdtest-easy]\nn = 150\n[mdtest-hard]\nn = 250\n";
    world.write("config.ini", config);
    world.assay(&["run", "config.ini", "--target-on-root"]).succeeded();
    let document = world.json(&["show", "--json"]);
    let tasks = number(&document, "mdtest-easy-write", "files") / 150.0;
    assert!(tasks >= 1.0 && tasks.fract().abs() < 1e-9, "{tasks}");
    assert!((number(&document, "mdtest-hard-read", "files") / 250.0 - tasks).abs() < 1e-9);
    world.write("config.ini", &format!("{config}files = 3\n"));
    let reported = world.assay(&["run", "config.ini"]).failed_with(3).err;
    assert!(reported.contains("[mdtest-hard] of IO500 has no key `files`"), "{reported}");
    assert!(reported.contains("config.ini:13:1"), "{reported}");
}

#[test]
fn phases_count_known_files_and_leave_nothing() {
    let world = world_with_suite();
    std::fs::write(world.path("data/mine-01"), [0; 3901]).unwrap();
    let out = world.assay(&RUN).succeeded().out;
    assert!(out.contains("[SCORE ] Bandwidth ") && out.contains("[INVALID]"), "{out}");
    assert!(out.contains("the stonewall is 1.00"), "{out}");
    let left: Vec<_> = std::fs::read_dir(world.path("data")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "only the user's own file stays");

    let document = world.json(&["show", "--json"]);
    for (phase, files) in [
        ("mdtest-easy-write", 300),
        ("mdtest-easy-stat", 300),
        ("mdtest-easy-delete", 300),
        ("mdtest-hard-write", 500),
        ("mdtest-hard-stat", 500),
        ("mdtest-hard-read", 500),
        ("mdtest-hard-delete", 500),
        // Two files of ior-easy, one of ior-hard, and all of mdtest.
        ("find", 803),
    ] {
        assert_eq!(number(&document, phase, "files") as u64, files, "{phase}");
        assert!(number(&document, phase, "rate") > 0.0, "{phase}");
    }
    // 101 and 201 of each task.
    assert_eq!(number(&document, "find", "found") as u64, 4);

    let text = world.assay(&["show", "--as", "io500"]).succeeded().out;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 13, "{text}");
    assert!(lines[0].starts_with("[RESULT]       ior-easy-write "), "{text}");
    check_score(&document, lines[12]);
    for format in ["--format=markdown", "--format=html"] {
        let page = world.assay(&["report", format]).succeeded().out;
        assert!(page.contains("[SCORE ] Bandwidth "), "{format}");
    }
    check_stored_score(&world, &document);
}

/// Calculates the score from the stored phases, independently of the program.
fn check_score(document: &Value, line: &str) {
    let mean = |phases: &[&str], metric: &str, unit: f64| {
        let product: f64 =
            phases.iter().map(|phase| number(document, phase, metric) / unit).product();
        product.powf(1.0 / phases.len() as f64)
    };
    let bandwidths = ["ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read"];
    let rates = [
        "mdtest-easy-write",
        "mdtest-hard-write",
        "find",
        "mdtest-easy-stat",
        "mdtest-hard-stat",
        "mdtest-easy-delete",
        "mdtest-hard-read",
        "mdtest-hard-delete",
    ];
    let bandwidth = mean(&bandwidths, "bandwidth", 1024.0_f64.powi(3));
    let rate = mean(&rates, "rate", 1e3);
    let total = (bandwidth * rate).sqrt();
    let printed: Vec<f64> =
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    for (printed, expected) in printed.iter().zip([bandwidth, rate, total]) {
        assert!((printed - expected).abs() < 1e-6 + 1e-9 * expected, "{line}: {expected}");
    }
    assert_eq!(printed.len(), 3, "{line}");
}

/// The score is a result of the run, which `compare` pairs with that of another run.
fn check_stored_score(world: &World, document: &Value) {
    let results = document["results"].as_array().unwrap();
    let score = results.iter().find(|it| it["metric"] == "score").unwrap();
    assert!(score["median"].as_f64().unwrap() > 0.0, "{score}");
    world.assay(&RUN).succeeded();
    let comparison = world.assay(&["compare", "latest~1", "latest", "--json"]).out;
    assert!(comparison.contains("\"score\""), "{comparison}");
}

#[test]
fn plan_names_the_stonewall_and_creates_nothing() {
    let world = world_with_suite();
    let plan =
        world.assay(&["run", "io500", "--target", "data", "--target-on-root", "--dry-run"]);
    let plan = plan.succeeded().out;
    assert!(plan.contains("300"), "{plan}");
    assert!(!plan.contains("invalid"), "{plan}");
    let plan = world.assay(&[&RUN[..], &["--dry-run"]].concat()).succeeded().out;
    assert!(plan.contains("invalid for `IO500`"), "{plan}");
    assert_eq!(std::fs::read_dir(world.path("data")).unwrap().count(), 0);
}

#[test]
fn folders_of_others_are_refused_and_stay() {
    let world = world_with_suite();
    std::fs::create_dir(world.path("data/assay-io500")).unwrap();
    std::fs::write(world.path("data/assay-io500/mine"), "x").unwrap();
    let failed = world.assay(&RUN).failed_with(2).err;
    assert!(failed.contains("assay-io500 of another run"), "{failed}");
    assert!(world.path("data/assay-io500/mine").exists());
    for (folder, reason) in [("missing", "not an existing folder"), ("/proc", "/proc")] {
        let words = ["run", "small.toml", "--target", folder, "--target-on-root"];
        let failed = world.assay(&words).failed_with(2).err;
        assert!(failed.contains(reason), "{failed}");
    }
}
