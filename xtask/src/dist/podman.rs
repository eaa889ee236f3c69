//! Check of the OCI image in podman: loaded into a storage of its own, and run as users run it.
//!
//! Prints the reason where podman is missing or may not start containers.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::Release;
use super::program_check::STREAM;
use crate::command;

/// Script that starts podman. Container runtimes reject a machine with control groups of both versions,
/// so it hides those of version 2.
const PODMAN: &str = r#"if [ -d /sys/fs/cgroup/unified ]; then
  exec unshare --mount sh -c 'umount /sys/fs/cgroup/unified && exec podman "$@"' podman "$@"
fi
exec podman "$@""#;
/// Needs no control group, no network, and no right to raise limits.
const LIMITS: [&str; 8] = [
    "--cgroups",
    "disabled",
    "--network",
    "none",
    "--ulimit",
    "nofile=1024:1024",
    "--ulimit",
    "nproc=4096:4096",
];
/// Exit codes if podman or its runtime could not start the container, podman-run(1).
const NOT_STARTED: [i32; 2] = [125, 126];

/// Loads the image, measures with its volume, and lists the stored run from another container.
pub(super) fn check(release: &Release, file: &Path) -> Result<()> {
    if !(release.machine.is_native() && command::is_installed("podman")) {
        println!("dist: podman is not installed, or the image is for another machine");
        return Ok(());
    }
    let place = tempfile::tempdir()?;
    let podman = |words: &[&str]| start_podman(release, place.path(), words);
    command::output(podman(&["load", "--quiet", "--input"]).arg(file))?;
    let image = format!("localhost/assay:{}", release.version);
    let run = |words: &[&str]| {
        let begin = ["run", "--rm", "--volume", "runs:/data"];
        podman(&[&begin[..], &LIMITS, &[image.as_str()], words].concat())
    };
    let started = command::capture(&mut run(&["--version"]))?;
    if started.status.code().is_some_and(|code| NOT_STARTED.contains(&code)) {
        let reason = String::from_utf8_lossy(&started.stderr);
        println!("dist: podman starts no container here: {}", reason.trim());
        return Ok(());
    }
    let version = String::from_utf8_lossy(&started.stdout);
    ensure!(
        version.starts_with(&format!("assay {}", release.version)),
        "the container prints {version}{}",
        String::from_utf8_lossy(&started.stderr)
    );
    command::output(&mut run(&STREAM))?;
    let runs = command::output(&mut run(&["list"]))?;
    ensure!(runs.contains("stream"), "the next container lists {runs}");
    println!("dist: podman runs the image, and its volume keeps the run");
    Ok(())
}

/// Returns a command of podman with its storage below `place`.
fn start_podman(release: &Release, place: &Path, words: &[&str]) -> Command {
    let mut podman = release.reproducible("sh");
    podman.args(["-c", PODMAN, "podman", "--storage-driver", "vfs"]);
    podman.args(["--cgroup-manager", "cgroupfs", "--root"]).arg(place.join("storage"));
    podman.arg("--runroot").arg(place.join("state")).args(words);
    podman
}
