//! Explanations and advice of every doubt.

mod law;
mod machine;
mod measurer;
mod storage;

use assay_model::benchmark::Luck;
use assay_model::doubt::Doubt;

use super::{Said, in_percent, percent, reported};
use crate::locale as units;
use crate::locale::{fixed, in_percent as percent_of, word};
use crate::precision;

/// Explains a doubt, with advice.
#[must_use]
pub fn doubt(doubt: &Doubt) -> Said {
    of_hosts(doubt)
        .or_else(|| interval(doubt))
        .or_else(|| spread(doubt))
        .or_else(|| law::said(doubt))
        .or_else(|| machine::said(doubt))
        .or_else(|| storage::said(doubt))
        .unwrap_or_else(|| measurer::said(doubt))
}

fn of_hosts(doubt: &Doubt) -> Option<Said> {
    match doubt {
        Doubt::HostLost { host, reason, advice, .. } => {
            Some(Said::new(format!("{host}: {reason}"), advice))
        }
        Doubt::WorseThanPeers { host, value, median, unit, hosts } => {
            let written = |value: f64| precision::of_none(value, *unit);
            Some(reported!(
                "doubt-worse-than-peers",
                host = host,
                value = written(*value),
                median = written(*median),
                change = percent_of(&fixed(100.0 * (value / median - 1.0), 0)),
                hosts = *hosts,
            ))
        }
        Doubt::HostSaturated { host, resource, share } => Some(reported!(
            "doubt-host-saturated",
            host = host,
            resource = word(super::resource(*resource)),
            share = in_percent(*share, 0),
        )),
        Doubt::WorseThanPairs { from, to, value, median, unit, pairs } => {
            let written = |value: f64| precision::of_none(value, *unit);
            Some(reported!(
                "doubt-worse-than-pairs",
                from = from,
                to = to,
                value = written(*value),
                median = written(*median),
                change = percent_of(&fixed(100.0 * (value / median - 1.0), 0)),
                pairs = *pairs,
            ))
        }
        Doubt::OnHost { host, doubt } => {
            let explanation = self::doubt(doubt);
            Some(Said::new(format!("{host}: {}", explanation.text), explanation.advice))
        }
        _ => None,
    }
}

fn interval(doubt: &Doubt) -> Option<Said> {
    let more = |by_tool| word(if by_tool { "advice-tool-repeats" } else { "advice-more-time" });
    Some(match *doubt {
        Doubt::NoInterval { n, n_effective, needed, by_tool } => {
            let text = match n_effective < n as f64 {
                true => {
                    let worth = fixed(n_effective, 1);
                    say!(
                        "doubt-no-interval-worth",
                        level = level(),
                        n = n,
                        worth = worth,
                        needed = needed
                    )
                }
                false => say!("doubt-no-interval", level = level(), n = n, needed = needed),
            };
            Said::new(text, more(by_tool))
        }
        // An interval this wide is described without its digits.
        Doubt::WideInterval { width, target, n, n_effective, by_tool }
            if width.is_nan() || width > 1.0 =>
        {
            reported!(
                "doubt-wider-than-value",
                level = level(),
                target = precision::percent_setting(100.0 * target),
                n = n,
                worth = fixed(n_effective, 1),
                first = more(by_tool),
            )
        }
        Doubt::WideInterval { width, target, n, n_effective, by_tool } => reported!(
            "doubt-wide-interval",
            level = level(),
            width = percent(width),
            target = precision::percent_setting(100.0 * target),
            n = n,
            worth = fixed(n_effective, 1),
            first = more(by_tool),
        ),
        Doubt::OnePreparation { asked, luck } => {
            reported!("doubt-one-preparation", luck = shared(luck), asked = asked)
                .advise(word("advice-more-time"))
        }
        Doubt::FewPreparations { asked, had } => {
            reported!("doubt-few-preparations", had = had, asked = asked)
                .advise(word("advice-more-time"))
        }
        _ => return None,
    })
}

/// Formats the confidence level of the intervals in doubts.
fn level() -> String {
    const LEVEL: f64 = 0.95;
    in_percent(LEVEL, 0)
}

fn spread(doubt: &Doubt) -> Option<Said> {
    Some(match *doubt {
        Doubt::PreparationsDiffer { between, preparations, n, n_effective, luck } => reported!(
            "doubt-preparations-differ",
            share = percent(between),
            preparations = preparations,
            n = n,
            worth = fixed(n_effective, 1),
        )
        .advise(depends(luck)),
        Doubt::Autocorrelated { n, n_effective } => {
            reported!("doubt-autocorrelated", n = n, worth = fixed(n_effective, 1))
        }
        Doubt::WarmUpDiscarded { discarded, all } => {
            reported!("doubt-warm-up-discarded", discarded = discarded, all = all)
        }
        Doubt::SeveralModes { share_low, low, high, unit } => reported!(
            "doubt-several-modes",
            few = percent(share_low),
            low = units::quantity(low, unit, 4),
            many = percent(1.0 - share_low),
            high = units::quantity(high, unit, 4),
        ),
        _ => return None,
    })
}

fn shared(luck: Luck) -> &'static str {
    word(match luck {
        Luck::Pages => "luck-pages",
        Luck::Connections => "luck-connections",
        Luck::Launch => "luck-launch",
    })
}

fn depends(luck: Luck) -> &'static str {
    word(match luck {
        Luck::Pages => "depends-pages",
        Luck::Connections => "depends-connections",
        Luck::Launch => "depends-launch",
    })
}
