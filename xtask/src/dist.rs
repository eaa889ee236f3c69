//! `cargo xtask dist`: builds the released files into `target/dist` and checks them.
//!
//! One build for every Linux distribution with glibc 2.17 or newer. Installs its tools below `target`
//! only, and never publishes anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command;

mod build;
mod contents;
mod formats;
mod symbols;

/// Sources of a release and the program built from them.
#[derive(Debug)]
struct Release {
    root: PathBuf,
    /// Version of the workspace, without the commit.
    version: String,
    /// Seconds since 1970 of the commit: the time of every file in the archives.
    epoch: String,
    program: PathBuf,
    /// Environment with the Python tools.
    tools: PathBuf,
}

impl Release {
    /// Returns the folder of the released files.
    fn output(&self) -> PathBuf {
        self.root.join("target/dist")
    }

    /// Returns a command whose output depends on the sources alone.
    fn reproducible(&self, program: &str) -> Command {
        let mut command = command::at_root(&self.root, program);
        command.env("SOURCE_DATE_EPOCH", &self.epoch).env("LC_ALL", "C").env("TZ", "UTC");
        command
    }
}

/// Builds the program, packs it in every format, and checks each file.
pub(crate) fn run(root: &Path) -> Result<()> {
    let release = build::build(root)?;
    symbols::check(&release)?;
    let output = release.output();
    if output.exists() {
        fs::remove_dir_all(&output)?;
    }
    fs::create_dir_all(&output)?;
    let folder = contents::collect(&release)?;
    let files = [
        formats::pack_archive(&release, &folder)?,
        formats::pack_wheel(&release)?,
        formats::pack_deb(&release, &folder)?,
    ];
    formats::try_archive(&release, &files[0])?;
    formats::try_wheel(&release, &files[1])?;
    formats::try_deb(&release, &files[2])?;
    write_checksums(&release, &files)
}

fn write_checksums(release: &Release, files: &[PathBuf]) -> Result<()> {
    let mut sums = command::at_root(&release.output(), "sha256sum");
    for file in files {
        sums.arg(file.file_name().context("a released file has a name")?);
        let bytes = fs::metadata(file)?.len();
        ensure!(bytes > 0, "{} is empty", file.display());
    }
    let sums = command::output(&mut sums)?;
    print!("{sums}");
    fs::write(release.output().join("SHA256SUMS"), sums)?;
    Ok(())
}
