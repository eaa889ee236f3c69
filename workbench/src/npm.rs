//! Packages of npm that check pages. Each has its own folder, and no script of theirs is run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command;

/// File in a package of npm.
#[derive(Debug, Clone, Copy)]
pub struct NpmFile {
    /// Name of the package.
    pub package: &'static str,
    /// Version that the tests were written for.
    pub version: &'static str,
    /// Path in the package.
    pub file: &'static str,
}

/// Checks the accessibility of a page, within a browser (MPL-2.0).
pub const AXE: NpmFile = NpmFile { package: "axe-core", version: "4.14.1", file: "axe.min.js" };

/// Checks HTML and CSS as the W3C does; needs Java (MIT).
pub const VNU: NpmFile =
    NpmFile { package: "vnu-jar", version: "26.9.27", file: "build/dist/vnu.jar" };

impl NpmFile {
    /// Returns the path of the file; downloads the package below `folder` once. `None` without npm.
    pub fn fetch(self, folder: &Path) -> Result<Option<PathBuf>> {
        let Self { package, version, file } = self;
        let folder = folder.join(format!("{package}-{version}"));
        let path = folder.join("node_modules").join(package).join(file);
        if !path.is_file() {
            if !command::is_installed("npm") {
                return Ok(None);
            }
            fs::create_dir_all(&folder)?;
            // Tests run at the same time.
            let lock = File::create(folder.join("lock"))?;
            lock.lock()?;
            if !path.is_file() {
                let mut install = Command::new("npm");
                install.args(["install", "--no-save", "--no-audit", "--no-fund"]);
                install.arg("--ignore-scripts").arg("--prefix").arg(&folder);
                let output = command::capture(install.arg(format!("{package}@{version}")))?;
                let reason = String::from_utf8_lossy(&output.stderr).into_owned();
                path.is_file().then_some(()).with_context(|| format!("npm: {reason}"))?;
            }
        }
        Ok(Some(path))
    }
}
