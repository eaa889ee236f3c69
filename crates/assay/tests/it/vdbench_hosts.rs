//! `assay vdbench` on parameter files whose hosts are other machines: namespaces with a real ssh
//! server each, and other transports.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::hosts::{KILL_TRANSPORT, wait_for_first_case};
use crate::network::link::run;
use crate::processes::{END_LIMIT, wait_until, wait_until_within};
use crate::program::{Outcome, World, results};

mod trees;

#[path = "../../../assay-dialects/src/vdbench/tests/generated.rs"]
mod generated;

/// Namespaces on one bridge, each with its own ssh server; deleted on drop.
pub(crate) struct SshServers {
    /// Namespace of the bridge, where the coordinator runs.
    master: String,
    hosts: Vec<String>,
    sshd: Vec<Child>,
}

impl Drop for SshServers {
    fn drop(&mut self) {
        for server in &mut self.sshd {
            drop(server.kill());
            drop(server.wait());
        }
        for name in self.hosts.iter().chain([&self.master]) {
            run(&format!("ip netns del {name}"));
        }
    }
}

/// Returns an address of the range for benchmarks (RFC 2544).
fn address(host: usize) -> String {
    format!("198.18.79.{host}")
}

impl SshServers {
    /// Creates the hosts; prints the reason and returns `None` where that is not possible.
    pub(crate) fn new(test: &str, world: &World, count: usize) -> Option<Self> {
        for program in ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"] {
            if !Path::new(program).exists() {
                eprintln!("SKIPPED {test}: {program} is not installed");
                return None;
            }
        }
        // Tests of one process run concurrently.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let id = format!("{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let master = format!("assay-{id}-vm0");
        if !run(&format!("ip netns add {master}")) {
            eprintln!("SKIPPED {test}: network namespaces cannot be made here");
            return None;
        }
        let hosts = (1..=count).map(|host| format!("assay-{id}-vm{host}")).collect();
        let mut servers = Self { master, hosts, sshd: Vec::new() };
        servers.connect_bridge();
        for key in ["host", "mine"] {
            let words =
                format!("ssh-keygen -q -t ed25519 -N  -f {}", world.path(key).display());
            assert!(run(&words), "{words}");
        }
        drop(fs::create_dir_all("/run/sshd"));
        for host in 1..=count {
            let server = servers.start_sshd(world, host);
            servers.sshd.push(server);
        }
        servers.write_ssh_config(world);
        Some(servers)
    }

    fn connect_bridge(&self) {
        let master = &self.master;
        let mut commands = vec![
            format!("ip -n {master} link add br0 type bridge"),
            format!("ip -n {master} addr add {}/24 dev br0", address(254)),
            format!("ip -n {master} link set br0 up"),
            format!("ip -n {master} link set lo up"),
        ];
        for (number, name) in self.hosts.iter().enumerate() {
            let host = number + 1;
            commands.extend([
                format!("ip netns add {name}"),
                format!(
                    "ip -n {name} link add eth0 type veth peer name vm{host} netns {master}"
                ),
                format!("ip -n {master} link set vm{host} master br0 up"),
                format!("ip -n {name} addr add {}/24 dev eth0", address(host)),
                format!("ip -n {name} link set eth0 up"),
                format!("ip -n {name} link set lo up"),
            ]);
        }
        for command in commands {
            assert!(run(&command), "{command}");
        }
    }

    /// Starts a host's ssh server with its own address, host name and user folders.
    fn start_sshd(&self, world: &World, host: usize) -> Child {
        let path = |name: &str| world.path(name).display().to_string();
        let text = format!(
            "Port 22\nListenAddress {}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
             UsePAM no\nPermitRootLogin prohibit-password\nSetEnv XDG_DATA_HOME={} TMPDIR={} UCX_TLS=^shm\n",
            address(host),
            path("host"),
            path("mine.pub"),
            path(&format!("home{host}")),
            path(&format!("tmp{host}")),
        );
        fs::create_dir(world.path(&format!("tmp{host}"))).unwrap();
        let configuration = world.write(&format!("sshd{host}"), &text);
        let mut sshd = Command::new("ip");
        let named = format!("hostname vm{host} && exec /usr/sbin/sshd -D -e -f \"$0\"");
        sshd.args([
            "netns",
            "exec",
            &self.hosts[host - 1],
            "unshare",
            "--uts",
            "sh",
            "-c",
            &named,
        ]);
        sshd.arg(configuration).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Writes an ssh configuration that resolves the page's host names, and waits until every login
    /// works.
    fn write_ssh_config(&self, world: &World) {
        let path = |name: &str| world.path(name).display().to_string();
        let key = fs::read_to_string(world.path("host.pub")).unwrap();
        let key = key.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        world.write("known", &format!("vm {key}\n"));
        let names: String = (1..=self.hosts.len())
            .map(|host| format!("Host vdbench-vnet1-{host}\n HostName {}\n", address(host)))
            .collect();
        let configuration = format!(
            "{names}Host *\n HostKeyAlias vm\n IdentityFile {}\n IdentitiesOnly yes\n\
             UserKnownHostsFile {}\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n",
            path("mine"),
            path("known"),
        );
        let configuration = world.write("ssh_config", &configuration);
        fs::create_dir(world.path("bin")).unwrap();
        let ssh =
            format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", configuration.display());
        world.write("bin/ssh", &ssh);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(world.path("bin/ssh"), executable).unwrap();
        for host in 1..=self.hosts.len() {
            let name = format!("vdbench-vnet1-{host}");
            wait_until(&format!("a login at {name}"), || {
                let login = ["-o", "BatchMode=yes", &name, "true"];
                self.run_at_coordinator(world, "ssh", &login).0
            });
        }
    }

    /// Runs a command at the coordinator and returns whether it succeeded, its output and its
    /// errors.
    pub(crate) fn run_at_coordinator(
        &self,
        world: &World,
        program: &str,
        words: &[&str],
    ) -> (bool, String, String) {
        let output = self.command(world, program, words).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    }

    /// Returns the number of a host's processes whose command line contains these words.
    fn process_count(&self, host: usize, words: &str) -> usize {
        let pids = Command::new("ip").args(["netns", "pids", &self.hosts[host - 1]]).output();
        let pids = String::from_utf8(pids.unwrap().stdout).unwrap();
        let is_one = |pid: &&str| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ").contains(words)
        };
        pids.split_whitespace().filter(is_one).count()
    }

    fn command(&self, world: &World, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.master, "env"])
            .arg(format!("PATH={}:/usr/bin:/bin", world.path("bin").display()))
            .arg(format!("XDG_DATA_HOME={}", world.path("home0").display()))
            .arg(program)
            .args(words)
            .current_dir(world.path("."))
            .stdin(Stdio::null());
        command
    }
}

const VOLUMES: u32 = 6;

/// Writes the page's parameter files, changing only the size and the mount folder.
fn write_page_files(world: &World, hosts: usize) {
    let folder = format!("lun={}/", world.path("mnt").display());
    for (name, bytes) in generated::generate_files(u32::try_from(hosts).unwrap(), VOLUMES) {
        let text = String::from_utf8(bytes).unwrap();
        let text = text.replace("size=693g", "size=4m").replace("lun=/mnt/", &folder);
        fs::write(world.path(&name.display().to_string()), text).unwrap();
    }
    for volume in 1..=VOLUMES {
        fs::create_dir_all(world.path(&format!("mnt/vdb{volume}"))).unwrap();
    }
}

/// Returns the average lines of a page, as label and I/O rate.
fn averages(world: &World, page: &str) -> Vec<(String, f64)> {
    let text = fs::read_to_string(world.path("output").join(page)).unwrap();
    let words = text.lines().map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>());
    let is_average = |words: &Vec<&str>| words.first().is_some_and(|it| it.starts_with("avg_"));
    words
        .filter(is_average)
        .map(|words| (words[0].to_owned(), words[1].parse().unwrap()))
        .collect()
}

/// Runs one parameter file on all hosts and checks its pages: one summary, a page for each host and
/// storage definition, and totals that equal the sums of the hosts.
fn check_page_file(
    world: &World,
    servers: &SshServers,
    file: &str,
    times: &[&str],
    runs: &[&str],
) {
    let workload = format!("vnet1-{file}-workload");
    let words = [&["vdbench", "-f", &workload], times].concat();
    let (is_fine, out, err) =
        servers.run_at_coordinator(world, env!("CARGO_BIN_EXE_assay"), &words);
    assert!(is_fine, "{file}\n{out}\n{err}");
    assert!(out.contains("Vdbench execution completed successfully"), "{out}");
    let summary = averages(world, "summary.html");
    let labels: Vec<&str> = summary.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels.len(), runs.len(), "{file}\n{out}");
    for (label, expected) in labels.iter().zip(runs) {
        assert!(label.starts_with(expected), "{file}: {label}");
    }
    let hosts = servers.hosts.len();
    let mut sums = vec![0.0; runs.len()];
    for host in 1..=hosts {
        let own = averages(world, &format!("vm{host}.html"));
        assert_eq!(own.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), labels, "vm{host}");
        own.iter().zip(&mut sums).for_each(|((_, rate), sum)| *sum += rate);
        for volume in 1..=VOLUMES {
            let of_storage = averages(world, &format!("sd-{host}-{volume}.html"));
            assert_eq!(of_storage.len(), runs.len(), "sd-{host}-{volume}");
        }
    }
    // Rates are printed with two decimals.
    let rounding = 0.005 * (hosts + 1) as f64 + 1e-9;
    for (sum, (label, total)) in sums.iter().zip(&summary) {
        assert!(
            *total > 0.0 && (sum - total).abs() <= rounding,
            "{file} {label}: {sum} {total}"
        );
    }
    let skew = fs::read_to_string(world.path("output/skew.html")).unwrap();
    let storage = skew.lines().filter(|line| line.contains(" sd-")).count();
    assert_eq!(storage, hosts * VOLUMES as usize * runs.len(), "{skew}");
    let links = fs::read_to_string(world.path("output/summary.html")).unwrap();
    assert_eq!(links.matches("Host report:").count(), hosts);
}

/// Runs these parameter files, each with the given times.
fn check_page_files(test: &str, hosts: usize, files: &[(&str, &[&str])], times: &[&str]) {
    let world = World::new();
    let Some(servers) = SshServers::new(test, &world, hosts) else { return };
    write_page_files(&world, hosts);
    for (file, runs) in files {
        check_page_file(&world, &servers, file, times, runs);
    }
    // The data files stay, as with Vdbench.
    let last = format!("mnt/vdb{VOLUMES}/file-{hosts}-{VOLUMES}");
    assert_eq!(world.path(&last).metadata().unwrap().len(), 4 << 20);
    let (_, shown, err) = servers.run_at_coordinator(
        &world,
        env!("CARGO_BIN_EXE_assay"),
        &["show", "--as", "vdbench", "--output", "again"],
    );
    assert!(shown.contains("Vdbench execution completed successfully"), "{shown}\n{err}");
    let of_host = |folder: &str| {
        let text = fs::read_to_string(world.path(&format!("{folder}/vm{hosts}.html"))).unwrap();
        // Without the times of day and the title, which is the path.
        let lines = text.lines().skip(1).map(|line| line.split_once(' ').map_or("", |it| it.1));
        lines.map(str::to_owned).filter(|it| !it.contains("Starting")).collect::<Vec<_>>()
    };
    assert_eq!(of_host("again"), of_host("output"));
}

#[test]
fn page_files_run_on_three_hosts() {
    check_page_files(
        "page_files_run_on_three_hosts",
        3,
        &[("FillWrite", &["avg_"]), ("RndMix", &["avg_2-3"])],
        &["-e", "2", "-w", "1", "-i", "1"],
    );
}

/// The original page except for its times: it checks only that all 24 hosts work.
#[test]
fn page_runs_on_24_hosts() {
    let one: &[&str] = &["avg_2-5"];
    let files = [
        ("FillWrite", &["avg_"][..]),
        ("SeqRead", one),
        ("SeqWrite", &["avg_2-5"; 3]),
        ("RndRead", one),
        ("RndWrite", one),
        ("SeqMix", &["avg_2-5"; 2]),
        ("RndMix", one),
    ];
    check_page_files("page_runs_on_24_hosts", 24, &files, &["-e", "4", "-w", "1", "-i", "1"]);
}

/// Runs Vdbench on two hosts, whose transport is this script.
fn vdbench_behind_script(world: &World, script: &str, words: &[&str]) -> Outcome {
    world.write("via.sh", script);
    let storage = |host: u32| {
        let lun = world.path(&format!("file{host}"));
        format!("sd=sd{host},host=vm{host},lun=\"{}\",size=1m\n", lun.display())
    };
    let text = format!(
        "hd=vm1,system=one\nhd=vm2,system=two\n{}{}wd=wd1,sd=*,xfersize=4k\n\
         rd=rd1,wd=wd1,iorate=200,elapsed=4,interval=1\nrd=rd2,wd=wd1,iorate=100,elapsed=2,interval=1\n",
        storage(1),
        storage(2),
    );
    world.write("file", &text);
    let usual =
        ["vdbench", "-f", "file", "--via", "sh via.sh {host}", "--host-deadline", "20s"];
    world.assay(&[&usual[..], words].concat())
}

#[test]
fn lost_host_ends_run_and_keeps_results() {
    let world = World::new();
    let gone = "[ $1 = two ] && { echo 'ssh: Could not resolve hostname two' >&2; exit 255; }\n\
                shift; exec \"$@\"\n";
    let outcome = vdbench_behind_script(&world, gone, &[]).failed_with(4);
    assert!(outcome.err.contains("host vm2 is lost"), "{}", outcome.err);
    assert!(outcome.err.contains("Could not resolve hostname"), "{}", outcome.err);
    assert!(outcome.err.contains("/etc/hosts"), "{}", outcome.err);
    assert!(!world.path("file1").exists(), "nothing was started");
    // The second host dies after two lines of the run.
    let dies = "host=$1; shift\n[ $host = one ] && exec \"$@\"\n\
                (until grep -q ' 2  ' output/summary.html 2>/dev/null; do sleep 0.1; done; kill_transport) &\n\
                exec \"$@\"\n";
    let dies = format!("{KILL_TRANSPORT}{dies}");
    let outcome = vdbench_behind_script(&world, &dies, &[]).failed_with(4);
    assert!(outcome.err.contains("host vm2 is lost"), "{}", outcome.err);
    assert!(outcome.out.contains("abnormally terminated"), "{}", outcome.out);
    assert_eq!(averages(&world, "summary.html").len(), 1, "{}", outcome.out);
    assert!(!outcome.out.contains("rd=rd2"), "{}", outcome.out);
    let shown = world.json(&["show", "--json"]);
    let doubts = shown["results"][0]["warnings"].to_string() + &shown.to_string();
    assert!(doubts.contains("host-lost"), "{shown:#}");
}

#[test]
fn transport_option_needs_hosts() {
    let world = World::new();
    let lun = world.path("x").display().to_string();
    let text =
        format!("sd=sd1,lun={lun},size=1m\nwd=wd1,sd=*\nrd=rd1,wd=wd1,iorate=10,elapsed=2\n");
    world.write("file", &text);
    let words = ["vdbench", "-f", "file", "--via", "touch started {host}"];
    let refused = world.assay(&words).failed_with(2);
    assert!(refused.err.contains("--via needs hosts, but the parameter file has none"));
    assert!(refused.err.contains("hd=vm1,system=vm1"), "{refused:?}");
    assert!(!world.path("started").exists() && !world.path("x").exists());
}

#[test]
fn host_with_lost_link_is_named_and_others_count() {
    let test = "host_with_lost_link_is_named_and_others_count";
    let world = World::new();
    let Some(servers) = SshServers::new(test, &world, 2) else { return };
    let suite = "name = \"one\"\nbudget = \"3s\"\n[[measure]]\nbenchmark = \"memory.stream\"\n\
                 placement = [\"node\"]\narray-size = \"1MiB\"\n";
    world.write("one.toml", suite);
    let words = ["run", "./one.toml", "--hosts", "vdbench-vnet1-[1-2]", "--via"];
    let via = format!("{} -o BatchMode=yes {{host}}", world.path("bin/ssh").display());
    let words = [&words[..], &[&via, "--host-deadline", "15s", "--json"]].concat();
    let mut going = servers.command(&world, env!("CARGO_BIN_EXE_assay"), &words);
    let going = going.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_first_case(&world.path("home0/assay/runs"));
    assert!(servers.process_count(2, "agent --patience") > 0);
    assert!(run(&format!("ip -n {} link set vm2 down", servers.master)));
    let output = going.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lost = document["warnings"].as_array().unwrap();
    let lost = lost.iter().find(|it| it["id"] == "host-lost").unwrap();
    assert_eq!(lost["arguments"]["host"], "vdbench-vnet1-2", "{lost}");
    assert_eq!(lost["arguments"]["why"], "no-answer", "{lost}");
    let found = results(&document, "memory.stream", "triad");
    let hosts: Vec<&str> = found.iter().map(|it| it["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["vdbench-vnet1-1"]);
    // The ssh server keeps the pipe open: TCP gives up after a quarter of an hour, and until then
    // nothing closes it.
    wait_until_within(END_LIMIT, "no agent is left", || {
        servers.process_count(2, "agent --patience") == 0
    });
    assert!(servers.process_count(2, "sshd") > 1, "the server of its login is still there");
}
