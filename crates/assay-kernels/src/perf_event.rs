//! Counters of the kernel's `perf_event_open`: of the calling thread with the threads and
//! processes that it starts later, or of all that one CPU executes.
//!
//! Samples nothing and maps no buffers. Each event is read alone: the kernel reads no groups of
//! events that threads inherit before version 6.13.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::FromRawFd as _;

/// Event to be counted, in the kernel's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerfEventConfig {
    /// Type of the counting unit; those beyond the fixed ones are in `/sys/bus/event_source/devices/*/type`.
    pub kind: u32,
    pub config: u64,
    pub config1: u64,
    pub config2: u64,
    /// Processor modes that do not count.
    pub excluded: ExcludedModes,
    pub scope: PerfScope,
}

/// Processor modes that do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExcludedModes {
    #[default]
    None,
    User,
    Kernel,
}

/// Execution that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PerfScope {
    /// The calling thread, and what it starts from now on.
    #[default]
    StartedThreads,
    /// Everything on one CPU, or in the part of the processor that it stands for.
    Cpu(u32),
}

/// `PERF_TYPE_HARDWARE` and two of its events.
const HARDWARE: u32 = 0;
const CPU_CYCLES: u64 = 0;
const INSTRUCTIONS: u64 = 1;
/// `PERF_TYPE_SOFTWARE` and two of its events.
const SOFTWARE: u32 = 1;
const TASK_CLOCK: u64 = 1;
const CONTEXT_SWITCHES: u64 = 3;

impl PerfEventConfig {
    /// Clock cycles in one mode.
    pub fn cycles(excluded: ExcludedModes) -> Self {
        Self { kind: HARDWARE, config: CPU_CYCLES, excluded, ..Self::default() }
    }

    /// Completed instructions in one mode.
    pub fn instructions(excluded: ExcludedModes) -> Self {
        Self { kind: HARDWARE, config: INSTRUCTIONS, excluded, ..Self::default() }
    }

    /// Nanoseconds on a CPU. User mode alone, which every user may count; the clock runs in both.
    pub fn task_clock() -> Self {
        let excluded = ExcludedModes::Kernel;
        Self { kind: SOFTWARE, config: TASK_CLOCK, excluded, ..Self::default() }
    }

    /// Context switches, which happen in the kernel.
    pub fn context_switches() -> Self {
        Self { kind: SOFTWARE, config: CONTEXT_SWITCHES, ..Self::default() }
    }
}

/// `struct perf_event_attr` in its second version of 72 bytes, which Linux has read since 2.6.33.
#[repr(C)]
#[derive(Default)]
struct PerfEventAttr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
}

/// Bits of `flags`, from the lowest, where bit fields begin on little-endian machines.
const INHERIT: u64 = 1 << 1;
const EXCLUDE_USER: u64 = 1 << 4;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`.
const WITH_TIMES: u64 = 3;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// An event that is counted until this is dropped.
#[derive(Debug)]
pub struct PerfEvent(File);

/// Count of an event since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerfReading {
    pub count: u64,
    /// Time of the counted threads on a CPU, in nanoseconds.
    pub enabled_ns: u64,
    /// Part of it in which the event had a counter of the processor.
    pub running_ns: u64,
}

impl PerfEvent {
    /// Opens an event, which counts at once.
    ///
    /// # Errors
    /// `EACCES` or `EPERM` if this user may not, `ENOENT` without such an event, `EOPNOTSUPP` or
    /// `EINVAL` if the processor cannot count it so, `ENOSYS` without the system call.
    pub fn open(config: &PerfEventConfig) -> io::Result<Self> {
        let (cpu, inherit) = match config.scope {
            PerfScope::StartedThreads => (-1, INHERIT),
            PerfScope::Cpu(cpu) => (cpu as libc::c_int, 0),
        };
        let pid: libc::pid_t = if inherit == 0 { -1 } else { 0 };
        let modes = match config.excluded {
            ExcludedModes::None => 0,
            ExcludedModes::User => EXCLUDE_USER | EXCLUDE_HYPERVISOR,
            ExcludedModes::Kernel => EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        };
        let attr = PerfEventAttr {
            kind: config.kind,
            size: size_of::<PerfEventAttr>() as u32,
            config: config.config,
            config1: config.config1,
            config2: config.config2,
            read_format: WITH_TIMES,
            flags: flag_bits(inherit | modes),
            ..PerfEventAttr::default()
        };
        let no_group: libc::c_int = -1;
        // SAFETY: `attr` is a valid structure of `size` bytes that the call only reads.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attr,
                pid,
                cpu,
                no_group,
                CLOSE_ON_EXEC,
            )
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call returned a new descriptor that nothing else owns.
        Ok(Self(unsafe { File::from_raw_fd(fd as libc::c_int) }))
    }

    /// Reads the count with its times.
    pub fn read(&self) -> io::Result<PerfReading> {
        let mut bytes = [0; 24];
        (&self.0).read_exact(&mut bytes)?;
        let number = |at: usize| {
            let mut part = [0; 8];
            part.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(part)
        };
        Ok(PerfReading { count: number(0), enabled_ns: number(8), running_ns: number(16) })
    }
}

/// Places the bits of `flags`; compilers for big-endian machines put the first bit field highest.
const fn flag_bits(bits: u64) -> u64 {
    if cfg!(target_endian = "big") { bits.reverse_bits() } else { bits }
}

impl PerfReading {
    /// Returns the count since `earlier`, extrapolated to all of the time if other events used the
    /// counter in between: count × enabled / running. `None` if it never ran.
    pub fn count_since(self, earlier: Self) -> Option<f64> {
        let difference =
            |value: fn(Self) -> u64| value(self).saturating_sub(value(earlier)) as f64;
        let (enabled, running) =
            (difference(|it| it.enabled_ns), difference(|it| it.running_ns));
        let count = difference(|it| it.count);
        match running > 0.0 {
            true => Some(count * (enabled / running).max(1.0)),
            // Nothing was executed, so that nothing could count.
            false => (enabled == 0.0).then_some(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::clock;

    /// Opens an event, or prints why this machine has none.
    fn open(config: &PerfEventConfig, test: &str) -> Option<PerfEvent> {
        match PerfEvent::open(config) {
            Ok(event) => Some(event),
            Err(error) => {
                let expected = [libc::EACCES, libc::EPERM, libc::ENOENT, libc::ENOSYS]
                    .into_iter()
                    .chain([libc::EOPNOTSUPP, libc::ENODEV]);
                assert!(expected.map(Some).any(|it| it == error.raw_os_error()), "{error}");
                eprintln!("SKIPPED {test}: {config:?}: {error}");
                None
            }
        }
    }

    fn spin(seconds: f64) {
        let began = clock::now_ns();
        while clock::seconds_between(began, clock::now_ns()) < seconds {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn threads_started_later_are_counted() {
        let test = "threads_started_later_are_counted";
        let Some(event) = open(&PerfEventConfig::task_clock(), test) else { return };
        let before = event.read().unwrap();
        let spent = thread::spawn(|| {
            spin(0.05);
            crate::network::cpu::own_time_ns()
        });
        let spent_ns = spent.join().unwrap();
        let after = event.read().unwrap();
        let counted = after.count_since(before).unwrap();
        assert!(counted >= 0.99 * spent_ns as f64, "{counted} of {spent_ns}");
    }

    #[test]
    fn context_switches_are_counted() {
        let test = "context_switches_are_counted";
        let Some(event) = open(&PerfEventConfig::context_switches(), test) else { return };
        let before = event.read().unwrap();
        (0..20).for_each(|_| thread::sleep(Duration::from_millis(1)));
        let count = event.read().unwrap().count_since(before).unwrap();
        assert!(count >= 20.0, "{count}");
    }

    /// A loop of a million turns has at least that many instructions, and takes cycles.
    #[test]
    fn hardware_events_count_a_known_loop() {
        let test = "hardware_events_count_a_known_loop";
        let modes = ExcludedModes::Kernel;
        let configs = [PerfEventConfig::instructions(modes), PerfEventConfig::cycles(modes)];
        for config in configs {
            let Some(event) = open(&config, test) else { return };
            let before = event.read().unwrap();
            let sum = (0..1_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum + n));
            let count = event.read().unwrap().count_since(before);
            assert!(sum > 0);
            let Some(count) = count else {
                eprintln!("SKIPPED {test}: other events use the counters");
                return;
            };
            assert!(count >= 250_000.0, "{config:?}: {count}");
        }
    }

    #[test]
    fn unknown_kinds_are_errors() {
        let unknown = PerfEventConfig { kind: u32::MAX, ..PerfEventConfig::default() };
        assert!(PerfEvent::open(&unknown).is_err());
    }

    #[test]
    fn counts_are_scaled_to_the_time_without_a_counter() {
        let reading =
            |count, enabled_ns, running_ns| PerfReading { count, enabled_ns, running_ns };
        let before = reading(100, 1000, 1000);
        for (after, expected) in [
            (reading(300, 3000, 3000), Some(200.0)),
            (reading(300, 3000, 1500), Some(800.0)),
            (reading(100, 3000, 1000), None),
            (before, Some(0.0)),
            // The kernel updates the two times one after the other.
            (reading(300, 3000, 3001), Some(200.0)),
        ] {
            assert_eq!(after.count_since(before), expected, "{after:?}");
        }
    }
}
