//! How long a run will take, so that a budget that cannot be kept is said before it is over.
//!
//! Calculates from the plan, from rates that were measured on this machine and from what cases took so far. Never
//! measures, and never says anything itself.

use std::collections::BTreeMap;

use assay_kernels::memory::stream::{Operation, Stream};
use assay_model::facts::HostFacts;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::{Case, Plan};
use assay_model::quantity::Unit;
use assay_model::workload::Workload;

/// As much beyond a budget, as a share of it, is worth no word beforehand.
pub(crate) const TOLERANCE: f64 = 0.2;
/// As much of its time a case may take to choose its loops.
const CHOOSING_SHARE: f64 = 0.5;
/// Launches that the time of a case of MPI should hold: an interval of a median needs six independent values, and what
/// differs from launch to launch is the same within each.
const LAUNCHES: f64 = 8.0;
/// Shortest and longest time that one launch measures for, in seconds.
const LAUNCH_S: (f64, f64) = (0.5, 20.0);
/// What a launch takes beside the measuring where none was seen yet: ranks start, all contents are compared, and the
/// largest of two dozen sizes need longer than their part. On two busy cores it was 2.3 s.
const BESIDE_S: f64 = 2.0;
/// What a case takes around its shortest measurement: threads start, memory is given back. The 36 cases of `quick` took
/// 5 s of two busy cores where they had no time at all.
const CASE_S: f64 = 0.1;
/// STREAM's three arrays.
const ARRAYS: f64 = 3.0;
/// Arrays that the six operations name, each counted once: 2 + 2 + 3 + 3 + 1 + 1.
const ARRAYS_WALKED: f64 = 12.0;
const ARRAYS_COPIED: f64 = 2.0;

/// What memory takes here, in seconds for a byte and one thread where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    /// To touch what this run has not had yet, by all threads that do: the system has to find it, and in a guest the host.
    pub(crate) touch_s: f64,
    pub(crate) fill_s: f64,
    pub(crate) walk_s: f64,
    pub(crate) check_s: f64,
    /// For a line of a chain of dependent loads, to link and to check it.
    pub(crate) line_s: f64,
}

impl Rates {
    /// Of a server of today, where nothing may be tried: a plan that is only printed.
    pub(crate) const PRESUMED: Self =
        Self { touch_s: 5e-10, fill_s: 1e-10, walk_s: 1e-10, check_s: 2e-10, line_s: 1e-7 };
}

/// The time of a run, as far as it can be told.
#[derive(Debug, Default)]
pub(crate) struct Outlook {
    budget_s: f64,
    cases: Vec<Case>,
    /// Seconds that each of them needs however little time it has.
    least_s: Vec<f64>,
    /// What launches of ranks took beside the measuring, and how many there were.
    launched: (f64, u32),
    rates: Option<Rates>,
    /// Most that was touched at one time so far.
    touched_bytes: f64,
    /// What cases took that have begun, and whether they have ended.
    spent: BTreeMap<String, (f64, bool)>,
    said_s: Option<f64>,
}

impl Outlook {
    /// As far beyond its budget a run may come without a word, however short it is.
    const TOLERANCE_S: f64 = 2.0;
    /// As many times the time that was said is worth another word: whoever waits has the time left beside the bar.
    const GROWTH: f64 = 1.5;

    pub(crate) fn of(plan: &Plan, host: &HostFacts) -> Self {
        let least_s = plan.cases.iter().map(|case| case.least_s(host).unwrap_or(0.0));
        let (least_s, cases) = (least_s.collect(), plan.cases.clone());
        Self { budget_s: plan.budget_s, cases, least_s, ..Self::default() }
    }

    /// Ranks were launched, which took so long beside the measuring.
    pub(crate) fn has_launched(&mut self, beside_s: f64) {
        self.launched.0 += beside_s;
        self.launched.1 += 1;
    }

    /// Memory was tried.
    pub(crate) fn learn(&mut self, rates: Option<Rates>) {
        self.rates = rates.or(self.rates);
    }

    /// A case has touched so many bytes. Those that others had before tell nothing of what new ones take.
    pub(crate) fn has_touched(&mut self, bytes: f64, seconds: f64) {
        if bytes <= self.touched_bytes {
            return;
        }
        self.touched_bytes = bytes;
        if let Some(rates) = &mut self.rates {
            rates.touch_s = seconds / bytes;
        }
    }

    /// A case has had so much of the machine so far.
    pub(crate) fn has_spent(&mut self, case: &str, spent_s: f64, is_over: bool) {
        self.spent.insert(case.to_owned(), (spent_s, is_over));
    }

    /// What is to be said about the time of the run: once, and again where it turns out to be much longer, as such.
    pub(crate) fn look(&mut self, elapsed_s: f64) -> Option<Phrase> {
        let total_s = elapsed_s + self.left_s();
        let spare_s = (TOLERANCE * self.budget_s).max(Self::TOLERANCE_S);
        if total_s <= self.budget_s + spare_s {
            return None;
        }
        let time = Phrase::roughly(total_s, Unit::Second);
        let words = match self.said_s {
            None => phrase!(
                "run-over-budget",
                "the run takes about {time} instead of the {budget} of its budget",
                time = time,
                budget = Phrase::roughly(self.budget_s, Unit::Second),
            ),
            Some(said_s) if total_s > Self::GROWTH * said_s => phrase!(
                "run-even-longer",
                "the run takes about {time} by now, not {before}: what was measured so far took longer than expected",
                time = time,
                before = Phrase::roughly(said_s, Unit::Second),
            ),
            Some(_) => return None,
        };
        self.said_s = Some(total_s);
        Some(words)
    }

    /// Seconds that cases need which have not ended. Memory that one has given back is there for the next.
    fn left_s(&self) -> f64 {
        let beside_s = match self.launched {
            (_, 0) => BESIDE_S,
            (all_s, launches) => all_s / f64::from(launches),
        };
        let (mut left_s, mut had_bytes) = (0.0, 0.0f64);
        let mut chosen: Vec<(Vec<u32>, u64)> = Vec::new();
        for (case, least_s) in self.cases.iter().zip(&self.least_s) {
            let loops = arrays(&case.workload);
            let chooses_s = match loops {
                Some((cpus, bytes)) if !chosen.contains(&(cpus.clone(), bytes)) => {
                    chosen.push((cpus, bytes));
                    choosing_s(case)
                }
                _ => 0.0,
            };
            let memory_s =
                self.rates.map_or(0.0, |it| it.least_s(&case.workload, &mut had_bytes));
            let is_launched =
                matches!(&case.workload, Workload::Mpi(work) if work.preset.is_assay());
            let launch_s = match is_launched && case.by == "assay" {
                true => launch_measures_s(case) + beside_s,
                false => 0.0,
            };
            let least_s = least_s.max(memory_s).max(launch_s);
            let needs_s = case.stopping.budget_s.max(least_s + CASE_S) + chooses_s;
            left_s += match self.spent.get(&case.id) {
                Some((_, true)) => 0.0,
                Some((spent_s, false)) => (needs_s - spent_s).max(0.0),
                None => needs_s,
            };
        }
        left_s
    }
}

impl Rates {
    /// Seconds of one preparation, one repetition and one check, where memory decides them. `had_bytes` were touched before.
    fn least_s(&self, workload: &Workload, had_bytes: &mut f64) -> f64 {
        let mut touch_s = |bytes: f64, threads: f64| {
            let new = (bytes - *had_bytes).max(0.0);
            *had_bytes = had_bytes.max(bytes);
            // What was given back is only written with zeros.
            new * self.touch_s + (bytes - new) * self.fill_s / threads
        };
        let mut walked = |array: f64, walks: f64, threads: f64| {
            let bytes = ARRAYS * array;
            let worked_s = bytes * (self.fill_s + self.check_s) + walks * array * self.walk_s;
            touch_s(bytes, threads) + worked_s / threads
        };
        if let Workload::Stream(work) = workload {
            let threads: usize = work.domains.iter().map(|it| it.cpus.len()).sum();
            let array = work.bytes_per_array as f64 * work.domains.len() as f64;
            walked(array, ARRAYS_WALKED, threads.max(1) as f64)
        } else if let Workload::Copy(work) = workload {
            let threads = work.domain.cpus.len().max(1) as f64;
            walked(work.bytes_per_array as f64, ARRAYS_COPIED, threads)
        } else if let Workload::Latency(work) = workload {
            let lines = work.bytes as f64 / f64::from(work.line_bytes.max(1));
            touch_s(work.bytes as f64, 1.0) + lines * self.line_s
        } else {
            0.0
        }
    }
}

/// Whose loops are chosen, and how large the arrays are that they walk.
fn arrays(workload: &Workload) -> Option<(Vec<u32>, u64)> {
    let Workload::Stream(work) = workload else { return None };
    let mut cpus: Vec<u32> = work.domains.iter().flat_map(|it| it.cpus.clone()).collect();
    cpus.sort_unstable();
    Some((cpus, work.bytes_per_array * work.domains.len() as u64))
}

/// Seconds that a case gives to choosing: what it takes, or a share of its time.
fn choosing_s(case: &Case) -> f64 {
    let full_s: f64 = Operation::ALL.into_iter().map(Stream::choosing_s).sum();
    full_s.min(CHOOSING_SHARE * case.stopping.budget_s)
}

/// The same for one of its operations of `count`.
pub(crate) fn choosing_each_s(budget_s: f64, count: usize) -> f64 {
    CHOOSING_SHARE * budget_s / count as f64
}

/// Seconds that one launch of ranks measures for, by assay's own method.
pub(crate) fn launch_measures_s(case: &Case) -> f64 {
    (case.stopping.budget_s / LAUNCHES).clamp(LAUNCH_S.0, LAUNCH_S.1)
}

#[cfg(test)]
mod tests {
    use assay_model::plan::Stopping;
    use assay_model::workload::{Domain, LatencyWorkload, LinpackWorkload, StreamWorkload};

    use super::*;

    fn case(id: &str, workload: Workload, budget_s: f64) -> Case {
        let stopping = Stopping { target: 0.01, repetitions: 3, preparations: 3, budget_s };
        Case { id: id.into(), by: "assay".into(), workload, pair: None, stopping }
    }

    fn chain(bytes: u64) -> Workload {
        Workload::Latency(LatencyWorkload { cpu: 0, bytes, line_bytes: 64 })
    }

    fn stream(cpus: &[u32], bytes_per_array: u64) -> Workload {
        let domain = Domain { placement: "node".into(), cpus: cpus.to_vec() };
        Workload::Stream(StreamWorkload {
            domains: vec![domain],
            bytes_per_array,
            cache_multiple: 4.0,
        })
    }

    fn outlook(budget_s: f64, cases: Vec<Case>) -> Outlook {
        let plan = Plan { suite: "test".into(), budget_s, seed: None, cases, omitted: vec![] };
        Outlook::of(&plan, &HostFacts::default())
    }

    #[test]
    fn a_budget_that_cannot_be_kept_is_said_once_and_before() {
        for (elapsed_s, expected) in [
            ([0.0, 20.0, 40.0], [None; 3]),
            ([0.0, 31.0, 51.0], [None; 3]),
            ([0.0, 80.0, 100.0], [None, Some("about 120 s instead of the 60 s"), None]),
            ([0.0, 80.0, 140.0], [None, Some("about 120 s instead of the 60 s"), None]),
            (
                [0.0, 80.0, 180.0],
                [
                    None,
                    Some("about 120 s instead of the 60 s"),
                    Some("about 200 s by now, not 120 s: what was measured so far took longer"),
                ],
            ),
        ] {
            let cases = ["a", "b", "c"].map(|id| case(id, chain(4096), 20.0));
            let mut outlook = outlook(60.0, cases.to_vec());
            for ((case, elapsed_s), expected) in cases.iter().zip(elapsed_s).zip(expected) {
                let words = outlook.look(elapsed_s).map(|it| it.to_string());
                assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
                assert!(words.unwrap_or_default().contains(expected.unwrap_or("")));
                outlook.has_spent(&case.id, 20.0, true);
            }
        }
    }

    /// 1 ns for a byte touched, a tenth to fill, a hundredth to walk, a twentieth to check; 100 ns for a line.
    const RATES: Rates =
        Rates { touch_s: 1e-9, fill_s: 1e-10, walk_s: 1e-11, check_s: 5e-11, line_s: 1e-7 };

    #[test]
    fn memory_costs_what_its_bytes_do() {
        let giga = 1_000_000_000;
        let mut had_bytes = 0.0;
        let mut least_s = |workload: &Workload| RATES.least_s(workload, &mut had_bytes);
        // 3 GB touched, filled and checked by two threads, 12 GB walked.
        let first_s = 3.0 + (0.3 + 0.15 + 0.12) / 2.0;
        // Their memory is there already: filled with zeros instead of touched.
        let second_s = 0.3 + 0.3 + 0.15 + 0.12;
        for (workload, expected_s) in [
            (stream(&[0, 1], giga), first_s),
            (stream(&[0], giga), second_s),
            (chain(giga), 0.1 + giga as f64 / 64.0 * 1e-7),
        ] {
            let found_s = least_s(&workload);
            assert!((found_s - expected_s).abs() < 1e-9, "{found_s} {expected_s}");
        }
    }

    /// Ranks have to start, however little time they have, and a solve has no end before its end.
    #[test]
    fn what_cannot_be_shorter_is_told_before_it_begins() {
        let solve = |n| {
            let cpus = vec![0, 1];
            Workload::Linpack(LinpackWorkload { n, cpus, blas: None, seed: 1 })
        };
        let ranks = serde_json::json!({
            "benchmark": "mpi.bw", "ranks": 2, "placement": { "placement": "same-cache", "cpus": [0, 1] },
            "mpi": {
                "key": "x-1", "name": "X", "version": "1", "prefix": "/opt/x", "library": "/opt/x/libmpi.so",
                "abi": "open-mpi", "launcher": "/opt/x/mpiexec", "starter": "orte",
            },
            "hosts": {}, "from_bytes": 1, "to_bytes": 4_194_304,
        });
        let ranks = Workload::Mpi(serde_json::from_value(ranks).unwrap());
        for (workload, budget_s, expected) in [
            (solve(1000), 4.0, None),
            (solve(10_000), 4.0, Some("about 30 s instead of the 4.0 s")),
            (ranks.clone(), 20.0, None),
            (ranks, 0.3, Some("about 2.6 s instead of the")),
        ] {
            let mut outlook = outlook(budget_s, vec![case("a", workload, budget_s)]);
            let words = outlook.look(0.0).map(|it| it.to_string());
            assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
            assert!(
                words.as_deref().unwrap_or("").contains(expected.unwrap_or("")),
                "{words:?}"
            );
        }
    }

    #[test]
    fn what_touching_takes_is_told_while_it_goes_on() {
        let giga = 1_000_000_000;
        let cases =
            vec![case("a", stream(&[0], giga), 4.0), case("b", stream(&[0], giga), 4.0)];
        let mut outlook = outlook(8.0, cases);
        outlook.learn(Some(RATES));
        // 3.57 s and as much as they are given, and time for choosing, once for both.
        let choosing_s = outlook.left_s() - 8.0;
        assert!(choosing_s > 0.0 && choosing_s <= 2.0, "{choosing_s}");
        assert_eq!(outlook.look(0.0), None);
        outlook.has_touched(0.1e9, 0.7);
        outlook.has_spent("a", 0.7, false);
        // 21 s to touch all of it.
        assert!((outlook.left_s() - (21.57 + CASE_S + 4.0 + choosing_s - 0.7)).abs() < 1e-9);
        let words = outlook.look(0.7).unwrap().to_string();
        assert!(words.contains("instead of the 8.0 s"), "{words}");
        outlook.has_touched(0.2e9, 1.4);
        outlook.has_spent("a", 1.4, false);
        assert_eq!(outlook.look(1.4), None, "nothing new");
    }
}
