//! The kernels from outside: what they measure on targets whose truth is known.
//!
//! Needs nothing but Linux; what needs root skips itself by name where there is none.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

mod storage;
mod truth;
