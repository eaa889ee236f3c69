//! JSON documents beside those of the real iperf3, of this machine and of Debian's next release:
//! the same members with values of the same types, at both ends, in every mode.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{free_port, is_installed, newest_program};
use crate::processes::wait_until_listening;
use crate::program::World;

const MODES: [&str; 10] = [
    "-t 1 -b 50M",
    "-t 1 -b 50M -R",
    "-t 1 -b 20M --bidir",
    "-t 1 -b 20M -P 2",
    "-t 1 -b 10M -P 2 --bidir -M 1000",
    "-n 5M",
    "-u -t 1 -b 20M",
    "-u -t 1 -b 20M -R",
    "-u -t 1 -b 10M --bidir",
    "-u -t 1 -b 5M -P 2 -l 1000",
];

/// Members that versions after 3.12 have added.
const SINCE_3_12: [&str; 8] =
    ["bidir", "fq_rate", "fqrate", "gro", "gso", "interval", "reorder", "timemillisecs"];

#[derive(Clone, Copy)]
enum Program<'p> {
    Assay,
    Real(&'p str),
}

impl Program<'_> {
    fn command(self, world: &World) -> Command {
        match self {
            Self::Assay => world.command(&["iperf3"]),
            Self::Real(path) => Command::new(path),
        }
    }

    /// Runs one test; returns the output of the client and of the server.
    fn run(self, server: Self, world: &World, mode: &str) -> [String; 2] {
        let port = free_port();
        let port_text = port.to_string();
        let mut serving = server.command(world);
        serving.args(["-s", "-1", "-J", "-p", &port_text]);
        let serving = serving.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_until_listening("self", port);
        let mut client = self.command(world);
        client.args(["-c", "127.0.0.1", "-J", "-p", &port_text]).args(mode.split(' '));
        let client = client.output().unwrap();
        let served = serving.wait_with_output().unwrap();
        [client.stdout, served.stdout].map(|text| String::from_utf8(text).unwrap())
    }
}

/// Adds the types of all values by their paths. Elements of a list share one path.
fn collect_types(
    value: &Value,
    path: &str,
    types: &mut BTreeMap<String, BTreeSet<&'static str>>,
) {
    let kind = match value {
        Value::Object(map) => {
            for (key, member) in map {
                collect_types(member, &format!("{path}.{key}"), types);
            }
            "object"
        }
        Value::Array(items) => {
            items.iter().for_each(|item| collect_types(item, &format!("{path}[]"), types));
            "list"
        }
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Null => "null",
    };
    types.entry(path.to_owned()).or_default().insert(kind);
}

fn parse(text: &str) -> Value {
    // 3.12 prints some keys twice; the last one counts.
    let value: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(value.get("error"), None, "{text}");
    value
}

/// Compares a document of assay with one of the real iperf3 about the same test.
fn compare(what: &str, ours: &str, real: &str, newer: &[&str]) {
    let is_fraction_of_zero = |word: &str| word.trim_end_matches(',').ends_with(".0");
    let padded = ours.split_whitespace().find(|word| is_fraction_of_zero(word));
    assert_eq!(padded, None, "{what}: iperf3 prints whole numbers without a fraction: {ours}");
    let (ours, real) = (parse(ours), parse(real));
    let [mut found, mut expected] = [BTreeMap::new(), BTreeMap::new()];
    collect_types(&ours, "", &mut found);
    collect_types(&real, "", &mut expected);
    found.retain(|path, _| {
        let key = path.rsplit('.').next().unwrap_or_default();
        expected.contains_key(path) || !newer.contains(&key)
    });
    let differences: Vec<String> = found
        .keys()
        .chain(expected.keys())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter(|path| found.get(*path) != expected.get(*path))
        .map(|path| {
            format!("{path}: {:?} here, {:?} there", found.get(path), expected.get(path))
        })
        .collect();
    assert!(differences.is_empty(), "{what}:\n{}", differences.join("\n"));
    // Requested values are the same. The default size of a datagram follows a window of the control
    // connection on loopback, which grows with its first bytes.
    let is_default =
        |key: &str| key == "blksize" && what.contains("-u") && !what.contains("-l");
    let requested = real["start"]["test_start"].as_object().unwrap();
    for (key, expected) in requested.iter().filter(|(key, _)| !is_default(key)) {
        assert_eq!(&ours["start"]["test_start"][key], expected, "{what}: {key}");
    }
}

fn compare_with(real: &str, newer: &[&str]) {
    let world = World::new();
    let real = Program::Real(real);
    std::thread::scope(|scope| {
        for mode in MODES {
            let world = &world;
            scope.spawn(move || {
                let [client, server] = real.run(real, world, mode);
                let [ours, _] = Program::Assay.run(real, world, mode);
                compare(&format!("client {mode}"), &ours, &client, newer);
                let [_, ours] = real.run(Program::Assay, world, mode);
                compare(&format!("server {mode}"), &ours, &server, newer);
                let [ours, theirs] = Program::Assay.run(Program::Assay, world, mode);
                compare(&format!("client of assay {mode}"), &ours, &client, newer);
                compare(&format!("server of assay {mode}"), &theirs, &server, newer);
            });
        }
    });
}

#[test]
fn documents_have_members_of_installed_iperf3() {
    if is_installed("iperf3", "documents_have_members_of_installed_iperf3") {
        compare_with("iperf3", &SINCE_3_12);
    }
}

#[test]
fn documents_have_members_of_newest_iperf3() {
    match newest_program("iperf3") {
        Some(path) => compare_with(path.to_str().unwrap(), &[]),
        None => eprintln!(
            "SKIPPED documents_have_members_of_newest_iperf3: iperf3 of Debian's next release is not below target/newest"
        ),
    }
}

/// A sender reports its retransmits to the receiver. One that is assay also reports round trips and
/// windows; iperf3 prints 0 for them.
#[test]
fn receiver_prints_statistics_of_the_sender() {
    let world = World::new();
    let check = |server: Program<'_>, has_round_trips: bool| {
        let [text, _] = Program::Assay.run(server, &world, "-t 1 -b 20M -R");
        let sender = &parse(&text)["end"]["streams"][0]["sender"];
        assert!(sender["retransmits"].as_u64().is_some(), "{text}");
        for key in ["max_snd_cwnd", "max_snd_wnd", "min_rtt", "mean_rtt", "max_rtt"] {
            assert_eq!(sender[key].as_u64().unwrap() > 0, has_round_trips, "{key}: {text}");
        }
    };
    check(Program::Assay, true);
    if is_installed("iperf3", "receiver_prints_statistics_of_the_sender") {
        check(Program::Real("iperf3"), false);
    }
}

#[test]
fn failed_test_has_version_and_system() {
    let world = World::new();
    let port = free_port().to_string();
    let words = ["-c", "127.0.0.1", "-p", &port, "-J"];
    let outcome = world.assay(&[&["iperf3"], &words[..]].concat()).failed_with(4);
    let ours: Value = serde_json::from_str(&outcome.out).unwrap();
    assert!(ours["error"].as_str().unwrap().contains("refused"), "{ours:#}");
    let stored = world.json(&["show", "latest", "--as", "iperf3-json"]);
    assert_eq!(stored, ours);
    if is_installed("iperf3", "failed_test_has_version_and_system") {
        let output = Command::new("iperf3").args(words).output().unwrap();
        let real: Value = serde_json::from_slice(&output.stdout).unwrap();
        let [mut found, mut expected] = [BTreeMap::new(), BTreeMap::new()];
        collect_types(&ours, "", &mut found);
        collect_types(&real, "", &mut expected);
        assert_eq!(found, expected);
    }
}
