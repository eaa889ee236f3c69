//! Memory kernels: bandwidth in bytes per second, and latency of dependent loads.
//!
//! `stream` moves large arrays with all members of a team at once; `latency` follows one chain of
//! pointers with one thread. The caller decides sizes, placement and repetitions.

pub mod latency;
pub mod stream;
