//! Scenarios of CI, as tests: a wrong figure or a guest that hangs is a failure.
//!
//! A scenario that can run is never skipped: a deadlock would look like a busy machine.

use std::path::Path;

use anyhow::Result;

use super::{RunExtent, SCENARIOS, Scenario, ScenarioResult, prepare_lab, run_parallel};

/// Tries of a scenario. On a busy machine a guest occasionally hangs; a deadlock of the program
/// does so again.
const TRIES: usize = 2;

/// Result of a scenario in CI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScenarioVerdict {
    /// No figure is wrong.
    Holds,
    /// Holds in the second try, with the reason why the first did not end.
    HoldsOnRetry(String),
    /// A figure is wrong, or the scenario cannot run to its end, with the reason.
    Fails(String),
    /// No guest can run here, with the reason.
    Skipped(String),
}

/// Runs all scenarios and returns their verdicts. A scenario fails if a figure is wrong, if both
/// tries fail or time out, or if the preparation fails. An undecided figure is not a failure.
pub fn run(root: &Path) -> Result<Vec<(&'static str, ScenarioVerdict)>> {
    let ready = match prepare_lab(root, SCENARIOS.iter())? {
        Ok(ready) => ready,
        Err(reason) => {
            let skip = |it: &Scenario| (it.name, ScenarioVerdict::Skipped(reason.clone()));
            return Ok(SCENARIOS.iter().map(skip).collect());
        }
    };
    let mut verdicts = run_parallel(&ready.runnable, RunExtent::Brief, |it| {
        it.verdict(|| it.run(root, &ready.image, RunExtent::Brief))
    });
    let unprepared = || ScenarioVerdict::Fails("its preparation failed, see above".to_owned());
    verdicts.extend(ready.failed.iter().map(|name| (*name, unprepared())));
    let skipped = ready.skipped.into_iter();
    verdicts.extend(skipped.map(|(name, reason)| (name, ScenarioVerdict::Skipped(reason))));
    Ok(verdicts)
}

impl Scenario {
    fn verdict(
        &self,
        mut carry_out: impl FnMut() -> Result<ScenarioResult>,
    ) -> ScenarioVerdict {
        let mut reasons = Vec::new();
        for number in 1..=TRIES {
            let found = match carry_out() {
                Ok(found) => found,
                Err(error) => {
                    let reason = format!("{error:#}");
                    println!("lab: {}, try {number}: {reason}", self.name);
                    reasons.push(reason);
                    continue;
                }
            };
            reasons.extend(found.describe_wrong());
            return match (found.count_wrong(), reasons.is_empty()) {
                (0, true) => ScenarioVerdict::Holds,
                (0, false) => ScenarioVerdict::HoldsOnRetry(reasons.join("\n")),
                _ => ScenarioVerdict::Fails(reasons.join("\n")),
            };
        }
        ScenarioVerdict::Fails(reasons.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::{Context, bail};

    use super::super::LabFigure;
    use super::*;
    use crate::judge::Verdict;

    #[test]
    fn wrong_figures_and_repeated_errors_fail() {
        let found = |holds: &[Option<bool>]| {
            let figure = |&holds| LabFigure {
                verdict: match holds {
                    Some(true) => Verdict::Holds,
                    Some(false) => Verdict::Wrong,
                    None => Verdict::Undecided,
                },
                ..LabFigure::exact("f", "t", "r".to_owned())
            };
            let figures = holds.iter().map(figure).collect();
            ScenarioResult { figures, elapsed: Duration::ZERO, load_before: String::new() }
        };
        const WRONG: &str = "f: truth t, reported r";
        const LATE: &str = "scenario x: no exit code in 300s";
        let retried = |reason: &str| ScenarioVerdict::HoldsOnRetry(reason.to_owned());
        let failed = |reasons: &[&str]| ScenarioVerdict::Fails(reasons.join("\n"));
        let late = || bail!("no exit code in 300s");
        for (tries, expected) in [
            (&[Some(&[Some(true), None][..])][..], ScenarioVerdict::Holds),
            (&[Some(&[None])], ScenarioVerdict::Holds),
            // A wrong figure is not retried.
            (&[Some(&[Some(true), Some(false)]), Some(&[Some(true)])], failed(&[WRONG])),
            (&[None, Some(&[Some(true)])], retried(LATE)),
            (&[None, Some(&[Some(false)])], failed(&[LATE, WRONG])),
            (&[None, None, Some(&[Some(true)])], failed(&[LATE, LATE])),
        ] {
            let mut left = tries.iter();
            let verdict = SCENARIOS[0].verdict(|| {
                match left.next().expect("no more tries than results") {
                    Some(rows) => Ok(found(rows)),
                    None => late().context("scenario x"),
                }
            });
            assert_eq!(verdict, expected, "{tries:?}");
        }
    }
}
