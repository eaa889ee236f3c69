//! Context switches and page faults of this process, from the kernel's accounting.

/// Counts since the process started, over all its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessCounters {
    /// Context switches, voluntary or not.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
}

/// Reads the current counts.
pub fn read_process_counters() -> ProcessCounters {
    // SAFETY: all-zero bytes are a valid `rusage`, a structure of plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid, writable `rusage`; the call can fail only for an unknown target.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    ProcessCounters {
        context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        major_faults: usage.ru_majflt as u64,
        minor_faults: usage.ru_minflt as u64,
    }
}

impl ProcessCounters {
    /// Returns the difference to `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_page_faults() {
        let before = read_process_counters();
        // Above the largest threshold of malloc (32 MiB), so that the memory is mapped anew.
        let pages = vec![1_u8; 64 << 20];
        assert!(read_process_counters().since(before).minor_faults > 0, "{}", pages.len());
    }
}
