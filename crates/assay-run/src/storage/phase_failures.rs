//! Failures of phases by the errors of the kernel.

use assay_kernels::storage::StorageError;
use assay_model::workload::storage::StoragePhase;

use super::held_targets;
use crate::failure::CommandFailure;

/// Returns the failure of a phase by the kernel's error.
pub(super) fn phase_failed(phase_name: &str, error: &StorageError) -> CommandFailure {
    if let StorageError::Shrunk { path, from_bytes, to_bytes } = error {
        return held_targets::resized_target(path, *from_bytes, *to_bytes);
    }
    storage_failure(format!("phase {phase_name} failed"), error)
}

/// Returns the failure of a phase that was not tried because it is impossible.
pub(super) fn impossible_phase(phase: &StoragePhase, error: &StorageError) -> CommandFailure {
    storage_failure(format!("phase {} cannot be carried out", phase.name), error)
}

fn storage_failure(what: String, error: &StorageError) -> CommandFailure {
    CommandFailure::measurement(what).with_cause(error).with_known_advice()
}
