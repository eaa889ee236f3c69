//! Files of a release other than the program: man pages, completions, licences, contents.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Release;
use crate::command;

/// Collects the released files in a folder laid out as below `/usr`, and returns it.
pub(super) fn collect(release: &Release) -> Result<PathBuf> {
    let suffix = if release.machine.is_native() { "" } else { "-foreign" };
    let folder = release.root.join(format!("target/dist-contents{suffix}"));
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let documents = folder.join("share/doc/assay");
    fs::create_dir_all(folder.join("bin"))?;
    fs::create_dir_all(&documents)?;
    fs::copy(&release.program, folder.join("bin/assay"))?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"] {
        fs::copy(release.root.join(name), documents.join(name))?;
    }
    let dependencies = find_dependencies(release)?;
    fs::write(documents.join("THIRD-PARTY-LICENSES"), quote_licences(&dependencies)?)?;
    let parts = serde_json::to_string_pretty(&describe_parts(release, &dependencies))?;
    fs::write(documents.join("sbom.cdx.json"), parts + "\n")?;
    write_completions(release, &folder)?;
    write_man_pages(release, &folder)?;
    Ok(folder)
}

fn write_completions(release: &Release, folder: &Path) -> Result<()> {
    let places = [
        ("bash", "share/bash-completion/completions/assay"),
        ("zsh", "share/zsh/site-functions/_assay"),
        ("fish", "share/fish/vendor_completions.d/assay.fish"),
    ];
    for (shell, place) in places {
        write_output(release, &["completions", shell], &folder.join(place))?;
    }
    Ok(())
}

/// Writes the man page of assay and of each of its commands.
fn write_man_pages(release: &Release, folder: &Path) -> Result<()> {
    let pages = folder.join("share/man/man1");
    write_output(release, &["man"], &pages.join("assay.1"))?;
    let overview = fs::read_to_string(pages.join("assay.1"))?;
    let commands = find_commands(&overview);
    ensure!(commands.len() > 10, "the man page of assay lists {} commands", commands.len());
    for name in commands {
        write_output(release, &["man", name], &pages.join(format!("assay-{name}.1")))?;
    }
    let compress = ["--no-name", "-9", "--recursive"];
    command::run(release.reproducible("gzip").args(compress).arg(&pages))
}

/// Returns the names of the commands: the pages `assay\-NAME(1)` that the overview lists.
fn find_commands(page: &str) -> Vec<&str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("assay\\-")?.strip_suffix("(1)"))
        .filter(|name| *name != "help")
        .collect()
}

fn write_output(release: &Release, arguments: &[&str], file: &Path) -> Result<()> {
    fs::create_dir_all(file.parent().context("a file lies in a folder")?)?;
    let mut program = release.start(&release.program);
    fs::write(file, command::output(program.args(arguments))?)?;
    Ok(())
}

/// Crate that is part of the program.
#[derive(Debug)]
struct Dependency {
    name: String,
    version: String,
    licence: String,
    /// Folder of its sources.
    folder: PathBuf,
}

/// Returns the crates of others that the program contains, in alphabetical order.
fn find_dependencies(release: &Release) -> Result<Vec<Dependency>> {
    let target = release.machine.target;
    let mut tree = command::cargo(&release.root);
    tree.args(["tree", "--locked", "--package", "assay", "--edges", "normal"]);
    tree.args(["--target", target, "--prefix", "none", "--no-dedupe", "--format", "{p}"]);
    let tree = command::output(&mut tree)?;
    let mut metadata = command::cargo(&release.root);
    metadata.args(["metadata", "--locked", "--format-version", "1"]);
    metadata.args(["--filter-platform", target]);
    let metadata: Value = serde_json::from_str(&command::output(&mut metadata)?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let mut found = BTreeMap::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        let line = format!("{name} v{version}");
        let is_part = |it: &str| it == line || it.starts_with(&format!("{line} "));
        if tree.lines().any(is_part) {
            let manifest = PathBuf::from(text("manifest_path"));
            let folder = manifest.parent().context("a manifest lies in a folder")?.to_owned();
            let licence = text("license");
            let key = (name.clone(), version.clone());
            found.insert(key, Dependency { name, version, licence, folder });
        }
    }
    ensure!(!found.is_empty(), "cargo tree and cargo metadata have no crate in common");
    Ok(found.into_values().collect())
}

/// Returns the licence texts of all crates.
fn quote_licences(dependencies: &[Dependency]) -> Result<String> {
    let mut text = String::from("assay contains these crates, with their licences:\n");
    for dependency in dependencies {
        let Dependency { name, version, licence, folder } = dependency;
        write!(text, "\n==== {name} {version}: {licence}\n")?;
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let file_name = entry.file_name().to_string_lossy().to_uppercase();
            let is_licence = ["LICENSE", "LICENCE", "COPYING", "NOTICE"]
                .iter()
                .any(|it| file_name.starts_with(it));
            if is_licence && entry.file_type()?.is_file() {
                files.push(entry.path());
            }
        }
        files.sort();
        for file in files {
            let licence = fs::read(&file)?;
            write!(text, "\n{}\n", String::from_utf8_lossy(&licence).trim_end())?;
        }
    }
    Ok(text)
}

/// Returns the list of parts in the format `CycloneDX` 1.5, without anything that changes with time.
fn describe_parts(release: &Release, dependencies: &[Dependency]) -> Value {
    let parts: Vec<Value> = dependencies
        .iter()
        .map(|it| {
            json!({
                "type": "library",
                "name": it.name,
                "version": it.version,
                "purl": format!("pkg:cargo/{}@{}", it.name, it.version),
                "licenses": [{ "expression": it.licence.replace('/', " OR ") }],
            })
        })
        .collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application", "name": "assay", "version": release.version,
        } },
        "components": parts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_commands_in_the_man_page() {
        let page = ".TP\nassay\\-run(1)\nMeasure\n.TP\nassay\\-iperf3(1)\n.TP\nassay\\-help(1)\nassay\n";
        assert_eq!(find_commands(page), ["run", "iperf3"]);
    }
}
