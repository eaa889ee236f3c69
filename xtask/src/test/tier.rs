//! Tiers of tests: which tests run before each push, and which before merging.
//!
//! Every test belongs to exactly one tier: both use the same list of modules, one to skip and one
//! to select. Known truths belong to none (`cargo xtask truth`).

use super::TRUTH_PREFIX;

/// Package whose tests are divided. All tests of the other packages are in [`TestTier::Quick`].
const DIVIDED_PACKAGE: &str = "assay";

/// Modules in `crates/assay/tests/it` whose tests start real tools, servers, agents or
/// measurements, or need root. A new module is quick until it is listed here.
const THOROUGH_MODULES: &[&str] = &[
    "bench_suites::",
    "claims::",
    "conditions::",
    "exec::",
    "export_readers::",
    "factors::",
    "fio::",
    "fio_differential::",
    "fio_file_calls::",
    "fio_logs::",
    "hosts::", // and `vdbench_hosts`
    "interruption::",
    "io500::",
    "ior_ranks::",
    "kernel_counters::",
    "mdtest_differential::",
    "mdtest_ranks::",
    "measurements::",
    "mpi::",
    "mpi_run::",
    "network::",
    "official_tools::",
    "page_commands::",
    "pairs::",
    "rdma::",
    "reframe::",
    "restricted::",
    "round_trips::",
    "serve::",
    "serve_browser::",
    "site_anonymous::",
    "site_browser::",
    "site_checks::",
    "slurm::",
    "storage::",
    "storage_safety::",
    "storage_targets::",
    "transcript::",
];

/// Part of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestTier {
    /// Tests that need neither root nor packages nor minutes.
    Quick,
    /// End-to-end tests with real tools, servers and durations.
    Thorough,
}

/// One call of `cargo test`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestSelection<'a> {
    /// Options of cargo that select packages.
    pub packages: Vec<&'a str>,
    /// Arguments of the test binaries that select tests.
    pub filters: Vec<&'a str>,
}

impl TestTier {
    /// Returns the calls that together run this tier.
    pub(crate) fn selections(self) -> Vec<TestSelection<'static>> {
        let divided = vec!["--package", DIVIDED_PACKAGE];
        let mut filters = vec!["--skip", TRUTH_PREFIX];
        match self {
            Self::Quick => {
                let packages = vec!["--workspace", "--exclude", DIVIDED_PACKAGE];
                let others = TestSelection { packages, filters: filters.clone() };
                filters.extend(THOROUGH_MODULES.iter().flat_map(|module| ["--skip", module]));
                vec![others, TestSelection { packages: divided, filters }]
            }
            Self::Thorough => {
                filters.extend(THOROUGH_MODULES);
                vec![TestSelection { packages: divided, filters }]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn thorough_modules_exist() {
        let main = crate::root().join("crates/assay/tests/it/main.rs");
        let main = fs::read_to_string(&main).expect("the end-to-end tests have a main file");
        for module in THOROUGH_MODULES {
            let declaration = format!("mod {};", module.trim_end_matches("::"));
            assert!(main.lines().any(|line| line == declaration), "{declaration}");
        }
    }

    /// Applies the filters as libtest does: substrings, of which skipped ones win.
    fn count_selections(package: &str, test: &str) -> usize {
        let selects = |selection: &TestSelection<'_>| {
            let excludes_divided = selection.packages.contains(&"--exclude");
            let (mut skips, mut names): (Vec<&str>, Vec<&str>) = Default::default();
            let mut filters = selection.filters.iter();
            while let Some(filter) = filters.next() {
                match *filter {
                    "--skip" => skips.extend(filters.next()),
                    name => names.push(name),
                }
            }
            excludes_divided != (package == DIVIDED_PACKAGE)
                && !skips.iter().any(|skip| test.contains(skip))
                && (names.is_empty() || names.iter().any(|name| test.contains(name)))
        };
        let tiers = [TestTier::Quick, TestTier::Thorough];
        tiers.into_iter().flat_map(TestTier::selections).filter(selects).count()
    }

    #[test]
    fn every_test_is_in_one_tier_and_truths_in_none() {
        for (package, test, expected) in [
            ("assay", "planning::plan_has_limits", 1),
            ("assay", "network::peers::answers", 1),
            ("assay", "vdbench_hosts::trees::are_equal", 1),
            ("assay", "command::mpi::tests::parses", 1),
            ("assay-kernels", "storage::opening::fails", 1),
            ("xtask", "test::tier::tests::this", 1),
            ("assay", "truth::link", 0),
            ("assay-kernels", "truth::triad", 0),
        ] {
            assert_eq!(count_selections(package, test), expected, "{package} {test}");
        }
    }
}
