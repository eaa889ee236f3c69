//! Explanations and advice of every doubt.

mod machine;
mod measurer;
mod plausibility;
mod storage;

use assay_model::benchmark::VarianceSource;
use assay_model::doubt::Doubt;

use super::{Explanation, explanation, in_percent, percent};
use crate::locale as units;
use crate::locale::{format_fixed, in_percent as percent_of, word};
use crate::precision;

/// Explains a doubt, with advice.
#[must_use]
pub fn doubt(doubt: &Doubt) -> Explanation {
    explain_host(doubt)
        .or_else(|| explain_interval(doubt))
        .or_else(|| explain_spread(doubt))
        .or_else(|| plausibility::explain(doubt))
        .or_else(|| machine::explain(doubt))
        .or_else(|| storage::explain(doubt))
        .unwrap_or_else(|| measurer::explain(doubt))
}

fn explain_host(doubt: &Doubt) -> Option<Explanation> {
    match doubt {
        Doubt::HostLost { host, reason, advice, .. } => {
            Some(Explanation::new(format!("{host}: {reason}"), advice))
        }
        Doubt::WorseThanPeers { host, value, median, unit, hosts } => {
            let written = |value: f64| precision::value_without_interval(value, *unit);
            Some(explanation!(
                "doubt-worse-than-peers",
                host = host,
                value = written(*value),
                median = written(*median),
                change = percent_of(&format_fixed(100.0 * (value / median - 1.0), 0)),
                hosts = *hosts,
            ))
        }
        Doubt::HostSaturated { host, resource, share } => Some(explanation!(
            "doubt-host-saturated",
            host = host,
            resource = word(super::resource(*resource)),
            share = in_percent(*share, 0),
        )),
        Doubt::WorseThanPairs { from, to, value, median, unit, pairs } => {
            let written = |value: f64| precision::value_without_interval(value, *unit);
            Some(explanation!(
                "doubt-worse-than-pairs",
                from = from,
                to = to,
                value = written(*value),
                median = written(*median),
                change = percent_of(&format_fixed(100.0 * (value / median - 1.0), 0)),
                pairs = *pairs,
            ))
        }
        Doubt::OnHost { host, doubt } => {
            let explanation = self::doubt(doubt);
            Some(Explanation::new(format!("{host}: {}", explanation.text), explanation.advice))
        }
        _ => None,
    }
}

fn explain_interval(doubt: &Doubt) -> Option<Explanation> {
    let more = |by_tool| word(if by_tool { "advice-tool-repeats" } else { "advice-more-time" });
    Some(match *doubt {
        Doubt::NoInterval { n, n_effective, needed, by_tool } => {
            let text = match n_effective < n as f64 {
                true => {
                    let worth = format_fixed(n_effective, 1);
                    message!(
                        "doubt-no-interval-worth",
                        level = level(),
                        n = n,
                        worth = worth,
                        needed = needed
                    )
                }
                false => message!("doubt-no-interval", level = level(), n = n, needed = needed),
            };
            Explanation::new(text, more(by_tool))
        }
        // An interval this wide is described without its digits.
        Doubt::WideInterval { width, target, n, n_effective, by_tool }
            if width.is_nan() || width > 1.0 =>
        {
            explanation!(
                "doubt-wider-than-value",
                level = level(),
                target = precision::format_percent_setting(100.0 * target),
                n = n,
                worth = format_fixed(n_effective, 1),
                first = more(by_tool),
            )
        }
        Doubt::WideInterval { width, target, n, n_effective, by_tool } => explanation!(
            "doubt-wide-interval",
            level = level(),
            width = percent(width),
            target = precision::format_percent_setting(100.0 * target),
            n = n,
            worth = format_fixed(n_effective, 1),
            first = more(by_tool),
        ),
        Doubt::OnePreparation { asked, luck } => {
            explanation!("doubt-one-preparation", luck = variance_source(luck), asked = asked)
                .with_advice(word("advice-more-time"))
        }
        Doubt::FewPreparations { asked, had } => {
            explanation!("doubt-few-preparations", had = had, asked = asked)
                .with_advice(word("advice-more-time"))
        }
        _ => return None,
    })
}

/// Formats the confidence level of the intervals in doubts.
fn level() -> String {
    const LEVEL: f64 = 0.95;
    in_percent(LEVEL, 0)
}

fn explain_spread(doubt: &Doubt) -> Option<Explanation> {
    Some(match *doubt {
        Doubt::PreparationsDiffer { between, preparations, n, n_effective, luck } => {
            explanation!(
                "doubt-preparations-differ",
                share = percent(between),
                preparations = preparations,
                n = n,
                worth = format_fixed(n_effective, 1),
            )
            .with_advice(variance_advice(luck))
        }
        Doubt::Autocorrelated { n, n_effective } => {
            explanation!("doubt-autocorrelated", n = n, worth = format_fixed(n_effective, 1))
        }
        Doubt::WarmUpDiscarded { discarded, all } => {
            explanation!("doubt-warm-up-discarded", discarded = discarded, all = all)
        }
        Doubt::SeveralModes { share_low, low, high, unit } => explanation!(
            "doubt-several-modes",
            few = percent(share_low),
            low = units::quantity(low, unit, 4),
            many = percent(1.0 - share_low),
            high = units::quantity(high, unit, 4),
        ),
        _ => return None,
    })
}

fn variance_source(luck: VarianceSource) -> &'static str {
    word(match luck {
        VarianceSource::Pages => "luck-pages",
        VarianceSource::Connections => "luck-connections",
        VarianceSource::Launch => "luck-launch",
    })
}

fn variance_advice(luck: VarianceSource) -> &'static str {
    word(match luck {
        VarianceSource::Pages => "depends-pages",
        VarianceSource::Connections => "depends-connections",
        VarianceSource::Launch => "depends-launch",
    })
}
