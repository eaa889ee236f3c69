//! Tests under a real Slurm: its daemons are started here with their own files and ports, and ended
//! with the test. Nothing outside a temporary folder changes, and an installed Slurm is not
//! touched.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::mpi::one_at_a_time;
use crate::network::free_port;
use crate::processes::{MAX_WAIT, is_reached_within, send_signal};
use crate::program::{Outcome, World, results};

const MUNGE_DAEMON: &str = "/usr/sbin/munged";
const CONTROLLER_DAEMON: &str = "/usr/sbin/slurmctld";
const NODE_DAEMON: &str = "/usr/sbin/slurmd";

/// Daemons of a cluster, ended when the test ends.
pub(crate) struct SlurmCluster {
    world: World,
    daemons: Vec<Child>,
}

impl SlurmCluster {
    /// Starts a cluster on this machine; prints the reason and returns `None` where that is not
    /// possible. Each of several nodes is a separate daemon.
    pub(crate) fn start(test: &str, nodes: usize) -> Option<Self> {
        let skip = |reason: &str| {
            eprintln!("SKIPPED {test}: {reason}");
            None
        };
        if ![MUNGE_DAEMON, CONTROLLER_DAEMON, NODE_DAEMON]
            .iter()
            .all(|daemon| Path::new(daemon).is_file())
        {
            return skip("slurmctld, slurmd and munge are not installed");
        }
        if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
            return skip("slurmd starts jobs only as root");
        }
        let Some(node) = node_line() else { return skip("Slurm needs two CPUs for two ranks") };
        let mut slurm = Self { world: World::new(), daemons: Vec::new() };
        slurm.configure(&node, nodes);
        slurm.start_daemon(MUNGE_DAEMON, &munge_options(&slurm.world));
        slurm.wait_for("munge.socket", |slurm| slurm.world.path("munge.socket").exists());
        slurm.start_daemon(CONTROLLER_DAEMON, &["-D".to_owned()]);
        match nodes {
            1 => slurm.start_daemon(NODE_DAEMON, &["-D".to_owned()]),
            several => (1..=several).for_each(|node| {
                slurm.start_daemon(
                    NODE_DAEMON,
                    &["-D".to_owned(), "-N".to_owned(), format!("n{node}")],
                );
            }),
        }
        slurm.wait_for("idle nodes", |slurm| {
            let reported = slurm.command("sinfo", &["-h", "-o", "%t %D"]).output().unwrap();
            reported.stdout.starts_with(format!("idle {nodes}").as_bytes())
        });
        Some(slurm)
    }

    /// Writes the configuration, and the key that authenticates the daemons.
    fn configure(&self, node: &str, nodes: usize) {
        let folder = self.world.path(".");
        let folder = folder.display();
        let name = node.split_whitespace().next().unwrap().trim_start_matches("NodeName=");
        let (control, work) = (free_port(), free_port());
        let nodes = match nodes {
            1 => format!("{node} NodeAddr=127.0.0.1 State=UNKNOWN\n"),
            several => (1..=several)
                .map(|node| {
                    let port = free_port();
                    format!(
                        "NodeName=n{node} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs=2 State=UNKNOWN\n"
                    )
                })
                .collect(),
        };
        let text = format!(
            "ClusterName=assay\nSlurmctldHost={name}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
             SlurmctldPort={control}\nSlurmdPort={work}\n\
             AuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\nCredType=cred/munge\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool-%n\n\
             SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd-%n.pid\n\
             SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/affinity\nSwitchType=switch/none\n\
             JobAcctGatherType=jobacct_gather/none\nReturnToService=2\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
             SlurmdParameters=config_overrides\n{nodes}PartitionName=all Nodes=ALL Default=YES State=UP\n"
        );
        self.world.write("slurm.conf", &text);
        std::fs::create_dir(self.world.path("state")).unwrap();
        let key = self.world.path("munge.key");
        // The key need not be secret: the daemons live as long as the test and listen on loopback
        // only.
        std::fs::File::create(&key).unwrap().write_all(&[7; 1024]).unwrap();
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        // Munge requires that all users can reach its socket.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.world.path("."), open).unwrap();
    }

    fn start_daemon(&mut self, program: &str, options: &[String]) {
        let mut command = self.command(program, &[]);
        command.args(options).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(command.spawn().unwrap());
    }

    fn wait_for(&self, what: &str, is_there: impl Fn(&Self) -> bool) {
        let is_there = is_reached_within(MAX_WAIT, || is_there(self));
        let log =
            |name: &str| std::fs::read_to_string(self.world.path(name)).unwrap_or_default();
        assert!(is_there, "no {what}: {} {}", log("slurmctld.log"), log("slurmd.log"));
    }

    /// Returns the command of a Slurm program, or of one that uses this Slurm.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.world.path("."))
            .env("SLURM_CONF", self.world.path("slurm.conf"))
            .env("XDG_DATA_HOME", self.world.path("."))
            .stdin(Stdio::null());
        command
    }

    /// Runs `assay` under `launcher` to its end.
    fn assay(&self, launcher: &[&str], arguments: &[&str]) -> Outcome {
        let mut command = self.command(launcher[0], &launcher[1..]);
        command.arg(env!("CARGO_BIN_EXE_assay")).args(arguments);
        let output = command.output().unwrap();
        Outcome {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Drop for SlurmCluster {
    fn drop(&mut self) {
        // On this request, controller and node also end their own helpers.
        drop(self.command("scontrol", &["shutdown"]).output());
        let deadline = Instant::now() + Duration::from_secs(5);
        let runs = |it: &mut Child| matches!(it.try_wait(), Ok(None));
        // The first is munge, which gets no such request.
        while self.daemons.iter_mut().skip(1).any(runs) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        for daemon in &mut self.daemons {
            drop(daemon.kill());
            drop(daemon.wait());
        }
    }
}

/// Returns this node's line for Slurm's configuration; `None` where two ranks do not fit.
fn node_line() -> Option<String> {
    let reported = Command::new(NODE_DAEMON).arg("-C").output().unwrap();
    let reported = String::from_utf8_lossy(&reported.stdout).into_owned();
    let line = reported.lines().find(|line| line.starts_with("NodeName="))?;
    let cpus = line.split_whitespace().find_map(|word| word.strip_prefix("CPUs="))?;
    (cpus.parse::<u32>().ok()? >= 2).then(|| line.to_owned())
}

fn munge_options(world: &World) -> Vec<String> {
    let file = |option: &str, name: &str| format!("--{option}={}", world.path(name).display());
    vec![
        "--foreground".to_owned(),
        // Munge rejects world-writable folders, such as those for temporary files.
        "--force".to_owned(),
        file("key-file", "munge.key"),
        file("socket", "munge.socket"),
        file("pid-file", "munge.pid"),
        file("log-file", "munge.log"),
        file("seed-file", "munge.seed"),
    ]
}

const LATENCY: [&str; 8] = ["mpi", "latency", "-m", "8:8", "-i", "20", "--budget", "200ms"];

/// All checks share a cluster, because starting one takes seconds.
#[test]
fn srun_starts_ranks_that_find_each_other() {
    let test = "slurm::srun_starts_ranks_that_find_each_other";
    let Some(slurm) = SlurmCluster::start(test, 1) else { return };
    let _alone = one_at_a_time();
    for (served, name) in [("--mpi=pmi2", "MPICH 4."), ("--mpi=pmix", "Open MPI 4.")] {
        let srun = ["srun", served, "-Q", "-n", "2", "--cpu-bind=cores"];
        let document = slurm.assay(&srun, &[&LATENCY[..], &["--json"]].concat()).json();
        let found = results(&document, "mpi.latency", "latency");
        let parameters = &found[0]["parameters"];
        assert!(parameters["mpi"].as_str().unwrap().starts_with(name), "{parameters}");
        assert_eq!(parameters["ranks"], 2);
    }
    detects_ranks_without_matching_pmi(&slurm);
    srun_can_start_every_mpi(&slurm);
    distinguishes_other_launcher_in_job_from_srun(&slurm);
}

fn detects_ranks_without_matching_pmi(slurm: &SlurmCluster) {
    for (served, library) in
        [("--mpi=none", "libmpich.so.12"), ("--mpi=pmix", "libmpich.so.12")]
    {
        let srun = ["srun", served, "-Q", "-n", "2"];
        let asked = [&LATENCY[..], &["--mpi-library", library]].concat();
        let outcome = slurm.assay(&srun, &asked).failed_with(4);
        let reported = "slurm started 2 ranks, but the library sees a world of 1";
        assert_eq!(outcome.err.matches(reported).count(), 1, "{outcome:?}");
        assert!(outcome.err.contains("`srun --mpi=pmi2` serves MPICH"), "{outcome:?}");
    }
    // Open MPI ends the process itself, so the remedy has to be printed before.
    let asked = [&LATENCY[..], &["--mpi-library", "libmpi.so.40"]].concat();
    let outcome = slurm.assay(&["srun", "--mpi=none", "-Q", "-n", "2"], &asked);
    assert_ne!(outcome.code, 0, "{outcome:?}");
    let reported = "srun was started without PMIx: add `--mpi=pmix`";
    assert_eq!(outcome.err.matches(reported).count(), 1, "{outcome:?}");
}

fn srun_can_start_every_mpi(slurm: &SlurmCluster) {
    let suite = slurm.world.write(
        "one.toml",
        "name = \"one\"\nbudget = \"4s\"\n[[measure]]\nbenchmark = \"mpi.latency\"\nto = \"8B\"\n",
    );
    let asked =
        ["run", suite.to_str().unwrap(), "--launcher", "srun", "--mpi", "/usr", "--json"];
    let document = slurm.assay(&["salloc", "-Q", "-n", "2"], &asked).json();
    let found = results(&document, "mpi.latency", "latency");
    for name in ["MPICH 4.", "Open MPI 4."] {
        let of = found.iter().find(|it| {
            it["parameters"]["mpi"].as_str().is_some_and(|mpi| mpi.starts_with(name))
        });
        let parameters = &of.unwrap_or_else(|| panic!("no {name}: {document}"))["parameters"];
        assert_eq!(parameters["launcher"], "slurm", "{parameters}");
        assert_eq!(
            parameters["cpus"],
            serde_json::json!([{"cpus": [0]}, {"cpus": [1]}]),
            "{parameters}"
        );
    }
}

/// Hydra starts its helpers by srun, whose variables the ranks then see.
fn distinguishes_other_launcher_in_job_from_srun(slurm: &SlurmCluster) {
    let hydra = ["salloc", "-Q", "-n", "2", "mpiexec.mpich", "-n", "2"];
    let outcome = slurm.assay(&hydra, &LATENCY).succeeded();
    assert!(outcome.out.contains("# 2 ranks by hydra: "), "{outcome:?}");
    // A batch script has the variables of a Slurm rank without being one.
    let script = slurm.world.write(
        "job.sh",
        &format!("#!/bin/sh\nexec {} mpi latency\n", env!("CARGO_BIN_EXE_assay")),
    );
    let mut batch = slurm.command("sbatch", &["-Q", "-n", "2", "--wait", "-o", "job.out"]);
    assert_eq!(batch.arg(script).status().unwrap().code(), Some(2));
    let reported = std::fs::read_to_string(slurm.world.path("job.out")).unwrap();
    assert!(reported.contains("start it with an MPI launcher"), "{reported}");
}

const ONE_CASE: &str = "name = \"one\"\nbudget = \"BUDGET\"\n[[measure]]\nbenchmark = \"memory.stream\"\n\
                   placement = [\"node\"]\narray-size = \"1MiB\"\nthreads = 1\n";

#[test]
fn allocated_nodes_are_released_after_any_end() {
    let test = "slurm::allocated_nodes_are_released_after_any_end";
    let Some(slurm) = SlurmCluster::start(test, 3) else { return };
    let _alone = one_at_a_time();
    slurm.world.write("one.toml", &ONE_CASE.replace("BUDGET", "200ms"));
    slurm.world.write("long.toml", &ONE_CASE.replace("BUDGET", "10min"));
    let words = |suite| ["run", suite, "--slurm", "partition=all,nodes=3", "--json"];
    let found = slurm.assay(&["env"], &words("./one.toml")).json();
    let hosts: Vec<&str> = found["hosts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(hosts, ["n1", "n2", "n3"]);
    wait_until_no_job(&slurm);
    for signal in ["INT", "KILL"] {
        let mut going = slurm.command(env!("CARGO_BIN_EXE_assay"), &words("./long.toml"));
        let mut going = going.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let job = || slurm.command("squeue", &["-h", "-t", "R"]).output().unwrap().stdout;
        slurm.wait_for("a job", |_| !job().is_empty());
        send_signal(going.id(), signal);
        drop(going.wait());
        wait_until_no_job(&slurm);
    }
    for (wish, code, says) in
        [("partition=none", 4, "Invalid partition"), ("Nodes=3", 2, "not an option of salloc")]
    {
        let refused = slurm.assay(&["env"], &["doctor", "--slurm", wish]).failed_with(code);
        assert!(refused.err.contains(says), "{wish}: {refused:?}");
    }
    wait_until_no_job(&slurm);
}

fn wait_until_no_job(slurm: &SlurmCluster) {
    slurm.wait_for("the end of every job", |slurm| {
        // Jobs that are completing still hold their nodes.
        slurm.command("squeue", &["-h"]).output().unwrap().stdout.is_empty()
    });
}
