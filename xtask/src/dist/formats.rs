//! Formats of a release: archive, Python wheel, Debian package. Each is unpacked and run once.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::Release;
use crate::command;

/// Tag of the wheel: glibc 2.17 or newer.
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
pub(super) fn try_archive(release: &Release, file: &Path) -> Result<()> {
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
pub(super) fn try_wheel(release: &Release, file: &Path) -> Result<()> {
    let mut audit = command::at_root(&release.root, release.tools.join("bin/auditwheel"));
    let audit = command::output(audit.args(["show", "--json"]).arg(file))?;
    ensure!(audit.contains("manylinux_2_17_x86_64"), "auditwheel reports {audit}");
    let folder = tempfile::tempdir()?;
    command::run(release.reproducible("python3").args(["-m", "venv"]).arg(folder.path()))?;
    let mut pip = command::at_root(&release.root, folder.path().join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    command::run(pip.arg(file))?;
    try_program(release, &folder.path().join("bin/assay"))
}

/// Packs the folder as a Debian package.
pub(super) fn pack_deb(release: &Release, folder: &Path) -> Result<PathBuf> {
    let tree = tempfile::tempdir()?;
    let usr = tree.path().join("usr");
    command::run(release.reproducible("cp").arg("--recursive").arg(folder).arg(&usr))?;
    let control = tree.path().join("DEBIAN");
    fs::create_dir(&control)?;
    let version = &release.version;
    let template = fs::read_to_string(release.root.join("packaging/deb/control"))?;
    fs::write(control.join("control"), template.replace("@VERSION@", version))?;
    let documents = usr.join("share/doc/assay");
    fs::copy(release.root.join("packaging/deb/copyright"), documents.join("copyright"))?;
    let mut chmod = release.reproducible("chmod");
    command::run(chmod.args(["--recursive", "u=rwX,go=rX"]).arg(tree.path()))?;
    let file = release.output().join(format!("assay_{version}-1_amd64.deb"));
    let mut deb = release.reproducible("dpkg-deb");
    deb.args(["--build", "--root-owner-group", "-Zxz"]).arg(tree.path()).arg(&file);
    command::run(&mut deb)?;
    Ok(file)
}

/// Unpacks the Debian package and runs the program from it.
pub(super) fn try_deb(release: &Release, file: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut deb = release.reproducible("dpkg-deb");
    command::run(deb.arg("--extract").arg(file).arg(folder.path()))?;
    try_program(release, &folder.path().join("usr/bin/assay"))
}

fn try_program(release: &Release, program: &Path) -> Result<()> {
    let version = command::output(command::at_root(&release.root, program).arg("--version"))?;
    let expected = format!("assay {} (", release.version);
    ensure!(version.starts_with(&expected), "{} prints {version}", program.display());
    let mut plan = command::at_root(&release.root, program);
    let plan = command::output(plan.args(["run", "quick", "--dry-run"]))?;
    ensure!(!plan.is_empty(), "{} prints no plan", program.display());
    Ok(())
}
