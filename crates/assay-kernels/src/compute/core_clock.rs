//! Real clock of busy cores, measured with a chain of dependent adds.
//!
//! Frequency files and `/proc/cpuinfo` show the values of a governor or a hypervisor; a guest often
//! sees only a nominal number. In a chain of adds in which each needs the result of the one before,
//! an add takes one cycle, so adds per second are cycles per second.
//!
//! clock = adds / time. Assumption: a dependent register-to-register integer add takes exactly one
//! cycle (true of x86-64 and `aarch64` server cores: Agner Fog's instruction tables, Arm's software
//! optimisation guides).
//!
//! Wide vectors lower the clock of some CPUs, so the adds are timed in short slices between bursts
//! of multiply-adds at full rate. The lower clock outlasts a burst by 0.67 ms (Intel 64 and IA-32
//! Architectures Optimization Reference Manual, "Intel AVX-512 frequency"), far longer than a
//! slice, and the adds never compete with the multiply-adds for a port. Time taken by the
//! hypervisor, an interrupt or another process makes single slices longer; the median of a thread's slices is not
//! affected unless more than half of them are. Unit: Hz. Never reads a model name.
//!
//! The bursts are timed, too: operations of a burst / median time of a burst / clock = FLOP/cycle, which other
//! processes do not affect for the same reason.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use std::arch::asm;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::barrier::CachePadded;
use crate::clock;
use crate::compute::isa::Isa;
use crate::compute::peak_flops::Precision;
use crate::compute::peak_flops::kernel::PeakKernel;
use crate::timed::TimedTeam;

/// Adds per turn of the loop: enough to hide the counting and the branch, which run in parallel to
/// the chain.
const ADDS_PER_TURN: u64 = 16;
/// Turns per slice: 16 × 8000 adds are 30 to 60 µs at 2 to 4 GHz, a thousand times the cost of
/// reading the clock.
const TURNS: u64 = 8000;
/// Slices per repetition: with bursts of 0.3 to 0.8 ms, a repetition takes 10 to 30 ms.
const SLICES: usize = 33;
/// Longest accepted burst: on a core a burst takes less than a millisecond. On emulated cores, 16
/// on two, a repetition took some 20 s, for a clock that they do not have.
const MAX_BURST_S: f64 = 0.1;

/// CPUs to measure, and their load.
#[derive(Debug, Clone)]
pub struct CoreClockConfig {
    /// CPUs by Linux's numbers, all of them busy at the same time.
    pub cpus: Vec<usize>,
    /// Instruction set of the multiply-adds between the slices; `None` leaves them out.
    pub load: Option<Isa>,
}

/// Result of one repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreClockSample {
    /// Seconds from the common start to the end of the last thread.
    pub seconds: f64,
    /// Clock of each CPU in Hz, in the order of the configuration.
    pub clocks_hz: Vec<f64>,
    /// FLOP/cycle of the bursts in each of [`BURST_PRECISIONS`], as the mean over the CPUs; `None` without load.
    pub flop_per_cycle: Option<[f64; 2]>,
}

/// Precisions of the bursts, in turn.
pub const BURST_PRECISIONS: [Precision; 2] = [Precision::Fp64, Precision::Fp32];

/// Median times of one thread in ns.
#[derive(Debug, Default)]
struct ThreadTimes {
    slice: AtomicU64,
    bursts: [AtomicU64; 2],
}

/// Pinned threads, ready to run the chain.
#[derive(Debug)]
pub struct CoreClock {
    team: TimedTeam,
    load: Option<[PeakKernel; 2]>,
    times_ns: Vec<CachePadded<ThreadTimes>>,
}

impl CoreClock {
    /// Starts and pins the threads.
    ///
    /// # Errors
    /// No CPU given, an unavailable CPU, a load or an architecture without its own kernel
    /// ([`io::ErrorKind::Unsupported`]), or a load that takes far longer than on a core
    /// ([`io::ErrorKind::TimedOut`]).
    pub fn prepare(config: &CoreClockConfig) -> io::Result<Self> {
        let load = config.load.map(find_kernels).transpose()?;
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let team = TimedTeam::new(&config.cpus)?;
        let times_ns = config.cpus.iter().map(|_| CachePadded::default()).collect();
        let mut clock = Self { team, load, times_ns };
        if let Some([load, _]) = load {
            let burst_s = clock.team.pass(|_| _ = std::hint::black_box(load.run()));
            if burst_s > MAX_BURST_S {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        // The first turns raise the clock from idle and power the wide vector units.
        clock.repetition();
        Ok(clock)
    }

    /// Runs bursts and slices on all CPUs at the same time; 10 to 30 ms.
    pub fn repetition(&mut self) -> CoreClockSample {
        let (load, thread_times) = (self.load, &self.times_ns);
        let seconds = self.team.pass(|member| {
            let mut slices_ns = [0; SLICES];
            let mut bursts_ns = [[0; SLICES.div_ceil(2)]; 2];
            for (at, slice_ns) in slices_ns.iter_mut().enumerate() {
                if let Some(kernels) = load {
                    bursts_ns[at % 2][at / 2] =
                        time_ns(|| _ = std::hint::black_box(kernels[at % 2].run()));
                }
                *slice_ns = time_ns(|| run_add_chain(TURNS));
            }
            let times = &thread_times[member].0;
            times.slice.store(median_ns(&mut slices_ns), Ordering::Relaxed);
            for (at, median) in times.bursts.iter().enumerate() {
                // The second precision has one burst less.
                let count = (SLICES - at).div_ceil(2);
                median.store(median_ns(&mut bursts_ns[at][..count]), Ordering::Relaxed);
            }
        });
        let clocks_hz: Vec<f64> = thread_times.iter().map(|it| it.0.clock_hz()).collect();
        let flop_per_cycle = load.map(|kernels| {
            [0, 1].map(|at| {
                let flops = kernels[at].flops_per_turn();
                let all = thread_times.iter().map(|it| it.0.flop_per_cycle(at, flops));
                all.sum::<f64>() / thread_times.len() as f64
            })
        });
        CoreClockSample { seconds, clocks_hz, flop_per_cycle }
    }
}

impl ThreadTimes {
    fn clock_hz(&self) -> f64 {
        (TURNS * ADDS_PER_TURN) as f64 / self.slice.load(Ordering::Relaxed) as f64 * 1e9
    }

    /// Returns the FLOP/cycle of bursts of this many operations.
    fn flop_per_cycle(&self, precision: usize, flops: f64) -> f64 {
        let burst_s = self.bursts[precision].load(Ordering::Relaxed) as f64 * 1e-9;
        flops / burst_s / self.clock_hz()
    }
}

fn find_kernels(isa: Isa) -> io::Result<[PeakKernel; 2]> {
    let [double, single] = BURST_PRECISIONS.map(|precision| PeakKernel::find(isa, precision));
    double.zip(single).map(Into::into).ok_or(io::ErrorKind::Unsupported.into())
}

fn time_ns(work: impl FnOnce()) -> u64 {
    let start_ns = clock::now_ns();
    work();
    clock::now_ns() - start_ns
}

/// Returns the median, at least 1.
fn median_ns(times_ns: &mut [u64]) -> u64 {
    times_ns.sort_unstable();
    times_ns[times_ns.len() / 2].max(1)
}

/// Runs the chain of 16 dependent adds per turn.
#[cfg(target_arch = "x86_64")]
fn run_add_chain(turns: u64) {
    // SAFETY: only the declared registers change.
    unsafe {
        asm!(
            ".p2align 5",
            "2:",
            "add {sum}, {step}", "add {sum}, {step}", "add {sum}, {step}", "add {sum}, {step}",
            "add {sum}, {step}", "add {sum}, {step}", "add {sum}, {step}", "add {sum}, {step}",
            "add {sum}, {step}", "add {sum}, {step}", "add {sum}, {step}", "add {sum}, {step}",
            "add {sum}, {step}", "add {sum}, {step}", "add {sum}, {step}", "add {sum}, {step}",
            "dec {turns}",
            "jnz 2b",
            sum = inout(reg) 0_u64 => _,
            step = in(reg) 3_u64,
            turns = inout(reg) turns => _,
            options(nostack, nomem),
        );
    }
}

/// Runs the chain of 16 dependent adds per turn.
#[cfg(target_arch = "aarch64")]
fn run_add_chain(turns: u64) {
    // SAFETY: only the declared registers change.
    unsafe {
        asm!(
            ".p2align 5",
            "2:",
            "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}",
            "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}",
            "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}",
            "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}",
            "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}", "add {sum}, {sum}, {step}",
            "add {sum}, {sum}, {step}",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            sum = inout(reg) 0_u64 => _,
            step = in(reg) 3_u64,
            turns = inout(reg) turns => _,
            options(nostack, nomem),
        );
    }
}

/// Does nothing: other architectures have no chain, and [`CoreClock::prepare`] returns an error
/// there.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn run_add_chain(_turns: u64) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pin;

    #[test]
    fn measures_clock_of_every_cpu() {
        let cpus = pin::allowed_cpus().unwrap();
        for load in Isa::available().into_iter().map(Some).chain([None]) {
            let config = CoreClockConfig { cpus: cpus.clone(), load };
            let mut clock = match CoreClock::prepare(&config) {
                Ok(clock) => clock,
                // An emulated core, or one shared by many guests.
                Err(error) if error.kind() == io::ErrorKind::TimedOut => continue,
                Err(error) => panic!("{load:?} {error}"),
            };
            let sample = clock.repetition();
            assert_eq!(sample.clocks_hz.len(), cpus.len());
            // Not a claim about speed: between a thousandth and a thousand times any real clock.
            let real = |hz: &f64| (1e6..1e12).contains(hz);
            assert!(sample.clocks_hz.iter().all(real), "{load:?} {sample:?}");
            assert_eq!(sample.flop_per_cycle.is_some(), load.is_some());
            let positive = |it: &f64| *it > 0.0 && it.is_finite();
            assert!(
                sample.flop_per_cycle.iter().flatten().all(positive),
                "{load:?} {sample:?}"
            );
        }
    }

    #[test]
    fn rejects_foreign_instruction_sets_and_bad_cpus() {
        let foreign = if cfg!(target_arch = "x86_64") { Isa::Neon } else { Isa::Avx2 };
        for (cpus, load) in [(vec![0], Some(foreign)), (vec![usize::MAX], None), (vec![], None)]
        {
            assert!(CoreClock::prepare(&CoreClockConfig { cpus, load }).is_err());
        }
    }
}
