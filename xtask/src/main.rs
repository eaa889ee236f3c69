//! Development tasks, as `cargo xtask …`: checks, tests and comparisons that are not part of the
//! program.
//!
//! Needs only cargo, git and, for tests and comparisons, the system's package manager.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the terminal is its output")]

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use workbench::{command, newest, packages};

mod bench;
mod book;
mod check;
mod ci;
mod dist;
mod faults;
mod finding;
mod fuzz;
mod lab;
mod nightly;
mod sources;
mod test;
mod tidy;
mod truth;
mod wheels;

const USAGE: &str = "\
cargo xtask tidy             check the project's rules that no other tool checks
cargo xtask check            format, rules, and lints of the changed packages, before each commit
cargo xtask test             run the quick tests: no root, no packages
cargo xtask test --all       install the dependencies of the tests, run all, list the skipped ones
cargo xtask truth            decide the known truths on a quiet machine, compared with the reference tools
cargo xtask truth statistics [SEED] simulate the error rates of intervals, verdicts and change points
cargo xtask truth aa [SUITE]  12 runs of `quick` under equal conditions: any difference is a false verdict
cargo xtask truth witness    how often each doubt from kernel counters is right in 100 runs; needs root and a quiet machine
cargo xtask faults [--brief] [KIND…]   inject kills, full disks, attacks, failures of storage, CPUs and links, into docs/reliability.md
cargo xtask lab [--brief] [SCENARIO…]  run assay in virtual machines with known truths, into docs/laboratory.md; briefly as in CI, into no page
cargo xtask fuzz [READER…] [--for 10m] [--seed N]   run every reader with mutated inputs
cargo xtask nightly [CHECK…]  run what takes hours, never in CI: fuzz, coverage, mutants, differential, loom, miri; missing tools are named
cargo xtask book             build the documentation as a searchable book into target/book/html, and check its links
cargo xtask dist [x86_64] [aarch64]   build the released files for glibc 2.17 or newer into target/dist, and check
                             them; --twice: build them in a second folder as well, and compare the checksums;
                             --development: pack and check the development build instead, in a minute
cargo xtask ci               run all checks that a change must pass: fmt, tidy, clippy, doc, both tiers of tests, fuzz, dist --development, faults, lab, truth
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<ExitCode> {
    match arguments {
        ["tidy"] => tidy::run(root())?,
        ["check"] => check::run(root())?,
        ["test"] => return test::run(root()),
        ["test", "--all"] => return test::run_all(root()),
        ["faults", "--brief"] => faults::run_briefly(root())?,
        ["faults", rest @ ..] => faults::run(root(), rest)?,
        ["truth"] => return truth::run(root()),
        ["truth", "statistics"] => {
            return truth::statistics::run(root(), truth::statistics::DEFAULT_SEED);
        }
        ["truth", "statistics", seed] => {
            let seed = seed.parse().with_context(|| format!("`{seed}` is not a valid seed"))?;
            return truth::statistics::run(root(), seed);
        }
        ["truth", "witness"] => return truth::witness::run(root()),
        ["truth", "aa"] => return truth::aa::run(root(), "quick"),
        ["truth", "aa", suite] => return truth::aa::run(root(), suite),
        ["lab", rest @ ..] => laboratory::run(root(), rest)?,
        ["fuzz", rest @ ..] => fuzz::run(root(), rest)?,
        ["nightly", rest @ ..] => nightly::run(root(), rest)?,
        ["book"] => drop(book::build(root())?),
        ["ci"] => return ci::run(root()),
        ["dist", "--development"] => dist::run_development(root())?,
        ["dist", rest @ ..] => dist::run(root(), rest)?,
        ["bench", rest @ ..] => bench::run(root(), rest)?,
        [] | ["help" | "--help" | "-h"] => print!("{USAGE}{}", bench::USAGE),
        other => bail!("unknown task: {}\n{USAGE}", other.join(" ")),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the root of the repository: the folder above this crate.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate lies inside the repository")
}
