//! Hosts reached through relays, with real agents.

use std::process::Stdio;

use super::{KILL_TRANSPORT, TWO_CASES, wait_for_first_case, wait_until_agents_are_gone};
use crate::program::World;

/// Returns a world with the suite and a transport. The transport logs whether each host was started
/// by the run itself or by one of its agents. It kills `r2` when the file of `dies` exists.
fn world_with_relays() -> World {
    let world = World::in_memory();
    world.write("two.toml", TWO_CASES);
    let script = "host=$1; shift\n\
         echo \"$host $(tr '\\0' ' ' </proc/$PPID/cmdline | cut -d ' ' -f 2)\" >>ways\n\
         case $host in\n\
         gone) echo 'ssh: Could not resolve hostname gone' >&2; exit 255 ;;\n\
         r2) (while [ -e via.sh ] && [ ! -e data.dies ]; do sleep 0.01; done\n\
              [ ! -e data.dies ] || kill_transport) >/dev/null 2>&1 & ;;\n\
         esac\n\
         exec \"$@\"\n";
    world.write("via.sh", &format!("{KILL_TRANSPORT}{script}"));
    world
}

fn run_words<'w>(hosts: &'w str, relays: &'w str, more: &[&'w str]) -> Vec<&'w str> {
    [&super::run_words(hosts, &["--relays", relays])[..], more].concat()
}

#[test]
fn hosts_behind_relays_are_one_run() {
    let world = world_with_relays();
    let document = world.run_fleet_json(
        &run_words("a[1-3],gone", "r[1-2]", &["--json", "--budget", "shortest"]),
        4,
    );
    for (benchmark, metric) in [("memory.stream", "triad"), ("storage", "rate")] {
        let found = crate::program::results(&document, benchmark, metric);
        let hosts: Vec<&str> = found.iter().map(|it| it["host"].as_str().unwrap()).collect();
        assert_eq!(&hosts[..3], ["a1", "a2", "a3"], "{metric}");
        for result in &found[..3] {
            // Every host started by its own clock, which was read through its relay.
            assert!(result["parameters"]["start_skew"].as_f64().is_some_and(|it| it >= 0.0));
        }
    }
    let lost = document["warnings"].as_array().unwrap();
    let lost = lost.iter().find(|it| it["id"] == "host-lost").expect("one is lost");
    assert_eq!(lost["arguments"]["why"], "connection-ended", "{lost:#}");
    let reason = lost["arguments"]["reason"].as_str().unwrap();
    assert!(reason.contains("from r2") && reason.contains("resolve hostname gone"), "{lost:#}");
    assert!(lost["arguments"]["advice"].as_str().unwrap().contains("/etc/hosts"), "{lost:#}");
    let ways = std::fs::read_to_string(world.path("ways")).unwrap();
    let mut ways: Vec<&str> = ways.lines().collect();
    ways.sort_unstable();
    assert_eq!(
        ways,
        ["a1 agent", "a2 agent", "a3 agent", "gone agent", "r1 run", "r2 run"],
        "hosts are reached only from relays"
    );
    world.wait_until_data_is_gone();
    wait_until_agents_are_gone(&world);
    world.assay(&["verify"]).succeeded();
}

#[test]
fn lost_relay_loses_its_hosts_and_others_count() {
    let world = world_with_relays();
    let words = run_words("a,b,dies,c", "r[1-2]", &["--json", "--budget", "shortest"]);
    let document = world.run_fleet_json(&words, 4);
    assert_eq!(document["run"]["status"], "partial");
    let lost = document["warnings"].as_array().unwrap().iter();
    let lost = lost.filter(|it| it["id"] == "host-lost");
    let named = |key: &str| {
        lost.clone().map(|it| it["arguments"][key].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(named("host"), ["dies", "c"]);
    assert_eq!(named("why"), ["relay-lost", "relay-lost"]);
    assert!(
        named("reason").iter().all(|it| it.starts_with("r2, through which")),
        "{document:#}"
    );
    let rates = crate::program::results(&document, "storage", "rate");
    let hosts: Vec<&str> = rates.iter().map(|it| it["host"].as_str().unwrap()).collect();
    assert_eq!(&hosts[..2], ["a", "b"]);
    assert!(hosts.iter().all(|it| !["dies", "c"].contains(it)), "{hosts:?}");
    world.wait_until_data_is_gone();
    wait_until_agents_are_gone(&world);
}

#[test]
fn killed_run_leaves_nothing_behind_relays() {
    let world = world_with_relays();
    let mut going = world.fleet_command(&run_words("a,b", "r1", &["--budget", "10min"]));
    let mut going = going.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_first_case(&world.path("assay/runs"));
    going.kill().unwrap();
    going.wait().unwrap();
    world.wait_until_data_is_gone();
    wait_until_agents_are_gone(&world);
}

#[test]
fn rejects_invalid_relays() {
    let world = World::new();
    let hosts = ["run", "memory", "--hosts", "a,b", "--via", "touch started {host}"];
    for (arguments, says) in [
        (&["--relays", "c,b"][..], "b is both a relay and one of --hosts"),
        (&["--relays", "c[1-"], "cannot use --relays"),
        (&["--relays", "c", "--binary", "x"], "cannot be used with"),
    ] {
        let outcome = world.assay(&[&hosts, arguments].concat()).failed_with(2);
        assert!(outcome.err.contains(says), "{arguments:?}: {outcome:?}");
    }
    let alone = world.assay(&["run", "memory", "--relays", "a"]).failed_with(2);
    assert!(alone.err.contains("--hosts"), "{alone:?}");
    assert!(!world.path("started").exists());
}
