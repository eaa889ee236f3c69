//! IOR's options and its output formats.
//!
//! `option` has a row for each option; `command_line` and `directives` apply them to `options`, and
//! `compile` makes the plan of one repetition. `result` derives IOR's figures from the outcomes;
//! `text` and `json` render them. Ranks are threads of one process. Nothing here opens a file,
//! starts a thread or reads a clock.

pub mod command_line;
pub mod compile;
mod directives;
pub mod json;
mod option;
pub mod options;
pub mod rank_placement;
pub mod result;
mod script;
pub mod text;
pub(crate) mod units;

#[cfg(test)]
pub(crate) use self::option::OPTIONS;

#[cfg(test)]
mod tests;
