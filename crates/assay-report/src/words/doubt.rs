//! Every doubt in words: what is doubtful, and what to do about it.

mod law;
mod machine;
mod measurer;
mod storage;

use assay_model::benchmark::Luck;
use assay_model::doubt::Doubt;
use assay_model::quantity::Quantity;

use super::{Said, percent};

const MORE_TIME: &str = "give it more time, for example `--budget 10m`";
const BY_TOOL: &str = "the tool decides how often it repeats; run the case several times";

/// What is doubtful, and what to do about it.
#[must_use]
pub fn doubt(doubt: &Doubt) -> Said {
    let said = of_hosts(doubt).or_else(|| interval(doubt));
    let said = said.or_else(|| spread(doubt)).or_else(|| law::said(doubt));
    said.or_else(|| machine::said(doubt))
        .or_else(|| storage::said(doubt))
        .unwrap_or_else(|| measurer::said(doubt))
}

fn of_hosts(doubt: &Doubt) -> Option<Said> {
    match doubt {
        Doubt::HostLost { host, reason, advice, .. } => {
            Some(Said::new(format!("{host} is missing: {reason}"), advice))
        }
        Doubt::OnHost { host, doubt } => {
            let said = self::doubt(doubt);
            Some(Said::new(format!("{host}: {}", said.text), said.advice))
        }
        _ => None,
    }
}

fn interval(doubt: &Doubt) -> Option<Said> {
    let more = |by_tool| if by_tool { BY_TOOL } else { MORE_TIME };
    Some(match *doubt {
        Doubt::NoInterval { n, n_effective, needed, by_tool } => {
            let samples = if n == 1 { "sample" } else { "samples" };
            let worth = match n_effective < n as f64 {
                true => format!(" worth {n_effective:.1}"),
                false => String::new(),
            };
            Said::new(
                format!(
                    "no 95 % interval of the median from {n} {samples}{worth}: it takes {needed} \
                     independent ones"
                ),
                more(by_tool),
            )
        }
        Doubt::WideInterval { width, target, n, n_effective, by_tool } => Said::new(
            format!(
                "the 95 % interval of the median reaches ±{}, where ±{} was asked for (n = {n}, \
                 worth {n_effective:.1})",
                percent(width),
                percent(target)
            ),
            format!(
                "{}, or quiet the machine: `assay doctor` lists what disturbs it",
                more(by_tool)
            ),
        ),
        Doubt::OnePreparation { asked, luck } => Said::new(
            format!(
                "all samples share one {}, where {asked} were asked for; the interval does not \
                 show how much it matters",
                shared(luck)
            ),
            MORE_TIME,
        ),
        Doubt::FewPreparations { asked, had } => Said::new(
            format!("there was time for {had} preparations, where {asked} were asked for"),
            MORE_TIME,
        ),
        _ => return None,
    })
}

fn spread(doubt: &Doubt) -> Option<Said> {
    Some(match *doubt {
        Doubt::PreparationsDiffer { between, preparations, n, n_effective, luck } => Said::new(
            format!(
                "{} of the variance lies between the {preparations} preparations: {n} samples are \
                 worth {n_effective:.1} independent ones",
                percent(between)
            ),
            depends(luck),
        ),
        Doubt::Autocorrelated { n, n_effective } => Said::new(
            format!(
                "neighbouring repetitions resemble each other: {n} samples are worth \
                 {n_effective:.1} independent ones"
            ),
            "something slower than a repetition moves the result, such as the clock frequency, \
             heat or another process; `assay doctor` lists what it sees",
        ),
        Doubt::WarmUpDiscarded { discarded, all } => Said::new(
            format!(
                "{discarded} of {all} samples stand out from those after them, and were discarded \
                 as warm-up"
            ),
            "the result is of what came later; all samples are in the store in order of measurement",
        ),
        Doubt::SeveralModes { share_low, low, high, unit } => Said::new(
            format!(
                "the samples fall into groups: {} near {} and {} near {}; one number describes \
                 neither",
                percent(share_low),
                Quantity::new(low, unit),
                percent(1.0 - share_low),
                Quantity::new(high, unit)
            ),
            "find what switches between them: page placement, clock frequency, another process; \
             the samples are in the store in order of measurement",
        ),
        _ => return None,
    })
}

const fn shared(luck: Luck) -> &'static str {
    match luck {
        Luck::Pages => "placement in memory",
        Luck::Connections => "round of connections",
        Luck::Launch => "launch",
    }
}

const fn depends(luck: Luck) -> &'static str {
    match luck {
        Luck::Pages => {
            "the result depends on where the pages lie; huge pages make it depend less, and more \
             time gives more preparations"
        }
        Luck::Connections => {
            "the result depends on the connection: on the CPUs that serve it, and on what else is \
             on its way; more time gives more connections"
        }
        Luck::Launch => {
            "the result depends on the launch: on memory and CPUs that its processes got; more \
             time gives more launches"
        }
    }
}
