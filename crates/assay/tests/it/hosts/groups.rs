//! Report of a volume shared by several hosts: `run anf` over a fleet with a near and a far group.

use std::collections::BTreeMap;

use super::transports::Namespaces;
use crate::network::link::run;
use crate::program::{World, results};
use serde_json::{Value, json};

const FLEET: &str = "via = \"env NAME={host}\"\nlabels = [\"near\", \"far\"]\n\
    [[host]]\nname = \"n[1-2]\"\nlabels = [\"near\"]\n\
    [[host]]\nname = \"f1\"\nlabels = [\"far\"]\n";

/// Returns a suite with two of the report's tests and few points, so that a busy machine completes
/// it.
fn short_suite() -> String {
    let test = |name: &str, operation: &str| {
        format!(
            "[[measure]]\nbenchmark = \"storage\"\nname = \"{name}\"\noperation = \"{operation}\"\n\
             pattern = \"random\"\nbs = \"8KiB\"\ndepth = 4\nbuffered = true\ncurve = [30, 60]\n"
        )
    };
    let tests = test("RndRead", "read") + &test("RndWrite", "write");
    format!("name = \"anf\"\nbudget = \"9s\"\n{tests}")
}

#[test]
fn volume_has_curves_per_host_group_and_total() {
    let world = World::in_memory();
    world.write("fleet.toml", FLEET);
    world.write("short.toml", &short_suite());
    let target = world.path("data.{host}").display().to_string();
    let fleet = ["--hosts", "fleet.toml", "--target", &target, "--size", "1MiB", "--json"];
    // The full suite takes too long, so it is only planned.
    let planned = world.json(&[&["run", "anf"], &fleet[..], &["--dry-run"]].concat());
    let cases = planned["cases"].as_array().unwrap();
    assert_eq!((planned["suite"].as_str(), cases.len()), (Some("anf"), 6 * 11));
    assert!(cases.iter().all(|it| it["hosts"] == json!(["n1", "n2", "f1"])), "{planned}");

    let document = world.json(&[&["run", "./short.toml"], &fleet[..]].concat());
    for test in ["RndRead", "RndWrite"] {
        let of = |host: &str, metric: &str| -> Vec<&Value> {
            let found = results(&document, "storage", metric).into_iter();
            found.filter(|it| it["parameters"]["test"] == test && it["host"] == host).collect()
        };
        for (host, members) in [("all", 3), ("near", 2), ("far", 1)] {
            let rates = of(host, "rate");
            assert_eq!(rates.len(), 3, "the maximum and two points: {test} {host}");
            let hosts =
                |it: &&Value| it["parameters"]["hosts"].as_str().unwrap().split(',').count();
            assert!(rates.iter().all(|it| hosts(it) == members), "{rates:?}");
        }
        // Every I/O counts once in its group and once in the total.
        let done = |host: &str| {
            let found = of(host, "latency").into_iter();
            found.map(|it| it["parameters"]["io"].as_u64().unwrap()).sum::<u64>()
        };
        assert!(done("far") > 0);
        assert_eq!(done("near") + done("far"), done("all"), "{test}");
    }
    let page = world.assay(&["report", "--format", "html"]).succeeded().out;
    let both = |picture: &&str| {
        ["all", "near", "far"].iter().all(|host| picture.contains(&format!("{host}: ")))
    };
    let pictures = page.split("<figure").skip(1).filter_map(|it| it.split("</figure>").next());
    assert_eq!(pictures.filter(both).count(), 2, "a picture for each test with all its curves");
    let learn = world.assay(&["report", "--format", "learn"]).succeeded().out;
    for row in ["random reads, 8 KiB | near |", "random writes, 8 KiB | far |"] {
        assert!(learn.contains(row), "{row}: {learn}");
    }
}

/// Tests of the report: name and English description.
const REPORT_TESTS: [(&str, &str); 6] = [
    ("RndRead", "100 % random reads, 8 KiB"),
    ("RndWrite", "100 % random writes, 8 KiB"),
    ("SeqRead", "100 % sequential reads, 64 KiB"),
    ("SeqWrite", "100 % sequential writes, 64 KiB"),
    ("SeqMix", "50 % sequential reads, 50 % sequential writes, 64 KiB"),
    ("RndMix", "50 % random reads, 50 % random writes, 8 KiB"),
];

/// Returns the suite of the report with buffered I/O and two points a curve besides the maximum;
/// all points take four times as long.
fn report_suite() -> String {
    const SUITE: &str = include_str!("../../../../../suites/storage-volume.toml");
    let points = "curve = [10, 30, 50, 70, 85, 95]\nbend-points = 4";
    assert_eq!(SUITE.matches(points).count(), REPORT_TESTS.len());
    let name = |suite: &str| suite.replacen("\"storage-volume\"", "\"anf\"", 1);
    let quick = SUITE.replace(points, "buffered = true\ncurve = [30, 60]");
    name(&quick.replacen("budget = \"10m\"", "budget = \"14s\"", 1))
}

/// Checks that the report names the first and last host to finish in the case with the widest
/// spread. The spread is random; below a tenth of a second nothing is reported.
fn check_finishers(document: &Value, learn: &str) {
    let mut cases: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for result in document["results"].as_array().unwrap() {
        let done_s = result["parameters"]["host_done_after"].as_f64();
        if let Some(done_s) = done_s.filter(|_| result["host"] != "all") {
            let [case, host] = ["case", "host"].map(|key| result[key].as_str().unwrap());
            cases.entry(case).or_default().insert(host, done_s);
        }
    }
    assert!(!cases.is_empty());
    let ends = cases.iter().map(|(case, hosts)| {
        let by_end = |a: &(&&str, &f64), b: &(&&str, &f64)| a.1.total_cmp(b.1);
        let (first, last) = (hosts.iter().min_by(by_end), hosts.iter().max_by(by_end));
        let ((first, from_s), (last, to_s)) = (first.unwrap(), last.unwrap());
        // The benchmark's identifier is no word of the page.
        let test = case.split('/').nth(1).unwrap();
        (to_s - from_s, test, format!(": {first} was done after "), last)
    });
    let (apart_s, test, begins, last) = ends.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let farthest =
        learn.lines().filter(|it| it.contains("Farthest apart, ") && it.contains(test));
    let said = farthest.filter_map(|line| Some(line.split_once(&begins)?.1)).next();
    assert_eq!(said.is_some(), apart_s > 0.1, "{begins}\n{learn}");
    let is_last = said.is_none_or(|rest| rest.contains(&format!(", {last} after ")));
    assert!(is_last, "{last}\n{learn}");
}

#[test]
fn one_command_produces_volume_report() {
    let test = "one_command_produces_volume_report";
    let world = World::in_memory();
    let Some(hosts) = Namespaces::new(test, &["near1", "near2", "far1"]) else { return };
    for host in &hosts.0 {
        assert!(run(&format!("ip -n {host} link add eth0 type veth peer name eth1")));
        assert!(run(&format!("ip -n {host} link set eth0 up")));
    }
    let [one, two, far] = [0, 1, 2].map(|at| hosts.0[at].as_str());
    let fleet = format!(
        "via = \"ip netns exec {{host}}\"\nlabels = [\"near\", \"far\"]\n\
         [[host]]\nname = \"{one}\"\nlabels = [\"near\"]\n\
         [[host]]\nname = \"{two}\"\nlabels = [\"near\"]\n\
         [[host]]\nname = \"{far}\"\nlabels = [\"far\"]\n"
    );
    world.write("fleet.toml", &fleet);
    let target = world.path("data.{host}").display().to_string();
    world.write("anf.toml", &report_suite());
    let fleet = ["--hosts", "fleet.toml", "--target", &target, "--size", "2MiB"];
    let document = world.json(&[&["run", "./anf.toml"], &fleet[..], &["--json"]].concat());
    let learn = world.assay(&["report", "--format", "learn"]).succeeded().out;
    let page = world.assay(&["report", "--format", "html"]).succeeded().out;
    for (name, called) in REPORT_TESTS {
        for group in ["all", "near", "far"] {
            let row = format!("| {called} | {group} |");
            assert!(learn.contains(&row), "{row}\n{learn}");
            let rates = results(&document, "storage", "rate").into_iter();
            let of = |it: &&Value| it["parameters"]["test"] == name && it["host"] == group;
            assert!(rates.filter(of).count() >= 2, "the maximum and a point: {name} {group}");
        }
    }
    let curves =
        page.split("<figure").filter(|it| it.contains("near: ") && it.contains("far: "));
    assert!(curves.count() >= REPORT_TESTS.len(), "a picture for each test");
    // Each client's load, and when it finished.
    let own = results(&document, "storage", "rate");
    for host in &hosts.0 {
        let figures = ["host_cpu", "host_busiest_cpu", "host_network", "host_done_after"];
        let is_watched = |it: &&&Value| {
            let is_there = |figure: &&str| it["parameters"][*figure].is_number();
            it["host"] == host.as_str() && figures.iter().all(is_there)
        };
        assert!(own.iter().find(is_watched).is_some(), "{host}: {own:#?}");
        let row = format!("\n| {host} | storage rate, ");
        assert!(learn.contains(&row), "{row}\n{learn}");
    }
    check_finishers(&document, &learn);
    // A saturated host is named.
    let is_saturated = document.to_string().contains("host-saturated");
    assert_eq!(learn.contains("The limit may be a host's own"), is_saturated, "{learn}");
    for host in &hosts.0 {
        let curve = format!("**Response curve of {host}, RndRead**");
        assert!(learn.contains(&curve), "{curve}\n{learn}");
    }
}
