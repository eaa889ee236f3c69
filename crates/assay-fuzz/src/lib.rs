//! Fuzzer for all readers of external input: files of job languages, suites, outputs of tools,
//! messages of peers, stored events, quantities.
//!
//! Inputs are goldens with random mutations; inputs with a new result are mutated further. Panics,
//! overflows, endless executions and unbounded memory are findings. They are stored as files that
//! later tests run again. Nothing here is part of the program.

pub mod campaign;
pub mod corpus;
pub mod mutation;
pub mod readers;
mod tools;
mod watchdog;
