//! Commands with the options and output of other tools: Vdbench, fio, IOR, mdtest, iperf3,
//! qperf, sockperf, ntttcp, ping, perftest and OSU's.
//!
//! `assay-dialects` parses their languages, `assay-run` carries out the measurements.

use assay_console::{output_file, signals, storage_plan, store_access, terminal};

pub mod called_name;
pub mod fio;
pub mod ior;
pub mod iperf3;
mod launcher;
pub mod mdtest;
pub mod ntttcp;
pub mod options;
pub mod osu;
pub mod perftest;
pub mod ping;
pub mod qperf;
pub mod sockperf;
pub mod unsupported_options;
pub mod vdbench;
mod word_location;
