//! `assay doctor`: is this machine configured for measuring?

use assay_fleet::root::Root;
use assay_fleet::{doctor as checks, facts, state};
use assay_report::build;

use super::iperf3::failed;
use crate::arguments::DoctorArguments;
use crate::pipeline;
use crate::terminal::Terminal;
use assay_run::failure::Failure;
use assay_run::network::setup::{self, PathAsked};

pub(crate) fn doctor(typed: &DoctorArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    let root = Root::machine();
    let host = facts::read(&root);
    let asked = PathAsked {
        host: typed.to.clone(),
        round_trip_s: typed.round_trip,
        link_bit_per_s: typed.rate.map(|rate| rate as f64),
    };
    let network = setup::read(&asked).map_err(|error| failed(&error))?;
    let findings = checks::examine(&root, &host, &state::read(&root), &network);
    if typed.json {
        let document =
            serde_json::json!({ "host": host, "findings": findings, "network": network });
        terminal.print(&pipeline::json(&document)?);
    } else {
        let text = terminal.text(&build::findings(&host.name, &findings));
        terminal.print(&text);
    }
    Ok(0)
}
