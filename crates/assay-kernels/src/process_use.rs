//! Context switches and page faults of this process, from the kernel's accounting.

/// Counts since the process started, over all its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessUse {
    /// Context switches, voluntary or not.
    pub switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
}

/// Reads the current counts.
pub fn process_use() -> ProcessUse {
    // SAFETY: all-zero bytes are a valid `rusage`, a structure of plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid, writable `rusage`; the call can fail only for an unknown target.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    ProcessUse {
        switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        major_faults: usage.ru_majflt as u64,
        minor_faults: usage.ru_minflt as u64,
    }
}

impl ProcessUse {
    /// Returns the difference to `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            switches: self.switches.saturating_sub(earlier.switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_memory_is_counted() {
        let before = process_use();
        let pages = vec![1_u8; 4 << 20];
        assert!(process_use().since(before).minor_faults > 0, "{}", pages.len());
    }
}
