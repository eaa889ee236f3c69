//! Floating-point kernels: peak rate, clock and dense solve. Never touches the memory kernels.

pub mod core_clock;
pub mod isa;
pub mod peak_flops;
