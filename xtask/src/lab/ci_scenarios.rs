//! Scenarios of CI, as tests: a wrong figure or a guest that hangs is a failure.
//!
//! A scenario that can run is never skipped: a deadlock would look like a busy machine.

use std::path::Path;

use anyhow::Result;

use super::{RunExtent, SCENARIOS, Scenario, ScenarioResult, prepare_lab, run_parallel};
use crate::test::{self, TestTally, TruthVerdict};

/// Tries of a scenario. On a busy machine a guest occasionally hangs; a deadlock of the program
/// does so again.
const TRIES: usize = 2;

/// Runs all scenarios and counts them as tests. A test fails if a figure is wrong, if both tries
/// fail or time out, or if the preparation fails. An undecided figure is not a failure.
pub(crate) fn run(root: &Path, tally: &mut TestTally) -> Result<()> {
    let mut add =
        |name: &str, verdict| tally.add(&format!("{}{name}", test::LAB_PREFIX), verdict);
    let ready = match prepare_lab(root, SCENARIOS.iter())? {
        Ok(ready) => ready,
        Err(reason) => {
            SCENARIOS.iter().for_each(|it| add(it.name, skipped_verdict(&reason)));
            return Ok(());
        }
    };
    ready.skipped.iter().for_each(|(name, reason)| add(name, skipped_verdict(reason)));
    ready.failed.iter().for_each(|name| add(name, TruthVerdict::Fails));
    let verdicts = run_parallel(&ready.runnable, RunExtent::Brief, |it| {
        it.verdict(|| it.run(root, &ready.image, RunExtent::Brief))
    });
    verdicts.into_iter().for_each(|(name, verdict)| add(name, verdict));
    Ok(())
}

fn skipped_verdict(reason: &str) -> TruthVerdict {
    TruthVerdict::Skipped(format!("{}: {reason}", test::NO_GUEST_PREFIX))
}

impl Scenario {
    fn verdict(&self, mut carry_out: impl FnMut() -> Result<ScenarioResult>) -> TruthVerdict {
        for number in 1..=TRIES {
            match carry_out() {
                Ok(found) if found.count_wrong() > 0 => return TruthVerdict::Fails,
                Ok(_) => return TruthVerdict::Holds,
                Err(error) => println!("lab: {}, try {number}: {error:#}", self.name),
            }
        }
        TruthVerdict::Fails
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::{Context, bail};

    use super::super::LabFigure;
    use super::*;

    #[test]
    fn wrong_figures_and_repeated_errors_fail() {
        let found = |holds: &[Option<bool>]| {
            let figure = |&holds| LabFigure {
                is_correct: holds,
                ..LabFigure::exact("", "", String::new())
            };
            let figures = holds.iter().map(figure).collect();
            ScenarioResult { figures, elapsed: Duration::ZERO, load_before: String::new() }
        };
        let late = || bail!("no exit code in 300s");
        for (tries, expected) in [
            (&[Some(&[Some(true), None][..])][..], TruthVerdict::Holds),
            (&[Some(&[None])], TruthVerdict::Holds),
            // A wrong figure is not retried.
            (&[Some(&[Some(true), Some(false)]), Some(&[Some(true)])], TruthVerdict::Fails),
            (&[None, Some(&[Some(true)])], TruthVerdict::Holds),
            (&[None, Some(&[Some(false)])], TruthVerdict::Fails),
            (&[None, None, Some(&[Some(true)])], TruthVerdict::Fails),
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

    #[test]
    fn skip_names_the_reason() {
        let TruthVerdict::Skipped(reason) = skipped_verdict("cpio is not installed") else {
            panic!()
        };
        assert_eq!(reason, "no guest can run here: cpio is not installed");
    }
}
