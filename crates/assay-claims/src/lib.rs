//! Published figures with their sources, thresholds of a user, and pages with figures.
//!
//! Figures are compared with measured results; pages are checked against the laws and against their
//! source page. This crate never opens a file, and never decides which of two conflicting sources
//! is right.

pub mod expectation;
pub mod figure;
pub mod file_location;
pub mod gate;
pub mod lint;
pub mod page;
pub mod reference;
mod steps;
