//! Integration tests of the store: kills, a full disk, a lost index, concurrent writers.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail by panicking, and says on the screen what it has to skip"
)]

mod concurrency;
mod crash_recovery;
mod damage;
mod errors;
mod fixtures;
mod full_disk;
mod irregular_files;
mod listing;
mod removal;
mod resolution;
mod sample_run;
