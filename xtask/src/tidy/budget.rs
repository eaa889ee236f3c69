//! Limits the number of packages in the default build: everyone who builds assay compiles all of
//! them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::command;
use crate::finding::TidyFinding;

/// Maximum number of packages in the default build of `assay` (the budget of the design).
pub(crate) const MAX_PACKAGES: usize = 300;

/// Counts the packages in the default build of `assay`, including its own.
pub(crate) fn count_packages(root: &Path) -> Result<usize> {
    let tree = command::output(command::cargo(root).args([
        "tree",
        "--locked",
        "--package=assay",
        "--edges=normal,build",
        "--prefix=none",
    ]))?;
    Ok(count_distinct(&tree))
}

/// Reports a finding if the budget is exceeded.
pub(crate) fn check(packages: usize) -> Option<TidyFinding> {
    (packages > MAX_PACKAGES).then(|| {
        let what = format!("{packages} packages in the default build, {MAX_PACKAGES} allowed");
        TidyFinding::new(
            "Cargo.lock",
            1,
            what,
            "everyone who builds assay compiles all of them",
        )
    })
}

/// Counts distinct packages in the output of `cargo tree --prefix=none`, which marks repeated ones
/// `(*)`.
fn count_distinct(tree: &str) -> usize {
    let names: BTreeSet<_> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .filter(|line| !line.is_empty())
        .collect();
    names.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_packages_count_once() {
        assert_eq!(count_distinct("a v1.0.0\nb v2.0.0\n\na v1.0.0 (*)\nb v3.0.0\n"), 3);
    }

    #[test]
    fn reports_exceeded_budget() {
        assert_eq!(check(MAX_PACKAGES), None);
        assert!(check(MAX_PACKAGES + 1).is_some());
    }
}
