//! ntttcp's sender and receiver with each other, with the real tool where it is installed, and their
//! stored runs. No package of the real tool exists.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::processes::{send_signal, wait_until};
use crate::program::{World, results};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Implementation {
    Assay,
    Real,
}

/// Returns the first of consecutive free ports, of which the one before is free, too.
pub(super) fn free_ports(count: u16) -> u16 {
    for _ in 0..1000 {
        let first = super::free_port();
        let mut all = (first - 1)..first.saturating_add(count);
        if first < 65_000 && all.all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return first;
        }
    }
    panic!("there are no {count} consecutive free ports");
}

pub(super) fn start(world: &World, who: Implementation, words: &str) -> Child {
    let words: Vec<&str> = words.split(' ').collect();
    let mut command = match who {
        Implementation::Assay => world.command(&[&["ntttcp"], &words[..]].concat()),
        Implementation::Real => {
            let mut command = Command::new("ntttcp");
            command.args(&words).current_dir(world.path("."));
            command
        }
    };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Returns whether a socket with this local port listens, or is bound over UDP.
pub(super) fn is_open(port: u16, is_udp: bool) -> bool {
    let (name, state) = if is_udp { ("udp", "07") } else { ("tcp", "0A") };
    let table = std::fs::read_to_string(format!("/proc/net/{name}")).unwrap();
    let own = format!(":{port:04X}");
    table.lines().any(|line| {
        let row: Vec<&str> = line.split_whitespace().collect();
        row[1].ends_with(&own) && row[3] == state
    })
}

pub(super) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Ends the process of a test that failed.
pub(super) struct Running(pub(super) Option<Child>);

impl Running {
    pub(super) fn finish(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }

    pub(super) fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Runs a receiver and a sender with some common and some own options; returns both outputs.
fn transfer(
    world: &World,
    (sender, receiver): (Implementation, Implementation),
    (common, of_sender): (&str, &str),
) -> (String, String) {
    let port = free_ports(8);
    let is_udp = common.contains("-u");
    let receiving =
        Running(Some(start(world, receiver, &format!("-r 127.0.0.1 -p {port} {common}"))));
    wait_until("the receiver has its ports", || {
        is_open(port, is_udp) && (common.contains("-N") || is_open(port - 1, false))
    });
    let words = format!("-s 127.0.0.1 -p {port} {common} {of_sender}");
    let sent = Running(Some(start(world, sender, &words))).finish();
    assert!(sent.status.success(), "{words}: {sent:?}");
    let received = receiving.finish();
    assert!(received.status.success(), "{words}: {received:?}");
    (text(&sent), text(&received))
}

/// Returns the number behind the last occurrence of a text.
#[track_caller]
pub(super) fn number_after(text: &str, before: &str) -> f64 {
    let Some((_, rest)) = text.rsplit_once(before) else { panic!("no `{before}`: {text}") };
    let digits: String =
        rest.chars().take_while(|it| it.is_ascii_digit() || *it == '.').collect();
    digits.parse().unwrap_or_else(|error| panic!("{before}: {error}: {text}"))
}

/// Common options, and those of the sender.
const TESTS: &[(&str, &str)] = &[
    ("-P 2 -t 1", "-n 2 -l 3"),
    ("-P 3 -t 1 -W 1 -V", "-n 1 -C 1 -b 4K --no-delay"),
    ("-P 2 -t 1 -N", "-n 2"),
    ("-P 1 -t 1 -Q", "-n 1 -B 80M -b 8K"),
];

fn check(pair: (Implementation, Implementation)) {
    for words @ (common, own) in TESTS {
        let world = World::new();
        let (sent, received) = transfer(&world, pair, *words);
        let [sent_bytes, received_bytes] =
            [&sent, &received].map(|text| number_after(text, "total bytes\t:"));
        assert!(sent_bytes > 0.0 && received_bytes > 0.0, "{common} {own}: {sent}{received}");
        for text in [&sent, &received] {
            let (bytes, seconds) =
                (number_after(text, "total bytes\t:"), number_after(text, "test duration\t:"));
            let (_, rate) = text.rsplit_once("throughput\t:").unwrap();
            let rate = rate.lines().next().unwrap();
            let unit = rate.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
            let power = match unit {
                "bps" => 1.0,
                "Kbps" => 1e3,
                "Mbps" => 1e6,
                "Gbps" => 1e9,
                other => panic!("{other}: {text}"),
            };
            let printed = number_after(text, "throughput\t:") * power;
            // The time is rounded to 10 ms.
            assert!((printed / (bytes * 8.0 / seconds) - 1.0).abs() < 0.02, "{text}");
        }
    }
}

#[test]
fn assay_measures_with_itself() {
    check((Implementation::Assay, Implementation::Assay));
}

/// Whether the real tool is on the path; without it, the test says that it is skipped.
fn has_real_tool(test: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_tool = std::env::split_paths(&path).any(|folder| folder.join("ntttcp").is_file());
    if !has_tool {
        eprintln!("SKIPPED {test}: ntttcp has no package, and none is on the path");
    }
    has_tool
}

#[test]
fn real_tool_measures_with_assay() {
    if has_real_tool("real_tool_measures_with_assay") {
        check((Implementation::Assay, Implementation::Real));
        check((Implementation::Real, Implementation::Assay));
    }
}

/// Replaces numbers, rates and spaces, so that lines of two runs can be compared.
fn line_shapes(text: &str) -> Vec<String> {
    let shape = |line: &str| {
        let mut digits = line.replace(|it: char| it.is_ascii_digit() || it == '.', "0");
        while digits.contains("00") {
            digits = digits.replace("00", "0");
        }
        for unit in ["Gbps", "Mbps", "Kbps"] {
            digits = digits.replace(unit, "bps");
        }
        digits
    };
    // The first line has the version, the number of intervals depends on the machine, and assay
    // prints no line for each connection.
    let is_compared = |line: &&str| {
        !line.starts_with("Real-time")
            && !line.contains(" DBG ")
            && !line.contains("receiver exited")
            && !line.contains("sender side was interrupted")
    };
    text.lines().skip(1).filter(is_compared).map(shape).collect()
}

#[test]
fn lines_and_files_are_those_of_the_real_tool() {
    if !has_real_tool("lines_and_files_are_those_of_the_real_tool") {
        return;
    }
    let options = "-P 2 -t 1 -W 1 -C 1 -V --show-tcp-retrans --show-nic-packets lo \
                   --show-dev-interrupts LOC";
    let run = |who| {
        let world = World::new();
        let (sent, _) = transfer(&world, (who, Implementation::Assay), (options, "-n 2 -x -j"));
        let [xml, json] = ["xml", "json"].map(|end| {
            std::fs::read_to_string(world.path(&format!("ntttcp-for-linux-log.{end}"))).unwrap()
        });
        [sent, xml, json]
    };
    let (own, real) = (run(Implementation::Assay), run(Implementation::Real));
    assert_eq!(line_shapes(&own[0]), line_shapes(&real[0]));
    // The last line but one has the system.
    let without_system = |text: &str| {
        let lines: Vec<String> = line_shapes(text);
        lines.into_iter().filter(|line| !line.contains("os")).collect::<Vec<_>>()
    };
    assert_eq!(without_system(&own[1]), without_system(&real[1]));
    assert_eq!(without_system(&own[2]), without_system(&real[2]));
}

#[test]
fn datagrams_arrive() {
    let world = World::new();
    let pair = (Implementation::Assay, Implementation::Assay);
    for common in ["-P 2 -t 1 -u", "-P 1 -t 1 -u -N"] {
        let (sent, received) = transfer(&world, pair, (common, "-n 1 -b 1000 -B 20M"));
        assert!(number_after(&sent, "total bytes\t:") > 1e6, "{sent}");
        assert!(number_after(&received, "total bytes\t:") > 1e5, "{received}");
        assert!(!received.contains("retrans segs"), "{received}");
    }
}

#[test]
fn stored_runs_print_the_same_again_and_pair_with_imports() {
    let world = World::new();
    let pair = (Implementation::Assay, Implementation::Assay);
    let files = "-n 2 -O log.txt -x result.xml -j result.json --label own";
    let (sent, received) = transfer(&world, pair, ("-P 2 -t 1", files));
    let show = |run: &str, shape| world.assay(&["show", run, "--as", shape]).succeeded().out;
    assert_eq!(show("own", "ntttcp"), sent);
    let read = |name| std::fs::read_to_string(world.path(name)).unwrap();
    assert_eq!(show("own", "ntttcp-xml"), read("result.xml"));
    let json = read("result.json");
    assert_eq!(show("own", "ntttcp-json"), json);
    let parsed: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(parsed["ntttcps"]["parameters"]["noSync"], "False", "{json}");
    let with_times: String = sent
        .split_inclusive('\n')
        .filter(|line| line.contains(" INFO: ") || line.contains(" ERR : "))
        .collect();
    assert_eq!(read("log.txt"), with_times);
    let stored = world.json(&["show", "own", "--json"]);
    let rate = &results(&stored, "network.tcp", "send_rate")[0];
    let printed = number_after(&sent, "total bytes\t:") * 8.0
        / parsed["ntttcps"]["realTime"]["value"].as_str().unwrap().parse::<f64>().unwrap();
    let mean = rate["mean"].as_f64().unwrap();
    assert!((mean / printed - 1.0).abs() < 1e-3, "{rate} {sent}");
    // The receiver stores a run, too: the newest one, which began
    // when the sender asked for the start.
    assert_eq!(show("latest", "ntttcp"), received);
    let stored = world.json(&["show", "latest", "--json"]);
    let goodput = &results(&stored, "network.tcp", "goodput")[0];
    assert_eq!(goodput["parameters"]["path"], "loopback", "{goodput}");
    assert_eq!(goodput["parameters"]["streams"], 4, "{goodput}");
    assert!(received.contains("throughput"), "{received}");
    world.write("sent.txt", &sent);
    for file in ["sent.txt", "result.xml"] {
        world.assay(&["import", file, "--label", "imported"]).succeeded();
        let compared = world.assay(&["compare", "own", "imported"]);
        assert!(compared.out.contains("send rate"), "{file}: {compared:?}");
    }
}

/// Sends a number to the receiver and returns its answer.
pub(super) fn ask(stream: &mut TcpStream, number: u32) -> u32 {
    stream.write_all(&number.to_be_bytes()).unwrap();
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).unwrap();
    u32::from_be_bytes(answer)
}

#[test]
fn receiver_answers_as_ntttcp_does() {
    let world = World::new();
    let port = free_ports(2);
    let words = format!("-r 127.0.0.1 -p {port} -P 1 -t 5 -M --no-store");
    let receiver = Running(Some(start(&world, Implementation::Assay, &words)));
    wait_until("the receiver has its ports", || is_open(port - 1, false));
    let connect = || TcpStream::connect(("127.0.0.1", port - 1)).unwrap();
    let (mut first, mut last) = (connect(), connect());
    for sender in [&mut first, &mut last] {
        assert_eq!(ask(sender, u32::from(b'X')), 11, "it waits");
        assert_eq!(ask(sender, u32::from(b'X')), 11, "a repeated question");
        assert_eq!(ask(sender, 82), 5, "with several senders its own time counts");
    }
    let mut data = TcpStream::connect(("127.0.0.1", port)).unwrap();
    assert_eq!(ask(&mut first, u32::from(b'R')), u32::from(b'W'), "it waits for the last");
    assert_eq!(ask(&mut last, u32::from(b'L')), u32::from(b'R'));
    let mut answer = [0; 4];
    first.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [0, 0, 0, b'R']);
    let mut late = connect();
    assert_eq!(ask(&mut late, u32::from(b'X')), 12, "it is busy");
    data.write_all(&[0; 5000]).unwrap();
    assert_eq!(ask(&mut last, u32::from(b'E')), 13, "a sender ends the test");
    drop((first, last, late, data));
    let output = receiver.finish();
    let text = text(&output);
    assert!(output.status.success(), "{output:?}");
    assert!(text.contains("INFO: test exited because sender side was interrupted"), "{text}");
    assert_eq!(number_after(&text, "total bytes\t:") as u64, 5000, "{text}");
}

#[test]
fn held_receiver_serves_one_test_after_another() {
    let world = World::new();
    let port = free_ports(2);
    let words = format!("-r 127.0.0.1 -p {port} -P 1 -t 1 -H --no-store");
    let receiver = Running(Some(start(&world, Implementation::Assay, &words)));
    wait_until("the receiver has its ports", || {
        is_open(port, false) && is_open(port - 1, false)
    });
    for _ in 0..2 {
        let words = format!("ntttcp -s 127.0.0.1 -p {port} -P 1 -n 1 -t 1 --no-store");
        world.assay(&words.split(' ').collect::<Vec<_>>()).succeeded();
    }
    wait_until("the receiver waits again", || is_open(port, false));
    send_signal(receiver.id(), "INT");
    let output = receiver.finish();
    assert!(output.status.success(), "{output:?}");
    for (line, count) in [("Totals:", 2), ("threads created", 1)] {
        assert_eq!(text(&output).matches(line).count(), count, "{output:?}");
    }
}

#[test]
fn interrupted_and_refused_tests_are_failures() {
    let world = World::new();
    let port = free_ports(2);
    let missing = format!("ntttcp -s 127.0.0.1 -p {port} -P 1 -t 1");
    let outcome = world.assay(&missing.split(' ').collect::<Vec<_>>()).failed_with(4);
    assert!(outcome.err.contains("connection refused"), "{outcome:?}");
    assert!(outcome.err.contains("start `assay ntttcp -r ADDRESS`"), "{outcome:?}");
    let outcome = world.assay(&["ntttcp", "-s", "-t", "88"]).failed_with(2);
    assert!(outcome.err.contains("takes this number for a request"), "{outcome:?}");
    let outcome = world.assay(&["ntttcp", "-r", "-D"]).failed_with(2);
    assert!(outcome.err.contains("stays in the foreground"), "{outcome:?}");
    let words = format!("-r 127.0.0.1 -p {port} -P 1 --no-store");
    let receiver = Running(Some(start(&world, Implementation::Assay, &words)));
    wait_until("the receiver has its ports", || {
        is_open(port, false) && is_open(port - 1, false)
    });
    let words = format!("-s 127.0.0.1 -p {port} -P 1 -n 1");
    let sender = Running(Some(start(&world, Implementation::Assay, &words)));
    let is_connected = || {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        table.contains(&format!(":{port:04X} 0100007F"))
    };
    wait_until("the sender is connected", is_connected);
    // The receiver refuses a second sender once the test runs.
    wait_until("the receiver is busy", || {
        let mut stream = TcpStream::connect(("127.0.0.1", port - 1)).unwrap();
        ask(&mut stream, u32::from(b'X')) == 12
    });
    let outcome = world.assay(&missing.split(' ').collect::<Vec<_>>()).failed_with(4);
    assert!(outcome.err.contains("busy with another test"), "{outcome:?}");
    send_signal(sender.id(), "INT");
    let output = sender.finish();
    assert!(!output.status.success(), "{output:?}");
    let sent = text(&output);
    for expected in ["Interrupted by Ctrl+C", "receiver exited from current test", "Totals:"] {
        assert!(sent.contains(expected), "{expected}: {sent}");
    }
    let received = receiver.finish();
    assert!(received.status.success(), "{received:?}");
    assert!(text(&received).contains("sender side was interrupted"), "{received:?}");
}

#[test]
fn link_named_ntttcp_is_ntttcp() {
    let world = World::new();
    let program = world.command(&[]).get_program().to_owned();
    let link = world.path("ntttcp");
    symlink(program, &link).unwrap();
    let output = Command::new(link).args(["-s", "-r"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("assay ntttcp"), "{error}");
}
