//! Known truths: links and devices of known speed, each measured once by assay and once by the real
//! tool.
//!
//! They need a quiet machine and skip themselves unless `ASSAY_TRUTH` is set. `cargo xtask truth`
//! runs every try alone, repeats it until a sequential test has decided, and parses the output of
//! [`print_try`].

#![expect(clippy::print_stdout, reason = "cargo xtask truth reads it")]

use std::process::Command;

use serde_json::Value;

use crate::network::link::{DEEP_BUCKET, FAR, LONG_QUEUE, Link, LinkProgram, SHORT_QUEUE, run};
use crate::network::{ServerProcess, free_port, is_installed};
use crate::processes::wait_until_listening;
use crate::program::World;

pub(crate) mod fleet;
pub(crate) mod rounds;

/// Returns whether this try is requested and its peer is installed; otherwise prints that the test
/// is skipped.
fn is_requested(test: &str) -> bool {
    let asked = std::env::var_os("ASSAY_TRUTH").is_some();
    if !asked {
        eprintln!(
            "SKIPPED {test}: a known truth needs a quiet machine and `cargo xtask truth`"
        );
    }
    asked && is_installed("iperf3", test)
}

/// Prints assay's value and the real tool's value, for a truth with this relative tolerance.
fn print_try(
    unit: &str,
    (truth, tolerance): (f64, f64),
    measured: f64,
    peer: (&str, Option<f64>),
) {
    let (name, value) = (peer.0, peer.1.map_or("-".to_owned(), |value| value.to_string()));
    println!("TRY {unit} {truth} {tolerance} {measured} {name} {value}");
}

/// Measures with assay, and then with iperf3.
fn measure_with_both(
    measure: impl Fn(LinkProgram) -> f64,
) -> (f64, (&'static str, Option<f64>)) {
    (measure(LinkProgram::Assay), ("iperf3", Some(measure(LinkProgram::Iperf3))))
}

/// 1448 bytes of payload in every 1514 of the link (MTU 1500, TCP timestamps, Ethernet header).
const TCP_GOODPUT_BIT_PER_S: f64 = 1e9 * 1448.0 / 1514.0;

/// Measures the goodput through a token bucket of one gigabit per second.
fn check_gigabit(test: &str, mode: &str) {
    if !is_requested(test) {
        return;
    }
    let Some(link) = Link::new("tcp", "1gbit", DEEP_BUCKET) else { return };
    let world = World::new();
    let goodput = |who| {
        let end = link.iperf3(&world, who, mode);
        end["sum_received"]["bits_per_second"].as_f64().unwrap()
    };
    let (measured, peer) = measure_with_both(goodput);
    print_try("bit/s", (TCP_GOODPUT_BIT_PER_S, 0.005), measured, peer);
}

#[test]
fn gigabit_bucket_yields_its_payload() {
    check_gigabit("gigabit_bucket_yields_its_payload", "-t 1 -O 1");
}

#[test]
fn gigabit_bucket_yields_its_payload_in_reverse() {
    check_gigabit("gigabit_bucket_yields_its_payload_in_reverse", "-t 1 -O 1 -R");
}

#[test]
fn gigabit_bucket_yields_its_payload_to_six_streams() {
    check_gigabit("gigabit_bucket_yields_its_payload_to_six_streams", "-t 1 -O 1 -P 6");
}

#[test]
fn gigabit_bucket_yields_its_payload_to_six_streams_in_reverse() {
    check_gigabit(
        "gigabit_bucket_yields_its_payload_to_six_streams_in_reverse",
        "-t 1 -O 1 -P 6 -R",
    );
}

#[test]
fn bucket_of_half_the_rate_loses_half_the_datagrams() {
    if !is_requested("bucket_of_half_the_rate_loses_half_the_datagrams") {
        return;
    }
    let Some(link) = Link::new("udp", "100mbit", SHORT_QUEUE) else { return };
    let world = World::new();
    // The link counts 42 bytes of headers: 100 Mbit/s of it carry 1400/1442 of payload.
    let lost = |who| {
        // iperf3 3.12 also counts losses of the omitted time.
        let start = if matches!(who, LinkProgram::Assay) { "-t 2 -O 1" } else { "-t 3" };
        let mode = format!("-u -b 194.17M -l 1400 {start}");
        let end = link.iperf3(&world, who, &mode);
        let number = |name: &str| end["sum"][name].as_f64().unwrap();
        number("lost_packets") / number("packets")
    };
    let (measured, peer) = measure_with_both(lost);
    print_try("ratio", (0.5, 0.02), measured, peer);
}

#[test]
fn requested_rate_is_kept() {
    if !is_requested("requested_rate_is_kept") {
        return;
    }
    let world = World::new();
    let goodput = |who| {
        let port = free_port();
        let port_text = port.to_string();
        let words = ["-c", "127.0.0.1", "-p", &port_text, "-t", "1", "-b", "100M", "-J"];
        let (serving, output) = match who {
            LinkProgram::Assay => {
                let serving = ServerProcess::assay(&world, port);
                (serving, world.command(&[&["iperf3"], &words[..]].concat()).output())
            }
            LinkProgram::Iperf3 => {
                let mut server = Command::new("iperf3");
                server.args(["-s", "-p", &port_text]);
                let serving = ServerProcess::start(server, port);
                (serving, Command::new("iperf3").args(words).output())
            }
        };
        drop(serving);
        let document: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
        document["end"]["sum_received"]["bits_per_second"].as_f64().unwrap()
    };
    let (measured, peer) = measure_with_both(goodput);
    print_try("bit/s", (1e8, 0.01), measured, peer);
}

const SWITCHED_SUITE: &str = r#"
name = "switched"
budget = "5s"
[[measure]]
benchmark = "network.tcp"
streams = [1]
seconds = 1
interval = "0.01%"
"#;

#[test]
fn switching_to_half_the_rate_halves_goodput() {
    if !is_requested("switching_to_half_the_rate_halves_goodput") {
        return;
    }
    let Some(link) = Link::new("switched", "400mbit", LONG_QUEUE) else { return };
    let world = World::new();
    // The program and its commands run within the namespace. The burst and the queue are halved as
    // well: with the same burst for both rates, the ratio would be 0.503 within a second.
    let [whole, half] =
        ["rate 400mbit burst 256kb limit 8mb", "rate 200mbit burst 128kb limit 4mb"]
            .map(|bucket| format!("tc qdisc change dev veth0 root tbf {bucket}"));
    let ratio = switched_ratio(&link, &world, &whole, &half);
    let [of_half, of_whole] = [&half, &whole].map(|command| {
        assert!(run(&format!("ip netns exec {} {command}", link.near)));
        let end = link.iperf3(&world, LinkProgram::Iperf3, "-t 1 -O 1");
        end["sum_received"]["bits_per_second"].as_f64().unwrap()
    });
    print_try("ratio", (0.5, 0.01), ratio, ("iperf3", Some(of_half / of_whole)));
}

/// Measures the ratio of two conditions between which assay itself switches.
fn switched_ratio(link: &Link, world: &World, whole: &str, half: &str) -> f64 {
    let suite = world.write("switched.toml", SWITCHED_SUITE);
    let server = ["iperf3", "-s", "-B", FAR, "--idle-timeout", "10", "-i", "0"];
    let mut serving = link
        .command_within(true, world, &server)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until_listening(&serving.id().to_string(), 5201);
    let asked = ["run", suite.to_str().unwrap(), "--to", FAR, "--label", "whole,half"];
    let asked = [&asked[..], &["--json", "--turns", "8", "--switch", whole, half]].concat();
    let output = link.command_within(false, world, &asked).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let pairs = document["pairs"].as_array().unwrap();
    let goodput = pairs.iter().find(|pair| pair["a"]["metric"] == "goodput").unwrap();
    let ratio = goodput["ratio"].as_f64().unwrap();
    assert_eq!(goodput["verdict"], "worse", "{goodput}");
    let both = [&document["a"], &document["b"]].map(|side| {
        let runs = side["runs"].as_array().unwrap().iter();
        runs.map(|run| run.as_str().unwrap()).collect::<Vec<_>>().join(",")
    });
    world.assay(&["compare", &both[0], &both[1]]).failed_with(5);
    drop(serving.kill());
    serving.wait().unwrap();
    ratio
}
