//! Failures of launches of ranks.

use assay_model::failure::FailureReason;

use crate::locale::{colon, word};
use crate::words::{Explanation, explanation};

pub(super) fn explain(failure: &FailureReason) -> Explanation {
    match failure {
        FailureReason::WrongContents { bytes } => explanation!(
            "failure-wrong-contents",
            size = crate::locale::with_symbol(&bytes.to_string(), "B"),
        ),
        FailureReason::RankDied { how, by_hand } => {
            explanation!("failure-rank-died", how = how, see = advise_command(by_hand))
        }
        FailureReason::LaunchFailed { code, last_words, by_hand } => {
            let how = match code {
                Some(code) => message!("launcher-ended", code = code.to_string()),
                None => word("launcher-killed").to_owned(),
            };
            let text = match last_words.is_empty() {
                true => how,
                false => message!("launcher-said", how = how, words = last_words),
            };
            Explanation::new(text, advise_command(by_hand))
        }
        FailureReason::LauncherNotRun { launcher, causes } => Explanation::new(
            causes.join(colon()),
            message!("launcher-executable", launcher = launcher),
        ),
        FailureReason::NoOutcome { elsewhere: true } => explanation!("failure-no-outcome-here"),
        FailureReason::NoOutcome { elsewhere: false } => explanation!("failure-no-outcome"),
        FailureReason::OtherVersion { found, own } => {
            explanation!("failure-other-version", found = found, own = own)
        }
        FailureReason::OtherRankCount { found, asked, by_hand } => {
            let (found, asked) = (found.to_string(), asked.to_string());
            explanation!("failure-other-rank-count", found = found, asked = asked)
                .with_advice(advise_command(by_hand))
        }
        FailureReason::LaunchBrokeOff { by_hand } => {
            Explanation::new(word("failure-launch-broke-off"), advise_command(by_hand))
        }
        _ => Explanation::new("", ""),
    }
}

fn advise_command(by_hand: &str) -> String {
    message!("see-by-hand", command = by_hand)
}
