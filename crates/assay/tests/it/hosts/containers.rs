//! Podman containers as hosts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::transports::{assert_namespaces, write_ssh_config};
use super::{TWO_CASES, doctor_json, has_sshd, start_sshd};
use crate::network::free_port;
use crate::processes::{END_LIMIT, wait_until_within};
use crate::program::World;

/// Script that runs podman. Container runtimes reject a machine with control groups of both
/// versions (crun: "hybrid mode"), so the script hides those of version 2.
const PODMAN: &str = "if [ -d /sys/fs/cgroup/unified ]; then\n\
    exec unshare -m sh -c 'umount /sys/fs/cgroup/unified; exec podman \"$@\"' podman \"$@\"\n\
    fi\n\
    exec podman \"$@\"\n";

/// Containers with this machine's files, each with its own changes; removed on drop.
struct Containers {
    script: PathBuf,
    names: Vec<String>,
}

impl Drop for Containers {
    fn drop(&mut self) {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        drop(self.podman(&[&["rm", "--force", "--time", "0"], &names[..]].concat()));
    }
}

impl Containers {
    /// Returns podman's output, or the reason of its failure.
    fn podman(&self, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new("sh");
        command.arg(&self.script).args(words).stdin(Stdio::null());
        let output = command.output().map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(said.lines().last().unwrap_or("podman printed no reason").to_owned())
    }

    fn start(&self) -> Result<(), String> {
        // Their root is this machine's, copied on write and discarded, so that no image is needed.
        // Their limits are below those of any machine, so that no privilege is needed to raise
        // them.
        let alone = ["--network", "none", "--cgroups", "disabled"];
        let limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"];
        let files = ["--rootfs", "/:O", "sleep", "600"];
        self.names.iter().try_for_each(|name| {
            let begin = ["run", "--detach", "--name", name];
            self.podman(&[&begin[..], &alone, &limits, &files].concat()).map(drop)
        })
    }

    /// Waits until no measurement file and no agent is left: behind a nested transport, an agent
    /// may end a moment after the run.
    fn wait_until_clean(&self) {
        for name in &self.names {
            // A process may end before its command line is read.
            let look = "ls /tmp; cat /proc/[0-9]*/cmdline 2>/dev/null || true";
            let look = ["exec", name, "sh", "-c", look];
            wait_until_within(END_LIMIT, "nothing is left in the container", || {
                let left = self.podman(&look).unwrap();
                !left.contains(".made") && !left.contains("agent\0")
            });
        }
    }
}

/// Starts containers of these names where the machine allows it; otherwise prints the reason.
fn start_containers(test: &str, world: &World, names: &[&str]) -> Option<Containers> {
    let skipped = |why: &str| eprintln!("SKIPPED {test}: {why}");
    if !Path::new("/usr/bin/podman").exists() {
        skipped("podman is not installed");
        return None;
    }
    // Tests of one process run concurrently.
    let names = names.iter().map(|it| format!("assay-{}-{it}", std::process::id())).collect();
    let containers = Containers { script: world.write("podman.sh", PODMAN), names };
    if let Err(why) = containers.start() {
        skipped(&format!("podman runs no container here: {why}"));
        return None;
    }
    Some(containers)
}

#[test]
fn podman_containers_can_be_hosts() {
    let world = World::new();
    let test = "podman_containers_can_be_hosts";
    let Some(containers) = start_containers(test, &world, &["a", "b"]) else { return };
    world.write("two.toml", TWO_CASES);
    let hosts = containers.names.join(",");
    let words = ["run", "./two.toml", "--hosts", &hosts, "--target", "/tmp/{host}.made"];
    let via = ["--via", "sh podman.sh exec -i {host}", "--host-deadline", "50s", "--json"];
    let document = world.json(&[&words[..], &via].concat());
    for (benchmark, metric) in [("memory.stream", "triad"), ("storage", "rate")] {
        let found = crate::program::results(&document, benchmark, metric);
        let measured: Vec<&str> = found.iter().map(|it| it["host"].as_str().unwrap()).collect();
        assert_eq!(&measured[..2], containers.names, "{metric}");
    }
    containers.wait_until_clean();
}

#[test]
fn podman_container_behind_ssh_can_be_host() {
    let test = "podman_container_behind_ssh_can_be_host";
    if !has_sshd(test) {
        return;
    }
    let world = World::new();
    let Some(containers) = start_containers(test, &world, &["c"]) else { return };
    let port = free_port();
    let configuration = write_ssh_config(&world, &[("gate", port)], "");
    let _gate = start_sshd(&world, port);
    let script = containers.script.display();
    let via = format!("ssh -F {configuration} gate sh {script} exec -i {{host}}");
    let (outcome, document) = doctor_json(&world, &containers.names[0], &via);
    outcome.succeeded();
    assert_namespaces(&document, &containers.names);
    containers.wait_until_clean();
}

#[test]
fn podman_container_can_be_relay() {
    let world = World::new();
    let test = "podman_container_can_be_relay";
    let Some(containers) = start_containers(test, &world, &["r"]) else { return };
    world.write("two.toml", TWO_CASES);
    let relay = &containers.names[0];
    // Hosts other than the relay are reached only from within a container, which podman marks with
    // a file.
    let via = format!(
        "sh -c '[ {{host}} = {relay} ] && exec sh {} exec -i {{host}} \"$@\"; \
         [ -e /run/.containerenv ] && exec \"$@\"' sh",
        containers.script.display()
    );
    let words = ["run", "./two.toml", "--hosts", "a,b", "--relays", relay, "--via", &via];
    let more = ["--target", "/tmp/{host}.made", "--host-deadline", "50s", "--json"];
    let document = world.json(&[&words[..], &more].concat());
    let hosts = document["hosts"].as_array().unwrap();
    let names: Vec<&str> = hosts.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    let rates = crate::program::results(&document, "storage", "rate");
    assert_eq!(rates[1]["host"], "b");
    containers.wait_until_clean();
}
