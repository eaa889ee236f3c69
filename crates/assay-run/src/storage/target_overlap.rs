//! Detects targets of one workload that are the same file, or share a device: each would get the
//! I/O of both.
//!
//! Looks at existing files and opens nothing.

use std::path::{Path, PathBuf};

use assay_model::workload::storage::{EngineChoice, StorageWorkload};

use super::layers::{Layer, Layers};
use super::target_path;
use crate::failure::CommandFailure;

/// File or device behind a path, independent of the path's spelling.
#[derive(PartialEq, Eq)]
enum TargetIdentity {
    Existing(Layer),
    Missing(PathBuf),
}

impl TargetIdentity {
    fn from_path(path: &Path) -> Result<Self, CommandFailure> {
        match path.metadata() {
            Ok(found) => Ok(Self::Existing(Layer::from_metadata(&found))),
            Err(_) => target_path::resolve_path(path).map(Self::Missing),
        }
    }
}

/// Refuses targets that are equal or share sectors.
pub(crate) fn check(workload: &StorageWorkload) -> Result<(), CommandFailure> {
    if workload.engine == EngineChoice::Null {
        return Ok(());
    }
    let layers = Layers::read();
    let mut known: Vec<(TargetIdentity, &Path)> = Vec::new();
    for path in workload.targets.iter().map(|target| target.path.as_path()) {
        let new = TargetIdentity::from_path(path)?;
        for (identity, other) in &known {
            let (one, other) = (other.display(), path.display());
            match (identity, &new) {
                (before, new) if before == new && one.to_string() == other.to_string() => {
                    return Err(duplicate_failure(format!("the target {one} is named twice")));
                }
                (before, new) if before == new => {
                    return Err(duplicate_failure(format!(
                        "the targets {one} and {other} are the same"
                    )));
                }
                (TargetIdentity::Existing(before), TargetIdentity::Existing(new))
                    if layers.overlap(*before, *new) =>
                {
                    return Err(duplicate_failure(format!(
                        "the targets {one} and {other} overlap"
                    ))
                    .with_reason(
                        "one of them is made of the other, or both hold the same sectors",
                    ));
                }
                _ => {}
            }
        }
        known.push((new, path));
    }
    Ok(())
}

fn duplicate_failure(what: String) -> CommandFailure {
    CommandFailure::usage(what)
        .with_reason("it would get twice the requested I/O, and count as two")
        .advise("name each file and each device once")
}
