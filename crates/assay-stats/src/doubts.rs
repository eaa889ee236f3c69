//! Statistical doubts about one series: what its interval and its shape do not support.

use assay_model::event::Stopped;
use assay_model::plan::Stopping;
use assay_model::quantity::{Quantity, Unit};
use assay_model::warning::Warning;
use assay_model::workload::Workload;

use crate::analysis::Analysis;
use crate::modality::several_modes;

/// A series worth less than this share of its samples is called heavily dependent.
const HEAVILY: f64 = 0.2;
/// Least number of independent samples whose median has an interval at 95 %.
const LEAST: usize = 6;

/// Every doubt the samples raise about their own median.
///
/// - `no-interval`: too few independent samples for an interval;
/// - `wide-interval`: the interval is wider than `stopping.target`;
/// - `one-preparation`: everything shares the luck of one placement, where several were asked for;
/// - `preparations-differ`, `autocorrelated`: the samples are worth less than a fifth of their
///   number, and which of the two dependences is to blame;
/// - `several-modes`: the samples fall into groups, and the median describes none of them;
/// - `not-finite`: some samples were no numbers and were refused.
#[must_use]
pub fn doubts(
    analysis: &Analysis,
    stopping: &Stopping,
    stopped: Stopped,
    unit: Unit,
    luck: Luck,
) -> Vec<Warning> {
    let found = [
        precision(analysis, stopping, stopped),
        one_preparation(analysis, stopping, stopped, luck),
        dependence(analysis, luck),
        modes(analysis, unit),
        refused(analysis),
    ];
    found.into_iter().flatten().collect()
}

/// What the samples of one preparation have in common by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Luck {
    /// Where their pages lie.
    Pages,
    /// The way of their connections, and the CPUs that serve them.
    Connections,
    /// The processes that a launcher started.
    Launch,
}

impl Luck {
    /// Of the cases that ask this.
    #[must_use]
    pub const fn of(workload: &Workload) -> Self {
        match workload {
            Workload::NetworkTcp(_) | Workload::NetworkUdp(_) | Workload::NetworkIcmp(_) => {
                Self::Connections
            }
            Workload::Mpi(_) => Self::Launch,
            Workload::Stream(_)
            | Workload::Latency(_)
            | Workload::PeakFlops(_)
            | Workload::Linpack(_)
            | Workload::Storage(_) => Self::Pages,
        }
    }

    const fn shared(self) -> &'static str {
        match self {
            Self::Pages => "placement in memory",
            Self::Connections => "round of connections",
            Self::Launch => "launch",
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Self::Pages => {
                "the result depends on where the pages lie; huge pages make it depend less, and \
                 more time gives more preparations"
            }
            Self::Connections => {
                "the result depends on the connection: on the CPUs that serve it, and on what \
                 else is on its way; more time gives more connections"
            }
            Self::Launch => {
                "the result depends on the launch: on memory and CPUs that its processes got; \
                 more time gives more launches"
            }
        }
    }
}

/// A share as a percentage with about two significant digits.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        large if large >= 10.0 => format!("{percent:.0} %"),
        large if large >= 1.0 => format!("{percent:.1} %"),
        _ => format!("{percent:.2} %"),
    }
}

fn precision(analysis: &Analysis, stopping: &Stopping, stopped: Stopped) -> Option<Warning> {
    let n = analysis.sorted.len();
    let worth = analysis.effective.n;
    let more = match stopped {
        Stopped::Budget | Stopped::Precise | Stopped::NotNeeded => {
            "give it more time, for example `--budget 10m`"
        }
        Stopped::Tool => "the tool decides how often it repeats; run the case several times",
    };
    let Some(width) = analysis.relative_half_width() else {
        let samples = if n == 1 { "sample" } else { "samples" };
        let worth = if worth < n as f64 { format!(" worth {worth:.1}") } else { String::new() };
        return Some(Warning::new(
            "no-interval",
            format!(
                "no 95 % interval of the median from {n} {samples}{worth}: it takes {LEAST} \
                 independent ones"
            ),
            more,
        ));
    };
    (width > stopping.target).then(|| {
        Warning::new(
            "wide-interval",
            format!(
                "the 95 % interval of the median reaches ±{}, where ±{} was asked for \
                 (n = {n}, worth {worth:.1})",
                percent(width),
                percent(stopping.target)
            ),
            format!("{more}, or quiet the machine: `assay doctor` lists what disturbs it"),
        )
    })
}

fn one_preparation(
    analysis: &Analysis,
    stopping: &Stopping,
    stopped: Stopped,
    luck: Luck,
) -> Option<Warning> {
    let asked = stopping.preparations;
    let short = analysis.preparations == 1 && asked > 1 && analysis.interval.is_some();
    (short && stopped != Stopped::Tool).then(|| {
        Warning::new(
            "one-preparation",
            format!(
                "all samples share one {}, where {asked} were asked for; the interval does not \
                 show how much it matters",
                luck.shared()
            ),
            "give it more time, for example `--budget 10m`",
        )
    })
}

fn dependence(analysis: &Analysis, luck: Luck) -> Option<Warning> {
    let n = analysis.sorted.len() as f64;
    let effective = analysis.effective;
    if effective.n >= n * HEAVILY {
        return None;
    }
    let per_preparation = n / analysis.preparations as f64;
    let from_placement = effective.between * per_preparation;
    Some(if from_placement > (1.0 - effective.between) * effective.time {
        Warning::new(
            "preparations-differ",
            format!(
                "{} of the variance lies between the {} preparations: {n} samples are worth \
                 {:.1} independent ones",
                percent(effective.between),
                analysis.preparations,
                effective.n
            ),
            luck.advice(),
        )
    } else {
        Warning::new(
            "autocorrelated",
            format!(
                "neighbouring repetitions resemble each other: {n} samples are worth {:.1} \
                 independent ones",
                effective.n
            ),
            "something slower than a repetition moves the result, such as the clock frequency, \
             heat or another process; `assay doctor` lists what it sees",
        )
    })
}

fn modes(analysis: &Analysis, unit: Unit) -> Option<Warning> {
    let independent = analysis.sorted.len() as f64 / analysis.effective.time;
    let modes = several_modes(&analysis.sorted, independent)?;
    Some(Warning::new(
        "several-modes",
        format!(
            "the samples fall into groups: {} near {} and {} near {}; one number describes \
             neither",
            percent(modes.share_low),
            Quantity::new(modes.low, unit),
            percent(1.0 - modes.share_low),
            Quantity::new(modes.high, unit)
        ),
        "find what switches between them: page placement, clock frequency, another process; the \
         samples are in the store in order of measurement",
    ))
}

fn refused(analysis: &Analysis) -> Option<Warning> {
    let all = analysis.sorted.len() + analysis.discarded + analysis.refused;
    (analysis.refused > 0).then(|| {
        Warning::new(
            "not-finite",
            format!("{} of {all} samples are not finite and do not count", analysis.refused),
            "the measurer divided by a time of zero or printed no number; look at its raw output",
        )
    })
}

#[cfg(test)]
mod tests;
