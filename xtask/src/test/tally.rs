//! Parses the output of the test binaries line by line and counts the results. Prints nothing.

use std::fmt;

/// Test that reported that it cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skip {
    /// Name in its report.
    pub test: String,
    /// Reason in its report.
    pub reason: String,
}

/// Result of a known truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Fails,
    /// Undecided, with the reason.
    Skipped(String),
}

/// Whether to print a line of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// The line is printed.
    Yes,
    /// The line belongs to a test that passed, and is hidden.
    No,
}

/// Counts over all test binaries so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: usize,
    failed: usize,
    /// Names of failed tests; crashed binaries have none.
    failures: Vec<String>,
    second_tries: Vec<String>,
    skipped: Vec<Skip>,
    section: Section,
    /// Skipped tests of the current binary.
    skipped_here: Vec<Skip>,
}

/// Position in the output of one binary.
#[derive(Debug, Default, PartialEq, Eq)]
enum Section {
    /// Between two binaries.
    #[default]
    Outside,
    /// Tests are running.
    Running,
    /// Output of the tests that passed.
    Successes,
    /// Output of the tests that failed.
    Failures,
}

impl Tally {
    /// Processes one line of output.
    pub(crate) fn read(&mut self, line: &str) -> Show {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.close(result);
            return Show::Yes;
        }
        match line {
            "successes:" if self.section == Section::Running => {
                self.section = Section::Successes;
            }
            "failures:" if self.section != Section::Outside => self.section = Section::Failures,
            line if is_start(line) => {
                self.finish();
                self.section = Section::Running;
            }
            line => return self.read_inside(line),
        }
        Show::No
    }

    fn read_inside(&mut self, line: &str) -> Show {
        let failure = line.strip_prefix("test ").and_then(|it| it.strip_suffix(" ... FAILED"));
        self.failures.extend(failure.map(str::to_owned));
        if let Some(skip) = skip(line).filter(|_| self.section != Section::Failures) {
            if !self.skipped_here.iter().any(|known| known.test == skip.test) {
                self.skipped_here.push(skip);
            }
            return Show::No;
        }
        let is_fine = line.is_empty()
            || line.starts_with("test ") && line.ends_with(" ... ok")
            || self.section == Section::Successes;
        if is_fine { Show::No } else { Show::Yes }
    }

    /// Ends a binary at its result line.
    fn close(&mut self, result: &str) {
        let skipped = std::mem::take(&mut self.skipped_here);
        // libtest counts tests that skipped themselves as passed, but not ignored tests.
        let fine = count(result, "passed") + count(result, "ignored");
        self.passed += fine.saturating_sub(skipped.len());
        self.failed += count(result, "failed");
        self.skipped.extend(skipped);
        self.section = Section::Outside;
    }

    /// Ends the output. A binary without a result line has crashed, which counts as a failure.
    pub(crate) fn finish(&mut self) {
        if self.section != Section::Outside {
            self.failed += 1;
            self.skipped.append(&mut self.skipped_here);
            self.section = Section::Outside;
        }
    }

    /// Adds the result of a truth, counted like a test.
    pub(crate) fn add(&mut self, test: &str, verdict: Verdict) {
        match verdict {
            Verdict::Holds => self.passed += 1,
            Verdict::Fails => self.failed += 1,
            Verdict::Skipped(reason) => {
                self.skipped.push(Skip { test: test.to_owned(), reason });
            }
        }
    }

    /// Counts a failed test as passed because it passed when run alone.
    pub(crate) fn pass_at_second_try(&mut self, test: &str) {
        self.failures.retain(|it| it != test);
        self.failed -= 1;
        self.passed += 1;
        self.second_tries.push(test.to_owned());
    }

    /// Returns the names of the failed tests.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Returns the names of the tests that failed, then passed alone.
    pub(crate) fn second_tries(&self) -> &[String] {
        &self.second_tries
    }

    /// Returns the number of tests that ran and passed.
    pub(crate) fn passed(&self) -> usize {
        self.passed
    }

    /// Returns the number of failed tests and crashed binaries.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// Returns the skipped tests.
    pub(crate) fn skipped(&self) -> &[Skip] {
        &self.skipped
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, skipped, .. } = self;
        write!(f, "{passed} passed, {failed} failed, {} skipped", skipped.len())
    }
}

/// Whether a line starts a binary's output: `running 1 test`, `running 7 tests`.
fn is_start(line: &str) -> bool {
    line.strip_prefix("running ")
        .and_then(|rest| rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test")))
        .is_some_and(|number| number.parse::<usize>().is_ok())
}

/// Parses `SKIPPED name: reason`, or the line of a test that libtest ignores, with or without a
/// reason.
fn skip(line: &str) -> Option<Skip> {
    let (test, reason) = match line.strip_prefix("SKIPPED ") {
        Some(rest) => rest.split_once(": ")?,
        None => match line.strip_prefix("test ")?.split_once(" ... ignored")? {
            (test, "") => (test, "ignored"),
            (test, reason) => (test, reason.strip_prefix(", ")?),
        },
    };
    Some(Skip { test: test.to_owned(), reason: reason.to_owned() })
}

/// Returns the number before `word` in `ok. 5 passed; 0 failed; …`.
fn count(result: &str, word: &str) -> usize {
    let words: Vec<&str> = result.split([' ', ';']).filter(|word| !word.is_empty()).collect();
    let index = words.iter().position(|found| *found == word).filter(|index| *index > 0);
    index.and_then(|index| words[index - 1].parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
running 3 tests
test a ... ok
test b::c ... ok
test d ... ok

successes:

---- a stdout ----
SKIPPED a: no root
SKIPPED a: no root

---- d stdout ----
a long story

successes:
    a
    b::c
    d

test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
    const BAD: &str = "\
running 2 tests
test e ... ok
test f ... FAILED

failures:

---- f stdout ----
SKIPPED f: it said so before it failed
panicked at x.rs:1:1

failures:
    f

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
";
    const CRASH: &str = "running 2 tests\ntest g ... ok\n";

    fn check(output: &str, expected: &str, shown: usize) {
        let mut tally = Tally::default();
        let lines = output.lines().filter(|line| tally.read(line) == Show::Yes).count();
        tally.finish();
        assert_eq!((tally.to_string().as_str(), lines), (expected, shown), "{output}");
    }

    #[test]
    fn counts_are_summed_and_skips_are_not_passes() {
        check(GOOD, "2 passed, 0 failed, 1 skipped", 1);
        // A failed test is printed with all its output: its result, two headings, its message.
        check(BAD, "1 passed, 1 failed, 0 skipped", 6);
        check(&format!("{GOOD}{BAD}{GOOD}"), "5 passed, 1 failed, 2 skipped", 8);
    }

    #[test]
    fn a_binary_without_a_result_has_failed() {
        check(CRASH, "0 passed, 1 failed, 0 skipped", 0);
        check(&format!("{CRASH}{GOOD}"), "2 passed, 1 failed, 1 skipped", 1);
    }

    #[test]
    fn nothing_is_nothing() {
        check("", "0 passed, 0 failed, 0 skipped", 0);
    }

    #[test]
    fn ignored_tests_are_skipped_ones() {
        for ignored in ["ignored", "ignored, for a reason"] {
            let output = format!(
                "running 2 tests\ntest a ... {ignored}\ntest b ... ok\n\
                 test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured\n"
            );
            check(&output, "1 passed, 0 failed, 1 skipped", 1);
        }
    }
}
