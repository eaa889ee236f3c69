//! `assay doctor`: is this machine set up for measuring?

use assay_fleet::root::Root;
use assay_fleet::{doctor as checks, facts, state};
use assay_report::build;

use crate::arguments::DoctorArguments;
use crate::failure::Failure;
use crate::pipeline;
use crate::terminal::Terminal;

pub(crate) fn doctor(typed: &DoctorArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let root = Root::machine();
    let host = facts::read(&root);
    let findings = checks::examine(&root, &host, &state::read(&root));
    if typed.json {
        let document = serde_json::json!({ "host": host, "findings": findings });
        terminal.print(&pipeline::json(&document)?);
    } else {
        let text = terminal.text(&build::findings(&host.name, &findings));
        terminal.print(&text);
    }
    Ok(0)
}
