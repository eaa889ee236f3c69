//! Input languages, output formats and wire protocols of other tools: text → workload, results →
//! the tool's output, bytes ⇄ messages.
//!
//! [`vdbench`], [`fio`], [`ior`] and [`mdtest`] are job languages with their outputs; [`io500`] has lines of
//! the last two. [`iperf3`], [`osu`] and [`perftest`] are output formats only. [`wire`] holds wire protocols
//! as state machines.
//!
//! This crate never opens a socket or a file, starts a process or reads a clock: everything here is
//! a function from values to values.

pub mod exponent;
pub mod fio;
pub mod io500;
pub mod ior;
pub mod iperf3;
pub mod mdtest;
pub mod option;
pub mod osu;
pub mod perftest;
pub mod vdbench;
pub mod wire;
