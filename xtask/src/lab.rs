//! Scenarios of the laboratory as tests of CI. The laboratory itself is a crate of its own.

use std::path::Path;

use anyhow::Result;
use laboratory::ScenarioVerdict;

use crate::test::{self, TestTally, TruthVerdict};

/// Runs all scenarios and counts them as tests.
pub(crate) fn run_in_ci(root: &Path, tally: &mut TestTally) -> Result<()> {
    for (name, verdict) in laboratory::run_in_ci(root)? {
        let test = format!("{}{name}", test::LAB_PREFIX);
        if let ScenarioVerdict::HoldsOnRetry(reason) = &verdict {
            println!("flaky {test}: {reason}");
            tally.list_as_flaky(&test);
        }
        tally.add(&test, convert_verdict(verdict));
    }
    Ok(())
}

fn convert_verdict(verdict: ScenarioVerdict) -> TruthVerdict {
    match verdict {
        ScenarioVerdict::Holds | ScenarioVerdict::HoldsOnRetry(_) => TruthVerdict::Holds,
        ScenarioVerdict::Fails(reason) => TruthVerdict::Fails(reason),
        ScenarioVerdict::Skipped(reason) => {
            TruthVerdict::Skipped(format!("{}: {reason}", test::NO_GUEST_PREFIX))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skip_names_the_reason() {
        let skipped = ScenarioVerdict::Skipped("cpio is not installed".to_owned());
        let expected = "no guest can run here: cpio is not installed".to_owned();
        assert_eq!(convert_verdict(skipped), TruthVerdict::Skipped(expected));
    }
}
