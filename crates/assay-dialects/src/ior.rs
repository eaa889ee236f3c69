//! IOR's options and its output formats.
//!
//! `command_line` parses arguments into `options`, and `compile` makes the plan of one repetition.
//! `result` derives IOR's figures from the outcomes; `text` and `json` render them. Ranks are
//! threads of one process. Nothing here opens a file, starts a thread or reads a clock.

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
