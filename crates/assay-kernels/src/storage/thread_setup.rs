//! Properties of a worker's thread: CPUs, priorities, and nodes of its memory.
//!
//! Restores nothing: the thread ends with its work.

use std::io;

use assay_model::workload::storage::StreamBehavior;

use crate::{memory_policy, pin, priority, timers};

use super::descriptor_table;
use super::error::StorageError;

/// Gives the calling thread the properties of a stream; `cpu` is that of the worker, if the stream
/// names none.
pub(super) fn prepare_thread(
    conduct: &StreamBehavior,
    cpu: Option<usize>,
) -> Result<(), StorageError> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |source: io::Error| StorageError::Resource { what, source }
    };
    if !conduct.cpus.is_empty() {
        pin::restrict_current_thread(&conduct.cpus).map_err(failed("the stream's CPUs"))?;
    } else if let Some(cpu) = cpu {
        pin::pin_current_thread(cpu).map_err(failed("the worker's CPU"))?;
    }
    if conduct.nice != 0 {
        priority::add_nice(conduct.nice).map_err(failed("the stream's nice value"))?;
    }
    if let Some(value) = conduct.io_priority {
        priority::set_io_priority(value).map_err(failed("the stream's I/O priority"))?;
    }
    if let Some(policy) = &conduct.memory_policy {
        memory_policy::set_memory_policy(policy)
            .map_err(failed("the NUMA nodes of the stream's memory"))?;
    }
    timers::minimize_timer_slack();
    descriptor_table::unshare_table();
    Ok(())
}
