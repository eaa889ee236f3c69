//! Tables of MPI latency and bandwidth on a page for publication: a row for each message size, as
//! the OSU benchmarks print them, and columns for each MPI.
//!
//! Tools, rank placements and host pairs have separate columns where they differ.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, MpiTest};
use assay_model::summary::MetricEstimate;

use super::{DECIMALS, MICROSECOND, find_results, find_size, sizes, text};
use crate::build::run::network::pairs;
use crate::build::run::words;
use crate::document::{ReportTable, right};
use crate::first_seen::group_pairs;
use crate::locale::{format_ungrouped, join_details, localise_symbol, word};
use crate::{precision, units};

/// Maximum number of host pairs with columns. More pairs appear only as a heat map, in the section
/// of the run.
const MAX_PAIRS: usize = 4;

/// Results of one column, with its heading.
struct ColumnSeries<'a> {
    name: String,
    estimates: Vec<&'a MetricEstimate>,
}

/// Returns one series for each MPI in order of appearance, split by tool, rank placement and host
/// pair where these differ.
fn column_series<'a>(
    all: &[&'a MetricEstimate],
    test: MpiTest,
    metric: &str,
) -> Vec<ColumnSeries<'a>> {
    let results = find_results(all, Benchmark::Mpi(test), metric);
    let mpi =
        |it: &MetricEstimate| text(it, Attribute::Mpi).unwrap_or_else(|| it.tool.name.clone());
    let differs = |key: &dyn Fn(&MetricEstimate) -> Option<String>| {
        results.iter().any(|it| key(it) != key(results[0]))
    };
    let placement = |it: &MetricEstimate| text(it, Attribute::Placement);
    let tool = |it: &MetricEstimate| Some(it.tool.name.clone());
    let has_placements = differs(&placement);
    let has_tools = differs(&|it| text(it, Attribute::Mpi).and(tool(it)));
    let mut pair_names: Vec<Option<String>> =
        results.iter().map(|it| pairs::name(it)).collect();
    pair_names.sort_unstable();
    pair_names.dedup();
    let has_pairs = pair_names.len() > 1;
    let shown = results.iter().copied().filter(|_| pair_names.len() <= MAX_PAIRS);
    let named = shown.map(|estimate| {
        let parts = [
            Some(mpi(estimate)),
            tool(estimate).filter(|_| has_tools),
            placement(estimate).filter(|_| has_placements),
            pairs::name(estimate).filter(|_| has_pairs),
        ];
        (join_details(&parts.into_iter().flatten().collect::<Vec<_>>()), estimate)
    });
    let series = group_pairs(named).into_iter();
    series.map(|(name, estimates)| ColumnSeries { name, estimates }).collect()
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

/// Builds a table with these columns for each series: the value in each unit, its interval in the
/// first unit, and its share of the limit.
fn table(
    series: &[ColumnSeries<'_>],
    in_units: &[(&str, f64)],
    title: impl Fn(&str, &str) -> String,
) -> ReportTable {
    let mut table = ReportTable::with_caption("");
    let all: Vec<&MetricEstimate> =
        series.iter().flat_map(|it| &it.estimates).copied().collect();
    for bytes in sizes(&all) {
        let mut cells = vec![right("#bytes", bytes.to_string())];
        for column in series {
            let estimate =
                find_size(&column.estimates, bytes).filter(|it| it.median.is_finite());
            cells.extend(in_units.iter().map(|(unit, size)| {
                let text = estimate.map(|it| format_ungrouped(it.median / size, DECIMALS));
                right(&title(&column.name, unit), text.unwrap_or_default())
            }));
            let level = words::interval(column.estimates.first().map(|it| it.ci_level));
            let level = format!("{level} [{}]", localise_symbol(in_units[0].0));
            let interval = estimate
                .and_then(|it| precision::interval_in_unit(it, in_units[0].1, ungroup_digits));
            cells.push(right(&level, interval.unwrap_or_default()));
            let share = estimate.and_then(|it| it.percent_of_limit).map(units::percent);
            cells.push(right(word("column-of-limit"), share.unwrap_or_default()));
        }
        table.push(cells);
    }
    table
}

/// Removes digit grouping, as in tables of tools.
fn ungroup_digits(number: &str) -> String {
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    number.parse().map_or_else(|_| number.to_owned(), |value| format_ungrouped(value, decimals))
}
