//! LINPACK vectors for `aarch64`.

use std::arch::aarch64::*;

use super::Vector;

/// Two doubles in a NEON register, with fused multiply-add.
#[derive(Clone, Copy)]
pub(in super::super) struct Neon(float64x2_t);

impl Vector for Neon {
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        // SAFETY: the caller vouches for NEON.
        unsafe { Self(vdupq_n_f64(value)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller vouches for NEON and the pointer.
        unsafe { Self(vld1q_f64(from)) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for NEON and the pointer.
        unsafe { vst1q_f64(to, self.0) }
    }
    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        // SAFETY: the caller vouches for NEON.
        unsafe { Self(vsubq_f64(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        // SAFETY: the caller vouches for NEON.
        unsafe { Self(vmulq_f64(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn plus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller vouches for NEON.
        unsafe { Self(vfmaq_f64(self.0, a.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn minus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller vouches for NEON.
        unsafe { Self(vfmsq_f64(self.0, a.0, b.0)) }
    }
    #[inline(always)]
    unsafe fn keep_larger(best: &mut Self, at: &mut Self, candidate: Self, index: Self) {
        // SAFETY: the caller vouches for NEON.
        unsafe {
            let size = vabsq_f64(candidate.0);
            let larger = vcgtq_f64(size, best.0);
            best.0 = vbslq_f64(larger, size, best.0);
            at.0 = vbslq_f64(larger, index.0, at.0);
        }
    }
}
