//! Packages are compiled once: tests must not enable other features than the program does.
//!
//! Otherwise everyone who runs the tests compiles these packages, and all that depend on them, a
//! second time.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::command;
use crate::finding::TidyFinding;

/// Reports packages of the program that the tests build with other features.
pub(crate) fn check(root: &Path) -> Result<Vec<TidyFinding>> {
    let tree = |choice: &[&str]| {
        let all = ["tree", "--locked", "--prefix=none", "--format={p} [{f}]"];
        command::output(command::cargo(root).args(all).args(choice))
    };
    let program = tree(&["--package=assay", "--edges=normal,build"])?;
    let tests = tree(&["--workspace", "--edges=normal,build,dev"])?;
    let found = built_twice(&program, &tests).into_iter().map(|package| {
        let what = format!("the tests build `{package}` with other features than the program");
        let why =
            "it and its dependents are compiled twice: enable the same features in the program";
        TidyFinding::new("crates/assay/Cargo.toml", 1, what, why)
    });
    Ok(found.collect())
}

/// Returns the lines of the program's tree that are missing in that of the tests; repeated lines
/// end in `(*)`.
fn built_twice<'t>(program: &'t str, tests: &'t str) -> Vec<&'t str> {
    parse_packages(program).difference(&parse_packages(tests)).copied().collect()
}

fn parse_packages(tree: &str) -> BTreeSet<&str> {
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    lines.filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_packages_with_other_features() {
        for (tests, expected) in [
            ("b v1 []\na v1 [std] (*)\n", &[][..]),
            // A macro may also need the package with other features.
            ("a v1 [std]\na v1 [alloc]\nb v1 []\n", &[]),
            ("a v1 [alloc,std]\nb v1 []\n", &["a v1 [std]"]),
            ("", &["a v1 [std]", "b v1 []"]),
        ] {
            assert_eq!(built_twice("a v1 [std]\n\nb v1 []\nb v1 [] (*)\n", tests), expected);
        }
    }
}
