//! `cargo xtask truth`: measures known truths repeatedly, one try at a time, on a quiet machine.
//!
//! A try is a test of a crate's module `truth`, which skips itself unless `ASSAY_TRUTH` is set. It
//! measures once, then measures with the reference tool, and prints both: `TRY <unit> <truth>
//! <tolerance> <measured> <peer> <the peer's value, or ->`. The sequential test decides here. Tries
//! alternate, so that those of one truth are apart in time.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use assay_model::quantity::{Quantity, Unit};
use serde_json::Value;

use crate::test::{NOISE_PREFIX, TRUTH_PREFIX, TestOutcome, TestTally, TruthVerdict};
use crate::{command, packages};
use sequential::{Decision, decide, log_likelihood_ratio};

pub(crate) mod aa;
mod comparisons;
mod measured_programs;
mod sequential;
pub(crate) mod statistics;
pub(crate) mod witness;

/// Crates with a module `truth` in their test `it`.
const CRATES: [&str; 2] = ["assay", "assay-kernels"];

/// Time after which no further try starts; the longest try takes 40 s.
const START_DEADLINE: Duration = Duration::from_secs(600);

/// Installs the dependencies, decides all truths, and prints the count as the last line.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    packages::install(root, packages::FOR_TESTS)?;
    let mut tally = TestTally::default();
    run_all(root, &mut tally)?;
    Ok(TestOutcome::new(tally, true).conclude())
}

/// Decides all truths, prints the table, and adds the verdicts to the count.
pub(crate) fn run_all(root: &Path, tally: &mut TestTally) -> Result<()> {
    let mut truths = find_truths(root)?;
    let start = Instant::now();
    while truths.iter().any(Truth::is_open) && start.elapsed() < START_DEADLINE {
        for truth in truths.iter_mut().filter(|truth| truth.is_open()) {
            if start.elapsed() >= START_DEADLINE {
                break;
            }
            let outcome = truth.attempt()?;
            println!("{}: {outcome}", truth.name);
            truth.tries.push(outcome);
        }
    }
    println!("\n{}\n", sequential::describe());
    print!("{}", format_table(&truths));
    for truth in &truths {
        tally.add(&truth.name, truth.verdict());
    }
    Ok(())
}

/// Known truth with its tries so far.
#[derive(Debug)]
struct Truth {
    /// Name of its test.
    name: String,
    executable: PathBuf,
    /// Folder of its crate, where the test is started.
    folder: PathBuf,
    tries: Vec<TryResult>,
}

/// Result of one try.
#[derive(Debug, Clone, PartialEq)]
enum TryResult {
    Measured(TryFigures),
    /// The test cannot run here, with the reason.
    Skipped(String),
    /// The test ended without figures, with its output.
    Broken(String),
}

#[derive(Debug, Clone, PartialEq)]
struct TryFigures {
    unit: Unit,
    truth: f64,
    /// Relative tolerance.
    tolerance: f64,
    measured: f64,
    /// Name of the reference tool and its value.
    peer: Option<(String, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TryVerdict {
    Hit,
    Miss,
    /// Both miss on the same side, so the machine is the cause.
    SharedMiss,
}

impl TryFigures {
    fn parse(line: &str) -> Option<Self> {
        // libtest prints the name of the test first on the same line.
        let mut words = line.split_once("TRY ")?.1.split_whitespace();
        let symbol = words.next()?;
        let unit = Unit::ALL.into_iter().find(|unit| unit.symbol() == symbol)?;
        let mut number = || words.next()?.parse::<f64>().ok();
        let (truth, tolerance, measured) = (number()?, number()?, number()?);
        let peer = words.next()?.to_owned();
        let peer = words.next()?.parse().ok().map(|value| (peer, value));
        Some(Self { unit, truth, tolerance, measured, peer })
    }

    fn judge(&self) -> TryVerdict {
        // NaN is a miss.
        let error = |value: f64| value / self.truth - 1.0;
        let misses =
            |value: f64| error(value).abs().is_nan() || error(value).abs() > self.tolerance;
        match &self.peer {
            _ if !misses(self.measured) => TryVerdict::Hit,
            Some((_, peer)) if misses(*peer) && error(*peer) * error(self.measured) > 0.0 => {
                TryVerdict::SharedMiss
            }
            _ => TryVerdict::Miss,
        }
    }

    fn format_value(&self, value: f64) -> String {
        format!("{:.5}", Quantity::new(value, self.unit))
    }
}

impl std::fmt::Display for TryResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Measured(figures) => {
                write!(f, "{}", figures.format_value(figures.measured))?;
                if let Some((name, value)) = &figures.peer {
                    write!(f, ", {name} {}", figures.format_value(*value))?;
                }
                write!(
                    f,
                    ", {}",
                    match figures.judge() {
                        TryVerdict::Hit => "hit",
                        TryVerdict::Miss => "miss",
                        TryVerdict::SharedMiss => "a miss shared by the peer",
                    }
                )
            }
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
            Self::Broken(output) => write!(f, "miss, no figures in the output:\n{output}"),
        }
    }
}

impl Truth {
    /// Runs one try.
    fn attempt(&self) -> Result<TryResult> {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder);
        command
            .args(["--exact", &self.name, "--nocapture", "--test-threads=1"])
            .env("ASSAY_TRUTH", "1");
        let output = command::capture(&mut command)?;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        Ok(parse_try(&text, output.status.success()))
    }

    fn count(&self, wanted: TryVerdict) -> u32 {
        let judged = |it: &&TryResult| match it {
            TryResult::Measured(figures) => figures.judge() == wanted,
            TryResult::Broken(_) => wanted == TryVerdict::Miss,
            TryResult::Skipped(_) => false,
        };
        self.tries.iter().filter(judged).count() as u32
    }

    fn is_open(&self) -> bool {
        let is_skip = |it: &TryResult| matches!(it, TryResult::Skipped(_));
        !self.tries.iter().any(is_skip) && self.decision() == Decision::Open
    }

    fn decision(&self) -> Decision {
        decide(self.count(TryVerdict::Hit), self.count(TryVerdict::Miss))
    }

    fn verdict(&self) -> TruthVerdict {
        let (hits, misses) = (self.count(TryVerdict::Hit), self.count(TryVerdict::Miss));
        if let Some(TryResult::Skipped(reason)) = self.tries.last() {
            return TruthVerdict::Skipped(reason.clone());
        }
        match decide(hits, misses) {
            Decision::Sound => TruthVerdict::Holds,
            Decision::Faulty => TruthVerdict::Fails(evidence(hits, misses)),
            // The time is up, and a fault is more likely.
            Decision::Open if log_likelihood_ratio(hits, misses) > 0.0 => {
                TruthVerdict::Fails(evidence(hits, misses))
            }
            Decision::Open => match self.count(TryVerdict::SharedMiss) {
                0 => TruthVerdict::Skipped(format!(
                    "out of time after {hits} hits, {misses} misses"
                )),
                shared => TruthVerdict::Skipped(format!(
                    "{NOISE_PREFIX}: {hits} hits, {misses} misses, and {shared} misses shared by the peer"
                )),
            },
        }
    }
}

/// Describes the tries of a truth that fails.
fn evidence(hits: u32, misses: u32) -> String {
    format!("{hits} hits, {misses} misses")
}

/// Parses the output of a try.
fn parse_try(text: &str, succeeded: bool) -> TryResult {
    if succeeded && let Some(figures) = text.lines().find_map(TryFigures::parse) {
        return TryResult::Measured(figures);
    }
    let reason =
        |line: &str| Some(line.strip_prefix("SKIPPED ")?.split_once(": ")?.1.to_owned());
    match text.lines().find_map(reason).filter(|_| succeeded) {
        Some(reason) => TryResult::Skipped(reason),
        None => TryResult::Broken(text.to_owned()),
    }
}

/// Builds the tests and lists their truths.
fn find_truths(root: &Path) -> Result<Vec<Truth>> {
    let mut build = command::cargo(root);
    build.args(["test", "--locked", "--no-run", "--message-format=json", "--test", "it"]);
    build.args(CRATES.map(|name| format!("--package={name}")));
    let mut truths = Vec::new();
    for line in command::output(&mut build)?.lines() {
        let message: Value = serde_json::from_str(line)?;
        let Some(executable) = message["executable"].as_str() else { continue };
        if message["target"]["name"] != "it" {
            continue;
        }
        let manifest =
            message["manifest_path"].as_str().context("cargo reported no manifest")?;
        let folder =
            Path::new(manifest).parent().context("the manifest has no parent folder")?;
        let mut list = Command::new(executable);
        list.args(["--list", "--format=terse", TRUTH_PREFIX]);
        for name in
            command::output(&mut list)?.lines().filter_map(|it| it.strip_suffix(": test"))
        {
            truths.push(Truth {
                name: name.to_owned(),
                executable: executable.into(),
                folder: folder.to_owned(),
                tries: Vec::new(),
            });
        }
    }
    if truths.is_empty() {
        bail!("found no tests of known truths");
    }
    Ok(truths)
}

/// Formats one line per truth: true value, latest figures, tries and verdict.
fn format_table(truths: &[Truth]) -> String {
    let heading = ["truth", "is", "measured", "peer", "hit", "miss", "shared", "verdict"]
        .map(str::to_owned);
    let mut rows = vec![heading];
    for truth in truths {
        let figures = truth.tries.iter().rev().find_map(|it| match it {
            TryResult::Measured(figures) => Some(figures),
            TryResult::Skipped(_) | TryResult::Broken(_) => None,
        });
        let cell = |value: fn(&TryFigures) -> String| figures.map_or("-".to_owned(), value);
        let verdict = match truth.verdict() {
            TruthVerdict::Holds => "holds".to_owned(),
            TruthVerdict::Fails(_) => "FAILS".to_owned(),
            TruthVerdict::Skipped(reason) => format!("not decided: {reason}"),
        };
        let count = |judged| truth.count(judged).to_string();
        rows.push([
            truth.name.strip_prefix(TRUTH_PREFIX).unwrap_or(&truth.name).to_owned(),
            cell(|it| format!("{} ± {:.1} %", it.format_value(it.truth), it.tolerance * 100.0)),
            cell(|it| it.format_value(it.measured)),
            cell(|it| match &it.peer {
                Some((name, value)) => format!("{name} {}", it.format_value(*value)),
                None => "-".to_owned(),
            }),
            count(TryVerdict::Hit),
            count(TryVerdict::Miss),
            count(TryVerdict::SharedMiss),
            verdict,
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..rows[0].len()).filter_map(width).collect();
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: TryVerdict) {
        let figures = TryFigures::parse(line).unwrap();
        assert_eq!(figures.judge(), expected, "{line}");
    }

    #[test]
    fn shared_miss_needs_same_side() {
        check("TRY bit/s 100 0.01 99.5 iperf3 50", TryVerdict::Hit);
        check("TRY bit/s 100 0.01 98 iperf3 99.5", TryVerdict::Miss);
        check("TRY bit/s 100 0.01 98 iperf3 97", TryVerdict::SharedMiss);
        check("TRY bit/s 100 0.01 102 iperf3 97", TryVerdict::Miss);
        check("TRY bit/s 100 0.01 98 iperf3 -", TryVerdict::Miss);
        check("TRY bit/s 100 0.01 NaN iperf3 97", TryVerdict::Miss);
        assert_eq!(TryFigures::parse("TRY parsec 100 0.01 98 iperf3 -"), None);
        assert_eq!(TryFigures::parse("TRY bit/s 100 0.01"), None);
    }

    #[test]
    fn parses_output_of_try() {
        let line = "test truth::x ... TRY s 0.64 0.1 0.65 fio -\nok";
        assert!(matches!(parse_try(line, true), TryResult::Measured(_)));
        assert!(matches!(parse_try(line, false), TryResult::Broken(_)));
        let skip = "SKIPPED x: no root\n";
        assert_eq!(parse_try(skip, true), TryResult::Skipped("no root".to_owned()));
        assert!(matches!(parse_try("", true), TryResult::Broken(_)));
    }

    fn verdict(lines: &[&str]) -> TruthVerdict {
        let tries = lines.iter().map(|line| parse_try(line, true)).collect();
        let (name, executable, folder) = (String::new(), PathBuf::new(), PathBuf::new());
        Truth { name, executable, folder, tries }.verdict()
    }

    #[test]
    fn distinguishes_noise_from_fault() {
        const HIT: &str = "TRY count 1 0.1 1 iperf3 1";
        const MISS: &str = "TRY count 1 0.1 2 iperf3 1";
        const SHARED: &str = "TRY count 1 0.1 2 iperf3 2";
        for (tries, expected) in [
            (&[HIT, HIT, HIT][..], TruthVerdict::Holds),
            (&[MISS, MISS], TruthVerdict::Fails(evidence(0, 2))),
            (&[MISS], TruthVerdict::Fails(evidence(0, 1))),
            (&[SHARED, HIT, SHARED, HIT], TruthVerdict::Holds),
            (&[SHARED, MISS, SHARED, MISS], TruthVerdict::Fails(evidence(0, 2))),
        ] {
            assert_eq!(verdict(tries), expected, "{tries:?}");
        }
        for (tries, is_noise) in
            [(&[SHARED; 9][..], true), (&[HIT, SHARED], true), (&[HIT], false)]
        {
            let TruthVerdict::Skipped(reason) = verdict(tries) else { panic!("{tries:?}") };
            assert_eq!(reason.starts_with(NOISE_PREFIX), is_noise, "{reason}");
        }
    }
}
