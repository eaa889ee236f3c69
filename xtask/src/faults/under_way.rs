//! Failures during a measurement: of a CPU, a tool, a file system or a network interface.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::tricks::Loop;
use super::{End, Tried, World, system, wait_until};

/// Addresses of the two ends, each in its own network namespace (RFC 2544).
const NEAR: &str = "198.18.9.1";
const FAR: &str = "198.18.9.2";

/// Fault, expected result, function that injects it, and whether `--brief` includes it.
type Row = (&'static str, &'static str, fn(&Path) -> Result<End>, bool);

const ROWS: &[Row] = &[
    (
        "all threads lose a CPU, as when it is taken offline",
        "the results carry the doubt `cpus-taken`",
        cpu_taken,
        true,
    ),
    (
        "the kernel kills a tool that has no memory left",
        "its case fails and says so; the others are measured",
        out_of_memory,
        true,
    ),
    (
        "the file system turns read-only under a writing run",
        "the case fails with the kernel's error; nothing is stored as measured",
        turned_read_only,
        true,
    ),
    (
        "the interface goes down under `net throughput`",
        "the case fails because nothing moves",
        |program| interface_down(program, &["net", "throughput", FAR, "--for", "6s"]),
        false,
    ),
    (
        "the interface goes down under `net latency`",
        "the case fails because nothing moves",
        |program| interface_down(program, &["net", "latency", FAR, "--for", "6s"]),
        false,
    ),
    (
        "the interface goes down under `iperf3`",
        "the test fails because nothing moves; its intervals are kept",
        |program| {
            let words = ["iperf3", "-c", FAR, "-t", "6", "--rcv-timeout", "3000"];
            interface_down(program, &words)
        },
        true,
    ),
];

pub(super) fn all(program: &Path, is_brief: bool) -> Result<Vec<Tried>> {
    let rows = ROWS.iter().filter(|row| !is_brief || row.3);
    rows.map(|(fault, expected, make, _)| Ok(Tried { fault, expected, end: make(program)? }))
        .collect()
}

/// Waits for the end; returns the exit code and the stored run as JSON.
fn ended(world: &World, child: &mut Child) -> Result<(Option<i32>, String)> {
    let code = child.wait()?.code();
    Ok((code, world.assay(&["show", "--json"])?.out))
}

/// Waits until the only run in this folder is measuring, even on a busy machine.
pub(super) fn into_the_run(world: &World) {
    let runs = world.path("assay/runs");
    let has_begun = |run: fs::DirEntry| {
        let events = fs::read_to_string(run.path().join("events.jsonl"));
        events.is_ok_and(|events| events.contains("\"case-started\""))
    };
    wait_until(|| fs::read_dir(&runs).is_ok_and(|runs| runs.flatten().any(has_begun)));
    thread::sleep(Duration::from_secs(2));
}

fn cpu_taken(program: &Path) -> Result<End> {
    let world = World::new(program)?;
    let mut child = world.start(&["storage", "read", "--engine", "null", "--for", "6s"])?;
    into_the_run(&world);
    if thread::available_parallelism()?.get() < 2 {
        child.wait()?;
        return Ok(End::NotTried("there is one CPU".to_owned()));
    }
    let cut = system(&["taskset", "-apc", "0", &child.id().to_string()]);
    let (code, shown) = ended(&world, &mut child)?;
    Ok(match cut {
        Err(why) => End::NotTried(why),
        Ok(_) => End::of(
            code == Some(0) && shown.contains("\"cpus-taken\""),
            format!("exit code {code:?}"),
        ),
    })
}

/// Script named `fio` that runs the real fio with 6 MiB of memory in a control group, except for
/// `--version`.
const SMALL_FIO: &str = r#"#!/bin/sh
real=$(PATH=$REAL_PATH command -v fio)
case "$*" in *--version*) exec "$real" "$@" ;; esac
for at in /sys/fs/cgroup/memory/assay-faults:memory.limit_in_bytes /sys/fs/cgroup/assay-faults:memory.max; do
    [ -d "$(dirname "${at%%:*}")" ] && mkdir -p "${at%%:*}" && echo 6M > "${at%%:*}/${at##*:}" &&
        echo $$ > "${at%%:*}/cgroup.procs" && exec "$real" "$@"
done
exit 77
"#;

fn out_of_memory(program: &Path) -> Result<End> {
    if !crate::command::exists("fio") {
        return Ok(End::NotTried("fio is not installed".to_owned()));
    }
    let world = World::new(program)?;
    let (bin, data) = (world.path("bin"), world.path("data"));
    fs::create_dir(&bin)?;
    fs::create_dir(&data)?;
    let fio = bin.join("fio");
    fs::write(&fio, SMALL_FIO)?;
    fs::set_permissions(&fio, fs::Permissions::from_mode(0o755))?;
    fs::write(
        world.path("suite.toml"),
        "name = \"oom\"\nbudget = \"20s\"\n[[measure]]\nbenchmark = \"storage\"\n\
         operation = \"read\"\nsize = \"8MiB\"\nbytes = \"4KiB\"\nlength = \"1s\"\n",
    )?;
    let path = std::env::var("PATH").unwrap_or_default();
    let words = ["run", "suite.toml", "--by", "fio,assay", "--target", "data"];
    let output = world
        .command(&[], &words)
        .env("REAL_PATH", &path)
        .env("PATH", format!("{}:{path}", bin.display()))
        .output()
        .context("assay cannot be started")?;
    for group in ["/sys/fs/cgroup/memory/assay-faults", "/sys/fs/cgroup/assay-faults"] {
        drop(fs::remove_dir(group));
    }
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if err.contains("77") {
        return Ok(End::NotTried("no control group of memory can be made".to_owned()));
    }
    let shown = world.assay(&["show", "--json"])?.out;
    let is_reported = output.status.code() == Some(4) && shown.contains("\"bandwidth\"");
    let why = err.lines().find(|line| line.contains("why:")).unwrap_or_default().trim();
    Ok(End::of(is_reported && why.contains("signal"), why))
}

fn turned_read_only(program: &Path) -> Result<End> {
    let world = World::new(program)?;
    let disk = world.path("disk");
    let device = match Loop::over(&disk, 512 << 20)? {
        Ok(device) => device,
        Err(why) => return Ok(End::NotTried(why)),
    };
    let folder = world.path("mounted");
    fs::create_dir(&folder)?;
    let at = folder.to_string_lossy().into_owned();
    let made = system(&["mkfs.ext4", "-q", &device.0])
        .and_then(|_| system(&["mount", &device.0, &at]));
    if let Err(why) = made {
        return Ok(End::NotTried(why));
    }
    let run = ["storage", "write", "mounted/file", "--size", "8MiB", "--for", "8s"];
    let mut child = world.start(&run)?;
    wait_until(|| folder.join("file").exists());
    into_the_run(&world);
    let aborted = system(&["mount", "-o", "remount,abort", &at]);
    let (code, shown) = ended(&world, &mut child)?;
    Ok(match aborted {
        Err(why) => End::NotTried(why),
        Ok(_) => End::of(
            code == Some(4)
                && (shown.contains("Read-only file system")
                    || shown.contains("Input/output error")),
            format!("exit code {code:?}"),
        ),
    })
}

/// Two network namespaces with a link between them, deleted on drop.
struct Link {
    near: String,
    far: String,
}

impl Link {
    fn new() -> std::result::Result<Self, String> {
        let id = std::process::id();
        let link = Self { near: format!("assay-n{id}"), far: format!("assay-f{id}") };
        let (near, far) = (&link.near, &link.far);
        for command in [
            format!("netns add {near}"),
            format!("netns add {far}"),
            format!("-n {near} link add near type veth peer name far netns {far}"),
            format!("-n {near} addr add {NEAR}/24 dev near"),
            format!("-n {far} addr add {FAR}/24 dev far"),
            format!("-n {near} link set near up"),
            format!("-n {far} link set far up"),
        ] {
            let words: Vec<&str> = std::iter::once("ip").chain(command.split(' ')).collect();
            system(&words)?;
        }
        Ok(link)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        for name in [&self.near, &self.far] {
            drop(system(&["ip", "netns", "del", name]));
        }
    }
}

/// Server process, killed on drop.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn interface_down(program: &Path, words: &[&str]) -> Result<End> {
    let world = World::new(program)?;
    let link = match Link::new() {
        Ok(link) => link,
        Err(why) => return Ok(End::NotTried(why)),
    };
    let quiet = |mut command: Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let within_far = ["ip", "netns", "exec", &link.far];
    let serve = ["iperf3", "-s", "-B", FAR, "--idle-timeout", "60"];
    let _serving = Serving(quiet(world.command(&within_far, &serve))?);
    thread::sleep(Duration::from_secs(1));
    let within_near = ["ip", "netns", "exec", &link.near];
    let mut child = quiet(world.command(&within_near, words))?;
    into_the_run(&world);
    let down = system(&["ip", "-n", &link.near, "link", "set", "near", "down"]);
    let (code, shown) = ended(&world, &mut child)?;
    if let Err(why) = down {
        return Ok(End::NotTried(why));
    }
    let why = shown.lines().find(|line| line.contains("\"reason\"")).unwrap_or_default();
    // The interface was up when the test began, so a failure to connect does not count.
    let is_under_way = !why.is_empty() && !why.contains("cannot connect");
    Ok(End::of(code == Some(4) && is_under_way, why.trim().trim_matches(',')))
}
