//! `cargo xtask check`: format, rules and lints of what changed, before each commit. Runs no test.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::{command, tidy};

/// Branches that changes are compared with, the first that exists.
const BASES: [&str; 4] = ["origin/HEAD", "origin/main", "main", "HEAD"];

/// Packages that changed.
#[derive(Debug, PartialEq, Eq)]
enum ChangedPackages {
    /// Names of the packages.
    Some(BTreeSet<String>),
    /// All packages, because a file changed that all depend on.
    All,
}

/// Checks the format, the rules of the project, and the changed packages with clippy.
pub(crate) fn run(root: &Path) -> Result<()> {
    command::run(command::cargo(root).args(["fmt", "--all", "--check"]))?;
    tidy::run(root)?;
    let mut clippy = command::cargo(root);
    clippy.args(["clippy", "--all-targets", "--locked"]);
    match find_changed_packages(&list_changed_files(root)?) {
        ChangedPackages::All => {
            clippy.arg("--workspace");
        }
        ChangedPackages::Some(packages) if packages.is_empty() => {
            println!("clippy: no package changed");
            return Ok(());
        }
        ChangedPackages::Some(packages) => {
            clippy.args(packages.iter().map(|package| format!("--package={package}")));
        }
    }
    command::run(clippy.args(["--", "-Dwarnings"]))
}

/// Lists the files that differ from where this branch began, and those that git does not track yet.
fn list_changed_files(root: &Path) -> Result<Vec<String>> {
    let git =
        |arguments: &[&str]| command::output(command::at_root(root, "git").args(arguments));
    let base = BASES.iter().find_map(|base| git(&["merge-base", base, "HEAD"]).ok());
    let base = base.unwrap_or_else(|| "HEAD".to_owned());
    let mut files = git(&["diff", "--name-only", base.trim()])?;
    files.push_str(&git(&["ls-files", "--others", "--exclude-standard"])?);
    Ok(files.lines().map(str::to_owned).collect())
}

/// Finds the packages of the files. A package is named for its folder.
fn find_changed_packages(files: &[String]) -> ChangedPackages {
    let mut packages = BTreeSet::new();
    for file in files {
        let mut folders = file.split('/');
        match (folders.next(), folders.next()) {
            (Some("Cargo.toml" | "Cargo.lock" | "clippy.toml" | ".cargo"), _) => {
                return ChangedPackages::All;
            }
            (Some("xtask"), Some(_)) => {
                packages.insert("xtask".to_owned());
            }
            (Some("crates"), Some(package)) => {
                packages.insert(package.to_owned());
            }
            (_, _) => {}
        }
    }
    ChangedPackages::Some(packages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], expected: &[&str]) {
        let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        let expected = expected.iter().map(|&package| package.to_owned()).collect();
        assert_eq!(find_changed_packages(&files), ChangedPackages::Some(expected), "{files:?}");
    }

    #[test]
    fn packages_are_named_for_their_folders() {
        check(&["docs/fio.md", "README.md"], &[]);
        check(
            &[
                "crates/assay-run/src/bind.rs",
                "crates/assay-run/Cargo.toml",
                "xtask/src/main.rs",
            ],
            &["assay-run", "xtask"],
        );
    }

    #[test]
    fn root_manifest_concerns_all_packages() {
        let files = ["crates/assay-run/src/bind.rs".to_owned(), "Cargo.lock".to_owned()];
        assert_eq!(find_changed_packages(&files), ChangedPackages::All);
    }
}
