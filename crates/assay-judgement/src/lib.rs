//! Judgement of results and pages by published figures and by the demands of a user.
//!
//! - [`expectations`] reads claims, limits and gates of `--expect` and applies them to a run.
//! - [`drained_hosts`] lists the hosts that a user should drain.
//! - [`gates`] judges the hosts of a run, with pages of the outcomes.
//! - [`published_figures`] compares results with claims, as a page, JSON and CSV.
//! - [`reference_pages`] shows claims with their sources.
//! - [`page_lint`] checks pages against physical laws and against a source.
//!
//! Returns outcomes, lines and documents; never prints, and never decides about exit codes.

pub mod drained_hosts;
pub mod expectations;
pub mod gates;
pub mod page_lint;
pub mod published_figures;
pub mod reference_pages;
