//! The archive: pages, exports and news of all runs of a store.
//!
//! - [`site`] writes a static site into a folder.
//! - [`server`] serves the same pages to browsers, live.
//! - [`export`] writes tables for other programs.
//! - [`store_watch`] notices runs that begin, end or are removed.
//! - [`stored_levels`] finds the runs that took turns with a run.
//! - [`repetition_plan`] describes which repetitions narrow the intervals of stored runs.
//! - [`result_table`] has the results of many runs in one table.
//! - [`run_list`] and [`verification`] describe runs for programs.
//!
//! A caller names the store, the selection and the language in a request ([`ArchiveRequest`],
//! [`export::ExportRequest`]) and gets warnings through a function or in the result. This crate never
//! prints, parses options or handles signals.

pub mod export;
pub mod repetition_plan;
mod request;
pub mod result_table;
pub mod run_list;
pub mod server;
pub mod site;
pub mod store_watch;
pub mod stored_levels;
pub mod verification;

pub use request::ArchiveRequest;
pub use site::anonymise_run;
