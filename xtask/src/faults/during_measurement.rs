//! Failures during a measurement: of a CPU, a tool, a file system or a network interface.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::storage_changes::LoopDisk;
use super::{
    FaultCheck, FaultResult, FaultSandbox, describe_exit, error_line, run_system, wait_until,
};

/// Addresses of the two ends, each in its own network namespace (RFC 2544).
const NEAR: &str = "198.18.9.1";
const FAR: &str = "198.18.9.2";

/// Fault, expected result, function that injects it, and whether `--brief` includes it.
type Row = (&'static str, &'static str, fn(&Path) -> Result<FaultResult>, bool);

const ROWS: &[Row] = &[
    (
        "all threads lose a CPU, as if it went offline",
        "the results carry the doubt `cpus-taken`",
        take_cpu,
        true,
    ),
    (
        "the kernel kills a tool that runs out of memory",
        "its case fails with that reason; the others are measured",
        exhaust_memory,
        true,
    ),
    (
        "the file system turns read-only during a writing run",
        "the case fails with the kernel's error; nothing is stored as measured",
        abort_file_system,
        true,
    ),
    (
        "the FUSE daemon of the target dies during a writing run",
        "the case fails with the kernel's error; nothing is stored as measured",
        kill_fuse_daemon,
        true,
    ),
    (
        "the FUSE daemon of the target dies after the target was opened, before the phase that writes it",
        "the phase fails with the kernel's error, and not as if the target had been replaced",
        kill_fuse_daemon_before_phase,
        true,
    ),
    (
        "SIGTERM while a tree of a hundred million files is looked at",
        "the run ends within seconds, and is stored as interrupted",
        interrupt_tree_scan,
        true,
    ),
    (
        "the interface goes down during `net throughput`",
        "the case fails because nothing moves",
        |program| take_interface_down(program, &["net", "throughput", FAR, "--for", "6s"]),
        false,
    ),
    (
        "the interface goes down during `net latency`",
        "the case fails because nothing moves",
        |program| take_interface_down(program, &["net", "latency", FAR, "--for", "6s"]),
        false,
    ),
    (
        "the interface goes down during `iperf3`",
        "the test fails because nothing moves; its intervals are kept",
        |program| {
            let words = ["iperf3", "-c", FAR, "-t", "6", "--rcv-timeout", "3000"];
            take_interface_down(program, &words)
        },
        true,
    ),
];

pub(super) fn try_all(program: &Path, is_brief: bool) -> Result<Vec<FaultCheck>> {
    let rows = ROWS.iter().filter(|row| !is_brief || row.3);
    rows.map(|(fault, expected, make, _)| {
        Ok(FaultCheck { fault, expected, result: make(program)? })
    })
    .collect()
}

/// Waits for the end of assay; returns its exit code and the stored run as JSON.
fn wait_and_show(sandbox: &FaultSandbox, child: &mut Child) -> Result<(Option<i32>, String)> {
    let code = child.wait()?.code();
    Ok((code, sandbox.run_assay(&["show", "--json"])?.out))
}

/// Waits until the only run in this folder is measuring, even on a busy machine.
pub(super) fn wait_for_measurement(sandbox: &FaultSandbox) {
    let runs = sandbox.path("assay/runs");
    let has_started = |run: fs::DirEntry| {
        let events = fs::read_to_string(run.path().join("events.jsonl"));
        events.is_ok_and(|events| events.contains("\"case-started\""))
    };
    wait_until(|| fs::read_dir(&runs).is_ok_and(|runs| runs.flatten().any(has_started)));
    thread::sleep(Duration::from_secs(2));
}

fn take_cpu(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let mut child =
        sandbox.spawn_assay(&["storage", "read", "--engine", "null", "--for", "6s"])?;
    wait_for_measurement(&sandbox);
    if thread::available_parallelism()?.get() < 2 {
        child.wait()?;
        return Ok(FaultResult::NotTried("only one CPU is available".to_owned()));
    }
    let pinning = run_system(&["taskset", "-apc", "0", &child.id().to_string()]);
    let (code, stored_run) = wait_and_show(&sandbox, &mut child)?;
    Ok(match pinning {
        Err(reason) => FaultResult::NotTried(reason),
        Ok(_) => FaultResult::passed_if(
            code == Some(0) && stored_run.contains("\"cpus-taken\""),
            describe_exit(code),
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

fn exhaust_memory(program: &Path) -> Result<FaultResult> {
    if !crate::command::is_installed("fio") {
        return Ok(FaultResult::NotTried("fio is not installed".to_owned()));
    }
    let sandbox = FaultSandbox::new(program)?;
    let (bin, data) = (sandbox.path("bin"), sandbox.path("data"));
    fs::create_dir(&bin)?;
    fs::create_dir(&data)?;
    let fio = bin.join("fio");
    fs::write(&fio, SMALL_FIO)?;
    fs::set_permissions(&fio, fs::Permissions::from_mode(0o755))?;
    fs::write(
        sandbox.path("suite.toml"),
        "name = \"oom\"\nbudget = \"20s\"\n[[measure]]\nbenchmark = \"storage\"\n\
         operation = \"read\"\nsize = \"8MiB\"\nbs = \"4KiB\"\nlength = \"1s\"\n",
    )?;
    let path = std::env::var("PATH").unwrap_or_default();
    let arguments = ["run", "suite.toml", "--by", "fio,assay", "--target", "data"];
    let output = sandbox
        .command(&[], &arguments)
        .env("REAL_PATH", &path)
        .env("PATH", format!("{}:{path}", bin.display()))
        .output()
        .context("cannot start assay")?;
    for group in ["/sys/fs/cgroup/memory/assay-faults", "/sys/fs/cgroup/assay-faults"] {
        drop(fs::remove_dir(group));
    }
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if err.contains("77") {
        return Ok(FaultResult::NotTried("cannot create a memory control group".to_owned()));
    }
    let stored_run = sandbox.run_assay(&["show", "--json"])?.out;
    let is_reported = output.status.code() == Some(4) && stored_run.contains("\"bandwidth\"");
    let reason = err.lines().find(|line| line.contains("why:")).unwrap_or_default().trim();
    Ok(FaultResult::passed_if(is_reported && reason.contains("signal"), reason))
}

fn abort_file_system(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let disk = sandbox.path("disk");
    let device = match LoopDisk::attach(&disk, 512 << 20)? {
        Ok(device) => device,
        Err(reason) => return Ok(FaultResult::NotTried(reason)),
    };
    let folder = sandbox.path("mounted");
    fs::create_dir(&folder)?;
    let mount_point = folder.to_string_lossy().into_owned();
    let prepared = run_system(&["mkfs.ext4", "-q", &device.0])
        .and_then(|_| run_system(&["mount", &device.0, &mount_point]));
    if let Err(reason) = prepared {
        return Ok(FaultResult::NotTried(reason));
    }
    let arguments = ["storage", "write", "mounted/file", "--size", "8MiB", "--for", "8s"];
    let mut child = sandbox.spawn_assay(&arguments)?;
    wait_until(|| folder.join("file").exists());
    wait_for_measurement(&sandbox);
    let abort = run_system(&["mount", "-o", "remount,abort", &mount_point]);
    let (code, stored_run) = wait_and_show(&sandbox, &mut child)?;
    Ok(match abort {
        Err(reason) => FaultResult::NotTried(reason),
        Ok(_) => FaultResult::passed_if(
            code == Some(4)
                && (stored_run.contains("Read-only file system")
                    || stored_run.contains("Input/output error")),
            describe_exit(code),
        ),
    })
}

/// Running FUSE daemon, ended and unmounted on drop.
struct FuseMount {
    daemon: Child,
    mount_point: String,
}

impl Drop for FuseMount {
    fn drop(&mut self) {
        drop(self.daemon.kill());
        drop(self.daemon.wait());
        drop(run_system(&["umount", "-l", &self.mount_point]));
    }
}

impl FuseMount {
    /// Mounts a folder of the sandbox; returns the reason where that is impossible.
    fn new(sandbox: &FaultSandbox) -> Result<std::result::Result<Self, String>> {
        let (source, folder) = (sandbox.path("source"), sandbox.path("mounted"));
        fs::create_dir(&source)?;
        fs::create_dir(&folder)?;
        let daemon = match Command::new("bindfs").arg("-f").args([&source, &folder]).spawn() {
            Ok(daemon) => daemon,
            Err(error) => return Ok(Err(format!("bindfs: {error}"))),
        };
        let fuse = Self { daemon, mount_point: folder.to_string_lossy().into_owned() };
        let is_mounted = || {
            let mounts = fs::read_to_string("/proc/self/mountinfo");
            mounts.is_ok_and(|mounts| mounts.contains(&fuse.mount_point))
        };
        let is_ready = wait_until(is_mounted);
        Ok(if is_ready { Ok(fuse) } else { Err("bindfs mounts nothing".to_owned()) })
    }
}

fn kill_fuse_daemon(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let mut fuse = match FuseMount::new(&sandbox)? {
        Ok(fuse) => fuse,
        Err(reason) => return Ok(FaultResult::NotTried(reason)),
    };
    let arguments =
        ["storage", "write", "mounted/file", "--size", "8MiB", "--for", "8s", "--buffered"];
    let mut child = sandbox.spawn_assay(&arguments)?;
    wait_for_measurement(&sandbox);
    fuse.daemon.kill()?;
    let (code, stored_run) = wait_and_show(&sandbox, &mut child)?;
    // Linux ends open requests with one error, and refuses later ones with the other.
    let is_reported = stored_run.contains("Transport endpoint is not connected")
        || stored_run.contains("Software caused connection abort");
    Ok(FaultResult::passed_if(code == Some(4) && is_reported, describe_exit(code)))
}

/// Kills the daemon by a command of a parameter file, which runs when the file is laid out and
/// open.
fn kill_fuse_daemon_before_phase(program: &Path) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let fuse = match FuseMount::new(&sandbox)? {
        Ok(fuse) => fuse,
        Err(reason) => return Ok(FaultResult::NotTried(reason)),
    };
    let text = format!(
        "sd=sd1,lun=mounted/file,size=1m\nwd=wd1,sd=sd1,rdpct=0,xfersize=4k\n\
         rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1,startcmd=\"kill -9 {}; sleep 1\"\n",
        fuse.daemon.id()
    );
    fs::write(sandbox.path("parameters"), text)?;
    let run = sandbox.run_assay(&["vdbench", "-f", "parameters"])?;
    let is_reported = run.err.contains("mounted/file cannot be used")
        && run.err.contains("Transport endpoint is not connected");
    Ok(FaultResult::passed_if(run.code == Some(4) && is_reported, error_line(&run.err)))
}

fn interrupt_tree_scan(program: &Path) -> Result<FaultResult> {
    /// Much shorter than the look at all files, even on a busy machine.
    const SOON: Duration = Duration::from_secs(10);
    let sandbox = FaultSandbox::new(program)?;
    fs::create_dir(sandbox.path("data"))?;
    let tree = ["--width", "1000", "--files", "100000", "--size", "1", "--operations", "stat"];
    let mut child =
        sandbox.spawn_assay(&[&["storage", "files", "data"][..], &tree].concat())?;
    wait_for_measurement(&sandbox);
    let began = Instant::now();
    run_system(&["kill", "-TERM", &child.id().to_string()]).map_err(anyhow::Error::msg)?;
    while child.try_wait()?.is_none() && began.elapsed() < SOON {
        thread::sleep(Duration::from_millis(10));
    }
    if child.try_wait()?.is_none() {
        child.kill()?;
        child.wait()?;
        return Ok(FaultResult::Failed(format!("still there after {} s", SOON.as_secs())));
    }
    let listed = sandbox.run_assay(&["list", "--all"])?;
    let is_interrupted = listed.out.contains("interrupted");
    Ok(FaultResult::passed_if(is_interrupted, describe_exit(child.wait()?.code())))
}

/// Two network namespaces with a link between them, deleted on drop.
struct NamespaceLink {
    near: String,
    far: String,
}

impl NamespaceLink {
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
            run_system(&words)?;
        }
        Ok(link)
    }
}

impl Drop for NamespaceLink {
    fn drop(&mut self) {
        for name in [&self.near, &self.far] {
            drop(run_system(&["ip", "netns", "del", name]));
        }
    }
}

/// Server process, killed on drop.
struct RunningServer(Child);

impl Drop for RunningServer {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn take_interface_down(program: &Path, arguments: &[&str]) -> Result<FaultResult> {
    let sandbox = FaultSandbox::new(program)?;
    let link = match NamespaceLink::new() {
        Ok(link) => link,
        Err(reason) => return Ok(FaultResult::NotTried(reason)),
    };
    let spawn_silent = |mut command: Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    let in_far_namespace = ["ip", "netns", "exec", &link.far];
    let server_arguments = ["iperf3", "-s", "-B", FAR, "--idle-timeout", "60"];
    let _server =
        RunningServer(spawn_silent(sandbox.command(&in_far_namespace, &server_arguments))?);
    thread::sleep(Duration::from_secs(1));
    let in_near_namespace = ["ip", "netns", "exec", &link.near];
    let mut child = spawn_silent(sandbox.command(&in_near_namespace, arguments))?;
    wait_for_measurement(&sandbox);
    let link_down = run_system(&["ip", "-n", &link.near, "link", "set", "near", "down"]);
    let (code, stored_run) = wait_and_show(&sandbox, &mut child)?;
    if let Err(reason) = link_down {
        return Ok(FaultResult::NotTried(reason));
    }
    let reason =
        stored_run.lines().find(|line| line.contains("\"reason\"")).unwrap_or_default();
    // The interface was up at the start, so a failed connection is not the expected error.
    let is_under_way = !reason.is_empty() && !reason.contains("cannot connect");
    Ok(FaultResult::passed_if(code == Some(4) && is_under_way, reason.trim().trim_matches(',')))
}
