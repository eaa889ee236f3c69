//! Machines that the program is released for: their names in each format, and how their programs run
//! on this machine.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::Release;
use crate::command;

/// Kind of machine with a build of its own.
#[derive(Debug)]
pub(super) struct Machine {
    /// Name in `uname -m`, RPM, wheels and the names of the files.
    pub name: &'static str,
    /// Name in Debian and in OCI images.
    pub debian_name: &'static str,
    /// Target of the compiler; also the folder of its C library.
    pub target: &'static str,
    /// Oldest processors; kernels for newer ones are selected at run time.
    pub cpu: &'static str,
    /// Folder of libraries in Debian.
    pub library_folder: &'static str,
}

/// All machines, the most frequent first.
pub(super) const MACHINES: [Machine; 2] = [
    Machine {
        name: "x86_64",
        debian_name: "amd64",
        target: "x86_64-unknown-linux-gnu",
        cpu: "x86-64-v2",
        library_folder: "lib/x86_64-linux-gnu",
    },
    Machine {
        name: "aarch64",
        debian_name: "arm64",
        target: "aarch64-unknown-linux-gnu",
        cpu: "generic",
        library_folder: "lib/aarch64-linux-gnu",
    },
];

impl Machine {
    /// Returns the machine of this name.
    pub(super) fn find(name: &str) -> Result<&'static Self> {
        let names = MACHINES.map(|it| it.name).join(" or ");
        let found = MACHINES.iter().find(|it| it.name == name);
        found.with_context(|| format!("`{name}` is not a machine; expected {names}"))
    }

    /// Whether its programs run here without an emulator.
    pub(super) fn is_native(&self) -> bool {
        self.name == std::env::consts::ARCH
    }

    /// Returns the folder of a foreign C library, where Debian's cross compilers have it.
    pub(super) fn cross_folder(&self) -> String {
        format!("/usr/{}-linux-gnu", self.name)
    }
}

impl Release {
    /// Returns a command that runs a program of the release's machine, emulated if necessary.
    pub(super) fn start(&self, program: &Path) -> Command {
        self.start_below(Path::new(&self.machine.cross_folder()), program)
    }

    /// Returns the same command with the C library below `system` for the emulator.
    pub(super) fn start_below(&self, system: &Path, program: &Path) -> Command {
        if self.machine.is_native() {
            return command::at_root(&self.root, program);
        }
        let mut emulator = self.reproducible(&format!("qemu-{}", self.machine.name));
        emulator.arg("-L").args([system, program]);
        emulator
    }
}
