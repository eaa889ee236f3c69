//! Hosts that are containers of a real podman.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::TWO;
use crate::program::World;

/// Runtimes refuse a machine with control groups of both versions (crun: "hybrid mode"); they are given a view of it
/// that has those of the first alone.
const PODMAN: &str = "if [ -d /sys/fs/cgroup/unified ]; then\n\
    exec unshare -m sh -c 'umount /sys/fs/cgroup/unified; exec podman \"$@\"' podman \"$@\"\n\
    fi\n\
    exec podman \"$@\"\n";

/// Containers with the files of this machine as theirs, each on its own; removed when this is dropped.
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
    /// What podman prints, or why it does nothing.
    fn podman(&self, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new("sh");
        command.arg(&self.script).args(words).stdin(Stdio::null());
        let output = command.output().map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(said.lines().last().unwrap_or("it says nothing").to_owned())
    }

    fn start(&self) -> Result<(), String> {
        // What runs in them is this machine's, copied on write and not kept: no image has to be had from anywhere. Their
        // limits are below those of any machine, so that nobody has to be allowed to raise them.
        let alone = ["--network", "none", "--cgroups", "disabled"];
        let limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"];
        let files = ["--rootfs", "/:O", "sleep", "600"];
        self.names.iter().try_for_each(|name| {
            let begin = ["run", "--detach", "--name", name];
            self.podman(&[&begin[..], &alone, &limits, &files].concat()).map(drop)
        })
    }
}

#[test]
fn containers_of_podman_are_hosts() {
    let skipped = |why: &str| eprintln!("SKIPPED containers_of_podman_are_hosts: {why}");
    if !Path::new("/usr/bin/podman").exists() {
        return skipped("podman is not installed");
    }
    let world = World::new();
    world.write("two.toml", TWO);
    let names = ["a", "b"].map(|it| format!("assay-{}-{it}", std::process::id())).to_vec();
    let containers = Containers { script: world.write("podman.sh", PODMAN), names };
    if let Err(why) = containers.start() {
        return skipped(&format!("podman runs no container here: {why}"));
    }
    let hosts = containers.names.join(",");
    let words = ["run", "./two.toml", "--hosts", &hosts, "--target", "/tmp/{host}.made"];
    let via = ["--via", "sh podman.sh exec -i {host}", "--host-deadline", "50s", "--json"];
    let document = world.json(&[&words[..], &via].concat());
    for (benchmark, metric) in [("memory.stream", "triad"), ("storage", "rate")] {
        let found = crate::program::results(&document, benchmark, metric);
        let measured: Vec<&str> = found.iter().map(|it| it["host"].as_str().unwrap()).collect();
        assert_eq!(&measured[..2], containers.names, "{metric}");
    }
    for name in &containers.names {
        let left = "ls /tmp; cat /proc/[0-9]*/cmdline";
        let left = containers.podman(&["exec", name, "sh", "-c", left]).unwrap();
        assert!(!left.contains(".made") && !left.contains("agent\0"), "{left:?}");
    }
}
