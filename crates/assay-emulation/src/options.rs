//! Command-line options of emulated tools.

#![expect(clippy::doc_markdown, reason = "the comments are help texts, printed as they are")]

pub mod fio;
pub mod ior;
pub mod mdtest;
pub mod network;
pub mod osu;
#[cfg(test)]
mod page_tests;
pub mod perftest;
pub mod vdbench;
