//! `cargo xtask dist`: builds the released files into `target/dist` and checks them.
//!
//! One build of each machine for every Linux distribution with glibc 2.17 or newer. Installs its
//! tools below `target` only, and never publishes anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{command, packages};
use build::ProgramOrigin;
use machine::{MACHINES, Machine};

mod build;
mod contents;
mod deb;
mod formats;
mod image;
mod machine;
mod podman;
mod program_check;
mod recipes;
mod roots;
mod rpm;
mod symbols;

/// File with the SHA-256 sums of the released files.
const CHECKSUMS: &str = "SHA256SUMS";

/// Sources of a release and the program built from them for one machine.
#[derive(Debug)]
struct Release {
    root: PathBuf,
    machine: &'static Machine,
    /// Version of the workspace, without the commit.
    version: String,
    /// Seconds since 1970 of the commit: the time of every file in the archives.
    epoch: String,
    program: PathBuf,
    origin: ProgramOrigin,
    /// Environment with the Python tools.
    tools: PathBuf,
}

/// Released files of one machine.
#[derive(Debug)]
struct PackedFiles {
    archive: PathBuf,
    wheel: PathBuf,
    deb: PathBuf,
    rpm: PathBuf,
    image: PathBuf,
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

    /// Returns the level of compression: a development build is not released.
    fn compression(&self) -> u8 {
        match self.origin {
            ProgramOrigin::Released => 9,
            ProgramOrigin::LinkedHere => 1,
        }
    }

    /// Packs the program in every format.
    fn pack(&self) -> Result<PackedFiles> {
        let folder = contents::collect(self)?;
        Ok(PackedFiles {
            archive: formats::pack_archive(self, &folder)?,
            wheel: formats::pack_wheel(self, &folder)?,
            deb: deb::pack(self, &folder)?,
            rpm: rpm::pack(self, &folder)?,
            image: image::pack(self, &folder)?,
        })
    }

    /// Checks the program, then each file: unpacks or installs it, and runs the program from it.
    fn check(&self, files: &PackedFiles) -> Result<()> {
        symbols::check(self)?;
        formats::check_archive(self, &files.archive)?;
        formats::check_wheel(self, &files.wheel)?;
        deb::check(self, &files.deb)?;
        rpm::check(self, &files.rpm)?;
        image::check(self, &files.image)?;
        podman::check(self, &files.image)?;
        program_check::check_agent_size(self)
    }
}

impl PackedFiles {
    fn paths(&self) -> [&Path; 5] {
        [&self.archive, &self.wheel, &self.deb, &self.rpm, &self.image].map(PathBuf::as_path)
    }
}

/// Builds the program for the named machines, or all, packs it in every format, and checks each file.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let is_twice = words.contains(&"--twice");
    ensure!(
        !is_twice || !build::has_changes(root)?,
        "commit the changes first: the second build lacks them"
    );
    let names = words.iter().filter(|word| **word != "--twice");
    let mut machines = names.map(|name| Machine::find(name)).collect::<Result<Vec<_>>>()?;
    if machines.is_empty() {
        machines = MACHINES.iter().collect();
    }
    packages::install(root, packages::FOR_DIST)?;
    packages::install(root, packages::FOR_RELEASE)?;
    let built = build_and_pack(root, root, &machines)?;
    for (release, files) in &built {
        release.check(files)?;
        roots::check(release, files)?;
        recipes::check(root, release)?;
    }
    print!("{}", fs::read_to_string(root.join("target/dist").join(CHECKSUMS))?);
    if is_twice { compare_with_second_build(root, &machines) } else { Ok(()) }
}

/// Packs the existing development build in every format, and checks each file: all checks but those
/// of the released build.
pub(crate) fn run_development(root: &Path) -> Result<()> {
    packages::install(root, packages::FOR_DIST)?;
    let release = build::take_development_build(root)?;
    create_empty(&release.output())?;
    let files = release.pack()?;
    release.check(&files)
}

/// Builds the files again from the last commit in another folder, and compares the checksums.
fn compare_with_second_build(root: &Path, machines: &[&'static Machine]) -> Result<()> {
    let sources = root.join("target/dist-second");
    create_empty(&sources)?;
    let mut export = command::at_root(root, "sh");
    command::run(export.args(["-c", "git archive HEAD | tar -xC target/dist-second"]))?;
    build_and_pack(root, &sources, machines)?;
    let mut compare = command::at_root(root, "diff");
    compare.arg(root.join("target/dist").join(CHECKSUMS));
    compare.arg(sources.join("target/dist").join(CHECKSUMS));
    command::run(&mut compare).context("the second build gives other files")?;
    println!("dist: the second build gives equal files");
    Ok(())
}

/// Builds the program from the sources for these machines, and packs it.
fn build_and_pack(
    root: &Path,
    sources: &Path,
    machines: &[&'static Machine],
) -> Result<Vec<(Release, PackedFiles)>> {
    let output = sources.join("target/dist");
    create_empty(&output)?;
    let mut built = Vec::new();
    for machine in machines {
        let release = build::build(root, sources, machine)?;
        let files = release.pack()?;
        built.push((release, files));
    }
    let files = built.iter().flat_map(|(_, files)| files.paths());
    write_checksums(&output, &files.collect::<Vec<_>>())?;
    Ok(built)
}

fn create_empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

fn write_checksums(output: &Path, files: &[&Path]) -> Result<()> {
    let mut sums = command::at_root(output, "sha256sum");
    for file in files {
        sums.arg(file.file_name().context("a released file has a name")?);
        let bytes = fs::metadata(file)?.len();
        ensure!(bytes > 0, "{} is empty", file.display());
    }
    fs::write(output.join(CHECKSUMS), command::output(&mut sums)?)?;
    Ok(())
}
