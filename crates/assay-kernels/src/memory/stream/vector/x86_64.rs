//! STREAM vectors for AVX-512, AVX2 and SSE2.

use core::arch::x86_64::*;

use super::StreamVector;

macro_rules! vector {
    ($register:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident, $stream:ident,
     $add:ident, $multiply:ident) => {
        impl StreamVector for $register {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn splat(value: f64) -> Self {
                // SAFETY: the caller vouches for the CPU.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            unsafe fn load(from: *const f64) -> Self {
                // SAFETY: the caller vouches for the CPU and for an aligned, valid pointer.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut f64) {
                // SAFETY: as for `load`.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn store_non_temporal(self, to: *mut f64) {
                // SAFETY: as for `load`; `order_non_temporal_stores` orders these stores before the pass ends.
                unsafe { $stream(to, self) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: the caller vouches for the CPU.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn multiply(self, other: Self) -> Self {
                // SAFETY: the caller vouches for the CPU.
                unsafe { $multiply(self, other) }
            }

            #[inline(always)]
            unsafe fn prefetch(from: *const f64) {
                // SAFETY: every x86-64 CPU has this instruction, and it never faults.
                unsafe { _mm_prefetch::<_MM_HINT_NTA>(from.cast()) }
            }

            #[inline(always)]
            unsafe fn order_non_temporal_stores() {
                // SAFETY: every x86-64 CPU has this instruction.
                unsafe { _mm_sfence() }
            }
        }
    };
}

vector!(
    __m512d,
    8,
    _mm512_set1_pd,
    _mm512_load_pd,
    _mm512_store_pd,
    _mm512_stream_pd,
    _mm512_add_pd,
    _mm512_mul_pd
);
vector!(
    __m256d,
    4,
    _mm256_set1_pd,
    _mm256_load_pd,
    _mm256_store_pd,
    _mm256_stream_pd,
    _mm256_add_pd,
    _mm256_mul_pd
);
vector!(
    __m128d,
    2,
    _mm_set1_pd,
    _mm_load_pd,
    _mm_store_pd,
    _mm_stream_pd,
    _mm_add_pd,
    _mm_mul_pd
);
