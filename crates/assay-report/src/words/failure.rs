//! Every failure in words: what failed and why, and what to do about it.

mod area;
mod launch;
mod network;

use assay_model::failure::{Failure, Lack, TriedRate, refusal};
use assay_model::quantity::{Quantity, Unit};

use super::Said;

const LOOK_AT_OUTPUT: &str = "look at the stored raw output";
const MAKE_AGAIN: &str = "the plan was made by another version of assay; make it again";

/// What failed and why, and what to do about it.
#[must_use]
pub fn failure(failure: &Failure) -> Said {
    match failure {
        Failure::NoSamples => {
            Said::new("nothing measured: the case has no samples", LOOK_AT_OUTPUT)
        }
        Failure::NoFiniteSample { metric } => Said::new(
            format!("nothing measured: no sample of {metric} is a finite number"),
            LOOK_AT_OUTPUT,
        ),
        Failure::UnknownHost { .. }
        | Failure::NoAddress { .. }
        | Failure::NotConnected { .. }
        | Failure::NoPingPong { .. }
        | Failure::NoData
        | Failure::Stalled { .. }
        | Failure::PeerBusy { .. }
        | Failure::PeerStopped { .. } => network::said(failure),
        Failure::IcmpHasNoStreams => Said::new("ICMP carries no streams", "ask for `latency`"),
        Failure::NoEcho => Said::new(
            "the host answers no ICMP echo",
            "it or a firewall may ignore ICMP; `assay net latency` asks by TCP or UDP",
        ),
        Failure::ResidualTooLarge { residual, bound } => Said::new(
            format!(
                "the solution is wrong: its scaled residual is {residual:.3e} and must be below \
                 {bound}"
            ),
            "repeat once; if it fails again, test the memory and the clock settings of this machine",
        ),
        Failure::UnknownInstructionSet { name } => {
            Said::new(format!("there is no instruction set `{name}`"), MAKE_AGAIN)
        }
        Failure::Skipped { host, lack } => Said::new(
            format!("skipped: {}", lacking(host, *lack)),
            "see the case that found it out: its failure says what to do",
        ),
        Failure::Error { area, causes, advice } => {
            let advice = match advice.is_empty() {
                true => area::advice(*area, causes),
                false => advice,
            };
            Said::new(causes.join(": "), advice)
        }
        Failure::Told { reason, advice } => Said::new(reason, advice),
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
        Lack::Address => format!("the host {host} could not be found"),
        Lack::Port(port) => format!("port {port} of {host} could not be reached"),
        Lack::Echo => format!("nothing at {host} answers ping-pongs"),
    }
}

fn storage(failure: &Failure) -> Said {
    match failure {
        Failure::ToolCannotSearch { by } => Said::new(
            format!("{by} measures a rate, and does not look for one"),
            "let assay look for it, and give the tool what it finds as --rate",
        ),
        Failure::CurveWithoutMaximum => Said::new(
            "the maximum rate of this curve is not known",
            "the case before it failed: look at its reason first",
        ),
        Failure::NoRateKeepsGoal { goal, last } => Said::new(
            format!(
                "no rate was shown to keep {goal}: {}",
                last.map_or_else(|| "no I/O was done".to_owned(), tried)
            ),
            "allow more latency, or give every step more time (`--for`): a percentile needs many I/O",
        ),
        Failure::IoFailed { count, operation, offset, target, causes } => {
            let what = match count {
                1 => "one I/O failed".to_owned(),
                more => format!("{more} I/O failed, first"),
            };
            refused(&format!("{what}: {operation} at byte {offset} of {target}"), causes)
        }
        Failure::FileOperationFailed { count, operation, path, causes } => {
            let what = match count {
                1 => "one operation failed".to_owned(),
                more => format!("{more} operations failed, first"),
            };
            refused(&format!("{what}: {operation} of {path}"), causes)
        }
        _ => Said::new(
            "no I/O completed in the time that counts",
            "give it more time with --for or --budget",
        ),
    }
}

/// What the kernel or the verifier said of it, and what can be done about that.
fn refused(what: &str, causes: &[String]) -> Said {
    let causes = causes.join(": ");
    let advice = refusal::advice(&causes)
        .unwrap_or("look at the kernel's messages with `dmesg`, then repeat");
    Said::new(format!("{what}: {causes}"), advice)
}

/// `412.3 kIO/s asked for, 411.9 kIO/s reached, 0.3 % of the I/O later: missed`.
fn tried(last: TriedRate) -> String {
    let rate = |value| Quantity::new(value, Unit::IoPerSecond);
    format!(
        "{:.4} asked for, {:.4} reached, {:.3} % of the I/O later: {}",
        rate(last.asked_per_s),
        rate(last.reached_per_s),
        100.0 * last.late,
        if last.is_missed { "missed" } else { "unclear" }
    )
}
