//! The official network tools as measurers, next to assay.

use serde_json::Value;

use super::{ServerProcess, free_port, is_installed};
use crate::program::{World, results};

const SUITE: &str = r#"
name = "beside"
budget = "12s"
[[measure]]
benchmark = "network.tcp"
streams = [1, 2]
direction = ["send", "both"]
seconds = 1
share = 4
[[measure]]
benchmark = "network.udp"
rate = "20Mbit/s"
seconds = 1
[[measure]]
benchmark = "network.tcp"
measures = "latency"
[[measure]]
benchmark = "network.icmp"
"#;

/// Returns the number of results of `metric` that `tool` measured.
fn count(document: &Value, benchmark: &str, metric: &str, tool: &str) -> usize {
    let all = results(document, benchmark, metric);
    all.iter().filter(|result| result["tool"]["name"] == tool).count()
}

fn are_installed(test: &str) -> bool {
    ["iperf3", "qperf", "ping"].iter().all(|program| is_installed(program, test))
}

#[test]
fn official_tools_measure_over_loopback() {
    if !are_installed("official_tools_measure_over_loopback") {
        return;
    }
    let world = World::new();
    world.write("beside.toml", SUITE);
    let document = world.json(&["run", "beside.toml", "--by", "iperf3,qperf,ping", "--json"]);
    for (benchmark, metric, tool, expected) in [
        ("network.tcp", "goodput", "iperf3", 4),
        ("network.tcp", "goodput", "qperf", 1),
        ("network.tcp", "half_round_trip", "qperf", 1),
        ("network.tcp", "round_trip", "qperf", 0),
        ("network.tcp", "cpu_per_byte", "iperf3", 8),
        ("network.udp", "loss", "iperf3", 1),
        ("network.udp", "jitter", "iperf3", 1),
        ("network.icmp", "round_trip", "ping", 1),
        ("network.icmp", "loss", "ping", 1),
    ] {
        let found = count(&document, benchmark, metric, tool);
        assert_eq!(found, expected, "{benchmark} {metric} by {tool}: {document}");
    }
    for result in document["results"].as_array().unwrap() {
        assert_eq!(result["parameters"]["path"], "loopback", "{result}");
        assert!(result["tool"]["version"].is_string(), "{result}");
    }
}

#[test]
fn sockperf_measures_latency_beside_assay() {
    if !is_installed("sockperf", "sockperf_measures_latency_beside_assay") {
        return;
    }
    let world = World::new();
    for (protocol, benchmark) in [(&[][..], "network.tcp"), (&["--udp"], "network.udp")] {
        let words = ["net", "latency", "--message-size", "64B", "--for", "1s"];
        let by = ["--by", "assay,sockperf", "--budget", "30s", "--json"];
        let document = world.json(&[&words[..4], protocol, &by].concat());
        for tool in ["assay", "sockperf"] {
            let found = count(&document, benchmark, "half_round_trip", tool);
            assert_eq!(found, 1, "{benchmark} by {tool}: {document}");
        }
    }
    // Its messages have at least 14 bytes.
    let outcome = world.assay(&["net", "latency", "--by", "sockperf"]).failed_with(2);
    assert!(outcome.err.contains("sockperf"), "{outcome:?}");
}

#[test]
fn report_shows_tool_and_assay_side_by_side() {
    if !is_installed("iperf3", "report_shows_tool_and_assay_side_by_side") {
        return;
    }
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let suite = format!(
        "name = \"side\"\nbudget = \"6s\"\n[[measure]]\nbenchmark = \"network.tcp\"\n\
         seconds = 1\nstreams = [2]\nrate = \"100Mbit/s\"\nto = \"127.0.0.1\"\nport = {port}\n"
    );
    world.write("side.toml", &suite);
    let outcome =
        world.assay(&["run", "side.toml", "--full", "--by", "assay,iperf3"]).succeeded();
    assert!(outcome.out.contains("Measurers side by side"), "{}", outcome.out);
    let document = world.json(&["show", "latest", "--json"]);
    let goodput = results(&document, "network.tcp", "goodput");
    assert_eq!(goodput.len(), 2, "{document}");
    assert!(goodput.iter().all(|it| it["median"].as_f64().unwrap() > 0.0), "{document}");
}

#[test]
fn failed_tool_reports_its_own_error() {
    if !is_installed("iperf3", "failed_tool_reports_its_own_error") {
        return;
    }
    let world = World::new();
    let suite = format!(
        "name = \"nobody\"\nbudget = \"4s\"\n[[measure]]\nbenchmark = \"network.tcp\"\n\
         seconds = 1\nto = \"127.0.0.1\"\nport = {}\n",
        free_port()
    );
    world.write("nobody.toml", &suite);
    let outcome = world.assay(&["run", "nobody.toml", "--by", "iperf3"]).failed_with(4);
    assert!(outcome.err.contains("Connection refused"), "{outcome:?}");
}
