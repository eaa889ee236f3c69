//! IOR: its options in, its two forms of output out.
//!
//! `command_line` reads the words into `options`, `compile` makes a plan of one repetition, `result` makes IOR's figures
//! of its outcomes, `text` and `json` write them. Ranks are threads of one process; nothing here opens
//! a file, starts a thread or reads a clock.

pub mod command_line;
pub mod compile;
mod directives;
pub mod json;
pub mod options;
pub mod result;
mod script;
pub mod text;
mod units;

#[cfg(test)]
mod tests;
