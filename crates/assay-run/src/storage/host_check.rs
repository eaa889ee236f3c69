//! Checks that the host can carry out a storage plan: memory for the buffers, and `/proc`.

use std::path::Path;

use assay_fleet::facts;
use assay_fleet::root::Root;
use assay_model::facts::HostFacts;
use assay_model::plan::expand::check_buffers;
use assay_model::workload::storage::{EngineChoice, StoragePlan};

use crate::failure::CommandFailure;

/// Advice where `/proc` is missing.
const MOUNT_PROC: &str = "mount it with `mount -t proc proc /proc`";
/// Advice where `/proc` hides the memory, as under systemd's `ProcSubset=pid`.
const SHOW_MEMINFO: &str = "make /proc/meminfo readable here, or limit the memory of the control \
                            group: a container or `ProcSubset=pid` of systemd may hide the file";
/// Folder through which targets that are open are opened again.
const DESCRIPTORS: &str = "/proc/thread-self/fd";

/// Refuses a plan that this host cannot carry out.
pub(super) fn check(plan: &StoragePlan) -> Result<(), CommandFailure> {
    if plan.phases.is_empty() {
        return Ok(());
    }
    check_memory(plan, &facts::read(&Root::machine()))?;
    check_descriptors(plan, Path::new(DESCRIPTORS))
}

/// Returns the advice on memory whose size is unknown.
pub(crate) fn advise_on_memory() -> &'static str {
    if Path::new(DESCRIPTORS).exists() { SHOW_MEMINFO } else { MOUNT_PROC }
}

fn check_memory(plan: &StoragePlan, host: &HostFacts) -> Result<(), CommandFailure> {
    for phase in &plan.phases {
        check_buffers(&phase.workload, host).map_err(|error| {
            CommandFailure::usage(format!("phase {} cannot be carried out", phase.name))
                .with_reason(error.to_string())
                .advise("request smaller blocks, or fewer I/O in flight")
        })?;
    }
    Ok(())
}

fn check_descriptors(plan: &StoragePlan, folder: &Path) -> Result<(), CommandFailure> {
    let is_real = |engine| engine != EngineChoice::Null;
    if folder.exists() || !plan.phases.iter().any(|phase| is_real(phase.workload.engine)) {
        return Ok(());
    }
    let what = format!("targets cannot be opened: there is no {}", folder.display());
    Err(CommandFailure::measurement(what)
        .with_reason("/proc is not mounted, and targets that are open are opened again there")
        .advise(MOUNT_PROC))
}

#[cfg(test)]
mod tests;
