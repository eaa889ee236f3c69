//! Scenarios of CI, as tests: a wrong figure or a guest that hangs is a failure.
//!
//! A scenario that can run is never skipped: a deadlock would look like a busy machine.

use std::path::Path;

use anyhow::Result;

use super::{Extent, Found, SCENARIOS, Scenario, made_ready, side_by_side};
use crate::test::{self, Tally, Verdict};

/// Tries of a scenario. On a busy machine a guest occasionally hangs; a deadlock of the program
/// does so again.
const TRIES: usize = 2;

/// Runs all scenarios and counts them as tests. A test fails if a figure is wrong, if both tries
/// fail or time out, or if the preparation fails. An undecided figure is not a failure.
pub(crate) fn run(root: &Path, tally: &mut Tally) -> Result<()> {
    let mut add = |name: &str, verdict| tally.add(&format!("{}{name}", test::LAB), verdict);
    let ready = match made_ready(root, SCENARIOS.iter())? {
        Ok(ready) => ready,
        Err(reason) => {
            SCENARIOS.iter().for_each(|it| add(it.name, skipped(&reason)));
            return Ok(());
        }
    };
    ready.impossible.iter().for_each(|(name, reason)| add(name, skipped(reason)));
    ready.broken.iter().for_each(|name| add(name, Verdict::Fails));
    let verdicts = side_by_side(&ready.chosen, Extent::Brief, |it| {
        it.verdict(|| it.carry_out(root, &ready.image, Extent::Brief))
    });
    verdicts.into_iter().for_each(|(name, verdict)| add(name, verdict));
    Ok(())
}

fn skipped(reason: &str) -> Verdict {
    Verdict::Skipped(format!("{}: {reason}", test::NO_GUEST))
}

impl Scenario {
    fn verdict(&self, mut carry_out: impl FnMut() -> Result<Found>) -> Verdict {
        for number in 1..=TRIES {
            match carry_out() {
                Ok(found) if found.count_of_wrong() > 0 => return Verdict::Fails,
                Ok(_) => return Verdict::Holds,
                Err(error) => println!("lab: {}, try {number}: {error:#}", self.name),
            }
        }
        Verdict::Fails
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::{Context, bail};

    use super::super::Figure;
    use super::*;

    #[test]
    fn only_what_is_wrong_or_hangs_fails() {
        let found = |holds: &[Option<bool>]| {
            let figure = |&holds| Figure { holds, ..Figure::is("", "", String::new()) };
            let figures = holds.iter().map(figure).collect();
            Found { figures, taken: Duration::ZERO, load: String::new() }
        };
        let late = || bail!("it did not end in 300s");
        for (tries, expected) in [
            (&[Some(&[Some(true), None][..])][..], Verdict::Holds),
            (&[Some(&[None])], Verdict::Holds),
            // A wrong figure is not retried.
            (&[Some(&[Some(true), Some(false)]), Some(&[Some(true)])], Verdict::Fails),
            (&[None, Some(&[Some(true)])], Verdict::Holds),
            (&[None, Some(&[Some(false)])], Verdict::Fails),
            (&[None, None, Some(&[Some(true)])], Verdict::Fails),
        ] {
            let mut left = tries.iter();
            let verdict = SCENARIOS[0].verdict(|| match left.next().expect("so many tries") {
                Some(rows) => Ok(found(rows)),
                None => late().context("scenario x"),
            });
            assert_eq!(verdict, expected, "{tries:?}");
        }
    }

    #[test]
    fn who_has_no_guest_is_skipped_by_name() {
        let Verdict::Skipped(reason) = skipped("cpio is not installed") else { panic!() };
        assert_eq!(reason, "no guest can run here: cpio is not installed");
    }
}
