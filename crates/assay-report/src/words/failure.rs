//! Explanations and advice of every failure.

mod area;
mod launch;
mod network;

use assay_model::failure::{Failure, Lack, TriedRate, refusal};
use assay_model::quantity::Unit;

use super::{Said, reported};
use crate::locale::{colon, fixed, word};
use crate::locale::{in_percent, quantity, scientific};

/// Explains a failure and its reason, with advice.
#[must_use]
pub fn failure(failure: &Failure) -> Said {
    let Said { text, advice } = said(failure);
    Said::new(refusal::plain(&text), advice)
}

fn said(failure: &Failure) -> Said {
    match failure {
        Failure::NoSamples => reported!("failure-no-samples"),
        Failure::NoFiniteSample { metric } => {
            reported!("failure-no-finite-sample", metric = metric)
        }
        Failure::UnknownHost { .. }
        | Failure::NoAddress { .. }
        | Failure::NoInterface { .. }
        | Failure::NotConnected { .. }
        | Failure::NoPingPong { .. }
        | Failure::NoData
        | Failure::Stalled { .. }
        | Failure::PeerBusy { .. }
        | Failure::PeerStopped { .. } => network::said(failure),
        Failure::IcmpHasNoStreams => reported!("failure-icmp-has-no-streams"),
        Failure::NoEcho => reported!("failure-no-echo"),
        Failure::ResidualTooLarge { residual, bound } => reported!(
            "failure-residual-too-large",
            residual = scientific(*residual, 3),
            bound = bound.to_string(),
        ),
        Failure::UnknownInstructionSet { name } => {
            reported!("failure-unknown-instruction-set", name = name)
        }
        Failure::Skipped { host, lack } => {
            reported!("failure-skipped", lack = lacking(host, *lack))
        }
        Failure::Error { area, causes, advice } => {
            let advice = match advice.is_empty() {
                true => area::advice(*area, causes),
                false => advice.clone(),
            };
            Said::new(causes.join(colon()), advice)
        }
        Failure::Reported { reason, advice } => Said::new(reason, advice),
        Failure::NoIo
        | Failure::ToolCannotSearch { .. }
        | Failure::CurveWithoutMaximum
        | Failure::NoRateKeepsGoal { .. }
        | Failure::IoFailed { .. }
        | Failure::FileOperationFailed { .. } => storage(failure),
        Failure::WrongContents { .. }
        | Failure::RankDied { .. }
        | Failure::LaunchFailed { .. }
        | Failure::LauncherNotRun { .. }
        | Failure::NoOutcome { .. }
        | Failure::OtherVersion { .. }
        | Failure::OtherRankCount { .. }
        | Failure::LaunchBrokeOff { .. } => launch::said(failure),
    }
}

fn lacking(host: &str, lack: Lack) -> String {
    match lack {
        Lack::Address => say!("lack-address", host = host),
        Lack::Port(port) => say!("lack-port", host = host, port = port.to_string()),
        Lack::Echo => say!("lack-echo", host = host),
        Lack::Connection => say!("lack-connection", host = host),
    }
}

fn storage(failure: &Failure) -> Said {
    match failure {
        Failure::ToolCannotSearch { by } => reported!("failure-tool-cannot-search", by = by),
        Failure::CurveWithoutMaximum => reported!("failure-curve-without-maximum"),
        Failure::NoRateKeepsGoal { goal, last } => reported!(
            "failure-no-rate-keeps-goal",
            goal = goal.to_string(),
            last = last.map_or_else(|| word("no-io-done").to_owned(), tried),
        ),
        Failure::IoFailed { count, operation, offset, target, causes } => {
            let what = say!(
                "failure-io-failed",
                n = *count,
                operation = operation.to_string(),
                offset = offset.to_string(),
                target = target.to_string(),
            );
            refused(&what, causes)
        }
        Failure::FileOperationFailed { count, operation, path, causes } => {
            let what = say!(
                "failure-file-operation-failed",
                n = *count,
                operation = operation.to_string(),
                path = path.to_string(),
            );
            refused(&what, causes)
        }
        _ => reported!("failure-no-io"),
    }
}

/// Appends the causes from the kernel or the verifier, and advises on them.
fn refused(what: &str, causes: &[String]) -> Said {
    let advice =
        refusal::advice(&causes.join(": ")).unwrap_or_else(|| word("advice-kernel-log"));
    Said::new(format!("{what}{}{}", colon(), causes.join(colon())), advice)
}

/// Formats the last tried rate: `412.3 kIO/s requested, 411.9 kIO/s reached, 0.3 % of the I/O too
/// late: missed`.
fn tried(last: TriedRate) -> String {
    let rate = |value| quantity(value, Unit::IoPerSecond, 4);
    say!(
        "rate-tried",
        asked = rate(last.asked_per_s),
        reached = rate(last.reached_per_s),
        late = in_percent(&fixed(100.0 * last.late, 3)),
        verdict = word(if last.is_missed { "goal-missed" } else { "goal-unclear" }),
    )
}
