//! Method section of a run: statistics, clock, null kernel, steal time and throttling.

use assay_model::facts::HostState;
use assay_model::quantity::Unit;
use assay_model::run::Run;
use assay_model::summary::RunSummary;

use super::words;
use crate::document::{Document, Tone};
use crate::locale::{comma, join_sentences, word};
use crate::units::{percent, quantity};

pub(super) fn add(document: &mut Document, summary: &RunSummary, run: Option<&Run>) {
    if summary.results.is_empty() {
        return;
    }
    document.heading(word("heading-method"));
    document.paragraph(Tone::Quiet, words::statistics(summary.statistics));
    let Some(run) = run else { return };
    let Some(host) = run.first_host() else { return };
    let clock = &host.clock;
    if clock.name.is_empty() {
        // Imported: another tool measured on an unknown machine.
        let files = run.raw.keys().map(String::as_str).collect::<Vec<_>>().join(comma());
        document.paragraph(Tone::Quiet, words::imported_from(&files));
        return;
    }
    let time = |seconds| quantity(seconds, Unit::Second, 2);
    document.paragraph(
        Tone::Quiet,
        words::clock(
            &clock.name,
            &time(clock.resolution_s),
            &time(clock.cost_s),
            &time(clock.null_s),
        ),
    );
    if let Some(after) = &run.state_after {
        document.paragraph(Tone::Quiet, disturbances(&host.state, after));
    }
}

fn disturbances(before: &HostState, after: &HostState) -> String {
    let increase = |value: fn(&HostState) -> Option<f64>| Some(value(after)? - value(before)?);
    let steal = increase(|state| state.steal_s);
    let share = steal
        .zip(increase(|state| state.cpu_time_s))
        .filter(|(_, time)| *time > 0.0)
        .map(|(steal, time)| words::steal(&percent(100.0 * steal / time)));
    let throttled = after
        .throttled
        .zip(before.throttled)
        .and_then(|(after, before)| after.checked_sub(before))
        .filter(|times| *times > 0)
        .map(words::throttled_times);
    join_sentences(&[share, throttled].into_iter().flatten().collect::<Vec<_>>())
}
