//! Verdicts of `assay exec` itself on a program that prints figures with a known difference and 1 %
//! of noise.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command;

/// Comparisons for each ratio: the simulations above count errors, these show that the program calls
/// the same functions.
const COMPARISONS: u64 = 3;

/// Measures, prints a line for each ratio, and returns the number of wrong verdicts.
pub(super) fn count_faults(root: &Path, seed: u64) -> Result<u32> {
    let folder = tempfile::tempdir().context("cannot create a folder for the program")?;
    let mut faults = 0;
    for (ratio, expected) in [(1.0, ["equivalent", "cannot-tell"]), (1.05, ["worse", "worse"])]
    {
        let (mut right, mut blocks) = (0, 0);
        for number in 0..COMPARISONS {
            let (verdict, n) = compare(root, folder.path(), (ratio, seed + number))?;
            right += u64::from(expected.contains(&verdict.as_str()));
            blocks += n;
        }
        println!(
            "assay exec on two programs, {:.0} % apart: {right} of {COMPARISONS} verdicts right, {:.1} blocks",
            100.0 * (ratio - 1.0),
            blocks as f64 / COMPARISONS as f64
        );
        faults += u32::from(right < COMPARISONS);
    }
    Ok(faults)
}

/// Compares two programs; returns the verdict on their figure and the number of blocks.
fn compare(root: &Path, folder: &Path, (ratio, seed): (f64, u64)) -> Result<(String, u64)> {
    let counter = folder.join(format!("{ratio}-{seed}"));
    let seed_text = seed.to_string();
    let mut assay = command::cargo(root);
    assay.args(["run", "--locked", "--quiet", "--package=assay", "--", "exec", "--no-store"]);
    assay.args(["--json", "-q", "--shell", "--seed", &seed_text, "-n", "a", "-n", "b"]);
    assay.args(["--metric", "figure: FOM = ([0-9.]+) lower"]);
    for level in [1.0, ratio] {
        assay.arg(program_line(&counter, level, seed));
    }
    let output = command::capture(&mut assay)?;
    let document: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("assay exec printed no JSON\n{error}")
    })?;
    let pairs = document["comparisons"][0]["pairs"].as_array();
    let mut pairs = pairs.context("the run has no comparison")?.iter();
    let figure = pairs.find(|pair| pair["a"]["metric"] == "penalty");
    let figure = figure.context("the comparison lacks the figure")?;
    let verdict = figure["verdict"].as_str().unwrap_or_default().to_owned();
    Ok((verdict, figure["a"]["n"].as_u64().unwrap_or(0)))
}

/// Returns a line of the shell that prints a figure with noise: twelve uniform numbers have a standard
/// deviation of 1. The counter makes each start differ.
fn program_line(counter: &Path, level: f64, seed: u64) -> String {
    let counter = counter.display();
    format!(
        "n=$(cat '{counter}' 2>/dev/null || echo 0); n=$((n + 1)); echo $n > '{counter}'; \
         awk -v seed=$((n * 104729 + {seed} * 7919)) 'BEGIN {{ srand(seed); for (i = 0; i < 100; i++) \
         rand(); for (i = 0; i < 12; i++) s += rand(); printf \"FOM = %.6f\\n\", 100 * {level} * (1 + \
         0.01 * (s - 6)) }}'"
    )
}
