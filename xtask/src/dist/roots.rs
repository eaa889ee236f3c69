//! Clean roots of Debian releases: installs the packages in each, runs the program as an ordinary
//! user, and removes them again.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::program_check::STREAM;
use super::{PackedFiles, Release};
use crate::command;

/// Releases of Debian that its mirrors still have.
const SUITES: [&str; 3] = ["bullseye", "bookworm", "trixie"];
/// User and group without any rights.
const NOBODY: &str = "65534:65534";
/// Runs a program with a root folder, in which `/proc` is mounted: `$1` is the folder, `$2` the user.
const ENTER: &str = r#"root=$1 user=$2; shift 2
mkdir -p "$root/proc" && mount -t proc proc "$root/proc" && exec chroot --userspec="$user" "$root" "$@""#;

impl Release {
    /// Returns a command that runs a program with another root folder.
    pub(super) fn enter(
        &self,
        root: &Path,
        user: &str,
        words: &[impl AsRef<OsStr>],
    ) -> Command {
        let mut command = self.reproducible("unshare");
        command.args(["--mount", "sh", "-c", ENTER, "sh"]).arg(root).arg(user).args(words);
        command.env("HOME", "/tmp").env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command
    }

    /// Whether this user may change the root folder.
    pub(super) fn is_root(&self) -> Result<bool> {
        Ok(command::output(self.reproducible("id").arg("-u"))?.trim() == "0")
    }
}

/// Installs, runs and removes the packages in the roots of all releases that can be had.
pub(super) fn check(release: &Release, files: &PackedFiles) -> Result<()> {
    if !(release.machine.is_native() && release.is_root()?) {
        println!(
            "dist: packages of {} are installed by root only, on such a machine",
            release.machine.name
        );
        return Ok(());
    }
    for suite in SUITES {
        match find_root(release, suite) {
            Ok(root) => check_root(release, suite, &root, files)?,
            Err(error) => println!("dist: no root of {suite}: {error:#}"),
        }
    }
    Ok(())
}

/// Returns the root of a release, downloaded once.
fn find_root(release: &Release, suite: &str) -> Result<PathBuf> {
    let folder = release.root.join("target/dist-roots");
    let root = folder.join(suite);
    if !root.exists() {
        fs::create_dir_all(&folder)?;
        let work = tempfile::tempdir_in(&folder)?;
        let made = work.path().join("root");
        let mut bootstrap = release.reproducible("debootstrap");
        bootstrap.args(["--variant=minbase", suite]).arg(&made);
        command::output(&mut bootstrap)?;
        // Renamed last: the existence of the folder means that it is complete.
        fs::rename(made, &root)?;
    }
    Ok(root)
}

fn check_root(release: &Release, suite: &str, root: &Path, files: &PackedFiles) -> Result<()> {
    let deb = root.join("tmp/assay.deb");
    fs::copy(&files.deb, &deb)?;
    let as_root = |words: &[&str]| release.enter(root, "0:0", words);
    command::output(&mut as_root(&["dpkg", "--install", "/tmp/assay.deb"]))?;
    try_as_nobody(release, root).with_context(|| format!("the Debian package on {suite}"))?;
    command::output(&mut as_root(&["dpkg", "--purge", "assay"]))?;
    ensure_removed(root, suite)?;
    fs::remove_file(&deb)?;
    let rpm = |action: &str, package: &OsStr| {
        let mut rpm = release.reproducible("rpm");
        // The root has no database of RPM with its C library.
        rpm.arg("--root").arg(root).args(["--dbpath", "/tmp/rpm", "--nodeps", action]);
        command::output(rpm.arg(package))
    };
    // A run that failed has left its database.
    let database = root.join("tmp/rpm");
    if database.exists() {
        fs::remove_dir_all(database)?;
    }
    rpm("--install", files.rpm.as_os_str())?;
    try_as_nobody(release, root).with_context(|| format!("the RPM on {suite}"))?;
    rpm("--erase", OsStr::new("assay"))?;
    ensure_removed(root, suite)?;
    println!("dist: the packages were installed, run and removed on {suite}");
    Ok(())
}

fn try_as_nobody(release: &Release, root: &Path) -> Result<()> {
    let measure = [&["assay"][..], &STREAM, &["--store", "/tmp/runs"]].concat();
    for words in [&["assay", "--version"][..], &measure] {
        command::output(&mut release.enter(root, NOBODY, words))?;
    }
    Ok(fs::remove_dir_all(root.join("tmp/runs"))?)
}

fn ensure_removed(root: &Path, suite: &str) -> Result<()> {
    for path in ["usr/bin/assay", "usr/share/doc/assay", "usr/share/man/man1/assay.1.gz"] {
        ensure!(!root.join(path).exists(), "the removed package leaves {path} on {suite}");
    }
    Ok(())
}
