//! STREAM pass over a part, written once for all operations, vector types, kinds of store,
//! prefetches and numbers of walks.
//!
//! Everything here is inlined into the few functions of `kernel` that carry a CPU feature, and is
//! specialised there. Never reads the clock.

use super::arrays::{ArraysPart, LINE_ELEMENTS, PAGE_ELEMENTS};
use super::operation::StreamOperation;
use super::vector::StreamVector;

/// Scalar `q` of Scale and Triad: √2 − 1 solves 2q + q² = 1, so STREAM's usual sequence of
/// operations restores the values after any number of repetitions.
pub(super) const SCALAR: f64 = std::f64::consts::SQRT_2 - 1.0;
/// Value that [`StreamOperation::Write`] writes.
pub(super) const WRITE_VALUE: f64 = 3.0;

/// Vectors processed together: all loads first, then all stores, so that reads and writes come in
/// groups.
const BLOCK_VECTORS: usize = 4;
/// Prefetch distance ahead of the loads, in elements. With two walks, 256 bytes was best or close
/// to it for all operations on Zen 4 (256 B to 2 KiB tried).
const PREFETCH_ELEMENTS: usize = 4 * LINE_ELEMENTS;
/// Elements between two walks in addition to whole pages, for the same reason as `arrays::STAGGER`.
/// On Zen 4, 5 KiB was at or near the best of 0 to 5 KiB; differences were small.
const WALK_STAGGER: usize = 640;
/// Maximum number of walks of a kernel.
const MAXIMUM_WALKS: usize = 8;

/// Access pattern of a kernel: stores, prefetches and walks. Always a constant in an inlined pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct AccessStyle {
    /// Whether stores bypass the caches.
    pub non_temporal: bool,
    /// Whether lines are prefetched before they are loaded.
    pub prefetch: bool,
    /// Sections of the part that are walked through in turns, a block each: more pages and more
    /// banks are active at any time, and the hardware prefetchers follow more streams. At most
    /// [`MAXIMUM_WALKS`].
    pub walks: usize,
}

/// Arrays of one operation: `target = f(x, y)`.
struct Streams {
    target: *mut f64,
    x: *const f64,
    y: *const f64,
    len: usize,
}

/// Performs `operation` on a part; returns the sum for [`StreamOperation::Read`], else 0.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn pass<V: StreamVector>(
    operation: StreamOperation,
    part: &mut ArraysPart<'_>,
    style: AccessStyle,
) -> f64 {
    let (a, b, c) = (part.a.as_mut_ptr(), part.b.as_mut_ptr(), part.c.as_mut_ptr());
    let (target, x, y) = match operation {
        StreamOperation::Copy => (c, a, a),
        StreamOperation::Scale => (b, c, c),
        StreamOperation::Add => (c, a, b),
        StreamOperation::Triad => (a, b, c),
        StreamOperation::Read | StreamOperation::Write => (a, a, a),
    };
    let streams = Streams { target, x, y, len: part.a.len() };
    // One arm per operation, so that each becomes its own loop with a constant operation.
    // SAFETY: the pointers and the length are those of the part's slices, which are equally long and
    // start at cache lines; the caller vouches for the CPU.
    unsafe {
        match operation {
            StreamOperation::Copy => store_all::<V>(StreamOperation::Copy, &streams, style),
            StreamOperation::Scale => store_all::<V>(StreamOperation::Scale, &streams, style),
            StreamOperation::Add => store_all::<V>(StreamOperation::Add, &streams, style),
            StreamOperation::Triad => store_all::<V>(StreamOperation::Triad, &streams, style),
            StreamOperation::Write => store_all::<V>(StreamOperation::Write, &streams, style),
            StreamOperation::Read => return sum_all::<V>(&streams, style),
        }
    }
    0.0
}

/// Computes `target[i] = f(x[i], y[i])` for all elements.
///
/// # Safety
/// The same as for [`pass`]; all pointers must be valid for `len` elements and aligned to a cache
/// line.
#[inline(always)]
unsafe fn store_all<V: StreamVector>(
    operation: StreamOperation,
    streams: &Streams,
    style: AccessStyle,
) {
    let walks = Walks::new::<V>(streams.len, style);
    for at in (0..walks.common).step_by(BLOCK_VECTORS * V::LANES) {
        for walk in (0..style.walks).step_by(2) {
            let at = at + walk * walks.distance;
            // SAFETY: the block of every walk lies within the part for `at` below `common`, at a
            // multiple of the vector size.
            unsafe {
                let first = load_block::<V>(operation, streams, at);
                if style.walks == 1 {
                    prefetch_sources::<V>(operation, streams, at, style);
                    store_block(first, streams, at, style);
                } else {
                    // Loads of two walks, then their prefetches, then their stores: Triad gains 3 %
                    // on Zen 4. Four would need more registers than AVX2 has.
                    let second_at = at + walks.distance;
                    let second = load_block::<V>(operation, streams, second_at);
                    prefetch_sources::<V>(operation, streams, at, style);
                    prefetch_sources::<V>(operation, streams, second_at, style);
                    store_block(first, streams, at, style);
                    store_block(second, streams, second_at, style);
                }
            }
        }
    }
    for at in walks.rest(streams.len) {
        // SAFETY: `rest` yields indices below `len` only.
        unsafe {
            let (x, y) = (*streams.x.add(at), *streams.y.add(at));
            *streams.target.add(at) = value(operation, x, y, SCALAR);
        }
    }
    if style.non_temporal {
        // SAFETY: the caller vouches for the CPU. Inside the timed region, because the stores are not
        // done before it.
        unsafe { V::order_non_temporal_stores() };
    }
}

/// # Safety
/// `at` to `at + BLOCK·LANES` must be within the part.
#[inline(always)]
unsafe fn load_block<V: StreamVector>(
    operation: StreamOperation,
    streams: &Streams,
    at: usize,
) -> (V, V, V, V) {
    let Streams { x, y, .. } = *streams;
    // SAFETY: the block is within the part. A tuple instead of an array, which the compiler would
    // copy to the stack and back.
    unsafe {
        let load = |k: usize| (x.add(at + k * V::LANES), y.add(at + k * V::LANES));
        (
            vector_value(operation, load(0)),
            vector_value(operation, load(1)),
            vector_value(operation, load(2)),
            vector_value(operation, load(3)),
        )
    }
}

/// # Safety
/// The same as for [`load_block`].
#[inline(always)]
unsafe fn store_block<V: StreamVector>(
    (v0, v1, v2, v3): (V, V, V, V),
    streams: &Streams,
    at: usize,
    style: AccessStyle,
) {
    // SAFETY: the block is within the part.
    unsafe {
        let to = |k: usize| streams.target.add(at + k * V::LANES);
        store(v0, to(0), style);
        store(v1, to(1), style);
        store(v2, to(2), style);
        store(v3, to(3), style);
    }
}

/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn prefetch_sources<V: StreamVector>(
    operation: StreamOperation,
    streams: &Streams,
    at: usize,
    style: AccessStyle,
) {
    if !style.prefetch || operation == StreamOperation::Write {
        return;
    }
    // SAFETY: the caller vouches for the CPU.
    unsafe {
        prefetch_block::<V>(streams.x, at);
        if matches!(operation, StreamOperation::Add | StreamOperation::Triad) {
            prefetch_block::<V>(streams.y, at);
        }
    }
}

/// # Safety
/// The same as for [`StreamVector::store`].
#[inline(always)]
unsafe fn store<V: StreamVector>(value: V, to: *mut f64, style: AccessStyle) {
    // SAFETY: the caller vouches for pointer and CPU.
    unsafe { if style.non_temporal { value.store_non_temporal(to) } else { value.store(to) } }
}

/// Returns the sum of `x` over all elements, in several independent sums so that additions never
/// wait for each other.
///
/// # Safety
/// The same as for [`store_all`].
#[inline(always)]
unsafe fn sum_all<V: StreamVector>(streams: &Streams, style: AccessStyle) -> f64 {
    let x = streams.x;
    let walks = Walks::new::<V>(streams.len, style);
    // SAFETY: the caller vouches for the CPU.
    let mut sums = unsafe { [[V::splat(0.0); BLOCK_VECTORS]; 2] };
    for at in (0..walks.common).step_by(BLOCK_VECTORS * V::LANES) {
        for walk in 0..style.walks {
            let at = at + walk * walks.distance;
            // SAFETY: as in `store_all`.
            unsafe {
                if style.prefetch {
                    prefetch_block::<V>(x, at);
                }
                add_block::<V>(&mut sums[walk % 2], x, at);
            }
        }
    }
    // SAFETY: `rest` yields indices below `len` only.
    let rest: f64 = walks.rest(streams.len).map(|at| unsafe { *x.add(at) }).sum();
    // SAFETY: the caller vouches for the CPU.
    sums.as_flattened().iter().map(|sum| unsafe { sum.total() }).sum::<f64>() + rest
}

/// # Safety
/// `at` to `at + BLOCK·LANES` must be within the part.
#[inline(always)]
unsafe fn add_block<V: StreamVector>(sums: &mut [V; BLOCK_VECTORS], x: *const f64, at: usize) {
    // SAFETY: the block is within the part.
    unsafe {
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum = sum.add(V::load(x.add(at + k * V::LANES)));
        }
    }
}

/// Prefetches the lines [`PREFETCH_ELEMENTS`] ahead of a block.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn prefetch_block<V: StreamVector>(from: *const f64, at: usize) {
    for line in (0..BLOCK_VECTORS * V::LANES).step_by(LINE_ELEMENTS) {
        // SAFETY: the caller vouches for the CPU; the address may be anywhere.
        unsafe { V::prefetch(from.wrapping_add(at + line + PREFETCH_ELEMENTS)) };
    }
}

/// # Safety
/// The pointers must be valid for one vector and aligned to its size.
#[inline(always)]
unsafe fn vector_value<V: StreamVector>(
    operation: StreamOperation,
    (x, y): (*const f64, *const f64),
) -> V {
    // SAFETY: the caller vouches for pointers and CPU. Loads that an operation does not need are
    // omitted.
    unsafe {
        match operation {
            StreamOperation::Copy | StreamOperation::Read => V::load(x),
            StreamOperation::Scale => V::load(x).multiply(V::splat(SCALAR)),
            StreamOperation::Add => V::load(x).add(V::load(y)),
            StreamOperation::Triad => V::load(x).add(V::load(y).multiply(V::splat(SCALAR))),
            StreamOperation::Write => V::splat(WRITE_VALUE),
        }
    }
}

#[inline(always)]
fn value(operation: StreamOperation, x: f64, y: f64, q: f64) -> f64 {
    match operation {
        StreamOperation::Copy | StreamOperation::Read => x,
        StreamOperation::Scale => q * x,
        StreamOperation::Add => x + y,
        StreamOperation::Triad => x + q * y,
        StreamOperation::Write => WRITE_VALUE,
    }
}

/// Ranges of the walks: each through `common` elements, a `distance` from the one before. The
/// remaining elements are processed after them, one at a time.
struct Walks {
    count: usize,
    distance: usize,
    common: usize,
}

impl Walks {
    #[inline(always)]
    fn new<V: StreamVector>(len: usize, style: AccessStyle) -> Self {
        let count = style.walks.clamp(1, MAXIMUM_WALKS);
        // The last walk is shortened by the staggers; a part too short for them is left to `rest`.
        let staggers = (count - 1) * WALK_STAGGER;
        let distance = match count {
            1 => len,
            _ => {
                len.saturating_sub(staggers) / count / PAGE_ELEMENTS * PAGE_ELEMENTS
                    + WALK_STAGGER
            }
        };
        let last = len.saturating_sub((count - 1) * distance);
        let block = BLOCK_VECTORS * V::LANES;
        Self { count, distance, common: distance.min(last) / block * block }
    }

    /// Returns the indices that no walk reaches.
    #[inline(always)]
    fn rest(&self, len: usize) -> impl Iterator<Item = usize> {
        let Self { count, distance, common } = *self;
        (0..count).flat_map(move |walk| {
            let first = (walk * distance).min(len);
            let end = if walk + 1 == count { len } else { (first + distance).min(len) };
            (first + common).min(end)..end
        })
    }
}
