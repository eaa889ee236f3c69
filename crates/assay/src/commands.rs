//! tmp
pub(crate) mod iperf3;
pub(crate) mod ping;
pub(crate) mod qperf;
