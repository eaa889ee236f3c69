//! Prints a storage plan for `--dry-run`, as text or as JSON, in every language.

use assay_model::workload::storage::StoragePlan;
use assay_report::build;

use crate::terminal::Terminal;
use assay_run::failure::{Failure, Kind};

/// Prints the plan without opening any target.
pub fn explain(
    plan: &StoragePlan,
    as_json: bool,
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let text = match as_json {
        true => {
            serde_json::to_string_pretty(plan).map(|text| text + "\n").map_err(|error| {
                let what = "the plan cannot be written as JSON";
                Failure::new(Kind::Internal, what).because(&error)
            })?
        }
        false => terminal.text(&build::storage_plan(plan)),
    };
    terminal.print(&text);
    Ok(())
}
