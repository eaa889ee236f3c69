//! fio's job language and its three output formats.
//!
//! `command_line` parses arguments and job files into a `request` of sections. `option` has a row for
//! each option; `section` applies those of a section, and `compile` turns them into a plan.
//! `statistics` derives fio's figures from the outcomes of its phases; `outcome` contains all that
//! `text`, `json` and `terse` render. Nothing here opens a file or reads a clock.

mod arithmetic;
pub mod command_line;
pub mod compile;
pub mod debug;
pub mod job_error;
pub mod jobfile;
pub mod json;
mod json_value;
pub mod log;
mod number;
pub mod option;
pub mod outcome;
pub mod report;
pub mod reported_job;
pub mod request;
mod section;
pub mod section_options;
pub mod statistics;
pub mod steady;
pub mod terse;
pub mod text;
mod trace;
mod value;
pub mod verify_state;

#[cfg(test)]
mod tests;
