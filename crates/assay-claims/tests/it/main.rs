//! Integration tests of claims, gates and the linter on published pages.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod claim_check;
mod fixes;
mod hosts;
mod laws;
mod lint;
mod measured_checks;
mod recall;
mod source_comparison;
mod unusual_pages;
