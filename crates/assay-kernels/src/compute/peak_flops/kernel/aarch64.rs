//! Multiply-add chains for `aarch64`.

use std::arch::asm;

use super::ITERATIONS;

/// Defines a round of fused multiply-adds: each register of the list is one chain, v6 and v7 are
/// the two factors. Registers v8 to v15 are not used, because they are callee-saved.
macro_rules! fused_round {
    ($name:ident, $number:ty, $lanes:literal, $shape:literal, [$($chain:literal)*]) => {
        pub(super) fn $name() -> f64 {
            const CHAINS: usize = [$($chain),*].len();
            let gain: [$number; $lanes] = std::array::from_fn(|lane| (lane + 1) as $number);
            let one: [$number; $lanes] = [1.0; $lanes];
            let mut sums: [$number; $lanes * CHAINS] = [0.0; $lanes * CHAINS];
            // SAFETY: reads `gain` and `one` and writes `sums`, whose sizes are those of the loads and
            // stores; the vector registers it changes are caller-saved and declared as such.
            unsafe {
                asm!(
                    "ldr q6, [{gain}]",
                    "ldr q7, [{one}]",
                    $(concat!("movi v", $chain, ".2d, #0"),)*
                    ".p2align 5",
                    "2:",
                    $(concat!("fmla v", $chain, $shape, ", v6", $shape, ", v7", $shape),)*
                    "subs x9, x9, #1",
                    "b.ne 2b",
                    $(concat!("str q", $chain, ", [x10], #16"),)*
                    gain = in(reg) gain.as_ptr(),
                    one = in(reg) one.as_ptr(),
                    inout("x10") sums.as_mut_ptr() => _,
                    inout("x9") ITERATIONS => _,
                    clobber_abi("C"),
                    options(nostack),
                );
            }
            sums.map(f64::from).iter().sum()
        }
    };
}

fused_round!(neon_fp64, f64, 2, ".2d",
    [0 1 2 3 4 5 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31]);
fused_round!(neon_fp32, f32, 4, ".4s",
    [0 1 2 3 4 5 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31]);
