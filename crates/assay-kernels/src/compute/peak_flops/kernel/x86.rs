//! Multiply-add chains for x86-64.

use std::arch::asm;

use super::ITERATIONS;

/// Defines a round of fused multiply-adds: each register of the list is one chain, `$gain` and `$one`
/// are the registers of the two factors.
macro_rules! fused_round {
    ($name:ident, $feature:literal, $number:ty, $lanes:literal, $bytes:literal,
     $add:literal, $load:literal, $clear:literal, $register:literal,
     $gain:literal, $one:literal, $chains:literal: [$($chain:literal)*]) => {
        #[target_feature(enable = $feature)]
        pub(super) fn $name() -> f64 {
            let gain: [$number; $lanes] = std::array::from_fn(|lane| (lane + 1) as $number);
            let one: [$number; $lanes] = [1.0; $lanes];
            let mut sums: [$number; $lanes * $chains] = [0.0; $lanes * $chains];
            // SAFETY: reads `gain` and `one` and writes `sums`, whose sizes are those of the loads and
            // stores; the vector registers it changes are caller-saved and declared as such.
            unsafe {
                asm!(
                    concat!($load, " ", $register, $gain, ", [{gain}]"),
                    concat!($load, " ", $register, $one, ", [{one}]"),
                    $(concat!($clear, " ", $register, $chain, ", ", $register, $chain, ", ",
                        $register, $chain),)*
                    ".p2align 5",
                    "2:",
                    $(concat!($add, " ", $register, $chain, ", ", $register, $gain, ", ",
                        $register, $one),)*
                    "dec rcx",
                    "jnz 2b",
                    $(concat!($load, " [{sums} + ", $bytes, "*", $chain, "], ", $register,
                        $chain),)*
                    gain = in(reg) gain.as_ptr(),
                    one = in(reg) one.as_ptr(),
                    sums = in(reg) sums.as_mut_ptr(),
                    inout("rcx") ITERATIONS => _,
                    clobber_abi("sysv64"),
                    options(nostack),
                );
            }
            sums.map(f64::from).iter().sum()
        }
    };
}

fused_round!(avx512_fp64, "avx512f", f64, 8, 64, "vfmadd231pd", "vmovupd", "vpxorq", "zmm",
    30, 31, 24: [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23]);
fused_round!(avx512_fp32, "avx512f", f32, 16, 64, "vfmadd231ps", "vmovups", "vpxorq", "zmm",
    30, 31, 24: [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23]);
fused_round!(avx2_fp64, "avx2,fma", f64, 4, 32, "vfmadd231pd", "vmovupd", "vxorpd", "ymm",
    14, 15, 12: [0 1 2 3 4 5 6 7 8 9 10 11]);
fused_round!(avx2_fp32, "avx2,fma", f32, 8, 32, "vfmadd231ps", "vmovups", "vxorps", "ymm",
    14, 15, 12: [0 1 2 3 4 5 6 7 8 9 10 11]);

/// Defines a round of separate adds and multiplies: registers 0 to 6 add, 7 to 13 multiply by one.
macro_rules! separate_round {
    ($name:ident, $number:ty, $lanes:literal, $add:literal, $multiply:literal, $load:literal,
     $clear:literal, [$($chain:literal $product:literal)*]) => {
        pub(super) fn $name() -> f64 {
            let gain: [$number; $lanes] = std::array::from_fn(|lane| (lane + 1) as $number);
            let one: [$number; $lanes] = [1.0; $lanes];
            let mut sums: [$number; $lanes * 14] = [0.0; $lanes * 14];
            // SAFETY: as for the fused round; SSE2 belongs to every x86-64 processor.
            unsafe {
                asm!(
                    concat!($load, " xmm14, [{gain}]"),
                    concat!($load, " xmm15, [{one}]"),
                    $(concat!($clear, " xmm", $chain, ", xmm", $chain),
                      concat!($load, " xmm", $product, ", [{gain}]"),)*
                    ".p2align 5",
                    "2:",
                    $(concat!($add, " xmm", $chain, ", xmm14"),
                      concat!($multiply, " xmm", $product, ", xmm15"),)*
                    "dec rcx",
                    "jnz 2b",
                    $(concat!($load, " [{sums} + 16*", $chain, "], xmm", $chain),
                      concat!($load, " [{sums} + 16*", $product, "], xmm", $product),)*
                    gain = in(reg) gain.as_ptr(),
                    one = in(reg) one.as_ptr(),
                    sums = in(reg) sums.as_mut_ptr(),
                    inout("rcx") ITERATIONS => _,
                    clobber_abi("sysv64"),
                    options(nostack),
                );
            }
            sums.map(f64::from).iter().sum()
        }
    };
}

separate_round!(sse2_fp64, f64, 2, "addpd", "mulpd", "movupd", "xorpd",
    [0 7 1 8 2 9 3 10 4 11 5 12 6 13]);
separate_round!(sse2_fp32, f32, 4, "addps", "mulps", "movups", "xorps",
    [0 7 1 8 2 9 3 10 4 11 5 12 6 13]);
