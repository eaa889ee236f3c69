//! Floating-point kernels: peak rate, clock and dense solve. Never touches the memory kernels.

pub mod blas;
pub mod core_clock;
pub mod isa;
pub mod linpack;
pub mod peak_flops;
