//! `cargo xtask fuzz`: starts the campaign of `assay-fuzz` against every reader of what others wrote.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command;

/// What CI can spare. It fuzzes the development build, whose arithmetic is checked and which the tests need anyway.
const IN_CI: &str = "180";

/// A campaign as it is asked for, optimised and with all checks on.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let mut asked: Vec<String> = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        asked.push((*word).to_owned());
        if *word == "--for" {
            asked.push(
                seconds(words.next().context("--for takes a time, like 10m")?)?.to_string(),
            );
        }
    }
    let run = ["run", "--quiet", "--locked", "-p", "assay-fuzz", "--profile", "fuzz", "--"];
    command::run(command::cargo(root).args(run).args(asked))
}

/// The part of it that runs on every change.
pub(crate) fn run_briefly(root: &Path) -> Result<()> {
    // Alone it would have other features of the same packages, and all would be compiled twice.
    let build = ["build", "--quiet", "--locked", "-p", "assay-fuzz", "-p", "assay"];
    command::run(command::cargo(root).args(build))?;
    let program = root.join("target/debug/assay-fuzz");
    command::run(command::at_root(root, program).args(["--for", IN_CI]))
}

/// `90s`, `10m` or `2h` in seconds.
fn seconds(text: &str) -> Result<u64> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let found =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let Some((number, factor)) = found else {
        bail!("`{text}` is no time; write it like 90s, 10m or 2h");
    };
    let number: u64 = number.parse().with_context(|| format!("`{text}` is no time"))?;
    Ok(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_a_unit() {
        for (text, expected) in [("90s", Some(90)), ("10m", Some(600)), ("2h", Some(7200))] {
            assert_eq!(seconds(text).ok(), expected);
        }
        for text in ["", "10", "m", "10x", "é"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
