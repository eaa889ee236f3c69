//! Floating-point kernels: peak rate and dense solve. Never touches the memory kernels.
