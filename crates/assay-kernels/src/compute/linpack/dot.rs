//! Scalar product for back substitution, generic over the vector types.

use crate::compute::linpack::vector::Vector;

/// Accumulators of a scalar product: 8 chains cover 4 cycles of latency on two pipes.
const CHAINS: usize = 8;

/// Returns the scalar product of two slices, over the length of the shorter one.
///
/// # Safety
/// The CPU must have the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn dot<V: Vector>(a: &[f64], b: &[f64]) -> f64 {
    let len = a.len().min(b.len());
    let mut lanes = [0.0; CHAINS * 8];
    let mut done = 0;
    // SAFETY: every load is before `len`, every store within `lanes`.
    unsafe {
        let mut sums = [V::splat(0.0); CHAINS];
        while done + CHAINS * V::LANES <= len {
            for (chain, sum) in sums.iter_mut().enumerate() {
                let at = done + chain * V::LANES;
                let (a, b) = (V::load(a.as_ptr().add(at)), V::load(b.as_ptr().add(at)));
                *sum = sum.plus_product(a, b);
            }
            done += CHAINS * V::LANES;
        }
        for (chain, sum) in sums.into_iter().enumerate() {
            sum.store(lanes.as_mut_ptr().add(chain * V::LANES));
        }
    }
    let rest = a[done..len].iter().zip(&b[done..len]).map(|(a, b)| a * b);
    lanes.iter().sum::<f64>() + rest.sum::<f64>()
}
