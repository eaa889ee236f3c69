//! MPI section: for each benchmark and place one row per message size and one column per MPI, then
//! the curves.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, Better, ReportSection};
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::cells;
use super::context::ReportContext;
use super::estimate_parts::{metric_name, number, text};
use super::mpi_labels::MpiLabels;
use super::network::pairs;
use crate::document::{
    Block, Details, Document, HeatMap, ReportTable, TableCell, Tone, left, right,
};
use crate::first_seen::{distinct, group_pairs};
use crate::locale::{
    Language, Locale, comma, format_fact, format_fixed, join_sentences, localise_symbol,
    semicolon, with_detail, word,
};
use crate::precision::{self, ColumnPrefixes};
use crate::units;

mod curves;
mod places;

const HEADING: &str = "MPI";
/// Placeholder for the width of a missing interval.
const NO_INTERVAL: &str = "±?";
/// Mark of the best value of a row.
const BEST_MARK: &str = "◀";
/// Prefix of a ratio of two values with overlapping intervals.
const OVERLAP_MARK: &str = "≈";
/// Metrics whose tables are always visible; the others are collapsed.
const MAIN_METRICS: [&str; 4] = ["latency", "bandwidth", "message_rate", "overlap"];

/// Results of one table, which differ only in size and MPI.
struct MpiGroup<'a> {
    labels: &'a MpiLabels,
    benchmark: Benchmark,
    metric: &'a str,
    place: String,
    ranks: String,
    estimates: Vec<&'a MetricEstimate>,
}

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let labels = MpiLabels::from_results(&context.summary.results);
    let groups = groups(context, &labels);
    if groups.is_empty() {
        return;
    }
    document.heading(HEADING);
    let libraries = libraries_table(&groups);
    if !libraries.rows.is_empty() {
        document.blocks.push(Block::Table(libraries));
    }
    let tables: Vec<_> = groups.iter().map(|group| (group, table(context, group))).collect();
    document.paragraph(Tone::Quiet, legend(&tables));
    document.blocks.extend(heat_maps(&groups).into_iter().map(Block::HeatMap));
    places::add(document, &groups, context.summary);
    let (main, more): (Vec<_>, Vec<_>) =
        tables.into_iter().partition(|(group, _)| MAIN_METRICS.contains(&group.metric));
    for (group, table) in main {
        document.heading(group.title());
        document.blocks.push(Block::Table(table));
        document.blocks.extend(curves::plot(group).map(Block::Plot));
    }
    if !more.is_empty() {
        let with_heading = |(group, table): (&MpiGroup<'_>, ReportTable)| {
            [Block::Heading(group.title()), Block::Table(table)]
        };
        let blocks = more.into_iter().flat_map(with_heading).collect();
        document.blocks.push(Block::Details(Details {
            title: word("details-other-metrics").to_owned(),
            blocks,
        }));
    }
}

/// Explains the marks that occur in the tables, and the figures.
fn legend(tables: &[(&MpiGroup<'_>, ReportTable)]) -> String {
    let cells = || tables.iter().flat_map(|(_, table)| table.rows.iter().flatten());
    let has = |mark: &str| cells().any(|cell| cell.text.contains(mark));
    let marks: Vec<String> = [
        has(BEST_MARK).then(|| message!("mpi-rule-best", ratio = format_fixed(1.2, 2))),
        has(OVERLAP_MARK).then(|| word("mpi-rule-overlap").to_owned()),
        has(NO_INTERVAL).then(|| word("mpi-rule-no-interval").to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect();
    let has_benchmark =
        |ids: &[&str]| tables.iter().any(|(group, _)| ids.contains(&group.benchmark.id()));
    let has_transport = tables
        .iter()
        .flat_map(|(group, _)| &group.estimates)
        .any(|it| text(it, Attribute::Transport).is_some());
    let rules = [
        (!marks.is_empty()).then(|| marks.join(semicolon()) + word("full-stop")),
        has_benchmark(&["mpi.latency", "mpi.multi_lat"])
            .then(|| word("mpi-rule-latency").to_owned()),
        has_transport.then(|| word("mpi-rule-transport").to_owned()),
    ];
    join_sentences(&rules.into_iter().flatten().collect::<Vec<_>>())
}

fn groups<'a>(context: &ReportContext<'a>, labels: &'a MpiLabels) -> Vec<MpiGroup<'a>> {
    let mut groups: Vec<MpiGroup<'a>> = Vec::new();
    // Times of single messages include reading the clock each time, times of batches do not.
    let is_batch =
        |it: &&MetricEstimate| text(it, Attribute::Timed).is_none_or(|it| it != "single");
    for estimate in context.section_results(ReportSection::Mpi).into_iter().filter(is_batch) {
        let Some(benchmark) = Benchmark::from_id(&estimate.benchmark) else { continue };
        let place = pairs::name(estimate).unwrap_or_else(|| context.place_label(estimate));
        let ranks = text(estimate, Attribute::Ranks).unwrap_or_default();
        let group = groups.iter_mut().find(|group| {
            group.benchmark == benchmark
                && group.metric == estimate.metric
                && group.place == place
                && group.ranks == ranks
        });
        match group {
            Some(group) => group.estimates.push(estimate),
            None => groups.push(MpiGroup {
                labels,
                benchmark,
                metric: &estimate.metric,
                place,
                ranks,
                estimates: vec![estimate],
            }),
        }
    }
    groups
}

/// Returns heat maps of the pairs of hosts.
fn heat_maps(groups: &[MpiGroup<'_>]) -> Vec<HeatMap> {
    let all: Vec<&MetricEstimate> =
        groups.iter().flat_map(|group| group.estimates.iter().copied()).collect();
    let labels = groups.first().map(|group| group.labels);
    let item = |estimate: &MetricEstimate| {
        let mpi = labels.and_then(|labels| labels.label(estimate)).unwrap_or_default();
        let size = size(estimate).map(units::size);
        [Some(estimate.benchmark.clone()), Some(mpi), size]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(comma())
    };
    pairs::heat_maps(&all, &item)
}

impl<'a> MpiGroup<'a> {
    /// Returns the columns in order of appearance.
    fn columns(&self) -> Vec<String> {
        distinct(self.estimates.iter().map(|it| self.column(it)))
    }

    /// Returns the name of the MPI, with the measuring tool unless it is assay.
    fn column(&self, estimate: &MetricEstimate) -> String {
        let mpi = self.name(estimate);
        if is_by_assay(&estimate) {
            mpi
        } else {
            message!("what-by", what = mpi, by = estimate.tool.name.as_str())
        }
    }

    fn name(&self, estimate: &MetricEstimate) -> String {
        self.labels.label(estimate).unwrap_or_else(|| estimate.tool.name.clone())
    }

    /// Returns the heading of a column: the MPI and the transport that it chose.
    fn heading(&self, column: &str) -> String {
        let is_in_column = |it: &&&MetricEstimate| self.column(it) == column;
        let transport = self
            .estimates
            .iter()
            .find(is_in_column)
            .and_then(|it| text(it, Attribute::Transport));
        [Some(column.to_owned()), transport]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(comma())
    }

    /// Returns the sizes in ascending order; `None` for messages without a size.
    fn sizes(&self) -> Vec<Option<u64>> {
        let mut sizes: Vec<Option<u64>> = self.estimates.iter().map(|it| size(it)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    fn find(&self, bytes: Option<u64>, column: &str) -> Option<&'a MetricEstimate> {
        let is_in_cell = |it: &&&MetricEstimate| size(it) == bytes && self.column(it) == column;
        self.estimates.iter().find(is_in_cell).copied()
    }

    fn best(&self, bytes: Option<u64>) -> Option<&'a MetricEstimate> {
        let row = self.estimates.iter().copied().filter(|it| size(it) == bytes);
        let comparable = row.filter(|it| precision::is_positive(it.median));
        comparable.min_by(|a, b| match a.better {
            Better::Lower => a.median.total_cmp(&b.median),
            Better::Higher => b.median.total_cmp(&a.median),
        })
    }

    /// Returns a title such as `Latency of MPI messages between two ranks (mpi.latency),
    /// same-cache, 2 ranks`.
    ///
    /// Titles of benchmarks exist in English only. Other languages translate the two headings of
    /// published pages and use the identifiers of the others.
    fn title(&self) -> String {
        let metric = self.estimates.first().map(|it| metric_name(it)).unwrap_or_default();
        let id = self.benchmark.id();
        let mut title = match (Language::current().locale, id, self.metric) {
            (Locale::En, _, metric_id) => {
                let title = self.benchmark.definition().title;
                let mut rest = title.chars();
                let first = rest.next().map(|letter| letter.to_uppercase().to_string());
                let title = first.unwrap_or_default() + rest.as_str();
                match metric_id {
                    "latency" | "bandwidth" => format!("{title} ({id})"),
                    _ => format!("{title}: {metric} ({id})"),
                }
            }
            (_, "mpi.latency", "latency") => {
                format!("{} ({id})", word("learn-heading-mpi-latency"))
            }
            (_, "mpi.bw", "bandwidth") => {
                format!("{} ({id})", word("learn-heading-mpi-bandwidth"))
            }
            _ => with_detail(id, &metric),
        };
        // Imported files may lack place and ranks.
        if !self.place.is_empty() {
            title = with_detail(&title, &self.place);
        }
        if !self.ranks.is_empty() {
            title = with_detail(&title, &message!("ranks", ranks = &self.ranks));
        }
        title
    }
}

fn is_by_assay(estimate: &&MetricEstimate) -> bool {
    estimate.tool.name == "assay"
}

fn size(estimate: &MetricEstimate) -> Option<u64> {
    number(estimate, Attribute::Bytes).map(|bytes| bytes as u64)
}

fn size_cell(bytes: Option<u64>) -> TableCell {
    bytes.map(units::size).unwrap_or_default().into()
}

/// Returns the units of the OSU benchmarks and of published pages, for every size: 4 MiB in µs like
/// 8 B.
fn prefixes() -> ColumnPrefixes {
    ColumnPrefixes::for_values([(Unit::Second, 1e-6), (Unit::BytePerSecond, 1e6)])
}

/// Returns a table with one row per size and one column per MPI. Bandwidths have another column in
/// bits, results with a limit a column with their share of it.
fn table(context: &ReportContext<'_>, group: &MpiGroup<'_>) -> ReportTable {
    let names = group.columns();
    let is_bandwidth = group.estimates.iter().all(|it| it.unit == Unit::BytePerSecond);
    let mut table = ReportTable::with_caption("");
    for bytes in group.sizes() {
        let best = group.best(bytes);
        let mut row = vec![right(word("column-size"), size_cell(bytes))];
        let mut marks = Vec::new();
        for name in &names {
            let estimate = group.find(bytes, name);
            let value = estimate.map(|it| cell(it, best, names.len())).unwrap_or_default();
            row.push(right(&group.heading(name), value));
            row.extend(is_bandwidth.then(|| {
                let title = with_detail(name, &localise_symbol("Gbit/s"));
                right(&title, estimate.map(bits_cell).unwrap_or_default())
            }));
            let share = cells::percent(estimate.and_then(|it| it.percent_of_limit));
            row.push(right(&with_detail(name, word("column-of-limit")), share));
            marks.extend(estimate.map(|it| context.notes.marks(it)).unwrap_or_default());
        }
        marks.sort_unstable();
        marks.dedup();
        row.push(left(word("column-note"), TableCell::with_marks(marks)));
        table.push(row);
    }
    table.without_empty_columns()
}

/// Returns value, interval, and ratio to the best value of the row.
fn cell(estimate: &MetricEstimate, best: Option<&MetricEstimate>, columns: usize) -> TableCell {
    let value = prefixes().value(estimate);
    let interval =
        precision::relative_interval(estimate).unwrap_or_else(|| NO_INTERVAL.to_owned());
    let against = match best {
        Some(best) if columns > 1 => ratio_to_best(estimate, best),
        _ => String::new(),
    };
    let join = |parts: &[&str]| {
        parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
    };
    TableCell::with_short(join(&[&value, &interval, &against]), Some(join(&[&value, &against])))
}

fn ratio_to_best(estimate: &MetricEstimate, best: &MetricEstimate) -> String {
    if std::ptr::eq(estimate, best) {
        return BEST_MARK.to_owned();
    }
    let (more, less) = match estimate.better {
        Better::Lower => (estimate.median, best.median),
        Better::Higher => (best.median, estimate.median),
    };
    let ratio = more / less;
    if !ratio.is_finite() {
        return String::new();
    }
    let overlap = match (estimate.ci, best.ci) {
        (Some(one), Some(other)) => one[0] <= other[1] && other[0] <= one[1],
        _ => false,
    };
    format!("{}×{}", if overlap { OVERLAP_MARK } else { "" }, format_fixed(ratio, 2))
}

/// Returns the bandwidth in bits; the heading contains the unit.
fn bits_cell(estimate: &MetricEstimate) -> TableCell {
    let digits = precision::estimate_digits(estimate);
    let bits = precision::round_to_digits(estimate.median * 8.0, digits);
    let written = units::quantity_with_prefix(bits, Unit::BitPerSecond, digits, 1e9);
    Some(written)
        .filter(|_| estimate.median.is_finite())
        .map(|it| units::split_unit(&it).0.into())
        .unwrap_or_default()
}

/// Returns a table with one row per MPI: its library, and the placement of its ranks.
fn libraries_table(groups: &[MpiGroup<'_>]) -> ReportTable {
    let libraries = groups.iter().flat_map(|group| {
        group.estimates.iter().copied().filter(is_by_assay).map(move |estimate| {
            let attribute = |name: Attribute| text(estimate, name).unwrap_or_default();
            let library = [
                group.name(estimate),
                attribute(Attribute::Transport),
                attribute(Attribute::Abi),
                attribute(Attribute::Library),
            ];
            let place = format_fact(
                &group.place,
                &units::with_no_break_spaces(&attribute(Attribute::Cpus)),
            );
            (library, place)
        })
    });
    let mut table = ReportTable::with_caption(word("table-mpi-libraries"));
    for ([name, transport, abi, library], places) in group_pairs(distinct(libraries)) {
        table.push([
            left("MPI", name),
            left(word("column-transport"), transport),
            left("ABI", abi),
            left(word("column-library"), library),
            left(word("column-ranks-on-cpus"), places.join(comma())),
        ]);
    }
    table.without_empty_columns()
}
