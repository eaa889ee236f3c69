//! Latency between cores: a table of distances, and a heat map of all pairs of each host.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Better, ReportSection};
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::cells;
use super::context::ReportContext;
use super::estimate_parts::text;
use crate::document::{Block, Document, HeatMap, ReportTable, TableCell, Tone, left, right};
use crate::first_seen::group_by;
use crate::locale::{format_fact, group_digits, word};
use crate::precision::{self, ColumnPrefixes};

/// Metric of a pair; the other one is that of a distance.
const PAIR_METRIC: &str = "pair_latency";
/// Prefix of the name of a CPU.
const CORE_PREFIX: &str = "core:";

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let all = context.section_results(ReportSection::CoreToCore);
    if all.is_empty() {
        return;
    }
    document.heading(word("heading-core-to-core"));
    // Pairs without the numbers of their CPUs, from another source, have rows of their own.
    let (pairs, distances): (Vec<&MetricEstimate>, Vec<_>) =
        all.into_iter().partition(|it| it.metric == PAIR_METRIC && pair_cpus(it).is_some());
    // Without results of distances, the table would have no columns.
    if !distances.is_empty() {
        document.blocks.push(Block::Table(distances_table(context, &distances, &pairs)));
    }
    for group in group_by(pairs.iter().copied(), |it| it.host.clone()) {
        let map = CorePairs::from_estimates(&group).filter(|it| it.cores.len() > 2);
        document.blocks.extend(map.map(|it| Block::HeatMap(it.heat_map(context))));
    }
    document.paragraph(Tone::Quiet, word("core-to-core-explanation"));
}

/// Returns a table with a row for each distance: its median, and its nearest and farthest pair.
fn distances_table(
    context: &ReportContext<'_>,
    distances: &[&MetricEstimate],
    pairs: &[&MetricEstimate],
) -> ReportTable {
    let interval = cells::interval_title(distances);
    let mut table = ReportTable::with_caption(word("table-core-to-core"));
    let prefixes = ColumnPrefixes::for_medians(distances.iter().copied());
    for estimate in distances {
        let distance = text(estimate, Attribute::Placement);
        let is_here = |it: &&&MetricEstimate| {
            it.host == estimate.host && text(it, Attribute::Distance) == distance
        };
        let mut medians: Vec<f64> = pairs.iter().filter(is_here).map(|it| it.median).collect();
        medians.sort_by(f64::total_cmp);
        let format = |value: Option<&f64>| {
            let value = value.map(|it| prefixes.value_without_interval(*it, estimate.unit));
            TableCell::from(value.unwrap_or_default())
        };
        let [value, width] =
            cells::value_columns((word("column-latency"), &interval), estimate, &prefixes);
        table.push([
            left(word("column-where"), context.place_label(estimate)),
            value,
            width,
            right(word("column-lowest"), format(medians.first())),
            right(word("column-highest"), format(medians.last())),
            right(word("column-pairs"), group_digits(&medians.len().to_string())),
            cells::sample_column(estimate),
            cells::note_column(context, estimate),
        ]);
    }
    table.without_empty_columns()
}

/// Returns the two CPUs of a pair.
fn pair_cpus(estimate: &MetricEstimate) -> Option<[u32; 2]> {
    let cpu = |name| text(estimate, name)?.strip_prefix(CORE_PREFIX)?.parse().ok();
    Some([cpu(Attribute::Source)?, cpu(Attribute::Placement)?])
}

/// Medians of the pairs of one host.
struct CorePairs<'a> {
    host: &'a str,
    /// First hardware thread of each core, ascending.
    cores: Vec<u32>,
    /// The two CPUs of each pair, with the median.
    medians: Vec<([u32; 2], f64)>,
}

impl<'a> CorePairs<'a> {
    /// Returns `None` without any pair.
    fn from_estimates(estimates: &[&'a MetricEstimate]) -> Option<Self> {
        let host = estimates.first()?.host.as_str();
        let mut cores: Vec<u32> = Vec::new();
        let mut medians = Vec::new();
        for estimate in estimates {
            let Some([first, second]) = pair_cpus(estimate) else { continue };
            // The second thread of a core is no core of its own.
            let is_same_core =
                text(estimate, Attribute::Distance).as_deref() == Some("same-core");
            cores.push(first);
            cores.extend((!is_same_core).then_some(second));
            medians.push(([first, second], estimate.median));
        }
        cores.sort_unstable();
        cores.dedup();
        Some(Self { host, cores, medians })
    }

    /// Builds the map of all cores; on the diagonal are the two threads of a core.
    fn heat_map(&self, context: &ReportContext<'_>) -> HeatMap {
        let index = |cpu: &u32| self.cores.binary_search(cpu).ok();
        let mut cells = vec![vec![None; self.cores.len()]; self.cores.len()];
        for ([first, second], median) in &self.medians {
            let Some(row) = index(first) else { continue };
            let column = index(second).unwrap_or(row);
            cells[row][column] = Some(*median);
            cells[column][row] = Some(*median);
        }
        let names: Vec<String> = self.cores.iter().map(ToString::to_string).collect();
        let title = word("heat-core-to-core");
        let host = context.has_several_hosts.then_some(self.host);
        HeatMap {
            title: host.map_or_else(|| title.to_owned(), |host| format_fact(host, title)),
            description: self.describe_extremes(),
            rows: names.clone(),
            columns: names,
            cells,
            marked: Vec::new(),
            unit: Unit::Second,
            better: Better::Lower,
        }
    }

    /// Describes the farthest and the nearest pair.
    fn describe_extremes(&self) -> String {
        let order = |a: &&([u32; 2], f64), b: &&([u32; 2], f64)| a.1.total_cmp(&b.1);
        let (Some(best), Some(worst)) =
            (self.medians.iter().min_by(order), self.medians.iter().max_by(order))
        else {
            return String::new();
        };
        let name = |[first, second]: [u32; 2]| format!("{first}\u{a0}↔\u{a0}{second}");
        let value = |median: f64| precision::value_without_interval(median, Unit::Second);
        message!(
            "heat-description",
            worst = value(worst.1),
            from = name(worst.0),
            best = value(best.1),
            to = name(best.0),
        )
    }
}
