//! Build of the released program, against the symbols of glibc 2.17.
//!
//! The result depends on sources, toolchain and pinned tools, not on folders or time.

use std::path::Path;

use anyhow::{Context, Result};

use super::Release;
use crate::command;

/// Target with the oldest supported glibc: that of RHEL 7 and of manylinux2014.
const TARGET: &str = "x86_64-unknown-linux-gnu";
const GLIBC: &str = "2.17";
/// Python packages with the linker, its driver, and the check of wheels.
const TOOLS: [&str; 3] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.1", "auditwheel==6.8.2"];

/// Builds the program and describes the release.
pub(super) fn build(root: &Path) -> Result<Release> {
    let tools = root.join("target/dist-tools/build");
    install_tools(root, &tools)?;
    let git = |arguments: &[&str]| -> Result<String> {
        let text = command::output(command::at_root(root, "git").args(arguments))?;
        Ok(text.trim().to_owned())
    };
    let epoch = git(&["log", "-1", "--format=%ct"])?;
    let commit = git(&["log", "-1", "--format=%h", "--abbrev=10"])?;
    let date = command::output(command::at_root(root, "date").args([
        "--utc",
        "--date",
        &format!("@{epoch}"),
        "+%F",
    ]))?;
    let is_changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    let changed = if is_changed { ", changed" } else { "" };
    let version = workspace_version(root)?;
    let full_version = format!("{version} ({commit}, {}{changed})", date.trim());
    compile(root, &tools, &full_version, &epoch)?;
    let program = root.join("target/dist-build").join(TARGET).join("release/assay");
    Ok(Release { root: root.to_owned(), version, epoch, program, tools })
}

fn install_tools(root: &Path, tools: &Path) -> Result<()> {
    if !tools.join("bin/pip").is_file() {
        command::run(command::at_root(root, "python3").args(["-m", "venv"]).arg(tools))?;
    }
    let mut pip = command::at_root(root, tools.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(TOOLS);
    command::run(&mut pip)
}

fn compile(root: &Path, tools: &Path, version: &str, epoch: &str) -> Result<()> {
    let mut path = tools.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").context("the variable PATH is not set")?);
    let mut cargo = command::cargo(root);
    cargo
        .args(["zigbuild", "--release", "--locked", "--package", "assay"])
        .args(["--target", &format!("{TARGET}.{GLIBC}"), "--target-dir", "target/dist-build"])
        .env("PATH", path)
        .env("RUSTFLAGS", compiler_flags(root)?)
        .env("ASSAY_VERSION", version)
        .env("SOURCE_DATE_EPOCH", epoch);
    command::run(&mut cargo)
}

/// Returns flags for the baseline x86-64-v2; kernels for newer CPUs are selected at run time.
fn compiler_flags(root: &Path) -> Result<String> {
    let cargo_home = match std::env::var("CARGO_HOME") {
        Ok(folder) => folder,
        Err(_) => format!("{}/.cargo", std::env::var("HOME").context("HOME is not set")?),
    };
    Ok(format!(
        "--remap-path-prefix={}=/assay --remap-path-prefix={cargo_home}=/cargo \
         -Ctarget-cpu=x86-64-v2",
        root.display()
    ))
}

fn workspace_version(root: &Path) -> Result<String> {
    let text = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let manifest: toml::Table = text.parse().context("Cargo.toml is malformed")?;
    let version = manifest["workspace"]["package"]["version"].as_str();
    Ok(version.context("Cargo.toml has no version of the workspace")?.to_owned())
}
