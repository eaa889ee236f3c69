//! Texts of limits, engines, knees and verdicts.

use std::fmt::Write as _;

use assay_model::comparison::{Difference, Verdict};
use assay_model::doubt::Resource;
use assay_model::engine_choice::EngineReason;
use assay_model::environment::Aspect;
use assay_model::limit::{Basis, Rpeak};
use assay_model::plan::{Missing, Omitted};
use assay_model::quantity::Unit;
use assay_model::trust::{Distrust, WIDEST};

use super::{Said, hosts, reported};
use crate::locale as units;
use crate::locale::{comma, fixed, semicolon, word};
use crate::precision;

/// Explains the factors or the source of a limit.
#[must_use]
pub fn basis(basis: &Basis) -> String {
    match basis {
        Basis::MemoryChannels { channels, transfers_per_s, width_bits } => say!(
            "basis-memory-channels",
            n = *channels,
            rate = units::with_symbol(&(transfers_per_s / 1_000_000).to_string(), "MT/s"),
            width = units::with_symbol(&width_bits.to_string(), "bit"),
        ),
        Basis::Rpeak(rpeak) => factors(*rpeak),
        Basis::MeasuredPeak { instruction_set, cores } => {
            say!("basis-measured-peak", set = instruction_set, n = *cores)
        }
        Basis::Link { device } => match device {
            Some(device) => say!("basis-link", device = device),
            None => word("basis-link-unnamed").to_owned(),
        },
        Basis::Provisioned => word("basis-provisioned").to_owned(),
        Basis::DataSheet { source } => say!("basis-data-sheet", source = source),
        Basis::Reported { text } => text.clone(),
    }
}

/// Explains the factors of Rpeak, including the kind of clock.
#[must_use]
pub fn factors(rpeak: Rpeak) -> String {
    say!(
        "rpeak-factors",
        n = rpeak.cores,
        flop = units::with_symbol(&rpeak.flop_per_cycle.to_string(), "FLOP"),
        clock = units::quantity(rpeak.clock_hz, Unit::Hertz, 3),
    )
}

/// Returns the message identifier of a saturated resource.
#[must_use]
pub const fn resource(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpus => "resource-cpus",
        Resource::OneCpu => "resource-one-cpu",
        Resource::Network => "resource-network",
    }
}

/// Explains a missing requirement of a measurement, with advice.
fn missing(missing: Missing) -> Said {
    match missing {
        Missing::Host => reported!("missing-host"),
        Missing::Target => reported!("missing-target"),
        Missing::Mpi => reported!("missing-mpi"),
        Missing::Domain => reported!("missing-domain"),
        Missing::Cores => reported!("missing-cores"),
        Missing::Memory => reported!("missing-memory"),
        Missing::Tool => reported!("missing-tool"),
        Missing::Library => reported!("missing-library"),
        Missing::RdmaDevice => reported!("missing-rdma-device"),
    }
}

/// Returns the option that provides the requirement, if there is one.
const fn option(missing: Missing) -> Option<&'static str> {
    match missing {
        Missing::Host => Some("--to HOST"),
        Missing::Target => Some("--target DIR"),
        Missing::Mpi => Some("--mpi PREFIX"),
        Missing::Domain
        | Missing::Cores
        | Missing::Memory
        | Missing::Tool
        | Missing::Library
        | Missing::RdmaDevice => None,
    }
}

/// Lists omitted benchmarks, grouped by the option that enables them: `network.tcp, network.icmp
/// (--to HOST)`.
#[must_use]
pub fn left_out(omitted: &[Omitted]) -> String {
    let mut kinds: Vec<(Missing, Vec<&str>)> = Vec::new();
    for Omitted { benchmark, reason, .. } in omitted {
        match kinds.iter_mut().find(|(known, _)| option(*known) == option(*reason)) {
            Some((_, names)) if names.contains(&benchmark.as_str()) => {}
            Some((_, names)) => names.push(benchmark),
            None => kinds.push((*reason, vec![benchmark])),
        }
    }
    let text = |(reason, names): &(Missing, Vec<&str>)| {
        let option = option(*reason).map(|it| format!(" (`{it}`)")).unwrap_or_default();
        names.join(comma()) + &option
    };
    kinds.iter().map(text).collect::<Vec<_>>().join(semicolon())
}

/// Explains why a benchmark was omitted, and on which hosts if others ran it.
#[must_use]
pub fn omitted(omitted: &Omitted) -> Said {
    let mut explanation = missing(omitted.reason);
    if !omitted.hosts.is_empty() {
        let names: Vec<&str> = omitted.hosts.iter().map(String::as_str).collect();
        let _ = write!(explanation.text, " ({})", hosts(&names));
    }
    explanation
}

/// Explains why a value is unreliable.
#[must_use]
pub fn distrust(distrust: Distrust) -> String {
    match distrust {
        Distrust::AboveLimit => word("distrust-above-limit").to_owned(),
        Distrust::OneSample => word("distrust-one-sample").to_owned(),
        Distrust::NoInterval => word("distrust-no-interval").to_owned(),
        Distrust::WideInterval { width } => match width.is_finite() && width <= 1.0 {
            true => say!("distrust-wide-interval", width = units::percent(100.0 * width)),
            false => word("distrust-wider-than-value").to_owned(),
        },
    }
}

/// Explains why a value is unreliable, without the width of its interval.
#[must_use]
pub fn distrust_alike(found: Distrust) -> String {
    match found {
        Distrust::WideInterval { .. } => {
            say!("distrust-wide", width = precision::percent_setting(100.0 * WIDEST))
        }
        other => distrust(other),
    }
}

/// Explains the choice of the I/O engine.
#[must_use]
pub fn engine_reason(reason: &EngineReason) -> String {
    match reason {
        EngineReason::AskedFor => word("engine-asked-for").to_owned(),
        EngineReason::Best => word("engine-best").to_owned(),
        EngineReason::BestOfRefused => word("engine-best-of-refused").to_owned(),
        EngineReason::Refused { io_uring, libaio: None } => {
            say!("engine-refused", cause = io_uring)
        }
        EngineReason::Refused { io_uring, libaio: Some(libaio) } => {
            say!("engine-both-refused", cause = io_uring, other = libaio)
        }
        EngineReason::RefusedAndBuffered { io_uring } => {
            say!("engine-refused-and-buffered", cause = io_uring)
        }
        EngineReason::Contest { rates_per_s: [taken, other] } => {
            let rate = |value: f64| units::with_symbol(&fixed(value, 0), "IO/s");
            say!("engine-contest", taken = rate(*taken), other = rate(*other))
        }
        EngineReason::UntriedContest => word("engine-untried-contest").to_owned(),
        EngineReason::Reported { text } => text.clone(),
    }
}

/// Explains why a response curve has no knee, from its stored name; runs of format 1 store the text
/// itself.
#[must_use]
pub fn knee(id: &str) -> &str {
    match id {
        "found" => word("knee-found"),
        "too-few-points" => word("knee-too-few-points"),
        "flat" => word("knee-flat"),
        "within-uncertainty" => word("knee-within-uncertainty"),
        "no-idle" => word("knee-no-idle"),
        reported => reported.strip_prefix("none: ").unwrap_or(reported),
    }
}

/// Explains the outcome of one try of a search for the rate that keeps a goal, from its stored
/// name.
#[must_use]
pub fn shown(id: &str) -> &str {
    match id {
        "keeps" => word("goal-kept"),
        "misses" => word("goal-missed"),
        "unclear" => word("goal-unclear"),
        other => other,
    }
}

/// Explains an unrequested difference between two conditions.
#[must_use]
pub fn difference(difference: &Difference) -> String {
    let Difference { aspect, of, a, b } = difference;
    let name = self::aspect(*aspect, of);
    match aspect {
        Aspect::Load => say!("differ-load", what = name, a = a, b = b),
        Aspect::Steal => {
            let [a, b] =
                [a, b].map(|share| share.parse().map_or(share.clone(), super::percent));
            say!("differ", what = name, a = a, b = b)
        }
        Aspect::Order => say!("differ-order", what = name, a = a, b = b),
        Aspect::ArraySize | Aspect::FileSize => {
            let size = |text: &str| text.parse().ok().map(units::size);
            let [a, b] = [a, b].map(|it| size(it).unwrap_or_else(|| it.clone()));
            say!("differ", what = name, a = a, b = b)
        }
        _ => say!("differ", what = name, a = a, b = b),
    }
}

/// Names an aspect of the environment, including its instance if there are several.
#[must_use]
pub fn aspect(aspect: Aspect, of: &str) -> String {
    let id = match aspect {
        Aspect::Host => "aspect-host",
        Aspect::Fingerprint => "aspect-fingerprint",
        Aspect::Processor => "aspect-processor",
        Aspect::Microcode => "aspect-microcode",
        Aspect::Kernel => "aspect-kernel",
        Aspect::Governor => "aspect-governor",
        Aspect::Setting => return say!("aspect-setting", of = of),
        Aspect::Version => "aspect-version",
        Aspect::HostCount => "aspect-host-count",
        Aspect::Loop => return say!("aspect-loop", of = of),
        Aspect::Engine => return say!("aspect-engine", of = of),
        Aspect::FarEnd => "aspect-far-end",
        Aspect::Congestion => "aspect-congestion",
        Aspect::ArraySize => "aspect-array-size",
        Aspect::FileSize => "aspect-file-size",
        Aspect::FileSystem => "aspect-file-system",
        Aspect::Device => "aspect-device",
        Aspect::Load => "aspect-load",
        Aspect::Steal => "aspect-steal",
        Aspect::Order => "aspect-order",
    };
    word(id).to_owned()
}

/// Returns the verdict of a comparison about the second condition.
#[must_use]
pub fn verdict(verdict: Verdict) -> &'static str {
    word(match verdict {
        Verdict::Better => "verdict-better",
        Verdict::Worse => "verdict-worse",
        Verdict::Equivalent => "verdict-equivalent",
        Verdict::CannotTell => "verdict-cannot-tell",
    })
}
