//! Synchronisation of `barrier` and `team`: that of the system. A build with `--cfg loom` has that
//! of a model checker instead, which tries all orders in which threads can run and all values that
//! a load may return (`cargo xtask nightly loom`).
//!
//! Under the model a clock does not advance and a wait never ends early: a lost wake-up becomes
//! a deadlock, which the model reports.

#[cfg(not(loom))]
mod system;
#[cfg(not(loom))]
pub(crate) use system::*;

#[cfg(loom)]
mod modelled;
#[cfg(loom)]
pub(crate) use modelled::*;
