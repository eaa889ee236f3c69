//! Many hosts: agents over real ssh and over other commands that give a pipe, and hosts that do not answer.

use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Outcome, World, files_below};

/// What the checks found on hosts, in JSON.
fn examined(world: &World, hosts: &str, via: &str) -> (Outcome, Value) {
    let words = ["doctor", "--hosts", hosts, "--via", via, "--host-deadline", "50s", "--json"];
    let outcome = world.assay(&words);
    let document = serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{outcome:?}"));
    (outcome, document)
}

#[test]
fn hosts_answer_in_the_order_of_the_list() {
    let world = World::new();
    let (outcome, document) = examined(&world, "vm[1-2],far", "env NAME={host}");
    outcome.succeeded();
    let hosts = document["hosts"].as_array().unwrap();
    let names: Vec<&str> = hosts.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["vm1", "vm2", "far"]);
    let alone = world.json(&["doctor", "--json"]);
    for host in hosts {
        assert_eq!(host["host"]["fingerprint"], alone["host"]["fingerprint"]);
        let ids = |it: &Value| {
            let all = it["findings"].as_array().unwrap().iter();
            all.map(|it| it["id"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(host), ids(&alone));
        // The clock is the same one.
        let [offset, bound] =
            ["clock_offset_s", "clock_offset_bound_s"].map(|key| host[key].as_f64().unwrap());
        assert!(bound > 0.0 && offset.abs() <= bound + 1e-6, "{offset} {bound}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_started() {
    let world = World::new();
    for (arguments, says) in [
        (&["--hosts", "vm[1-"][..], "bracket is not closed"),
        (&["--hosts", "vm1,vm1"], "vm1 is named twice"),
        (&["--hosts", "./none"], "cannot be read from ./none"),
        (&["--hosts", "vm1", "--via", "sudo"], "write {host}"),
        (&["--hosts", "vm1", "--to", "vm2"], "cannot be used with"),
        (&["--via", "touch started {host}"], "--hosts"),
    ] {
        let outcome = world.assay(&[&["doctor"], arguments].concat()).failed_with(2);
        assert!(outcome.err.contains(says), "{arguments:?}: {outcome:?}");
    }
    let slurm = |nodes: Option<&str>| {
        let mut command = world.command(&["doctor", "--hosts", "slurm"]);
        match nodes {
            Some(nodes) => command.env("SLURM_JOB_NODELIST", nodes),
            None => command.env_remove("SLURM_JOB_NODELIST"),
        };
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(slurm(None).contains("salloc"));
    assert!(slurm(Some("n[1-2],n2")).contains("n2 is named twice"));
    assert!(!world.path("started").exists());
}

#[test]
fn a_host_without_an_answer_says_why_and_the_others_are_kept() {
    let world = World::new();
    world.write("uname", "#!/bin/sh\n[ \"$1\" = -m ] && echo riscv64 || echo Linux\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.path("uname"), executable).unwrap();
    world.write(
        "via.sh",
        "host=$1; shift\n\
         case $host in\n\
         fine) exec \"$@\" ;;\n\
         gone) echo 'ssh: Could not resolve hostname gone' >&2; exit 255 ;;\n\
         hangs) exec sleep 600 ;;\n\
         other) PATH=.:$PATH exec \"$@\" ;;\n\
         talks) exec yes ;;\n\
         esac\n",
    );
    let words = ["doctor", "--hosts", "gone,fine,other,talks", "--via", "sh via.sh {host}"];
    let words = [&words[..], &["--host-deadline", "50s", "--json"]].concat();
    let outcome = world.assay(&words).failed_with(4);
    let document: Value = serde_json::from_str(&outcome.out).unwrap();
    let hosts = document["hosts"].as_array().unwrap();
    let found: Vec<&str> =
        hosts.iter().map(|it| it["failure"]["id"].as_str().unwrap_or("answers")).collect();
    assert_eq!(
        found,
        ["connection-ended", "answers", "another-machine", "profile-prints"],
        "{document:#}"
    );
    let gone = &hosts[0]["failure"];
    assert!(gone["reason"].as_str().unwrap().contains("Could not resolve hostname gone"));
    assert!(gone["advice"].as_str().unwrap().contains("/etc/hosts"), "{gone}");
    assert!(hosts[2]["failure"]["reason"].as_str().unwrap().contains("riscv64"));
    let words =
        ["doctor", "--hosts", "hangs", "--via", "sh via.sh {host}", "--host-deadline", "1s"];
    let hangs = world.assay(&words).failed_with(4);
    assert!(hangs.out.contains("no answer within 1 s"), "{hangs:?}");
    let nothing = world.assay(&["doctor", "--hosts", "a", "--via", "no-such-transport {host}"]);
    let nothing = nothing.failed_with(4);
    assert!(nothing.out.contains("no-such-transport cannot be started"), "{nothing:?}");
}

#[test]
fn a_host_without_the_program_gets_it_and_keeps_nothing() {
    let world = World::new();
    let copy = world.path("other-assay");
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), &copy).unwrap();
    std::fs::create_dir(world.path("far")).unwrap();
    // The program is on this side only, as long as it runs; the profile greets.
    world.write(
        "via.sh",
        "echo Welcome; rm -f other-assay; export TMPDIR=$PWD/far; shift; exec \"$@\"\n",
    );
    let output = Command::new(&copy)
        .args(["doctor", "--hosts", "vm1", "--via", "sh via.sh {host}", "--json"])
        .current_dir(world.path("far").parent().unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["hosts"][0]["findings"].as_array().is_some_and(|it| !it.is_empty()));
    assert!(!copy.exists());
    assert_eq!(files_below(&world.path("far")), Vec::<std::path::PathBuf>::new());
}

#[test]
fn an_agent_ends_with_its_pipe() {
    let world = World::new();
    let mut agent = world.command(&["agent"]);
    let mut agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut length = [0; 4];
    agent.stdout.as_mut().unwrap().read_exact(&mut length).unwrap();
    drop(agent.stdin.take());
    assert!(agent.wait().unwrap().success());
}

/// A real server of ssh with keys of its own.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn ssh_is_here(test: &str) -> bool {
    let is_here = Path::new("/usr/sbin/sshd").exists();
    if !is_here {
        eprintln!("SKIPPED {test}: openssh-server is not installed");
    }
    is_here
}

fn key(world: &World, name: &str) -> String {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f", name])
        .current_dir(world.path("."))
        .status();
    assert!(made.unwrap().success());
    std::fs::read_to_string(world.path(&format!("{name}.pub"))).unwrap()
}

fn served(world: &World, port: u16) -> Server {
    // Where it gives its privileges up; what starts the service makes it.
    drop(std::fs::create_dir_all("/run/sshd"));
    let path = |name: &str| world.path(name).display().to_string();
    let configuration = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
         StrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\nMaxStartups 100\n",
        path("host"),
        path("mine.pub"),
    );
    let configuration = world.write("sshd_config", &configuration);
    let mut sshd = Command::new("/usr/sbin/sshd");
    sshd.args(["-D", "-e", "-f"]).arg(configuration).stderr(Stdio::null());
    let server = Server(sshd.spawn().unwrap());
    let deadline = Instant::now() + Duration::from_secs(30);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "sshd does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

#[test]
fn real_ssh_leads_to_hosts_and_its_refusals_are_understood() {
    if !ssh_is_here("real_ssh_leads_to_hosts_and_its_refusals_are_understood") {
        return;
    }
    let world = World::new();
    let host = key(&world, "host");
    let (_mine, other) = (key(&world, "mine"), key(&world, "other"));
    let port =
        || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let (open, closed) = (port(), port());
    let _server = served(&world, open);
    let key_of = |text: &str| text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let known = ["vm1", "vm2", "locked"].map(|name| format!("{name} {}\n", key_of(&host)));
    world.write("known", &[&known.concat(), "changed ", &key_of(&other), "\n"].concat());
    let names = ["vm1", "vm2", "closed", "changed", "locked"];
    let path = |name: &str| world.path(name).display().to_string();
    let (mine, strange) = (path("mine"), path("other"));
    let configuration = format!(
        "{}Host closed\n Port {closed}\nHost locked\n IdentityFile {strange}\n\
         Host !locked *\n IdentityFile {mine}\nHost *\n HostName 127.0.0.1\n Port {open}\n\
         IdentitiesOnly yes\n UserKnownHostsFile {}\n GlobalKnownHostsFile /dev/null\n\
         StrictHostKeyChecking yes\n BatchMode yes\n",
        names.map(|name| format!("Host {name}\n HostKeyAlias {name}\n")).concat(),
        path("known")
    );
    let configuration = world.write("ssh_config", &configuration);
    let via = format!("ssh -F {} {{host}}", configuration.display());
    let (outcome, document) = examined(&world, "vm[1-2],closed,changed,locked", &via);
    outcome.failed_with(4);
    let hosts = document["hosts"].as_array().unwrap();
    for host in &hosts[..2] {
        assert!(host["findings"].is_array(), "{host:#}");
    }
    for (host, reason, advice) in [
        (&hosts[2], "Connection refused", "start the ssh server"),
        (&hosts[3], "Host key verification failed", "ssh-keygen -R"),
        (&hosts[4], "Permission denied (publickey", "ssh-copy-id"),
    ] {
        let said = |key: &str| host["failure"][key].as_str().unwrap_or_default().to_owned();
        assert!(said("reason").contains(reason), "{host:#}");
        assert!(said("advice").contains(advice), "{host:#}");
    }
}
