//! Wire protocols of iperf3, qperf, sockperf and ntttcp, as state machines without sockets.
//!
//! Each machine takes a peer's bytes in pieces of any size and returns typed events. Peers are
//! untrusted: every announced length has a bound, memory grows only with received bytes, and no
//! input causes a panic.

mod buffer;
pub mod iperf3;
pub mod ntttcp;
pub mod qperf;
pub mod sockperf;
