//! RPM package of a release, checked by rpmlint.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Release;
use super::program_check::try_program;
use crate::command;

/// Packs the folder as an RPM package.
pub(super) fn pack(release: &Release, folder: &Path) -> Result<PathBuf> {
    let place = tempfile::tempdir()?;
    let mut build = release.reproducible("rpmbuild");
    let machine = release.machine.name;
    build.args(["-bb", "--quiet", "--target", &format!("{machine}-linux")]);
    let definitions = [
        format!("_topdir {}", place.path().display()),
        format!("_rpmdir {}", place.path().display()),
        "_rpmfilename assay.rpm".to_owned(),
        format!("assay_version {}", release.version),
        format!("assay_contents {}", folder.display()),
        format!("_binary_payload w{}.xzdio", release.compression()),
        format!("assay_date {}", release.format_date("%a %b %d %Y")?),
    ];
    for definition in &definitions {
        build.arg("--define").arg(definition);
    }
    command::run(build.arg("packaging/rpm/assay.spec"))?;
    let file = release.output().join(format!("assay-{}-1.{machine}.rpm", release.version));
    fs::copy(place.path().join("assay.rpm"), &file)?;
    Ok(file)
}

/// Checks the RPM package with rpmlint, unpacks it, and runs the program from it.
pub(super) fn check(release: &Release, file: &Path) -> Result<()> {
    let mut lint = release.reproducible("rpmlint");
    command::run(lint.args(["--config", "packaging/rpm/rpmlint.toml"]).arg(file))?;
    let folder = tempfile::tempdir()?;
    let mut unpack = release.reproducible("sh");
    unpack.args(["-c", "rpm2cpio \"$1\" | (cd \"$2\" && cpio -id --quiet)", "sh"]);
    command::run(unpack.arg(file).arg(folder.path()))?;
    try_program(release, &folder.path().join("usr/bin/assay"))
}
