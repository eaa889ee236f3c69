//! Limits, engines, knees and verdicts in words.

use assay_model::comparison::{Difference, Verdict};
use assay_model::engine_choice::EngineReason;
use assay_model::environment::Aspect;
use assay_model::limit::{Basis, Rpeak};
use assay_model::plan::Missing;
use assay_model::quantity::{Quantity, Unit};

use super::{Said, plural};

/// What a limit consists of, or who says so.
#[must_use]
pub fn basis(basis: &Basis) -> String {
    match basis {
        Basis::MemoryChannels { channels, transfers_per_s, width_bits } => format!(
            "{channels} memory channel{} × {} MT/s × {width_bits} bit (SMBIOS)",
            plural(*channels),
            transfers_per_s / 1_000_000
        ),
        Basis::Rpeak(rpeak) => factors(*rpeak),
        Basis::MeasuredPeak { instruction_set, cores } => format!(
            "multiply-add peak in double precision, {instruction_set} on {cores} core{}, measured in \
             this run",
            plural(*cores)
        ),
        Basis::Link { device } => {
            format!("link speed that {} reports", device.as_deref().unwrap_or("the device"))
        }
        Basis::Provisioned => "what the volume is provisioned for".to_owned(),
        Basis::Told { text } => text.clone(),
    }
}

/// The factors of Rpeak, naming which clock it is.
#[must_use]
pub fn factors(rpeak: Rpeak) -> String {
    let clock = Quantity::new(rpeak.clock_hz, Unit::Hertz);
    format!(
        "{} core{} × {} FLOP/cycle × {clock:.3} (clock measured at this load)",
        rpeak.cores,
        plural(rpeak.cores),
        rpeak.flop_per_cycle
    )
}

/// What a measure needs that is not here, and how it can be.
#[must_use]
pub fn missing(missing: Missing) -> Said {
    match missing {
        Missing::Host => Said::new("no second host is named", "name one with --to HOST"),
        Missing::Target => Said::new(
            "no file, folder or device is named",
            "name one with --target; a file in a folder is created there, and removed",
        ),
        Missing::Mpi => Said::new(
            "no MPI was found",
            "install one, or name its prefix with --mpi; `assay doctor` lists what is found",
        ),
        Missing::Domain => Said::new(
            "this machine has no such domains, or hides them",
            "`assay doctor` shows what it has",
        ),
        Missing::Memory => Said::new("there is too little memory", "free some of it"),
        Missing::Tool => {
            Said::new("no tool was found that measures it", "`assay help tools` lists them")
        }
    }
}

/// Why I/O was issued by this engine.
#[must_use]
pub fn engine_reason(reason: &EngineReason) -> String {
    match reason {
        EngineReason::AskedFor => "asked for".to_owned(),
        EngineReason::Best => "the best, and the kernel grants it".to_owned(),
        EngineReason::BestOfRefused => "the best, and libaio is refused".to_owned(),
        EngineReason::Refused { io_uring, libaio: None } => {
            format!("io_uring is refused ({io_uring})")
        }
        EngineReason::Refused { io_uring, libaio: Some(libaio) } => {
            format!("io_uring is refused ({io_uring}), libaio as well ({libaio})")
        }
        EngineReason::RefusedAndBuffered { io_uring } => {
            format!("io_uring is refused ({io_uring}), libaio blocks in the page cache")
        }
        EngineReason::Contest { rates_per_s: [taken, other] } => format!(
            "the kernel may take a detour for io_uring here; of it and libaio this one was faster, \
             {taken:.0} IO/s against {other:.0}"
        ),
        EngineReason::UntriedContest => {
            "the kernel may take a detour for io_uring here; untried because of verification"
                .to_owned()
        }
        EngineReason::Told { text } => text.clone(),
    }
}

/// Why a response curve has no knee, by its stored name; runs of format 1 say it in words.
#[must_use]
pub fn knee(id: &str) -> &str {
    match id {
        "found" => "the knee was found",
        "too-few-points" => "a knee takes at least five points",
        "flat" => "latency stays below twice that of an idle target",
        "within-uncertainty" => "latency rises by no more than its uncertainty",
        "no-idle" => "the lowest rate is beyond it already",
        told => told.strip_prefix("none: ").unwrap_or(told),
    }
}

/// What a try on the way to a rate that keeps a goal has shown, by its stored name.
#[must_use]
pub fn shown(id: &str) -> &str {
    match id {
        "keeps" => "met",
        "misses" => "missed",
        other => other,
    }
}

/// What differs between two conditions although nobody asked for it.
#[must_use]
pub fn difference(difference: &Difference) -> String {
    let Difference { aspect, of, a, b } = difference;
    let what = self::aspect(*aspect, of);
    match aspect {
        Aspect::Load => format!("{what}: {a} and {b} runnable tasks"),
        Aspect::Steal => {
            let [a, b] =
                [a, b].map(|share| share.parse().map_or(share.clone(), super::percent));
            format!("{what}: {a} and {b}")
        }
        Aspect::Order => format!(
            "{what}: one was measured {a}, the other {b}, so that whatever drifts looks like a \
             difference; `assay run --switch` takes turns"
        ),
        _ => format!("{what}: {a} and {b}"),
    }
}

/// What may differ, with the name where there are several.
#[must_use]
pub fn aspect(aspect: Aspect, of: &str) -> String {
    let what = match aspect {
        Aspect::Host => "the host",
        Aspect::Fingerprint => "the machine (its fingerprint)",
        Aspect::Processor => "the processor",
        Aspect::Microcode => "the microcode",
        Aspect::Kernel => "the kernel",
        Aspect::Governor => "the governor",
        Aspect::Setting => return format!("the setting {of}"),
        Aspect::Version => "assay's version",
        Aspect::HostCount => "the number of hosts",
        Aspect::Loop => return format!("the loop of {of}"),
        Aspect::Engine => return format!("the engine of {of}"),
        Aspect::Load => "load before the runs",
        Aspect::Steal => "CPU time stolen during the runs",
        Aspect::Order => "the time",
    };
    what.to_owned()
}

/// What a comparison says about the second condition.
#[must_use]
pub const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::CannotTell => "cannot tell",
    }
}
