//! `cargo xtask nightly`: checks that take hours, started by hand and never by CI.
//!
//! A check whose tool is missing is listed with the command that installs it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::{command, fuzz};

/// Time of the fuzzer that follows coverage, for each reader.
const COVERAGE_SECONDS: u32 = 600;

/// Files in which a wrong line loses data of others, or accepts false figures of a peer.
const SAFETY_FILES: [&str; 13] = [
    "crates/assay-fleet/src/mounts.rs",
    "crates/assay-kernels/src/storage/hard_links.rs",
    "crates/assay-kernels/src/storage/size_watch.rs",
    "crates/assay-run/src/network/plausibility.rs",
    "crates/assay-run/src/storage/created_files.rs",
    "crates/assay-run/src/storage/created_files/*.rs",
    "crates/assay-run/src/storage/created_tree.rs",
    "crates/assay-run/src/storage/held_targets.rs",
    "crates/assay-run/src/storage/host_check.rs",
    "crates/assay-run/src/storage/record_lock.rs",
    "crates/assay-run/src/storage/safe_open.rs",
    "crates/assay-run/src/storage/safety.rs",
    "crates/assay-run/src/storage/shares/plausibility.rs",
];

/// Check with the tool that it needs.
struct NightlyCheck {
    name: &'static str,
    /// Command that succeeds if the tool is installed; empty without a tool.
    probe: &'static [&'static str],
    /// Command that installs the tool.
    install: &'static str,
    run: fn(&Path) -> Result<()>,
}

const CHECKS: [NightlyCheck; 6] = [
    NightlyCheck {
        name: "fuzz",
        probe: &[],
        install: "",
        run: |root| fuzz::run(root, &["--for", "1h"]),
    },
    NightlyCheck {
        name: "coverage",
        probe: &["cargo", "+nightly", "fuzz", "--version"],
        install: "cargo install --locked cargo-fuzz",
        run: fuzz_by_coverage,
    },
    NightlyCheck {
        name: "mutants",
        probe: &["cargo", "mutants", "--version"],
        install: "cargo install --locked cargo-mutants",
        run: find_surviving_mutants,
    },
    NightlyCheck {
        name: "differential",
        probe: &["fio", "--version"],
        install: "apt-get install fio",
        run: compare_with_fio,
    },
    NightlyCheck { name: "loom", probe: &[], install: "", run: try_all_orders },
    NightlyCheck {
        name: "miri",
        probe: &["cargo", "+nightly", "miri", "--version"],
        install: "rustup component add miri --toolchain nightly",
        run: interpret_kernels,
    },
];

/// Runs the named checks, or all of them. Fails if any of them fails, or if a named one cannot run.
pub(crate) fn run(root: &Path, names: &[&str]) -> Result<()> {
    let is_known = |name: &&&str| CHECKS.iter().any(|check| check.name == **name);
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        bail!("unknown check: {name}; expected one of {}", known.join(", "));
    }
    let (mut failed, mut missing) = (Vec::new(), Vec::new());
    for check in CHECKS.iter().filter(|it| names.is_empty() || names.contains(&it.name)) {
        if !is_installed(root, check.probe) {
            println!("== {}: not run, its tool is missing: {}", check.name, check.install);
            missing.push(check.name);
            continue;
        }
        println!("== {}", check.name);
        if let Err(error) = (check.run)(root) {
            println!("{error:#}");
            failed.push(check.name);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    if !names.is_empty() && !missing.is_empty() {
        bail!("not run: {}", missing.join(", "));
    }
    Ok(())
}

fn is_installed(root: &Path, probe: &[&str]) -> bool {
    let Some((program, arguments)) = probe.split_first() else { return true };
    command::capture(tool(root, program).args(arguments))
        .is_ok_and(|output| output.status.success())
}

/// Returns a command for a program of the user's. The variables of the toolchain that runs this
/// program would override a toolchain named on the command line.
fn tool(root: &Path, program: &str) -> Command {
    let mut command = command::at_root(root, program);
    command.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTUP_TOOLCHAIN");
    command
}

/// Fuzzes each reader with libFuzzer, which mutates the inputs that reach new code. Its corpus
/// stays in `target`. An input that crashes becomes a finding, which the tests run from then on.
fn fuzz_by_coverage(root: &Path) -> Result<()> {
    const CRATE: &str = "crates/assay-fuzz";
    let corpus = root.join("target/coverage-corpus");
    let seeds = ["run", "--quiet", "--locked", "-p", "assay-fuzz", "--", "--seeds-to"];
    command::run(command::cargo(root).args(seeds).arg(&corpus))?;
    let mut failed = Vec::new();
    for folder in fs::read_dir(&corpus)? {
        let reader = folder?.file_name().to_string_lossy().into_owned();
        println!("== coverage: {reader}");
        let findings = root.join(CRATE).join("findings").join(&reader);
        fs::create_dir_all(&findings)?;
        let fuzz = ["+nightly", "fuzz", "run", "--fuzz-dir", "coverage", "reader"];
        let mut fuzzer = tool(&root.join(CRATE), "cargo");
        fuzzer.env("ASSAY_FUZZ_READER", &reader).args(fuzz).arg(corpus.join(&reader)).args([
            "--",
            &format!("-max_total_time={COVERAGE_SECONDS}"),
            &format!("-artifact_prefix={}/", findings.display()),
            "-max_len=32768",
            "-timeout=10",
            "-rss_limit_mb=2048",
        ]);
        if command::run(&mut fuzzer).is_err() {
            failed.push(reader);
        }
        // Only an empty folder can be removed: one without a finding.
        let _ = fs::remove_dir(&findings);
    }
    if !failed.is_empty() {
        bail!("findings of {}", failed.join(", "));
    }
    Ok(())
}

/// Changes the code in thousands of places, one at a time; a change that no test notices shows a
/// missing test. The tests must pass without a change first: failing ones would notice all.
fn find_surviving_mutants(root: &Path) -> Result<()> {
    const SPOKES: [&str; 6] =
        ["-p", "assay-stats", "-p", "assay-model", "-p", "assay-dialects"];
    // Another folder of results for each, inside what git ignores.
    let run = |scope: &[&str], results: &str| {
        let mutants = ["mutants", "--no-shuffle", "--timeout=300", "-o"];
        command::run(tool(root, "cargo").args(mutants).arg(results).args(scope))
    };
    let of_spokes = run(&SPOKES, "target/mutants/spokes");
    let safety = SAFETY_FILES.iter().flat_map(|file| ["-f", file]);
    let packages = ["-p", "assay-run", "-p", "assay-kernels", "-p", "assay-fleet"];
    let of_safety =
        run(&packages.into_iter().chain(safety).collect::<Vec<_>>(), "target/mutants/safety");
    of_spokes.and(of_safety)
}

/// Runs random jobs with assay and the real fio; the test in CI runs fewer of them. Variables of the
/// environment set another number and seed.
fn compare_with_fio(root: &Path) -> Result<()> {
    let test =
        ["test", "-p", "assay", "--test", "it", "fio_differential::", "--", "--nocapture"];
    let mut tests = command::cargo(root);
    for (name, default) in [
        ("ASSAY_DIFFERENTIAL_JOBS", "2000".to_owned()),
        ("ASSAY_DIFFERENTIAL_SEED", std::process::id().to_string()),
    ] {
        tests.env(name, std::env::var(name).unwrap_or(default));
    }
    command::run(tests.args(test))
}

/// Runs barrier and team in a model checker, in all orders that threads can run in.
fn try_all_orders(root: &Path) -> Result<()> {
    let test =
        ["test", "-p", "assay-kernels", "--lib", "--target-dir", "target/loom", "model::"];
    command::run(command::cargo(root).env("RUSTFLAGS", "--cfg loom").args(test))
}

/// Runs the tests of unsafe code in an interpreter that finds undefined behaviour and data races.
/// Timed kernels use instructions and calls that it does not interpret.
fn interpret_kernels(root: &Path) -> Result<()> {
    let miri = ["+nightly", "miri", "test", "-p", "assay-kernels", "--lib", "--"];
    // Threads sleep, read clocks and set their CPUs, which isolation forbids.
    command::run(
        tool(root, "cargo")
            .env("MIRIFLAGS", "-Zmiri-disable-isolation")
            .args(miri)
            .args(["barrier::tests", "team::tests"]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safety_files_exist() {
        for file in SAFETY_FILES {
            let place = crate::root().join(file.trim_end_matches("*.rs"));
            assert!(place.exists(), "{file}");
        }
    }

    #[test]
    fn unknown_checks_and_missing_tools_are_named() {
        let root = Path::new("/");
        let error = run(root, &["mutant"]).unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown check: mutant; expected one of fuzz, coverage, mutants, differential, loom, miri"
        );
        assert!(is_installed(root, &[]));
        assert!(is_installed(root, &["true"]));
        assert!(!is_installed(root, &["false"]));
        assert!(!is_installed(root, &["/no/such/program"]));
    }
}
