//! Allowed dependencies between crates, checked in the manifests.
//!
//! `assay-model` is the hub. The spokes depend on it, but never on each other. `assay-run` combines
//! them, and the command line depends on all.

use anyhow::Result;
use toml::{Table, Value};

use crate::finding::TidyFinding;
use crate::sources::Sources;
use crate::sources::crates::{self, CargoPackage};

/// Allowed dependencies of one crate of this workspace.
struct CrateRule {
    name: &'static str,
    /// Allowed crates of this workspace.
    internal: &'static [&'static str],
    /// Allowed foreign crates; `None` allows all.
    external: Option<&'static [&'static str]>,
}

const fn spoke(name: &'static str) -> CrateRule {
    CrateRule { name, internal: &["assay-model"], external: None }
}

/// Crate map of ARCHITECTURE.md.
const CRATE_MAP: &[CrateRule] = &[
    CrateRule { name: "assay-model", internal: &[], external: None },
    // Few dependencies, so that the timed code compiles early and includes no foreign runtime.
    CrateRule {
        name: "assay-kernels",
        internal: &["assay-model"],
        external: Some(&["hdrhistogram", "io-uring", "libc", "loom", "thiserror"]),
    },
    // Outside of the workspace: it needs a nightly compiler.
    CrateRule { name: "assay-fuzz-coverage", internal: &["assay-fuzz"], external: None },
    spoke("assay-stats"),
    spoke("assay-dialects"),
    spoke("assay-adapters"),
    spoke("assay-claims"),
    spoke("assay-fleet"),
    spoke("assay-store"),
    spoke("assay-report"),
    CrateRule {
        name: "assay-fuzz",
        internal: &[
            "assay-model",
            "assay-stats",
            "assay-dialects",
            "assay-adapters",
            "assay-claims",
            "assay-store",
            "assay-report",
        ],
        external: None,
    },
    CrateRule {
        name: "assay-run",
        internal: &[
            "assay-model",
            "assay-kernels",
            "assay-stats",
            "assay-dialects",
            "assay-adapters",
            "assay-fleet",
            "assay-store",
        ],
        external: None,
    },
    CrateRule {
        name: "assay-console",
        internal: &[
            "assay-model",
            "assay-stats",
            "assay-store",
            "assay-report",
            "assay-run",
            "assay-kernels",
            "assay-fleet",
        ],
        external: None,
    },
    CrateRule {
        name: "assay-archive",
        internal: &[
            "assay-model",
            "assay-kernels",
            "assay-stats",
            "assay-store",
            "assay-report",
            "assay-run",
        ],
        external: None,
    },
    CrateRule { name: "assay-help", internal: &["assay-model"], external: None },
    CrateRule {
        name: "assay-judgement",
        internal: &["assay-model", "assay-stats", "assay-claims", "assay-report", "assay-run"],
        external: None,
    },
    CrateRule {
        name: "assay-emulation",
        internal: &[
            "assay-model",
            "assay-kernels",
            "assay-stats",
            "assay-adapters",
            "assay-dialects",
            "assay-fleet",
            "assay-store",
            "assay-report",
            "assay-run",
            "assay-console",
        ],
        external: None,
    },
    CrateRule {
        name: "assay",
        internal: &[
            "assay-archive",
            "assay-console",
            "assay-emulation",
            "assay-help",
            "assay-judgement",
            "assay-model",
            "assay-kernels",
            "assay-stats",
            "assay-dialects",
            "assay-adapters",
            "assay-claims",
            "assay-fleet",
            "assay-store",
            "assay-report",
            "assay-run",
        ],
        external: None,
    },
    CrateRule {
        name: "laboratory",
        internal: &["assay-adapters", "workbench"],
        external: None,
    },
    CrateRule { name: "workbench", internal: &[], external: Some(&["anyhow", "serde_json"]) },
    CrateRule {
        name: "xtask",
        internal: &["assay-adapters", "assay-stats", "assay-model", "laboratory", "workbench"],
        external: None,
    },
];

const SECTIONS: [&str; 3] = ["dependencies", "build-dependencies", "dev-dependencies"];

/// Reports dependencies outside the map, crates without a row, and crates without the workspace's
/// lints.
pub(crate) fn check(sources: &Sources) -> Result<Vec<TidyFinding>> {
    let mut findings = Vec::new();
    for package in crates::packages(sources)? {
        let Some(row) = CRATE_MAP.iter().find(|row| row.name == package.name) else {
            let what = format!("`{}` has no row in the crate map", package.name);
            findings.push(finding_at_word(
                &package,
                &package.name,
                sources,
                what,
                "add its allowed dependencies to the crate map",
            ));
            continue;
        };
        findings.extend(forbidden_dependencies(&package, row, sources));
        findings.extend(missing_lints(&package));
    }
    Ok(findings)
}

fn forbidden_dependencies(
    package: &CargoPackage,
    row: &CrateRule,
    sources: &Sources,
) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (section, name) in dependencies(&package.table) {
        let is_ours =
            CRATE_MAP.iter().any(|row| row.name == name) || name.starts_with("assay-");
        let what = format!("`{}` depends on `{name}`", package.name);
        // All tests may use the base of the tests.
        let is_base_of_tests = section == "dev-dependencies" && name == "workbench";
        if is_ours && !row.internal.contains(&name.as_str()) && !is_base_of_tests {
            let why = "spokes never depend on each other: combine them in `assay-run`";
            findings.push(finding_at_word(package, &name, sources, what, why));
        } else if !is_ours
            && section != "dev-dependencies"
            && row.external.is_some_and(|allowed| !allowed.contains(&name.as_str()))
        {
            let why = "this crate has few dependencies, so that it compiles early";
            findings.push(finding_at_word(package, &name, sources, what, why));
        }
    }
    findings
}

/// Returns section and name of every dependency, including platform-specific ones; renamed ones by
/// their real name.
fn dependencies(manifest: &Table) -> Vec<(&'static str, String)> {
    let platforms = manifest.get("target").and_then(Value::as_table);
    let tables = std::iter::once(manifest)
        .chain(platforms.into_iter().flat_map(Table::values).filter_map(Value::as_table));
    let mut found = Vec::new();
    for table in tables {
        for section in SECTIONS {
            let Some(entries) = table.get(section).and_then(Value::as_table) else { continue };
            found.extend(entries.iter().map(|(key, value)| {
                let name = value.get("package").and_then(Value::as_str).unwrap_or(key);
                (section, name.to_owned())
            }));
        }
    }
    found
}

/// Reports a manifest without the workspace's lints. Only `assay-kernels` has its own, because only
/// it may use `unsafe`.
fn missing_lints(package: &CargoPackage) -> Option<TidyFinding> {
    let lints = package.table.get("lints").and_then(|lints| lints.get("workspace"));
    let follows = lints.and_then(Value::as_bool).unwrap_or(false)
        || package.table.contains_key("workspace");
    (!follows && package.name != "assay-kernels").then(|| {
        let why = "`[lints] workspace = true` keeps the rules the same everywhere";
        TidyFinding::new(&package.manifest, 1, "does not use the lints of the workspace", why)
    })
}

/// Creates a finding at the first line of the manifest that contains `word`.
fn finding_at_word(
    package: &CargoPackage,
    word: &str,
    sources: &Sources,
    what: String,
    why: &'static str,
) -> TidyFinding {
    let text = &sources.files[&package.manifest];
    let named = |line: &str| {
        line.split(|c: char| !(c.is_alphanumeric() || "-_".contains(c))).any(|w| w == word)
    };
    let line = text.lines().skip(1).position(|line| named(line) && !line.starts_with("name"));
    TidyFinding::new(&package.manifest, line.map_or(1, |before| before + 2), what, why)
}

#[cfg(test)]
mod tests {
    use crate::sources::example;

    fn check(name: &str, rest: &str, expected: &[(usize, &str)]) {
        let text = format!("[package]\nname = \"{name}\"\n{rest}\n[lints]\nworkspace = true\n");
        let found = super::check(&example::tree(&[("x/Cargo.toml", &text)])).unwrap();
        let found: Vec<_> = found.iter().map(|f| (f.line, f.what.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn spokes_depend_only_on_hub() {
        check(
            "assay-store",
            "[dependencies]\nassay-model.workspace = true\nserde = \"1\"",
            &[],
        );
        check(
            "assay-store",
            "[dependencies]\nassay-report.workspace = true",
            &[(4, "`assay-store` depends on `assay-report`")],
        );
        check(
            "assay-store",
            "[dev-dependencies]\nother = { package = \"assay-stats\", path = \"../s\" }",
            &[(4, "`assay-store` depends on `assay-stats`")],
        );
        check(
            "assay-model",
            "[target.'cfg(unix)'.dependencies]\nassay = \"1\"",
            &[(4, "`assay-model` depends on `assay`")],
        );
        check("assay", "[dependencies]\nassay-kernels.workspace = true", &[]);
    }

    #[test]
    fn limits_dependencies_of_kernels() {
        check("assay-kernels", "[dependencies]\nlibc = \"0.2\"", &[]);
        check("assay-kernels", "[dev-dependencies]\nproptest = \"1\"", &[]);
        check(
            "assay-kernels",
            "[dependencies]\nserde = \"1\"",
            &[(4, "`assay-kernels` depends on `serde`")],
        );
    }

    #[test]
    fn new_crate_needs_row() {
        check("assay-new", "", &[(1, "`assay-new` has no row in the crate map")]);
    }

    #[test]
    fn requires_workspace_lints() {
        let own = "[package]\nname = \"assay\"\n[lints.rust]\nunsafe_code = \"allow\"";
        let found = super::check(&example::tree(&[("x/Cargo.toml", own)])).unwrap();
        assert_eq!(found.len(), 1);
    }
}
