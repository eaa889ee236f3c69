//! Interoperation: assay with assay, assay with the real tools, and the real tools with assay.

use std::process::Command;

use serde_json::Value;

use super::{ServerProcess, free_port, is_installed};
use crate::program::World;

/// Every mode, with a rate where the loss would otherwise depend on the machine.
const MODES: &[&str] = &[
    "-t 1 -b 50M",
    "-t 1 -P 6 -b 10M",
    "-t 1 -R -b 50M",
    "-t 1 -R -P 4 -b 10M",
    "-t 1 --bidir -P 2 -b 20M",
    "-t 1 -O 1 -b 50M",
    "-n 20M",
    "-n 5M -R",
    "-k 50",
    "-t 1 -b 20M -w 256K -M 1000 -C reno -N -S 16",
    "-t 1 -b 50M -Z",
    "-t 1 -b 20M -B 127.0.0.1",
    "-u -t 1 -b 20M",
    "-u -t 1 -b 20M -R",
    "-u -t 1 -b 20M --bidir",
    "-u -t 1 -b 5M -P 3 -l 1000",
    "-u -n 1M -b 50M",
    "-t 1 -b 20M --pacing-timer 500",
    "-u -t 1 -b 20M --udp-counters-64bit --dscp ef",
];

/// Modes of later versions, which clients of iperf3 3.12 lack and its servers understand.
const LATER_MODES: &[&str] =
    &["-u -t 1 -b 20M --gsro", "-u -t 1 -b 50M -P 2 --gsro --bidir", "-u -n 1M -b 50M --gsro"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Implementation {
    Assay,
    Real,
}

fn client(world: &World, who: Implementation, port: u16, mode: &str) -> Value {
    let port = port.to_string();
    let mut arguments = vec!["-c", "127.0.0.1", "-p", &port, "-J"];
    arguments.extend(mode.split(' '));
    let output = match who {
        Implementation::Assay => {
            world.command(&[&["iperf3"], arguments.as_slice()].concat()).output()
        }
        Implementation::Real => Command::new("iperf3").args(&arguments).output(),
    };
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    // 3.12 prints some keys twice; the last one counts.
    let value: Value =
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{mode}: {e}: {text}"));
    assert_eq!(value.get("error"), None, "{mode}: {value}");
    value
}

/// Returns the datagrams dropped for lack of socket buffer, which is the only loss on loopback: the
/// receiver waited for a CPU.
pub(super) fn overflowed_datagrams() -> i64 {
    let table = std::fs::read_to_string("/proc/net/snmp").unwrap();
    let mut rows = table.lines().filter_map(|line| line.strip_prefix("Udp: "));
    let [names, values] = [rows.next().unwrap(), rows.next().unwrap()];
    let at = names.split(' ').position(|name| name == "RcvbufErrors").unwrap();
    values.split(' ').nth(at).unwrap().parse().unwrap()
}

/// Checks that the data arrived within one percent, in the direction of the sums with this ending.
fn check_direction(mode: &str, end: &Value, ending: &str) {
    let bytes = |sum: &str| end[format!("{sum}{ending}")]["bytes"].as_f64().unwrap_or(0.0);
    let (sent, received) = (bytes("sum_sent"), bytes("sum_received"));
    assert!(sent > 0.0, "{mode}: nothing sent: {end}");
    // A block may be in flight when the test ends.
    let allowed = 0.01 * sent + 4.0 * 131_072.0;
    assert!(
        (sent - received).abs() <= allowed,
        "{mode}{ending}: {sent} sent, {received} received"
    );
}

fn check(client_is: Implementation, server_is: Implementation) {
    let world = World::new();
    let port = free_port();
    let _serving = match server_is {
        Implementation::Assay => ServerProcess::assay(&world, port),
        Implementation::Real => {
            let mut command = Command::new("iperf3");
            command.args(["-s", "-p", &port.to_string()]);
            ServerProcess::start(command, port)
        }
    };
    let later = if client_is == Implementation::Assay { LATER_MODES } else { &[] };
    for mode in MODES.iter().chain(later) {
        let before = overflowed_datagrams();
        let value = client(&world, client_is, port, mode);
        let end = &value["end"];
        check_direction(mode, end, "");
        if mode.contains("--bidir") {
            check_direction(mode, end, "_bidir_reverse");
        }
        let streams = value["start"]["connected"].as_array().unwrap().len();
        assert_eq!(end["streams"].as_array().unwrap().len(), streams, "{mode}");
        if mode.starts_with("-u") && !mode.contains("-O") {
            let lost = end["sum"]["lost_packets"].as_i64().unwrap();
            let overflowed = overflowed_datagrams() - before;
            assert!((0..=overflowed).contains(&lost), "{mode}: {lost} of {overflowed}: {end}");
        }
    }
}

#[test]
fn assay_interoperates_with_itself_in_every_mode() {
    check(Implementation::Assay, Implementation::Assay);
}

#[test]
fn assay_interoperates_with_real_iperf3_server() {
    if is_installed("iperf3", "assay_interoperates_with_real_iperf3_server") {
        check(Implementation::Assay, Implementation::Real);
    }
}

#[test]
fn real_iperf3_client_interoperates_with_assay() {
    if is_installed("iperf3", "real_iperf3_client_interoperates_with_assay") {
        check(Implementation::Real, Implementation::Assay);
    }
}

#[test]
fn text_has_columns_of_real_iperf3() {
    if !is_installed("iperf3", "text_has_columns_of_real_iperf3") {
        return;
    }
    let world = World::new();
    let port = free_port();
    let _serving = ServerProcess::assay(&world, port);
    let port = port.to_string();
    for mode in ["-t 1 -b 8M", "-t 1 -P 2 -b 8M", "-u -t 1 -b 8M", "-t 1 -R -b 8M"] {
        let mut arguments = vec!["-c", "127.0.0.1", "-p", &port];
        arguments.extend(mode.split(' '));
        let real = Command::new("iperf3").args(&arguments).output().unwrap();
        let ours = world.assay(&[&["iperf3"], arguments.as_slice()].concat()).succeeded();
        let real = String::from_utf8(real.stdout).unwrap();
        assert_eq!(columns(&ours.out), columns(&real), "{mode}\n{}\n{real}", ours.out);
    }
}

/// Returns every line with its numbers replaced.
fn columns(text: &str) -> Vec<String> {
    let plain = |c: char| if c.is_ascii_digit() || "KMG.".contains(c) { '#' } else { c };
    let line = |line: &str| {
        let mut words: Vec<String> = Vec::new();
        for word in line.split_whitespace() {
            let word: String = word.chars().map(plain).collect();
            // Numbers differ in length.
            words.push(if word.starts_with('#') { "#".to_owned() } else { word });
        }
        words.join(" ")
    };
    text.lines().map(line).collect()
}

#[test]
fn qperf_has_the_cpus_and_the_port_that_were_asked_for() {
    const TEST: &str = "qperf_has_the_cpus_and_the_port_that_were_asked_for";
    let world = World::new();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let (far, data) = (free_port().to_string(), free_port().to_string());
    let missing = (cpus + 1000).to_string();
    let words = ["qperf", "127.0.0.1", "-lp", &far, "--no-store", "-t", "1"];
    let run = world.assay(&[&words[..], &["-lca", &missing, "tcp_lat"]].concat());
    assert!(run.failed_with(2).err.contains(&format!("there is no CPU {missing}")));
    if !is_installed("qperf", TEST) {
        return;
    }
    let options = ["-ca", "1", "-ip", &data, "-vvu", "tcp_bw"];
    let names = |text: &str| -> Vec<String> {
        let rows = text.lines().filter_map(|line| line.split_once(" = "));
        rows.map(|(name, _)| name.trim().to_owned()).collect()
    };
    let mut server = Command::new("qperf");
    server.args(["-lp", &far]);
    let real = ServerProcess::start(server, far.parse().unwrap());
    let ours = world.assay(&[&words[..], &options].concat()).succeeded().out;
    drop(real);
    let _assay = ServerProcess::assay(&world, far.parse().unwrap());
    let mut client = Command::new("qperf");
    client.args(["127.0.0.1", "-lp", &far, "-t", "1"]).args(options);
    let theirs = String::from_utf8(client.output().unwrap().stdout).unwrap();
    assert_eq!(names(&ours), ["bw", "affinity", "msg_size", "port", "time", "timeout"]);
    assert_eq!(names(&ours), names(&theirs), "{ours}{theirs}");
}

#[test]
fn qperf_interoperates_in_every_pairing() {
    let world = World::new();
    let (ours, real) = (free_port(), free_port());
    let _assay = ServerProcess::assay(&world, ours);
    let tests = ["tcp_lat", "tcp_bw", "udp_lat", "udp_bw", "conf"];
    let ask_assay = |port: u16| {
        let port = port.to_string();
        let mut arguments =
            vec!["qperf", "127.0.0.1", "--listen-port", &port, "-t", "1", "--json"];
        arguments.extend(tests);
        let value = world.json(&arguments);
        assert!(value["tcp_lat"]["latency_s"].as_f64().unwrap() > 0.0, "{value}");
        assert!(value["tcp_lat"]["round_trip_s"]["p50"].as_f64().unwrap() > 0.0, "{value}");
        assert!(value["udp_lat"]["latency_s"].as_f64().unwrap() > 0.0, "{value}");
        assert!(value["tcp_bw"]["recv_bytes"].as_u64().unwrap() > 0, "{value}");
        assert!(value["udp_bw"]["recv_bytes"].as_u64().unwrap() > 0, "{value}");
        assert!(!value["conf"]["node"].as_str().unwrap().is_empty(), "{value}");
        // Half of the mean round trip, within the difference between the two clocks' ends.
        let half_s = value["tcp_lat"]["round_trip_s"]["mean"].as_f64().unwrap() / 2.0;
        let qperf_s = value["tcp_lat"]["latency_s"].as_f64().unwrap();
        assert!((qperf_s / half_s - 1.0).abs() < 0.15, "{qperf_s} and {half_s}");
    };
    ask_assay(ours);
    if !is_installed("qperf", "qperf_interoperates_in_every_pairing") {
        return;
    }
    let mut command = Command::new("qperf");
    command.args(["-lp", &real.to_string()]);
    let _real = ServerProcess::start(command, real);
    ask_assay(real);
    let mut command = Command::new("qperf");
    command.args(["127.0.0.1", "-lp", &ours.to_string(), "-t", "1"]).args(tests);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["tcp_lat:", "latency", "recv_bw", "rem_node"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

/// Scripts parse the second word of the first line.
#[test]
fn version_has_format_of_iperf3() {
    let world = World::new();
    for option in ["-v", "--version"] {
        let outcome = world.assay(&["iperf3", option]).succeeded();
        let lines: Vec<&str> = outcome.out.lines().collect();
        let [first, system, features] = lines[..] else { panic!("{outcome:?}") };
        assert_eq!(first, format!("iperf 3.12 (assay {})", env!("CARGO_PKG_VERSION")));
        assert!(system.starts_with("Linux "), "{system}");
        assert!(features.starts_with("Optional features available: "), "{features}");
    }
}
