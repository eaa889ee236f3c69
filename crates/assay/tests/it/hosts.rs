//! Runs on many hosts: agents over real ssh and other transports, and hosts that fail.

use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::processes::{
    Background, END_LIMIT, is_reached_within, send_signal, wait_until, wait_until_within,
};
use crate::program::{Outcome, World, files_below};

mod clocks;
mod containers;
mod factors;
mod groups;
mod planted;
mod relays;
mod transports;

/// Runs `doctor` on hosts and returns its outcome with the parsed JSON.
fn doctor_json(world: &World, hosts: &str, via: &str) -> (Outcome, Value) {
    let words = ["doctor", "--hosts", hosts, "--via", via, "--host-deadline", "50s", "--json"];
    let outcome = world.assay(&words);
    let document = serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{outcome:?}"));
    (outcome, document)
}

#[test]
fn host_reports_keep_list_order() {
    let world = World::new();
    let (outcome, document) = doctor_json(&world, "vm[1-2],far", "env NAME={host}");
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
        // All hosts share one clock.
        let [offset, bound] =
            ["clock_offset_s", "clock_offset_bound_s"].map(|key| host[key].as_f64().unwrap());
        assert!(bound > 0.0 && offset.abs() <= bound + 1e-6, "{offset} {bound}");
    }
}

#[test]
fn rejects_invalid_host_options_before_start() {
    let world = World::new();
    for (arguments, says) in [
        (&["--hosts", "vm[1-"][..], "column 6: unclosed bracket"),
        (&["--hosts", "vm1,vm1"], "cannot use --hosts"),
        (
            &["--hosts", ""],
            "the list of hosts is empty\n  help: name hosts like vm1,vm[2-24], or leave out",
        ),
        (&["--hosts", "./none"], "cannot read the hosts from ./none"),
        (&["--hosts", "none.toml"], "cannot read none.toml"),
        (
            &["--hosts", "vm1", "--via", "sudo"],
            "the placeholder {host} is missing: write it where the host's name goes",
        ),
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

/// The budget has no time for all working sets: each host leaves out all but the largest.
#[test]
fn hosts_leave_out_cases_without_time() {
    let world = World::new();
    let ladder = "name = \"ladder\"\nbudget = \"1ms\"\n[[measure]]\n\
                  benchmark = \"memory.latency\"\nto = \"1MiB\"\n";
    world.write("ladder.toml", ladder);
    let words = ["run", "./ladder.toml", "--hosts", "a,b", "--via", "env NAME={host}"];
    let words = [&words[..], &["--host-deadline", "50s", "--json"]].concat();
    let outcome = world.assay(&words).succeeded();
    let document: Value = serde_json::from_str(&outcome.out).unwrap();
    let (omitted, results) = (&document["omitted"], document["results"].as_array().unwrap());
    let omitted = omitted.as_array().unwrap();
    assert!(omitted.iter().all(|it| it["reason"] == "time"), "{document:#}");
    let cut: Vec<&str> = omitted.iter().map(|it| it["benchmark"].as_str().unwrap()).collect();
    let measured: Vec<[&str; 2]> = results
        .iter()
        .map(|it| ["host", "case"].map(|key| it[key].as_str().unwrap()))
        .collect();
    let largest = measured[0][1];
    assert_eq!(measured, [["a", largest], ["b", largest]], "{document:#}");
    assert!(cut.len() > 5 && !cut.contains(&largest), "{document:#}");
    let said = format!("{0} of {1} cases were not measured", cut.len(), cut.len() + 1);
    assert!(outcome.err.contains(&said), "{outcome:?}");
}

/// The second test does not end within the budget: both hosts leave it out.
#[test]
fn hosts_leave_out_storage_without_time() {
    let world = World::new();
    let test = |bs: &str, length: &str| {
        format!(
            "[[measure]]\nbenchmark = \"storage\"\noperation = \"read\"\nbs = [\"{bs}\"]\n\
             size = \"1MiB\"\nbuffered = true\nengine = \"threads\"\nlength = \"{length}\"\n"
        )
    };
    let tests = [test("4KiB", "1s"), test("8KiB", "60s")].concat();
    world.write("two.toml", &format!("name = \"two\"\n{tests}"));
    let words = ["run", "./two.toml", "--hosts", "a,b", "--via", "env NAME={host}"];
    let more = ["--host-deadline", "50s", "--budget", "10s", "--target", "f.{host}", "--json"];
    let outcome = world.assay(&[&words[..], &more].concat()).succeeded();
    let document: Value = serde_json::from_str(&outcome.out).unwrap();
    let omitted = document["omitted"].as_array().unwrap();
    assert_eq!(omitted.len(), 1, "{document:#}");
    assert_eq!(omitted[0]["reason"], "time");
    assert!(omitted[0]["benchmark"].as_str().unwrap().contains("8KiB"), "{document:#}");
    let results = crate::program::results(&document, "storage", "rate");
    assert!(results.len() >= 2, "{document:#}");
}

#[test]
fn failed_hosts_are_explained_and_others_reported() {
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
         talks) echo; exec yes 'Use of this system is monitored' ;;\n\
         guest) echo 'This account is not available'; exit 1 ;;\n\
         stuck) echo 'Press any key'; exec sleep 600 ;;\n\
         esac\n",
    );
    let words =
        ["doctor", "--hosts", "gone,fine,other,talks,guest", "--via", "sh via.sh {host}"];
    let words = [&words[..], &["--host-deadline", "50s", "--json"]].concat();
    let outcome = world.assay(&words).failed_with(4);
    let document: Value = serde_json::from_str(&outcome.out).unwrap();
    let hosts = document["hosts"].as_array().unwrap();
    let found: Vec<&str> =
        hosts.iter().map(|it| it["failure"]["id"].as_str().unwrap_or("answers")).collect();
    assert_eq!(
        found,
        [
            "connection-ended",
            "answers",
            "another-machine",
            "profile-prints",
            "connection-ended"
        ],
        "{document:#}"
    );
    // The first lines of the output identify the source of the text.
    for (host, words) in
        [(3, "Use of this system is monitored"), (4, "This account is not available")]
    {
        let failure = &hosts[host]["failure"];
        assert!(failure["reason"].as_str().unwrap().contains(words), "{failure}");
        assert!(failure["advice"].as_str().unwrap().contains("[ -t 1 ]"), "{failure}");
    }
    let gone = &hosts[0]["failure"];
    assert!(gone["reason"].as_str().unwrap().contains("Could not resolve hostname gone"));
    assert!(gone["advice"].as_str().unwrap().contains("/etc/hosts"), "{gone}");
    assert!(hosts[2]["failure"]["reason"].as_str().unwrap().contains("riscv64"));
    for (host, words) in [("hangs", "no answer within 1 s"), ("stuck", "Press any key")] {
        let words_of = ["doctor", "--hosts", host, "--via", "sh via.sh {host}"];
        let hangs =
            world.assay(&[&words_of[..], &["--host-deadline", "1s", "--json"]].concat());
        let hangs = hangs.failed_with(4);
        assert!(hangs.out.contains(words), "{hangs:?}");
    }
    let nothing = world.assay(&["doctor", "--hosts", "a", "--via", "no-such-transport {host}"]);
    let nothing = nothing.failed_with(4);
    assert!(nothing.out.contains("cannot start no-such-transport"), "{nothing:?}");
}

#[test]
fn program_is_copied_to_host_and_removed() {
    let world = World::new();
    let copy = world.copy_of_program();
    std::fs::create_dir(world.path("far")).unwrap();
    // The program exists only on the near side, and only while it runs; the host's profile prints a
    // greeting.
    world.write(
        "via.sh",
        "echo Welcome; rm -f other-assay; export TMPDIR=$PWD/far; shift; tee sent | \"$@\"\n",
    );
    let program_bytes = std::fs::metadata(&copy).unwrap().len();
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
    let sent_bytes = std::fs::metadata(world.path("sent")).unwrap().len();
    assert!(sent_bytes < program_bytes / 2, "{sent_bytes} of {program_bytes} bytes were sent");
}

#[test]
fn build_that_does_not_start_is_followed_by_the_next() {
    let world = World::new();
    for folder in ["bin", "builds", "empty", "host"] {
        std::fs::create_dir(world.path(folder)).unwrap();
    }
    let (copy, program) = (world.copy_of_program(), world.path("bin/assay"));
    std::fs::rename(copy, &program).unwrap();
    let bytes = std::fs::metadata(&program).unwrap().len();
    let mut other = std::fs::read(&program).unwrap();
    other.push(0);
    std::fs::write(world.path("builds/assay-older-glibc"), other).unwrap();
    // The host stores a file without a loader instead of the first build.
    let script = format!(
        "#!/bin/sh\n\
         [ \"$2\" = {bytes} ] || exec /usr/bin/head \"$@\"\n\
         /usr/bin/head \"$@\" >/dev/null\n\
         printf '#!/no-loader\\n'; /usr/bin/head -c $(({bytes} - 13)) /dev/zero\n"
    );
    world.write("host/head", &script);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.path("host/head"), executable).unwrap();
    for name in ["chmod", "id", "ls", "mktemp", "rm", "rmdir", "uname", "wc"] {
        let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
        let found = found.iter().find(|it| it.exists()).expect("every system has it");
        std::os::unix::fs::symlink(found, world.path("host").join(name)).unwrap();
    }
    world.write("via.sh", "sh=$(command -v sh); shift; PATH=$PWD/host exec $sh\n");
    let doctor = |more: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["doctor", "--json", "--hosts", "vm1", "--via", "sh via.sh {host}"]);
        command.args(more).current_dir(world.path(".")).stdin(Stdio::null());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), output.stderr)
    };
    let (code, out, _) = doctor(&[]);
    assert_eq!(code, Some(4), "{out}");
    assert!(out.contains("program-does-not-start") && out.contains("--binary"), "{out}");
    let (code, out, err) = doctor(&["--binary", "builds"]);
    assert_eq!(code, Some(0), "{out} {}", String::from_utf8_lossy(&err));
    // The same folder is found beside the program.
    std::fs::create_dir(world.path("libexec")).unwrap();
    std::fs::rename(world.path("builds"), world.path("libexec/assay")).unwrap();
    let (code, out, err) = doctor(&[]);
    assert_eq!(code, Some(0), "{out} {}", String::from_utf8_lossy(&err));
    let (code, _, err) = doctor(&["--binary", "empty"]);
    let said = String::from_utf8_lossy(&err).into_owned();
    assert!(code == Some(2) && said.contains("contains no Linux program"), "{said}");
}

#[test]
fn host_of_other_architecture_gets_named_binary() {
    let world = World::new();
    let setarch = Path::new("/usr/bin/setarch");
    if !(cfg!(target_arch = "x86_64") && setarch.exists()) {
        eprintln!(
            "SKIPPED host_of_other_architecture_gets_named_binary: no setarch for x86-64"
        );
        return;
    }
    // An additional byte at its end makes it another program with the same behaviour.
    let mut program = std::fs::read(env!("CARGO_BIN_EXE_assay")).unwrap();
    program.push(0);
    std::fs::write(world.path("other-assay"), program).unwrap();
    world.write("via.sh", "shift; exec setarch x86_64 \"$@\"\n");
    let doctor = |more: &[&str]| {
        let mut command = Command::new(setarch);
        command.args([
            "i686",
            env!("CARGO_BIN_EXE_assay"),
            "doctor",
            "--json",
            "--hosts",
            "vm1",
        ]);
        command.args(["--via", "sh via.sh {host}"]).args(more).current_dir(world.path("."));
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), output.stderr)
    };
    let (code, out, _) = doctor(&[]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let failure = &document["hosts"][0]["failure"];
    assert_eq!((code, &failure["id"]), (Some(4), &"another-machine".into()), "{failure}");
    assert!(failure["reason"].as_str().unwrap().contains("an assay for Linux x86_64"));
    assert!(failure["advice"].as_str().unwrap().contains("--binary"), "{failure}");
    let (code, out, err) = doctor(&["--binary", "other-assay"]);
    assert_eq!(code, Some(0), "{out} {}", String::from_utf8_lossy(&err));
    let (code, _, err) = doctor(&["--binary", "via.sh"]);
    let said = String::from_utf8_lossy(&err).into_owned();
    assert!(code == Some(2) && said.contains("not a Linux program"), "{said}");
}

/// Runs `doctor` through the world's `via.sh` on hosts of which one fails, and returns the JSON.
fn doctor_with_failed_host(world: &World, program: &Path, hosts: &str) -> Value {
    let output = Command::new(program)
        .args(["doctor", "--hosts", hosts, "--via", "sh via.sh {host}", "--json"])
        .current_dir(world.path("."))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn full_disk_on_host_is_explained_and_others_reported() {
    let world = World::new();
    // No folder of the host can hold the program: each is its own file system of one mebibyte.
    let folders = ["/dev/shm", "/var/tmp", "/tmp"];
    let mounts = folders.map(|it| format!("mount -t tmpfs -o size=1m assay {it}"));
    let probe = Command::new("unshare").args(["-m", "sh", "-c", &mounts.join(" && ")]).status();
    if !probe.is_ok_and(|it| it.success()) {
        eprintln!(
            "SKIPPED full_disk_on_host_is_explained_and_others_reported: not allowed to mount"
        );
        return;
    }
    let copy = world.copy_of_program();
    let script = format!(
        "host=$1; shift\n[ $host = roomy ] && exec \"$@\"\n\
         exec env PATH=/usr/bin:/bin HOME=/nowhere TMPDIR=/tmp unshare -m sh -c '{} && exec \"$@\"' sh \"$@\"\n",
        mounts.join(" && ")
    );
    world.write("via.sh", &script);
    let document = doctor_with_failed_host(&world, &copy, "full,roomy");
    let failure = &document["hosts"][0]["failure"];
    assert_eq!(failure["id"], "not-copied", "{failure}");
    assert!(failure["advice"].as_str().unwrap().contains("free space"), "{failure}");
    assert!(document["hosts"][1]["findings"].is_array(), "{document:#}");
}

#[test]
fn agent_ends_when_its_pipe_closes() {
    let world = World::new();
    let mut agent = world.command(&["agent"]);
    let mut agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut length = [0; 4];
    agent.stdout.as_mut().unwrap().read_exact(&mut length).unwrap();
    drop(agent.stdin.take());
    assert!(agent.wait().unwrap().success());
}

/// Suite with two cases: one in memory, one that creates a file.
const TWO_CASES: &str = "name = \"two\"\nbudget = \"200ms\"\n\
    [[measure]]\nbenchmark = \"memory.stream\"\nplacement = [\"node\"]\narray-size = \"1MiB\"\n\
    [[measure]]\nbenchmark = \"storage\"\noperation = \"read\"\npattern = \"random\"\n\
    bs = [\"4KiB\"]\nsize = \"1MiB\"\nbuffered = true\nengine = \"threads\"\n";

/// Shell function that kills the agent of a transport. The agent is the process of the transport, or
/// its child if it runs from a sent copy.
pub(crate) const KILL_TRANSPORT: &str = "kill_transport() {\n\
     read -r me rest </proc/self/stat\n\
     read -r name </proc/$$/comm\n\
     agents=\n\
     [ $name != sh ] || for child in $(cat /proc/$$/task/$$/children); do\n\
     [ $child = $me ] || agents=\"$agents $child\"\n\
     done\n\
     kill -9 $$ $agents\n\
     }\n";

/// Returns a world with that suite and a transport: host `dies` is killed once it has created its
/// file, `gone` does not exist.
fn world_with_hosts() -> World {
    let world = World::in_memory();
    world.write("two.toml", TWO_CASES);
    let script = "host=$1; shift\n\
         case $host in\n\
         gone) echo 'ssh: Could not resolve hostname gone' >&2; exit 255 ;;\n\
         dies) (while [ -e via.sh ] && [ ! -e data.dies ]; do sleep 0.01; done\n\
              [ ! -e data.dies ] || kill_transport) >/dev/null 2>&1 & ;;\n\
         esac\n\
         exec \"$@\"\n";
    world.write("via.sh", &format!("{KILL_TRANSPORT}{script}"));
    world
}

/// Returns the arguments of a run in that world.
fn run_words<'w>(hosts: &'w str, more: &[&'w str]) -> Vec<&'w str> {
    let words = ["run", "./two.toml", "--hosts", hosts, "--via", "sh via.sh {host}"];
    let deadline = ["--host-deadline", "50s", "--target", "{target}"];
    [&words[..], &deadline, more].concat()
}

impl World {
    /// Returns the command with a separate target file for each host.
    fn fleet_command(&self, words: &[&str]) -> Command {
        let target = self.path("data.{host}").display().to_string();
        let words = words.iter().map(|word| if *word == "{target}" { &target } else { *word });
        self.command(&words.collect::<Vec<&str>>())
    }

    fn run_fleet_json(&self, words: &[&str], code: i32) -> Value {
        let output = self.fleet_command(words).output().unwrap();
        let reported = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{reported}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    fn wait_until_data_is_gone(&self) {
        let is_data = |path: &std::path::PathBuf| path.display().to_string().contains("/data.");
        let is_gone =
            is_reached_within(END_LIMIT, || !files_below(&self.path(".")).iter().any(is_data));
        assert!(is_gone, "{:?}", files_below(&self.path(".")));
    }
}

#[test]
fn suite_on_several_hosts_is_one_run() {
    let world = world_with_hosts();
    // No host can reach this figure, so the exit code shows whether the claim is checked. Three agents of one machine
    // disturb each other, so that no miss is shown.
    world.write(
        "high.toml",
        "[[claim]]\nmetric = \"memory.stream/triad\"\nvalue = \"99999 GB/s\"\n",
    );
    let words = ["--json", "--seed", "7", "--budget", "shortest", "--expect", "high.toml"];
    let document = world.run_fleet_json(&run_words("b,a[1-2]", &words), 6);
    let names = |list: &Value, key: &str| {
        let all =
            list.as_array().unwrap().iter().map(|it| it[key].as_str().unwrap().to_owned());
        all.collect::<Vec<_>>()
    };
    assert_eq!(names(&document["hosts"], "name"), ["b", "a1", "a2"]);
    for (benchmark, metric) in [("memory.stream", "triad"), ("storage", "rate")] {
        let found = crate::program::results(&document, benchmark, metric);
        let hosts: Vec<&str> = found.iter().map(|it| it["host"].as_str().unwrap()).collect();
        assert_eq!(&hosts[..3], ["b", "a1", "a2"], "{metric}");
        for result in &found[..3] {
            let skew_s = result["parameters"]["start_skew"].as_f64().unwrap();
            assert!(skew_s >= 0.0 && result["parameters"]["start_skew_bound"].is_number());
            assert!(
                result["parameters"]["host_done_after"].as_f64().is_some_and(|it| it > 0.0)
            );
        }
    }
    world.wait_until_data_is_gone();
    let shown = world.assay(&["show"]).succeeded();
    for host in ["b, node", "a1, node", "a2, random-read"] {
        assert!(shown.out.contains(host), "{host}: {shown:?}");
    }
    let stored = world.json(&["show", "--json"]);
    assert_eq!(stored["results"], document["results"]);
    world.assay(&["verify"]).succeeded();
    for format in ["text", "markdown", "html", "csv", "json"] {
        let report = ["report", "--anonymous", "--format", format];
        let closed = world.assay(&report).succeeded().out;
        // Embedded data of a page are base64, in which any two letters occur as a word now and
        // then.
        let pieces = closed.split(['"', '<', '>', ' ']).filter(|it| it.len() < 2000);
        let mut words = pieces.flat_map(|it| it.split(|it: char| !it.is_alphanumeric()));
        assert!(!words.any(|word| ["a1", "a2"].contains(&word)), "{format}: {closed}");
        assert!(closed.contains("host-1") && closed.contains("host-3"), "{format}: {closed}");
    }
    // Single runs give no verdict, but every host is compared with itself.
    world.run_fleet_json(&run_words("b,a[1-2]", &words), 6);
    let again = world.assay(&["compare", "latest~1", "latest"]).failed_with(6);
    assert!(again.out.contains("a2"), "{again:?}");
    // A dry run shows the cases of each host.
    let planned = world.run_fleet_json(&run_words("b,a1,gone", &["--dry-run", "--json"]), 4);
    assert_eq!(planned["cases"][1]["hosts"], serde_json::json!(["b", "a1"]));
    assert_eq!(planned["lost"][0]["host"], "gone");
}

#[test]
fn lost_hosts_are_named_and_others_count() {
    let world = world_with_hosts();
    let drain = ["--json", "--budget", "shortest", "--drain-list", "drain"];
    let document = world.run_fleet_json(&run_words("fine,gone,dies", &drain), 4);
    assert_eq!(std::fs::read_to_string(world.path("drain")).unwrap(), "gone,dies\n");
    assert_eq!(document["run"]["status"], "partial");
    let lost: Vec<&str> = document["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["id"] == "host-lost")
        .map(|it| it["arguments"]["host"].as_str().unwrap())
        .collect();
    assert_eq!(lost, ["gone", "dies"]);
    let failures = document["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0]["host"], "dies");
    let hosts = |benchmark: &str, metric: &str| {
        let found = crate::program::results(&document, benchmark, metric);
        found.iter().map(|it| it["host"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(&hosts("memory.stream", "triad")[..2], ["fine", "dies"]);
    assert_eq!(hosts("storage", "rate"), ["fine"]);
    let shown = world.assay(&["show"]).succeeded();
    assert!(shown.out.contains("Could not resolve hostname gone"), "{shown:?}");
    // A run that ends before its first measurement is not stored.
    let stop = run_words("fine,gone", &["--on-host-failure", "stop"]);
    let stopped = world.fleet_command(&stop).output().unwrap();
    assert_eq!(stopped.status.code(), Some(4));
    let said = String::from_utf8_lossy(&stopped.stderr);
    assert!(said.contains("gone did not reply"), "{said}");
    let listed = world.json(&["list", "--json"]);
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(
        (&listed["runs"][0]["host"], &listed["runs"][0]["other_hosts"]),
        (&"fine".into(), &1.into())
    );
}

#[test]
fn hosts_in_doubt_are_not_drained() {
    let world = world_with_hosts();
    let gate = |metric: &str, rest: &str| format!("[[gate]]\nmetric = \"{metric}\"\n{rest}\n");
    let triad = |rest: &str| gate("memory.stream/triad", rest);
    // One repetition has no interval and decides nothing, nor does a value in doubt.
    let one = &TWO_CASES[..TWO_CASES.rfind("[[measure]]").unwrap()];
    world.write("one.toml", &one.replace("200ms", "1us"));
    let run = |limits: &str| {
        world.write("limits.toml", limits);
        let words = ["run", "./one.toml", "--hosts", "a,b", "--via", "sh via.sh {host}"];
        let more = ["--expect", "limits.toml", "--drain-list", "drain"];
        world.assay(&[&words[..], &more].concat())
    };
    let outcome = run(&triad("at_least = \"99999 GB/s\"")).failed_with(6);
    assert!(outcome.out.contains("at least") && outcome.out.contains("doubt: "), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(world.path("drain")).unwrap(), "");
    let alone = ["run", "./one.toml", "--expect", "limits.toml", "--json"];
    let alone = world.assay(&alone).failed_with(6);
    let document: serde_json::Value = serde_json::from_str(&alone.out).unwrap();
    assert_eq!(document["gates"][0]["outcome"], "cannot-tell", "{document}");
    assert!(alone.err.contains("--expect: cannot tell: "), "{alone:?}");
    let missing = gate("network.tcp/goodput", "at_least = \"1 Gbit/s\"");
    let outcome = run(&[triad("at_most = \"99999 GB/s\""), missing].concat()).failed_with(6);
    assert!(outcome.out.contains("nothing was measured"), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(world.path("drain")).unwrap(), "");
    // One file has all three tables, for several hosts and for one.
    let of_triad = |table: &str, value: &str| {
        format!("[[{table}]]\nmetric = \"memory.stream/triad\"\nvalue = \"{value}\"\n")
    };
    let all = [
        triad("at_least = \"1 MB/s\""),
        of_triad("claim", "2 MB/s"),
        of_triad("limit", "99999 GB/s"),
    ];
    let on_both = run(&all.concat()).failed_with(6);
    let alone = ["run", "./one.toml", "--expect", "limits.toml"];
    for outcome in [on_both, world.assay(&alone).failed_with(6)] {
        for says in ["1.000 MB/s", "Compared with limits.toml", "2 MB/s"] {
            assert!(outcome.out.contains(says), "{says}: {outcome:?}");
        }
    }
    let outcome = run(&triad("worse_by = \"2%\"")).failed_with(3);
    assert!(outcome.err.contains("`worse_by` needs two conditions"), "{outcome:?}");
}

#[test]
fn aborted_run_leaves_nothing_on_hosts() {
    let world = world_with_hosts();
    for signal in ["INT", "KILL"] {
        let words = run_words("a,b", &["--budget", "10min"]);
        let mut going = world.fleet_command(&words);
        going.stdout(Stdio::null()).stderr(Stdio::null());
        let mut going = going.spawn().unwrap();
        // The first case needs no file; the second starts 5 minutes later and creates one.
        wait_for_first_case(&world.path("assay/runs"));
        send_signal(going.id(), signal);
        let code = going.wait().unwrap().code();
        assert_eq!(code, (signal == "INT").then_some(4));
        world.wait_until_data_is_gone();
        wait_until_agents_are_gone(&world);
        std::fs::remove_dir_all(world.path("assay")).unwrap();
    }
}

/// Waits until a stored run has begun its first case.
pub(crate) fn wait_for_first_case(runs: &Path) {
    let has_begun = |path: &PathBuf| {
        std::fs::read_to_string(path).is_ok_and(|it| it.contains("case-started"))
    };
    wait_until("a case is started", || {
        runs.is_dir() && files_below(runs).iter().any(has_begun)
    });
}

/// Agents are recognised by this test's store in their environment.
fn wait_until_agents_are_gone(world: &World) {
    let mark = format!("XDG_DATA_HOME={}", world.path("").display());
    let mark = mark.trim_end_matches('/');
    let is_here = || {
        std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&read("environ")).contains(mark)
                && String::from_utf8_lossy(&read("cmdline")).contains("agent")
        })
    };
    wait_until_within(END_LIMIT, "no agent is left", || !is_here());
}

fn has_sshd(test: &str) -> bool {
    let is_here = Path::new("/usr/sbin/sshd").exists();
    if !is_here {
        eprintln!("SKIPPED {test}: openssh-server is not installed");
    }
    is_here
}

fn generate_key(world: &World, name: &str) -> String {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f", name])
        .current_dir(world.path("."))
        .status();
    assert!(made.unwrap().success());
    std::fs::read_to_string(world.path(&format!("{name}.pub"))).unwrap()
}

fn start_sshd(world: &World, port: u16) -> Background {
    start_sshd_with(world, port, &["-e"])
}

fn start_sshd_with(world: &World, port: u16, options: &[&str]) -> Background {
    // Privilege separation folder, normally created by the system service.
    drop(std::fs::create_dir_all("/run/sshd"));
    let path = |name: &str| world.path(name).display().to_string();
    let configuration = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
         StrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\nMaxStartups 100\n",
        path("host"),
        path("mine.pub"),
    );
    let configuration = world.write(&format!("sshd_config{port}"), &configuration);
    let mut sshd = Command::new("/usr/sbin/sshd");
    sshd.arg("-D").args(options).arg("-f").arg(configuration).stderr(Stdio::null());
    let server = Background(sshd.spawn().unwrap());
    wait_until("sshd listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    server
}

#[test]
fn runs_over_real_ssh_and_explains_its_errors() {
    if !has_sshd("runs_over_real_ssh_and_explains_its_errors") {
        return;
    }
    let world = World::new();
    let host = generate_key(&world, "host");
    let (_mine, other) = (generate_key(&world, "mine"), generate_key(&world, "other"));
    let port =
        || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let (open, closed) = (port(), port());
    let _server = start_sshd(&world, open);
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
    let (outcome, document) = doctor_json(&world, "vm[1-2],closed,changed,locked", &via);
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
    // The same transport carries a run.
    world.write("two.toml", &TWO_CASES[..TWO_CASES.rfind("[[measure]]").unwrap()]);
    let words = ["run", "./two.toml", "--hosts", "vm[1-2],closed", "--via", &via];
    let document =
        world.run_fleet_json(&[&words[..], &["--json", "--host-deadline", "50s"]].concat(), 4);
    let hosts = document["hosts"].as_array().unwrap();
    let names: Vec<&str> = hosts.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!((names, &document["run"]["status"]), (vec!["vm1", "vm2"], &"partial".into()));
}
