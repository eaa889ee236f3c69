//! Shell scripts pass `shellcheck`, where it is installed.

use std::path::Path;

use anyhow::Result;

use crate::command;
use crate::finding::TidyFinding;
use crate::sources::Sources;

const PROGRAM: &str = "shellcheck";
const WHY: &str = "change the script, or disable the check in its line with the reason";

/// Reports the findings of `shellcheck` in all scripts of the tree.
pub(crate) fn check(root: &Path, sources: &Sources) -> Result<Vec<TidyFinding>> {
    let scripts: Vec<&str> = sources.files_ending_in(&[".sh"]).map(|(path, _)| path).collect();
    if scripts.is_empty() {
        return Ok(Vec::new());
    }
    if !command::is_installed(PROGRAM) {
        println!("tidy: {PROGRAM} is not installed; {} scripts are unchecked", scripts.len());
        return Ok(Vec::new());
    }
    let mut shellcheck = command::at_root(root, PROGRAM);
    let output = command::capture(shellcheck.args(["-x", "-f", "gcc"]).args(scripts))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(parse_finding).collect())
}

/// Parses `PATH:LINE:COLUMN: TEXT`.
fn parse_finding(line: &str) -> Option<TidyFinding> {
    let mut fields = line.splitn(4, ':');
    let path = fields.next()?;
    let line = fields.next()?.parse().ok()?;
    let text = fields.nth(1)?.trim();
    Some(TidyFinding::new(path, line, text, WHY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_findings() {
        let text = "warning: x is referenced: not assigned. [SC2154]";
        let parsed = parse_finding(&format!("a/b.sh:5:20: {text}"));
        assert_eq!(parsed, Some(TidyFinding::new("a/b.sh", 5, text, WHY)));
        for damaged in ["", "a.sh", "a.sh:x:1: y", "a.sh:1"] {
            assert_eq!(parse_finding(damaged), None, "{damaged}");
        }
    }
}
