//! What others publish and demand: published figures with their sources, thresholds of a user, and pages.
//!
//! Figures are held against measured results, pages against the laws and against the page that they were
//! made from. This crate never opens a file, and never decides which of two conflicting sources is right.

pub mod figure;
pub mod gate;
pub mod lint;
pub mod page;
pub mod place;
pub mod reference;
