//! LINPACK vector in plain Rust, two doubles wide: a size that the compiler of every 64-bit machine
//! can vectorise.

use super::Vector;

/// Two doubles. Multiply and add are separate, because a fused one is a slow library call without
/// hardware support.
#[derive(Clone, Copy)]
pub(in super::super) struct Portable([f64; 2]);

impl Vector for Portable {
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        Self([value; 2])
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller vouches for the pointer.
        unsafe { Self(from.cast::<[f64; 2]>().read_unaligned()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for the pointer.
        unsafe { to.cast::<[f64; 2]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        Self([self.0[0] - other.0[0], self.0[1] - other.0[1]])
    }
    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        Self([self.0[0] * other.0[0], self.0[1] * other.0[1]])
    }
    #[inline(always)]
    unsafe fn plus_product(self, a: Self, b: Self) -> Self {
        Self([self.0[0] + a.0[0] * b.0[0], self.0[1] + a.0[1] * b.0[1]])
    }
    #[inline(always)]
    unsafe fn minus_product(self, a: Self, b: Self) -> Self {
        Self([self.0[0] - a.0[0] * b.0[0], self.0[1] - a.0[1] * b.0[1]])
    }
    #[inline(always)]
    unsafe fn keep_larger(best: &mut Self, at: &mut Self, candidate: Self, index: Self) {
        for lane in 0..2 {
            if candidate.0[lane].abs() > best.0[lane] {
                best.0[lane] = candidate.0[lane].abs();
                at.0[lane] = index.0[lane];
            }
        }
    }
}
