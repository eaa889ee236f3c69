//! CPU times (`/proc/stat`) and their differences. The only parser of that file; callers read it.
//!
//! The kernel counts in ticks of 10 ms, so a precision of 1 % takes windows of at least two
//! seconds.

use crate::cpu_account::CpuAccount;

/// Ticks per second (`USER_HZ`), which is 100 on every supported architecture.
pub const TICKS_PER_S: u32 = 100;

/// Busy share of all CPUs from which the machine itself may limit a rate; Vdbench's threshold for
/// its warning.
pub const BUSY_SHARE: f64 = 0.8;

/// user, nice, system, idle, iowait, irq, softirq, steal in ticks. The guest columns that follow
/// are already included in the first two (`proc_stat(5)`).
pub type CpuTicks = [u64; 8];

const SYSTEM: usize = 2;
const IRQ: usize = 5;
const SOFTIRQ: usize = 6;
const STEAL: usize = 7;

/// Times of all CPUs since boot. Missing values stay missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// All CPUs together.
    pub total: Option<CpuTicks>,
    /// Online CPUs, in order.
    pub cpus: Vec<CpuTicks>,
}

/// Parses a line like `cpu3 70051 0 4944 144940 41 0 10 50 0 0` into the text after `cpu` and the
/// columns.
fn parse_columns(line: &str) -> Option<(&str, CpuTicks)> {
    let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
    let number = if line.starts_with("cpu ") { "" } else { words.next()? };
    let mut columns = CpuTicks::default();
    for column in &mut columns {
        *column = words.next()?.parse().ok()?;
    }
    Some((number, columns))
}

/// Returns the ticks in user mode, including guests.
pub const fn user_ticks([user, nice, ..]: &CpuTicks) -> u64 {
    user.saturating_add(*nice)
}

/// Returns the ticks in the kernel, including interrupts.
pub const fn kernel_ticks([_, _, system, _, _, irq, softirq, _]: &CpuTicks) -> u64 {
    system.saturating_add(*irq).saturating_add(*softirq)
}

/// Returns all ticks, including idle and steal.
pub fn total_ticks(columns: &CpuTicks) -> u64 {
    columns.iter().fold(0, |sum, ticks| sum.saturating_add(*ticks))
}

/// Converts ticks to seconds.
pub fn ticks_to_seconds(ticks: u64) -> f64 {
    ticks as f64 / f64::from(TICKS_PER_S)
}

impl CpuTimes {
    /// Parses the text of `/proc/stat`; skips truncated and unrelated lines.
    pub fn parse(text: &str) -> Self {
        let mut times = Self::default();
        for (number, columns) in text.lines().filter_map(parse_columns) {
            if number.is_empty() {
                times.total = Some(columns);
            } else if number.bytes().all(|byte| byte.is_ascii_digit()) {
                times.cpus.push(columns);
            }
        }
        times
    }

    /// Parses the lines of some CPUs, without the line of all CPUs together.
    pub fn parse_selected(text: &str, is_selected: impl Fn(u32) -> bool) -> Self {
        let selected = |(number, columns): (&str, CpuTicks)| {
            number.parse().is_ok_and(&is_selected).then_some(columns)
        };
        let cpus = text.lines().filter_map(parse_columns).filter_map(selected).collect();
        Self { total: None, cpus }
    }

    /// Parses the lines of single CPUs, with their numbers: those of offline CPUs are missing.
    pub fn parse_numbered(text: &str) -> impl Iterator<Item = (u32, CpuTicks)> {
        let columns = text.lines().filter_map(parse_columns);
        columns.filter_map(|(number, columns)| Some((number.parse().ok()?, columns)))
    }

    /// Returns the ticks of processes in the kernel, without interrupts.
    pub const fn system_ticks(columns: &CpuTicks) -> u64 {
        columns[SYSTEM]
    }

    /// Returns the ticks that the hypervisor took.
    pub const fn stolen_ticks(columns: &CpuTicks) -> u64 {
        columns[STEAL]
    }

    /// Returns the ticks of all CPUs taken by the hypervisor.
    pub fn steal_ticks(&self) -> Option<u64> {
        self.total.map(|columns| columns[STEAL])
    }

    /// Returns the sum over the online CPUs.
    pub fn sum_cpus(&self) -> CpuTicks {
        let mut sum = CpuTicks::default();
        for cpu in &self.cpus {
            sum.iter_mut().zip(cpu).for_each(|(sum, it)| *sum = sum.saturating_add(*it));
        }
        sum
    }

    /// Returns the CPU time from `self` to `after`, a window of `wall_s` seconds. The threads that
    /// moved data used `threads_s` seconds of CPU time.
    pub fn account(&self, after: &Self, wall_s: f64, threads_s: f64) -> CpuAccount {
        let (from, to) = (self.sum_cpus(), after.sum_cpus());
        let between = |ticks: &dyn Fn(&CpuTicks) -> u64| {
            ticks_to_seconds(ticks(&to).saturating_sub(ticks(&from)))
        };
        CpuAccount {
            wall_s,
            threads_s,
            cpus: after.cpus.len() as u32,
            user_s: between(&user_ticks),
            system_s: between(&|it| it[SYSTEM]),
            irq_s: between(&|it| it[IRQ]),
            softirq_s: between(&|it| it[SOFTIRQ]),
            steal_s: between(&|it| it[STEAL]),
            busiest: self.busiest_share(after, wall_s),
        }
    }

    fn busiest_share(&self, after: &Self, wall_s: f64) -> f64 {
        let work =
            |columns: &CpuTicks| user_ticks(columns).saturating_add(kernel_ticks(columns));
        let works = self
            .cpus
            .iter()
            .zip(&after.cpus)
            .map(|(from, to)| work(to).saturating_sub(work(from)));
        let most_s = ticks_to_seconds(works.max().unwrap_or(0));
        if wall_s > 0.0 { (most_s / wall_s).min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  108 0 11 319 1 0 1 1 0 0\ncpu0 70 0 4 144 4 0 1 5 0 0\ncpu1 37 0 6 174 1 0 1 6 0 0\nintr 739536 0\n";

    #[test]
    fn parses_only_cpu_lines() {
        let before = CpuTimes::parse(BEFORE);
        assert_eq!(before.cpus, [[70, 0, 4, 144, 4, 0, 1, 5], [37, 0, 6, 174, 1, 0, 1, 6]]);
        assert_eq!(before.total, Some([108, 0, 11, 319, 1, 0, 1, 1]));
        assert_eq!((before.sum_cpus()[0], before.steal_ticks()), (107, Some(1)));
        let second = CpuTimes::parse_selected(BEFORE, |cpu| cpu == 1);
        assert_eq!((second.cpus, second.total), (vec![before.cpus[1]], None));
        let numbers: Vec<u32> =
            CpuTimes::parse_numbered(BEFORE).map(|(number, _)| number).collect();
        assert_eq!(numbers, [0, 1]);
        for text in ["", "cpu\n", "cpux 1 2 3 4 5 6 7 8\n", "cpu7 1 2", "cpu  1 2", "intr 5\n"]
        {
            assert_eq!(CpuTimes::parse(text), CpuTimes::default(), "{text}");
        }
    }

    #[test]
    fn splits_user_and_kernel_ticks() {
        let columns = [10, 2, 30, 400, 5, 6, 7, 8];
        assert_eq!(
            (user_ticks(&columns), kernel_ticks(&columns), total_ticks(&columns)),
            (12, 43, 468)
        );
        assert_eq!(total_ticks(&[u64::MAX; 8]), u64::MAX);
    }

    #[test]
    fn excludes_steal_and_idle_from_work() {
        let mut after = CpuTimes::parse(BEFORE);
        after.cpus[0][0] += 50;
        after.cpus[0][SOFTIRQ] += 30;
        after.cpus[0][STEAL] += 20;
        after.cpus[1][SYSTEM] += 10;
        after.cpus[1][3] += 90;
        let account = CpuTimes::parse(BEFORE).account(&after, 1.0, 0.6);
        let close = |left: f64, right: f64| (left - right).abs() < 1e-12;
        assert!(close(account.work_s(), 0.9), "{account:?}");
        assert!(close(account.steal_s, 0.2) && close(account.busiest, 0.8), "{account:?}");
        assert!(close(account.transfer_s(), 0.9), "threads and softirq: {account:?}");
        assert_eq!(account.cpus, 2);
        assert!(close(account.load(), 0.45));
    }
}
