//! CPU usage of the machine since the last reading, all programs together.
//!
//! Both shares are 0 if the kernel does not report it.

use std::fs;

use assay_model::cpu_times::{CpuTicks, CpuTimes, kernel_ticks, total_ticks, user_ticks};

/// Counters at the last reading.
#[derive(Debug)]
pub(super) struct CpuUsage {
    last: CpuTicks,
}

impl CpuUsage {
    /// Takes the first reading.
    pub(super) fn start() -> Self {
        Self { last: read_cpu_times() }
    }

    /// Returns the shares of all CPUs' time since the last reading: in programs, in the kernel; 0 …
    /// 1.
    pub(super) fn take_shares(&mut self) -> (f64, f64) {
        let now = read_cpu_times();
        let before = std::mem::replace(&mut self.last, now);
        let part = |of: &dyn Fn(&CpuTicks) -> u64| of(&now).saturating_sub(of(&before)) as f64;
        let all = part(&total_ticks);
        if all <= 0.0 {
            return (0.0, 0.0);
        }
        (part(&user_ticks) / all, part(&kernel_ticks) / all)
    }
}

fn read_cpu_times() -> CpuTicks {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    CpuTimes::parse(&text).total.unwrap_or_default()
}
