//! MPI messages on a page for publication: message size × MPI, as the OSU benchmarks print it.
//!
//! Pairs of ranks at several distances, or of several measurers, have separate columns.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, MpiTest};
use assay_model::summary::MetricEstimate;

use super::{DECIMALS, MICROSECOND, find_results, find_size, sizes, text};
use crate::build::run::network::pairs;
use crate::build::run::words;
use crate::document::{ColumnAlignment, ReportTable, TableCell};
use crate::locale::{format_ungrouped, join_details, localise_symbol, word};
use crate::{precision, units};

/// Maximum number of host pairs with columns; beyond it the section of the run has a map.
const MAX_PAIRS: usize = 4;

/// Results of one column, with its heading.
struct ColumnSeries<'a> {
    name: String,
    estimates: Vec<&'a MetricEstimate>,
}

/// Returns one series for each MPI in order of appearance, split by measurer, placement and pair of
/// hosts where these differ.
fn column_series<'a>(
    all: &[&'a MetricEstimate],
    test: MpiTest,
    metric: &str,
) -> Vec<ColumnSeries<'a>> {
    let found = find_results(all, Benchmark::Mpi(test), metric);
    let mpi =
        |it: &MetricEstimate| text(it, Attribute::Mpi).unwrap_or_else(|| it.tool.name.clone());
    let differs = |key: &dyn Fn(&MetricEstimate) -> Option<String>| {
        found.iter().any(|it| key(it) != key(found[0]))
    };
    let place = |it: &MetricEstimate| text(it, Attribute::Placement);
    let tool = |it: &MetricEstimate| Some(it.tool.name.clone());
    let has_places = differs(&place);
    let has_tools = differs(&|it| text(it, Attribute::Mpi).and(tool(it)));
    let mut known: Vec<Option<String>> = found.iter().map(|it| pairs::name(it)).collect();
    known.sort_unstable();
    known.dedup();
    let has_pairs = known.len() > 1;
    let mut series: Vec<ColumnSeries<'a>> = Vec::new();
    for it in found.iter().copied().filter(|_| known.len() <= MAX_PAIRS) {
        let parts = [
            Some(mpi(it)),
            tool(it).filter(|_| has_tools),
            place(it).filter(|_| has_places),
            pairs::name(it).filter(|_| has_pairs),
        ];
        let name = join_details(&parts.into_iter().flatten().collect::<Vec<_>>());
        match series.iter_mut().find(|known| known.name == name) {
            Some(known) => known.estimates.push(it),
            None => series.push(ColumnSeries { name, estimates: vec![it] }),
        }
    }
    series
}

/// Returns the table of latency: message size × MPI.
pub(super) fn latency(all: &[&MetricEstimate]) -> ReportTable {
    let series = column_series(all, MpiTest::Latency, "latency");
    let title = |name: &str, unit: &str| {
        message!("learn-latency-of", unit = localise_symbol(unit), mpi = name)
    };
    table(&series, &[("µs", MICROSECOND)], title)
}

/// Returns the table of bandwidth in MB/s and Gbit/s, for each MPI.
pub(super) fn bandwidth(all: &[&MetricEstimate]) -> ReportTable {
    let series = column_series(all, MpiTest::Bandwidth, "bandwidth");
    let is_one = series.len() == 1;
    let title = |name: &str, unit: &str| match is_one {
        true => message!("learn-bandwidth-in", unit = localise_symbol(unit)),
        false => message!("learn-bandwidth-of", unit = localise_symbol(unit), mpi = name),
    };
    // A byte per second is eight bits per second.
    table(&series, &[("MB/s", 1e6), ("Gbit/s", 1e9 / 8.0)], title)
}

/// Returns the table of some series: the value in each unit, the interval in the first unit, and
/// the share of the limit.
fn table(
    series: &[ColumnSeries<'_>],
    in_units: &[(&str, f64)],
    title: impl Fn(&str, &str) -> String,
) -> ReportTable {
    let mut titles: Vec<String> = Vec::new();
    for it in series {
        titles.extend(in_units.iter().map(|(unit, _)| title(&it.name, unit)));
        let level = words::interval(it.estimates.first().map(|it| it.ci_level));
        titles.push(format!("{level} [{}]", localise_symbol(in_units[0].0)));
        titles.push(word("column-of-limit").to_owned());
    }
    let mut columns = vec![("#bytes", ColumnAlignment::Right)];
    columns.extend(titles.iter().map(|it| (it.as_str(), ColumnAlignment::Right)));
    let mut table = ReportTable::new("", &columns);
    let all: Vec<&MetricEstimate> =
        series.iter().flat_map(|it| &it.estimates).copied().collect();
    for bytes in sizes(&all) {
        let mut cells: Vec<TableCell> = vec![bytes.to_string().into()];
        for it in series {
            let estimate = find_size(&it.estimates, bytes).filter(|it| it.median.is_finite());
            cells.extend(in_units.iter().map(|(_, unit)| {
                let shown = estimate.map(|it| format_ungrouped(it.median / unit, DECIMALS));
                TableCell::from(shown.unwrap_or_default())
            }));
            let interval = estimate
                .and_then(|it| precision::interval_in_unit(it, in_units[0].1, ungroup_digits));
            cells.push(interval.unwrap_or_default().into());
            let share = estimate.and_then(|it| it.percent_of_limit).map(units::percent);
            cells.push(share.unwrap_or_default().into());
        }
        table.rows.push(cells);
    }
    table
}

/// Removes digit grouping, as in tables of tools.
fn ungroup_digits(number: &str) -> String {
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    number.parse().map_or_else(|_| number.to_owned(), |value| format_ungrouped(value, decimals))
}
