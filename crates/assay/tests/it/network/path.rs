//! Reports about a link that is not loopback: its path, and tools that claim more than the link
//! carries.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::link::{FAR, LONG_QUEUE, Link, run};
use crate::processes::wait_until_listening;
use crate::program::World;

#[test]
fn throughput_result_names_its_path() {
    let Some(link) = Link::new("path", "1gbit", LONG_QUEUE) else { return };
    let world = World::new();
    let server = ["iperf3", "-s", "-B", FAR, "--idle-timeout", "5"];
    let mut serving = link
        .command_within(true, &world, &server)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until_listening(&serving.id().to_string(), 5201);
    let asked = ["net", "throughput", FAR, "--for", "3s", "--json"];
    let output = link.command_within(false, &world, &asked).output().unwrap();
    serving.wait().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let parameters = &document["results"][0]["parameters"];
    assert_eq!(parameters["path"], "network", "{parameters}");
    assert_eq!(parameters["device"], "veth0", "{parameters}");
    assert_eq!(parameters["far_end"], "assay", "{parameters}");
}

/// A link-local address needs an interface, for every connection of a test.
#[test]
fn link_local_address_needs_interface() {
    let Some(link) = Link::unlimited("scoped") else { return };
    let world = World::new();
    let address = link.link_local_address();
    let server = ["iperf3", "-s", "-B", "::", "--idle-timeout", "60"];
    let mut serving =
        link.command_within(true, &world, &server).stdout(Stdio::piped()).spawn().unwrap();
    // The server listens before it prints this line.
    let mut said = BufReader::new(serving.stdout.take().unwrap());
    said.read_line(&mut String::new()).unwrap();
    let scoped = format!("{address}%veth0");
    for asked in [
        &["net", "latency", &scoped, "--for", "1s"][..],
        &["net", "latency", &scoped, "--for", "1s", "--udp"],
        &["net", "throughput", &scoped, "--for", "1s"],
        &["qperf", &scoped, "-t", "1", "--listen_port", "5201", "tcp_bw"],
        &["ping", &scoped, "-c", "1"],
    ] {
        let output = link.command_within(false, &world, asked).output().unwrap();
        assert!(output.status.success(), "{asked:?}: {output:?}");
    }
    for asked in [
        &["net", "latency", &address, "--for", "1s"][..],
        &["net", "throughput", &address, "--for", "1s"],
        &["iperf3", "-c", &address],
        &["qperf", &address, "tcp_lat"],
        &["ping", &address],
    ] {
        let output = link.command_within(false, &world, asked).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let is_told =
            said.contains("names no interface") && said.contains(&format!("`{scoped}`"));
        assert!(is_told, "{asked:?}: {said}");
    }
    serving.kill().unwrap();
    serving.wait().unwrap();
}

/// Output of a tool that claims more than the link: 12.8 Gbit/s over a device that reports 10.
const EXCESSIVE_RESULT: &str =
    include_str!("../../../../assay-adapters/tests/golden/iperf3/3.12-tcp-2.out");

#[test]
fn flags_tool_result_above_link_rate() {
    let Some(link) = Link::new("boasting", "1gbit", LONG_QUEUE) else { return };
    let world = World::new();
    let answer = world.write("answer.json", EXCESSIVE_RESULT);
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
    let output = link.command_on_10g_device(&world, &asked).output().unwrap();
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
