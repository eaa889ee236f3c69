//! Published figures with their sources, thresholds of a user, and pages with figures.
//!
//! Figures are compared with measured results; pages are checked against the laws and against their
//! source page. A [`figure`] has a value in base units, the digits in which it was written, and a qualifier such as "up
//! to". [`expectation::ExpectationError`] names line and entry of a file of expectations.
//!
//! This crate never opens a file, and never decides which of two conflicting sources
//! is right.

pub mod expectation;
pub mod figure;
pub mod file_location;
pub mod gate;
pub mod lint;
pub mod page;
pub mod reference;
mod steps;
