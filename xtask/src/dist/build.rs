//! Build of the released program, against the symbols of an old glibc.
//!
//! The result depends on sources, toolchain and pinned tools, not on folders or time.

use std::path::Path;

use anyhow::{Context, Result};

use super::Release;
use crate::{command, wheels};

/// Oldest glibc that the program starts with: that of RHEL 7 and of manylinux2014.
pub(super) const GLIBC: (u32, u32) = (2, 17);
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Python packages with the linker, its driver, and the check of wheels.
const TOOLS: [&str; 3] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.1", "auditwheel==6.8.2"];

/// Builds the program from `sources`, which are those of the last commit in `root` or a copy of
/// them, and describes the release.
pub(super) fn build(root: &Path, sources: &Path) -> Result<Release> {
    let tools = root.join("target/dist-tools/build");
    wheels::install_into_environment(root, &tools, &TOOLS)?;
    let epoch = git(root, &["log", "-1", "--format=%ct"])?;
    let commit = git(root, &["log", "-1", "--format=%h", "--abbrev=10"])?;
    let date = git(root, &["log", "-1", "--format=%cd", "--date=format-local:%F"])?;
    let changed = if has_changes(root)? { ", changed" } else { "" };
    let version = workspace_version(root)?;
    let full_version = format!("{version} ({commit}, {date}{changed})");
    compile(sources, &tools, &full_version, &epoch)?;
    let program = sources.join("target/dist-build").join(TARGET).join("release/assay");
    Ok(Release { root: sources.to_owned(), version, epoch, program, tools })
}

/// Whether tracked files differ from the last commit.
pub(super) fn has_changes(root: &Path) -> Result<bool> {
    Ok(!git(root, &["status", "--porcelain", "--untracked-files=no"])?.is_empty())
}

fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let mut git = command::at_root(root, "git");
    let text = command::output(git.args(arguments).env("TZ", "UTC"))?;
    Ok(text.trim().to_owned())
}

fn compile(sources: &Path, tools: &Path, version: &str, epoch: &str) -> Result<()> {
    let mut path = tools.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").context("the variable PATH is not set")?);
    let (major, minor) = GLIBC;
    let mut cargo = command::cargo(sources);
    cargo
        .args(["zigbuild", "--release", "--locked", "--package", "assay"])
        .args(["--target", &format!("{TARGET}.{major}.{minor}")])
        .args(["--target-dir", "target/dist-build"])
        .env("PATH", path)
        .env("RUSTFLAGS", compiler_flags(sources)?)
        .env("ASSAY_VERSION", version)
        .env("SOURCE_DATE_EPOCH", epoch);
    command::run(&mut cargo)
}

/// Returns flags for the baseline x86-64-v2; kernels for newer CPUs are selected at run time.
fn compiler_flags(sources: &Path) -> Result<String> {
    let cargo_home = match std::env::var("CARGO_HOME") {
        Ok(folder) => folder,
        Err(_) => format!("{}/.cargo", std::env::var("HOME").context("HOME is not set")?),
    };
    Ok(format!(
        "--remap-path-prefix={}=/assay --remap-path-prefix={cargo_home}=/cargo \
         -Ctarget-cpu=x86-64-v2",
        sources.display()
    ))
}

fn workspace_version(root: &Path) -> Result<String> {
    let text = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let manifest: toml::Table = text.parse().context("Cargo.toml is malformed")?;
    let version = manifest["workspace"]["package"]["version"].as_str();
    Ok(version.context("Cargo.toml has no version of the workspace")?.to_owned())
}
