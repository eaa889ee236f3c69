//! Formats of a release for any distribution: archive and Python wheel. Each is unpacked and run
//! once.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::Release;
use super::build::{GLIBC, ProgramOrigin};
use super::program_check::{try_commands, try_program};
use crate::{book, command};

/// Versions of Python whose programs are looked for; the wheel is installed for each.
const PYTHONS: std::ops::RangeInclusive<u32> = 7..=15;

/// Packs the folder and the book of the documentation as `assay-VERSION-MACHINE-linux.tar.gz`.
pub(super) fn pack_archive(release: &Release, folder: &Path) -> Result<PathBuf> {
    let name = format!("assay-{}-{}-linux", release.version, release.machine.name);
    let file = release.output().join(format!("{name}.tar.gz"));
    let book = book::build_with(&release.root, &release.tools.join("bin/mdbook"))?;
    let mut tar = release.reproducible("tar");
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--format=gnu", "--mode=u=rwX,go=rX"])
        .arg(format!("--use-compress-program=gzip -n -{}", release.compression()))
        .arg(format!("--mtime=@{}", release.epoch))
        .arg(format!("--transform=s,^\\.,{name},;s,^html,{name}/share/doc/assay/html,"))
        .arg("--file")
        .arg(&file)
        .arg("--directory")
        .arg(folder)
        .arg(".")
        .arg("--directory")
        .arg(book.parent().context("the book lies in a folder")?)
        .arg("html");
    command::run(&mut tar)?;
    Ok(file)
}

/// Unpacks the archive and runs commands of the program from it.
pub(super) fn check_archive(release: &Release, file: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut tar = release.reproducible("tar");
    let unpack = ["--extract", "--strip-components=1", "--file"];
    command::run(tar.args(unpack).arg(file).arg("--directory").arg(folder.path()))?;
    let program = folder.path().join("bin/assay");
    let start = folder.path().join("share/doc/assay/html/index.html");
    ensure!(start.is_file(), "the archive lacks {}", start.display());
    try_program(release, &program)?;
    try_commands(release, &program)
}

/// Packs the program as a wheel that installs it into `bin` of an environment.
pub(super) fn pack_wheel(release: &Release, folder: &Path) -> Result<PathBuf> {
    // For the glibc that `GLIBC` names.
    let platform = format!("manylinux2014_{}", release.machine.name);
    let name = format!("assay_bench-{}-py3-none-{platform}.whl", release.version);
    let file = release.output().join(name);
    let mut script = release.reproducible("python3");
    script.arg("packaging/pypi/make_wheel.py").arg(&release.program).arg(&release.version);
    script.arg(platform).arg(folder.join("share/doc/assay/THIRD-PARTY-LICENSES"));
    command::run(script.arg(release.compression().to_string()).arg(&file))?;
    Ok(file)
}

/// Checks the wheel's platform tag, installs it for each Python, and runs the program.
pub(super) fn check_wheel(release: &Release, file: &Path) -> Result<()> {
    let mut audit = command::at_root(&release.root, release.tools.join("bin/auditwheel"));
    let audit = command::output(audit.args(["show", "--json"]).arg(file))?;
    let (major, minor) = GLIBC;
    let tag = format!("manylinux_{major}_{minor}_{}", release.machine.name);
    let is_linked_here = release.origin == ProgramOrigin::LinkedHere;
    ensure!(is_linked_here || audit.contains(&tag), "auditwheel reports {audit}");
    if !release.machine.is_native() {
        return Ok(());
    }
    // One Python is enough to find a fault of the wheel.
    let mut pythons = vec!["python3".to_owned()];
    if !is_linked_here {
        let versions = PYTHONS.map(|minor| format!("python3.{minor}"));
        pythons.extend(versions.filter(|it| has_venv(release, it)));
    }
    for python in &pythons {
        install_wheel(release, file, python)?;
    }
    println!("dist: the wheel runs with {}", pythons.join(", "));
    Ok(())
}

fn has_venv(release: &Release, python: &str) -> bool {
    let mut ask = command::at_root(&release.root, python);
    let answer = command::capture(ask.args(["-c", "import venv, ensurepip"]));
    answer.is_ok_and(|it| it.status.success())
}

fn install_wheel(release: &Release, file: &Path, python: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    command::run(release.reproducible(python).args(["-m", "venv"]).arg(folder.path()))?;
    let mut pip = command::at_root(&release.root, folder.path().join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    command::run(pip.arg(file))?;
    let mut python = command::at_root(&release.root, folder.path().join("bin/python"));
    python.args(["-c", "import assay; print(assay.runs())"]);
    let runs = command::output(python.env("XDG_DATA_HOME", folder.path()))?;
    ensure!(runs.trim() == "[]", "the Python package prints {runs} of an empty store");
    try_program(release, &folder.path().join("bin/assay"))
}
