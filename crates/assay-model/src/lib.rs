//! Data model of assay: quantities, benchmarks, suites, plans, facts, samples, runs, summaries.
//!
//! A [`suite::Suite`] is expanded against [`facts::HostFacts`] into a [`plan::Plan`]. Executing the
//! plan yields [`event::RunEvent`]s, which fold into a [`run::Run`]. Its samples are condensed into
//! [`summary::RunSummary`]s.
//!
//! **Units.** Every number is in a base unit of [`quantity::Unit`]: B, B/s, bit/s, FLOP/s, IO/s, s, Hz, ratio or count.
//! Plain fields carry it in their name (`elapsed_s`); prefixes exist only in text.
//!
//! **Shapes.** A run has cases, a case has series, a series has preparations with samples in order of time.
//! [`distribution::LatencyDistribution`] counts single operations in logarithmic bins.
//!
//! **Errors.** Each area has one enumeration, such as [`quantity::QuantityError`]. A failed case stores its
//! [`failure::FailureReason`], a questionable value a [`doubt::Doubt`].
//!
//! This crate never does I/O, reads a clock or starts a thread.

pub mod attribute;
pub mod benchmark;
pub mod comparison;
mod conversions;
pub mod cpu_account;
pub mod cpu_times;
pub mod distribution;
pub mod doubt;
pub mod engine_reason;
pub mod entry;
pub mod environment;
pub mod event;
pub mod factor;
pub mod facts;
pub mod failure;
pub mod file_outcome;
pub mod finding;
pub mod history;
pub mod host_names;
mod json;
pub mod kernel_counters;
pub mod level_comparison;
pub mod limit;
pub mod mpi_installation;
pub mod mpi_outcome;
pub mod network_setup;
pub mod path_text;
pub mod phrase;
pub mod plan;
pub mod poisoned_lock;
pub mod quantity;
pub mod run;
pub mod run_table;
pub mod sanitize;
pub mod seed;
pub mod sizing;
pub mod spelling;
pub mod storage_outcome;
pub mod suite;
pub mod summary;
pub mod trust;
pub mod workload;
