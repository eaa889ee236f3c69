//! The linter over five published translations: it finds what is known to be wrong with them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod against;
mod held;
mod hosts;
mod laws;
mod lint;
