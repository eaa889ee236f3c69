//! Prints a storage plan for `--dry-run`, as text or as JSON, in every language.

use assay_model::workload::storage::StoragePlan;
use assay_report::build;

use crate::json_document::to_json;
use crate::terminal::Terminal;
use assay_run::failure::CommandFailure;

/// Prints the plan without opening any target.
pub fn print_storage_plan(
    plan: &StoragePlan,
    as_json: bool,
    terminal: &mut Terminal,
) -> Result<(), CommandFailure> {
    let text = match as_json {
        true => to_json(plan)?,
        false => terminal.render_document(&build::storage_plan(plan)),
    };
    terminal.print(&text);
    Ok(())
}
