//! The kernels from outside: what they measure on targets whose truth is known.
//!
//! Needs nothing but Linux; what needs root skips itself by name where there is none.

mod storage;
