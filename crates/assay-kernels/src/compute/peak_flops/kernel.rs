//! Kernels of the multiply-add peak: one loop per instruction set and precision, in assembly so
//! that the compiler can neither merge nor drop the chains. Never reads a clock.
//!
//! Every lane of a vector starts at zero and gains its own number (1, 2, 3 …) in each iteration, so
//! the sums are whole numbers known exactly, and a lane that does not work is detected.

use crate::compute::isa::Isa;
use crate::compute::peak_flops::Precision;

/// Iterations per turn. The largest lane sum, 16 × 2¹⁶ = 2²⁰, is exact in single precision (24 bits).
pub(super) const ITERATIONS: u64 = 1 << 16;

/// Loop for one instruction set and precision, with the properties of its chains.
#[derive(Debug, Clone, Copy)]
pub(in crate::compute) struct PeakKernel {
    isa: Isa,
    precision: Precision,
    /// Numbers per vector.
    lanes: u32,
    /// Number of chains that add: the fused ones, or those of separate adds.
    summing: u32,
    /// Number of chains of separate multiplies by one; 0 if multiply and add are fused.
    multiplying: u32,
    /// Runs one turn and returns the sum over all chains and lanes. Needs the instruction set.
    turn: unsafe fn() -> f64,
}

/// Loops with their numbers of chains, which must cover latency × pipes. Zen 4, Golden Cove: 4 × 2;
/// Neoverse V1, Apple: 4 × 4. Separate adds and multiplies share the 16 registers of SSE2 with two
/// operands: 7 + 7 (4 × 2 each on Skylake, which shares the pipes; 3 × 2 each on Zen).
const KERNELS: &[PeakKernel] = &[
    #[cfg(target_arch = "x86_64")]
    PeakKernel::fused(Isa::Avx512, Precision::Fp64, 8, 24, x86::avx512_fp64),
    #[cfg(target_arch = "x86_64")]
    PeakKernel::fused(Isa::Avx512, Precision::Fp32, 16, 24, x86::avx512_fp32),
    #[cfg(target_arch = "x86_64")]
    PeakKernel::fused(Isa::Avx2, Precision::Fp64, 4, 12, x86::avx2_fp64),
    #[cfg(target_arch = "x86_64")]
    PeakKernel::fused(Isa::Avx2, Precision::Fp32, 8, 12, x86::avx2_fp32),
    #[cfg(target_arch = "x86_64")]
    PeakKernel::separate(Isa::Sse2, Precision::Fp64, 2, 7, x86::sse2_fp64),
    #[cfg(target_arch = "x86_64")]
    PeakKernel::separate(Isa::Sse2, Precision::Fp32, 4, 7, x86::sse2_fp32),
    #[cfg(target_arch = "aarch64")]
    PeakKernel::fused(Isa::Neon, Precision::Fp64, 2, 22, aarch64::neon_fp64),
    #[cfg(target_arch = "aarch64")]
    PeakKernel::fused(Isa::Neon, Precision::Fp32, 4, 22, aarch64::neon_fp32),
    PeakKernel::separate(Isa::Portable, Precision::Fp64, 1, 8, portable::portable_fp64),
    PeakKernel::separate(Isa::Portable, Precision::Fp32, 1, 8, portable::portable_fp32),
];

impl PeakKernel {
    /// Returns the loop for an instruction set, if this CPU has it.
    pub(in crate::compute) fn find(isa: Isa, precision: Precision) -> Option<Self> {
        let fits = |kernel: &&Self| kernel.isa == isa && kernel.precision == precision;
        KERNELS.iter().find(fits).copied().filter(|kernel| kernel.isa.is_available())
    }

    /// Runs one turn of [`ITERATIONS`] and returns the sum over all chains and lanes.
    pub(in crate::compute) fn run(&self) -> f64 {
        // SAFETY: `find` returns only kernels that this CPU can run, and fields are private to this
        // file.
        unsafe { (self.turn)() }
    }

    /// Returns the sum every turn must return: chains that add gain each lane's number once per
    /// iteration, chains that multiply by one keep it.
    pub(super) fn expected_sum(&self) -> f64 {
        let lanes_sum = f64::from(self.lanes * (self.lanes + 1) / 2);
        let gained = f64::from(self.summing) * ITERATIONS as f64;
        (gained + f64::from(self.multiplying)) * lanes_sum
    }

    /// Returns the floating-point operations of one turn.
    pub(in crate::compute) fn flops_per_turn(&self) -> f64 {
        ITERATIONS as f64 * self.flops_per_iteration()
    }

    /// Returns the floating-point operations of one iteration.
    pub(super) fn flops_per_iteration(&self) -> f64 {
        let per_summing = if self.multiplying == 0 { 2 } else { 1 };
        f64::from(self.lanes * (self.summing * per_summing + self.multiplying))
    }

    const fn fused(
        isa: Isa,
        precision: Precision,
        lanes: u32,
        chains: u32,
        turn: unsafe fn() -> f64,
    ) -> Self {
        Self { isa, precision, lanes, summing: chains, multiplying: 0, turn }
    }

    const fn separate(
        isa: Isa,
        precision: Precision,
        lanes: u32,
        chains: u32,
        turn: unsafe fn() -> f64,
    ) -> Self {
        Self { isa, precision, lanes, summing: chains, multiplying: chains, turn }
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;
