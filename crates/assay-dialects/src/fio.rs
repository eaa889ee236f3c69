//! fio's job language and its three output formats.
//!
//! `command_line` parses arguments and job files into sections. `section_options` parses the
//! options of a section, and `compile` turns them into a plan. `statistics` derives fio's figures
//! from the outcomes of its phases; `outcome` contains all that `text`, `json` and `terse` render.
//! Nothing here opens a file or reads a clock.

mod arithmetic;
pub mod command_line;
pub mod compile;
pub mod job_error;
pub mod jobfile;
pub mod json;
mod json_value;
pub mod log;
mod number;
pub mod option;
pub mod outcome;
pub mod render;
pub mod reported_job;
pub mod section_options;
pub mod statistics;
pub mod steady;
pub mod terse;
pub mod text;
mod value;

#[cfg(test)]
mod tests;
