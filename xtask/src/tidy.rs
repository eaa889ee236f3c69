//! `cargo xtask tidy`: project rules that neither rustc, rustfmt nor clippy can check.
//!
//! Every rule is a function from the tree to its findings, in its own file. Nothing is fixed
//! automatically.

use std::path::Path;

use anyhow::{Result, bail};

use crate::finding::TidyFinding;
use crate::sources::Sources;

mod budget;
mod circles;
mod features;
mod files;
mod glossary;
mod imports;
mod leftovers;
pub(crate) mod links;
mod manifests;
mod must_use;
mod names;
mod portability;
mod shell;
mod sizes;
pub(crate) mod summary;
mod threads;
mod versions;
mod voice;
mod wildcards;

/// Rule: a function from the tree to its findings.
type Rule = fn(&Sources) -> Result<Vec<TidyFinding>>;

const RULES: &[Rule] = &[
    circles::check,
    files::check,
    glossary::check,
    imports::check,
    leftovers::check,
    links::check,
    manifests::check,
    must_use::check,
    names::check,
    portability::check,
    sizes::check,
    summary::check,
    threads::check,
    versions::check,
    voice::check,
    wildcards::check,
];

/// Runs every rule and prints the findings; any finding is an error.
pub(crate) fn run(root: &Path) -> Result<()> {
    let sources = Sources::read(root)?;
    let mut findings = check(&sources)?;
    let packages = budget::count_packages(root)?;
    findings.extend(budget::check(packages));
    findings.extend(features::check(root)?);
    findings.extend(shell::check(root, &sources)?);
    for finding in &findings {
        println!("{finding}");
    }
    println!(
        "tidy: {} findings in {} files ({} of Rust); {packages} packages in the default build, \
         at most {} allowed",
        findings.len(),
        sources.files.len(),
        sources.rust.len(),
        budget::MAX_PACKAGES
    );
    if !findings.is_empty() {
        bail!("the tree is not tidy");
    }
    Ok(())
}

/// Returns the findings of all rules that need only the tree, sorted by location.
fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for rule in RULES {
        findings.extend(rule(sources)?);
    }
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    #[test]
    fn tree_is_tidy() {
        let result = super::run(crate::root());
        assert!(result.is_ok(), "{}", result.unwrap_err());
    }
}
