//! Checks of a released program: it starts, measures, reads files, and is small enough to be sent to
//! other hosts.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::Release;
use super::build::ProgramOrigin;
use crate::command;

/// Maximum size of the copy that another host receives.
const MAX_COPY_BYTES: usize = 10_000_000;
/// Result of another tool, and a page with figures, as examples.
const RESULT: &str = "crates/assay-adapters/tests/import/fio/3.1-mix.json";
/// A brief measurement.
pub(super) const STREAM: [&str; 6] =
    ["stream", "--array-size", "8MiB", "--budget", "shortest", "--quiet"];
/// Exit codes of `lint`: no finding, findings.
const LINT_CODES: [i32; 2] = [0, 5];
const PAGE: &str = "docs/benchmarks/memory.md";

/// Compares the program's version with the release, and plans a run with it.
pub(super) fn try_program(release: &Release, program: &Path) -> Result<()> {
    let version = command::output(release.start(program).arg("--version"))?;
    let expected = match release.origin {
        ProgramOrigin::Released => format!("assay {} (", release.version),
        ProgramOrigin::LinkedHere => format!("assay {}", release.version),
    };
    ensure!(version.starts_with(&expected), "{} prints {version}", program.display());
    let plan = command::output(release.start(program).args(["run", "quick", "--dry-run"]))?;
    ensure!(!plan.is_empty(), "{} prints no plan", program.display());
    Ok(())
}

/// Measures, imports and lints with the program.
pub(super) fn try_commands(release: &Release, program: &Path) -> Result<()> {
    let store = tempfile::tempdir()?;
    let store = store.path().to_str().context("the temporary folder is not UTF-8")?;
    let in_store = ["--store", store];
    for words in [&STREAM[..], &["import", RESULT], &["list"]] {
        command::output(release.start(program).args(words).args(in_store))?;
    }
    // Findings in the page are no fault of the program.
    let lint = command::capture(release.start(program).args(["lint", PAGE]))?;
    let is_read = lint.status.code().is_some_and(|code| LINT_CODES.contains(&code));
    ensure!(is_read, "{} lint {PAGE} ended with {}", program.display(), lint.status);
    Ok(())
}

/// Fails if the copy that is sent to other hosts is too large. It is compressed as the program does.
pub(super) fn check_agent_size(release: &Release) -> Result<()> {
    if release.origin == ProgramOrigin::LinkedHere {
        return Ok(());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&fs::read(&release.program)?)?;
    let bytes = encoder.finish()?.len();
    ensure!(
        bytes <= MAX_COPY_BYTES,
        "a copy of the program to another host has {bytes} B, more than {MAX_COPY_BYTES} B"
    );
    println!("dist: a copy to another host has {bytes} B");
    Ok(())
}
