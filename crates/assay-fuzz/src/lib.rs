//! Everything of assay that reads what others wrote, against anything: files of job languages, suites,
//! outputs of tools, what peers send, stored events, quantities.
//!
//! An input is made of goldens by random changes; whoever changes what comes of it is changed further. A
//! panic, an overflow, an execution without an end and memory without a bound are findings, and are kept as
//! files that every later test gives to their reader again. Nothing here is part of the program.

pub mod campaign;
pub mod corpus;
pub mod mutation;
pub mod readers;
mod tools;
mod watch;
