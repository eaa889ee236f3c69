//! Integration tests of the kernels, on targets with known properties.
//!
//! Require only Linux; tests that require root print their name and skip themselves without it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "skipped tests print their name")]

mod storage;
mod truth;
