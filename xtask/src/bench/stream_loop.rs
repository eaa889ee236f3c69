//! STREAM programs in C of `peers/`, the plain loop and the sweep over walks and stores:
//! compilation, commands and output.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::workplace::BenchWorkplace;

/// Compiler flags that a C programmer would use.
pub(crate) const FLAGS: [&str; 4] = ["-O3", "-march=native", "-fopenmp", "-lm"];

/// Plain loop.
pub(crate) const PLAIN: &str = "stream_loop";
/// Sweep, whose non-temporal stores need x86-64.
pub(crate) const SWEEP: &str = "stream_sweep";

/// Compiles one of the programs.
pub(crate) fn build(workplace: &BenchWorkplace, name: &str) -> Result<PathBuf> {
    workplace.build_peer(name, &FLAGS)
}

/// Returns the command for one run of a program.
pub(crate) fn command(
    workplace: &BenchWorkplace,
    program: &Path,
    array_bytes: u64,
    passes: u64,
) -> Command {
    let mut command = workplace.command(program);
    command
        .args([(array_bytes / 8).to_string(), passes.to_string()])
        .env("OMP_NUM_THREADS", workplace.cpus.count().to_string())
        .env("OMP_PLACES", workplace.cpus.format_openmp_places())
        .env("OMP_PROC_BIND", "true");
    command
}

/// Parses the median of one operation in bytes per second.
pub(crate) fn median(output: &str, operation: &str) -> Result<f64> {
    let output: Value = serde_json::from_str(output)?;
    output[operation]["median"]
        .as_f64()
        .with_context(|| format!("the STREAM program printed no {operation}"))
}

/// Parses the name of the sweep's fastest variant of an operation.
pub(crate) fn best_variant(output: &str, operation: &str) -> Result<String> {
    let output: Value = serde_json::from_str(output)?;
    let name = output[operation]["kernel"].as_str();
    Ok(name.with_context(|| format!("the sweep printed no kernel for {operation}"))?.to_owned())
}
