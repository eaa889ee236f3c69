//! Folders and CPUs of a comparison: contenders are built and leave their files in cargo's target
//! directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command;

use super::cpus::Cpus;

/// Folders of a comparison, and the CPUs that all contenders are pinned to.
#[derive(Debug)]
pub(crate) struct BenchWorkplace {
    /// Root of the repository.
    pub root: PathBuf,
    /// Cargo's target directory.
    pub target: PathBuf,
    /// Subfolder of it, empty at the start.
    pub folder: PathBuf,
    /// CPUs of all contenders.
    pub cpus: Cpus,
}

impl BenchWorkplace {
    /// Empties or creates the folder.
    pub(crate) fn open(root: &Path, cpus: Cpus) -> Result<Self> {
        let metadata = command::output(command::cargo(root).args([
            "metadata",
            "--format-version=1",
            "--no-deps",
            "--locked",
        ]))?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let target = metadata["target_directory"]
            .as_str()
            .context("cargo printed no target directory")?;
        let target = PathBuf::from(target);
        let folder = target.join("bench");
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { root: root.to_owned(), target, folder, cpus })
    }

    /// Builds assay as users do and returns the path of the program.
    pub(crate) fn build_assay(&self) -> Result<PathBuf> {
        command::run(&mut build_command(&self.root))?;
        Ok(self.target.join("release/assay"))
    }

    /// Compiles `xtask/peers/<name>.c` with gcc and returns the path of the program.
    pub(crate) fn build_peer(&self, name: &str, flags: &[&str]) -> Result<PathBuf> {
        let program = self.folder.join(name);
        let source = format!("xtask/peers/{name}.c");
        let mut compiler = self.command("gcc");
        command::run(compiler.arg(source).arg("-o").arg(&program).args(flags))?;
        Ok(program)
    }

    /// Returns a command for `program`, without pinning.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        command::at_root(&self.root, program.as_ref())
    }

    /// Returns a command for `program`, pinned to the CPUs of the comparison.
    pub(crate) fn pinned_command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = self.command("taskset");
        command.args(["-c", &self.cpus.format_list()]).arg(program.as_ref());
        command
    }

    /// Formats the command as typed in any clone, without the paths of this machine.
    pub(crate) fn format_command(&self, command: &Command) -> String {
        let text = command::format_command(command);
        let target = self.target.to_string_lossy().into_owned();
        let root = format!("{}/", self.root.display());
        text.replace(&target, "target").replace(&root, "")
    }
}

/// Returns the command that builds assay as users do.
pub(crate) fn build_command(root: &Path) -> Command {
    let mut cargo = command::cargo(root);
    cargo.args(["build", "--release", "--locked", "--package=assay"]);
    cargo
}
