//! The class of `packaging/reframe` under the real `ReFrame`, on this host and under a real Slurm.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::World;
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
    options = ['--budget', '1s']
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
fn run_check(world: &World, mut command: Command, reference: &str) -> (bool, String) {
    let folder = world.path(".");
    let folder = folder.display().to_string();
    world.write("suite.toml", SUITE);
    world.write(
        "check.py",
        &CHECK.replace("@FOLDER@", &folder).replace("@REFERENCE@", reference),
    );
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

#[test]
fn reframe_checks_results_of_suite_against_references() {
    let Some(reframe) = find_reframe() else {
        eprintln!(
            "SKIPPED reframe_checks_results_of_suite_against_references: ReFrame is not installed"
        );
        return;
    };
    let world = World::new();
    let (passed, text) = run_check(&world, Command::new(&reframe), "1.0");
    assert!(passed, "{text}");
    for name in ["node/triad ", "node/triad/low ", "node/triad/high "] {
        assert!(text.contains(name), "{name}: {text}");
    }
    let (passed, text) = run_check(&world, Command::new(&reframe), "1e18");
    assert!(!passed && text.contains("failed to meet reference"), "{text}");
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
    let (passed, text) = run_check(&world, command, "1.0");
    assert!(passed, "{text}");
    assert!(text.contains("Job type: batch job") || text.contains("cluster:all"), "{text}");
}
