//! Peers that refuse, stay silent, die during a test, or use another protocol.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::link::{FAR, Link, NEAR, run};
use super::stored_runs::assert_all_results_incomplete;
use super::{ServerProcess, free_port};
use crate::processes::{send_signal, wait_for_connections, wait_until, wait_until_listening};
use crate::program::{Outcome, World, files_below};

/// Runs one test against a peer that does `act` with its first connection.
fn run_against(act: impl FnOnce(TcpStream) + Send + 'static, arguments: &[&str]) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let acting = thread::spawn(move || act(listener.accept().unwrap().0));
    let world = World::new();
    let arguments = [&["iperf3", "-c", "127.0.0.1", "-p", &port], arguments].concat();
    let outcome = world.assay(&arguments);
    acting.join().unwrap();
    outcome
}

fn check(outcome: Outcome, words: &[&str]) {
    let outcome = outcome.failed_with(4);
    for word in words {
        assert!(outcome.err.contains(word), "`{word}` is missing: {}", outcome.err);
    }
}

#[test]
fn distinguishes_refused_connection_and_unknown_host() {
    let world = World::new();
    let port = free_port().to_string();
    check(
        world.assay(&["iperf3", "-c", "127.0.0.1", "-p", &port]),
        &["cannot connect", "refused"],
    );
    check(world.assay(&["iperf3", "-c", "no-such-host.invalid"]), &["is not known"]);
    check(
        world.assay(&["qperf", "127.0.0.1", "tcp_lat", "--listen-port", &port]),
        &["refused"],
    );
    check(
        world.assay(&["net", "throughput", "127.0.0.1", "-p", &port, "--for", "1s"]),
        &["refused"],
    );
    check(
        world.assay(&["net", "latency", "127.0.0.1", "-p", &port, "--for", "1s"]),
        &["refused"],
    );
}

/// Runs a suite that fails and returns its failures.
fn failures(world: &World, words: &[&str]) -> Vec<serde_json::Value> {
    let outcome = world.assay(&[&["run", "--json"], words].concat()).failed_with(4);
    let value: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    value["failures"].as_array().unwrap().clone()
}

#[test]
fn unknown_host_fails_once_and_skips_rest() {
    let world = World::new();
    let words = ["network", "--to", "no-such-host.invalid"];
    let failures = failures(&world, &words);
    let [first, rest @ ..] = &failures[..] else { panic!("nothing failed") };
    assert!(first["reason"].as_str().unwrap().contains("is not known"), "{first}");
    assert!(first.get("because").is_none(), "{first}");
    assert_eq!(rest.len(), 10, "{failures:?}");
    for skipped in rest {
        assert_eq!(skipped["because"], first["case"], "{skipped}");
    }
    let outcome = world.assay(&[&["run"], &words[..]].concat()).failed_with(4);
    let text = outcome.out.replace('\u{a0}', " ");
    for words in ["1 case failed, 10 were skipped", "10 cases were skipped because of it: "] {
        assert!(text.contains(words), "`{words}` is missing: {text}");
    }
}

#[test]
fn closed_port_is_tried_once() {
    let world = World::new();
    let measure = |benchmark: &str, more: &str| {
        let port = free_port();
        format!(
            "[[measure]]\nbenchmark = \"{benchmark}\"\nto = \"127.0.0.1\"\nport = {port}\n{more}\n"
        )
    };
    let suite = [
        "name = \"closed\"\nbudget = \"20s\"\n".to_owned(),
        measure("network.tcp", "streams = [1, 2, 3]"),
        measure("network.tcp", "measures = \"latency\"\nmessage-size = [\"1B\", \"64B\"]"),
    ];
    let suite = world.write("closed.toml", &suite.concat());
    let failures = failures(&world, &[suite.to_str().unwrap()]);
    let reported: Vec<(bool, bool)> = failures
        .iter()
        .map(|it| {
            (it["reason"].as_str().unwrap().contains("refused"), it.get("because").is_some())
        })
        .collect();
    let (asked, skipped) = ((true, false), (false, true));
    assert_eq!(reported, [asked, skipped, skipped, asked, skipped], "{failures:?}");
}

#[test]
fn dropped_packets_time_out_and_name_firewalls() {
    let Some(link) = Link::unlimited("drops") else { return };
    let world = World::new();
    // Packets arrive at the far end, but replies have no route back.
    let hole = format!("ip -n {} route add blackhole {NEAR}/32", link.far);
    assert!(run(&hole), "{hole}");
    let asked = ["iperf3", "-c", FAR, "-t", "1", "--connect-timeout", "500"];
    let output = link.command_within(false, &world, &asked).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("timed out") && err.contains("firewall"), "{err}");
}

#[test]
fn impossible_options_are_wrong_usage() {
    let world = World::new();
    for arguments in [
        &["iperf3"] as &[&str],
        &["iperf3", "-c", "h", "-s"],
        &["iperf3", "-s", "-t", "5"],
        &["iperf3", "-s", "-R"],
        &["iperf3", "-s", "-P", "2"],
        &["iperf3", "-c", "h", "-P", "129"],
        &["iperf3", "-c", "h", "-t", "86401"],
        &["iperf3", "-c", "h", "-n", "0"],
        &["iperf3", "-c", "h", "-u", "-l", "8"],
        &["iperf3", "-c", "h", "-b", "fast"],
        &["iperf3", "-c", "h", "-4", "-6"],
        &["iperf3", "-c", "h", "-R", "--bidir"],
        &["qperf", "h"],
        &["qperf", "h", "rc_lat"],
        &["ping"],
        &["ping", "127.0.0.1", "-c", "0"],
        &["ping", "127.0.0.1", "-i", "-1"],
        &["net", "throughput", "--streams", "0"],
        &["net", "throughput", "--streams", "129"],
        &["net", "throughput", "--for", "10"],
        &["net", "throughput", "--for", "50ms"],
        &["net", "throughput", "--rate", "1e99Gbit/s"],
        &["net", "throughput", "-u", "--congestion", "reno"],
        &["net", "throughput", "--congestion", "no-such", "--dry-run"],
        &["net", "throughput", "-p", "5999"],
        &["net", "throughput", "127.0.0.1", "-p", "0"],
        &["net", "latency", "[::1]:5999"],
        &["iperf3", "-c", "127.0.0.1:5201"],
        &["qperf", "127.0.0.1:19765", "tcp_lat"],
        &["ping", "127.0.0.1:80"],
        &["doctor", "--round-trip", "20ms"],
        &["net", "latency", "-u", "--message-size", "1MiB"],
        &["net", "request-response", "--rate", "0"],
    ] {
        world.assay(arguments).failed_with(2);
    }
}

#[test]
fn reports_peer_with_other_protocol() {
    let greet = |mut stream: TcpStream| {
        stream.write_all(b"SSH-2.0-OpenSSH\r\n").unwrap();
        drop(stream.read(&mut [0; 64]));
    };
    check(run_against(greet, &["-t", "1"]), &["is not a state of iperf3's protocol"]);
    let busy = |mut stream: TcpStream| stream.write_all(&[0xFF]).unwrap();
    check(run_against(busy, &["-t", "1"]), &["busy"]);
    let closes = |stream: TcpStream| drop(stream);
    let outcome = run_against(closes, &["-t", "1"]).failed_with(4);
    assert!(outcome.err.contains("closed") || outcome.err.contains("failed"), "{outcome:?}");
}

/// Waits until the other end closes the connection.
fn wait_for_close(stream: &mut TcpStream) {
    drop(stream.read_to_end(&mut Vec::new()));
}

#[test]
fn reports_server_that_fails_or_terminates() {
    let lies = |mut stream: TcpStream| {
        drop(stream.read(&mut [0; 4096]));
        stream.write_all(&[9, 0xFE, 0, 0, 0, 7, 0, 0, 0, 9]).unwrap();
        wait_for_close(&mut stream);
    };
    check(run_against(lies, &["-t", "1"]), &["its error 7"]);
    let terminates = |mut stream: TcpStream| {
        drop(stream.read(&mut [0; 4096]));
        stream.write_all(&[9, 11]).unwrap();
        wait_for_close(&mut stream);
    };
    check(run_against(terminates, &["-t", "1"]), &["has terminated the test"]);
}

#[test]
fn killed_server_keeps_intervals_and_reports_failure() {
    let world = World::new();
    let port = free_port();
    let serving = ServerProcess::assay(&world, port);
    let dying = thread::spawn(move || {
        wait_for_connections(port, 4);
        // Several of its intervals.
        thread::sleep(Duration::from_millis(900));
        drop(serving);
    });
    let port = port.to_string();
    let outcome =
        world.assay(&["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "20", "-i", "0.2", "-J"]);
    dying.join().unwrap();
    let outcome = outcome.failed_with(4);
    let value: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert!(value["error"].is_string(), "{value}");
    assert!(!value["intervals"].as_array().unwrap().is_empty(), "partial intervals are kept");
}

#[test]
fn results_before_peer_died_are_kept_and_marked() {
    let world = World::new();
    let dies_after = |millis| {
        let port = free_port();
        let serving = ServerProcess::assay(&world, port);
        let dying = thread::spawn(move || {
            wait_for_connections(port, 2);
            thread::sleep(Duration::from_millis(millis));
            drop(serving);
        });
        (port.to_string(), dying)
    };
    // The first interval would end long after the server does.
    let (port, dying) = dies_after(800);
    let outcome =
        world.assay(&["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "20", "-i", "15"]);
    dying.join().unwrap();
    let outcome = outcome.failed_with(4);
    let lines: Vec<&str> = outcome.out.lines().collect();
    let [.., interval, mark] = lines[..] else { panic!("{outcome:?}") };
    assert!(interval.contains("0.00-") && interval.contains("bits/sec"), "{outcome:?}");
    assert!(mark.contains("failed before its end"), "{outcome:?}");

    // A repetition takes two seconds, and the first preparation has several.
    let (port, dying) = dies_after(4500);
    let asked = ["net", "throughput", "127.0.0.1", "-p", &port, "--for", "20s"];
    world.assay(&asked).failed_with(4);
    dying.join().unwrap();
    let kept = files_below(&world.path("assay")).into_iter().find_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        serde_json::from_str::<serde_json::Value>(&text)
            .ok()
            .filter(|it| it["error"].is_string())
    });
    let kept = kept.expect("the part of the test is stored");
    assert!(!kept["intervals"].as_array().unwrap().is_empty(), "{kept}");
    let document = world.json(&["show", "latest", "--json"]);
    assert_eq!(document["failures"].as_array().unwrap().len(), 1, "{document}");
    assert_all_results_incomplete(&document);
}

#[test]
fn rejects_unsupported_tool_options_with_reason() {
    let world = World::new();
    for (arguments, reason) in [
        (&["iperf3", "-c", "h", "--sctp"][..], "SCTP"),
        (&["iperf3", "-c", "h", "--nstreams", "2"], "SCTP"),
        (&["qperf", "h", "-ar", "1", "tcp_lat"], "copied to the program"),
        (&["qperf", "h", "-cm1", "tcp_lat"], "RDMA"),
        (&["ping", "h", "-f"], "one at a time"),
    ] {
        let outcome = world.assay(arguments).failed_with(2);
        assert!(outcome.err.contains("does not support"), "{outcome:?}");
        assert!(outcome.err.contains(reason), "{outcome:?}");
    }
    let unknown = world.assay(&["iperf3", "-c", "h", "--nonsense"]).failed_with(2);
    assert!(unknown.err.contains("unexpected argument"), "{unknown:?}");
}

#[test]
fn server_survives_arbitrary_input() {
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let cookie = b"abcdefghijklmnopqrstuvwxyzabcdefghij\0";
    let long = [&cookie[..], &[0xFF; 4], &[b'x'; 5000]].concat();
    let no_json = [&cookie[..], &[0, 0, 0, 4], b"nope"].concat();
    let no_streams = [&cookie[..], &[0, 0, 0, 12], b"{\"tcp\":true}"].concat();
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0; 200],
        &[0, 0, 4, 0, 11, 0, 99, 0],
        &long,
        &no_json,
        &no_streams,
        &cookie[..20],
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        // The server may close before it has read everything.
        drop(stream.write_all(bytes));
        drop(stream.shutdown(std::net::Shutdown::Write));
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut rest = Vec::new();
        drop(stream.read_to_end(&mut rest));
    }
    let port = port.to_string();
    let arguments = ["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "1", "-b", "10M"];
    wait_until("it serves the next client", || world.assay(&arguments).code == 0);
}

/// Runs a client against a server on loopback that gets a signal once it has `connections`
/// connections.
fn run_with_signalled_server(
    signal: &'static str,
    connections: usize,
    asked: &[&str],
) -> Outcome {
    let world = World::new();
    let port = free_port();
    let serving = ServerProcess::assay(&world, port);
    let id = serving.0.id();
    let stopping = thread::spawn(move || {
        wait_for_connections(port, connections);
        thread::sleep(Duration::from_millis(700));
        send_signal(id, signal);
    });
    let port = port.to_string();
    let port: Vec<String> = asked.iter().map(|word| word.replace("PORT", &port)).collect();
    let outcome = world.assay(&port.iter().map(String::as_str).collect::<Vec<_>>());
    stopping.join().unwrap();
    drop(serving);
    outcome
}

#[test]
fn reports_peer_that_hangs_during_test() {
    for way in ["-N", "-R", "--bidir"] {
        let asked = [
            "iperf3",
            "-c",
            "127.0.0.1",
            "-p",
            "PORT",
            "-t",
            "60",
            "--rcv-timeout",
            "700",
            way,
        ];
        let outcome = run_with_signalled_server("STOP", 2, &asked);
        assert!(outcome.out.contains("failed before its end"), "{outcome:?}");
        check(outcome, &["no data has moved", "for 0.7 s"]);
    }
}

#[test]
fn server_ends_idle_test_after_receive_timeout() {
    let world = World::new();
    let number = free_port();
    let port = number.to_string();
    let mut command =
        world.command(&["iperf3", "-s", "-1", "-p", &port, "--rcv-timeout", "700", "-i", "0"]);
    let server = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_listening("self", number);
    let mut asked =
        world.command(&["iperf3", "-c", "127.0.0.1", "-p", &port, "-t", "60", "-i", "0"]);
    let mut client = asked.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Both ends of the control connection and of the stream.
    wait_for_connections(number, 4);
    thread::sleep(Duration::from_millis(700));
    send_signal(client.id(), "STOP");
    let output = server.wait_with_output().unwrap();
    client.kill().unwrap();
    client.wait().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("no data has moved") && err.contains("for 0.7 s"), "{err}");
}

#[test]
fn detects_killed_qperf_server() {
    for test in ["tcp_bw", "tcp_lat", "udp_bw"] {
        let asked = ["qperf", "127.0.0.1", test, "--listen-port", "PORT", "-t", "60"];
        let begun = Instant::now();
        let outcome = run_with_signalled_server("KILL", 1, &asked).failed_with(4);
        assert!(outcome.err.contains("closed") || outcome.err.contains("reset"), "{outcome:?}");
        assert!(
            begun.elapsed() < Duration::from_secs(50),
            "{test} was not noticed before its end"
        );
    }
}

#[test]
fn reports_port_in_use() {
    let world = World::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    check(world.assay(&["iperf3", "-s", "-p", &port]), &["cannot listen", "in use"]);
    check(world.assay(&["qperf", "--listen-port", &port]), &["cannot listen", "in use"]);
}
