//! Table of STREAM kernels: one row per instruction set, kind of store, number of walks and
//! prefetch, with a check whether this CPU can run it. Never runs a kernel.

use super::arrays::ArraysPart;
use super::error::StreamError;
use super::operation::StreamOperation;
use super::pass::{AccessStyle, pass};

/// Properties of a kernel that are available without running it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelInfo {
    /// Unique name: the instruction set, `-nt` for non-temporal stores, `-2walks` to `-8walks` for
    /// sections that are walked through in turns, `-prefetch` for software prefetches.
    pub name: &'static str,
    /// Instruction set: `avx512`, `avx2`, `sse2`, `neon` or `portable`.
    pub isa: &'static str,
    /// Whether stores bypass the caches, so that no line is read before it is overwritten.
    pub non_temporal: bool,
    /// Sections of a thread's part that are walked through in turns: 1, 2, 4 or 8.
    pub walks: usize,
    /// Whether lines are prefetched before they are loaded.
    pub prefetch: bool,
}

impl KernelInfo {
    /// Whether two kernels differ at most in the instruction set.
    pub(super) fn has_style_of(&self, other: &Self) -> bool {
        let style = |info: &Self| (info.non_temporal, info.walks, info.prefetch);
        style(self) == style(other)
    }
}

/// Row of the table: the description, the check whether this CPU has the instruction set, and the
/// code.
pub(super) struct StreamKernel {
    pub info: KernelInfo,
    is_runnable: fn() -> bool,
    /// Code of a pass; safe to call only when the CPU has the row's instruction set.
    pub pass: unsafe fn(StreamOperation, &mut ArraysPart<'_>) -> f64,
}

/// Defines a function for each style, with the instruction set's feature, which the pass that is
/// inlined into it may then use.
macro_rules! featured_pass {
    ($function:ident, $vector:ty, $(#[$feature:meta])?) => {
        $(#[$feature])?
        unsafe fn $function<
            const NON_TEMPORAL: bool,
            const WALKS: usize,
            const PREFETCH: bool,
        >(
            operation: StreamOperation,
            part: &mut ArraysPart<'_>,
        ) -> f64 {
            let style =
                AccessStyle { non_temporal: NON_TEMPORAL, walks: WALKS, prefetch: PREFETCH };
            // SAFETY: the caller has ensured that the CPU has the instruction set.
            unsafe { pass::<$vector>(operation, part, style) }
        }
    };
}

/// Defines one row.
macro_rules! row {
    ($isa:literal, $function:ident, $is_runnable:expr,
     $suffix:literal, $non_temporal:literal, $walks:literal, $prefetch:literal) => {
        StreamKernel {
            info: KernelInfo {
                name: concat!($isa, $suffix),
                isa: $isa,
                non_temporal: $non_temporal,
                walks: $walks,
                prefetch: $prefetch,
            },
            is_runnable: $is_runnable,
            pass: $function::<$non_temporal, $walks, $prefetch>,
        }
    };
}

/// Defines all rows of one instruction set.
macro_rules! rows {
    ($isa:literal, $function:ident, $is_runnable:expr) => {
        &[
            row!($isa, $function, $is_runnable, "-nt", true, 1, false),
            row!($isa, $function, $is_runnable, "-nt-2walks", true, 2, false),
            row!($isa, $function, $is_runnable, "-nt-4walks", true, 4, false),
            row!($isa, $function, $is_runnable, "-nt-8walks", true, 8, false),
            row!($isa, $function, $is_runnable, "-nt-prefetch", true, 1, true),
            row!($isa, $function, $is_runnable, "-nt-2walks-prefetch", true, 2, true),
            row!($isa, $function, $is_runnable, "-nt-4walks-prefetch", true, 4, true),
            row!($isa, $function, $is_runnable, "-nt-8walks-prefetch", true, 8, true),
            row!($isa, $function, $is_runnable, "", false, 1, false),
            row!($isa, $function, $is_runnable, "-2walks", false, 2, false),
            row!($isa, $function, $is_runnable, "-4walks", false, 4, false),
            row!($isa, $function, $is_runnable, "-8walks", false, 8, false),
            row!($isa, $function, $is_runnable, "-prefetch", false, 1, true),
            row!($isa, $function, $is_runnable, "-2walks-prefetch", false, 2, true),
            row!($isa, $function, $is_runnable, "-4walks-prefetch", false, 4, true),
            row!($isa, $function, $is_runnable, "-8walks-prefetch", false, 8, true),
        ]
    };
}

featured_pass!(portable, f64,);

/// Kernels of this architecture, the widest first.
static KERNELS: &[&[StreamKernel]] = &[
    #[cfg(target_arch = "x86_64")]
    x86_64::AVX512,
    #[cfg(target_arch = "x86_64")]
    x86_64::AVX2,
    #[cfg(target_arch = "x86_64")]
    x86_64::SSE2,
    #[cfg(target_arch = "aarch64")]
    aarch64::NEON,
    &[row!("portable", portable, || true, "", false, 1, false)],
];

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use core::arch::x86_64::{__m128d, __m256d, __m512d};

    use super::*;

    featured_pass!(avx512, __m512d, #[target_feature(enable = "avx512f")]);
    featured_pass!(avx2, __m256d, #[target_feature(enable = "avx2")]);
    featured_pass!(sse2, __m128d, #[target_feature(enable = "sse2")]);

    pub(super) static AVX512: &[StreamKernel] =
        rows!("avx512", avx512, || is_x86_feature_detected!("avx512f"));
    pub(super) static AVX2: &[StreamKernel] =
        rows!("avx2", avx2, || is_x86_feature_detected!("avx2"));
    pub(super) static SSE2: &[StreamKernel] =
        rows!("sse2", sse2, || is_x86_feature_detected!("sse2"));
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::super::vector::aarch64::NeonPair;
    use super::*;

    featured_pass!(neon, NeonPair, #[target_feature(enable = "neon")]);

    pub(super) static NEON: &[StreamKernel] =
        rows!("neon", neon, || std::arch::is_aarch64_feature_detected!("neon"));
}

/// Returns the kernels for this operation that this CPU can run, the widest first. A read pass
/// stores nothing, so the non-temporal rows would only repeat the others.
pub(super) fn runnable(
    operation: StreamOperation,
) -> impl Iterator<Item = &'static StreamKernel> {
    KERNELS
        .iter()
        .copied()
        .flatten()
        .filter(move |kernel| operation != StreamOperation::Read || !kernel.info.non_temporal)
        .filter(|kernel| (kernel.is_runnable)())
}

/// Returns the kernel of this name, if it supports the operation on this CPU.
pub(super) fn find(
    operation: StreamOperation,
    name: &str,
) -> Result<&'static StreamKernel, StreamError> {
    runnable(operation)
        .find(|kernel| kernel.info.name == name)
        .ok_or_else(|| StreamError::FindKernel { name: name.to_owned(), operation })
}
