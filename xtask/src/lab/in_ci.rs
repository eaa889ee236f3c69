//! The scenarios of CI, as tests: a row that is wrong fails, and so does a guest that hangs.
//!
//! Never skips what could run: a program that deadlocks would look like a machine that is busy.

use std::path::Path;

use anyhow::Result;

use super::{Found, SCENARIOS, Scenario, ready, side_by_side};
use crate::test::{self, Tally, Verdict};

/// Those that CI does not run, each with the reason. Every other one it does.
const NOT_IN_CI: &[(&str, &str)] = &[
    (
        "rdma",
        "on a busy machine most of its rows are undecided after 430 s; `rdma-cable` is what CI holds RDMA against",
    ),
    ("arm", "it compiles everything again, for aarch64, and takes 200 s after that"),
];
/// A guest is lost now and then where others want the processors; what hangs does so again.
const TRIES: usize = 2;

/// Who is left out, and why, for the page.
pub(super) fn left_out() -> String {
    let named = NOT_IN_CI.iter().map(|(name, reason)| format!("`{name}`: {reason}"));
    format!("CI runs all but {}.", named.collect::<Vec<_>>().join("; "))
}

/// Runs them and counts them as tests. One fails for a row that is wrong, and for one that twice does not end well or in
/// time; a row that is undecided is no failure.
pub(crate) fn run(root: &Path, tally: &mut Tally) -> Result<()> {
    for (name, reason) in NOT_IN_CI {
        println!("not in CI: {name}: {reason}");
    }
    let chosen = chosen();
    let image = ready(root)?;
    let verdicts = side_by_side(&chosen, |it| {
        let image = match &image {
            Ok(image) => image,
            Err(reason) => return skipped(reason),
        };
        if let Some(reason) = it.impossible() {
            return skipped(&reason);
        }
        it.verdict(|| {
            it.prepare(root, image)?;
            it.carry_out(root, image, it.deadline)
        })
    });
    for (name, verdict) in verdicts {
        tally.add(&format!("{}{name}", test::LAB), verdict);
    }
    Ok(())
}

fn chosen() -> Vec<&'static Scenario> {
    let is_left_out = |it: &Scenario| NOT_IN_CI.iter().any(|(name, _)| *name == it.name);
    SCENARIOS.iter().filter(|it| !is_left_out(it)).collect()
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
    fn what_is_left_out_exists_and_has_a_reason() {
        for (name, reason) in NOT_IN_CI {
            assert!(SCENARIOS.iter().any(|it| it.name == *name), "{name}");
            assert!(!reason.is_empty(), "{name}");
        }
        assert_eq!(chosen().len() + NOT_IN_CI.len(), SCENARIOS.len());
        assert!(NOT_IN_CI.iter().all(|(name, _)| left_out().contains(name)), "{}", left_out());
    }

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
            // What is wrong is not tried again.
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
