//! The languages that the field's tools are spoken to in and answer in.

pub mod fio;
pub mod ior;
pub mod iperf3;
mod near;
pub mod osu;
pub mod vdbench;
