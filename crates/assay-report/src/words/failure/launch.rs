//! Failures of launches of ranks.

use assay_model::failure::Failure;

use crate::locale::{colon, word};
use crate::words::{Said, reported};

pub(super) fn said(failure: &Failure) -> Said {
    match failure {
        Failure::WrongContents { bytes } => reported!(
            "failure-wrong-contents",
            size = crate::locale::with_symbol(&bytes.to_string(), "B"),
        ),
        Failure::RankDied { how, by_hand } => {
            reported!("failure-rank-died", how = how, see = see(by_hand))
        }
        Failure::LaunchFailed { code, last_words, by_hand } => {
            let how = match code {
                Some(code) => say!("launcher-ended", code = code.to_string()),
                None => word("launcher-killed").to_owned(),
            };
            let text = match last_words.is_empty() {
                true => how,
                false => say!("launcher-said", how = how, words = last_words),
            };
            Said::new(text, see(by_hand))
        }
        Failure::LauncherNotRun { launcher, causes } => {
            Said::new(causes.join(colon()), say!("launcher-executable", launcher = launcher))
        }
        Failure::NoOutcome { elsewhere: true } => reported!("failure-no-outcome-here"),
        Failure::NoOutcome { elsewhere: false } => reported!("failure-no-outcome"),
        Failure::OtherVersion { found, own } => {
            reported!("failure-other-version", found = found, own = own)
        }
        Failure::OtherRankCount { found, asked, by_hand } => {
            let (found, asked) = (found.to_string(), asked.to_string());
            reported!("failure-other-rank-count", found = found, asked = asked)
                .advise(see(by_hand))
        }
        Failure::LaunchBrokeOff { by_hand } => {
            Said::new(word("failure-launch-broke-off"), see(by_hand))
        }
        _ => Said::new("", ""),
    }
}

fn see(by_hand: &str) -> String {
    say!("see-by-hand", command = by_hand)
}
