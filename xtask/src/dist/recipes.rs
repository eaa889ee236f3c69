//! Recipe for `EasyBuild`: installs the archive of a release as a module, and runs its program.

use std::path::Path;

use anyhow::{Result, ensure};

use super::Release;
use super::program_check::try_program;
use crate::{command, wheels};

const EASYBUILD: &str = "easybuild==5.4.1";
/// Program of Lmod, where Debian has it; `EasyBuild` reads its place from this variable.
const LMOD: (&str, &str) = ("LMOD_CMD", "/usr/share/lmod/lmod/libexec/lmod");

/// Installs the archive with `EasyBuild` and Lmod below a temporary folder.
pub(super) fn check(root: &Path, release: &Release) -> Result<()> {
    let (variable, lmod) = LMOD;
    if !(release.machine.is_native() && Path::new(lmod).exists()) {
        println!("dist: EasyBuild is tried with Lmod only, on a machine of the archive");
        return Ok(());
    }
    let tools = root.join("target/dist-tools/easybuild");
    wheels::install_into_environment(root, &tools, &[EASYBUILD])?;
    let prefix = tempfile::tempdir()?;
    let recipe = format!("packaging/easybuild/assay-{}.eb", release.version);
    let mut build = command::at_root(&release.root, tools.join("bin/eb"));
    // EasyBuild refuses root otherwise.
    build.args(["--allow-use-as-root-and-accept-consequences", "--modules-tool", "Lmod"]);
    build.arg("--prefix").arg(prefix.path()).arg("--sourcepath").arg(release.output());
    build.arg(&recipe).env(variable, lmod).env("EB_PYTHON", tools.join("bin/python"));
    command::output(&mut build)?;
    let module = prefix.path().join(format!("modules/all/assay/{}.lua", release.version));
    ensure!(module.exists(), "EasyBuild wrote no module {}", module.display());
    let installed = prefix.path().join("software/assay").join(&release.version);
    try_program(release, &installed.join("bin/assay"))?;
    println!("dist: EasyBuild installs the archive as a module");
    Ok(())
}
