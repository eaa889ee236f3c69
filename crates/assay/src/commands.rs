//! Commands, one file per group. A command parses its options, calls the pipeline, and prints the
//! result.

pub(crate) mod agent;
pub(crate) mod compare;
pub(crate) mod doctor;
mod doctor_hosts;
pub(crate) mod exec;
pub(crate) mod export;
pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod net;
pub(crate) mod plan;
pub(crate) mod references;
pub(crate) mod removal;
mod result_list;
pub(crate) mod run;
mod run_factors;
pub(crate) mod run_hosts;
mod run_switch;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod site;
pub(crate) mod storage;
pub(crate) mod verify;
