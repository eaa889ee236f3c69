//! Memory kernels: how many bytes a second, and how long one load takes.
//!
//! `stream` moves large arrays with all members of a team at once; `latency` follows one chain of
//! pointers with one thread. Neither decides sizes, places or repetitions: the caller does.

pub mod latency;
pub mod stream;
