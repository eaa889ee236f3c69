//! mdtest's options, phases, names and output.
//!
//! `option` has a row for each option; `options` fills in defaults and refuses conflicts. `layout`
//! names the directories and files of every task, `phase` lists the phases in order. `result` derives
//! mdtest's figures from their times, and `text` and `rank_details` render them.
//! Nothing here opens a file, starts a thread or reads a clock.

pub mod command_line;
pub mod layout;
mod option;
pub mod options;
pub mod phase;
pub mod rank_details;
pub mod result;
pub mod text;

#[cfg(test)]
pub(crate) use self::option::OPTIONS;

#[cfg(test)]
mod tests;
