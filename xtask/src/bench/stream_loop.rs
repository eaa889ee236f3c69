//! The STREAMs in C of `peers/`: the plain loop and the sweep over walks and stores. How they are compiled,
//! run and read.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::workplace::Workplace;

/// What a C programmer asks gcc for.
pub(crate) const FLAGS: [&str; 4] = ["-O3", "-march=native", "-fopenmp", "-lm"];

/// The plain loop.
pub(crate) const PLAIN: &str = "stream_loop";
/// The sweep, whose non-temporal stores are those of x86-64.
pub(crate) const SWEEP: &str = "stream_sweep";

/// Compiles one of them.
pub(crate) fn build(workplace: &Workplace, name: &str) -> Result<PathBuf> {
    workplace.build_peer(name, &FLAGS)
}

/// The command that runs one of them once.
pub(crate) fn command(
    workplace: &Workplace,
    program: &Path,
    array_bytes: u64,
    passes: u64,
) -> Command {
    let mut command = workplace.command(program);
    command
        .args([(array_bytes / 8).to_string(), passes.to_string()])
        .env("OMP_NUM_THREADS", workplace.cpus.count().to_string())
        .env("OMP_PLACES", workplace.cpus.places())
        .env("OMP_PROC_BIND", "true");
    command
}

/// The median of one operation in bytes per second, from what it printed.
pub(crate) fn median(output: &str, operation: &str) -> Result<f64> {
    let output: Value = serde_json::from_str(output)?;
    output[operation]["median"]
        .as_f64()
        .with_context(|| format!("STREAM in C has no {operation}"))
}

/// What the sweep found to be the fastest for an operation.
pub(crate) fn best_variant(output: &str, operation: &str) -> Result<String> {
    let output: Value = serde_json::from_str(output)?;
    let name = output[operation]["kernel"].as_str();
    Ok(name.with_context(|| format!("the sweep names no kernel for {operation}"))?.to_owned())
}
