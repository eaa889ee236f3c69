//! `assay doctor`: is this machine configured for measuring?

use assay_fleet::remote::Examined;
use assay_fleet::root::Root;
use assay_fleet::{doctor as checks, facts, state};
use assay_report::build;

use super::doctor_hosts;
use super::iperf3::failed;
use crate::arguments::DoctorArguments;
use crate::pipeline;
use crate::terminal::Terminal;
use assay_run::failure::Failure;
use assay_run::network::setup::{self, PathAsked};

pub(crate) fn doctor(typed: &DoctorArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    if let Some(list) = &typed.hosts.hosts {
        return doctor_hosts::doctor(list, typed, terminal);
    }
    let found = examine(&PathAsked {
        host: typed.to.clone(),
        round_trip_s: typed.round_trip,
        link_bit_per_s: typed.rate.map(|rate| rate as f64),
    })?;
    if typed.json {
        terminal.print(&pipeline::json(&found)?);
    } else {
        let text = terminal.text(&build::findings(&found.host.name, &found.findings));
        terminal.print(&text);
    }
    Ok(0)
}

/// Every check on this machine, those of a path where one is named.
pub(super) fn examine(asked: &PathAsked) -> Result<Examined, Failure> {
    let root = Root::machine();
    let host = facts::read(&root);
    let network = setup::read(asked).map_err(|error| failed(&error))?;
    let findings = checks::examine(&root, &host, &state::read(&root), &network);
    Ok(Examined { host, findings, network })
}
