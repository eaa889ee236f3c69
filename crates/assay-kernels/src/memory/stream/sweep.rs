//! Read bandwidth of working sets that fit a cache: each thread sums a buffer of its own again and
//! again within one timed pass.
//!
//! Vectors of the widest instruction set are added into independent sums, as in STREAM's read pass, but
//! the sums stay in registers over all walks: a set of a first-level cache is read in a hundred cycles.
//! All elements are 1, so that the sum of a thread is the number of elements that it read.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use assay_model::poisoned_lock::PoisonedLock as _;

use super::error::StreamError;
use super::vector::StreamVector;
use crate::barrier::CachePadded;
use crate::mapping::{Mapping, PageAdvice};
use crate::timed::TimedTeam;

/// Independent sums, so that an addition never waits for another: two each cycle of four cycles.
const SUMS: usize = 8;
/// Granularity of a set: all sums of the largest vector.
const STEP_BYTES: usize = SUMS * 64;
/// Minimum length of a repetition: long compared with the start of a team, tens of microseconds.
const REPETITION_S: f64 = 2e-3;
/// Elements that a thread fills between two checks for a cancellation: 4 MiB.
const FILL_ELEMENTS: usize = 512 << 10;
/// Passes in a row that must be long enough, since an interruption makes one long.
const CALIBRATION_PASSES: usize = 3;

/// Buffers to read, and their CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadSweepConfig {
    /// CPUs, with one thread pinned to each entry.
    pub cpus: Vec<usize>,
    /// Size of the buffer of each thread; rounded down to multiples of 512 B, at least one.
    pub bytes_per_thread: usize,
    /// Whether to request huge pages.
    pub huge_pages: bool,
}

/// Pinned threads with a buffer each.
#[derive(Debug)]
pub struct ReadSweep {
    team: TimedTeam,
    buffers: Vec<Mapping>,
    sums: Vec<CachePadded<AtomicU64>>,
    kernel: &'static SweepKernel,
    walks: usize,
}

impl ReadSweep {
    /// Starts the threads, which fill their buffers, and determines the number of walks of a
    /// repetition. On a busy machine each of its passes may take many time slices, so that `cancel` is
    /// checked before each.
    ///
    /// # Errors
    /// [`StreamError`]: a CPU or memory is unavailable, a sum is wrong, or it was cancelled.
    pub fn prepare(config: &ReadSweepConfig, cancel: &AtomicBool) -> Result<Self, StreamError> {
        let mut team = TimedTeam::new(&config.cpus).map_err(StreamError::StartTeam)?;
        let advice = PageAdvice::from_huge_pages(config.huge_pages);
        let bytes = (config.bytes_per_thread / STEP_BYTES).max(1) * STEP_BYTES;
        let map = |_: &usize| Mapping::new(bytes, advice).map_err(StreamError::MapArray);
        let mut buffers = config.cpus.iter().map(map).collect::<Result<Vec<_>, _>>()?;
        let unfilled: Vec<_> = buffers.iter_mut().map(Mutex::new).collect();
        team.team().run(|member| {
            let mut buffer = unfilled[member].lock().even_if_poisoned();
            for part in buffer.as_mut_slice::<f64>().chunks_mut(FILL_ELEMENTS) {
                if !cancel.load(Ordering::Relaxed) {
                    part.fill(1.0);
                }
            }
        });
        drop(unfilled);
        let sums = config.cpus.iter().map(|_| CachePadded::default()).collect();
        let mut sweep = Self { team, buffers, sums, kernel: widest_kernel(), walks: 1 };
        sweep.walks = calibrate(|walks| {
            if cancel.load(Ordering::Relaxed) {
                return Err(StreamError::Cancelled);
            }
            sweep.walks = walks;
            sweep.pass_s()
        })?;
        Ok(sweep)
    }

    /// Returns the instruction set of the loads.
    pub fn isa(&self) -> &'static str {
        self.kernel.isa
    }

    /// Reads all buffers. Returns the bytes read by all threads over the time from the first start
    /// to the last end.
    ///
    /// # Errors
    /// [`StreamError::WrongSum`] when a thread has not read every element in every walk.
    pub fn repetition(&mut self) -> Result<f64, StreamError> {
        let bytes = self.buffers.iter().map(Mapping::len_bytes).sum::<usize>() * self.walks;
        Ok(bytes as f64 / self.pass_s()?)
    }

    fn pass_s(&mut self) -> Result<f64, StreamError> {
        let Self { team, buffers, sums, kernel, walks } = self;
        let seconds = team.pass(|member| {
            let buffer = buffers[member].as_slice::<f64>();
            // SAFETY: `widest_kernel` returns only kernels whose instructions this CPU has, and
            // the buffer is a multiple of all sums and aligned to its page.
            let sum = unsafe { (kernel.sum)(buffer, *walks) };
            sums[member].0.store(sum.to_bits(), Ordering::Relaxed);
        });
        for (thread, sum) in sums.iter().enumerate() {
            let found = f64::from_bits(sum.0.load(Ordering::Relaxed));
            let expected = (buffers[thread].as_slice::<f64>().len() * *walks) as f64;
            // Whole numbers below 2⁵³ are exact.
            if (found - expected).abs() >= 1.0 {
                return Err(StreamError::WrongSum { thread, found, expected });
            }
        }
        Ok(seconds)
    }
}

/// Returns the number of walks whose passes, by the time that `pass_s` returns, are long enough.
fn calibrate(
    mut pass_s: impl FnMut(usize) -> Result<f64, StreamError>,
) -> Result<usize, StreamError> {
    let (mut walks, mut long_passes) = (1, 0);
    while long_passes < CALIBRATION_PASSES {
        if pass_s(walks)? >= REPETITION_S {
            long_passes += 1;
        } else {
            (walks, long_passes) = (2 * walks, 0);
        }
    }
    Ok(walks)
}

/// Row of the table: instruction set, check whether this CPU has it, and the code.
#[derive(Debug)]
struct SweepKernel {
    isa: &'static str,
    is_runnable: fn() -> bool,
    sum: unsafe fn(&[f64], usize) -> f64,
}

/// Kernels of this architecture, the widest first.
static KERNELS: &[SweepKernel] = &[
    #[cfg(target_arch = "x86_64")]
    SweepKernel {
        isa: "avx512",
        is_runnable: || is_x86_feature_detected!("avx512f"),
        sum: sum_avx512,
    },
    #[cfg(target_arch = "x86_64")]
    SweepKernel {
        isa: "avx2",
        is_runnable: || is_x86_feature_detected!("avx2"),
        sum: sum_avx2,
    },
    #[cfg(target_arch = "aarch64")]
    SweepKernel {
        isa: "neon",
        is_runnable: || std::arch::is_aarch64_feature_detected!("neon"),
        sum: sum_neon,
    },
    SweepKernel { isa: "portable", is_runnable: || true, sum: sum_portable },
];

fn widest_kernel() -> &'static SweepKernel {
    let found = KERNELS.iter().find(|kernel| (kernel.is_runnable)());
    found.expect("the portable kernel runs everywhere")
}

/// Defines the sum with an instruction set's feature.
macro_rules! featured_sum {
    ($function:ident, $vector:ty $(, #[$feature:meta])?) => {
        $(#[$feature])?
        unsafe fn $function(buffer: &[f64], walks: usize) -> f64 {
            // SAFETY: the caller has ensured that the CPU has the instruction set.
            unsafe { sum_walks::<$vector>(buffer, walks) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
featured_sum!(sum_avx512, core::arch::x86_64::__m512d, #[target_feature(enable = "avx512f")]);
#[cfg(target_arch = "x86_64")]
featured_sum!(sum_avx2, core::arch::x86_64::__m256d, #[target_feature(enable = "avx2")]);
#[cfg(target_arch = "aarch64")]
featured_sum!(
    sum_neon,
    super::vector::aarch64::NeonPair,
    #[target_feature(enable = "neon")]
);
featured_sum!(sum_portable, f64);

/// Sums the buffer `walks` times.
///
/// # Safety
/// The CPU must have the instructions of `V`; the buffer must be a multiple of [`STEP_BYTES`] and
/// aligned to a cache line.
#[inline(always)]
unsafe fn sum_walks<V: StreamVector>(buffer: &[f64], walks: usize) -> f64 {
    let from = buffer.as_ptr();
    // SAFETY: the caller vouches for the CPU.
    let mut sums = unsafe { [V::splat(0.0); SUMS] };
    for _ in 0..walks {
        for at in (0..buffer.len()).step_by(SUMS * V::LANES) {
            for (k, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the caller vouches for the length, a multiple of all sums.
                unsafe { *sum = sum.add(V::load(from.add(at + k * V::LANES))) };
            }
        }
    }
    // SAFETY: the caller vouches for the CPU.
    sums.iter().map(|sum| unsafe { sum.total() }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pin;

    #[test]
    fn cancelled_preparation_ends() {
        let cpus = vec![pin::allowed_cpus().unwrap()[0]];
        let config = ReadSweepConfig { cpus, bytes_per_thread: 1 << 20, huge_pages: false };
        let outcome = ReadSweep::prepare(&config, &AtomicBool::new(true));
        assert!(matches!(outcome, Err(StreamError::Cancelled)), "{outcome:?}");
    }

    #[test]
    fn every_kernel_reads_every_element() {
        let mut buffer = Mapping::new(3 * STEP_BYTES, PageAdvice::Default).unwrap();
        buffer.as_mut_slice::<f64>().fill(1.0);
        for kernel in KERNELS.iter().filter(|kernel| (kernel.is_runnable)()) {
            // SAFETY: the CPU has the instructions, and the buffer is a multiple of a step.
            let sum = unsafe { (kernel.sum)(buffer.as_slice(), 5) };
            assert_eq!(sum.to_bits(), (5.0 * 3.0 * 64.0_f64).to_bits(), "{}", kernel.isa);
        }
    }

    /// Passes of 1 µs for each walk, of which the first two and the last short one are interrupted.
    #[test]
    fn interrupted_passes_do_not_end_the_calibration() {
        let mut passes = 0;
        let walks = calibrate(|walks| {
            passes += 1;
            let is_interrupted = [1, 2, 12].contains(&passes);
            Ok(walks as f64 * 1e-6 + if is_interrupted { 5e-3 } else { 0.0 })
        });
        assert_eq!(walks.unwrap(), 2048);
    }

    #[test]
    fn wrong_sum_is_an_error() {
        let cpus = pin::allowed_cpus().unwrap();
        let config = ReadSweepConfig { cpus, bytes_per_thread: 5000, huge_pages: false };
        let mut sweep = ReadSweep::prepare(&config, &AtomicBool::new(false)).unwrap();
        assert!(sweep.repetition().unwrap() > 0.0);
        assert_eq!(sweep.buffers[0].len_bytes(), 9 * STEP_BYTES);
        sweep.buffers[0].as_mut_slice::<f64>()[7] = 2.0;
        let refused = sweep.repetition();
        assert!(matches!(refused, Err(StreamError::WrongSum { thread: 0, .. })), "{refused:?}");
    }
}
