//! The class of `packaging/reframe` under the real `ReFrame`, on this host and under a real Slurm.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::program::{World, files_below, results};
use crate::slurm::SlurmCluster;

/// Suite and reference of the test. A reference of 1 B/s is always reached, one of 1 EB/s never.
const CHECK: &str = "\
import reframe as rfm
from assay import assay_base


@rfm.simple_test
class triad(assay_base):
    valid_systems = ['*']
    valid_prog_environs = ['*']
    suite = '@FOLDER@/suite.toml'
    options = ['--budget', '@BUDGET@']
    metrics = ['memory.stream/node/triad']
    reference = {'*': {'memory.stream/node/triad': (@REFERENCE@, -0.05, None, 'B/s')}}
";
const SUITE: &str =
    "name = \"triad\"\n[[measure]]\nbenchmark = \"memory.stream\"\narray-size = \"4MiB\"\n";

/// Returns `ReFrame`, which `cargo xtask test --all` installs.
fn find_reframe() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("target/check/reframe-hpc/bin/reframe");
    file.is_file().then_some(file)
}

/// Runs the check in a folder, and returns whether it passed, with `ReFrame`'s output.
fn run_check(
    world: &World,
    mut command: Command,
    (reference, budget): (&str, &str),
) -> (bool, String) {
    let folder = world.path(".");
    let folder = folder.display().to_string();
    world.write("suite.toml", SUITE);
    let check = CHECK.replace("@FOLDER@", &folder).replace("@REFERENCE@", reference);
    world.write("check.py", &check.replace("@BUDGET@", budget));
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/reframe");
    let program = Path::new(env!("CARGO_BIN_EXE_assay"));
    let output = command
        .args(["--checkpath", "check.py", "--name", "triad", "--run", "--performance-report"])
        .args(["--nocolor", "--prefix", &folder, "--setvar"])
        .arg(format!("executable={}", program.display()))
        .current_dir(&folder)
        .env("PYTHONPATH", package)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

/// Returns assay's document, which `ReFrame` keeps in a file of the job's output.
fn read_document(world: &World) -> Value {
    let files = files_below(&world.path("output"));
    let file = files.iter().find(|file| file.ends_with("rfm_job.out"));
    let file = file.unwrap_or_else(|| panic!("no output of the job: {files:?}"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

#[test]
fn reframe_checks_results_of_suite_against_references() {
    let Some(reframe) = find_reframe() else {
        eprintln!(
            "SKIPPED reframe_checks_results_of_suite_against_references: ReFrame is not installed"
        );
        return;
    };
    let world = World::new();
    // On a busy machine a short budget may be too short for an interval.
    let has_interval = ["shortest", "10s", "30s"].into_iter().any(|budget| {
        let (passed, text) = run_check(&world, Command::new(&reframe), ("1.0", budget));
        assert!(passed && text.contains("node/triad "), "{text}");
        let document = read_document(&world);
        let has_interval = !results(&document, "memory.stream", "triad")[0]["ci"].is_null();
        for bound in ["node/triad/low ", "node/triad/high "] {
            assert_eq!(text.contains(bound), has_interval, "{bound}: {text}");
        }
        has_interval
    });
    assert!(has_interval, "no interval in 30 s");
    let (passed, text) = run_check(&world, Command::new(&reframe), ("1e18", "shortest"));
    assert!(!passed && text.contains("failed to meet reference"), "{text}");
}

/// Test of STREAM as in the first lesson of `ReFrame`'s tutorial: sanity by one pattern, two figures
/// by two.
const TUTORIAL: &str = "\
import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class stream_test(rfm.RunOnlyRegressionTest):
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = '@FOLDER@/stream.x'

    @sanity_function
    def validate(self):
        return sn.assert_found(r'Solution Validates', self.stdout)

    @performance_function('MB/s')
    def copy_bw(self):
        return sn.extractsingle(r'Copy:\\s+(\\S+)', self.stdout, 1, float)

    @performance_function('MB/s')
    def triad_bw(self):
        return sn.extractsingle(r'Triad:\\s+(\\S+)', self.stdout, 1, float)
";
/// A real log of STREAM, which the program prints.
const STREAM: &str = include_str!("../../../assay-adapters/tests/import/stream/5.10-float.txt");

/// Returns a figure of `ReFrame`'s performance report, a line like `copy_bw: 71468.4 MB/s (r:0, …)`.
fn reframe_figure(report: &str, name: &str) -> f64 {
    let line =
        report.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{report}"));
    let rest = line.split(name).nth(1).unwrap();
    let is_number = |word: &&str| word.parse::<f64>().is_ok();
    let mut words = rest.split(|it: char| it.is_whitespace() || it == '|' || it == ':');
    words.find(is_number).unwrap_or_else(|| panic!("{line}")).parse().unwrap()
}

#[test]
fn tutorial_test_has_the_same_figures_as_command() {
    let name = "tutorial_test_has_the_same_figures_as_command";
    let Some(reframe) = find_reframe() else {
        eprintln!("SKIPPED {name}: ReFrame is not installed");
        return;
    };
    let world = World::new();
    let folder = world.path(".").display().to_string();
    world.write("log", STREAM);
    world.write("stream.x", &format!("#!/bin/sh\nexec cat {folder}/log\n"));
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.path("stream.x"), executable).unwrap();
    world.write("check.py", &TUTORIAL.replace("@FOLDER@", &folder));
    let output = Command::new(reframe)
        .args(["--checkpath", "check.py", "--run", "--performance-report", "--nocolor"])
        .args(["--prefix", &folder])
        .current_dir(&folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}");
    let figures = [
        "--metric",
        "copy_bw: Copy: +([0-9.]+) MB/s",
        "--metric",
        "triad_bw: Triad: +([0-9.]+) MB/s",
    ];
    let words = ["exec", "-q", "-r", "2", "--correct", "find=Solution Validates", "--json"];
    let document = world.json(&[&words[..], &figures, &["--", "./stream.x"]].concat());
    let rates = results(&document, "command", "bandwidth");
    for (rate, name) in rates.iter().zip(["copy_bw", "triad_bw"]) {
        assert_eq!(rate["parameters"]["test"], name);
        let found = rate["median"].as_f64().unwrap() / 1e6;
        let expected = reframe_figure(&report, name);
        assert!((found - expected).abs() < 1e-6 * expected, "{name}: {found} {expected}");
    }
    assert_eq!(rates.len(), 2, "{document:#}");
    let by_format =
        ["exec", "-q", "-r", "2", "--read-as", "stream", "--json", "--", "./stream.x"];
    let document = world.json(&by_format);
    let rates = results(&document, "command", "bandwidth");
    let copy =
        rates.iter().find(|it| it["parameters"]["test"].as_str().unwrap().contains("copy"));
    let found =
        copy.unwrap_or_else(|| panic!("{document:#}"))["median"].as_f64().unwrap() / 1e6;
    assert!((found - reframe_figure(&report, "copy_bw")).abs() < 1e-3, "{found} {report}");
}

#[test]
fn reframe_starts_suite_under_slurm() {
    let name = "reframe_starts_suite_under_slurm";
    let Some(reframe) = find_reframe() else {
        eprintln!("SKIPPED {name}: ReFrame is not installed");
        return;
    };
    let Some(slurm) = SlurmCluster::start(name, 1) else { return };
    let world = World::new();
    let settings = world.write(
        "settings.py",
        "site_configuration = {'systems': [{'name': 'cluster', 'hostnames': ['.*'], 'partitions': \
         [{'name': 'all', 'scheduler': 'squeue', 'launcher': 'srun', 'environs': ['builtin']}]}]}\n",
    );
    let mut command = slurm.command(reframe.to_str().unwrap(), &["--config-file"]);
    command.arg(settings);
    let (passed, text) = run_check(&world, command, ("1.0", "shortest"));
    assert!(passed, "{text}");
    assert!(text.contains("Job type: batch job") || text.contains("cluster:all"), "{text}");
}
