//! fio: its job language in, its three forms of output out.
//!
//! `command_line` reads words and files into sections, `worker` reads a section's options, `compile`
//! makes a plan of them; `statistics` makes fio's figures of the outcomes, and `text`, `json` and
//! `terse` write them. Nothing here opens a file or reads a clock.

mod arithmetic;
pub mod command_line;
pub mod compile;
mod document;
pub mod fault;
pub mod jobfile;
pub mod json;
pub mod log;
mod number;
pub mod option;
pub mod statistics;
pub mod steady;
pub mod terse;
pub mod text;
mod value;
pub mod worker;

#[cfg(test)]
mod tests;
