//! Other people's ways of speaking: wire protocols as state machines, output in a tool's own shape.
//!
//! Never opens a socket and never starts a process: bytes and text come in, values go out.

pub mod dialect;
pub mod wire;
