//! Programs of Debian's next release, in addition to those of this one: the newest iperf3, fio and OpenBLAS that
//! its mirrors have. (likwid's, 5.5.1, takes the clock of a virtual machine for 0 Hz and prints no rates.)
//!
//! The packages and all that they depend on, the C library included, are unpacked below `target/newest`.
//! Each program has a script in `bin` that starts it with these libraries; nothing is installed.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command;

/// Suite of Debian that becomes its next release.
const SUITE: &str = "testing";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Folder of all files, below the root of the project.
const FOLDER: &str = "target/newest";
/// Libraries that a package keeps in a folder of its own.
const PRIVATE_FOLDERS: [&str; 2] = ["ceph", "openblas-pthread"];

/// Package whose programs are used.
#[derive(Debug, Clone, Copy)]
pub struct NewestPackage {
    /// Name in Debian.
    pub name: &'static str,
    /// Its programs in `/usr/bin`.
    pub programs: &'static [&'static str],
}

/// Measures networks.
pub const IPERF3: NewestPackage = NewestPackage { name: "iperf3", programs: &["iperf3"] };
/// Measures storage.
pub const FIO: NewestPackage = NewestPackage { name: "fio", programs: &["fio"] };
/// Library with LAPACK; started with the script `newest-libraries`.
pub const OPENBLAS: NewestPackage =
    NewestPackage { name: "libopenblas0-pthread", programs: &[] };

/// Downloads and unpacks packages once.
pub fn install(root: &Path, packages: &[NewestPackage]) -> Result<()> {
    let folder = root.join(FOLDER);
    let bin = programs_folder(root);
    if packages.iter().all(|package| marker(&folder, package).exists()) {
        return Ok(());
    }
    let apt = Apt::new(&folder)?;
    command::output(apt.command().arg("update"))?;
    let mut download = apt.command();
    download.args(["install", "--download-only", "--yes", "--no-install-recommends"]);
    command::output(download.args(packages.iter().map(|package| package.name)))?;
    let libraries = unpack(&folder)?;
    fs::create_dir_all(&bin)?;
    let loader = loader_words(&libraries)?;
    write_script(&bin.join("newest-libraries"), &loader)?;
    for package in packages {
        for program in package.programs {
            let path = folder.join("root/usr/bin").join(program);
            ensure!(path.exists(), "{} of {SUITE} has no {program}", package.name);
            write_script(&bin.join(program), &format!("{loader} '{}'", path.display()))?;
        }
        // Written last: its existence means that the package is complete.
        fs::write(marker(&folder, package), find_version(&folder, package.name)?)?;
    }
    Ok(())
}

/// Returns the version of an unpacked package.
pub fn version(root: &Path, package: &NewestPackage) -> Result<String> {
    let path = marker(&root.join(FOLDER), package);
    fs::read_to_string(&path).with_context(|| format!("{} was not unpacked", package.name))
}

/// Returns the folder of the scripts that start the programs.
pub fn programs_folder(root: &Path) -> PathBuf {
    root.join(FOLDER).join("bin")
}

fn marker(folder: &Path, package: &NewestPackage) -> PathBuf {
    folder.join(format!("{}.version", package.name))
}

/// Debian's package manager with a state of its own, in which nothing is installed.
struct Apt<'a> {
    folder: &'a Path,
}

impl<'a> Apt<'a> {
    fn new(folder: &'a Path) -> Result<Self> {
        for part in ["state/lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(folder.join(part))?;
        }
        fs::write(folder.join("state/status"), "")?;
        let line = format!("deb [signed-by={KEYRING}] {} {SUITE} main\n", find_mirror()?);
        fs::write(folder.join("sources.list"), line)?;
        Ok(Self { folder })
    }

    fn command(&self) -> Command {
        let mut apt = Command::new("apt-get");
        let paths = [
            ("Dir::Etc::sourcelist", "sources.list"),
            ("Dir::State", "state"),
            ("Dir::State::status", "state/status"),
            ("Dir::Cache", "cache"),
        ];
        for (option, path) in paths {
            apt.arg("-o").arg(format!("{option}={}", self.folder.join(path).display()));
        }
        apt.args(["-o", "Dir::Etc::sourceparts=/dev/null", "-o", "APT::Sandbox::User=root"]);
        apt.args(["-o", "Acquire::Retries=3"]);
        apt
    }
}

/// Returns the mirror from which this machine has its packages.
fn find_mirror() -> Result<String> {
    let mut targets = Command::new("apt-get");
    targets.args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]);
    let output = command::output(targets.arg("Origin: Debian"))?;
    let mirror = output.lines().find(|line| line.trim_end_matches('/').ends_with("/debian"));
    Ok(mirror.context("apt has no mirror of Debian: run `apt-get update`")?.to_owned())
}

/// Unpacks all downloaded packages; returns the folder of their libraries.
fn unpack(folder: &Path) -> Result<PathBuf> {
    let root = folder.join("root");
    for archive in archives(folder)? {
        command::output(Command::new("dpkg-deb").arg("--extract").arg(archive).arg(&root))?;
    }
    let mut folders =
        fs::read_dir(root.join("usr/lib"))?.filter_map(|entry| Some(entry.ok()?.path()));
    folders
        .find(|path| path.join("libc.so.6").exists())
        .context("the packages have no C library")
}

fn archives(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder.join("cache/archives"))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    Ok(paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "deb"))
        .collect())
}

fn find_version(folder: &Path, package: &str) -> Result<String> {
    let start = format!("{package}_");
    let archives = archives(folder)?;
    let archive = archives
        .iter()
        .find(|path| {
            path.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with(&start))
        })
        .with_context(|| format!("apt downloaded no {package}"))?;
    let mut query = Command::new("dpkg-deb");
    Ok(command::output(query.arg("--field").arg(archive).arg("Version"))?.trim().to_owned())
}

/// Returns the words that start a program with the unpacked libraries.
fn loader_words(libraries: &Path) -> Result<String> {
    let mut files =
        fs::read_dir(libraries)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // Its name depends on the architecture.
    let loader = files.find(|name| name.starts_with("ld-linux"));
    let loader = libraries.join(loader.context("the packages have no dynamic loader")?);
    let mut search = libraries.display().to_string();
    for private in PRIVATE_FOLDERS {
        let _ = write!(search, ":{}", libraries.join(private).display());
    }
    Ok(format!("'{}' --library-path '{search}'", loader.display()))
}

fn write_script(path: &Path, words: &str) -> Result<()> {
    fs::write(path, format!("#!/bin/sh\nexec {words} \"$@\"\n"))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}
