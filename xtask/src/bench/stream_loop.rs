//! The plain C STREAM of `peers/stream_loop.c`: how it is compiled, run and read.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::workplace::Workplace;

/// What a C programmer asks gcc for.
pub(crate) const FLAGS: [&str; 4] = ["-O3", "-march=native", "-fopenmp", "-lm"];

/// Compiles it.
pub(crate) fn build(workplace: &Workplace) -> Result<PathBuf> {
    workplace.build_peer("stream_loop", &FLAGS)
}

/// The command that runs it once.
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
        .with_context(|| format!("stream_loop has no {operation}"))
}
