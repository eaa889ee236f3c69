//! `assay doctor` on real devices and paths: a veth pair whose settings `ethtool` and `ip` change,
//! a router with a smaller MTU on one side, and ends that disagree about the largest packet.

use serde_json::Value;

use super::link::{FAR, Link, run};
use crate::program::World;

/// Runs the doctor at the near end and returns a lookup from a check to its outcome and
/// observation.
fn findings(link: &Link, world: &World, options: &[&str]) -> impl Fn(&str) -> (String, String) {
    let asked = [&["doctor", "--json"], options].concat();
    let output = link.command_within(false, world, &asked).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    move |id| {
        let all = document["findings"].as_array().unwrap();
        let finding = all.iter().find(|finding| finding["id"] == id).unwrap();
        let text = |key: &str| finding[key].as_str().unwrap().to_owned();
        (text("outcome"), text("observed"))
    }
}

/// Runs a command at the near end.
fn run_near(link: &Link, command: &str) {
    let command = format!("ip netns exec {} {command}", link.near);
    assert!(run(&command), "{command}");
}

#[track_caller]
fn check(found: &(String, String), outcome: &str, observed: &str) {
    assert_eq!((found.0.as_str(), found.1.as_str()), (outcome, observed));
}

#[test]
fn doctor_sees_settings_changed_by_ethtool() {
    let Some(link) = Link::unlimited("settings") else { return };
    let world = World::new();
    for half in ["on", "off"] {
        run_near(&link, &format!("ethtool -K veth0 tso {half} gso on gro {half} tx on rx on"));
        let found = findings(&link, &world, &[]);
        let outcome = if half == "on" { "ok" } else { "deviates" };
        let reported = format!(
            "veth0 TSO {half} · GSO on · GRO {half} · receive checksum on · send checksum on · \
             LRO off (fixed)"
        );
        check(&found("network.offloads"), outcome, &reported);
    }
    run_near(&link, "ethtool -K veth0 tso on gro on rx off");
    let (outcome, reported) = findings(&link, &world, &[])("network.offloads");
    assert_eq!(outcome, "deviates");
    assert!(reported.contains("receive checksum off"), "{reported}");

    let cpus = std::thread::available_parallelism().unwrap();
    for (queues, outcome) in [(4, "ok"), (1, if cpus.get() > 1 { "deviates" } else { "ok" })] {
        run_near(&link, &format!("ethtool -L veth0 rx {queues} tx {queues}"));
        let (found, reported) = findings(&link, &world, &[])("network.channels");
        assert_eq!(found, outcome, "{reported}");
        assert!(reported.starts_with(&format!("veth0 {queues} of at most 4 ")), "{reported}");
    }
    let (outcome, reported) = findings(&link, &world, &[])("network.driver");
    assert_eq!(outcome, "ok");
    assert!(reported.starts_with("veth0 veth"), "{reported}");
    // veth has neither rings nor interrupt coalescing.
    for id in ["network.rings", "network.coalescing"] {
        assert_eq!(findings(&link, &world, &[])(id).0, "not-visible", "{id}");
    }
}

#[test]
fn doctor_checks_path_to_far_end() {
    let Some(link) = Link::unlimited("along") else { return };
    let world = World::new();
    let to = ["--to", FAR];
    let (outcome, reported) = findings(&link, &world, &to)("network.path");
    assert_eq!(outcome, "ok", "{reported}");
    let beginning = format!("{FAR} over veth0, round trip ");
    assert!(reported.starts_with(&beginning), "{reported}");
    check(&findings(&link, &world, &to)("network.path-mtu"), "ok", "1500 B gets through");
    // An end with a smaller MTU drops larger packets silently. A veth device accepts four bytes of
    // a tag beyond its own size.
    run_near(&link, &format!("ip -n {} link set veth0 mtu 1400", link.far));
    let reported =
        "1404 B gets through, larger packets vanish without a word; 1500 B was assumed";
    check(&findings(&link, &world, &to)("network.path-mtu"), "deviates", reported);
    run_near(&link, &format!("ip -n {} link set veth0 down", link.far));
    let (outcome, _) = findings(&link, &world, &to)("network.path");
    assert_ne!(outcome, "ok");
}

#[test]
fn doctor_finds_smaller_mtu_behind_router() {
    let Some(link) = Link::unlimited("router") else { return };
    let world = World::new();
    let behind = format!("{}-b", link.far);
    let far = &link.far;
    for command in [
        format!("ip netns add {behind}"),
        format!("ip -n {far} link add veth1 type veth peer name veth1 netns {behind}"),
        format!("ip -n {far} addr add 198.18.78.1/24 dev veth1"),
        format!("ip -n {behind} addr add 198.18.78.2/24 dev veth1"),
        format!("ip -n {far} link set veth1 mtu 1300 up"),
        format!("ip -n {behind} link set veth1 mtu 1300 up"),
        format!("ip -n {behind} route add default via 198.18.78.1"),
        format!("ip -n {} route add default via {FAR}", link.near),
        format!("ip netns exec {far} sysctl -qw net.ipv4.ip_forward=1"),
    ] {
        assert!(run(&command), "{command}");
    }
    let found = findings(&link, &world, &["--to", "198.18.78.2"]);
    assert!(run(&format!("ip netns del {behind}")));
    let reported = "1300 B gets through; veth0 would send 1500 B";
    check(&found("network.path-mtu"), "deviates", reported);
}

#[test]
fn doctor_compares_buffers_with_path() {
    let Some(link) = Link::unlimited("buffers") else { return };
    let world = World::new();
    // A veth device also reports 10 Gbit/s, but has no such hardware.
    let path = ["--to", FAR, "--round-trip", "20ms"];
    let (_, reported) = findings(&link, &world, &path)("network.send-buffer");
    assert!(!reported.contains("Gbit/s"), "{reported}");
    let options = [&path[..], &["--speed", "10Gbit/s"]].concat();
    for (bytes, outcome, size) in
        [(4 << 20, "deviates", "4.00 MiB"), (64 << 20, "ok", "64.0 MiB")]
    {
        for name in ["tcp_rmem", "tcp_wmem"] {
            run_near(&link, &format!("sysctl -qw net.ipv4.{name}=4096\t131072\t{bytes}"));
        }
        let found = findings(&link, &world, &options);
        let reported = format!(
            "at most {size}; 10.0 Gbit/s × 20.0 ms = 23.8 MiB under way, which needs 47.7 MiB"
        );
        check(&found("network.receive-buffer"), outcome, &reported);
        check(&found("network.send-buffer"), outcome, &reported);
    }
    let slow = [&path[..], &["--speed", "100Mbit/s"]].concat();
    let (outcome, reported) = findings(&link, &world, &slow)("network.send-buffer");
    assert_eq!(outcome, "ok", "{reported}");
    assert!(reported.contains("100 Mbit/s × 20.0 ms = 244 KiB"), "{reported}");
}

#[test]
fn ping_without_fragmentation_reports_path_mtu() {
    let Some(link) = Link::unlimited("uncut") else { return };
    let world = World::new();
    let ping = |bytes: &str| {
        let asked = ["ping", FAR, "-M", "do", "-s", bytes, "-c", "1", "-n", "-w", "5"];
        let output = link.command_within(false, &world, &asked).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    // 1472 bytes plus 20 of IP and 8 of ICMP make 1500.
    let (code, reported) = ping("1472");
    assert_eq!(code, Some(0), "{reported}");
    let (code, reported) = ping("1473");
    assert_eq!(code, Some(4), "{reported}");
    assert!(reported.contains("message too long, mtu=1500"), "{reported}");
}
