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
//! hypervisor or an interrupt makes single slices longer; the median of a thread's slices is not
//! affected unless more than half of them are. Unit: Hz. Never reads a model name.

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
}

/// Pinned threads, ready to run the chain.
#[derive(Debug)]
pub struct CoreClock {
    team: TimedTeam,
    load: Option<PeakKernel>,
    times_ns: Vec<CachePadded<AtomicU64>>,
}

impl CoreClock {
    /// Starts and pins the threads.
    ///
    /// # Errors
    /// No CPU given, an unavailable CPU, a load or an architecture without its own kernel
    /// ([`io::ErrorKind::Unsupported`]), or a load that takes far longer than on a core
    /// ([`io::ErrorKind::TimedOut`]).
    pub fn prepare(config: &CoreClockConfig) -> io::Result<Self> {
        let kernel =
            |isa| PeakKernel::find(isa, Precision::Fp64).ok_or(io::ErrorKind::Unsupported);
        let load = config.load.map(kernel).transpose()?;
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let team = TimedTeam::new(&config.cpus)?;
        let times_ns = config.cpus.iter().map(|_| CachePadded::default()).collect();
        let mut clock = Self { team, load, times_ns };
        if let Some(load) = load {
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
        let (load, times_ns) = (self.load, &self.times_ns);
        let seconds = self.team.pass(|member| {
            let mut slices_ns = [0; SLICES];
            for slice_ns in &mut slices_ns {
                if let Some(load) = load {
                    std::hint::black_box(load.run());
                }
                let start_ns = clock::now_ns();
                run_add_chain(TURNS);
                *slice_ns = clock::now_ns() - start_ns;
            }
            slices_ns.sort_unstable();
            times_ns[member].0.store(slices_ns[SLICES / 2].max(1), Ordering::Relaxed);
        });
        let adds = (TURNS * ADDS_PER_TURN) as f64;
        let clock_hz = |time_ns: &CachePadded<AtomicU64>| {
            adds / time_ns.0.load(Ordering::Relaxed) as f64 * 1e9
        };
        CoreClockSample { seconds, clocks_hz: times_ns.iter().map(clock_hz).collect() }
    }
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
