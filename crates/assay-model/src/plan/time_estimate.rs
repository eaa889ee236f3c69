//! Estimates of a plan's time before the run starts, without any measurement.

use super::priority::{largest_chain_bytes, represents_machine};
use super::{Case, Plan};
use crate::facts::HostFacts;
use crate::phrase;
use crate::phrase::Phrase;
use crate::quantity::Unit;
use crate::workload::{LinpackWorkload, NetworkTest, Workload};

/// Minimum number of repetitions to see whether they agree.
pub(super) const MIN_REPETITIONS: u32 = 3;

/// Returns the warning that one solve cannot end within the budget of its case.
pub fn solve_over_budget(work: &LinpackWorkload, least_s: f64, budget_s: f64) -> Phrase {
    phrase!(
        "solve-over-budget",
        "one solve of N = {n} takes at least {least}, but the budget is {budget}",
        n = work.n.to_string(),
        least = Phrase::approximate(least_s, Unit::Second),
        budget = Phrase::approximate(budget_s, Unit::Second),
    )
}

impl Plan {
    /// Returns warnings about the time of a plan on a host.
    pub fn time_warnings(&self, host: &HostFacts) -> Vec<Phrase> {
        let solves = self.cases.iter().filter_map(|case| {
            let work = case.workload.as_linpack()?;
            let (least_s, budget_s) = (min_solve_s(work, host), case.stopping.budget_s);
            (least_s > budget_s).then(|| solve_over_budget(work, least_s, budget_s))
        });
        self.budget_warning().into_iter().chain(solves).collect()
    }

    /// Returns a warning if some cases have no time for enough repetitions, with the budget that
    /// would suffice. A plan of a single case gets no warning: its length was chosen for it alone.
    pub fn budget_warning(&self) -> Option<Phrase> {
        let lacking = |case: &Case| {
            match case.workload.as_network()?.test {
                NetworkTest::Throughput(_) | NetworkTest::Connections(_) => {}
                // A repetition of round trips has hundreds of samples.
                NetworkTest::Latency(_) => return None,
            }
            let needed_s = f64::from(MIN_REPETITIONS) * case.repetition_s()?;
            let times = needed_s / case.stopping.budget_s;
            (times > 1.0).then_some(times)
        };
        let lacks: Vec<f64> = self.cases.iter().filter_map(lacking).collect();
        let most = lacks.iter().copied().fold(1.0, f64::max);
        (!lacks.is_empty() && self.cases.len() > 1).then(|| {
            phrase!(
                "plan-in-a-hurry",
                "within {budget}, {few} of {all} cases get fewer than {least} repetitions; {needed} would be enough",
                few = lacks.len(),
                all = self.cases.len(),
                least = MIN_REPETITIONS,
                budget = Phrase::approximate(self.budget_s, Unit::Second),
                needed = Phrase::approximate(self.budget_s * most, Unit::Second),
            )
        })
    }
}

impl Case {
    /// Returns the minimum time of the case on a host in seconds, regardless of its budget, if known in
    /// advance: the requested length, one repetition, or one solve.
    pub fn min_duration_s(&self, host: &HostFacts) -> Option<f64> {
        let timing = match &self.workload {
            Workload::Storage(test) => &test.workload.timing,
            Workload::Files(test) => &test.workload.timing,
            Workload::Io500(work) => return Some(IO500_PHASES * work.min_duration_s()),
            Workload::Linpack(work) => return Some(min_solve_s(work, host) / SOLVE_EFFICIENCY),
            Workload::NetworkTcp(_) | Workload::NetworkUdp(_) | Workload::NetworkIcmp(_) => {
                return self.repetition_s();
            }
            Workload::Stream(_)
            | Workload::Latency(_)
            | Workload::Copy(_)
            | Workload::CacheBandwidth(_)
            | Workload::CoreToCore(_)
            | Workload::LoadedLatency(_)
            | Workload::PeakFlops(_)
            | Workload::Command(_)
            | Workload::Imported(_)
            | Workload::Mpi(_)
            | Workload::Rdma(_) => return None,
        };
        Some(timing.warmup_s + timing.duration_s?)
    }

    /// Returns the planned seconds of one repetition.
    pub fn repetition_s(&self) -> Option<f64> {
        let seconds = match &self.workload.as_network()?.test {
            NetworkTest::Throughput(it) => it.seconds,
            NetworkTest::Latency(it) => it.seconds,
            NetworkTest::Connections(it) => it.seconds,
        };
        Some(seconds.into())
    }
}

/// Ratio of the time of all phases of IO500 to that of its write phases: the others read, find, query and
/// delete what these have written. With a stonewall of 5 s, all took 43 s.
const IO500_PHASES: f64 = 2.0;

/// Rough efficiency of a solve, relative to the estimated peak.
const SOLVE_EFFICIENCY: f64 = 0.7;

/// Returns the minimum seconds of a solve: 2/3 N³ operations at the peak.
fn min_solve_s(work: &LinpackWorkload, host: &HostFacts) -> f64 {
    2.0 / 3.0 * (work.n as f64).powi(3) / (estimate_peak(host) * work.cpus.len() as f64)
}

/// Weight of the case of a measure that represents the machine: a small budget suffices for its
/// samples first. With a large one every case ends when it is precise.
const HEADLINE_WEIGHT: f64 = 3.0;

/// Returns the weights of the cases of a measure, by which they share its budget.
pub(super) fn budget_weights(workloads: &[&Workload]) -> Vec<f64> {
    let largest = largest_chain_bytes(workloads.iter().copied());
    let weight = |workload: &&Workload| {
        let is_headline = represents_machine(workload, largest);
        let factor = if is_headline { HEADLINE_WEIGHT } else { 1.0 };
        factor * relative_time(workload)
    };
    workloads.iter().map(weight).collect()
}

/// Returns the relative time that a case needs within its measure, to divide the budget fairly.
fn relative_time(workload: &Workload) -> f64 {
    /// Chain size at which layout and traversal take about as long as the fixed cost of a case: 128
    /// Ki lines at 100 ns, 13 ms.
    const CHAIN_BYTES: f64 = (8 << 20) as f64;
    match workload {
        Workload::Latency(work) => 1.0 + work.bytes as f64 / CHAIN_BYTES,
        Workload::Stream(_)
        | Workload::Copy(_)
        | Workload::CacheBandwidth(_)
        | Workload::CoreToCore(_)
        | Workload::LoadedLatency(_)
        | Workload::PeakFlops(_)
        | Workload::Linpack(_)
        | Workload::NetworkTcp(_)
        | Workload::NetworkUdp(_)
        | Workload::NetworkIcmp(_)
        | Workload::Storage(_)
        | Workload::Files(_)
        | Workload::Io500(_)
        | Workload::Command(_)
        | Workload::Imported(_)
        | Workload::Mpi(_)
        | Workload::Rdma(_) => 1.0,
    }
}

/// Estimates the peak of one core in FLOP/s: two pipes of the widest vectors at the nominal clock.
/// Emulated cores are far slower.
pub(super) fn estimate_peak(host: &HostFacts) -> f64 {
    if host.is_emulated() {
        return 3.0 * EMULATED_FLOPS;
    }
    let has = |flag: &str| host.cpu.flags.iter().any(|it| it == flag);
    let flop_per_cycle = match () {
        () if has("avx512f") => 32.0,
        () if has("avx2") => 16.0,
        () => 8.0,
    };
    flop_per_cycle * host.cpu.nominal_hz.unwrap_or(2e9)
}

/// Speed of an emulated core. Emulation calculates floating-point numbers bit by bit: N = 480 on
/// one core took 5.1 s, that is 14 MFLOP/s (`qemu-system-x86_64` 7.2 with AVX2, on a Xeon at 2.6
/// GHz). The margin is for other load.
const EMULATED_FLOPS: f64 = 5e6;
