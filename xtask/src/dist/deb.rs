//! Debian package of a release, checked by lintian.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Release;
use super::build::GLIBC;
use super::program_check::try_program;
use crate::command;

/// Findings of lintian that are no errors here: no address of the authors is published yet.
const SUPPRESSED_TAGS: &str = "bogus-mail-host,bogus-mail-host-in-debian-changelog";

/// Packs the folder as a Debian package.
pub(super) fn pack(release: &Release, folder: &Path) -> Result<PathBuf> {
    let tree = tempfile::tempdir()?;
    let usr = tree.path().join("usr");
    command::run(release.reproducible("cp").arg("--recursive").arg(folder).arg(&usr))?;
    let control = tree.path().join("DEBIAN");
    fs::create_dir(&control)?;
    let version = format!("{}-1", release.version);
    let (major, minor) = GLIBC;
    let template = fs::read_to_string(release.root.join("packaging/deb/control"))?;
    let architecture = release.machine.debian_name;
    let fields = template
        .replace("@VERSION@", &version)
        .replace("@ARCHITECTURE@", architecture)
        .replace("@GLIBC@", &format!("{major}.{minor}"));
    let documents = usr.join("share/doc/assay");
    fs::copy(release.root.join("packaging/deb/copyright"), documents.join("copyright"))?;
    write_changelog(release, &fields, &version, &documents)?;
    fs::write(control.join("control"), fields)?;
    let mut chmod = release.reproducible("chmod");
    command::run(chmod.args(["--recursive", "u=rwX,go=rX"]).arg(tree.path()))?;
    let file = release.output().join(format!("assay_{version}_{architecture}.deb"));
    let mut deb = release.reproducible("dpkg-deb");
    deb.args(["--build", "--root-owner-group", "-Zxz"]);
    deb.arg(format!("-z{}", release.compression())).arg(tree.path()).arg(&file);
    command::run(&mut deb)?;
    Ok(file)
}

/// Writes the changelog of the package, which refers to that of the program.
fn write_changelog(
    release: &Release,
    fields: &str,
    version: &str,
    documents: &Path,
) -> Result<()> {
    let maintainer = fields.lines().find_map(|line| line.strip_prefix("Maintainer: "));
    let text = format!(
        "assay ({version}) unstable; urgency=medium\n\n  * See /usr/share/doc/assay/CHANGELOG.md.\n\n \
         -- {}  {}\n",
        maintainer.unwrap_or_default(),
        release.format_date("%a, %d %b %Y %H:%M:%S +0000")?
    );
    let file = documents.join("changelog.Debian");
    fs::write(&file, text)?;
    command::run(release.reproducible("gzip").args(["--no-name", "-9"]).arg(file))
}

/// Checks the Debian package with lintian, unpacks it, and runs the program from it.
pub(super) fn check(release: &Release, file: &Path) -> Result<()> {
    let mut lintian = release.reproducible("lintian");
    lintian.args(["--allow-root", "--fail-on", "error", "--suppress-tags", SUPPRESSED_TAGS]);
    command::run(lintian.arg(file))?;
    let folder = tempfile::tempdir()?;
    let mut deb = release.reproducible("dpkg-deb");
    command::run(deb.arg("--extract").arg(file).arg(folder.path()))?;
    try_program(release, &folder.path().join("usr/bin/assay"))
}
