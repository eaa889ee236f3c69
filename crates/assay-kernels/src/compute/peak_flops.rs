//! Multiply-add peak: floating-point operations per second that the registers allow.
//!
//! Independent chains of multiply-adds run in registers, enough of them to hide the instruction's
//! latency, so that only the number and width of the pipes counts. The loop never accesses memory.
//! The chains' sums are known exactly, and a wrong one is an error: a wrong result is no valid
//! peak.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::barrier::CachePadded;
use crate::compute::isa::Isa;
use crate::timed::TimedTeam;

pub(super) mod kernel;

use kernel::{ITERATIONS, PeakKernel};

/// Length of one repetition: long compared with the clock's cost and the start line (under 1 µs
/// each), short compared with a budget of seconds.
const REPETITION_S: f64 = 0.03;

/// Width of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// IEEE 754 binary64, `double`.
    Fp64,
    /// IEEE 754 binary32, `float`.
    Fp32,
}

impl Precision {
    /// Returns the name as it is stored and printed, never localised.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fp64 => "fp64",
            Self::Fp32 => "fp32",
        }
    }
}

/// CPUs, precision and instruction set to measure.
#[derive(Debug, Clone)]
pub struct PeakConfig {
    /// CPUs by Linux's numbers, one thread pinned to each.
    pub cpus: Vec<usize>,
    /// Width of the numbers.
    pub precision: Precision,
    /// Instruction set of the chains.
    pub isa: Isa,
}

/// Result of one repetition on all CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakSample {
    /// Seconds from the common start to the end of the last thread.
    pub seconds: f64,
    /// Floating-point operations of all threads; a fused multiply-add counts as two.
    pub flops: f64,
}

/// Reason there is no peak.
#[derive(Debug, thiserror::Error)]
pub enum PeakError {
    /// This CPU lacks the instruction set.
    #[error("this CPU cannot run {isa} instructions")]
    Isa {
        /// Requested instruction set.
        isa: Isa,
    },
    /// The threads could not be started or pinned.
    #[error("cannot start the threads of the peak measurement")]
    Team(#[source] io::Error),
    /// A CPU computed a sum other than the known one.
    #[error("CPU {cpu} computed a sum of {got} instead of {expected} with {isa}")]
    WrongSum {
        /// Number of the CPU.
        cpu: usize,
        /// Instruction set in use.
        isa: Isa,
        /// Computed sum.
        got: f64,
        /// Sum that every turn must return.
        expected: f64,
    },
}

/// Pinned threads, ready to run the chains.
#[derive(Debug)]
pub struct Peak {
    cpus: Vec<usize>,
    isa: Isa,
    kernel: PeakKernel,
    team: TimedTeam,
    /// Last wrong sum of each member, as bits; 0 if none.
    wrong: Vec<CachePadded<AtomicU64>>,
    turns: u64,
}

impl Peak {
    /// Starts and pins the threads, and determines the number of turns for a repetition of about 30
    /// ms.
    ///
    /// # Errors
    /// [`PeakError`]: the instruction set or a CPU is unavailable, or a sum is wrong.
    pub fn prepare(config: &PeakConfig) -> Result<Self, PeakError> {
        let kernel = PeakKernel::find(config.isa, config.precision)
            .ok_or(PeakError::Isa { isa: config.isa })?;
        let team = TimedTeam::new(&config.cpus).map_err(PeakError::Team)?;
        let wrong = config.cpus.iter().map(|_| CachePadded::default()).collect();
        let cpus = config.cpus.clone();
        let mut peak = Self { cpus, isa: config.isa, kernel, team, wrong, turns: 1 };
        // Doubling also warms up: wide vector units of some CPUs are powered up only when used.
        let mut seconds = peak.repetition()?.seconds;
        while seconds < REPETITION_S {
            let wanted = (REPETITION_S / seconds.max(1e-6)).ceil().clamp(2.0, 8.0);
            peak.turns *= wanted as u64;
            seconds = peak.repetition()?.seconds;
        }
        Ok(peak)
    }

    /// Runs the chains once on all CPUs at the same time.
    ///
    /// # Errors
    /// [`PeakError::WrongSum`], which is not a measurement.
    pub fn repetition(&mut self) -> Result<PeakSample, PeakError> {
        let (kernel, turns, wrong) = (&self.kernel, self.turns, &self.wrong);
        let expected = kernel.expected_sum();
        let seconds = self.team.pass(|member| {
            for _ in 0..turns {
                let sum = kernel.run();
                if sum.to_bits() != expected.to_bits() {
                    wrong[member].0.store(sum.to_bits(), Ordering::Relaxed);
                }
            }
        });
        self.check_sums(expected)?;
        let rounds_of_all = (turns * self.cpus.len() as u64 * ITERATIONS) as f64;
        Ok(PeakSample { seconds, flops: rounds_of_all * kernel.flops_per_iteration() })
    }

    fn check_sums(&self, expected: f64) -> Result<(), PeakError> {
        for (wrong, &cpu) in self.wrong.iter().zip(&self.cpus) {
            let bits = wrong.0.load(Ordering::Relaxed);
            if bits != 0 {
                let got = f64::from_bits(bits);
                return Err(PeakError::WrongSum { cpu, isa: self.isa, got, expected });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pin;

    fn config(isa: Isa, precision: Precision) -> PeakConfig {
        PeakConfig { cpus: pin::allowed_cpus().unwrap(), precision, isa }
    }

    #[test]
    fn runs_every_instruction_set() {
        for isa in Isa::available() {
            for precision in [Precision::Fp64, Precision::Fp32] {
                let mut peak = Peak::prepare(&config(isa, precision)).unwrap();
                let sample = peak.repetition().unwrap();
                assert!(sample.seconds > 0.0 && sample.flops > 0.0, "{isa} {sample:?}");
            }
        }
    }

    #[test]
    fn wrong_sum_error_names_the_cpu() {
        let mut peak = Peak::prepare(&config(Isa::Portable, Precision::Fp64)).unwrap();
        let last = peak.cpus.len() - 1;
        peak.wrong[last].0.store(7.0_f64.to_bits(), Ordering::Relaxed);
        let message = peak.repetition().unwrap_err().to_string();
        assert!(message.contains(&format!("CPU {}", peak.cpus[last])), "{message}");
    }

    #[test]
    fn rejects_missing_instruction_sets_and_cpus() {
        let foreign = if cfg!(target_arch = "x86_64") { Isa::Neon } else { Isa::Avx2 };
        let refused = Peak::prepare(&config(foreign, Precision::Fp64)).unwrap_err();
        assert!(matches!(refused, PeakError::Isa { isa } if isa == foreign));
        let nowhere = PeakConfig {
            cpus: vec![usize::MAX],
            precision: Precision::Fp64,
            isa: Isa::Portable,
        };
        assert!(matches!(Peak::prepare(&nowhere), Err(PeakError::Team(_))));
    }
}
