//! Console layer shared by all commands: terminal, failures and exit codes, access to the store,
//! files and hosts named by the user, and common options.
//!
//! The only crate that writes to the terminal, handles signals, or decides about exit codes.

pub mod companions;
pub mod failure;
pub mod file_size_limit;
mod headlines;
mod heartbeat;
pub mod host_access;
pub mod json_document;
pub mod live_progress;
mod message_dedup;
pub mod options;
pub mod output_file;
pub mod progress_listener;
pub mod signals;
mod status_lines;
pub mod storage_plan;
pub mod store_access;
pub mod terminal;
