//! Memory kernels: bandwidth in bytes per second, latency of dependent loads, and of cache lines
//! between cores.
//!
//! `stream` moves large arrays with all members of a team at once; `latency` follows one chain of
//! pointers with one thread, idle or while other threads move data; `core_to_core` hands a line from
//! one thread to another. The caller decides sizes, placement and repetitions.

pub mod core_to_core;
pub mod latency;
pub mod stream;
