//! Storage section: rates, bandwidth and latency of single tests, their parameters, and response
//! curves.

mod curve;
mod sentences;
mod steps;

use std::collections::BTreeSet;

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::ReportSection;
use assay_model::limit::LimitBasis;
use assay_model::quantity::Unit;
use assay_model::summary::MetricEstimate;

use super::context::ReportContext;
use super::estimate_parts::{number, section_of, text};
use super::{cells, words};
use crate::document::{Block, ColumnCell, Document, ReportTable, TableCell, Tone, left, right};
use crate::locale::{format_fixed, join_sentences, with_detail, word};
use crate::precision::{self, ColumnPrefixes};
use crate::units;

/// Results of one test, by metric.
#[derive(Default)]
struct TestResults<'a> {
    rate: Option<&'a MetricEstimate>,
    bandwidth: Option<&'a MetricEstimate>,
    latency: Option<&'a MetricEstimate>,
    from_due: Option<&'a MetricEstimate>,
    cpu_per_io: Option<&'a MetricEstimate>,
    in_flight: Option<&'a MetricEstimate>,
    late: Option<&'a MetricEstimate>,
    cpu_user: Option<&'a MetricEstimate>,
    cpu_system: Option<&'a MetricEstimate>,
    reads: SideResults<'a>,
    writes: SideResults<'a>,
    /// Steps in order: rounds until steady state, or rates of a search.
    steps: Vec<&'a MetricEstimate>,
}

/// Confidence level of the intervals of storage results.
const CI_LEVEL: f64 = 0.95;
/// Operation of tests with both reads and writes.
const MIX: &str = "mix";
/// Significant digits of a share of a limit.
const SHARE_DIGITS: usize = 2;

/// Results of the reads or the writes of a mix.
#[derive(Default)]
struct SideResults<'a> {
    rate: Option<&'a MetricEstimate>,
    latency: Option<&'a MetricEstimate>,
    from_due: Option<&'a MetricEstimate>,
}

pub(super) fn add(document: &mut Document, context: &ReportContext<'_>) {
    let (tests, _) = collect_tests(context);
    let unmet_searches = steps::unmet_searches(context);
    if tests.is_empty() && unmet_searches.is_empty() {
        return;
    }
    document.heading(word("heading-storage"));
    steps::add(document, &unmet_searches);
    if tests.is_empty() {
        return;
    }
    let (curves, single): (Vec<&TestResults<'_>>, Vec<&TestResults<'_>>) =
        tests.iter().partition(|test| test.is_curve_point());
    for sentence in sentences::targets_and_engines(&tests) {
        document.paragraph(Tone::Plain, sentence);
    }
    if !single.is_empty() {
        document.blocks.extend(read_write_table(context, &single).map(Block::Table));
        document.blocks.push(Block::Table(results_table(context, &single)));
        document.blocks.extend(due_table(&single).map(Block::Table));
    }
    steps::add(document, &tests);
    document.blocks.extend(sides_table(&single).map(Block::Table));
    let curves_of_each = curve::group_by_curve(&curves);
    document
        .blocks
        .extend(curve::host_group_plots(&curves_of_each).into_iter().map(Block::Plot));
    for points in &curves_of_each {
        curve::add(document, context, points, curve::has_plot(points, &curves_of_each));
    }
    document.blocks.extend(sides_table(&curves).map(Block::Table));
    // All points of a curve share the parameters of the first one.
    let shown: Vec<&TestResults<'_>> =
        tests.iter().filter(|test| test.number(Attribute::PercentOfMax).is_none()).collect();
    document.blocks.push(Block::Table(parameters_table(context, &shown)));
    document.paragraph(Tone::Quiet, explain_columns(&tests));
    if tests.iter().any(TestResults::has_latency_from_due) {
        document.paragraph(Tone::Quiet, word("storage-explanation-due"));
    }
    let cached = |test: &TestResults<'_>| {
        test.any_result().is_some_and(|it| {
            it.parameters.get(&Attribute::PageCache) == Some(&AttributeValue::Flag(true))
        })
    };
    if tests.iter().any(cached) {
        document.paragraph(Tone::Doubt, word("storage-cached"));
    }
}

/// Explains the columns that the tables have.
fn explain_columns(tests: &[TestResults<'_>]) -> String {
    let mut results = tests.iter().flat_map(|it| it.results().chain(it.steps.iter().copied()));
    let has_interval = results.any(|it| it.ci.is_some());
    let has_generator =
        tests.iter().any(|test| test.number(Attribute::GeneratorHeadroom).is_some());
    let interval = has_interval.then(|| word("storage-explanation-interval").to_owned());
    let generator = has_generator.then(|| word("storage-explanation-generator").to_owned());
    let first = word("storage-explanation").to_owned();
    join_sentences(
        &[Some(first), interval, generator].into_iter().flatten().collect::<Vec<_>>(),
    )
}

/// Returns the storage results that the tables of this section do not contain.
pub(super) fn unlisted_results<'a>(context: &ReportContext<'a>) -> Vec<&'a MetricEstimate> {
    collect_tests(context).1
}

/// Groups the results by test, in order of appearance; returns them and the results without a slot.
fn collect_tests<'a>(
    context: &ReportContext<'a>,
) -> (Vec<TestResults<'a>>, Vec<&'a MetricEstimate>) {
    let here =
        |estimate: &&MetricEstimate| section_of(estimate) == Some(ReportSection::Storage);
    let all: Vec<&MetricEstimate> = context.summary.results.iter().filter(here).collect();
    let operation = |it: &MetricEstimate| text(it, Attribute::Operation).unwrap_or_default();
    let is_mix = |it: &&&MetricEstimate| operation(it) == MIX;
    let mixes: BTreeSet<String> = all.iter().filter(is_mix).map(|it| test_key(it)).collect();
    let mut keys: Vec<(String, String)> = Vec::new();
    let mut tests: Vec<TestResults<'a>> = Vec::new();
    let mut rest = Vec::new();
    for estimate in all {
        let (key, operation) = (test_key(estimate), operation(estimate));
        let side = Some(operation.clone()).filter(|it| it != MIX && mixes.contains(&key));
        let key = (key, if side.is_some() { MIX.to_owned() } else { operation });
        let index = keys.iter().position(|known| *known == key);
        let mut new = TestResults::default();
        let test = index.map_or(&mut new, |index| &mut tests[index]);
        match test.slot_mut(&estimate.metric, side.as_deref()) {
            Some(place) if place.is_none() => *place = Some(estimate),
            _ => {
                rest.push(estimate);
                continue;
            }
        }
        if index.is_none() {
            new.steps = steps::find_steps(context, estimate);
            keys.push(key);
            tests.push(new);
        }
    }
    (tests, rest)
}

/// Returns a key of the test of a result; reads and writes of a mix share it with the whole.
fn test_key(estimate: &MetricEstimate) -> String {
    let names = [
        Attribute::Test,
        Attribute::Phase,
        Attribute::Loops,
        Attribute::Point,
        Attribute::PercentOfMax,
        Attribute::Target,
        Attribute::Depth,
        Attribute::Bytes,
    ];
    let names = names.map(|name| text(estimate, name).unwrap_or_default());
    let MetricEstimate { case, tool, host, .. } = estimate;
    format!("{case}/{}/{}/{host}", names.join("/"), tool.name)
}

impl<'a> TestResults<'a> {
    /// Whether a table or a curve shows latency from the time at which I/O was due.
    fn has_latency_from_due(&self) -> bool {
        let sides = [&self.reads, &self.writes];
        self.from_due.is_some() || sides.iter().any(|side| side.from_due.is_some())
    }

    /// Returns the slot of a metric, in the whole test or in one side of a mix.
    fn slot_mut(
        &mut self,
        metric: &str,
        side: Option<&str>,
    ) -> Option<&mut Option<&'a MetricEstimate>> {
        let side = match side {
            Some("read") => Some(&mut self.reads),
            Some("write") => Some(&mut self.writes),
            Some(_) => return None,
            None => None,
        };
        Some(match (metric, side) {
            ("rate", None) => &mut self.rate,
            ("bandwidth", None) => &mut self.bandwidth,
            ("latency", None) => &mut self.latency,
            ("latency_from_intended", None) => &mut self.from_due,
            ("cpu_per_io", None) => &mut self.cpu_per_io,
            ("in_flight", None) => &mut self.in_flight,
            ("late", None) => &mut self.late,
            ("cpu_user", None) => &mut self.cpu_user,
            ("cpu_system", None) => &mut self.cpu_system,
            ("rate", Some(side)) => &mut side.rate,
            ("latency", Some(side)) => &mut side.latency,
            ("latency_from_intended", Some(side)) => &mut side.from_due,
            _ => return None,
        })
    }

    /// Returns the results, the most informative first.
    fn results(&self) -> impl Iterator<Item = &'a MetricEstimate> {
        let figures = [self.rate, self.bandwidth, self.latency, self.from_due, self.cpu_per_io];
        let others = [self.in_flight, self.late, self.cpu_user, self.cpu_system];
        let sides = [&self.reads, &self.writes].map(|it| [it.rate, it.latency, it.from_due]);
        figures.into_iter().chain(others).chain(sides.into_iter().flatten()).flatten()
    }

    /// Returns any result, or a step if there is none: all share the attributes of the case.
    fn any_result(&self) -> Option<&'a MetricEstimate> {
        self.results().next().or_else(|| self.steps.first().copied())
    }

    fn text(&self, name: Attribute) -> Option<String> {
        text(self.any_result()?, name)
    }

    fn number(&self, name: Attribute) -> Option<f64> {
        number(self.any_result()?, name)
    }

    fn is_curve_point(&self) -> bool {
        self.text(Attribute::Point).is_some() || self.number(Attribute::PercentOfMax).is_some()
    }

    /// Returns the label of the test; the points of a curve share it.
    fn label(&self) -> String {
        let test = self.text(Attribute::Test).or_else(|| self.text(Attribute::Phase));
        let test = test.or_else(|| Some(self.any_result()?.case.clone())).unwrap_or_default();
        // Only runs with several hosts have it as a parameter.
        match self.text(Attribute::Host) {
            Some(host) => with_detail(&host, &test),
            None => test,
        }
    }

    fn name(&self) -> String {
        let test = self.label();
        match (self.text(Attribute::Point), self.number(Attribute::PercentOfMax)) {
            (Some(point), _) if point == "max" => with_detail(&test, curve::maximum_label()),
            (Some(point), _) => with_detail(&test, &point),
            (None, Some(percent)) => with_detail(&test, &units::percent(percent)),
            (None, None) => test,
        }
    }

    /// Returns the percentage of the provisioned limit, or of the limit in the data sheet.
    fn share_of_limit(&self) -> Option<f64> {
        let percent = |figure: Option<&MetricEstimate>| figure?.percent_of_limit;
        percent(self.bandwidth).or_else(|| percent(self.rate))
    }

    /// Returns the notes of all results, each once.
    fn notes(&self, context: &ReportContext<'_>) -> TableCell {
        let mut marks: Vec<usize> =
            self.results().flat_map(|it| context.notes.marks(it)).collect();
        marks.sort_unstable();
        marks.dedup();
        TableCell::with_marks(marks)
    }

    fn measurer(&self, context: &ReportContext<'_>) -> TableCell {
        self.any_result().map(|estimate| cells::measurer(context, estimate)).unwrap_or_default()
    }
}

/// Returns the heading of the column with shares of limits.
fn share_title(tests: &[&TestResults<'_>]) -> &'static str {
    let amounts = tests.iter().flat_map(|test| [test.bandwidth, test.rate]).flatten();
    let mut limits = amounts.filter_map(|it| it.limit.as_ref());
    match limits.all(|limit| limit.basis == LimitBasis::Provisioned) {
        true => word("column-of-provisioned"),
        false => word("column-of-limit"),
    }
}

fn results_table(context: &ReportContext<'_>, tests: &[&TestResults<'_>]) -> ReportTable {
    let interval = words::interval(Some(CI_LEVEL));
    let titles = (word("column-rate"), interval.as_str());
    let mut table = ReportTable::with_caption(word("table-storage"));
    let amounts = tests.iter().flat_map(|test| [test.rate, test.bandwidth]);
    let prefixes = ColumnPrefixes::for_medians(amounts.flatten());
    let times = LatencyColumns::from_latencies(tests.iter().filter_map(|test| test.latency));
    for test in tests {
        let mut row = vec![left(word("column-test"), test.name())];
        row.extend(match test.rate {
            Some(rate) => cells::value_columns(titles, rate, &prefixes),
            None => [right(titles.0, ""), right(titles.1, "")],
        });
        let bandwidth = test.bandwidth.map(|it| prefixes.value(it)).unwrap_or_default();
        row.push(right(word("column-bandwidth"), bandwidth));
        row.push(right(share_title(tests), cells::percent(test.share_of_limit())));
        row.extend(times.service_columns(test.latency));
        row.push(left(word("column-by"), test.measurer(context)));
        row.push(left(word("column-note"), test.notes(context)));
        table.push(row);
    }
    table.without_empty_columns()
}

/// Returns a table with one row for each kind of I/O that was both read and written: bandwidth of
/// large blocks, rate of small ones.
fn read_write_table(
    context: &ReportContext<'_>,
    tests: &[&TestResults<'_>],
) -> Option<ReportTable> {
    /// Block size from which bandwidth is reported instead of the rate.
    const LARGE_BYTES: f64 = 65_536.0;
    let mut table = ReportTable::with_caption(word("table-storage-pairs"));
    let kind = |test: &TestResults<'_>| {
        let text = |name| test.text(name);
        let result = test.any_result()?;
        let place = (text(Attribute::Target), result.tool.name.clone(), result.host.clone());
        // A test with a requested rate does not measure the maximum.
        let is_closed = test.number(Attribute::RequestedRate).is_none();
        let what = message!(
            "storage-kind",
            pattern = words::pattern(&text(Attribute::Pattern)?),
            size = text(Attribute::Bytes)?,
            depth = text(Attribute::Depth)?,
        );
        is_closed.then_some((what, place))
    };
    let is = |test: &TestResults<'_>, operation| {
        test.text(Attribute::Operation).as_deref() == Some(operation)
    };
    for read in tests.iter().filter(|test| is(test, "read")) {
        let Some(found) = kind(read) else { continue };
        let same =
            |test: &&&TestResults<'_>| is(test, "write") && kind(test).as_ref() == Some(&found);
        let Some(write) = tests.iter().find(same) else { continue };
        let shown = |test: &TestResults<'_>| {
            let is_large =
                test.number(Attribute::Bytes).is_some_and(|bytes| bytes >= LARGE_BYTES);
            let figure = if is_large { test.bandwidth } else { test.rate };
            figure.map(precision::value).unwrap_or_default()
        };
        let [of_reads, of_writes] = [read, write].map(|test| test.share_of_limit());
        let share = of_reads.zip(of_writes).map(|(reads, writes)| {
            let number = |it| units::quantity(it, Unit::Ratio, SHARE_DIGITS);
            units::with_no_break_spaces(&units::in_percent(&format!(
                "{} / {}",
                number(reads),
                number(writes)
            )))
        });
        let what = match read.text(Attribute::Host) {
            Some(host) => with_detail(&host, &found.0),
            None => found.0,
        };
        table.push([
            left(word("column-what"), what),
            right(word("column-reads"), shown(read)),
            right(word("column-writes"), shown(write)),
            right(word("column-of-limit"), share.unwrap_or_default()),
            left(word("column-by"), read.measurer(context)),
        ]);
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Returns the latency from the due time, of the tests with a requested rate.
fn due_table(tests: &[&TestResults<'_>]) -> Option<ReportTable> {
    let mut table = ReportTable::with_caption(word("table-storage-due"));
    let prefixes = ColumnPrefixes::for_medians(tests.iter().filter_map(|test| test.rate));
    let times = LatencyColumns::from_latencies(tests.iter().filter_map(|test| test.from_due));
    for test in tests.iter().filter(|test| test.from_due.is_some()) {
        let requested = test.text(Attribute::RequestedRate).unwrap_or_default();
        let reached = test.rate.map(|it| prefixes.value(it)).unwrap_or_default();
        let amounts = [
            left(word("column-test"), test.name()),
            right(word("column-requested"), requested),
            right(word("column-reached"), reached),
            cells::limit_column(test.share_of_limit()),
        ];
        table.push(amounts.into_iter().chain(times.due_columns(test.from_due)));
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Returns reads and writes separately, of the tests with both.
fn sides_table(tests: &[&TestResults<'_>]) -> Option<ReportTable> {
    let mut table = ReportTable::with_caption(word("table-storage-mixes"));
    let both = || tests.iter().flat_map(|test| [&test.reads, &test.writes]);
    let prefixes = ColumnPrefixes::for_medians(both().filter_map(|side| side.rate));
    let times = LatencyColumns::from_latencies(both().filter_map(|side| side.latency));
    let times_from_due =
        LatencyColumns::from_latencies(both().filter_map(|side| side.from_due));
    for test in tests {
        let sides = [
            ("read", &test.reads, Attribute::ReadRate),
            ("write", &test.writes, Attribute::WriteRate),
        ];
        for (name, side, fact) in sides {
            let of_fact =
                || Some(prefixes.value_without_interval(test.number(fact)?, Unit::IoPerSecond));
            let rate = side.rate.map(|it| prefixes.value(it)).or_else(of_fact);
            if rate.is_none() && side.latency.is_none() && side.from_due.is_none() {
                continue;
            }
            let amounts = [
                left(word("column-test"), test.name()),
                left("", words::operation(name)),
                right(word("column-rate"), rate.unwrap_or_default()),
            ];
            let service = times.service_columns(side.latency);
            let from_due = times_from_due.due_columns(side.from_due);
            table.push(amounts.into_iter().chain(service).chain(from_due));
        }
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Returns the bandwidth, and its share of the limit.
/// Percentile columns of latency tables, in addition to the median.
const PERCENTILES: [&str; 2] = ["p99", "p99.9"];

/// Columns of a latency: median and percentiles, each with its own unit.
pub(super) struct LatencyColumns([ColumnPrefixes; 3]);

impl LatencyColumns {
    pub(super) fn from_latencies<'e>(
        latencies: impl Iterator<Item = &'e MetricEstimate>,
    ) -> Self {
        let all: Vec<&MetricEstimate> = latencies.collect();
        let [p99, p999] = PERCENTILES.map(|name| {
            let value = |it: &&MetricEstimate| Some((it.unit, percentile(it, name)?));
            ColumnPrefixes::for_values(all.iter().filter_map(value))
        });
        Self([ColumnPrefixes::for_medians(all), p99, p999])
    }

    /// Returns median, p99 and p99.9 of the service time.
    pub(super) fn service_columns(&self, latency: Option<&MetricEstimate>) -> [ColumnCell; 3] {
        let [median, p99, p999] = self.cells(latency);
        [right(word("column-median"), median), right("p99", p99), right("p99.9", p999)]
    }

    /// Returns median, p99 and p99.9 of the time since an I/O was due.
    pub(super) fn due_columns(&self, latency: Option<&MetricEstimate>) -> [ColumnCell; 3] {
        let [median, p99, p999] = self.cells(latency);
        [
            right(word("column-median-from-due"), median),
            right(&words::from_due("p99"), p99),
            right(&words::from_due("p99.9"), p999),
        ]
    }

    /// Returns median, p99 and p99.9, as far as there are enough samples.
    pub(super) fn cells(&self, estimate: Option<&MetricEstimate>) -> [TableCell; 3] {
        let Some(estimate) = estimate else { return Default::default() };
        let [of_median, of_p99, of_p999] = &self.0;
        let shown = |prefixes: &ColumnPrefixes, name| -> TableCell {
            let value = percentile(estimate, name);
            value
                .map(|it| prefixes.value_without_interval(it, estimate.unit))
                .unwrap_or_default()
                .into()
        };
        // Some tools report only a mean.
        let is_mean =
            text(estimate, Attribute::Statistic).is_some_and(|it| it.starts_with("mean"));
        let median = of_median.value(estimate);
        let median = if is_mean { message!("is-mean", value = median) } else { median };
        let [p99, p999] = PERCENTILES;
        [median.into(), shown(of_p99, p99), shown(of_p999, p999)]
    }
}

fn percentile(estimate: &MetricEstimate, name: &str) -> Option<f64> {
    estimate.percentiles.as_ref()?.get(name).copied()
}

fn parameters_table(context: &ReportContext<'_>, tests: &[&TestResults<'_>]) -> ReportTable {
    let mut table = ReportTable::with_caption(word("table-storage-parameters"));
    for test in tests {
        let shown = |name: Attribute| test.text(name).unwrap_or_default();
        let value = |it: Option<&MetricEstimate>| it.map(precision::value).unwrap_or_default();
        let in_flight = test.number(Attribute::InFlight).map(|it| format_fixed(it, 2));
        let in_flight = in_flight.unwrap_or_else(|| value(test.in_flight));
        let headroom = test.number(Attribute::GeneratorHeadroom).map(format_factor);
        table.push([
            left(word("column-test"), test.name()),
            right(word("column-target-size"), shown(Attribute::TargetBytes)),
            right(word("column-block"), shown(Attribute::Bytes)),
            right(word("column-depth"), shown(Attribute::Depth)),
            right(word("column-threads"), shown(Attribute::Threads)),
            right(word("column-in-flight"), in_flight),
            right(word("column-later-than-the-goal"), value(test.late)),
            right(word("column-cpu-per-io"), value(test.cpu_per_io)),
            right(word("column-cpu-user"), value(test.cpu_user)),
            right(word("column-cpu-system"), value(test.cpu_system)),
            right(word("column-generator"), headroom.unwrap_or_default()),
            left(word("column-by"), test.measurer(context)),
        ]);
    }
    table.without_empty_columns()
}

/// Formats a factor: `12.3 ×`, `4567 ×`.
fn format_factor(factor: f64) -> String {
    let digits = if factor < 10.0 { 2 } else { 3 };
    format!("{}\u{a0}×", units::quantity(factor, Unit::Ratio, digits))
}
