//! Wire protocols of the field's network tools, as state machines that never touch a socket.
//!
//! What a peer sends goes in as bytes, in pieces of any size; what it means comes out as values. A
//! peer may send anything: every length it announces has a bound, nothing is allocated for what has
//! only been announced, and nothing it sends can make these machines panic.

mod buffer;
pub mod iperf3;
pub mod qperf;
