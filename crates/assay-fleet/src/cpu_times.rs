//! Where every CPU spent its time (`/proc/stat`), and what lies between two such moments.
//!
//! The kernel counts in ticks of 10 ms, so windows of two seconds and more are needed for one percent.

use assay_model::cpu_account::CpuAccount;

use crate::root::Root;

/// The kernel shows times in `USER_HZ`, which is 100 on every architecture that runs assay.
pub const TICKS_PER_S: u32 = 100;

/// user, nice, system, idle, iowait, irq, softirq, steal: the columns of `/proc/stat`, in ticks.
pub type Columns = [u64; 8];

const USER: usize = 0;
const NICE: usize = 1;
const SYSTEM: usize = 2;
const IRQ: usize = 5;
const SOFTIRQ: usize = 6;
const STEAL: usize = 7;

/// The time of every CPU since boot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// One entry per CPU that is online.
    pub cpus: Vec<Columns>,
}

/// Reads the times; empty where `/proc` is not visible.
#[must_use]
pub fn read(root: &Root) -> CpuTimes {
    let text = root.text("proc/stat").unwrap_or_default();
    CpuTimes { cpus: text.lines().filter_map(one_cpu).collect() }
}

/// A line like `cpu3 70051 0 4944 144940 41 0 10 50 0 0`; the line of all CPUs has no number.
fn one_cpu(line: &str) -> Option<Columns> {
    let mut words = line.split_ascii_whitespace();
    words.next()?.strip_prefix("cpu")?.parse::<u32>().ok()?;
    let mut columns = Columns::default();
    for column in &mut columns {
        // Kernels before 2.6.11 have fewer columns.
        *column = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    }
    Some(columns)
}

impl CpuTimes {
    /// All CPUs together.
    #[must_use]
    pub fn sum(&self) -> Columns {
        let mut sum = Columns::default();
        for cpu in &self.cpus {
            sum.iter_mut().zip(cpu).for_each(|(sum, column)| *sum += column);
        }
        sum
    }

    /// What happened from `self` to `after`, in a window of `wall_s` seconds in which the threads
    /// that moved data used `threads_s` seconds of CPU time.
    #[must_use]
    pub fn account(&self, after: &Self, wall_s: f64, threads_s: f64) -> CpuAccount {
        let (from, to) = (self.sum(), after.sum());
        let seconds = |column: usize| ticks_s(to[column].saturating_sub(from[column]));
        CpuAccount {
            wall_s,
            threads_s,
            cpus: after.cpus.len() as u32,
            user_s: seconds(USER) + seconds(NICE),
            system_s: seconds(SYSTEM),
            irq_s: seconds(IRQ),
            softirq_s: seconds(SOFTIRQ),
            steal_s: seconds(STEAL),
            busiest: self.busiest(after, wall_s),
        }
    }

    fn busiest(&self, after: &Self, wall_s: f64) -> f64 {
        let work = |columns: &Columns| -> u64 {
            [USER, NICE, SYSTEM, IRQ, SOFTIRQ].iter().map(|column| columns[*column]).sum()
        };
        let works = self
            .cpus
            .iter()
            .zip(&after.cpus)
            .map(|(from, to)| work(to).saturating_sub(work(from)));
        let most_s = ticks_s(works.max().unwrap_or(0));
        if wall_s > 0.0 { (most_s / wall_s).min(1.0) } else { 0.0 }
    }
}

fn ticks_s(ticks: u64) -> f64 {
    ticks as f64 / f64::from(TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  108 0 11 319 1 0 1 1 0 0\ncpu0 70 0 4 144 4 0 1 5 0 0\ncpu1 37 0 6 174 1 0 1 6 0 0\nintr 739536 0\n";

    fn times(text: &str) -> CpuTimes {
        CpuTimes { cpus: text.lines().filter_map(one_cpu).collect() }
    }

    #[test]
    fn every_cpu_is_read_and_nothing_else() {
        let before = times(BEFORE);
        assert_eq!(before.cpus, [[70, 0, 4, 144, 4, 0, 1, 5], [37, 0, 6, 174, 1, 0, 1, 6]]);
        assert_eq!(before.sum()[USER], 107);
        for text in ["", "cpu\n", "cpux 1 2\n", "intr 5\n"] {
            assert_eq!(times(text), CpuTimes::default(), "{text}");
        }
        assert_eq!(times("cpu7 1 2").cpus, [[1, 2, 0, 0, 0, 0, 0, 0]]);
    }

    #[test]
    fn stolen_and_idle_time_is_no_work() {
        let mut after = times(BEFORE);
        after.cpus[0][USER] += 50;
        after.cpus[0][SOFTIRQ] += 30;
        after.cpus[0][STEAL] += 20;
        after.cpus[1][SYSTEM] += 10;
        after.cpus[1][3] += 90;
        let account = times(BEFORE).account(&after, 1.0, 0.6);
        let close = |left: f64, right: f64| (left - right).abs() < 1e-12;
        assert!(close(account.work_s(), 0.9), "{account:?}");
        assert!(close(account.steal_s, 0.2) && close(account.busiest, 0.8), "{account:?}");
        assert!(close(account.charged_s(), 0.9), "threads and softirq: {account:?}");
        assert_eq!(account.cpus, 2);
        assert!(close(account.load(), 0.45));
    }
}
