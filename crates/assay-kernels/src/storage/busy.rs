//! How busy the machine's CPUs were since the last look, all programs together.
//!
//! Where the kernel does not say, nothing is claimed: both shares are 0.

use std::fs;

/// The state at the last look, in ticks.
#[derive(Debug)]
pub(super) struct Busy {
    last: Ticks,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ticks {
    user: u64,
    system: u64,
    all: u64,
}

impl Busy {
    /// From now on.
    pub(super) fn begin() -> Self {
        Self { last: read() }
    }

    /// Shares of all CPUs' time since the last look: in programs, in the kernel; 0 … 1.
    pub(super) fn shares(&mut self) -> (f64, f64) {
        let before = std::mem::replace(&mut self.last, read());
        let part = |now: u64, before: u64| now.saturating_sub(before) as f64;
        let all = part(self.last.all, before.all);
        if all <= 0.0 {
            return (0.0, 0.0);
        }
        (part(self.last.user, before.user) / all, part(self.last.system, before.system) / all)
    }
}

fn read() -> Ticks {
    parse(&fs::read_to_string("/proc/stat").unwrap_or_default()).unwrap_or_default()
}

/// The first line: user, nice, system, idle, waiting, interrupts, soft interrupts, stolen; guests are
/// contained in the first two (`proc_stat(5)`).
fn parse(stat: &str) -> Option<Ticks> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> =
        line.split_whitespace().map_while(|word| word.parse().ok()).take(8).collect();
    let at = |place: usize| ticks.get(place).copied().unwrap_or(0);
    Some(Ticks {
        user: at(0).checked_add(at(1))?,
        system: at(2).checked_add(at(5))?.checked_add(at(6))?,
        all: ticks.iter().try_fold(0_u64, |sum, &part| sum.checked_add(part))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_read() {
        let stat = "cpu  10 2 30 400 5 6 7 8 9 1\ncpu0 1 1 1 1\n";
        assert_eq!(parse(stat), Some(Ticks { user: 12, system: 43, all: 468 }));
        assert_eq!(parse("cpu  1 2"), Some(Ticks { user: 3, system: 0, all: 3 }));
        for nonsense in ["", "intr 1 2 3", "cpu0 1"] {
            assert_eq!(parse(nonsense), None);
        }
    }
}
