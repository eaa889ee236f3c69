//! Applications of Debian in a suite: on this machine, and in two network namespaces as hosts.

use std::path::Path;

use serde_json::Value;

use crate::network::is_installed;
use crate::pairs::Namespaces;
use crate::program::{World, results};

/// Returns the example suite, unless an application is missing, which is printed.
fn find_suite(test: &str) -> Option<String> {
    for program in ["7zr", "sysbench"] {
        if !is_installed(program, test) {
            return None;
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    Some(folder.join("../../suites/examples/applications.toml").display().to_string())
}

/// Checks the figures of one host by the arithmetic of sysbench and by their numbers.
fn check_figures(document: &Value, host: Option<&str>) {
    let figure = |metric: &str, test: &str| {
        let is_it = |it: &&Value| {
            let parameters = &it["parameters"];
            parameters["test"] == test && host.is_none_or(|host| parameters["host"] == host)
        };
        let all = results(document, "command", metric);
        let found = all.iter().copied().find(|it| is_it(it));
        found.unwrap_or_else(|| panic!("{host:?} {metric} {test}: {document:#}")).clone()
    };
    let rating = figure("score", "rating");
    assert!(rating["median"].as_f64().unwrap() > 100.0, "{rating:#}");
    assert_eq!(rating["n"], 3);
    let events = figure("event_rate", "events");
    assert_eq!((&events["n"], &events["parameters"]["checked"]), (&5.into(), &"output".into()));
    let slow = figure("time", "slowest of 20")["median"].as_f64().unwrap();
    // One thread: nineteen of twenty events take at most that long.
    assert!(slow > 0.0 && events["median"].as_f64().unwrap() * slow > 0.5, "{document:#}");
}

#[test]
fn applications_have_figures_of_merit() {
    let Some(suite) = find_suite("applications_have_figures_of_merit") else { return };
    let world = World::new();
    let document = world.json(&["run", &suite, "-q", "--json"]);
    check_figures(&document, None);
    world.assay(&["verify"]).succeeded();
}

#[test]
fn applications_run_on_hosts() {
    let test = "applications_run_on_hosts";
    let Some(suite) = find_suite(test) else { return };
    let Some(hosts) = Namespaces::new("applications", 2) else { return };
    let world = World::new();
    let words = ["run", &suite, "--hosts", "n[1-2]", "--via", &hosts.via(), "-q", "--json"];
    let document = world.json(&words);
    for host in ["n1", "n2"] {
        check_figures(&document, Some(host));
    }
    let line = ["exec", "--hosts", "n[1-2]", "--via", &hosts.via(), "-r", "6", "-q", "--json"];
    let programs = [
        "-n",
        "one",
        "-n",
        "two",
        "sysbench cpu --events=10 run",
        "sysbench cpu --events=100 run",
    ];
    let document = world.json(&[&line[..], &programs].concat());
    let pairs = document["comparisons"][0]["pairs"].as_array().unwrap();
    let hosts =
        pairs.iter().filter(|it| it["a"]["metric"] == "wall_time").map(|it| &it["a"]["host"]);
    assert_eq!(hosts.collect::<Vec<_>>(), ["n1", "n2"], "{document:#}");
}
