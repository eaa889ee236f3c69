//! Explanations and advice of every failure.

mod area;
mod launch;
mod network;

use assay_model::failure::{FailureReason, MissingHostFeature, TriedRate, os_error};
use assay_model::quantity::Unit;

use super::{Explanation, explanation};
use crate::locale::{colon, format_fixed, word};
use crate::locale::{in_percent, quantity, scientific};

/// Explains a failure and its reason, with advice.
pub fn failure(failure: &FailureReason) -> Explanation {
    let Explanation { text, advice } = explain(failure);
    Explanation::new(os_error::simplify_message(&text), advice)
}

fn explain(failure: &FailureReason) -> Explanation {
    match failure {
        FailureReason::NoSamples => explanation!("failure-no-samples"),
        FailureReason::NoFiniteSample { metric } => {
            explanation!("failure-no-finite-sample", metric = metric)
        }
        FailureReason::UnknownHost { .. }
        | FailureReason::NoAddress { .. }
        | FailureReason::NoInterface { .. }
        | FailureReason::NotConnected { .. }
        | FailureReason::NoPingPong { .. }
        | FailureReason::NoData
        | FailureReason::Stalled { .. }
        | FailureReason::PeerBusy { .. }
        | FailureReason::PeerStopped { .. } => network::explain(failure),
        FailureReason::IcmpHasNoStreams => explanation!("failure-icmp-has-no-streams"),
        FailureReason::NoEcho => explanation!("failure-no-echo"),
        FailureReason::ResidualTooLarge { residual, bound } => explanation!(
            "failure-residual-too-large",
            residual = scientific(*residual, 3),
            bound = bound.to_string(),
        ),
        FailureReason::UnknownInstructionSet { name } => {
            explanation!("failure-unknown-instruction-set", name = name)
        }
        FailureReason::Skipped { host, lack } => {
            explanation!("failure-skipped", lack = format_lack(host, *lack))
        }
        FailureReason::Error { area, causes, advice } => {
            let advice = match advice.is_empty() {
                true => area::advice(*area, causes),
                false => advice.clone(),
            };
            Explanation::new(causes.join(colon()), advice)
        }
        FailureReason::NoIo
        | FailureReason::ToolCannotSearch { .. }
        | FailureReason::CurveWithoutMaximum
        | FailureReason::NoRateKeepsGoal { .. }
        | FailureReason::IoFailed { .. }
        | FailureReason::FileOperationFailed { .. } => explain_storage(failure),
        FailureReason::WrongContents { .. }
        | FailureReason::RankDied { .. }
        | FailureReason::LaunchFailed { .. }
        | FailureReason::LauncherNotRun { .. }
        | FailureReason::NoOutcome { .. }
        | FailureReason::OtherVersion { .. }
        | FailureReason::OtherRankCount { .. }
        | FailureReason::LaunchBrokeOff { .. } => launch::explain(failure),
    }
}

fn format_lack(host: &str, lack: MissingHostFeature) -> String {
    match lack {
        MissingHostFeature::Address => message!("lack-address", host = host),
        MissingHostFeature::Port(port) => {
            message!("lack-port", host = host, port = port.to_string())
        }
        MissingHostFeature::Echo => message!("lack-echo", host = host),
        MissingHostFeature::Connection => message!("lack-connection", host = host),
    }
}

fn explain_storage(failure: &FailureReason) -> Explanation {
    match failure {
        FailureReason::ToolCannotSearch { by } => {
            explanation!("failure-tool-cannot-search", by = by)
        }
        FailureReason::CurveWithoutMaximum => explanation!("failure-curve-without-maximum"),
        FailureReason::NoRateKeepsGoal { goal, last } => explanation!(
            "failure-no-rate-keeps-goal",
            goal = goal.to_string(),
            last = last.map_or_else(|| word("no-io-done").to_owned(), format_tried_rate),
        ),
        FailureReason::IoFailed { count, operation, offset, target, causes } => {
            let what = message!(
                "failure-io-failed",
                n = *count,
                operation = operation.to_string(),
                offset = offset.to_string(),
                target = target.to_string(),
            );
            with_causes(&what, causes)
        }
        FailureReason::FileOperationFailed { count, operation, path, causes } => {
            let what = message!(
                "failure-file-operation-failed",
                n = *count,
                operation = operation.to_string(),
                path = path.to_string(),
            );
            with_causes(&what, causes)
        }
        _ => explanation!("failure-no-io"),
    }
}

/// Appends the causes from the kernel or the verifier, and advises on them.
fn with_causes(what: &str, causes: &[String]) -> Explanation {
    let advice =
        os_error::advice(&causes.join(": ")).unwrap_or_else(|| word("advice-kernel-log"));
    Explanation::new(format!("{what}{}{}", colon(), causes.join(colon())), advice)
}

/// Formats the last tried rate: `412.3 kIO/s requested, 411.9 kIO/s reached, 0.3 % of the I/O too
/// late: missed`.
fn format_tried_rate(last: TriedRate) -> String {
    let rate = |value| quantity(value, Unit::IoPerSecond, 4);
    message!(
        "rate-tried",
        asked = rate(last.asked_per_s),
        reached = rate(last.reached_per_s),
        late = in_percent(&format_fixed(100.0 * last.late, 3)),
        verdict = word(if last.is_missed { "goal-missed" } else { "goal-unclear" }),
    )
}
