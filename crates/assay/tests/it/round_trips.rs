//! Stored runs printed by `show --as TOOL` and imported again have the same conditions and figures.
//! docs/import.md lists the differences, which are those of this table.

use serde_json::Value;

use crate::network::{ServerProcess, free_port};
use crate::program::World;

/// Parameters of imported results that describe the file, not the measurement.
const PROVENANCE: [&str; 8] = [
    "source_file",
    "source_format",
    "source_line",
    "source_time",
    "statistic",
    "in_flight",
    "ios",
    "tasks",
];
/// Figures that a tool's text has by another rule: its shape, and the metric.
const OTHER_FIGURES: [(&str, &str); 7] = [
    // The tool counts the time of its own processes; the run has that of the machine.
    ("iperf3", "cpu_per_byte"),
    // Text has the larger jitter of two directions, and the run their mean.
    ("iperf3", "jitter"),
    // IOR's bandwidth includes opening and closing, its latency the wait for the slowest rank.
    ("ior", "bandwidth"),
    ("ior", "latency"),
    // The run's median is that of blocks, and the text's that of all messages.
    ("qperf", "round_trip"),
    // Text has milliseconds with three decimals.
    ("ping", "round_trip"),
    ("vdbench", "latency"),
];
/// Figures that only a tool's text has: the run has the load of the CPUs instead.
const NEW_FIGURES: [(&str, &str); 1] = [("qperf", "cpu_per_byte")];
/// Conditions that a tool's text has by another rule: its shape, and the parameter.
const OTHER_CONDITIONS: [(&str, &str); 4] = [
    // The run names the size of a message as that of its I/O.
    ("qperf", "block_bytes"),
    // A run of several ranks names the file of each.
    ("ior", "target"),
    // The share of the figures replaces the requested one.
    ("vdbench", "read_share"),
    ("fio", "read_share"),
];
/// Digits of texts: three or four.
const TOLERANCE: f64 = 0.01;
/// Half of the last digit of OSU's tables, which have µs with two decimals, in seconds.
const OSU_TOLERANCE_S: f64 = 5.001e-9;

/// Runs a command, prints its run in each shape and imports it.
fn check(world: &World, words: &[&str], shapes: &[&str]) {
    world.assay(words).succeeded();
    check_latest(world, shapes, &format!("{words:?}"));
}

/// Prints the latest run in each shape, imports the text, and compares both runs.
pub(crate) fn check_latest(world: &World, shapes: &[&str], context: &str) {
    let own = world.json(&["show", "latest", "--json"]);
    let id = own["run"]["id"].as_str().unwrap();
    for shape in shapes {
        let shown = world.assay(&["show", id, "--as", shape]).succeeded().out;
        world.write("shown", &shown);
        let imported = world.json(&["import", "--json", "shown"]);
        let again = imported["imported"][0]["runs"][0].as_str().unwrap();
        let again = world.json(&["show", again, "--json"]);
        compare(&own, &again, shape, &format!("{context} --as {shape}"));
        let imported = again["run"]["id"].as_str().unwrap();
        check_pairs(world, [id, imported], shape);
        let file = world.assay(&["show", imported, "--as", "imported"]).succeeded().out;
        assert_eq!(file, shown, "{context} --as imported");
        world.assay(&["rm", imported]).succeeded();
    }
}

/// Checks that `compare` pairs every imported result with one of the run.
fn check_pairs(world: &World, [own, imported]: [&str; 2], shape: &str) {
    let compared = world.assay(&["compare", own, imported, "--json"]).out;
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert!(!compared["pairs"].as_array().unwrap().is_empty(), "{shape}: {compared}");
    let is_excused = |it: &&Value| {
        let is_new = is_listed(&NEW_FIGURES, shape, it["metric"].as_str().unwrap());
        let has_other = |name: &String| is_listed(&OTHER_CONDITIONS, shape, name);
        is_new || it["identity"].as_object().unwrap().keys().any(has_other)
    };
    let unmatched = compared["unmatched"].as_array().unwrap().iter();
    let alone: Vec<&Value> =
        unmatched.filter(|it| it["only"] == "b").filter(|it| !is_excused(it)).collect();
    assert!(alone.is_empty(), "{shape}: {alone:#?}");
}

fn list_results(document: &Value) -> Vec<&Value> {
    document["results"].as_array().unwrap().iter().collect()
}

fn is_listed(list: &[(&str, &str)], shape: &str, name: &str) -> bool {
    list.iter().any(|(prefix, listed)| shape.starts_with(prefix) && *listed == name)
}

/// Checks that every imported result belongs to results of the run with the same conditions, and
/// that its mean or median is theirs.
fn compare(own: &Value, again: &Value, shape: &str, context: &str) {
    let imported = list_results(again);
    assert!(!imported.is_empty(), "{context}: {again}");
    for result in imported {
        let metric = result["metric"].as_str().unwrap();
        if is_listed(&NEW_FIGURES, shape, metric) {
            continue;
        }
        let has_conditions = |other: &&&Value| {
            let parameters = result["parameters"].as_object().unwrap();
            parameters.iter().all(|(name, value)| {
                PROVENANCE.contains(&name.as_str())
                    || is_listed(&OTHER_CONDITIONS, shape, name)
                    || other["parameters"][name] == *value
            })
        };
        let known = list_results(own);
        let known: Vec<&&Value> = known
            .iter()
            .filter(|it| ["benchmark", "metric"].iter().all(|key| it[key] == result[key]))
            .filter(has_conditions)
            .collect();
        assert!(!known.is_empty(), "{context}: no result of the run is {result}");
        if is_listed(&OTHER_FIGURES, shape, metric) {
            continue;
        }
        assert!(
            has_figure(&known, result, shape),
            "{context}: {known:?} have not the figure of {result}"
        );
    }
}

/// Whether the mean or median of a result is that of a known one, or the mean of all known ones,
/// which are repetitions.
fn has_figure(known: &[&&Value], result: &Value, shape: &str) -> bool {
    let figures = |it: &Value| ["mean", "median"].map(|name| it[name].as_f64());
    let means: Vec<f64> = known.iter().filter_map(|it| it["mean"].as_f64()).collect();
    let all = means.iter().sum::<f64>() / means.len() as f64;
    let expected = known.iter().flat_map(|it| figures(it)).flatten().chain([all]);
    let found: Vec<f64> = figures(result).into_iter().flatten().collect();
    let is_osu_time = shape == "osu" && result["unit"] == "s";
    let digit = if is_osu_time { OSU_TOLERANCE_S } else { 0.0 };
    let is_near = |a: f64, b: f64| (a - b).abs() <= digit.max(TOLERANCE * a.abs().max(b.abs()));
    expected.into_iter().any(|value| found.iter().any(|it| is_near(*it, value)))
}

#[test]
fn fio_runs_import_as_themselves() {
    let timed = "fio --name=j --ioengine=null --size=64g --runtime=1 --time_based --bs=4k";
    for (options, shapes) in [
        ("--rw=randread", &["fio-json", "fio-json+", "fio-normal", "fio-terse"][..]),
        ("--rw=write", &["fio-json", "fio-json+", "fio-normal", "fio-terse"]),
        ("--rw=randrw --rwmixread=70", &["fio-json", "fio-json+"]),
        ("--rw=randread --numjobs=2 --group_reporting", &["fio-json", "fio-json+"]),
    ] {
        let line = format!("{timed} {options}");
        check(&World::new(), &line.split_whitespace().collect::<Vec<_>>(), shapes);
    }
}

#[test]
fn ior_runs_import_as_themselves() {
    let world = World::new();
    for line in
        ["ior -N 2 -b 1m -t 16k -i 2 -w -r -o one", "ior -N 2 -F -z -b 256k -t 16k -w -o two"]
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        check(&world, &words, &["ior", "ior-json"]);
    }
}

#[test]
fn mdtest_runs_import_as_themselves() {
    let world = World::new();
    for line in
        ["mdtest --ranks 2 -n 50 -N 1 -d one", "mdtest --ranks 2 -n 50 -F -u -i 3 -v -d two"]
    {
        check(&world, &line.split_whitespace().collect::<Vec<_>>(), &["mdtest"]);
    }
}

#[test]
fn vdbench_runs_import_as_themselves() {
    let world = World::new();
    let file = world.path("file");
    world.write(
        "parameters",
        &format!(
            "sd=sd1,lun={},size=4m\nwd=wd1,sd=sd1,rdpct=100,xfersize=4k\n\
             rd=rd1,wd=wd1,iorate=500,elapsed=2,interval=1,warmup=1,forthreads=(1,2)\n",
            file.display()
        ),
    );
    check(&world, &["vdbench", "-f", "parameters"], &["vdbench"]);
}

#[test]
fn network_runs_import_as_themselves() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    for options in [
        "-t 1 -b 20M -P 2",
        "-t 2 -b 20M -R -i 0.5 -V",
        "-t 1 -u -b 5M",
        "-t 1 -b 20M --bidir",
        "-t 2 -b 5M -P 2 -i 1 -f M",
    ] {
        let client = ["iperf3", "-c", "127.0.0.1", "-p", &port].into_iter();
        let words: Vec<&str> = client.chain(options.split_whitespace()).collect();
        check(&world, &words, &["iperf3", "iperf3-json"]);
    }
    let words = ["qperf", "127.0.0.1", "-t", "1", "--listen_port", &port, "tcp_lat", "udp_bw"];
    check(&world, &[&words[..], &["-v", "tcp_bw"]].concat(), &["qperf"]);
}

#[test]
fn ping_runs_import_as_themselves() {
    let world = World::new();
    let words = ["ping", "127.0.0.1", "-c", "100", "-i", "0"];
    if world.assay(&[&words[..], &["--no-store"]].concat()).code == 0 {
        check(&world, &words, &["ping"]);
    } else {
        eprintln!("SKIPPED ping_runs_import_as_themselves: no permission for ICMP");
    }
}
