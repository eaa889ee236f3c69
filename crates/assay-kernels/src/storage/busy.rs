//! CPU usage of the machine since the last reading, all programs together.
//!
//! Both shares are 0 if the kernel does not report it.

use std::fs;

use assay_model::cpu_times::{Columns, CpuTimes, in_kernel, in_programs, total};

/// Counters at the last reading.
#[derive(Debug)]
pub(super) struct Busy {
    last: Columns,
}

impl Busy {
    /// Takes the first reading.
    pub(super) fn begin() -> Self {
        Self { last: read() }
    }

    /// Returns the shares of all CPUs' time since the last reading: in programs, in the kernel; 0 …
    /// 1.
    pub(super) fn shares(&mut self) -> (f64, f64) {
        let now = read();
        let before = std::mem::replace(&mut self.last, now);
        let part = |of: &dyn Fn(&Columns) -> u64| of(&now).saturating_sub(of(&before)) as f64;
        let all = part(&total);
        if all <= 0.0 {
            return (0.0, 0.0);
        }
        (part(&in_programs) / all, part(&in_kernel) / all)
    }
}

fn read() -> Columns {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    CpuTimes::parse(&text).all.unwrap_or_default()
}
