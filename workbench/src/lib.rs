//! Base of the project's own programs and tests: starts commands, installs packages, writes pages,
//! drives a browser. Never part of assay; never measures.

#![expect(clippy::print_stdout, reason = "the terminal is its output")]

use std::fs;

pub mod browser;
pub mod command;
pub mod newest;
pub mod npm;
pub mod packages;
pub mod page;
pub mod page_commands;

/// Returns the load of the machine: runnable threads over the last 1, 5 and 15 minutes. Other load
/// disturbs all contenders equally, and widens the intervals.
pub fn load_average() -> String {
    let averages = fs::read_to_string("/proc/loadavg");
    let averages = averages.unwrap_or_else(|_| "not reported".into());
    averages.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
