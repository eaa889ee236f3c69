//! The clock the cores really run at while they are busy, from a chain of dependent adds.
//!
//! Frequency files and `/proc/cpuinfo` show what a governor or a hypervisor says; a guest often sees
//! nothing but a nominal number. A chain of adds in which each needs the result of the one before takes
//! one cycle per add, so adds per second are cycles per second.
//!
//! clock = adds / time. Assumptions: a dependent register-to-register integer add takes exactly one cycle
//! (true of x86-64 and `aarch64` server cores: Agner Fog's instruction tables, Arm's software optimisation
//! guides), and no cycle is taken away by the hypervisor or an interrupt meanwhile; what is taken away
//! makes the result too low, never too high. Therefore take the largest of several repetitions.
//! Unit: Hz. Never reads a model name.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use std::arch::asm;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::barrier::OwnLines;
use crate::clock;
use crate::compute::isa::Isa;
use crate::timed::TimedTeam;

/// Adds per turn of the loop: enough that its counting and branch, which run beside the chain, are
/// hidden in it.
const ADDS_PER_TURN: u64 = 16;
/// Turns per repetition: 16 × 5·10⁶ adds are 20 to 40 ms at 2 to 4 GHz.
const TURNS: u64 = 5_000_000;

/// What to measure.
#[derive(Debug, Clone)]
pub struct CoreClockConfig {
    /// CPUs by Linux's numbers, all of them busy at the same time.
    pub cpus: Vec<usize>,
    /// Vector multiply-adds that keep the floating-point pipes about 3/4 busy meanwhile, because wide
    /// vectors lower the clock of some CPUs. Only `Avx512` and `Avx2` do; the others and `None` run the
    /// adds alone.
    pub load: Option<Isa>,
}

/// One repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreClockSample {
    /// From the common start to the last thread's end, in seconds.
    pub seconds: f64,
    /// The clock of each CPU in Hz, in the order of the configuration.
    pub clocks_hz: Vec<f64>,
}

/// Pinned threads, ready to run the chain.
#[derive(Debug)]
pub struct CoreClock {
    team: TimedTeam,
    chain: fn(u64),
    times_ns: Vec<OwnLines<AtomicU64>>,
}

impl CoreClock {
    /// Starts and pins the threads.
    ///
    /// # Errors
    /// No CPU given, one that cannot be had, or an architecture or load without its own chain
    /// ([`io::ErrorKind::Unsupported`]).
    pub fn prepare(config: &CoreClockConfig) -> io::Result<Self> {
        let chain = chain(config.load).ok_or(io::ErrorKind::Unsupported)?;
        let team = TimedTeam::new(&config.cpus)?;
        let times_ns = config.cpus.iter().map(|_| OwnLines::default()).collect();
        let mut clock = Self { team, chain, times_ns };
        // The first turns raise the clock from idle and power the wide vector units.
        clock.repetition();
        Ok(clock)
    }

    /// Runs the chain once on all CPUs at the same time; 20 to 40 ms.
    pub fn repetition(&mut self) -> CoreClockSample {
        let (chain, times_ns) = (self.chain, &self.times_ns);
        let seconds = self.team.pass(|member| {
            let start_ns = clock::now_ns();
            chain(TURNS);
            let time_ns = clock::now_ns() - start_ns;
            times_ns[member].0.store(time_ns.max(1), Ordering::Relaxed);
        });
        let adds = (TURNS * ADDS_PER_TURN) as f64;
        let clock_hz = |time_ns: &OwnLines<AtomicU64>| {
            adds / time_ns.0.load(Ordering::Relaxed) as f64 * 1e9
        };
        CoreClockSample { seconds, clocks_hz: times_ns.iter().map(clock_hz).collect() }
    }
}

/// The chain for a load, if this CPU can run it.
fn chain(load: Option<Isa>) -> Option<fn(u64)> {
    match load {
        #[cfg(target_arch = "x86_64")]
        Some(isa @ Isa::Avx512) if isa.is_available() => Some(|turns| {
            // SAFETY: the instruction set was just found to be there.
            unsafe { adds_beside_avx512(turns) }
        }),
        #[cfg(target_arch = "x86_64")]
        Some(isa @ Isa::Avx2) if isa.is_available() => Some(|turns| {
            // SAFETY: the instruction set was just found to be there.
            unsafe { adds_beside_avx2(turns) }
        }),
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        None | Some(Isa::Portable | Isa::Sse2 | Isa::Neon)
            if load.is_none_or(Isa::is_available) =>
        {
            Some(adds_alone)
        }
        _ => None,
    }
}

/// Defines a chain: 16 dependent adds, beside them one independent multiply-add per listed register (or
/// none). Twelve multiply-adds in 16 cycles never hold up the chain where one starts per cycle, as on
/// every CPU with these instruction sets. The registers start at zero, because leftover values could be
/// subnormal, which some CPUs add slowly.
#[cfg(target_arch = "x86_64")]
macro_rules! chain {
    ($(#[$feature:meta])? $name:ident, $clear:literal, $fma:literal, $register:literal,
     [$($sum:literal)*]) => {
        $(#[$feature])?
        fn $name(turns: u64) {
            // SAFETY: only registers change; the vector ones are caller-saved and declared as such.
            unsafe {
                asm!(
                    $(concat!($clear, " ", $register, $sum, ", ", $register, $sum, ", ",
                        $register, $sum),)*
                    ".p2align 5",
                    "2:",
                    "add rax, {step}", "add rax, {step}", "add rax, {step}",
                    "add rax, {step}", "add rax, {step}", "add rax, {step}",
                    "add rax, {step}", "add rax, {step}",
                    $(concat!($fma, " ", $register, $sum, ", ", $register, $sum, ", ", $register,
                        $sum),)*
                    "add rax, {step}", "add rax, {step}", "add rax, {step}",
                    "add rax, {step}", "add rax, {step}", "add rax, {step}",
                    "add rax, {step}", "add rax, {step}",
                    "dec rcx",
                    "jnz 2b",
                    inout("rax") 0_u64 => _,
                    step = in(reg) 3_u64,
                    inout("rcx") turns => _,
                    clobber_abi("sysv64"),
                    options(nostack, nomem),
                );
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
chain!(adds_alone, "", "", "", []);
#[cfg(target_arch = "x86_64")]
chain!(#[target_feature(enable = "avx2,fma")] adds_beside_avx2, "vxorpd", "vfmadd231pd", "ymm",
    [0 1 2 3 4 5 6 7 8 9 10 11]);
#[cfg(target_arch = "x86_64")]
chain!(#[target_feature(enable = "avx512f")] adds_beside_avx512, "vpxorq", "vfmadd231pd", "zmm",
    [0 1 2 3 4 5 6 7 8 9 10 11]);

/// The chain of 16 dependent adds per turn.
#[cfg(target_arch = "aarch64")]
fn adds_alone(turns: u64) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pin;

    #[test]
    fn every_cpu_gets_a_clock_of_its_own() {
        let cpus = pin::allowed_cpus().unwrap();
        for load in Isa::available().into_iter().map(Some).chain([None]) {
            let config = CoreClockConfig { cpus: cpus.clone(), load };
            let sample = CoreClock::prepare(&config).unwrap().repetition();
            assert_eq!(sample.clocks_hz.len(), cpus.len());
            // Not a claim about speed: between a thousandth and a thousand times any real clock.
            let real = |hz: &f64| (1e6..1e12).contains(hz);
            assert!(sample.clocks_hz.iter().all(real), "{load:?} {sample:?}");
        }
    }

    #[test]
    fn what_cannot_run_is_refused() {
        let foreign = if cfg!(target_arch = "x86_64") { Isa::Neon } else { Isa::Avx2 };
        for (cpus, load) in [(vec![0], Some(foreign)), (vec![usize::MAX], None), (vec![], None)]
        {
            assert!(CoreClock::prepare(&CoreClockConfig { cpus, load }).is_err());
        }
    }
}
