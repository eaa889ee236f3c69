//! Build of the released program, against the symbols of an old glibc.
//!
//! The result depends on sources, toolchain and pinned tools, not on folders or time.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::Release;
use super::machine::{MACHINES, Machine};
use crate::{command, wheels};

/// Oldest glibc that the program starts with: that of RHEL 7 and of manylinux2014.
pub(super) const GLIBC: (u32, u32) = (2, 17);
/// Python package that checks wheels.
const AUDITWHEEL: &str = "auditwheel==6.8.2";
/// Python packages with the linker and its driver.
const LINKER: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.1"];

/// Build that the program is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramOrigin {
    /// Release for the old glibc.
    Released,
    /// Development build, linked with this machine's glibc.
    LinkedHere,
}

/// Builds the program for a machine from `sources`, which are those of the last commit in `root` or a
/// copy of them, and describes the release.
pub(super) fn build(root: &Path, sources: &Path, machine: &'static Machine) -> Result<Release> {
    let tools = install_tools(root, &LINKER)?;
    let epoch = commit_time(root)?;
    let commit = git(root, &["log", "-1", "--format=%h", "--abbrev=10"])?;
    let date = git(root, &["log", "-1", "--format=%cd", "--date=format-local:%F"])?;
    let changed = if has_changes(root)? { ", changed" } else { "" };
    let version = workspace_version(root)?;
    let full_version = format!("{version} ({commit}, {date}{changed})");
    compile(
        sources,
        machine,
        &tools,
        &[("ASSAY_VERSION", &full_version), ("SOURCE_DATE_EPOCH", &epoch)],
    )?;
    let program = sources.join("target/dist-build").join(machine.target).join("dist/assay");
    let (root, origin) = (sources.to_owned(), ProgramOrigin::Released);
    Ok(Release { root, machine, version, epoch, program, origin, tools })
}

/// Builds the development program if it is out of date, and describes it, without its symbols, as a
/// release for this machine.
pub(super) fn take_development_build(root: &Path) -> Result<Release> {
    // With the package that `fuzz` builds: alone, the program's packages would have other features and be
    // compiled twice.
    let build = ["build", "--quiet", "--locked", "-p", "assay-fuzz", "-p", "assay"];
    command::run(command::cargo(root).args(build))?;
    let tools = install_tools(root, &[])?;
    let machine = MACHINES.iter().find(|it| it.is_native());
    let machine = machine.context("nothing is released for this machine")?;
    let program = root.join("target/dist-build/development/assay");
    std::fs::create_dir_all(root.join("target/dist-build/development"))?;
    let mut strip = command::at_root(root, "strip");
    command::run(strip.arg("-o").arg(&program).arg("target/debug/assay"))?;
    Ok(Release {
        root: root.to_owned(),
        machine,
        version: workspace_version(root)?,
        epoch: commit_time(root)?,
        program,
        origin: ProgramOrigin::LinkedHere,
        tools,
    })
}

/// Installs Python packages, the check of wheels, and mdBook.
fn install_tools(root: &Path, packages: &[&str]) -> Result<PathBuf> {
    let tools = root.join("target/dist-tools/build");
    let book = format!("{}=={}", wheels::MDBOOK.name, wheels::MDBOOK.version);
    let requirements = [packages, &[AUDITWHEEL, book.as_str()]].concat();
    wheels::install_into_environment(root, &tools, &requirements)?;
    Ok(tools)
}

/// Returns the seconds since 1970 of the last commit.
fn commit_time(root: &Path) -> Result<String> {
    git(root, &["log", "-1", "--format=%ct"])
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

fn compile(
    sources: &Path,
    machine: &Machine,
    tools: &Path,
    variables: &[(&str, &str)],
) -> Result<()> {
    let mut path = tools.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").context("the variable PATH is not set")?);
    let (major, minor) = GLIBC;
    let mut cargo = command::at_root(sources, tools.join("bin/cargo-zigbuild"));
    cargo
        .args(["rustc", "--profile", "dist", "--locked"])
        .args(["--package", "assay", "--bin", "assay"])
        .args(["--target", &format!("{}.{major}.{minor}", machine.target)])
        .args(["--target-dir", "target/dist-build"])
        // The linker's passes over all crates have the level of this one: see the profile.
        .args(["--", "-Copt-level=3"])
        .env("PATH", path)
        .env("RUSTFLAGS", compiler_flags(sources, machine)?)
        .envs(variables.iter().copied());
    if let Some(compiler) = find_cross_compiler(sources, machine)? {
        cargo.env("RUSTC", compiler);
    }
    command::run(&mut cargo)
}

/// Returns a compiler for the machine; `None` if the toolchain's own has this target.
fn find_cross_compiler(sources: &Path, machine: &Machine) -> Result<Option<PathBuf>> {
    if machine.is_native() {
        return Ok(None);
    }
    ensure!(
        machine.target == laboratory::AARCH64_TARGET,
        "no compiler for {}: `rustup target add {}`, or build on such a machine",
        machine.name,
        machine.target
    );
    laboratory::find_aarch64_compiler(sources)
}

/// Returns flags for the oldest processors. Names of folders are replaced.
fn compiler_flags(sources: &Path, machine: &Machine) -> Result<String> {
    let cargo_home = match std::env::var("CARGO_HOME") {
        Ok(folder) => folder,
        Err(_) => format!("{}/.cargo", std::env::var("HOME").context("HOME is not set")?),
    };
    Ok(format!(
        "--remap-path-prefix={}=/assay --remap-path-prefix={cargo_home}=/cargo \
         -Ctarget-cpu={}",
        sources.display(),
        machine.cpu
    ))
}

fn workspace_version(root: &Path) -> Result<String> {
    let text = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let manifest: toml::Table = text.parse().context("Cargo.toml is malformed")?;
    let version = manifest["workspace"]["package"]["version"].as_str();
    Ok(version.context("Cargo.toml has no version of the workspace")?.to_owned())
}
