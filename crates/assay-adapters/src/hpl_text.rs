//! HPL's text: the input it reads and the log it writes, the same in `xhpl` and in `hpcc`.
//!
//! [`HplInput`] writes, [`HplLog`] reads and reports. Neither knows where the text comes from or
//! goes to.

mod input;
mod log;
mod report;

pub use input::{HplInput, LARGEST_N, block, grid};
pub use log::{HplLog, HplRow};

#[cfg(test)]
mod tests;
