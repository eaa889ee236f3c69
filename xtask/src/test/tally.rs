//! Parses the output of the test binaries line by line and counts the results. Prints nothing.

use std::fmt;

/// Test that reported that it cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkippedTest {
    /// Name in its report.
    pub test: String,
    /// Reason in its report.
    pub reason: String,
}

/// Test that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedTest {
    /// Name of the test.
    pub name: String,
    /// Lines that it printed, or the evidence against a truth.
    pub output: Vec<String>,
}

/// Result of a known truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TruthVerdict {
    Holds,
    /// Fails, with the evidence.
    Fails(String),
    /// Undecided, with the reason.
    Skipped(String),
}

/// Whether to print a line of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineVisibility {
    /// The line is printed.
    Visible,
    /// The line belongs to a test that passed, and is hidden.
    Hidden,
}

/// Counts over all test binaries so far.
#[derive(Debug, Default)]
pub(crate) struct TestTally {
    passed: usize,
    failed: usize,
    /// Failed tests; crashed binaries are counted without a name.
    failures: Vec<FailedTest>,
    passed_on_retry: Vec<String>,
    skipped: Vec<SkippedTest>,
    section: OutputSection,
    /// Failed test whose output is read.
    printing: Option<usize>,
    /// Skipped tests of the current binary.
    pending_skips: Vec<SkippedTest>,
}

/// Position in the output of one binary.
#[derive(Debug, Default, PartialEq, Eq)]
enum OutputSection {
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

impl TestTally {
    /// Processes one line of output.
    pub(crate) fn read_line(&mut self, line: &str) -> LineVisibility {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.finish_binary(result);
            return LineVisibility::Visible;
        }
        match line {
            "successes:" if self.section == OutputSection::Running => {
                self.section = OutputSection::Successes;
            }
            "failures:" if self.section != OutputSection::Outside => {
                self.section = OutputSection::Failures;
                self.printing = None;
            }
            line if is_start(line) => {
                self.finish();
                self.section = OutputSection::Running;
            }
            line => return self.read_inside(line),
        }
        LineVisibility::Hidden
    }

    fn read_inside(&mut self, line: &str) -> LineVisibility {
        if let Some(name) =
            line.strip_prefix("test ").and_then(|it| it.strip_suffix(" ... FAILED"))
        {
            self.failures.push(FailedTest { name: name.to_owned(), output: Vec::new() });
        }
        if self.section == OutputSection::Failures {
            self.read_failure_output(line);
        }
        if let Some(skip) = parse_skip(line).filter(|_| self.section != OutputSection::Failures)
        {
            if !self.pending_skips.iter().any(|known| known.test == skip.test) {
                self.pending_skips.push(skip);
            }
            return LineVisibility::Hidden;
        }
        let is_fine = line.is_empty()
            || line.starts_with("test ") && line.ends_with(" ... ok")
            || self.section == OutputSection::Successes;
        if is_fine { LineVisibility::Hidden } else { LineVisibility::Visible }
    }

    /// Keeps a line of the heading `---- name stdout ----` or of the output below it.
    fn read_failure_output(&mut self, line: &str) {
        let heading = line.strip_prefix("---- ").and_then(|it| it.strip_suffix(" stdout ----"));
        if let Some(name) = heading {
            self.printing = self.failures.iter().rposition(|test| test.name == name);
        } else if let Some(index) = self.printing {
            self.failures[index].output.push(line.to_owned());
        }
    }

    /// Ends a binary at its result line.
    fn finish_binary(&mut self, result: &str) {
        let skipped = std::mem::take(&mut self.pending_skips);
        // libtest counts tests that skipped themselves as passed, but not ignored tests.
        let fine = parse_count(result, "passed") + parse_count(result, "ignored");
        self.passed += fine.saturating_sub(skipped.len());
        self.failed += parse_count(result, "failed");
        self.skipped.extend(skipped);
        self.section = OutputSection::Outside;
    }

    /// Ends the output. A binary without a result line has crashed, which counts as a failure.
    pub(crate) fn finish(&mut self) {
        if self.section != OutputSection::Outside {
            self.failed += 1;
            self.skipped.append(&mut self.pending_skips);
            self.section = OutputSection::Outside;
        }
    }

    /// Adds the counts of other tests.
    pub(crate) fn merge(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.failures.extend(other.failures);
        self.passed_on_retry.extend(other.passed_on_retry);
        self.skipped.extend(other.skipped);
    }

    /// Adds the result of a truth, counted like a test.
    pub(crate) fn add(&mut self, test: &str, verdict: TruthVerdict) {
        match verdict {
            TruthVerdict::Holds => self.passed += 1,
            TruthVerdict::Fails(evidence) => {
                self.failed += 1;
                let output = evidence.lines().map(str::to_owned).collect();
                self.failures.push(FailedTest { name: test.to_owned(), output });
            }
            TruthVerdict::Skipped(reason) => {
                self.skipped.push(SkippedTest { test: test.to_owned(), reason });
            }
        }
    }

    /// Counts a failed test as passed because it passed when run alone.
    pub(crate) fn mark_passed_on_retry(&mut self, test: &str) {
        self.failures.retain(|it| it.name != test);
        self.failed -= 1;
        self.passed += 1;
        self.list_as_flaky(test);
    }

    /// Lists a test that passed when it was run again.
    pub(crate) fn list_as_flaky(&mut self, test: &str) {
        self.passed_on_retry.push(test.to_owned());
    }

    /// Returns the failed tests.
    pub(crate) fn failures(&self) -> &[FailedTest] {
        &self.failures
    }

    /// Returns the names of the tests that failed, then passed alone.
    pub(crate) fn passed_on_retry(&self) -> &[String] {
        &self.passed_on_retry
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
    pub(crate) fn skipped(&self) -> &[SkippedTest] {
        &self.skipped
    }
}

impl fmt::Display for TestTally {
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
fn parse_skip(line: &str) -> Option<SkippedTest> {
    let (test, reason) = match line.strip_prefix("SKIPPED ") {
        Some(rest) => rest.split_once(": ")?,
        None => match line.strip_prefix("test ")?.split_once(" ... ignored")? {
            (test, "") => (test, "ignored"),
            (test, reason) => (test, reason.strip_prefix(", ")?),
        },
    };
    Some(SkippedTest { test: test.to_owned(), reason: reason.to_owned() })
}

/// Returns the number before `word` in `ok. 5 passed; 0 failed; …`.
fn parse_count(result: &str, word: &str) -> usize {
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
        let mut tally = TestTally::default();
        let lines = output
            .lines()
            .filter(|line| tally.read_line(line) == LineVisibility::Visible)
            .count();
        tally.finish();
        assert_eq!((tally.to_string().as_str(), lines), (expected, shown), "{output}");
    }

    #[test]
    fn sums_counts_and_separates_skips() {
        check(GOOD, "2 passed, 0 failed, 1 skipped", 1);
        // A failed test is printed with all its output: its result, two headings, its message.
        check(BAD, "1 passed, 1 failed, 0 skipped", 6);
        check(&format!("{GOOD}{BAD}{GOOD}"), "5 passed, 1 failed, 2 skipped", 8);
    }

    #[test]
    fn keeps_the_output_of_failures() {
        let mut tally = TestTally::default();
        for line in GOOD.lines().chain(BAD.lines()).chain(GOOD.lines()) {
            tally.read_line(line);
        }
        tally.add("truth::t", TruthVerdict::Fails("0 hits, 2 misses".to_owned()));
        let output = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let printed =
            output(&["SKIPPED f: it said so before it failed", "panicked at x.rs:1:1", ""]);
        let expected = [
            FailedTest { name: "f".to_owned(), output: printed },
            FailedTest { name: "truth::t".to_owned(), output: output(&["0 hits, 2 misses"]) },
        ];
        assert_eq!(tally.failures(), expected);
    }

    #[test]
    fn crashed_binary_counts_as_failure() {
        check(CRASH, "0 passed, 1 failed, 0 skipped", 0);
        check(&format!("{CRASH}{GOOD}"), "2 passed, 1 failed, 1 skipped", 1);
    }

    #[test]
    fn empty_output_has_zero_counts() {
        check("", "0 passed, 0 failed, 0 skipped", 0);
    }

    #[test]
    fn ignored_tests_count_as_skipped() {
        for ignored in ["ignored", "ignored, for a reason"] {
            let output = format!(
                "running 2 tests\ntest a ... {ignored}\ntest b ... ok\n\
                 test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured\n"
            );
            check(&output, "1 passed, 0 failed, 1 skipped", 1);
        }
    }
}
