//! Documents in every format: golden files for artificial summaries, and properties of any summary.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod browser;
mod conditions;
mod events;
mod export;
mod golden;
mod guest;
mod hardware;
mod learn;
mod levels;
mod limits;
mod maker;
mod memory;
mod mpi;
mod network;
mod node;
mod pages;
mod pictures;
mod properties;
mod read_back;
mod site;
mod small;
mod storage;
mod troubled;
mod words;
