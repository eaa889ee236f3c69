//! Divides the budget of a run on several hosts among the cases that hosts measure together: pairs, and
//! storage.
//!
//! All hosts of such a case must agree whether it begins, and how long it takes. The coordinator
//! therefore decides, by its own clock; it decides nothing about cases that each host measures by itself.

use std::collections::BTreeSet;

use assay_model::event::{RunEvent, StopReason};
use assay_model::facts::HostFacts;
use assay_model::plan::{Case, Plan};

use super::lockstep::CaseStep;
use crate::forecast::{self, Allowance, RunForecast};

/// Seconds that a round takes beyond its grant before one was measured.
const FIRST_EXCESS_S: f64 = 0.2;
/// Rounds by which the next one is judged: an earlier disturbance is over.
const LATEST_ROUNDS: usize = 4;

/// Time of the joint cases of a run.
#[derive(Debug)]
pub(super) struct JointTime {
    /// `None` if the budget is not kept.
    forecast: Option<RunForecast>,
    cases: Vec<Case>,
    /// Time of the first common start, from which the budget counts.
    began_ns: Option<u64>,
    /// Position of the latest case; all cases before it have ended.
    position: usize,
    /// Cases of which a host has a result.
    finished: BTreeSet<usize>,
    /// Start and granted seconds of the latest round of pairs.
    latest_round: Option<(u64, f64)>,
    /// Seconds that each round of pairs took beyond its grant: agreeing on starts, opening
    /// connections, and steps that were slower than those before.
    excess_s: Vec<f64>,
}

impl JointTime {
    pub(super) fn from_plan(plan: &Plan, keeps_budget: bool) -> Self {
        let forecast = keeps_budget
            .then(|| RunForecast::from_plan(plan, &HostFacts::default(), keeps_budget))
            .map(RunForecast::with_joint_end);
        Self {
            forecast,
            cases: plan.cases.clone(),
            began_ns: None,
            position: 0,
            finished: BTreeSet::new(),
            latest_round: None,
            excess_s: Vec::new(),
        }
    }

    /// Notes whether an event of a host is the result of the latest case.
    pub(super) fn note_event(&mut self, event: &RunEvent) {
        if let RunEvent::CaseFinished { stopped, .. } = event
            && !matches!(stopped, StopReason::Cut | StopReason::NotNeeded)
        {
            self.finished.insert(self.position);
        }
    }

    /// Returns the seconds that a case may use which hosts begin together at `at_ns`, 0 if it is left
    /// out; `None` if the hosts decide, or for a later step of a case.
    pub(super) fn grant(&mut self, (at, step): CaseStep, at_ns: u64) -> Option<f64> {
        let began_ns = *self.began_ns.get_or_insert(at_ns);
        if step == 0 && at > self.position {
            self.note_excess(at - self.position, at_ns);
        }
        let (mean_s, most_s) = self.expected_excess_s();
        let forecast = self.forecast.as_mut().filter(|_| step == 0)?;
        for earlier in self.position..at.min(self.cases.len()) {
            let case = &self.cases[earlier].id;
            match self.finished.contains(&earlier) {
                true => forecast.record_turn(case, 0.0, true),
                false => forecast.record_end(case),
            }
        }
        self.position = self.position.max(at);
        let case = self.cases.get(at).filter(|case| forecast::is_joint(case))?;
        let elapsed_s = at_ns.saturating_sub(began_ns) as f64 * 1e-9;
        let allowance = |excess_s| forecast.allowance(&case.id, elapsed_s + excess_s);
        let allowance = match case.pair.is_some() {
            true => {
                let rounds = self.cases[at..].iter().filter(|it| it.pair.is_some()).count();
                match (allowance(most_s), allowance(mean_s * rounds as f64)) {
                    // Without the rounds after it, there is time for this one.
                    (alone, Allowance::Nothing) | (alone @ Allowance::Nothing, _) => alone,
                    (_, granted) => granted,
                }
            }
            false => allowance(0.0),
        };
        let granted_s = match allowance {
            Allowance::Planned => return None,
            // The job of a tool has no total: it begins if its plan fits.
            Allowance::UpTo { total_s, end_s, .. } if total_s.is_infinite() => {
                let least_s = case.min_duration_s(&HostFacts::default()).unwrap_or(0.0);
                if least_s <= end_s { end_s } else { 0.0 }
            }
            Allowance::UpTo { total_s, .. } => {
                self.latest_round = case.pair.is_some().then_some((at_ns, total_s));
                total_s
            }
            Allowance::Nothing => 0.0,
        };
        if granted_s <= 0.0 {
            forecast.record_end(&case.id);
        }
        Some(granted_s)
    }

    /// Adds the time that the latest round took beyond its grant, which each of its `cases` had: by
    /// assay and by tools.
    fn note_excess(&mut self, cases: usize, now_ns: u64) {
        let Some((began_ns, granted_s)) = self.latest_round.take() else { return };
        let took_s = now_ns.saturating_sub(began_ns) as f64 * 1e-9;
        self.excess_s.push((took_s - cases as f64 * granted_s).max(0.0));
    }

    /// Mean and maximum of the seconds that a round takes beyond its grant, by the latest rounds.
    fn expected_excess_s(&self) -> (f64, f64) {
        let latest = &self.excess_s[self.excess_s.len().saturating_sub(LATEST_ROUNDS)..];
        if latest.is_empty() {
            return (FIRST_EXCESS_S, FIRST_EXCESS_S);
        }
        let mean_s = latest.iter().sum::<f64>() / latest.len() as f64;
        (mean_s, latest.iter().copied().fold(0.0, f64::max))
    }
}

#[cfg(test)]
mod tests {
    use assay_model::plan::{CasePair, StoppingRule};
    use assay_model::workload::{NetworkTest, NetworkThroughput, NetworkWorkload, Workload};

    use super::*;

    /// Throughput of pairs, in rounds of one pair; a repetition takes `seconds`.
    fn rounds(seconds: &[u32], budget_s: f64) -> Plan {
        let count = seconds.len() as f64;
        let case = |(round, seconds): (u32, &u32)| Case {
            id: round.to_string(),
            by: "assay".into(),
            workload: Workload::NetworkTcp(NetworkWorkload {
                to: Some("b".into()),
                port: None,
                test: NetworkTest::Throughput(NetworkThroughput::sending(*seconds)),
            }),
            pair: Some(CasePair { round, ..CasePair::new("b") }),
            stopping: StoppingRule {
                target: 0.01,
                repetitions: 3,
                preparations: 3,
                budget_s: budget_s / count,
            },
        };
        let cases = (0..).zip(seconds).map(case).collect();
        Plan::new("s", budget_s, cases)
    }

    /// Each round takes what it is granted, or its repetition, and `late_s` more.
    #[test]
    fn pairs_keep_the_budget() {
        for (seconds, budget_s, late_s, keeps_budget, left_out) in [
            // On time: each has its plan.
            (&[1, 1, 1, 1][..], 20.0, 0.0, true, 0),
            // Late: later rounds are shortened.
            (&[1, 1, 1, 1], 20.0, 2.0, true, 0),
            (&[1, 1, 1, 1], 20.0, 9.0, true, 3),
            // One repetition does not fit.
            (&[1, 30], 20.0, 0.0, true, 1),
            (&[30], 20.0, 0.0, true, 1),
            (&[1, 30], 20.0, 0.0, false, 0),
            (&[1, 30], 5.0, 0.0, true, 1),
        ] {
            let plan = rounds(seconds, budget_s);
            let mut time = JointTime::from_plan(&plan, keeps_budget);
            let (mut elapsed_s, mut cut) = (0.0, 0);
            for (at, least_s) in seconds.iter().enumerate() {
                let granted_s = time.grant((at, 0), 7 + (elapsed_s * 1e9) as u64);
                assert_eq!(time.grant((at, 1), 7), None, "a later step");
                let planned_s = plan.cases[at].stopping.budget_s;
                match granted_s {
                    Some(0.0) => cut += 1,
                    granted_s => {
                        time.note_event(&RunEvent::CaseFinished {
                            case: at.to_string(),
                            stopped: StopReason::Budget,
                        });
                        let took_s = granted_s.unwrap_or(planned_s).max(f64::from(*least_s));
                        elapsed_s += took_s + late_s;
                    }
                }
            }
            assert_eq!(cut, left_out, "{seconds:?} {budget_s} {late_s} {keeps_budget}");
            assert!(
                !keeps_budget || elapsed_s <= 1.05 * budget_s,
                "{seconds:?} {budget_s} {late_s}: {elapsed_s}"
            );
        }
    }
}
