//! Doubts about the measurer: tool output, binding of ranks, limits of the far end.

use assay_model::doubt::Doubt;
use assay_model::quantity::Unit;

use crate::locale::{format_fixed, word};
use crate::locale::{in_percent as percent_of, quantity};
use crate::words::{Explanation, explanation, in_percent};

/// Explains the remaining doubts. The match is exhaustive, so that a new doubt without a text does
/// not compile.
pub(super) fn explain(doubt: &Doubt) -> Explanation {
    match doubt {
        Doubt::RoundedOutput { .. }
        | Doubt::ProcessCpuOnly { .. }
        | Doubt::CopyUnknown
        | Doubt::BrokeOff
        | Doubt::OtherThreadCount { .. }
        | Doubt::SmallerArrays { .. }
        | Doubt::UnreadOutput { .. }
        | Doubt::StoreIndex { .. }
        | Doubt::EventsLost { .. } => explain_output(doubt),
        Doubt::OtherBinding { .. } | Doubt::OneKernel | Doubt::UnboundRanks { .. } => {
            explain_ranks(doubt)
        }
        Doubt::FunctionBypassed { function, device, share } => explanation!(
            "doubt-function-bypassed",
            function = function,
            device = device,
            share = in_percent(*share, 0),
        ),
        // Other modules explain these.
        Doubt::NoInterval { .. }
        | Doubt::WideInterval { .. }
        | Doubt::OnePreparation { .. }
        | Doubt::FewPreparations { .. }
        | Doubt::PreparationsDiffer { .. }
        | Doubt::Autocorrelated { .. }
        | Doubt::SeveralModes { .. }
        | Doubt::SamplesNotFinite { .. }
        | Doubt::NotFinite { .. }
        | Doubt::NotPositive { .. }
        | Doubt::OutOfOrder { .. }
        | Doubt::AboveLimit { .. }
        | Doubt::NoRpeak { .. }
        | Doubt::UnknownMetric { .. }
        | Doubt::CacheAssisted { .. }
        | Doubt::Steal { .. }
        | Doubt::CpuPressure { .. }
        | Doubt::MemoryPressure { .. }
        | Doubt::Throttled { .. }
        | Doubt::FrequencyDrop { .. }
        | Doubt::OtherLoad { .. }
        | Doubt::AnotherAssay
        | Doubt::EmulatedCpu
        | Doubt::HostLost { .. }
        | Doubt::WorseThanPeers { .. }
        | Doubt::HostSaturated { .. }
        | Doubt::WorseThanPairs { .. }
        | Doubt::OnHost { .. }
        | Doubt::Paused { .. }
        | Doubt::CpusTaken { .. }
        | Doubt::ClockStepped { .. }
        | Doubt::OverBudget { .. }
        | Doubt::MeasuredOnce { .. }
        | Doubt::SteadyStateNotReached { .. }
        | Doubt::SearchNotFinished { .. }
        | Doubt::TargetInMemory { .. }
        | Doubt::FileWithHoles { .. }
        | Doubt::IoFailed { .. }
        | Doubt::FileOperationFailed { .. }
        | Doubt::LittlesLaw { .. }
        | Doubt::RateMissed { .. }
        | Doubt::NotStarted { .. }
        | Doubt::MessageRateMissed { .. }
        | Doubt::WarmUpDiscarded { .. }
        | Doubt::GeneratorNear { .. } => Explanation::new("", ""),
    }
}

fn explain_ranks(doubt: &Doubt) -> Explanation {
    match doubt {
        Doubt::OtherBinding { bound, asked } => {
            explanation!("doubt-other-binding", bound = bound, asked = format!("{asked:?}"))
        }
        Doubt::OneKernel => explanation!("doubt-one-kernel"),
        Doubt::UnboundRanks { unbound, moved, ranks } => explanation!(
            "doubt-unbound-ranks",
            unbound = unbound.to_string(),
            moved = moved.to_string(),
            ranks = ranks.to_string(),
        ),
        _ => Explanation::new("", ""),
    }
}

fn explain_output(doubt: &Doubt) -> Explanation {
    match doubt {
        Doubt::RoundedOutput { metric, at, share } => {
            let at = match at.is_empty() {
                true => String::new(),
                false => message!("rounded-at", at = at),
            };
            explanation!(
                "doubt-rounded-output",
                metric = metric,
                share = percent_of(&quantity(100.0 * share, Unit::Ratio, 2)),
                at = at
            )
        }
        Doubt::ProcessCpuOnly { is_tool: true } => explanation!("doubt-process-cpu-only"),
        Doubt::ProcessCpuOnly { is_tool: false } => explanation!("doubt-far-process-cpu-only"),
        Doubt::CopyUnknown => explanation!("doubt-copy-unknown", version = "3.19"),
        Doubt::BrokeOff => explanation!("doubt-broke-off"),
        Doubt::OtherThreadCount { asked, ran } => {
            explanation!(
                "doubt-other-thread-count",
                asked = asked.to_string(),
                ran = ran.to_string()
            )
        }
        Doubt::SmallerArrays { held_bytes, wanted_bytes, multiple } => explanation!(
            "doubt-smaller-arrays",
            held = quantity(*held_bytes, Unit::Byte, 3),
            wanted = quantity(*wanted_bytes, Unit::Byte, 3),
            multiple = format_fixed(*multiple, 2),
        ),
        Doubt::UnreadOutput { problem } => Explanation::new(problem, word("advice-raw-output")),
        Doubt::EventsLost { count: 0 } => explanation!("doubt-events-changed"),
        Doubt::EventsLost { count } => explanation!("doubt-events-lost", n = *count),
        Doubt::StoreIndex { path, cause } => {
            explanation!("doubt-store-index", path = path.display().to_string(), cause = cause)
        }
        _ => Explanation::new("", ""),
    }
}
