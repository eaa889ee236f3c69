//! Time that assay's LU factorisation takes, from the rates of one core and of the memory.
//!
//! Repeats the schedule of `assay-kernels/src/compute/linpack/factor.rs` step by step: panels of 240
//! columns, panel workers that look ahead, strips that members take from a queue, and blocks of
//! rows that they share when it is empty. A strip takes the time of its operations or of its bytes,
//! whichever is longer; every member has an equal share of the memory bandwidth. Substitution and
//! row swaps count by their bytes. Nothing is fitted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Columns of a panel (`PANEL_WIDTH`).
const PANEL_WIDTH: usize = 240;
/// Columns of a unit of strips (`UNIT_COLUMNS`).
const UNIT_COLUMNS: usize = 24;
/// Rows of a block (`SLIVERS_PER_BLOCK` of eight rows).
const BLOCK_ROWS: f64 = 128.0;
/// Barriers of a column of a panel: before and after the swap of its pivot.
const BARRIERS_PER_COLUMN: f64 = 2.0;
const DOUBLE: f64 = 8.0;

/// Rates of a machine, as measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MachineRates {
    pub(super) cores: usize,
    /// Peak of multiply-adds of a core, with all cores busy.
    pub(super) peak_flops: f64,
    /// Rate of the trailing update of a core, from caches.
    pub(super) update_flops: f64,
    /// Rate within a panel.
    pub(super) panel_flops: f64,
    /// Bandwidth of the memory of all cores together.
    pub(super) memory_bytes_per_s: f64,
    /// Time in which a cache line goes from core to core.
    pub(super) hand_over_s: f64,
    /// Maximum columns of a strip: half a second-level cache.
    pub(super) strip_columns: usize,
}

/// How the members divide the trailing update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UpdateDivision {
    /// The schedule until commit 504490dc: columns only. Every strip reads all of L from memory, and
    /// strips narrow towards the end of a step.
    Columns,
    /// As now: the strips of a step have the same width, the last ones are divided by rows, and the
    /// members of a last-level cache read L once.
    Blocks {
        /// Cores with a common last-level cache.
        sharers: usize,
    },
}

/// Where the time of the cores goes, as shares of all of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct PredictedSolution {
    pub(super) seconds: f64,
    /// Rate over the peak of multiply-adds.
    pub(super) efficiency: f64,
    /// Share of the core time in which members wait for memory.
    pub(super) memory_share: f64,
    /// Share in which they factor panels, with their barriers.
    pub(super) panel_share: f64,
    /// Share in which they wait for each other.
    pub(super) idle_share: f64,
}

/// Core seconds of a step by their purpose.
#[derive(Debug, Clone, Copy, Default)]
struct CoreSeconds {
    memory: f64,
    panel: f64,
    idle: f64,
}

/// Predicts the solution of a system of order `n`.
pub(super) fn predict(
    machine: &MachineRates,
    division: UpdateDivision,
    n: usize,
) -> PredictedSolution {
    let mut spent = CoreSeconds::default();
    // The first panel has nothing to hide behind.
    let mut seconds = machine.panel_s(n, PANEL_WIDTH.min(n), machine.cores);
    spent.panel += seconds * machine.cores as f64;
    let mut first = 0;
    while first < n {
        let step =
            Step { machine, division, rows: n - first, width: PANEL_WIDTH.min(n - first) };
        seconds += step.run(&mut spent);
        first += PANEL_WIDTH;
    }
    // Back substitution reads the upper triangle once.
    seconds += DOUBLE * (n * n) as f64 / 2.0 / machine.memory_bytes_per_s;
    let flops = 2.0 / 3.0 * (n as f64).powi(3) + 1.5 * (n as f64).powi(2);
    let all = seconds * machine.cores as f64;
    PredictedSolution {
        seconds,
        efficiency: flops / seconds / machine.peak_flops / machine.cores as f64,
        memory_share: spent.memory / all,
        panel_share: spent.panel / all,
        idle_share: spent.idle / all,
    }
}

impl MachineRates {
    /// Seconds in which some workers factor a panel: its operations, and two barriers for each column,
    /// at which each worker takes the counter's line once.
    fn panel_s(&self, rows: usize, width: usize, workers: usize) -> f64 {
        let (rows, columns) = (rows as f64, width as f64);
        let flops = (rows - columns / 3.0).max(0.0) * columns * columns;
        let barrier_s = if workers > 1 { workers as f64 * self.hand_over_s } else { 0.0 };
        flops / self.panel_flops / workers as f64 + BARRIERS_PER_COLUMN * columns * barrier_s
    }
}

/// Step of the factorisation: a panel with `rows` rows, and the columns right of it.
struct Step<'a> {
    machine: &'a MachineRates,
    division: UpdateDivision,
    rows: usize,
    width: usize,
}

impl Step<'_> {
    /// Returns the seconds of the step, and adds the core seconds of its members.
    fn run(&self, spent: &mut CoreSeconds) -> f64 {
        let members = self.machine.cores;
        let columns = self.rows - self.width;
        let next = PANEL_WIDTH.min(columns);
        let workers = self.panel_workers(next);
        let mut ahead_s = 0.0;
        if next > 0 {
            let (update_s, memory_s) = self.strip_s(next);
            let panel_s = self.machine.panel_s(columns, next, workers);
            ahead_s = update_s / workers as f64 + panel_s;
            spent.memory += memory_s;
            spent.panel += panel_s * workers as f64;
        }
        // Times are in picoseconds, whose order is total.
        let ticks = |seconds: f64| (seconds * 1e12) as u64;
        // End of each member's work, and the start of its last strip.
        let busy = (0..members).map(|member| {
            let free_at = if member < workers { ticks(ahead_s) } else { 0 };
            Reverse((free_at, free_at))
        });
        let mut free_at: BinaryHeap<Reverse<(u64, u64)>> = busy.collect();
        let mut left = columns - next;
        while left > 0 {
            let taken = self.take(columns - next, left);
            let Some(Reverse((start, _))) = free_at.pop() else { break };
            let (seconds, memory_s) = self.strip_s(taken);
            spent.memory += memory_s;
            free_at.push(Reverse((start + ticks(seconds), start)));
            left -= taken;
        }
        let seconds = |ticks: u64| ticks as f64 / 1e12;
        let strips: Vec<(f64, f64)> = free_at
            .into_iter()
            .map(|Reverse((end, start))| (seconds(start), seconds(end)))
            .collect();
        let step_s = match self.division {
            UpdateDivision::Columns => strips.iter().map(|it| it.1).fold(0.0, f64::max),
            UpdateDivision::Blocks { .. } => {
                shared_end(&strips) + self.block_s(self.take(columns - next, columns - next))
            }
        };
        let busy_s = strips.iter().map(|it| it.1).sum::<f64>();
        spent.idle += (step_s * members as f64 - busy_s).max(0.0);
        step_s
    }

    /// Columns of the next strip, when `left` of all `columns` are not taken (`take_columns`).
    fn take(&self, columns: usize, left: usize) -> usize {
        let units = match self.division {
            UpdateDivision::Columns => left / UNIT_COLUMNS / (2 * self.machine.cores),
            UpdateDivision::Blocks { .. } => {
                (columns / UNIT_COLUMNS).div_ceil(self.machine.cores)
            }
        };
        let limit = self.machine.strip_columns / UNIT_COLUMNS;
        (units.clamp(1, limit) * UNIT_COLUMNS).min(left)
    }

    /// Seconds of the last block of a step, which is not shared.
    fn block_s(&self, columns: usize) -> f64 {
        let rows = BLOCK_ROWS.min((self.rows - self.width) as f64);
        2.0 * rows * (self.width * columns) as f64 / self.machine.update_flops
    }

    /// Seconds of a strip over all rows, and those of them in which it waits for memory.
    fn strip_s(&self, columns: usize) -> (f64, f64) {
        let (rows, width) = (self.rows as f64, self.width as f64);
        let flops = (2.0 * (rows - width) + width) * width * columns as f64;
        // L once for each strip; the matrix is read and written, and so are the swapped rows.
        let reads_of_l = match self.division {
            UpdateDivision::Columns => 1.0,
            UpdateDivision::Blocks { sharers } => 1.0 / sharers as f64,
        };
        let bytes = DOUBLE * rows * width * reads_of_l
            + 2.0 * DOUBLE * (rows + 2.0 * width) * columns as f64;
        let share_of_memory = self.machine.memory_bytes_per_s / self.machine.cores as f64;
        let (work_s, memory_s) = (flops / self.machine.update_flops, bytes / share_of_memory);
        (work_s.max(memory_s), (memory_s - work_s).max(0.0))
    }

    /// Members that factor the next panel (`panel_worker_count`).
    fn panel_workers(&self, next: usize) -> usize {
        let (rows, width, next) = (self.rows as f64, self.width as f64, next as f64);
        let cost = self.machine.update_flops / self.machine.panel_flops;
        let panel_cost = rows * next * (2.0 * width + cost * next);
        let update_cost = 2.0 * rows * width * (rows - width - next).max(0.0);
        let share = panel_cost / (panel_cost + update_cost).max(1.0);
        ((share * self.machine.cores as f64) as usize + 1).min(self.machine.cores)
    }
}

/// Returns the time at which all members end when they share the work of their last strips, given
/// by start and end: each member takes part from its start on.
fn shared_end(strips: &[(f64, f64)]) -> f64 {
    let mut starts: Vec<f64> = strips.iter().map(|it| it.0).collect();
    starts.sort_by(f64::total_cmp);
    let work_s: f64 = strips.iter().map(|(start, end)| end - start).sum();
    let mut sum_of_starts = 0.0;
    let mut end = 0.0;
    for (index, start) in starts.iter().enumerate() {
        if index > 0 && *start >= end {
            break;
        }
        sum_of_starts += start;
        end = (work_s + sum_of_starts) / (index + 1) as f64;
    }
    starts.last().copied().unwrap_or(0.0).max(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cores: usize) -> MachineRates {
        MachineRates {
            cores,
            peak_flops: 50e9,
            update_flops: 45e9,
            panel_flops: 20e9,
            memory_bytes_per_s: 1e15,
            hand_over_s: 0.0,
            strip_columns: 120,
        }
    }

    #[test]
    fn one_core_with_fast_memory_has_the_rates_of_its_kernels() {
        let one = predict(&machine(1), UpdateDivision::Columns, 24_000);
        // 1.5 % of the operations are in panels, at less than half the rate.
        assert!((0.87..0.9).contains(&one.efficiency), "{one:?}");
        assert!(one.memory_share < 1e-3 && one.idle_share == 0.0, "{one:?}");
        let equal = MachineRates { panel_flops: 45e9, ..machine(1) };
        let equal = predict(&equal, UpdateDivision::Columns, 24_000).efficiency;
        assert!((equal - 0.9).abs() < 0.01, "{equal}");
    }

    #[test]
    fn efficiency_rises_with_order_and_falls_with_cores() {
        let efficiency =
            |cores, n| predict(&machine(cores), UpdateDivision::Columns, n).efficiency;
        for cores in [1, 2, 16, 64] {
            let of: Vec<f64> =
                [4_000, 16_000, 64_000].iter().map(|n| efficiency(cores, *n)).collect();
            assert!(of.is_sorted(), "{cores}: {of:?}");
        }
        let of: Vec<f64> =
            [64, 16, 2, 1].iter().map(|cores| efficiency(*cores, 16_000)).collect();
        assert!(of.is_sorted(), "{of:?}");
    }

    #[test]
    fn slow_memory_limits_to_its_bytes() {
        let slow = MachineRates { memory_bytes_per_s: 1e9, ..machine(4) };
        let found = predict(&slow, UpdateDivision::Columns, 4_800);
        // Each strip of 120 columns reads 240 columns of L and moves its own columns twice.
        let bytes: f64 = (0..20)
            .map(|step| {
                let (rows, columns) = (4_800 - 240 * step, 4_800 - 240 * (step + 1));
                let (rows, columns) = (f64::from(rows), f64::from(columns));
                8.0 * rows * (240.0 * columns / 120.0 + 2.0 * columns)
            })
            .sum();
        assert!(found.seconds > bytes / 1e9, "{found:?}");
        assert!(found.memory_share > 0.7, "{found:?}");
        let blocks = predict(&slow, UpdateDivision::Blocks { sharers: 4 }, 4_800);
        assert!(blocks.seconds < found.seconds, "{blocks:?}");
    }

    #[test]
    fn members_share_their_last_strips() {
        for (strips, expected) in [
            (&[(0.0, 4.0)][..], 4.0),
            (&[(0.0, 4.0), (0.0, 0.0)], 2.0),
            (&[(0.0, 4.0), (2.0, 2.0)], 3.0),
            // A panel that takes longer than everything else.
            (&[(0.0, 4.0), (0.0, 2.0), (9.0, 9.0)], 9.0),
            (&[(1.0, 4.0), (2.0, 5.0), (3.0, 6.0)], 5.0),
        ] {
            assert!((shared_end(strips) - expected).abs() < 1e-12, "{strips:?}");
        }
    }

    #[test]
    fn shares_of_all_core_time_are_below_one() {
        for cores in [1, 3, 64, 192] {
            for n in [1, 239, 240, 241, 5_000] {
                for division in [UpdateDivision::Columns, UpdateDivision::Blocks { sharers: 4 }]
                {
                    let found = predict(&machine(cores), division, n);
                    let sum = found.memory_share + found.panel_share + found.idle_share;
                    assert!(
                        found.seconds > 0.0 && (0.0..=1.0 + 1e-9).contains(&sum),
                        "{cores} {n} {division:?} {found:?}"
                    );
                }
            }
        }
    }
}
