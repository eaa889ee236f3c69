//! Other people's ways of speaking: wire protocols as state machines without sockets.
//!
//! Never opens a socket and never starts a process: bytes and text come in, values go out.

pub mod wire;
