//! Vector operations of a STREAM pass on `f64`, for each instruction set.
//!
//! Every method must be inlined into a function that carries the instruction set's feature; the
//! methods carry none themselves, because a trait cannot.

#[cfg(target_arch = "aarch64")]
pub(super) mod aarch64;
pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86_64;

/// Vector of [`StreamVector::LANES`] numbers.
///
/// # Safety
/// All methods require a CPU with the instruction set; methods with a pointer require that it is
/// valid for one vector and aligned to the vector's size.
pub(super) trait StreamVector: Copy {
    /// Numbers in a vector.
    const LANES: usize;

    /// # Safety
    /// See the trait.
    unsafe fn splat(value: f64) -> Self;
    /// # Safety
    /// See the trait.
    unsafe fn load(from: *const f64) -> Self;
    /// Writes the vector with an ordinary store.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn store(self, to: *mut f64);
    /// Writes the vector with a non-temporal store, which bypasses the caches and reads no line
    /// first.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn store_non_temporal(self, to: *mut f64);
    /// # Safety
    /// See the trait.
    unsafe fn add(self, other: Self) -> Self;
    /// # Safety
    /// See the trait.
    unsafe fn multiply(self, other: Self) -> Self;
    /// Prefetches the line of this address without allocating it in the outer caches. Never faults.
    ///
    /// # Safety
    /// The CPU must have the instruction set; the address may be any.
    unsafe fn prefetch(from: *const f64);
    /// Orders earlier non-temporal stores before everything that follows.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn order_non_temporal_stores();

    /// Returns the sum of the lanes.
    ///
    /// # Safety
    /// See the trait.
    #[inline(always)]
    unsafe fn total(self) -> f64 {
        let mut lanes = Lanes([0.0; 8]);
        // SAFETY: the buffer is as large and as aligned as the largest vector.
        unsafe { self.store(lanes.0.as_mut_ptr()) };
        lanes.0[..Self::LANES].iter().sum()
    }
}

/// Buffer for the largest vector, of 64 bytes.
#[repr(align(64))]
struct Lanes([f64; 8]);
