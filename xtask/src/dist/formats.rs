//! Formats of a release for any distribution: archive and Python wheel. Each is unpacked and run
//! once.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::Release;
use super::build::GLIBC;
use crate::command;

/// Tag of the wheel, for the glibc that [`super::build::GLIBC`] names.
const WHEEL_PLATFORM: &str = "manylinux2014_x86_64";

/// Packs the folder as `assay-VERSION-x86_64-linux.tar.gz`.
pub(super) fn pack_archive(release: &Release, folder: &Path) -> Result<PathBuf> {
    let name = format!("assay-{}-x86_64-linux", release.version);
    let file = release.output().join(format!("{name}.tar.gz"));
    let mut tar = release.reproducible("tar");
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--format=gnu", "--mode=u=rwX,go=rX", "--use-compress-program=gzip -n -9"])
        .arg(format!("--mtime=@{}", release.epoch))
        .arg(format!("--transform=s,^\\.,{name},"))
        .arg("--file")
        .arg(&file)
        .arg("--directory")
        .arg(folder)
        .arg(".");
    command::run(&mut tar)?;
    Ok(file)
}

/// Unpacks the archive and runs the program from it.
pub(super) fn check_archive(release: &Release, file: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut tar = release.reproducible("tar");
    let unpack = ["--extract", "--strip-components=1", "--file"];
    command::run(tar.args(unpack).arg(file).arg("--directory").arg(folder.path()))?;
    try_program(release, &folder.path().join("bin/assay"))
}

/// Packs the program as a wheel that installs it into `bin` of an environment.
pub(super) fn pack_wheel(release: &Release) -> Result<PathBuf> {
    let name = format!("assay_bench-{}-py3-none-{WHEEL_PLATFORM}.whl", release.version);
    let file = release.output().join(name);
    let mut script = release.reproducible("python3");
    script.arg("packaging/pypi/make_wheel.py").arg(&release.program).arg(&release.version);
    command::run(script.arg(WHEEL_PLATFORM).arg(&file))?;
    Ok(file)
}

/// Checks the wheel's platform tag, installs it into a fresh environment and runs the program.
pub(super) fn check_wheel(release: &Release, file: &Path) -> Result<()> {
    let mut audit = command::at_root(&release.root, release.tools.join("bin/auditwheel"));
    let audit = command::output(audit.args(["show", "--json"]).arg(file))?;
    let (major, minor) = GLIBC;
    let tag = format!("manylinux_{major}_{minor}_x86_64");
    ensure!(audit.contains(&tag), "auditwheel reports {audit}");
    let folder = tempfile::tempdir()?;
    command::run(release.reproducible("python3").args(["-m", "venv"]).arg(folder.path()))?;
    let mut pip = command::at_root(&release.root, folder.path().join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    command::run(pip.arg(file))?;
    let mut python = command::at_root(&release.root, folder.path().join("bin/python"));
    python.args(["-c", "import assay; print(assay.runs())"]);
    let runs = command::output(python.env("XDG_DATA_HOME", folder.path()))?;
    ensure!(runs.trim() == "[]", "the Python package prints {runs} of an empty store");
    try_program(release, &folder.path().join("bin/assay"))
}

/// Compares the program's version with the release, and plans a run with it.
pub(super) fn try_program(release: &Release, program: &Path) -> Result<()> {
    let version = command::output(command::at_root(&release.root, program).arg("--version"))?;
    let expected = format!("assay {} (", release.version);
    ensure!(version.starts_with(&expected), "{} prints {version}", program.display());
    let mut plan = command::at_root(&release.root, program);
    let plan = command::output(plan.args(["run", "quick", "--dry-run"]))?;
    ensure!(!plan.is_empty(), "{} prints no plan", program.display());
    Ok(())
}
