//! `cargo xtask truth aa`: A/A test, which compares two equal conditions measured in alternation on
//! this machine.
//!
//! Every verdict `better` or `worse` is false. Needs a quiet machine and about a minute per run.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command;

/// Number of runs, half of them under each condition.
const RUNS: u32 = 12;

/// Measures, prints the verdict of every metric, and fails if one is false.
pub(crate) fn run(root: &std::path::Path, suite: &str) -> Result<ExitCode> {
    let mut build = command::cargo(root);
    command::run(build.args(["build", "--release", "--locked", "--package=assay"]))?;
    let store = tempfile::tempdir().context("cannot create a folder for the runs")?;
    let turns = RUNS.to_string();
    let mut assay = command::cargo(root);
    assay.args([
        "run",
        "--release",
        "--locked",
        "--quiet",
        "--package=assay",
        "--",
        "run",
        suite,
    ]);
    assay.args(["--label", "first,second", "--switch", "true", "true", "--settle", "0s"]);
    assay.args(["--turns", &turns, "--json", "--store"]).arg(store.path());
    println!("{}", command::format_command(&assay));
    let output = command::capture(&mut assay)?;
    let document: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        format!(
            "{} printed no comparison\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    let pairs = document["pairs"].as_array().context("the comparison has no pairs")?;
    if pairs.is_empty() {
        bail!("nothing was compared");
    }
    let is_false = |pair: &&Value| !is_true_verdict(pair);
    let false_count = pairs.iter().filter(is_false).count();
    pairs.iter().for_each(|pair| println!("{}", format_pair(pair)));
    println!(
        "\n{turns} runs of {suite}, {} metrics, {false_count} false verdicts",
        pairs.len()
    );
    Ok(ExitCode::from(u8::from(false_count > 0)))
}

/// Returns whether the verdict is correct for equal conditions.
fn is_true_verdict(pair: &Value) -> bool {
    matches!(pair["verdict"].as_str(), Some("equivalent" | "cannot-tell"))
}

fn format_pair(pair: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let figure = |value: &Value| {
        value.as_f64().map_or_else(|| "?".to_owned(), |ratio| format!("{ratio:.3}"))
    };
    let parameters = pair["a"]["parameters"].as_object().into_iter().flatten();
    let parameters: String =
        parameters.map(|(name, value)| format!(" {name}={value}")).collect();
    let name =
        format!("{}/{}{parameters}", text(&pair["a"]["benchmark"]), text(&pair["a"]["metric"]));
    let mark = if is_true_verdict(pair) { "" } else { "  FALSE" };
    let [ratio, low, high] =
        [&pair["ratio"], &pair["ratio_ci"][0], &pair["ratio_ci"][1]].map(figure);
    format!("{ratio} [{low}, {high}]  {:12}  {name}{mark}", text(&pair["verdict"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn detects_false_verdicts() {
        for (verdict, is_true) in [
            ("equivalent", true),
            ("cannot-tell", true),
            ("better", false),
            ("worse", false),
            ("", false),
        ] {
            let pair = json!({"a": {"benchmark": "b", "metric": "m"}, "verdict": verdict});
            assert_eq!(is_true_verdict(&pair), is_true, "{verdict}");
            assert_eq!(format_pair(&pair).ends_with("FALSE"), !is_true);
        }
    }
}
