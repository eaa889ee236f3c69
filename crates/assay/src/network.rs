//! The network: joins the protocols (which know no socket) with the kernels (which know no protocol).
//!
//! Clients and servers here measure and exchange; they print nothing and decide nothing about output.

pub(crate) mod control;
pub(crate) mod error;
pub(crate) mod iperf3_client;
pub(crate) mod iperf3_flows;
pub(crate) mod iperf3_server;
pub(crate) mod meter;
pub(crate) mod qperf_client;
pub(crate) mod qperf_server;
pub(crate) mod setup;
pub(crate) mod target;
