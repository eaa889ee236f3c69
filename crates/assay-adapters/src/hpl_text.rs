//! HPL's text formats: its input file and its log, the same in `xhpl` and in `hpcc`.
//!
//! [`HplInput`] formats the input, [`HplLog`] parses and reports the log. Neither opens a file.

mod input;
mod log;
mod report;

pub use input::{HplInput, MAX_N, block_size, process_grid};
pub use log::{HplLog, HplRow};

#[cfg(test)]
mod tests;
