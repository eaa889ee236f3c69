//! Vectors of doubles, one type per instruction set, with the few operations that the kernels need.
//!
//! Every method is inlined into a kernel that is compiled for the instruction set (see `kernels`),
//! so none of them is a call. `kernels` also selects the instruction set.

#[cfg(target_arch = "aarch64")]
pub(super) mod aarch64;
pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

/// Hardware vector of doubles.
///
/// # Safety of the methods
/// The CPU must have the instruction set, and pointers must be valid for [`Vector::LANES`] doubles;
/// they need no alignment.
pub(super) trait Vector: Copy {
    /// Doubles per vector; a divisor of 8.
    const LANES: usize;

    /// Returns a vector with `value` in all lanes.
    unsafe fn splat(value: f64) -> Self;
    /// Reads [`Vector::LANES`] doubles.
    unsafe fn load(from: *const f64) -> Self;
    /// Writes [`Vector::LANES`] doubles.
    unsafe fn store(self, to: *mut f64);
    /// Returns `self − other`.
    unsafe fn minus(self, other: Self) -> Self;
    /// Returns `self × other`.
    unsafe fn times(self, other: Self) -> Self;
    /// Returns `self + a × b`, fused if the instruction set supports it.
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;
    /// Returns `self − a × b`, fused if the instruction set supports it.
    unsafe fn minus_product(self, a: Self, b: Self) -> Self;
    /// Replaces `best` in each lane in which `|candidate|` exceeds it, and records `index` in `at`.
    unsafe fn keep_larger(best: &mut Self, at: &mut Self, candidate: Self, index: Self);
}

/// Doubles per cache line of 64 bytes.
pub(super) const DOUBLES_PER_LINE: usize = 8;

/// Prefetches the cache line at `address`, which need not be valid: a prefetch never faults.
#[inline(always)]
pub(super) fn prefetch(address: *const f64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint without any effect visible to a program; SSE is always
    // available.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
