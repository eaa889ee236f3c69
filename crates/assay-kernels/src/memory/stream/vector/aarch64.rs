//! STREAM vectors for NEON, in pairs of registers, because AArch64's non-temporal store takes a
//! pair.

use core::arch::aarch64::*;
use core::arch::asm;

use super::StreamVector;

/// NeonPair of neighbouring registers with two numbers each.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory::stream) struct NeonPair(float64x2_t, float64x2_t);

impl StreamVector for NeonPair {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        // SAFETY: the caller vouches for the CPU.
        unsafe { Self(vdupq_n_f64(value), vdupq_n_f64(value)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller vouches for the CPU and for a pointer valid for four numbers.
        unsafe { Self(vld1q_f64(from), vld1q_f64(from.add(2))) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: as for `load`.
        unsafe {
            vst1q_f64(to, self.0);
            vst1q_f64(to.add(2), self.1);
        }
    }

    #[inline(always)]
    unsafe fn store_non_temporal(self, to: *mut f64) {
        // SAFETY: the instruction writes the 32 bytes at `to`, for which the caller vouches, and
        // changes neither flags nor stack.
        unsafe {
            asm!(
                "stnp {low:q}, {high:q}, [{to}]",
                low = in(vreg) self.0,
                high = in(vreg) self.1,
                to = in(reg) to,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the CPU.
        unsafe { Self(vaddq_f64(self.0, other.0), vaddq_f64(self.1, other.1)) }
    }

    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the CPU.
        unsafe { Self(vmulq_f64(self.0, other.0), vmulq_f64(self.1, other.1)) }
    }

    #[inline(always)]
    unsafe fn prefetch(from: *const f64) {
        // SAFETY: a prefetch never faults and has no effect visible to a program.
        unsafe {
            asm!(
                "prfm pldl1strm, [{from}]",
                from = in(reg) from,
                options(nostack, preserves_flags, readonly),
            );
        }
    }

    #[inline(always)]
    unsafe fn order_non_temporal_stores() {
        // SAFETY: a barrier for stores; it touches no memory of its own.
        unsafe { asm!("dmb ishst", options(nostack, preserves_flags)) };
    }
}
