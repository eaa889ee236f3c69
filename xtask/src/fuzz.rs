//! `cargo xtask fuzz`: runs `assay-fuzz` against every parser of foreign input.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command;

/// Duration in CI, in seconds. CI fuzzes the development build, which checks arithmetic and which
/// the tests need anyway.
const CI_SECONDS: &str = "120";

/// Fuzzes with the given options; optimised, with all checks enabled.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let mut options: Vec<String> = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        options.push((*word).to_owned());
        if *word == "--for" {
            options.push(
                parse_seconds(words.next().context("--for needs a duration, like 10m")?)?
                    .to_string(),
            );
        }
    }
    let run = ["run", "--quiet", "--locked", "-p", "assay-fuzz", "--profile", "fuzz", "--"];
    command::run(command::cargo(root).args(run).args(options))
}

/// Runs the part that CI runs on every change.
pub(crate) fn run_briefly(root: &Path) -> Result<()> {
    // Builds both together: separately, packages would have other features and be compiled twice.
    let build = ["build", "--quiet", "--locked", "-p", "assay-fuzz", "-p", "assay"];
    command::run(command::cargo(root).args(build))?;
    let program = root.join("target/debug/assay-fuzz");
    command::run(command::at_root(root, program).args(["--for", CI_SECONDS]))
}

/// Parses `90s`, `10m` or `2h` into seconds.
fn parse_seconds(text: &str) -> Result<u64> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let found =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let Some((number, factor)) = found else {
        bail!("`{text}` is not a duration; write it like 90s, 10m or 2h");
    };
    let number: u64 = number.parse().with_context(|| format!("`{text}` is not a duration"))?;
    Ok(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations_with_unit() {
        for (text, expected) in [("90s", Some(90)), ("10m", Some(600)), ("2h", Some(7200))] {
            assert_eq!(parse_seconds(text).ok(), expected);
        }
        for text in ["", "10", "m", "10x", "é"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }
}
