//! The network: joins the protocols (which know no socket) with the kernels (which know no protocol).
//!
//! Clients and servers here measure and exchange; they print nothing and decide nothing about output.

pub mod control;
pub mod error;
pub mod iperf3_client;
pub mod iperf3_flows;
pub mod iperf3_server;
pub mod meter;
pub mod qperf_client;
pub mod qperf_server;
pub mod setup;
pub mod target;
