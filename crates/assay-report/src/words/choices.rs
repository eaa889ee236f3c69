//! Texts of limits, engines, knees and verdicts.

use std::fmt::Write as _;

use assay_model::attribute::Attribute;
use assay_model::comparison::{ComparisonVerdict, EnvironmentDifference};
use assay_model::doubt::{Doubt, HostResource, TrustLevel};
use assay_model::engine_reason::EngineReason;
use assay_model::environment::EnvironmentAspect;
use assay_model::limit::{LimitBasis, Rpeak};
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::plan::{MissingRequirement, OmittedMeasure};
use assay_model::quantity::Unit;
use assay_model::trust::{DistrustReason, MAX_RELATIVE_WIDTH};

use super::{Explanation, explanation, hosts};
use crate::first_seen::{distinct, group_pairs};
use crate::locale as units;
use crate::locale::{Language, comma, format_fixed, semicolon, word};
use crate::precision;

/// Explains the factors or the source of a limit.
pub fn basis(basis: &LimitBasis) -> String {
    match basis {
        LimitBasis::MemoryChannels { channels, transfers_per_s, width_bits } => message!(
            "basis-memory-channels",
            n = *channels,
            rate = units::with_symbol(&(transfers_per_s / 1_000_000).to_string(), "MT/s"),
            width = units::with_symbol(&width_bits.to_string(), "bit"),
        ),
        LimitBasis::Rpeak(rpeak) => factors(*rpeak),
        LimitBasis::MeasuredPeak { instruction_set, cores } => {
            message!("basis-measured-peak", set = instruction_set, n = *cores)
        }
        LimitBasis::Link { device } => match device {
            Some(device) => message!("basis-link", device = device),
            None => word("basis-link-unnamed").to_owned(),
        },
        LimitBasis::Provisioned => word("basis-provisioned").to_owned(),
        LimitBasis::DataSheet { source } => message!("basis-data-sheet", source = source),
    }
}

/// Explains the factors of Rpeak, including the kind of clock.
pub fn factors(rpeak: Rpeak) -> String {
    message!(
        "rpeak-factors",
        n = rpeak.cores,
        flop = units::with_symbol(&rpeak.flop_per_cycle.to_string(), "FLOP"),
        clock = units::quantity(rpeak.clock_hz, Unit::Hertz, 3),
    )
}

/// Returns the message identifier of a saturated resource.
pub const fn resource(resource: HostResource) -> &'static str {
    match resource {
        HostResource::Cpus => "resource-cpus",
        HostResource::OneCpu => "resource-one-cpu",
        HostResource::Network => "resource-network",
    }
}

/// Explains a missing requirement of a measurement, with advice.
fn missing_requirement(missing: MissingRequirement) -> Explanation {
    match missing {
        MissingRequirement::Host => explanation!("missing-host"),
        MissingRequirement::Target => explanation!("missing-target"),
        MissingRequirement::Mpi => explanation!("missing-mpi"),
        MissingRequirement::Domain => explanation!("missing-domain"),
        MissingRequirement::Cores => explanation!("missing-cores"),
        MissingRequirement::Memory => explanation!("missing-memory"),
        MissingRequirement::KnownMemory => explanation!("missing-known-memory"),
        MissingRequirement::Tool => explanation!("missing-tool"),
        MissingRequirement::Library => explanation!("missing-library"),
        MissingRequirement::RdmaDevice => explanation!("missing-rdma-device"),
        MissingRequirement::Time => explanation!("missing-time"),
    }
}

/// Returns the option that provides the requirement, if there is one.
const fn enabling_option(missing: MissingRequirement) -> Option<&'static str> {
    match missing {
        MissingRequirement::Host => Some("--to HOST"),
        MissingRequirement::Target => Some("--target DIR"),
        MissingRequirement::Mpi => Some("--mpi PREFIX"),
        MissingRequirement::Time => Some("--budget TIME"),
        MissingRequirement::Domain
        | MissingRequirement::Cores
        | MissingRequirement::Memory
        | MissingRequirement::KnownMemory
        | MissingRequirement::Tool
        | MissingRequirement::Library
        | MissingRequirement::RdmaDevice => None,
    }
}

/// Lists omitted benchmarks, grouped by the option that enables them: `network.tcp, network.icmp
/// (--to HOST)`. Several cases of a benchmark that the budget left out are counted: `35 × memory.latency`.
pub fn omitted_benchmarks(omitted: &[OmittedMeasure]) -> String {
    let pairs = omitted.iter().map(|it| (enabling_option(it.reason), it.benchmark.as_str()));
    let text = |(option, names): (Option<&str>, Vec<&str>)| {
        let option = option.map(|it| format!(" (`{it}`)")).unwrap_or_default();
        let benchmark = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
        let groups = group_pairs(names.into_iter().map(|name| (benchmark(name), name)));
        let counted = groups.into_iter().map(|(benchmark, names)| match &names[..] {
            [name] => (*name).to_owned(),
            several => format!("{}\u{a0}× {benchmark}", several.len()),
        });
        counted.collect::<Vec<_>>().join(comma()) + &option
    };
    let kinds = group_pairs(distinct(pairs)).into_iter();
    kinds.map(text).collect::<Vec<_>>().join(semicolon())
}

/// Explains why a benchmark was omitted, and on which hosts if others ran it.
pub fn omitted(omitted: &OmittedMeasure) -> Explanation {
    let mut explanation = missing_requirement(omitted.reason);
    if !omitted.hosts.is_empty() {
        let names: Vec<&str> = omitted.hosts.iter().map(String::as_str).collect();
        let _ = write!(explanation.text, " ({})", hosts(&names));
    }
    explanation
}

/// Explains why a value is not sound.
pub fn distrust(distrust: DistrustReason<'_>) -> String {
    match distrust {
        DistrustReason::OneSample => word("distrust-one-sample").to_owned(),
        DistrustReason::NoInterval => word("distrust-no-interval").to_owned(),
        DistrustReason::WideInterval { width } => match width.is_finite() && width <= 1.0 {
            true => message!("distrust-wide-interval", width = units::percent(100.0 * width)),
            false => word("distrust-wider-than-value").to_owned(),
        },
        DistrustReason::Doubted(Doubt::AboveLimit { .. }) => {
            word("distrust-above-limit").to_owned()
        }
        DistrustReason::Doubted(doubt) => super::doubt(doubt).text,
    }
}

/// Returns a phrase that explains why a value is not sound, for any language.
pub fn distrust_phrase(found: DistrustReason<'_>) -> Phrase {
    match found {
        DistrustReason::OneSample => phrase!("one-sample", "one sample"),
        DistrustReason::NoInterval => phrase!("few-samples", "too few samples"),
        DistrustReason::WideInterval { .. } => phrase!("wide-interval", "a wide interval"),
        // The host is named beside it.
        DistrustReason::Doubted(Doubt::OnHost { doubt, .. }) => {
            distrust_phrase(DistrustReason::Doubted(doubt))
        }
        DistrustReason::Doubted(doubt) => Phrase::Doubt {
            english: Language::INVARIANT.scope(|| distrust(found)),
            doubt: Box::new(doubt.clone()),
        },
    }
}

/// Returns the name of a level of trust.
pub fn trust_level(level: TrustLevel) -> &'static str {
    word(match level {
        TrustLevel::Sound => "trust-sound",
        TrustLevel::Noisy => "trust-noisy",
        TrustLevel::Suspect => "trust-suspect",
    })
}

/// Explains why a value is not sound, without the width of its interval.
pub fn distrust_without_width(found: DistrustReason<'_>) -> String {
    match found {
        DistrustReason::WideInterval { .. } => {
            message!(
                "distrust-wide",
                width = precision::format_percent_setting(100.0 * MAX_RELATIVE_WIDTH)
            )
        }
        other => distrust(other),
    }
}

/// Explains the choice of the I/O engine.
pub fn engine_reason(reason: &EngineReason) -> String {
    match reason {
        EngineReason::AskedFor => word("engine-asked-for").to_owned(),
        EngineReason::Best => word("engine-best").to_owned(),
        EngineReason::BestOfRefused => word("engine-best-of-refused").to_owned(),
        EngineReason::Refused { io_uring, libaio: None } => {
            message!("engine-refused", cause = io_uring)
        }
        EngineReason::Refused { io_uring, libaio: Some(libaio) } => {
            message!("engine-both-refused", cause = io_uring, other = libaio)
        }
        EngineReason::RefusedAndBuffered { io_uring } => {
            message!("engine-refused-and-buffered", cause = io_uring)
        }
        EngineReason::Contest { rates_per_s: [taken, other] } => {
            let rate = |value: f64| units::with_symbol(&format_fixed(value, 0), "IO/s");
            message!("engine-contest", taken = rate(*taken), other = rate(*other))
        }
        EngineReason::UntriedContest => word("engine-untried-contest").to_owned(),
    }
}

/// Explains why a response curve has no knee, from its stored name.
pub fn knee(id: &str) -> &str {
    match id {
        "found" => word("knee-found"),
        "too-few-points" => word("knee-too-few-points"),
        "flat" => word("knee-flat"),
        "within-uncertainty" => word("knee-within-uncertainty"),
        "no-idle" => word("knee-no-idle"),
        "erratic" => word("knee-erratic"),
        other => other,
    }
}

/// Explains the outcome of one try of a search for the rate that keeps a goal, from its stored
/// name.
pub fn goal_verdict(id: &str) -> &str {
    match id {
        "keeps" => word("goal-kept"),
        "misses" => word("goal-missed"),
        "unclear" => word("goal-unclear"),
        other => other,
    }
}

/// Explains an unrequested difference between two conditions.
pub fn difference(difference: &EnvironmentDifference) -> String {
    let EnvironmentDifference { aspect, of, a, b } = difference;
    let name = self::aspect(*aspect, of);
    match aspect {
        EnvironmentAspect::Load => message!("differ-load", what = name, a = a, b = b),
        EnvironmentAspect::Steal => {
            let [a, b] =
                [a, b].map(|share| share.parse().map_or(share.clone(), super::percent));
            message!("differ", what = name, a = a, b = b)
        }
        EnvironmentAspect::Order => message!("differ-order", what = name, a = a, b = b),
        EnvironmentAspect::Unrecorded => {
            let known = if a.is_empty() { b } else { a };
            message!("differ-unrecorded", what = name, value = known)
        }
        EnvironmentAspect::ArraySize | EnvironmentAspect::FileSize => {
            let size = |text: &str| text.parse().ok().map(units::size);
            let [a, b] = [a, b].map(|it| size(it).unwrap_or_else(|| it.clone()));
            message!("differ", what = name, a = a, b = b)
        }
        _ => message!("differ", what = name, a = a, b = b),
    }
}

/// Names an aspect of the environment, including its instance if there are several.
pub fn aspect(aspect: EnvironmentAspect, of: &str) -> String {
    let id = match aspect {
        EnvironmentAspect::Host => "aspect-host",
        EnvironmentAspect::Fingerprint => "aspect-fingerprint",
        EnvironmentAspect::Processor => "aspect-processor",
        EnvironmentAspect::Microcode => "aspect-microcode",
        EnvironmentAspect::Kernel => "aspect-kernel",
        EnvironmentAspect::Governor => "aspect-governor",
        EnvironmentAspect::Setting => return message!("aspect-setting", of = of),
        EnvironmentAspect::Version => "aspect-version",
        EnvironmentAspect::HostCount => "aspect-host-count",
        EnvironmentAspect::Loop => return message!("aspect-loop", of = of),
        EnvironmentAspect::Engine => return message!("aspect-engine", of = of),
        EnvironmentAspect::FarEnd => "aspect-far-end",
        EnvironmentAspect::Congestion => "aspect-congestion",
        EnvironmentAspect::ArraySize => "aspect-array-size",
        EnvironmentAspect::FileSize => "aspect-file-size",
        EnvironmentAspect::FileSystem => "aspect-file-system",
        EnvironmentAspect::Device => "aspect-device",
        EnvironmentAspect::Load => "aspect-load",
        EnvironmentAspect::Steal => "aspect-steal",
        EnvironmentAspect::Order => "aspect-order",
        EnvironmentAspect::Unrecorded => {
            return Attribute::from_name(of)
                .map_or_else(|| of.to_owned(), |it| super::dimension(it).to_owned());
        }
    };
    word(id).to_owned()
}

/// Returns the verdict of a comparison about the second condition.
pub fn verdict(verdict: ComparisonVerdict) -> &'static str {
    word(match verdict {
        ComparisonVerdict::Better => "verdict-better",
        ComparisonVerdict::Worse => "verdict-worse",
        ComparisonVerdict::Equivalent => "verdict-equivalent",
        ComparisonVerdict::CannotTell => "verdict-cannot-tell",
    })
}
