//! How busy the machine's CPUs were since the last look, all programs together.
//!
//! Where the kernel does not say, nothing is claimed: both shares are 0.

use std::fs;

use assay_model::cpu_times::{Columns, CpuTimes, in_kernel, in_programs, total};

/// The state at the last look.
#[derive(Debug)]
pub(super) struct Busy {
    last: Columns,
}

impl Busy {
    /// From now on.
    pub(super) fn begin() -> Self {
        Self { last: read() }
    }

    /// Shares of all CPUs' time since the last look: in programs, in the kernel; 0 … 1.
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
