//! A server of several clients at once (`--clients`): every client has its own result, which
//! reports the others, and one client too many is told that the server is busy.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use super::{free_port, newest_program};
use crate::processes::{send_signal, wait_for_connections, wait_until_listening};
use crate::program::World;

/// Server whose output is read at its end.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(world: &World, options: &[&str]) -> Self {
        let port = free_port();
        let port_text = port.to_string();
        let mut command = world.command(&["iperf3", "-s", "-p", &port_text]);
        command.args(["--idle-timeout", "60"]).args(options);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        wait_until_listening("self", port);
        Self { child, port }
    }

    fn finish(self) -> (String, Output) {
        let output = self.child.wait_with_output().unwrap();
        (String::from_utf8(output.stdout.clone()).unwrap(), output)
    }
}

/// Clients that are here: assay itself, iperf3 of this machine and of Debian's next release.
fn clients(world: &World) -> Vec<Command> {
    let mut clients = vec![world.command(&["iperf3", "--no-store"])];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path)
        .map(|folder| folder.join("iperf3"))
        .find(|it| it.is_file());
    let real: Vec<PathBuf> = installed.into_iter().chain(newest_program("iperf3")).collect();
    clients.extend(real.iter().map(Command::new));
    clients
}

fn spawn(mut client: Command, port: u16, options: &str) -> Child {
    client.args(["-c", "127.0.0.1", "-J", "-p", &port.to_string()]);
    client.args(options.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    client.spawn().unwrap()
}

fn document(client: Child) -> Value {
    let output = client.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the JSON documents or lines of an output.
fn values(text: &str) -> Vec<Value> {
    let all = serde_json::Deserializer::from_str(text).into_iter();
    all.map(|value| value.unwrap_or_else(|error| panic!("{error}: {text}"))).collect()
}

/// The protocols and directions take turns, so that each real client meets several of them.
const MODES: [&str; 4] =
    ["-t 2 -b 20M", "-u -t 2 -b 5M", "-t 2 -b 20M -R -P 2", "-u -t 2 -b 5M --bidir"];

#[test]
fn several_clients_are_served_at_once_each_with_its_result() {
    let world = World::new();
    for turn in 0..2 {
        let count = MODES.len().to_string();
        let server = Server::start(&world, &["-J", "-1", "--clients", &count]);
        let programs = clients(&world);
        let running: Vec<Child> = MODES
            .iter()
            .enumerate()
            .map(|(at, mode)| {
                let kinds = programs.len();
                let client = clients(&world).swap_remove((at + turn) % kinds);
                spawn(client, server.port, mode)
            })
            .collect();
        let documents: Vec<Value> = running.into_iter().map(document).collect();
        let (text, output) = server.finish();
        assert!(output.status.success(), "{output:?}");
        let served = values(&text);
        assert_eq!(served.len(), MODES.len(), "{text}");
        for (mode, client) in MODES.iter().zip(&documents) {
            assert_eq!(client.get("error"), None, "{mode}: {client:#}");
            let cookie = &client["start"]["cookie"];
            let its = served.iter().filter(|it| it["start"]["cookie"] == *cookie);
            let [its] = its.collect::<Vec<_>>()[..] else { panic!("{mode}: {text}") };
            check_streams(mode, client, its);
            let others = &its["end"]["concurrent_tests"];
            assert!(others["count"].as_u64().unwrap() >= 2, "{mode}: {its:#}");
            let share = others["share"].as_f64().unwrap();
            assert!((0.1..=1.0).contains(&share), "{mode}: {its:#}");
        }
        let mut numbers: Vec<_> =
            served.iter().map(|it| it["test"].as_u64().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3, 4]);
    }
}

/// Checks that both ends report the same connections, and that the data arrived at one of them.
fn check_streams(mode: &str, client: &Value, server: &Value) {
    let ports = |document: &Value, key: &str| {
        let streams = document["start"]["connected"].as_array().unwrap();
        let mut ports: Vec<u64> = streams.iter().map(|it| it[key].as_u64().unwrap()).collect();
        ports.sort_unstable();
        ports
    };
    assert_eq!(ports(client, "local_port"), ports(server, "remote_port"), "{mode}");
    let sums: &[&str] = match mode.contains("--bidir") {
        true => &["", "_bidir_reverse"],
        false => &[""],
    };
    for suffix in sums {
        let end = &client["end"];
        let bytes = |sum: &str| end[format!("{sum}{suffix}")]["bytes"].as_f64().unwrap();
        let (sent, received) = (bytes("sum_sent"), bytes("sum_received"));
        assert!(received > 0.0 && received <= sent + 1.0, "{mode}{suffix}: {end:#}");
    }
}

#[test]
fn client_beyond_the_limit_is_told_busy() {
    let world = World::new();
    let server = Server::start(&world, &["--clients", "2", "-J"]);
    let running: Vec<Child> = (0..2)
        .map(|_| {
            let client = world.command(&["iperf3", "--no-store"]);
            spawn(client, server.port, "-t 4 -b 1M")
        })
        .collect();
    // Both ends of the control connections and of the streams.
    wait_for_connections(server.port, 2 * 4);
    for client in clients(&world) {
        let refused = document(spawn(client, server.port, "-t 1"));
        assert!(refused["error"].as_str().unwrap().contains("busy"), "{refused:#}");
    }
    for client in running {
        let document = document(client);
        assert_eq!(document.get("error"), None, "{document:#}");
    }
    // Both places are free again.
    let client = world.command(&["iperf3", "--no-store"]);
    let again = document(spawn(client, server.port, "-t 1 -b 1M"));
    assert_eq!(again.get("error"), None, "{again:#}");
    send_signal(server.child.id(), "INT");
    let (text, output) = server.finish();
    assert!(output.status.success(), "{output:?}");
    let served = values(&text);
    assert_eq!(served.len(), 3, "{text}");
    let last = &served[2]["end"]["concurrent_tests"];
    assert_eq!((&last["count"], &last["share"]), (&0.into(), &0.into()), "{text}");
}

#[test]
fn lines_and_events_name_their_test() {
    let world = World::new();
    for (options, is_stream) in [
        (&["--clients", "2", "-1"][..], false),
        (&["--clients", "2", "-1", "--json-stream"], true),
    ] {
        let server = Server::start(&world, options);
        let running = [&["iperf3", "--no-store"][..], &["iperf3"]]
            .map(|words| spawn(world.command(words), server.port, "-t 2 -b 10M"));
        for client in running {
            let document = document(client);
            assert_eq!(document.get("error"), None, "{document:#}");
            // The client of assay reports the other test, too.
            assert_eq!(document["end"]["concurrent_tests"]["count"], 1, "{document:#}");
        }
        let stored = world.json(&["show", "latest", "--json"]);
        assert!(stored.to_string().contains("\"shared-server\""), "{stored:#}");
        let (text, _) = server.finish();
        for number in [1, 2] {
            if is_stream {
                let events: Vec<_> = values(&text)
                    .into_iter()
                    .filter(|it| it["test"] == number)
                    .map(|it| it["event"].as_str().unwrap().to_owned())
                    .collect();
                assert!(events.len() >= 4, "{text}");
                assert_eq!(
                    (&*events[0], &*events[events.len() - 1]),
                    ("start", "end"),
                    "{text}"
                );
            } else {
                let label = format!("test {number}:  ");
                let lines: Vec<_> =
                    text.lines().filter_map(|line| line.strip_prefix(&label)).collect();
                assert!(lines[0].starts_with("Accepted connection from "), "{text}");
                let last = lines[lines.len() - 1];
                assert!(last.starts_with("Interference: 1 other test ran during "), "{text}");
            }
        }
        assert_eq!(text.contains("(up to 2 clients at once)"), !is_stream, "{text}");
    }
}

/// Every test that ran is in the output, with the intervals until then.
#[test]
fn interrupted_server_ends_all_tests() {
    let world = World::new();
    let server = Server::start(&world, &["--clients", "3", "-J", "-i", "0.2"]);
    let running: Vec<Child> = clients(&world)
        .into_iter()
        .map(|client| spawn(client, server.port, "-t 60 -b 1M"))
        .collect();
    let count = running.len();
    wait_for_connections(server.port, 4 * count);
    // Several intervals of each test.
    std::thread::sleep(std::time::Duration::from_millis(900));
    send_signal(server.child.id(), "INT");
    let (text, output) = server.finish();
    assert!(output.status.success(), "{output:?}");
    let served = values(&text);
    assert_eq!(served.len(), count, "{text}");
    for test in &served {
        assert_eq!(test["error"], "interrupted", "{text}");
        assert!(!test["intervals"].as_array().unwrap().is_empty(), "{text}");
    }
    for client in running {
        let document = document(client);
        let error = document["error"].as_str().unwrap();
        assert!(error.contains("terminated") || error.contains("stopped"), "{document:#}");
    }
}

#[test]
fn messages_and_failures_name_their_test() {
    let world = World::new();
    let limits = ["--clients", "2", "-1", "-d", "--server-max-duration", "2"];
    let server = Server::start(&world, &limits);
    for options in ["-t 5", "-t 1 -b 1M"] {
        let client = world.command(&["iperf3", "--no-store"]);
        let document = document(spawn(client, server.port, options));
        assert_eq!(document.get("error").is_some(), options == "-t 5", "{document:#}");
    }
    let (text, output) = server.finish();
    let lines: Vec<_> = text.lines().filter(|it| !it.starts_with("test ")).collect();
    let banner = |line: &&str| line.starts_with('-') || line.starts_with("Server listening");
    assert!(lines.iter().all(banner), "{text}");
    assert!(text.contains("test 2:  get_results:\ntest 2:  {\n"), "{text}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("test 1:  error: "), "{errors}");
}
