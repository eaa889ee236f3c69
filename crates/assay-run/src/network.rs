//! Network measurements: joins the protocols, which know no sockets, with the kernels, which know
//! no protocols.
//!
//! Clients and servers here measure and exchange data; they print nothing and do not decide about
//! output.

mod admission;
pub mod control;
#[cfg(test)]
mod deadline_tests;
pub mod echoes;
pub mod error;
pub mod iperf3_client;
pub mod iperf3_flows;
mod iperf3_limits;
pub mod iperf3_login;
pub mod iperf3_record;
mod iperf3_series;
pub mod iperf3_server;
pub mod meter;
pub mod ntttcp;
pub(crate) mod path;
pub mod plausibility;
pub mod qperf_client;
pub mod qperf_record;
pub mod qperf_server;
pub mod setup;
pub mod sockperf_client;
pub mod sockperf_record;
pub mod sockperf_server;
pub mod sockperf_statistics;
pub mod target;
pub mod transfer_route;
