//! Prints a storage plan for `--dry-run`, as text or as JSON, in every language.

use assay_model::workload::storage::StoragePlan;
use assay_report::build;

use crate::terminal::Terminal;
use assay_run::failure::{CommandFailure, FailureKind};

/// Prints the plan without opening any target.
pub fn print_storage_plan(
    plan: &StoragePlan,
    as_json: bool,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let text = match as_json {
        true => {
            serde_json::to_string_pretty(plan).map(|text| text + "\n").map_err(|error| {
                let what = "the plan cannot be written as JSON";
                CommandFailure::new(FailureKind::Internal, what).with_cause(&error)
            })?
        }
        false => terminal.render_document(&build::storage_plan(plan)),
    };
    terminal.print(&text);
    Ok(())
}
