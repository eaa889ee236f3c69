//! Corpus on disk: the seeds of each reader, from goldens of the whole project, and its findings.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fs_err as fs;

use crate::readers::FuzzedReader;

/// Maximum length of an input; longer ones cost time and reveal nothing new.
pub const MAX_INPUT_BYTES: usize = 32 << 10;

/// Returns the folder `crates`.
fn crates_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate lies in a folder of crates")
}

/// Returns the folder of a reader's findings.
pub fn findings_folder(reader: &FuzzedReader) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("findings").join(reader.name)
}

/// Reads the earlier findings of a reader with their paths.
///
/// # Errors
/// If a file cannot be read.
pub fn read_findings(reader: &FuzzedReader) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let folder = findings_folder(reader);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut findings = Vec::new();
    for path in files_below(&folder)? {
        let bytes = fs::read(&path)?;
        findings.push((path, bytes));
    }
    Ok(findings)
}

/// Reads all seeds of a reader: its goldens, its own texts, and earlier findings.
///
/// # Errors
/// If the goldens are missing or cannot be read.
pub fn read_seeds(reader: &FuzzedReader) -> Result<Vec<Vec<u8>>> {
    let mut seeds: Vec<Vec<u8>> =
        reader.seed_texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    for pattern in reader.seed_patterns {
        let (folder, ending) =
            pattern.rsplit_once('*').context("the path of goldens lacks a `*`")?;
        let golden_folder = crates_folder().join(folder);
        let files = files_below(&golden_folder)
            .with_context(|| format!("no goldens in {}", golden_folder.display()))?;
        let has_ending = |path: &PathBuf| path.to_string_lossy().ends_with(ending);
        for path in files.into_iter().filter(has_ending) {
            let mut bytes = fs::read(&path)?;
            bytes.truncate(MAX_INPUT_BYTES);
            seeds.push(bytes);
        }
    }
    seeds.extend(read_findings(reader)?.into_iter().map(|(_, bytes)| bytes));
    anyhow::ensure!(!seeds.is_empty(), "{} has no seeds", reader.name);
    Ok(seeds)
}

/// Returns all files below a folder, sorted by path.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
