//! LAPACK solver `peers/lapack_solve.c`: the libraries that it loads, its command and its output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::wheels;

use super::workplace::BenchWorkplace;

/// Linear algebra library.
#[derive(Debug)]
pub(crate) struct LapackLibrary {
    /// Name on the page, with the version.
    pub name: String,
    file: PathBuf,
}

/// Returns Debian's threaded OpenBLAS and the newest OpenBLAS and MKL of Python's package index.
pub(crate) fn find_libraries(root: &Path) -> Result<Vec<LapackLibrary>> {
    wheels::install(root, &wheels::BLAS, false);
    let mut libraries: Vec<_> = debian_openblas().into_iter().collect();
    for wheel in &wheels::BLAS {
        let name = format!("{} {}", wheel.name, wheel.version);
        libraries.extend(
            wheels::find_installed_file(root, wheel).map(|file| LapackLibrary { name, file }),
        );
    }
    ensure!(!libraries.is_empty(), "no LAPACK library found");
    Ok(libraries)
}

/// Finds Debian's OpenBLAS, each variant of which has a folder of its own.
fn debian_openblas() -> Option<LapackLibrary> {
    let folders = fs::read_dir("/usr/lib").ok()?;
    let file = folders
        .filter_map(Result::ok)
        .map(|folder| folder.path().join("openblas-pthread/libopenblas.so.0"))
        .find(|library| library.exists())?;
    Some(LapackLibrary { name: "Debian's OpenBLAS".into(), file })
}

/// Compiles the solver.
pub(crate) fn build(workplace: &BenchWorkplace) -> Result<PathBuf> {
    workplace.build_peer("lapack_solve", &["-O3", "-march=native", "-ldl", "-lm"])
}

/// Returns the command for one solution of a system of order `n`. Each library chooses its kernels
/// itself, regardless of this machine's environment variables.
pub(crate) fn command(
    workplace: &BenchWorkplace,
    program: &Path,
    library: &LapackLibrary,
    n: usize,
    seed: u64,
) -> Command {
    let threads = workplace.cpus.count().to_string();
    let mut command = workplace.pinned_command(program);
    command
        .arg(&library.file)
        .args([n.to_string(), seed.to_string()])
        .env("OPENBLAS_NUM_THREADS", &threads)
        .env("MKL_NUM_THREADS", &threads)
        .env_remove("OPENBLAS_CORETYPE");
    // MKL finds its threading library in its own folder only through the loader's search path.
    if let Some(folder) = library.file.parent() {
        command.env("LD_LIBRARY_PATH", folder);
    }
    command
}

/// Parses the FLOP/s of the output. The solver checks its residual itself.
pub(crate) fn parse_flops(output: &str) -> Result<f64> {
    let output: Value = serde_json::from_str(output)?;
    output["flops"].as_f64().context("lapack_solve printed no flops")
}
