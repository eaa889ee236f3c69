//! Floating-point kernels: peak rate, clock and dense solve. Independent of the memory kernels.

pub mod blas;
pub mod core_clock;
pub mod isa;
pub mod linpack;
pub mod peak_flops;
