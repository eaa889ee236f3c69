//! Cargo packages of the tree and the root files of their targets. Reads manifests only.

use anyhow::{Context, Result};
use toml::Table;

use super::Sources;

/// Cargo package: a folder whose `Cargo.toml` has a `[package]`.
#[derive(Debug)]
pub(crate) struct CargoPackage {
    /// Path of the manifest from the root of the repository.
    pub manifest: String,
    /// Folder of the manifest with a trailing `/`; empty for the root.
    pub folder: String,
    /// Name of the package.
    pub name: String,
    /// Parsed manifest.
    pub table: Table,
}

/// Returns all packages of the tree.
pub(crate) fn packages(sources: &Sources) -> Result<Vec<CargoPackage>> {
    let mut packages = Vec::new();
    for (path, text) in sources.files_ending_in(&["Cargo.toml"]) {
        let table: Table =
            text.parse().with_context(|| format!("{path} is not a valid manifest"))?;
        let Some(name) = table.get("package").and_then(|package| package.get("name")) else {
            continue;
        };
        packages.push(CargoPackage {
            manifest: path.to_owned(),
            folder: path.trim_end_matches("Cargo.toml").to_owned(),
            name: name.as_str().context("a package name must be a string")?.to_owned(),
            table,
        });
    }
    Ok(packages)
}

impl CargoPackage {
    /// Returns the root files of the targets, by cargo's conventions and by the `path` keys of the
    /// manifest.
    pub(crate) fn target_roots<'a>(
        &'a self,
        sources: &'a Sources,
    ) -> impl Iterator<Item = &'a str> {
        sources.rust.keys().map(String::as_str).filter(|path| {
            path.strip_prefix(self.folder.as_str()).is_some_and(|inside| {
                is_conventional_root(inside) || self.has_target_path(inside)
            })
        })
    }

    fn has_target_path(&self, inside: &str) -> bool {
        let targets =
            ["lib", "bin", "test", "bench", "example"].into_iter().flat_map(|kind| match self
                .table
                .get(kind)
            {
                Some(toml::Value::Array(targets)) => targets.iter().collect(),
                Some(target) => vec![target],
                None => Vec::new(),
            });
        targets
            .filter_map(|target| target.get("path"))
            .any(|path| path.as_str() == Some(inside))
    }
}

/// Whether cargo uses this file as the root of a target by convention.
fn is_conventional_root(inside: &str) -> bool {
    if matches!(inside, "src/lib.rs" | "src/main.rs" | "build.rs") {
        return true;
    }
    ["src/bin/", "tests/", "benches/", "examples/"]
        .into_iter()
        .filter_map(|folder| inside.strip_prefix(folder))
        .any(|name| {
            !name.contains('/') || name.split_once('/').is_some_and(|(_, f)| f == "main.rs")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::example;

    #[test]
    fn finds_conventional_and_declared_roots() {
        let sources = example::tree(&[
            ("a/Cargo.toml", "[package]\nname = \"a\"\n[[bench]]\npath = \"odd/place.rs\""),
            ("a/src/lib.rs", ""),
            ("a/src/other.rs", ""),
            ("a/src/bin/tool/main.rs", ""),
            ("a/tests/it/main.rs", ""),
            ("a/tests/it/case.rs", ""),
            ("a/tests/alone.rs", ""),
            ("a/odd/place.rs", ""),
            ("Cargo.toml", "[workspace]"),
        ]);
        let packages = packages(&sources).unwrap();
        assert_eq!(packages.len(), 1);
        let roots: Vec<_> = packages[0].target_roots(&sources).collect();
        assert_eq!(
            roots,
            [
                "a/odd/place.rs",
                "a/src/bin/tool/main.rs",
                "a/src/lib.rs",
                "a/tests/alone.rs",
                "a/tests/it/main.rs"
            ]
        );
    }
}
