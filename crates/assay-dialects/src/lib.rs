//! The languages that the field's tools are spoken to in and answer in, and how they speak with their
//! peers: text → workload, what was measured → the tool's own output, bytes ⇄ messages.
//!
//! [`vdbench`], [`fio`] and [`ior`] are job languages with their outputs, [`iperf3`] and [`osu`] outputs
//! alone; [`wire`] holds wire protocols as state machines.
//!
//! This crate never opens a socket or a file, starts a process or reads a clock: everything here is a
//! function from values to values.

pub mod fio;
pub mod ior;
pub mod iperf3;
pub mod osu;
pub mod vdbench;
pub mod wire;
