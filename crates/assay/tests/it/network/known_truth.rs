//! A link of known speed: two namespaces, a veth pair and a token bucket at each end.

use serde_json::Value;

use super::link::{FAR, LONG_QUEUE, Link, SHORT_QUEUE, run};
use crate::program::World;

/// 1448 bytes of payload in every 1514 of the link (MTU 1500, time stamps, Ethernet's head).
const TCP_GOODPUT_BIT_PER_S: f64 = 1e9 * 1448.0 / 1514.0;

#[test]
fn a_gigabit_bucket_yields_its_payload_in_both_directions() {
    let Some(link) = Link::new("tcp", "1gbit", LONG_QUEUE) else { return };
    let world = World::new();
    for mode in ["-t 3 -O 1", "-t 3 -O 1 -R", "-t 3 -O 1 -P 6", "-t 3 -O 1 -P 6 -R"] {
        let end = link.iperf3(&world, mode);
        let goodput = end["sum_received"]["bits_per_second"].as_f64().unwrap();
        let share = goodput / TCP_GOODPUT_BIT_PER_S;
        assert!(
            (share - 1.0).abs() <= 0.005,
            "{mode}: {goodput} bit/s is {share} of the truth"
        );
    }
}

#[test]
fn half_of_the_datagrams_fall_out_of_a_bucket_of_half_the_rate() {
    let Some(link) = Link::new("udp", "100mbit", SHORT_QUEUE) else { return };
    let world = World::new();
    // The link counts 42 bytes of heads: 100 Mbit/s of it carry 1400/1442 of payload.
    let end = link.iperf3(&world, "-u -t 6 -O 2 -b 194.17M -l 1400");
    let lost = end["sum"]["lost_packets"].as_f64().unwrap();
    let share = lost / end["sum"]["packets"].as_f64().unwrap();
    assert!((share - 0.5).abs() <= 0.01, "{share} lost: {end}");
}

#[test]
fn the_network_suite_tells_the_path_it_took() {
    let Some(link) = Link::new("path", "1gbit", LONG_QUEUE) else { return };
    let world = World::new();
    let server = ["iperf3", "-s", "-B", FAR, "--idle-timeout", "5"];
    let mut serving =
        link.within(true, &world, &server).stdout(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let asked = ["net", "throughput", FAR, "--for", "3s", "--json"];
    let output = link.within(false, &world, &asked).output().unwrap();
    serving.wait().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let parameters = &document["results"][0]["parameters"];
    assert_eq!(parameters["path"], "network", "{parameters}");
    assert_eq!(parameters["device"], "veth0", "{parameters}");
    assert_eq!(parameters["far_end"], "assay", "{parameters}");
}

const SWITCHED: &str = r#"
name = "switched"
budget = "5s"
[[measure]]
benchmark = "network.tcp"
streams = [1]
seconds = 1
target = "0.01%"
"#;

#[test]
fn a_switched_bucket_of_half_the_rate_is_half_as_good() {
    let Some(link) = Link::new("switched", "400mbit", LONG_QUEUE) else { return };
    let world = World::new();
    let suite = world.write("switched.toml", SWITCHED);
    let server = ["iperf3", "-s", "-B", FAR, "--idle-timeout", "10", "-i", "0"];
    let mut serving =
        link.within(true, &world, &server).stdout(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    // The program runs within the namespace, and its commands with it.
    let bucket =
        |rate: &str| format!("tc qdisc change dev veth0 root tbf rate {rate} {LONG_QUEUE}");
    let (whole, half) = (bucket("400mbit"), bucket("200mbit"));
    let asked = ["run", suite.to_str().unwrap(), "--to", FAR, "--label", "whole,half"];
    let asked = [&asked[..], &["--json", "--turns", "8", "--switch", &whole, &half]].concat();
    let output = link.within(false, &world, &asked).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let pairs = document["pairs"].as_array().unwrap();
    let goodput = pairs.iter().find(|pair| pair["a"]["metric"] == "goodput").unwrap();
    let ratio = goodput["ratio"].as_f64().unwrap();
    assert!((ratio - 0.5).abs() <= 0.005, "{goodput}");
    assert_eq!(goodput["verdict"], "worse", "{goodput}");
    let both = [&document["a"], &document["b"]].map(|side| {
        let runs = side["runs"].as_array().unwrap().iter();
        runs.map(|run| run.as_str().unwrap()).collect::<Vec<_>>().join(",")
    });
    world.assay(&["compare", &both[0], &both[1]]).failed_with(5);
    serving.wait().unwrap();
}

/// What a tool says that claims more than the link: 12.8 Gbit/s over a device that reports 10.
const BOASTING: &str =
    include_str!("../../../../assay-adapters/tests/golden/iperf3/3.12-tcp-2.out");

#[test]
fn a_tool_that_claims_more_than_the_link_is_flagged() {
    let Some(link) = Link::new("boasting", "1gbit", LONG_QUEUE) else { return };
    let world = World::new();
    let answer = world.write("answer.json", BOASTING);
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = -v ] && echo 'iperf 3.12 (made up)' || cat {}\n",
        answer.display()
    );
    let tool = world.write("iperf3", &script);
    assert!(run(&format!("chmod +x {}", tool.display())));
    let suite = "name = \"boast\"\nbudget = \"1s\"\n[[measure]]\nbenchmark = \"network.tcp\"\n\
                 streams = [2]\nseconds = 1\n";
    let suite = world.write("boast.toml", suite);
    let tool = format!("iperf3={}", tool.display());
    let asked = ["run", suite.to_str().unwrap(), "--to", FAR, "--by", "iperf3", "--json"];
    let asked = [&asked[..], &["--tool", &tool]].concat();
    let output = link.within(false, &world, &asked).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let all = document["results"].as_array().unwrap();
    let goodput = all.iter().find(|it| it["metric"] == "goodput").unwrap();
    assert_eq!(goodput["limit"]["value"], 1e10, "{goodput}");
    assert!(goodput["percent_of_limit"].as_f64().unwrap() > 100.0, "{goodput}");
    let ids: Vec<_> =
        goodput["warnings"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert!(ids.iter().any(|id| *id == "above-limit"), "{goodput}");
}
