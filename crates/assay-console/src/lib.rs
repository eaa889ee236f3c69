//! Console layer shared by all commands: terminal, failures and exit codes, access to the store,
//! files named by the user, and common options.
//!
//! The only crate that writes to the terminal, handles signals, or decides about exit codes.

mod alike;
pub mod failure;
mod foot;
mod headlines;
pub mod job_file;
pub mod listening;
pub mod live;
pub mod options;
pub mod output_file;
mod pulse;
pub mod signals;
pub mod storage_plan;
pub mod stored;
pub mod terminal;
