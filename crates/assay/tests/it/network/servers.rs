//! Servers: consecutive clients, a concurrent client, idle timeouts, and the stored results.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::Value;

use super::{ServerProcess, free_port, is_installed};
use crate::processes::{END_LIMIT, is_reached_within, wait_for_connections};
use crate::program::{World, results};

#[test]
fn consecutive_clients_leak_nothing() {
    let world = World::new();
    let port = free_port();
    let serving = ServerProcess::assay(&world, port);
    let port_text = port.to_string();
    let descriptors = || {
        let folder = format!("/proc/{}/fd", serving.0.id());
        std::fs::read_dir(folder).unwrap().count()
    };
    // Anonymous memory only: the pages of a debug build are not the server's memory.
    let kibibytes = || -> u64 {
        let path = format!("/proc/{}/status", serving.0.id());
        let status = std::fs::read_to_string(path).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        resident.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let clients = |count: u64| {
        let asked = ["iperf3", "-c", "127.0.0.1", "-p", &port_text, "-n", "100K", "-i", "0"];
        let asked = [&asked[..], &["--no-store"]].concat();
        (0..count).for_each(|_| drop(world.assay(&asked).succeeded()));
        count
    };
    let before = descriptors();
    // Memory allocated for the first clients is reused for later ones.
    clients(10);
    let needed = kibibytes();
    let more = clients(40);
    // The last connection may take a moment to close.
    let are_closed = is_reached_within(END_LIMIT, || descriptors() <= before + 1);
    assert!(are_closed, "{before} descriptors became {}", descriptors());
    let grown = kibibytes().saturating_sub(needed);
    assert!(grown < 50 * more, "{more} clients left {grown} KiB in an idle server");
    assert!(needed < 10 * 1024, "{needed} KiB are resident in an idle server");
}

#[test]
fn bidirectional_test_with_32_streams() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    let arguments = [
        "iperf3",
        "-c",
        "127.0.0.1",
        "-p",
        &port,
        "-t",
        "1",
        "-P",
        "32",
        "--bidir",
        "-b",
        "1M",
        "-J",
    ];
    let value = world.json(&arguments);
    assert_eq!(value["end"]["streams"].as_array().unwrap().len(), 64);
}

#[test]
fn second_concurrent_client_is_told_busy() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let number = port;
    let port = port.to_string();
    let first = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "3", "-b", "1M"];
    let mut running = world.command(&first).stdout(Stdio::null()).spawn().unwrap();
    // Both ends of the control connection and of the stream.
    wait_for_connections(number, 4);
    let second = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "1"];
    let outcome = world.assay(&second).failed_with(4);
    assert!(outcome.err.contains("busy"), "{outcome:?}");
    let ping_pong = ["qperf", "127.0.0.1", "tcp_lat", "--listen-port", &port, "-t", "1"];
    world.assay(&ping_pong).succeeded();
    assert!(running.wait().unwrap().success());
}

#[test]
fn server_ends_after_idle_timeout_or_one_client() {
    let world = World::new();
    let port = free_port().to_string();
    world.assay(&["iperf3", "-s", "-p", &port, "--idle-timeout", "1"]).succeeded();
    world.assay(&["qperf", "--listen-port", &port, "--idle-timeout", "1"]).succeeded();
    let port = free_port();
    let port_text = port.to_string();
    let once = world.command(&["iperf3", "-s", "-p", &port_text, "-1"]);
    let mut serving = ServerProcess::start(once, port);
    let client = ["iperf3", "-c", "127.0.0.1", "-p", &port_text, "-t", "1", "-b", "1M"];
    world.assay(&client).succeeded();
    assert!(serving.0.wait().unwrap().success());
}

#[test]
fn network_results_are_stored_and_reported() {
    let world = World::new();
    let document =
        world.json(&["net", "throughput", "--streams", "2", "--for", "3s", "--json"]);
    for metric in ["goodput", "send_rate", "cpu_per_byte", "cpu_load"] {
        let found = results(&document, "network.tcp", metric);
        assert!(!found.is_empty(), "{metric}: {document}");
        assert_eq!(found[0]["parameters"]["streams"], 2);
        assert_eq!(found[0]["parameters"]["path"], "loopback");
        assert_eq!(found[0]["parameters"]["copy"], true);
    }
    let ends: Vec<_> = results(&document, "network.tcp", "cpu_per_byte")
        .iter()
        .map(|result| result["parameters"]["end"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ends, ["local", "remote"]);
    let page = world.assay(&["report", "latest", "--format", "html"]).succeeded();
    assert!(page.out.contains("<svg class=\"plot\""), "a page with plots");
    let document = world.json(&["net", "latency", "-u", "--for", "3s", "--json"]);
    let found = results(&document, "network.udp", "round_trip");
    assert_eq!(found[0]["unit"], "s");
    assert!(found[0]["n"].as_u64().unwrap() > 100);
    // Both rows use the same estimator: the median and the interval of half a round trip are half
    // of the whole.
    let half = results(&document, "network.udp", "half_round_trip");
    assert_eq!(half.len(), 1);
    for part in ["/median", "/ci/0", "/ci/1"] {
        let [whole, half] = [found[0], half[0]].map(|it| it.pointer(part).unwrap().as_f64());
        let (whole, half) = (whole.unwrap(), half.unwrap());
        assert!((2.0 * half / whole - 1.0).abs() < 1e-9, "{part}: {document}");
    }
    let asked = ["net", "request-response", "--rate", "200", "--for", "2s", "--json"];
    let document = world.json(&asked);
    let found = results(&document, "network.tcp", "round_trip");
    assert_eq!(found[0]["parameters"]["messages_per_s"], 200.0);
    // The pauses between messages are not part of a round trip: no mean exceeds the maximum.
    let maximum_s = found[0]["max"].as_f64().unwrap();
    let half = results(&document, "network.tcp", "half_round_trip");
    assert!(2.0 * half[0]["median"].as_f64().unwrap() <= maximum_s, "{document}");
}

/// An unreachable rate is reported as missed, and the far end does not end before the near end has
/// finished.
#[test]
fn unreachable_rate_is_reported_as_missed() {
    let world = World::new();
    for (options, benchmark) in [(&[][..], "network.tcp"), (&["--udp"], "network.udp")] {
        let asked = ["net", "request-response", "--rate", "1000000", "--for", "1s", "--json"];
        let document = world.json(&[&asked[..], options].concat());
        let found = results(&document, benchmark, "round_trip");
        let warnings = found[0]["warnings"].as_array().unwrap();
        let missed = warnings.iter().find(|it| it["id"] == "message-rate-missed");
        let said = missed.unwrap_or_else(|| panic!("{document:#}"))["text"].as_str().unwrap();
        assert!(said.contains("1000000 messages per second"), "{said}");
    }
}

/// Connections differ from each other, so that each is its own preparation with its own warm-up.
#[test]
fn every_connection_is_its_own_preparation() {
    let outcome = World::new().assay(&["net", "latency", "--for", "9s", "--events"]);
    let mut connections = BTreeMap::<u64, usize>::new();
    for line in outcome.succeeded().out.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["event"] == "sample" && event["series"] == 0 {
            *connections.entry(event["preparation"].as_u64().unwrap()).or_default() += 1;
        }
    }
    // Each connection keeps 300 of its round trips one by one.
    assert!(
        connections.len() > 1 && connections.values().all(|it| *it <= 300),
        "{connections:?}"
    );
}

#[test]
fn plan_names_the_far_end() {
    let world = World::new();
    let plan = world.json(&["run", "network", "--to", "192.0.2.1", "--dry-run", "--json"]);
    let cases = plan["cases"].as_array().unwrap();
    assert!(cases.len() >= 10, "{plan}");
    assert!(cases.iter().all(|case| case["workload"]["to"] == "192.0.2.1"), "{plan}");
}

#[test]
fn ping_reports_distribution_or_missing_permission() {
    let world = World::new();
    let outcome = world.assay(&["ping", "127.0.0.1", "-c", "300", "-i", "0", "--json"]);
    if outcome.code != 0 {
        let outcome = outcome.failed_with(4);
        assert!(outcome.err.contains("ping_group_range"), "{outcome:?}");
        return;
    }
    let document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    let [found] = &*results(&document, "network.icmp", "round_trip") else {
        panic!("{document}");
    };
    assert_eq!(
        (&found["parameters"]["bytes"], &found["parameters"]["io"]),
        (&56.into(), &300.into())
    );
    // The percentiles that exist depend on the effective samples, which a burst reduces.
    let named = ["p50", "p90", "p95", "p99"].map(|name| &found["percentiles"][name]);
    let known = named.into_iter().chain([&found["max"]]).filter_map(serde_json::Value::as_f64);
    assert!(known.is_sorted() && found["median"].as_f64() <= found["max"].as_f64(), "{found}");
    let loss = results(&document, "network.icmp", "loss")[0];
    assert_eq!((&loss["median"], &loss["n"]), (&0.0.into(), &300.into()));
    // The run is stored like any other, and shows the same document.
    assert_eq!(world.json(&["show", "latest", "--json"]), document);
    // Every form is printed again as it was, byte by byte.
    assert_eq!(world.assay(&["show", "--as", "ping"]).succeeded().out, outcome.out);
    for form in [&["-i", "0.01"][..], &["-q"], &["-4", "-M", "do", "-s", "65500"]] {
        let live = world.assay(&[&["ping", "127.0.0.1", "-c", "3"], form].concat());
        assert_eq!(
            world.assay(&["show", "--as", "ping"]).succeeded().out,
            live.out,
            "{form:?}"
        );
    }
    world.assay(&["ping", "127.0.0.1", "-c", "1", "--no-store"]).succeeded();
    assert_eq!(world.json(&["list", "--json"])["runs"].as_array().unwrap().len(), 4);
}

#[test]
fn client_can_print_server_output() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    let words = ["-c", "127.0.0.1", "-p", &port, "-t", "1", "-b", "20M", "--get-server-output"];
    let ours = world.assay(&[&["iperf3"], &words[..]].concat()).succeeded();
    assert!(ours.out.contains("Server output:\nAccepted connection from"), "{}", ours.out);
    let (_, reported) = ours.out.split_once("Server output:").unwrap();
    assert!(reported.contains("receiver"), "{reported}");
    if is_installed("iperf3", "client_can_print_server_output") {
        let real = std::process::Command::new("iperf3").args(words).output().unwrap();
        let real = String::from_utf8(real.stdout).unwrap();
        assert!(real.contains("Server output:") && real.contains("receiver"), "{real}");
    }
}

#[test]
fn real_iperf3_server_supports_all_but_ping_pongs() {
    if !is_installed("iperf3", "real_iperf3_server_supports_all_but_ping_pongs") {
        return;
    }
    let world = World::new();
    // An own address, because the default ports are part of the test.
    let address = "127.9.8.7";
    let mut command = std::process::Command::new("iperf3");
    command.args(["-s", "-B", address]);
    let _serving = ServerProcess::start(command, 5201);
    let suite = "name = \"alone\"\nbudget = \"6s\"\n[[measure]]\nbenchmark = \"network.tcp\"\n\
                 seconds = 1\n[[measure]]\nbenchmark = \"network.udp\"\nseconds = 1\n[[measure]]\n\
                 benchmark = \"network.tcp\"\nmeasures = \"latency\"\n";
    world.write("alone.toml", suite);
    let asked = ["run", "alone.toml", "--to", address];
    let outcome = world.assay(&[&asked[..], &["--json"]].concat()).failed_with(4);
    let document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(results(&document, "network.tcp", "goodput").len(), 1, "{document}");
    // iperf3's receiver does not report the number of reordered datagrams.
    for (metric, count) in [("loss", 1), ("reordered", 0), ("jitter", 1), ("pacing_error", 1)] {
        let found = results(&document, "network.udp", metric);
        assert_eq!(found.len(), count, "{metric} {document}");
    }
    let failures = document["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{document}");
    let reason = failures[0]["reason"].as_str().unwrap();
    assert!(reason.contains("answers ping-pongs"), "{reason}");
    assert!(failures[0]["advice"].as_str().unwrap().contains("qperf"), "{document}");
}

#[test]
fn result_names_busy_poll() {
    let world = World::new();
    let asked = ["net", "latency", "--busy-poll", "1us", "--for", "2s", "--json"];
    let outcome = world.assay(&asked);
    if outcome.code != 0 {
        // A value above the system's setting needs a privilege, which the error names.
        let outcome = outcome.failed_with(4);
        assert!(outcome.out.contains("SO_BUSY_POLL"), "{outcome:?}");
        return;
    }
    let document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    let found = results(&document, "network.tcp", "round_trip");
    assert_eq!(found[0]["parameters"]["busy_poll_s"], 1e-6, "{document}");
}
