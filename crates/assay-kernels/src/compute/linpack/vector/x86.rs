//! LINPACK vectors for x86-64.

use std::arch::x86_64::*;

use super::Vector;

/// Eight doubles in an AVX-512 register.
#[derive(Clone, Copy)]
pub(in super::super) struct Avx512(__m512d);

impl Vector for Avx512 {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        // SAFETY: the caller vouches for AVX-512F.
        unsafe { Self(_mm512_set1_pd(value)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller vouches for AVX-512F and the pointer.
        unsafe { Self(_mm512_loadu_pd(from)) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for AVX-512F and the pointer.
        unsafe { _mm512_storeu_pd(to, self.0) }
    }
    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        // SAFETY: the caller vouches for AVX-512F.
        unsafe { Self(_mm512_sub_pd(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        // SAFETY: the caller vouches for AVX-512F.
        unsafe { Self(_mm512_mul_pd(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn plus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller vouches for AVX-512F.
        unsafe { Self(_mm512_fmadd_pd(a.0, b.0, self.0)) }
    }
    #[inline(always)]
    unsafe fn minus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller vouches for AVX-512F.
        unsafe { Self(_mm512_fnmadd_pd(a.0, b.0, self.0)) }
    }
    #[inline(always)]
    unsafe fn keep_larger(best: &mut Self, at: &mut Self, candidate: Self, index: Self) {
        // SAFETY: the caller vouches for AVX-512F.
        unsafe {
            let size = _mm512_abs_pd(candidate.0);
            let larger = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(size, best.0);
            best.0 = _mm512_mask_mov_pd(best.0, larger, size);
            at.0 = _mm512_mask_mov_pd(at.0, larger, index.0);
        }
    }
}

/// Four doubles in an AVX register, with fused multiply-add.
#[derive(Clone, Copy)]
pub(in super::super) struct Avx2(__m256d);

impl Vector for Avx2 {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        // SAFETY: the caller vouches for AVX2.
        unsafe { Self(_mm256_set1_pd(value)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller vouches for AVX2 and the pointer.
        unsafe { Self(_mm256_loadu_pd(from)) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for AVX2 and the pointer.
        unsafe { _mm256_storeu_pd(to, self.0) }
    }
    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        // SAFETY: the caller vouches for AVX2.
        unsafe { Self(_mm256_sub_pd(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        // SAFETY: the caller vouches for AVX2.
        unsafe { Self(_mm256_mul_pd(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn plus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller vouches for FMA.
        unsafe { Self(_mm256_fmadd_pd(a.0, b.0, self.0)) }
    }
    #[inline(always)]
    unsafe fn minus_product(self, a: Self, b: Self) -> Self {
        // SAFETY: the caller vouches for FMA.
        unsafe { Self(_mm256_fnmadd_pd(a.0, b.0, self.0)) }
    }
    #[inline(always)]
    unsafe fn keep_larger(best: &mut Self, at: &mut Self, candidate: Self, index: Self) {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), candidate.0);
            let larger = _mm256_cmp_pd::<_CMP_GT_OQ>(size, best.0);
            best.0 = _mm256_blendv_pd(best.0, size, larger);
            at.0 = _mm256_blendv_pd(at.0, index.0, larger);
        }
    }
}
