//! Instruction sets of the floating-point kernels, and their detection on this CPU.
//!
//! Detected from the processor's feature flags, never from a list of models.

use std::fmt;

/// Instruction set that has its own kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isa {
    /// x86-64 with AVX-512F: 8 doubles per vector, fused multiply-add.
    Avx512,
    /// x86-64 with AVX2 and FMA: 4 doubles per vector, fused multiply-add.
    Avx2,
    /// Any x86-64: 2 doubles per vector, separate multiply and add.
    Sse2,
    /// Any `aarch64`: 2 doubles per vector, fused multiply-add.
    Neon,
    /// Plain Rust, as the compiler translates it: the fallback everywhere.
    Portable,
}

impl Isa {
    /// All instruction sets, widest first.
    pub const ALL: [Self; 5] =
        [Self::Avx512, Self::Avx2, Self::Sse2, Self::Neon, Self::Portable];

    /// Returns the instruction sets this CPU can run, best first; `Portable` is always the last.
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|isa| isa.is_available()).collect()
    }

    /// Returns the best instruction set this CPU can run.
    pub fn best() -> Self {
        Self::available()[0]
    }

    /// Whether this CPU and this system support the instruction set.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => std::arch::is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma")
            }
            // Part of the base instruction set of every x86-64 processor.
            Self::Sse2 => cfg!(target_arch = "x86_64"),
            // Part of the base instruction set of every `aarch64` processor that runs Linux.
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Portable => true,
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
        }
    }

    /// Returns the name as it is stored and printed, never localised.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Sse2 => "sse2",
            Self::Neon => "neon",
            Self::Portable => "portable",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_is_always_available_and_last() {
        let available = Isa::available();
        assert_eq!(available.last(), Some(&Isa::Portable));
        assert_eq!(available[0], Isa::best());
        assert_eq!(available.contains(&Isa::Sse2), cfg!(target_arch = "x86_64"));
        assert_eq!(available.contains(&Isa::Neon), cfg!(target_arch = "aarch64"));
    }

    #[test]
    fn names_are_distinct() {
        let names: std::collections::HashSet<_> = Isa::ALL.map(Isa::name).into();
        assert_eq!(names.len(), Isa::ALL.len());
    }
}
