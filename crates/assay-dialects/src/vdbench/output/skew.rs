//! `skew.html` and the pages of single storage and workload definitions: their shares of a run.
//!
//! The figures cover all measured time; intervals are not stored per definition.

use std::fmt::Write as _;

use assay_model::storage_outcome::{StorageOutcome, StreamTally};
use assay_model::workload::storage::StorageWorkload;

use super::{StorageTotals, TimeOfDay};
use crate::vdbench::{RateLabel, RunLabel};

/// Smallest printed difference of shares, in percent points.
const MIN_DELTA_PERCENT: f64 = 0.1;
/// Minimum width of names.
const MIN_NAME_WIDTH: usize = 13;

/// Totals of one definition.
#[derive(Debug)]
pub struct DefinitionTotals {
    /// Name of the definition.
    pub name: String,
    /// Figures of the definition.
    pub totals: StorageTotals,
    /// Requested percent of the rate; `None` for storage, and for a workload with its own rate.
    pub requested_percent: Option<f64>,
}

/// Returns the totals of each storage definition, in the order of the run's targets.
pub fn storage_totals(
    workload: &StorageWorkload,
    outcome: &StorageOutcome,
    whole: &StorageTotals,
) -> Vec<DefinitionTotals> {
    let names = workload.targets.iter().map(|target| target.name.as_str());
    definition_totals(names, outcome, whole, |tally, name| {
        workload.targets.get(tally.target).is_some_and(|target| target.name == name)
    })
}

/// Returns the totals of each workload definition, in the order of the run's streams.
pub fn workload_totals(
    workload: &StorageWorkload,
    outcome: &StorageOutcome,
    whole: &StorageTotals,
) -> Vec<DefinitionTotals> {
    let names = workload.streams.iter().map(|stream| stream.name.as_str());
    let mut parts = definition_totals(names, outcome, whole, |tally, name| {
        workload.streams.get(tally.stream).is_some_and(|stream| stream.name == name)
    });
    for part in &mut parts {
        let own = || workload.streams.iter().filter(|stream| stream.name == part.name);
        let shares = own().map(|stream| 100.0 * stream.rate_share).sum();
        let has_own_rate = own().any(|stream| stream.own_rate_per_s.is_some());
        part.requested_percent = (!has_own_rate).then_some(shares);
    }
    parts
}

fn definition_totals<'n>(
    names: impl Iterator<Item = &'n str>,
    outcome: &StorageOutcome,
    whole: &StorageTotals,
    belongs: impl Fn(&StreamTally, &str) -> bool,
) -> Vec<DefinitionTotals> {
    let mut seen = std::collections::HashSet::new();
    let part = |name: &str| {
        let tallies = outcome.tallies.iter().filter(|tally| belongs(tally, name));
        let measured = StorageTotals::from_tallies(tallies, outcome.elapsed_s, whole);
        DefinitionTotals { name: name.to_owned(), totals: measured, requested_percent: None }
    };
    names.filter(|name| seen.insert(*name)).map(part).collect()
}

/// Formats the report of one run.
pub fn report(
    tod: TimeOfDay<'_>,
    label: &RunLabel,
    (storage, workloads): (&[DefinitionTotals], &[DefinitionTotals]),
) -> String {
    let mut text = String::new();
    let all = storage.iter().chain(workloads);
    let width = all.map(|part| part.name.len()).max().unwrap_or(0).max(MIN_NAME_WIDTH);
    append_table(&mut text, (tod, "SD:", width), storage, None);
    let _ = writeln!(text, "{tod} ");
    if matches!(label.rate, RateLabel::UncontrolledMax | RateLabel::UncontrolledCurve) {
        let _ = writeln!(text, "{tod} No shares were asked for: this was an uncontrolled run.");
        let _ = writeln!(text, "{tod} ");
    }
    let total: u64 = workloads.iter().map(|part| part.totals.count()).sum();
    append_table(&mut text, (tod, "WD:", width), workloads, Some(total));
    text
}

fn append_table(
    text: &mut String,
    (tod, title, width): (TimeOfDay<'_>, &str, usize),
    parts: &[DefinitionTotals],
    count: Option<u64>,
) {
    let skew = |words: &str| if count.is_some() { words.to_owned() } else { String::new() };
    let _ = writeln!(
        text,
        "{tod} {:width$}        i/o   MB/sec   bytes   read     resp     read    write     resp     \
         resp queue {}",
        "",
        skew("      skew     skew    skew ")
    );
    let _ = writeln!(
        text,
        "{tod} {title:width$}       rate  1024**2     i/o    pct     time     resp     resp      \
         max   stddev depth {}",
        skew(" requested observed   delta ")
    );
    for part in parts {
        let share = count.map(|count| format_shares(part, count)).unwrap_or_default();
        let _ =
            writeln!(text, "{tod} {}{share}", format_figures(&part.name, width, &part.totals));
    }
}

/// Formats the requested and the observed percentage, and their difference.
fn format_shares(part: &DefinitionTotals, count: u64) -> String {
    let observed = 100.0 * part.totals.count() as f64 / (count as f64).max(1.0);
    let Some(requested) = part.requested_percent else {
        return format!("{:>10} {observed:>7.2}%", "n/a");
    };
    let delta = requested - observed;
    let shown =
        if delta.abs() > MIN_DELTA_PERCENT { format!(" {delta:>6.2}%") } else { String::new() };
    format!("{requested:>9.2}% {observed:>7.2}%{shown}")
}

fn format_figures(name: &str, width: usize, measured: &StorageTotals) -> String {
    format!(
        "{name:<width$} {:>10.2} {:>8.2} {:>7.0} {:>6.2} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>8.3} \
         {:>5.1} ",
        measured.rate_per_s(),
        measured.mebibytes_per_s(),
        measured.bytes_per_io(),
        measured.read_percent(),
        measured.response_ms(),
        measured.read_response_ms(),
        measured.write_response_ms(),
        measured.max_response_ms(),
        measured.response_deviation_ms(),
        measured.queue_depth(),
    )
}
