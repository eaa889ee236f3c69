//! `assay references`: prints published figures with their sources.

use assay_claims::expectation::{Expectations, JudgedResults};
use assay_claims::reference;
use assay_judgement::expectations::{find_expectations, read_system};
use assay_judgement::reference_pages::{claims_document, systems_document};
use assay_run::failure::CommandFailure;
use serde_json::json;

use crate::arguments::claims::ReferencesArguments;
use crate::page;
use crate::terminal::Terminal;

pub(crate) fn references(
    typed: &ReferencesArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let claims = match &typed.system {
        Some(name) => {
            let named = find_expectations(name, JudgedResults::TwoConditions);
            let Expectations { mut claims, mut limits, .. } =
                named.unwrap_or_else(|| read_system(name))?.values;
            claims.append(&mut limits);
            claims
        }
        None => reference::published_claims(),
    };
    let document = || match &typed.system {
        Some(_) => claims_document(&claims),
        None => systems_document(&claims),
    };
    page::publish(document, || json!({ "references": claims }), &typed.page, terminal)?;
    Ok(0)
}
