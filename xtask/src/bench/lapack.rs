//! The plain LAPACK solver of `peers/lapack_solve.c`: how it is linked, run and read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::workplace::Workplace;

/// Compiles it against the threaded OpenBLAS of the system, whatever the default BLAS is.
pub(crate) fn build(workplace: &Workplace) -> Result<PathBuf> {
    let library = library()?;
    let library = library.to_str().context("the path of OpenBLAS is not UTF-8")?;
    let folder = library.rsplit_once('/').map_or("", |(folder, _)| folder);
    let rpath = format!("-Wl,-rpath,{folder}");
    workplace.build_peer("lapack_solve", &["-O3", "-march=native", library, &rpath, "-lm"])
}

/// The library itself: Debian installs each variant of OpenBLAS in its own folder.
fn library() -> Result<PathBuf> {
    let folders = fs::read_dir("/usr/lib").context("cannot list /usr/lib")?;
    folders
        .filter_map(Result::ok)
        .map(|folder| folder.path().join("openblas-pthread/libopenblas.so.0"))
        .find(|library| library.exists())
        .context("there is no openblas-pthread below /usr/lib")
}

/// One solution of a system of order `n`.
pub(crate) fn command(workplace: &Workplace, program: &Path, n: usize, seed: u64) -> Command {
    let mut command = workplace.pinned(program);
    command
        .args([n.to_string(), seed.to_string()])
        .env("OPENBLAS_NUM_THREADS", workplace.cpus.count().to_string());
    command
}

/// Operations per second from what it printed. It has judged its residual itself.
pub(crate) fn flops(output: &str) -> Result<f64> {
    let output: Value = serde_json::from_str(output)?;
    output["flops"].as_f64().context("lapack_solve printed no flops")
}
