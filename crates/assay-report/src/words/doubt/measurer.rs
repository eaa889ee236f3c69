//! Doubts about the measurer: tool output, binding of ranks, limits of the far end.

use assay_model::doubt::Doubt;
use assay_model::quantity::{Quantity, Unit};

use crate::words::Said;

/// Ends the search for words, so this match names every doubt: a new one does not compile without.
pub(super) fn said(doubt: &Doubt) -> Said {
    match doubt {
        Doubt::RoundedOutput { .. }
        | Doubt::ProcessCpuOnly { .. }
        | Doubt::CopyUnknown
        | Doubt::OtherThreadCount { .. }
        | Doubt::SmallerArrays { .. }
        | Doubt::UnreadOutput { .. }
        | Doubt::StoreIndex { .. }
        | Doubt::EventsLost { .. } => of_output(doubt),
        Doubt::OtherBinding { bound, asked } => other_binding(bound, asked),
        Doubt::UnboundRanks { unbound, moved, ranks } => Said::new(
            format!(
                "{unbound} of {ranks} ranks are not bound to one CPU, and {moved} of them moved"
            ),
            "bind them by the launcher: `-bind-to core` (MPICH), `--bind-to core` (Open MPI), \
             `I_MPI_PIN=1` (Intel MPI), `--cpu-bind=cores` (srun)",
        ),
        Doubt::FunctionBypassed { function, device, share } => Said::new(
            format!(
                "the virtual function {function} carried {:.0} % of what {device} carried during \
                 the test",
                share * 100.0
            ),
            "accelerated networking is set up and not in use: look for `Data path switched` in \
             the kernel's log",
        ),
        Doubt::Told { text, advice, .. } => Said::new(text, advice),
        // These have words elsewhere.
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
        | Doubt::HostLost { .. }
        | Doubt::OnHost { .. }
        | Doubt::Paused { .. }
        | Doubt::CpusTaken { .. }
        | Doubt::ClockStepped { .. }
        | Doubt::OverBudget { .. }
        | Doubt::MeasuredOnce { .. }
        | Doubt::SteadyStateNotReached { .. }
        | Doubt::FileWithHoles { .. }
        | Doubt::IoFailed { .. }
        | Doubt::FileOperationFailed { .. }
        | Doubt::LittlesLaw { .. }
        | Doubt::RateMissed { .. }
        | Doubt::NotStarted { .. }
        | Doubt::WarmUpDiscarded { .. }
        | Doubt::GeneratorNear { .. } => Said::new("", ""),
    }
}

fn other_binding(bound: &str, asked: &[u32]) -> Said {
    Said::new(
        format!(
            "the ranks were bound to the CPUs {bound} where {asked:?} were asked for, one each"
        ),
        "the launcher or its configuration binds otherwise: the placement named is not what \
         was measured",
    )
}

fn of_output(doubt: &Doubt) -> Said {
    let size = |bytes| Quantity::new(bytes, Unit::Byte);
    match doubt {
        Doubt::RoundedOutput { metric, at, share } => {
            let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
            Said::new(
                format!(
                    "the tool prints so few decimals that {metric} is only known to ±{:.0} %{at}",
                    share * 100.0
                ),
                "compare larger messages, or the figures of assay, which are not rounded",
            )
        }
        Doubt::ProcessCpuOnly { is_tool: true } => Said::new(
            "iperf3 reports the CPU time of its processes alone: the softirqs that receive are \
             not in it",
            "look at assay's own figures beside it for the whole account",
        ),
        Doubt::ProcessCpuOnly { is_tool: false } => Said::new(
            "the far end is iperf3, which reports the CPU time of its process alone: the softirqs \
             that receive are not in it",
            "run `assay iperf3 -s` at the far end to get the whole account",
        ),
        Doubt::CopyUnknown => Said::new(
            "a far end that is iperf3 below 3.19 copies what it receives, whatever it is asked",
            "run `assay iperf3 -s` at the far end",
        ),
        Doubt::OtherThreadCount { asked, ran } => Said::new(
            format!("stream ran {ran} threads where {asked} were asked for"),
            "compile stream.c with -fopenmp, and let nothing else set OpenMP's variables",
        ),
        Doubt::SmallerArrays { held_bytes, wanted_bytes, multiple } => Said::new(
            format!(
                "the tool's arrays hold {:.3} where {:.3} were asked for: {multiple:.2} times the \
                 last-level caches",
                size(*held_bytes),
                size(*wanted_bytes)
            ),
            "give the tool larger arrays; STREAM's own rule is four times the caches",
        ),
        Doubt::UnreadOutput { problem } => Said::new(problem, "look at the stored raw output"),
        Doubt::EventsLost { count } => Said::new(
            match count {
                0 => "what is stored of this run is not what was written".to_owned(),
                1 => "1 event of this run is lost: what is shown is not all that was measured"
                    .to_owned(),
                _ => format!(
                    "{count} events of this run are lost: what is shown is not all that was measured"
                ),
            },
            "`assay verify RUN` names every place",
        ),
        Doubt::StoreIndex { path, cause } => Said::new(
            format!("the index {} cannot be written: {cause}", path.display()),
            "nothing is lost: runs are listed from their events, only more slowly; make the folder \
             writable",
        ),
        _ => Said::new("", ""),
    }
}
