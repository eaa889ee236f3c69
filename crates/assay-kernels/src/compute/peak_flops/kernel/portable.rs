//! Multiply-add chains in plain Rust. The result measures the machine code that the compiler
//! generates, which differs between machines. The operands are hidden from the compiler so that it
//! cannot compute the result.

use std::hint::black_box;

use super::ITERATIONS;

const CHAINS: usize = 8;

macro_rules! portable_round {
    ($name:ident, $number:ty) => {
        pub(super) fn $name() -> f64 {
            let (gain, one): ($number, $number) = (black_box(1.0), black_box(1.0));
            let mut sums = [black_box(0.0); CHAINS];
            let mut products = [black_box(1.0); CHAINS];
            for _ in 0..ITERATIONS {
                sums = sums.map(|sum: $number| sum + gain);
                products = products.map(|product: $number| product * one);
            }
            let total = |chains: [$number; CHAINS]| chains.map(f64::from).iter().sum::<f64>();
            total(black_box(sums)) + total(black_box(products))
        }
    };
}

portable_round!(portable_fp64, f64);
portable_round!(portable_fp32, f32);
