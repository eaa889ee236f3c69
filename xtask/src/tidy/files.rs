//! Every source file opens with its purpose, has a specific name, and is part of a target.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::finding::TidyFinding;
use crate::sources::{Sources, crates, modules};

/// Names without meaning: they describe a location, not the contents.
const VAGUE_NAMES: [&str; 7] =
    ["util", "utils", "helper", "helpers", "common", "misc", "shared"];

/// Reports files without an opening comment, with a vague name, or without a `mod` declaration.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = vaguely_named(sources);
    findings.extend(without_module_comment(sources));
    findings.extend(unreachable_files(sources)?);
    Ok(findings)
}

fn without_module_comment(sources: &Sources) -> impl Iterator<Item = TidyFinding> {
    sources.files_ending_in(&[".rs"]).filter(|(_, text)| !text.starts_with("//! ")).map(
        |(path, _)| {
            TidyFinding::new(
                path,
                1,
                "no `//!` comment at the start of the file",
                "the first comment states the purpose of the file",
            )
        },
    )
}

fn vaguely_named(sources: &Sources) -> Vec<TidyFinding> {
    let is_shelf = |name: &str| VAGUE_NAMES.contains(&name.split('.').next().unwrap_or(name));
    sources
        .files_ending_in(&[".rs", ".c", ".h", ".py", ".sh"])
        .filter(|(path, _)| path.split('/').any(is_shelf))
        .map(|(path, _)| {
            TidyFinding::new(path, 1, "vague name", "name the subject of the file")
        })
        .collect()
}

fn unreachable_files(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut reached = BTreeSet::new();
    for package in crates::packages(sources)? {
        for root in package.target_roots(sources) {
            reached.extend(modules::target_modules(sources, root).into_iter().map(|m| m.file));
        }
    }
    let unreached = sources.rust.keys().filter(|path| !reached.contains(*path));
    Ok(unreached
        .map(|path| {
            TidyFinding::new(
                path,
                1,
                "no `mod` declaration includes this file",
                "files that are not compiled are not checked",
            )
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let manifest = ("a/Cargo.toml", "[package]\nname = \"a\"");
        let files: Vec<_> = files.iter().copied().chain([manifest]).collect();
        let found = super::check(&example::tree(&files)).unwrap();
        let places: Vec<_> = found.iter().map(|f| format!("{}: {}", f.path, f.what)).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn requires_module_comment() {
        check(&[("a/src/lib.rs", "//! All of it.")], &[]);
        check(
            &[("a/src/lib.rs", "use x;")],
            &["a/src/lib.rs: no `//!` comment at the start of the file"],
        );
        check(
            &[("a/src/lib.rs", "// Plain.")],
            &["a/src/lib.rs: no `//!` comment at the start of the file"],
        );
    }

    #[test]
    fn rejects_vague_names() {
        let shelf = concat!("a/src/uti", "ls.rs");
        let root = ("a/src/lib.rs", concat!("//! All of it.\nmod uti", "ls;"));
        check(&[root, (shelf, "//! Some.")], &[&format!("{shelf}: vague name")]);
        let folder = concat!("scripts/hel", "pers/x.sh");
        check(&[(folder, "")], &[&format!("{folder}: vague name")]);
        check(&[("scripts/sharing.sh", "")], &[]);
    }

    #[test]
    fn reports_unreachable_files() {
        let root = ("a/src/lib.rs", "//! All of it.\nmod one;");
        check(&[root, ("a/src/one.rs", "//! One.")], &[]);
        check(
            &[root, ("a/src/one.rs", "//! One."), ("a/src/two.rs", "//! Two.")],
            &["a/src/two.rs: no `mod` declaration includes this file"],
        );
        check(
            &[("b/loose.rs", "//! None.")],
            &["b/loose.rs: no `mod` declaration includes this file"],
        );
    }
}
