//! `cargo xtask test`: runs the quick tests and lists the skipped ones. `cargo xtask test --all`
//! installs the dependencies of all tests and runs all.
//!
//! Known truths need a quiet machine and are excluded: `cargo xtask truth` decides them. A test
//! that cannot run here prints `SKIPPED <its name>: <reason>` and passes. The last line of the
//! output is always the count: `N passed, N failed, N skipped`. If at most two tests of a tier fail
//! in the parallel run, each is run once more alone. One that then passes is listed as flaky
//! (docs/decisions/0026-second-try.md).

use std::io::{BufRead, BufReader};
use std::num::NonZero;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::{command, newest, packages, wheels};
use tally::LineVisibility;
pub(crate) use tally::{TestTally, TruthVerdict};
use tier::TestSelection;
pub(crate) use tier::TestTier;

mod tally;
mod tier;
pub(crate) mod tools;

/// Maximum number of failed tests to retry. More failures are not caused by a loaded machine.
const MAX_RETRIES: usize = 2;

/// Lines of a failed test that are repeated before the count.
const SHOWN_LINES: usize = 40;

/// Tests that CI machines may skip, with the reason. With `CI=true` any other skipped test is a
/// failure.
const CI_EXCEPTIONS: &[(&str, &str)] = &[
    ("podman_containers_can_be_hosts", NO_CONTAINER),
    ("podman_container_behind_ssh_can_be_host", NO_CONTAINER),
    ("podman_container_can_be_relay", NO_CONTAINER),
    ("documents_have_members_of_newest_iperf3", NO_NEWEST),
    ("real_tool_measures_with_assay", NO_NTTTCP),
    ("lines_and_files_are_those_of_the_real_tool", NO_NTTTCP),
    ("hardware_events_count_a_known_loop", NO_COUNTERS),
    ("watch_costs_little", NOT_QUIET),
];
const NOT_QUIET: &str = "`cargo xtask truth witness` measures it on a quiet machine";
const NO_COUNTERS: &str = "virtual machines may have no hardware counters";
const NO_NTTTCP: &str = "ntttcp has no package";
const NO_NEWEST: &str = "a mirror may lack Debian's next release, or have it half updated";
const NO_CONTAINER: &str = "podman may be unable to run containers on this machine";

/// Prefix of the names of known truths: their module.
pub(crate) const TRUTH_PREFIX: &str = "truth::";

/// Prefix of the reason when a truth is skipped because the machine is too noisy.
pub(crate) const NOISE_PREFIX: &str = "machine too noisy";

/// Prefix of the laboratory's scenarios in the list of tests.
pub(crate) const LAB_PREFIX: &str = "lab::";

/// Prefix of the reason when a scenario is skipped because qemu has no package or not enough
/// memory. A scenario that hangs has another reason, and fails.
pub(crate) const NO_GUEST_PREFIX: &str = "no guest can run here";

/// Runs the quick tests and prints the count as the last line. Installs nothing.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let outcome = run_tier(root, TestTier::Quick)?;
    println!("the other tests start real tools and take minutes: `cargo xtask test --all`");
    Ok(outcome.conclude())
}

/// Installs the dependencies, runs the tests of all tiers, and prints the count as the last line.
pub(crate) fn run_all(root: &Path) -> Result<ExitCode> {
    install_dependencies(root)?;
    tools::check(root)?;
    let mut outcome = run_tier(root, TestTier::Quick)?;
    outcome.merge(run_tier(root, TestTier::Thorough)?);
    println!("the known truths need a quiet machine: `cargo xtask truth` decides them");
    Ok(outcome.conclude())
}

/// Installs packages and wheels that tests use.
pub(crate) fn install_dependencies(root: &Path) -> Result<()> {
    packages::install(root, packages::FOR_TESTS)?;
    // Tests that need it are skipped by name.
    if let Err(error) = newest::install(root, &[newest::IPERF3]) {
        println!("packages: {error:#}; continuing without the newest iperf3");
    }
    wheels::install(root, wheels::for_tests(), false);
    Ok(())
}

/// Results of a test run.
#[derive(Debug)]
pub(crate) struct TestOutcome {
    tally: TestTally,
    /// Whether cargo exited with success.
    cargo_succeeded: bool,
    /// Whether unexpected skips are failures.
    in_ci: bool,
}

/// Runs the tests of a tier and retries a few failed ones alone. Prints failures as they occur, but
/// not the count.
pub(crate) fn run_tier(root: &Path, tier: TestTier) -> Result<TestOutcome> {
    let (mut tally, mut succeeded) = (TestTally::default(), true);
    for selection in tier.selections() {
        succeeded &= run_selected(root, &selection, &mut tally)?;
    }
    let failures: Vec<_> = tally.failures().iter().map(|test| test.name.clone()).collect();
    if tally.failed() == failures.len() && (1..=MAX_RETRIES).contains(&failures.len()) {
        for test in &failures {
            println!("== {test} failed in the parallel run; running it again alone");
            if passes_alone(root, test)? {
                tally.mark_passed_on_retry(test);
            }
        }
        succeeded = tally.failed() == 0;
    }
    Ok(TestOutcome::new(tally, succeeded))
}

/// Whether a test of this name passes when no other test runs.
fn passes_alone(root: &Path, test: &str) -> Result<bool> {
    let selection =
        TestSelection { packages: vec!["--workspace"], filters: vec!["--exact", test] };
    let mut tally = TestTally::default();
    Ok(run_selected(root, &selection, &mut tally)? && tally.passed() > 0)
}

/// Runs the selected tests, adds their counts to `tally`, and returns whether cargo succeeded.
fn run_selected(
    root: &Path,
    selection: &TestSelection<'_>,
    tally: &mut TestTally,
) -> Result<bool> {
    let mut cargo = command::interruptible_cargo(root);
    cargo.arg("test").args(&selection.packages);
    cargo.args(["--locked", "--no-fail-fast", "--", "--show-output"]);
    cargo.arg(format!("--test-threads={}", test_threads()));
    cargo.args(&selection.filters);
    let mut child = cargo
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", command::format_command(&cargo)))?;
    let lines = BufReader::new(child.stdout.take().expect("its output is a pipe"));
    for line in lines.split(b'\n') {
        // The output of tests may be invalid UTF-8.
        let line = String::from_utf8_lossy(&line?).into_owned();
        if tally.read_line(&line) == LineVisibility::Visible {
            println!("{line}");
        }
    }
    tally.finish();
    Ok(child.wait()?.success())
}

/// Returns the number of tests that run in parallel: twice the CPUs, because most tests wait. One by
/// one, those of [`TestTier::Thorough`] use a CPU for a third of their time.
fn test_threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get) * 2
}

impl TestOutcome {
    /// Creates the results, and detects from the environment whether CI runs.
    pub(crate) fn new(tally: TestTally, cargo_succeeded: bool) -> Self {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
        Self { tally, cargo_succeeded, in_ci }
    }

    /// Adds the results of another tier.
    pub(crate) fn merge(&mut self, other: Self) {
        self.tally.merge(other.tally);
        self.cargo_succeeded &= other.cargo_succeeded;
    }

    /// Returns the counts, so that the caller can add to them.
    pub(crate) fn tally_mut(&mut self) -> &mut TestTally {
        &mut self.tally
    }

    /// Prints skipped, flaky and failed tests, the error if any, and the count as the last line.
    pub(crate) fn conclude(&self) -> ExitCode {
        for skip in self.tally.skipped() {
            println!("skipped {}: {}", skip.test, skip.reason);
        }
        for test in self.tally.passed_on_retry() {
            println!(
                "flaky {test}: failed at first, passed when run again; see the failure above"
            );
        }
        println!("{} flaky", self.tally.passed_on_retry().len());
        self.print_failures();
        let verdict = self.check();
        if let Err(error) = &verdict {
            println!("{error:#}");
        }
        println!("{}", self.tally);
        if verdict.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Prints the failed tests again, each with the end of its output: a log may be cut at its
    /// start.
    fn print_failures(&self) {
        for test in self.tally.failures() {
            println!("failed {}", test.name);
            for line in &test.output[test.output.len().saturating_sub(SHOWN_LINES)..] {
                println!("    {line}");
            }
        }
    }

    /// Returns the skipped tests that CI should have run. Noise is excluded, because CI cannot
    /// control it.
    fn unexpected_skips(&self) -> impl Iterator<Item = &tally::SkippedTest> {
        let known = |skip: &&tally::SkippedTest| {
            skip.reason.starts_with(NOISE_PREFIX)
                || (skip.test.starts_with(LAB_PREFIX)
                    && skip.reason.starts_with(NO_GUEST_PREFIX))
                || CI_EXCEPTIONS.iter().any(|(name, _)| *name == skip.test)
        };
        self.tally.skipped().iter().filter(move |skip| self.in_ci && !known(skip))
    }

    /// Fails unless at least one test ran, none failed, and no skip was unexpected.
    fn check(&self) -> Result<()> {
        if self.tally.passed() == 0 {
            bail!("no tests ran");
        }
        if self.tally.failed() > 0 || !self.cargo_succeeded {
            bail!("tests failed");
        }
        let undue: Vec<&str> = self.unexpected_skips().map(|skip| skip.test.as_str()).collect();
        if !undue.is_empty() {
            bail!("skipped in CI without a known reason: {}", undue.join(", "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], cargo_succeeded: bool, in_ci: bool, expected: bool) {
        let mut tally = TestTally::default();
        for line in lines {
            tally.read_line(line);
        }
        tally.finish();
        let outcome = TestOutcome { tally, cargo_succeeded, in_ci };
        assert_eq!(outcome.check().is_ok(), expected, "{lines:?}");
    }

    const PASSED: &str = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured";
    const FAILED: &str = "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured";
    const SKIPPED: [&str; 5] =
        ["running 2 tests", "successes:", "---- a stdout ----", "SKIPPED a: no root", PASSED];

    #[test]
    fn succeeds_only_if_tests_ran_and_passed() {
        check(&["running 2 tests", PASSED], true, true, true);
        check(&["running 2 tests", PASSED], false, false, false);
        check(&["running 2 tests", FAILED], false, false, false);
        check(&["running 2 tests", PASSED, "running 3 tests"], true, false, false);
        check(&[], true, false, false);
    }

    #[test]
    fn unexpected_skip_fails_in_ci() {
        check(&SKIPPED, true, false, true);
        check(&SKIPPED, true, true, false);
    }

    #[test]
    fn retry_that_passes_counts_as_passed() {
        let failed = ["running 3 tests", "test a::b ... FAILED", "test c ... ok", FAILED];
        let mut tally = TestTally::default();
        for line in failed {
            tally.read_line(line);
        }
        assert_eq!((tally.failures()[0].name.as_str(), tally.failed()), ("a::b", 1));
        tally.mark_passed_on_retry("a::b");
        assert_eq!((tally.passed_on_retry(), tally.failed()), (&["a::b".to_owned()][..], 0));
        assert_eq!(tally.to_string(), "2 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn ci_accepts_only_expected_skips() {
        let because = |reason: &str| TruthVerdict::Skipped(format!("{reason}: why"));
        for (name, verdict, expected) in [
            ("truth::other", because(NOISE_PREFIX), true),
            ("truth::other", because("no root"), false),
            ("truth::other", TruthVerdict::Fails("2 misses".to_owned()), false),
            ("lab::other", because(NO_GUEST_PREFIX), true),
            ("lab::other", because("no exit code in 300s"), false),
            ("lab::other", TruthVerdict::Fails("WRONG".to_owned()), false),
            ("other", because(NO_GUEST_PREFIX), false),
        ] {
            let mut tally = TestTally::default();
            tally.add("held", TruthVerdict::Holds);
            tally.add(name, verdict.clone());
            let outcome = TestOutcome { tally, cargo_succeeded: true, in_ci: true };
            assert_eq!(outcome.check().is_ok(), expected, "{name}: {verdict:?}");
        }
    }
}
