//! sockperf's client and server, in all pairings with the real tool, and stored runs of the client.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::interoperation::overflowed_datagrams;
use super::{free_port, is_installed};
use crate::processes::{send_signal, wait_until};
use crate::program::{World, results};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Implementation {
    Assay,
    Real,
}

/// Options of clients; rates at which nothing is lost.
const MODES: &[&str] = &[
    "ping-pong -t 1 --data-integrity",
    "ping-pong -t 1 -m 200 -r 50 -b 3 --full-rtt",
    "under-load -t 1 --mps 5000 --reply-every 10 -m 64",
    "throughput -t 1 --mps 10000 -m 500",
];

/// Server that is interrupted at its end.
struct SockperfServer {
    child: Child,
    port: u16,
    is_tcp: bool,
}

impl SockperfServer {
    fn start(world: &World, who: Implementation, is_tcp: bool) -> Self {
        let port = free_port();
        let port_text = port.to_string();
        let mut words = vec!["server", "-i", "127.0.0.1", "-p", &port_text];
        words.extend(is_tcp.then_some("--tcp"));
        let mut command = match who {
            Implementation::Assay => world.command(&[&["sockperf"], words.as_slice()].concat()),
            Implementation::Real => {
                let mut command = Command::new("sockperf");
                command.args(words);
                command
            }
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let server = Self { child: command.spawn().unwrap(), port, is_tcp };
        wait_until("the server has its socket", || !server.sockets().is_empty());
        server
    }

    /// State and receive queue of each socket with the port.
    fn sockets(&self) -> Vec<(String, bool)> {
        let name = if self.is_tcp { "tcp" } else { "udp" };
        let table = std::fs::read_to_string(format!("/proc/net/{name}")).unwrap();
        let own = format!(":{:04X}", self.port);
        let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(|row| row[1].ends_with(&own))
            .map(|row| (row[3].to_owned(), row[4].ends_with(":00000000")))
            .collect()
    }

    /// Waits until everything is received, interrupts the server and returns its output and the
    /// number of messages by it.
    fn stop(mut self) -> (String, u64) {
        wait_until("the server has received everything", || {
            let is_idle = |(state, is_empty): &(String, bool)| {
                *is_empty && (!self.is_tcp || !["01", "08"].contains(&state.as_str()))
            };
            self.sockets().iter().all(is_idle)
        });
        send_signal(self.child.id(), "INT");
        let mut text = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        self.child.wait().unwrap();
        let count = number_after(&text, "sockperf: Total ");
        (text, count)
    }
}

impl Drop for SockperfServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the first number after a text.
#[track_caller]
fn number_after(text: &str, before: &str) -> u64 {
    let Some((_, rest)) = text.split_once(before) else { panic!("no `{before}`: {text}") };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|error| panic!("{before}: {error}: {text}"))
}

fn client(world: &World, who: Implementation, words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let output = match who {
        Implementation::Assay => world.command(&[&["sockperf"], &words[..]].concat()).output(),
        Implementation::Real => Command::new("sockperf").args(&words).output(),
    };
    let output = output.unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Checks counts and times of a client, and returns the number of its messages.
fn check_client(text: &str, mode: &str, is_lossless: bool) -> u64 {
    if mode.starts_with("throughput") {
        let sent = number_after(text, "Total of ");
        assert!(sent > 0, "{text}");
        assert!(text.contains("sockperf: Summary: Message Rate is "), "{text}");
        return sent;
    }
    let sent = number_after(text, "SentMessages=");
    let received = number_after(text, "ReceivedMessages=");
    let every = if mode.starts_with("under-load") { 10 } else { 1 };
    assert!(received * every <= sent && received > 0, "{text}");
    if is_lossless {
        // Those of the last moments have no reply yet.
        assert!(sent - received * every < sent / 20 + 20 * every, "{text}");
        assert!(
            text.contains("# dropped messages = 0; # duplicated messages = 0; #"),
            "{text}"
        );
    }
    let (_, valid) = text.split_once("[Valid Duration]").unwrap();
    let observations = number_after(valid, "ReceivedMessages=");
    assert_eq!(observations, number_after(valid, "Total "), "{text}");
    assert!(observations < received, "the start and the end do not count: {text}");
    let times: Vec<f64> = valid
        .lines()
        .filter_map(|line| line.strip_prefix("sockperf: ---> "))
        .map(|line| line.rsplit('=').next().unwrap().trim().parse().unwrap())
        .collect();
    assert!(times.is_sorted_by(|one, next| one >= next), "{text}");
    assert!(times.iter().all(|us| (0.1..1e6).contains(us)), "{text}");
    sent
}

fn check(client_is: Implementation, server_is: Implementation, is_tcp: bool) {
    let world = World::new();
    let server = SockperfServer::start(&world, server_is, is_tcp);
    let before = overflowed_datagrams();
    let mut sent = 0;
    for mode in MODES {
        let tcp = if is_tcp { " --tcp" } else { "" };
        let words = format!("{mode} -i 127.0.0.1 -p {}{tcp}", server.port);
        let text = client(&world, client_is, &words);
        sent += check_client(&text, mode, is_tcp);
    }
    let (text, received) = server.stop();
    let overflowed = u64::try_from(overflowed_datagrams() - before).unwrap();
    // The last message of each client may be sent in part.
    let allowed = if is_tcp { MODES.len() as u64 } else { overflowed };
    let lost = sent.checked_sub(received).unwrap_or_else(|| panic!("{sent} sent: {text}"));
    assert!(lost <= allowed, "{sent} sent, {overflowed} overflowed: {text}");
}

#[test]
fn assay_measures_with_itself() {
    for is_tcp in [false, true] {
        check(Implementation::Assay, Implementation::Assay, is_tcp);
    }
}

#[test]
fn assay_measures_with_real_server() {
    if is_installed("sockperf", "assay_measures_with_real_server") {
        for is_tcp in [false, true] {
            check(Implementation::Assay, Implementation::Real, is_tcp);
        }
    }
}

#[test]
fn real_client_measures_with_assay() {
    if is_installed("sockperf", "real_client_measures_with_assay") {
        for is_tcp in [false, true] {
            check(Implementation::Real, Implementation::Assay, is_tcp);
        }
    }
}

/// Removes sockperf's colours, of which the line of losses has one only if there are some.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |it| it.1))
}

/// Replaces numbers and spaces, so that lines of two runs can be compared.
fn line_shapes(text: &str) -> Vec<String> {
    let plain = without_colours(text);
    let shape = |line: &str| {
        let mut digits = line.replace(|c: char| c.is_ascii_digit(), "0");
        while digits.contains("00") {
            digits = digits.replace("00", "0");
        }
        digits.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // The first line has the version. sockperf's second thread may get the signal that ends it.
    let is_own = |line: &&str| !line.contains("(interrupted by signal ");
    plain.lines().skip(1).filter(is_own).map(shape).collect()
}

#[test]
fn lines_are_those_of_real_client() {
    if !is_installed("sockperf", "lines_are_those_of_real_client") {
        return;
    }
    let world = World::new();
    let server = SockperfServer::start(&world, Implementation::Assay, false);
    for mode in MODES.iter().chain(&["throughput -t 1 --mps 2000 -m 3000 --giga-size"]) {
        let words = format!("{mode} -i 127.0.0.1 -p {}", server.port);
        let [own, real] = [Implementation::Assay, Implementation::Real]
            .map(|who| client(&world, who, &words));
        assert_eq!(line_shapes(&own), line_shapes(&real), "{mode}");
    }
}

#[test]
fn stored_run_prints_the_same_again() {
    let world = World::new();
    let server = SockperfServer::start(&world, Implementation::Assay, false);
    let port = server.port.to_string();
    let log = world.path("full.csv");
    let words = ["sockperf", "ping-pong", "-p", &port, "--full-log", log.to_str().unwrap()];
    let live = world.assay(&words).succeeded();
    assert_eq!(world.assay(&["show", "latest", "--as", "sockperf"]).succeeded().out, live.out);
    let observations = number_after(&live.out, "sockperf: Total ");
    let log = std::fs::read_to_string(&log).unwrap();
    let last = format!("\n{}, ", observations - 1);
    assert!(log.contains(&last) && log.ends_with("----\n"), "{last}: {log}");
    let document = world.json(&["show", "latest", "--json"]);
    for metric in ["round_trip", "half_round_trip", "loss", "reordered"] {
        assert_eq!(results(&document, "network.udp", metric).len(), 1, "{metric}: {document}");
    }
    let words = ["sockperf", "pp", "-p", &port, "--json"];
    let document = world.json(&words);
    assert_eq!(document["mode"], "ping-pong", "{document}");
    assert!(document["round_trip_s"]["p50"].as_f64().unwrap() > 0.0, "{document}");
    // An import of the text has the same latency.
    world.write("live.txt", &live.out);
    world.assay(&["import", "live.txt"]).succeeded();
    let imported = world.json(&["show", "latest", "--json"]);
    assert_eq!(results(&imported, "network.udp", "half_round_trip").len(), 1, "{imported}");
}

#[test]
fn server_reports_gaps_and_ignores_other_servers() {
    let world = World::new();
    let port = free_port();
    let port_text = port.to_string();
    let words = ["sockperf", "server", "-p", &port_text, "-g"];
    let mut command = world.command(&words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let server = SockperfServer { child: command.spawn().unwrap(), port, is_tcp: false };
    wait_until("the server has its socket", || !server.sockets().is_empty());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", port)).unwrap();
    let message = |sequence: u8, flags: u8| {
        let mut message = [0_u8; 14];
        (message[7], message[9], message[13]) = (sequence, flags, 14);
        message
    };
    // A warm-up, a message of a server, one too short, one with another length.
    socket.send(&message(9, 5)).unwrap();
    socket.send(&message(9, 2)).unwrap();
    socket.send(&message(9, 3)[..13]).unwrap();
    socket.send(&[message(9, 3).as_slice(), &[0]].concat()).unwrap();
    for (sequence, flags) in [(1, 1), (2, 1), (6, 3)] {
        socket.send(&message(sequence, flags)).unwrap();
    }
    let mut reply = [0; 64];
    let bytes = socket.recv(&mut reply).unwrap();
    assert_eq!(reply[..bytes], message(6, 2));
    let (text, received) = server.stop();
    assert_eq!(received, 3, "{text}");
    assert!(text.contains("Total Dropped/OOO: 3           GAP:(3)     [3 - 5]"), "{text}");
    assert!(text.contains("Summary: Total Dropped/OOO: 3\n"), "{text}");
}

/// Runs a ping-pong against a peer that sends this reply to the first message.
fn reply_with(reply: [u8; 14]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let peer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 14]).unwrap();
        stream.write_all(&reply).unwrap();
        drop(stream.read(&mut [0; 64]));
    });
    let world = World::new();
    let outcome = world.assay(&["sockperf", "pp", "--tcp", "-p", &port]).failed_with(4);
    peer.join().unwrap();
    outcome.err
}

#[test]
fn lying_and_missing_servers_are_failures() {
    let header = |sequence, length| [0, 0, 0, 0, 0, 0, 0, sequence, 0, 2, 0, 0, 0, length];
    let error = reply_with(header(200, 14));
    assert!(error.contains("number 200, but only 1 messages were sent"), "{error}");
    let error = reply_with(header(1, 13));
    assert!(error.contains("a message has 13 bytes, expected 14 to 1048575"), "{error}");
    let world = World::new();
    let port = free_port().to_string();
    for protocol in [&[][..], &["--tcp"]] {
        let words = [&["sockperf", "pp", "-p", &port], protocol].concat();
        let outcome = world.assay(&words).failed_with(4);
        assert!(outcome.err.contains("refused"), "{outcome:?}");
    }
    let outcome = world.assay(&["sockperf", "pp", "--mc-ttl", "3"]).failed_with(2);
    assert!(outcome.err.contains("multicast is not supported"), "{outcome:?}");
}

#[test]
fn missing_replies_are_told_from_late_ones() {
    let world = World::new();
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port().to_string();
    let error = world.assay(&["sockperf", "pp", "-p", &port]).failed_with(4).err;
    assert!(error.contains(&format!("no reply came from 127.0.0.1:{port}")), "{error}");
    assert!(error.contains("--dont-reply"), "{error}");
    // Too few messages for one request.
    let words = ["sockperf", "ul", "-p", &port, "--mps", "10"];
    let error = world.assay(&words).failed_with(4).err;
    assert!(error.contains("lies in the valid time"), "{error}");
    assert!(error.contains("a lower --reply-every"), "{error}");
}

#[test]
fn random_sizes_are_at_most_the_named_one() {
    let world = World::new();
    let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
    sink.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let port = sink.local_addr().unwrap().port().to_string();
    let reader = std::thread::spawn(move || {
        let mut sizes = Vec::new();
        let mut buffer = [0; 2000];
        // The test ends it with an empty datagram.
        while let Ok(bytes @ 1..) = sink.recv(&mut buffer) {
            sizes.push(bytes);
        }
        sizes
    });
    let words = ["sockperf", "tp", "-p", &port, "--mps", "2000", "-m", "100", "-r", "50"];
    let document = world.json(&[&words[..], &["--json"]].concat());
    let end = UdpSocket::bind("127.0.0.1:0").unwrap();
    end.send_to(&[], format!("127.0.0.1:{port}")).unwrap();
    let sizes = reader.join().unwrap();
    assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&50), Some(&100)));
    let sent = document["sent_messages"].as_u64().unwrap();
    assert_eq!(sizes.len() as u64, sent, "{document}");
    let rate = document["send_bytes_per_s"].as_f64().unwrap();
    let run_s = document["run_s"].as_f64().unwrap();
    let bytes = sizes.iter().sum::<usize>() as f64;
    assert!((rate * run_s - bytes).abs() < 1.0, "{bytes}: {document}");
    let stored = world.json(&["show", "latest", "--json"]);
    let result = &results(&stored, "network.udp", "send_rate")[0];
    let value = result["mean"].as_f64().unwrap();
    assert!((value - 8.0 * rate).abs() < 1e-3 * value, "{result} {document}");
}

#[test]
fn port_of_another_udp_server_is_refused() {
    let world = World::new();
    let server = SockperfServer::start(&world, Implementation::Assay, false);
    let port = server.port.to_string();
    let outcome = world.assay(&["sockperf", "server", "-p", &port]).failed_with(4);
    assert!(outcome.err.contains("another server uses this port"), "{outcome:?}");
}

#[test]
fn link_named_sockperf_is_sockperf() {
    let world = World::new();
    let program = world.command(&[]).get_program().to_owned();
    let link = world.path("sockperf");
    symlink(program, &link).unwrap();
    let output = Command::new(link).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sockperf, version 3.7-assay\n");
}

#[test]
fn runs_pair_with_imports_of_real_clients() {
    if !is_installed("sockperf", "runs_pair_with_imports_of_real_clients") {
        return;
    }
    for (mode, metric) in [
        ("ping-pong -t 1 -m 64", "half round trip"),
        ("ping-pong -t 1 --full-rtt --tcp", "round trip"),
        ("under-load -t 1 --mps 5000 --reply-every 10", "half round trip"),
        ("throughput -t 1 --mps 5000 -m 500", "send rate"),
    ] {
        let world = World::new();
        let server =
            SockperfServer::start(&world, Implementation::Assay, mode.contains("--tcp"));
        let words = format!("{mode} -i 127.0.0.1 -p {}", server.port);
        world.write("real.txt", &client(&world, Implementation::Real, &words));
        world.assay(&["import", "real.txt", "--label", "real"]).succeeded();
        client(&world, Implementation::Assay, &format!("{words} --label own"));
        let compared = world.assay(&["compare", "real", "own"]).out;
        let (paired, _) = compared.split_once("Other differences").unwrap_or((&compared, ""));
        assert!(paired.contains(&format!(" {metric} ")), "{mode}: {compared}");
        assert!(paired.contains("sockperf / assay"), "{mode}: {compared}");
    }
}
