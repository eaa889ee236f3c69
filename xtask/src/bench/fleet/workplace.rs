//! Folders of the measurement: assay is built and leaves its files in cargo's target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command;

/// Folders of the measurement.
#[derive(Debug)]
pub(crate) struct BenchWorkplace {
    /// Root of the repository.
    pub root: PathBuf,
    /// Cargo's target directory.
    pub target: PathBuf,
    /// Subfolder of it, empty at the start.
    pub folder: PathBuf,
}

impl BenchWorkplace {
    /// Empties or creates the folder.
    pub(crate) fn open(root: &Path) -> Result<Self> {
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
        let folder = target.join("bench/fleet");
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { root: root.to_owned(), target, folder })
    }

    /// Builds assay as users do and returns the path of the program.
    pub(crate) fn build_assay(&self) -> Result<PathBuf> {
        command::run(&mut build_command(&self.root))?;
        Ok(self.target.join("release/assay"))
    }

    /// Returns a command for `program`.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        command::at_root(&self.root, program.as_ref())
    }
}

/// Returns the command that builds assay as users do.
fn build_command(root: &Path) -> Command {
    let mut cargo = command::cargo(root);
    cargo.args(["build", "--release", "--locked", "--package=assay"]);
    cargo
}
