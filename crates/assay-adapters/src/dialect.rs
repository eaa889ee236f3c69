//! The languages that the field's tools are spoken to in and answer in.

pub mod iperf3;
pub mod osu;
