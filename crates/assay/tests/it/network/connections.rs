//! `assay net connections`: counts of both kernels, and far ends and machines that cannot serve it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::link::{FAR, Link, run};
use super::{ServerProcess, free_port, is_installed};
use crate::program::World;

/// Starts a server at the far end and waits until it listens.
fn serve(link: &Link, world: &World) -> Child {
    let server = ["iperf3", "-s", "-B", FAR, "--idle-timeout", "20"];
    let mut serving =
        link.command_within(true, world, &server).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(serving.stdout.as_mut().unwrap());
    said.read_line(&mut String::new()).unwrap();
    serving
}

/// Returns a counter of the row `Tcp` of a namespace's `/proc/net/snmp`.
fn tcp_counter(namespace: &str, name: &str) -> u64 {
    let read = ["netns", "exec", namespace, "cat", "/proc/net/snmp"];
    let text =
        String::from_utf8(Command::new("ip").args(read).output().unwrap().stdout).unwrap();
    let mut rows = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let mut columns = || rows.next().unwrap().split(' ');
    let at = columns().position(|it| it == name).unwrap();
    columns().nth(at).unwrap().parse().unwrap()
}

fn find_result<'d>(document: &'d Value, metric: &str) -> &'d Value {
    let results = document["results"].as_array().unwrap();
    results.iter().find(|it| it["metric"] == metric).unwrap_or_else(|| panic!("{document:#}"))
}

/// The kernels of both ends count the connections that they open and accept; beside those of the
/// test there is a control connection of each stream and repetition. Nothing is reset, and the far
/// end closes first.
#[test]
fn kernels_count_the_reported_connections() {
    const STREAMS: u64 = 2;
    let Some(link) = Link::unlimited("connections") else { return };
    let world = World::new();
    let mut serving = serve(&link, &world);
    let count = || {
        [(&link.near, "ActiveOpens"), (&link.far, "PassiveOpens"), (&link.near, "EstabResets")]
            .map(|(namespace, counter)| tcp_counter(namespace, counter))
    };
    let before = count();
    // Without the port, qperf's is tried first.
    let asked =
        ["net", "connections", FAR, "-p", "5201", "--for", "2s", "--streams", "2", "--json"];
    let output = link.command_within(false, &world, &asked).output().unwrap();
    let [opened, accepted, reset] = std::array::from_fn(|at| count()[at] - before[at]);
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(output.status.success(), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rate = find_result(&document, "connection_rate");
    let reported = rate["parameters"]["messages"].as_u64().unwrap();
    let repetitions = rate["n"].as_u64().unwrap();
    assert!(reported > 10 && repetitions > 0, "{rate}");
    let expected = reported + STREAMS * repetitions;
    assert_eq!((opened, accepted, reset), (expected, expected, 0), "{rate}");
    let waiting = ["netns", "exec", &link.near, "ss", "-Htan", "state", "time-wait"];
    let waiting = Command::new("ip").args(waiting).output().unwrap().stdout;
    let waiting = String::from_utf8(waiting).unwrap();
    // Control connections are closed by either end.
    assert!(waiting.lines().count() as u64 <= STREAMS * repetitions, "{waiting}");
    // The median of a connection lies below that of the transaction, of which it is a part.
    let [connect, transaction] = ["connect_time", "transaction_time"]
        .map(|metric| find_result(&document, metric)["median"].as_f64().unwrap());
    assert!(0.0 < connect && connect < transaction, "{document:#}");
}

/// A single local port, and a queue that delays the last segment of each connection: the port is
/// still in use when the next connection begins.
#[test]
fn missing_ports_are_named() {
    let Some(link) = Link::unlimited("ports") else { return };
    let world = World::new();
    let mut serving = serve(&link, &world);
    for command in [
        format!(
            "ip netns exec {} sysctl -qw net.ipv4.ip_local_port_range=40000\t40000",
            link.near
        ),
        format!(
            "tc -n {} qdisc add dev veth0 root tbf rate 64kbit burst 1600 limit 9000",
            link.near
        ),
    ] {
        assert!(run(&command), "{command}");
    }
    let asked = ["net", "connections", FAR, "--for", "1s"];
    let output = link.command_within(false, &world, &asked).output().unwrap();
    serving.kill().unwrap();
    serving.wait().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("no local port is free for a connection to 198.18.77.2"),
        "{errors}"
    );
    assert!(errors.contains("net.ipv4.ip_local_port_range"), "{errors}");
}

#[test]
fn qperf_does_not_serve_it() {
    if !is_installed("qperf", "qperf_does_not_serve_it") {
        return;
    }
    let port = free_port();
    let mut command = Command::new("qperf");
    command.args(["-lp", &port.to_string()]);
    let _server = ServerProcess::start(command, port);
    let port = port.to_string();
    let asked = ["net", "connections", "127.0.0.1", "--port", &port, "--for", "1s"];
    let errors = World::new().assay(&asked).failed_with(4).err;
    assert!(errors.contains("does not serve tests of connections"), "{errors}");
    assert!(errors.contains("assay iperf3 -s"), "{errors}");
}

#[test]
fn impossible_tests_are_refused_before_the_run() {
    let world = World::new();
    for (asked, expected) in [
        (&["--streams", "0"][..], "the number of streams"),
        (&["--streams", "17"], "16"),
        (&["--message-size", "0B"], "the size of a message"),
        (&["--message-size", "5MiB"], "4 MiB"),
        (&["--udp"], "--udp"),
    ] {
        let words = [&["net", "connections", "--dry-run"], asked].concat();
        let outcome = world.assay(&words);
        assert!(!outcome.err.is_empty() && outcome.err.contains(expected), "{}", outcome.err);
    }
}
