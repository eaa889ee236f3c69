//! `cargo xtask dist`: builds the released files into `target/dist` and checks them.
//!
//! One build for every Linux distribution with glibc 2.17 or newer. Installs its tools below `target`
//! only, and never publishes anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{command, packages};

mod build;
mod contents;
mod deb;
mod formats;
mod rpm;
mod symbols;

/// File with the SHA-256 sums of the released files.
const CHECKSUMS: &str = "SHA256SUMS";

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

    /// Formats the date of the commit as date(1) does.
    fn format_date(&self, format: &str) -> Result<String> {
        let mut date = self.reproducible("date");
        date.arg(format!("--date=@{}", self.epoch)).arg(format!("+{format}"));
        Ok(command::output(&mut date)?.trim_end().to_owned())
    }
}

/// Builds the program, packs it in every format, and checks each file.
pub(crate) fn run(root: &Path) -> Result<()> {
    packages::install(root, packages::FOR_DIST)?;
    let (release, [archive, wheel, deb, rpm]) = build_and_pack(root, root)?;
    symbols::check(&release)?;
    formats::check_archive(&release, &archive)?;
    formats::check_wheel(&release, &wheel)?;
    deb::check(&release, &deb)?;
    rpm::check(&release, &rpm)?;
    print!("{}", fs::read_to_string(release.output().join(CHECKSUMS))?);
    Ok(())
}

/// Builds and checks the files, builds them again from the last commit in another folder, and
/// compares the checksums.
pub(crate) fn run_twice(root: &Path) -> Result<()> {
    ensure!(
        !build::has_changes(root)?,
        "commit the changes first: the second build lacks them"
    );
    run(root)?;
    let sources = root.join("target/dist-second");
    if sources.exists() {
        fs::remove_dir_all(&sources)?;
    }
    fs::create_dir_all(&sources)?;
    let mut export = command::at_root(root, "sh");
    command::run(export.args(["-c", "git archive HEAD | tar -xC target/dist-second"]))?;
    let (second, _) = build_and_pack(root, &sources)?;
    let mut compare = command::at_root(root, "diff");
    compare.arg(root.join("target/dist").join(CHECKSUMS)).arg(second.output().join(CHECKSUMS));
    command::run(&mut compare).context("the second build gives other files")?;
    println!("dist: the second build gives equal files");
    Ok(())
}

/// Builds the program from the sources and packs it as archive, wheel, Debian package and RPM.
fn build_and_pack(root: &Path, sources: &Path) -> Result<(Release, [PathBuf; 4])> {
    let release = build::build(root, sources)?;
    let output = release.output();
    if output.exists() {
        fs::remove_dir_all(&output)?;
    }
    fs::create_dir_all(&output)?;
    let folder = contents::collect(&release)?;
    let files = [
        formats::pack_archive(&release, &folder)?,
        formats::pack_wheel(&release)?,
        deb::pack(&release, &folder)?,
        rpm::pack(&release, &folder)?,
    ];
    write_checksums(&release, &files)?;
    Ok((release, files))
}

fn write_checksums(release: &Release, files: &[PathBuf]) -> Result<()> {
    let mut sums = command::at_root(&release.output(), "sha256sum");
    for file in files {
        sums.arg(file.file_name().context("a released file has a name")?);
        let bytes = fs::metadata(file)?.len();
        ensure!(bytes > 0, "{} is empty", file.display());
    }
    fs::write(release.output().join(CHECKSUMS), command::output(&mut sums)?)?;
    Ok(())
}
