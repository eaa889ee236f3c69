//! Transports beyond one plain login: sudo, a command within ssh, and a jump host.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use super::{doctor_json, doctor_with_failed_host, generate_key, has_sshd, start_sshd};
use crate::network::free_port;
use crate::network::link::run;
use crate::program::World;

/// Network namespaces as hosts; deleted on drop.
pub(super) struct Namespaces(pub(super) Vec<String>);

impl Namespaces {
    /// Creates the namespaces; prints the reason and returns `None` where that is not possible.
    pub(super) fn new(test: &str, hosts: &[&str]) -> Option<Self> {
        // Tests of one process run concurrently.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let mut made = Self(Vec::new());
        for host in hosts {
            let name = format!("assay-{}-{number}-{host}", std::process::id());
            if !run(&format!("ip netns add {name}")) {
                eprintln!("SKIPPED {test}: network namespaces cannot be made here");
                return None;
            }
            made.0.push(name);
        }
        Some(made)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            run(&format!("ip netns del {name}"));
        }
    }
}

/// Checks that every host answered from its own namespace: none has a device besides loopback.
pub(super) fn assert_namespaces(document: &Value, names: &[String]) {
    let hosts = document["hosts"].as_array().unwrap();
    let found: Vec<&str> = hosts.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(found, names);
    for host in hosts {
        assert!(host["findings"].is_array(), "{host:#}");
        let devices = host["network"]["devices"].as_array().unwrap();
        assert!(devices.is_empty(), "{devices:?}");
    }
}

#[test]
fn sudo_can_be_part_of_transport() {
    let test = "sudo_can_be_part_of_transport";
    if !Path::new("/usr/bin/sudo").exists() || !run("sudo -n true") {
        eprintln!("SKIPPED {test}: sudo is not installed, or asks for a password");
        return;
    }
    let world = World::new();
    let Some(hosts) = Namespaces::new(test, &["a", "b"]) else { return };
    let (outcome, document) =
        doctor_json(&world, &hosts.0.join(","), "sudo -n ip netns exec {host}");
    outcome.succeeded();
    assert_namespaces(&document, &hosts.0);
    // A user without the right to use sudo; the user who runs the tests has it.
    let (outcome, document) =
        doctor_json(&world, "x", "sudo -n -u nobody sudo -n env NAME={host}");
    outcome.failed_with(4);
    let failure = &document["hosts"][0]["failure"];
    assert_eq!(failure["id"], "connection-ended", "{failure:#}");
    assert!(
        failure["reason"].as_str().unwrap().contains("password is required"),
        "{failure:#}"
    );
    assert!(failure["advice"].as_str().unwrap().contains("NOPASSWD"), "{failure:#}");
}

/// Writes the user's ssh configuration for servers on this machine, each with its name and port.
pub(super) fn write_ssh_config(world: &World, hosts: &[(&str, u16)], more: &str) -> String {
    let path = |name: &str| world.path(name).display().to_string();
    let public = generate_key(world, "host");
    generate_key(world, "mine");
    let public = public.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let known: String = hosts.iter().map(|(name, _)| format!("{name} {public}\n")).collect();
    world.write("known", &known);
    let own: String = hosts
        .iter()
        .map(|(name, port)| format!("Host {name}\n HostKeyAlias {name}\n Port {port}\n"))
        .collect();
    let text = format!(
        "{more}{own}Host *\n HostName 127.0.0.1\n IdentityFile {}\n IdentitiesOnly yes\n\
         UserKnownHostsFile {}\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n\
         BatchMode yes\n",
        path("mine"),
        path("known"),
    );
    world.write("ssh_config", &text).display().to_string()
}

#[test]
fn command_within_ssh_can_be_transport() {
    let test = "command_within_ssh_can_be_transport";
    if !has_sshd(test) {
        return;
    }
    let world = World::new();
    let Some(hosts) = Namespaces::new(test, &["a", "b"]) else { return };
    let port = free_port();
    let configuration = write_ssh_config(&world, &[("gate", port)], "");
    let _gate = start_sshd(&world, port);
    let via = format!("ssh -F {configuration} gate ip netns exec {{host}}");
    let (outcome, document) = doctor_json(&world, &hosts.0.join(","), &via);
    outcome.succeeded();
    assert_namespaces(&document, &hosts.0);
    // Errors from the end of the chain reach the user as well as those from its beginning.
    let (outcome, document) = doctor_json(&world, "no-such-namespace", &via);
    outcome.failed_with(4);
    let failure = &document["hosts"][0]["failure"];
    let reason = failure["reason"].as_str().unwrap();
    assert!(reason.contains("Cannot open network namespace"), "{failure:#}");
    assert!(failure["advice"].as_str().unwrap().contains("ip netns list"), "{failure:#}");
}

#[test]
fn jump_host_forwards_and_measures_nothing() {
    if !has_sshd("jump_host_forwards_and_measures_nothing") {
        return;
    }
    let world = World::new();
    let [gate, inner] = [free_port(), free_port()];
    let log = world.path("gate.log").display().to_string();
    // The inner server is reached only through the gate, which logs what it forwards.
    let jump = "Host inner\n ProxyJump gate\n";
    let configuration = write_ssh_config(&world, &[("gate", gate), ("inner", inner)], jump);
    let _gate = super::start_sshd_with(&world, gate, &["-E", &log, "-o", "LogLevel=DEBUG1"]);
    let _inner = start_sshd(&world, inner);
    let via = format!("ssh -F {configuration} {{host}}");
    let suite = "name = \"one\"\nbudget = \"1s\"\n[[measure]]\nbenchmark = \"memory.stream\"\n\
                 placement = [\"node\"]\narray-size = \"1MiB\"\n";
    world.write("one.toml", suite);
    let words = ["run", "./one.toml", "--hosts", "inner", "--via", &via, "--json"];
    let document = world.json(&words);
    assert_eq!(document["hosts"][0]["name"], "inner");
    let log = fs::read_to_string(&log).unwrap();
    assert!(
        log.contains(&format!("port {inner}")),
        "the connection does not go through the gate\n{log}"
    );
}

#[test]
fn host_that_cannot_start_program_reports_reason() {
    let world = World::new();
    let copy = world.copy_of_program();
    // A library that the program needs, but shells do not, is empty on the host.
    world.write("libm.so.6", "");
    world.write(
        "via.sh",
        "rm -f other-assay; export LD_LIBRARY_PATH=$PWD PATH=/usr/bin:/bin; shift; exec \"$@\"\n",
    );
    let document = doctor_with_failed_host(&world, &copy, "vm1");
    let failure = &document["hosts"][0]["failure"];
    assert_eq!(failure["id"], "program-does-not-start", "{failure:#}");
    assert!(failure["reason"].as_str().unwrap().contains("libm.so.6"), "{failure:#}");
    assert!(failure["advice"].as_str().unwrap().contains("C library"), "{failure:#}");
}
