//! Storage section: rates, bandwidth and latency of single tests, their parameters, and response
//! curves.

mod course;
mod curve;

use std::collections::{BTreeMap, BTreeSet};

use assay_model::attribute::{Attribute, Value};
use assay_model::benchmark::Section;
use assay_model::limit::Basis;
use assay_model::quantity::Unit;
use assay_model::summary::Estimate;

use super::context::{self, Context, number, section_of, text};
use super::{rows, words};
use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::locale::{comma, detailed, fixed, word};
use crate::precision::{self, Prefixes};
use crate::{units, words as catalogue};

/// Results of one test, by metric.
#[derive(Default)]
struct Test<'a> {
    rate: Option<&'a Estimate>,
    bandwidth: Option<&'a Estimate>,
    latency: Option<&'a Estimate>,
    from_due: Option<&'a Estimate>,
    cpu: Option<&'a Estimate>,
    in_flight: Option<&'a Estimate>,
    late: Option<&'a Estimate>,
    busy_user: Option<&'a Estimate>,
    busy_system: Option<&'a Estimate>,
    reads: Side<'a>,
    writes: Side<'a>,
    /// Steps in order: rounds until steady state, or rates of a search.
    steps: Vec<&'a Estimate>,
}

/// Confidence level of the intervals of storage results.
const LEVEL: f64 = 0.95;
/// Operation of tests with both reads and writes.
const MIX: &str = "mix";
/// Significant digits of a share of a limit.
const SHARE_DIGITS: usize = 2;

/// Results of the reads or the writes of a mix.
#[derive(Default)]
struct Side<'a> {
    rate: Option<&'a Estimate>,
    latency: Option<&'a Estimate>,
    from_due: Option<&'a Estimate>,
}

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let (tests, _) = tests(context);
    let unmet_searches = course::without_result(context);
    if tests.is_empty() && unmet_searches.is_empty() {
        return;
    }
    document.heading(word("heading-storage"));
    course::add(document, &unmet_searches);
    if tests.is_empty() {
        return;
    }
    let (curves, single): (Vec<&Test<'_>>, Vec<&Test<'_>>) =
        tests.iter().partition(|test| test.is_on_a_curve());
    for sentence in sentences(&tests, target).into_iter().chain(sentences(&tests, engine)) {
        document.paragraph(Tone::Plain, sentence);
    }
    if !single.is_empty() {
        document.blocks.extend(pairs(context, &single).map(Block::Table));
        document.blocks.push(Block::Table(measured(context, &single)));
        document.blocks.extend(due(&single).map(Block::Table));
    }
    course::add(document, &tests);
    document.blocks.extend(sides(&single).map(Block::Table));
    let curves_of_each = curve::groups(&curves);
    document.blocks.extend(curve::of_host_groups(&curves_of_each).into_iter().map(Block::Plot));
    for points in &curves_of_each {
        curve::add(document, context, points, curve::has_picture(points, &curves_of_each));
    }
    document.blocks.extend(sides(&curves).map(Block::Table));
    // All points of a curve share the parameters of the first one.
    let shown: Vec<&Test<'_>> =
        tests.iter().filter(|test| test.number(Attribute::PercentOfMax).is_none()).collect();
    document.blocks.push(Block::Table(circumstances(context, &shown)));
    document.paragraph(Tone::Quiet, word("storage-explanation"));
    if tests.iter().any(Test::has_latency_from_due) {
        document.paragraph(Tone::Quiet, word("storage-explanation-due"));
    }
    let cached = |test: &Test<'_>| {
        test.any().is_some_and(|it| {
            it.parameters.get(&Attribute::PageCache) == Some(&Value::Flag(true))
        })
    };
    if tests.iter().any(cached) {
        document.paragraph(Tone::Doubt, word("storage-cached"));
    }
}

/// Returns the storage results that the tables of this section do not contain.
pub(super) fn without_a_place<'a>(context: &Context<'a>) -> Vec<&'a Estimate> {
    tests(context).1
}

/// Groups the results by test, in order of appearance; returns them and the results without a slot.
fn tests<'a>(context: &Context<'a>) -> (Vec<Test<'a>>, Vec<&'a Estimate>) {
    let here = |estimate: &&Estimate| section_of(estimate) == Some(Section::Storage);
    let all: Vec<&Estimate> = context.summary.results.iter().filter(here).collect();
    let operation = |it: &Estimate| text(it, Attribute::Operation).unwrap_or_default();
    let is_mix = |it: &&&Estimate| operation(it) == MIX;
    let mixes: BTreeSet<String> = all.iter().filter(is_mix).map(|it| key(it)).collect();
    let mut keys: Vec<(String, String)> = Vec::new();
    let mut tests: Vec<Test<'a>> = Vec::new();
    let mut rest = Vec::new();
    for estimate in all {
        let (key, operation) = (key(estimate), operation(estimate));
        let side = Some(operation.clone()).filter(|it| it != MIX && mixes.contains(&key));
        let key = (key, if side.is_some() { MIX.to_owned() } else { operation });
        let index = keys.iter().position(|known| *known == key);
        let mut new = Test::default();
        let test = index.map_or(&mut new, |index| &mut tests[index]);
        match test.place(&estimate.metric, side.as_deref()) {
            Some(place) if place.is_none() => *place = Some(estimate),
            _ => {
                rest.push(estimate);
                continue;
            }
        }
        if index.is_none() {
            new.steps = course::steps_of(context, estimate);
            keys.push(key);
            tests.push(new);
        }
    }
    (tests, rest)
}

/// Returns a key of the test of a result; reads and writes of a mix share it with the whole.
fn key(estimate: &Estimate) -> String {
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
    let Estimate { case, tool, host, .. } = estimate;
    format!("{case}/{}/{}/{host}", names.join("/"), tool.name)
}

impl<'a> Test<'a> {
    /// Whether a table or a curve shows latency from the time at which I/O was due.
    fn has_latency_from_due(&self) -> bool {
        let sides = [&self.reads, &self.writes];
        self.from_due.is_some() || sides.iter().any(|side| side.from_due.is_some())
    }

    /// Returns the slot of a metric, in the whole test or in one side of a mix.
    fn place(&mut self, metric: &str, side: Option<&str>) -> Option<&mut Option<&'a Estimate>> {
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
            ("cpu_per_io", None) => &mut self.cpu,
            ("in_flight", None) => &mut self.in_flight,
            ("late", None) => &mut self.late,
            ("cpu_user", None) => &mut self.busy_user,
            ("cpu_system", None) => &mut self.busy_system,
            ("rate", Some(side)) => &mut side.rate,
            ("latency", Some(side)) => &mut side.latency,
            ("latency_from_intended", Some(side)) => &mut side.from_due,
            _ => return None,
        })
    }

    /// Returns the results, the most informative first.
    fn all(&self) -> impl Iterator<Item = &'a Estimate> {
        let figures = [self.rate, self.bandwidth, self.latency, self.from_due, self.cpu];
        let others = [self.in_flight, self.late, self.busy_user, self.busy_system];
        let sides = [&self.reads, &self.writes].map(|it| [it.rate, it.latency, it.from_due]);
        figures.into_iter().chain(others).chain(sides.into_iter().flatten()).flatten()
    }

    /// Returns any result, or a step if there is none: all share the attributes of the case.
    fn any(&self) -> Option<&'a Estimate> {
        self.all().next().or_else(|| self.steps.first().copied())
    }

    fn text(&self, name: Attribute) -> Option<String> {
        text(self.any()?, name)
    }

    fn number(&self, name: Attribute) -> Option<f64> {
        number(self.any()?, name)
    }

    fn is_on_a_curve(&self) -> bool {
        self.text(Attribute::Point).is_some() || self.number(Attribute::PercentOfMax).is_some()
    }

    /// Returns the label of the test; the points of a curve share it.
    fn label(&self) -> String {
        let test = self.text(Attribute::Test).or_else(|| self.text(Attribute::Phase));
        let test = test.or_else(|| Some(self.any()?.case.clone())).unwrap_or_default();
        // Only runs with several hosts have it as a parameter.
        match self.text(Attribute::Host) {
            Some(host) => detailed(&host, &test),
            None => test,
        }
    }

    fn name(&self) -> String {
        let test = self.label();
        match (self.text(Attribute::Point), self.number(Attribute::PercentOfMax)) {
            (Some(point), _) if point == "max" => detailed(&test, curve::maximum()),
            (Some(point), _) => detailed(&test, &point),
            (None, Some(percent)) => detailed(&test, &units::percent(percent)),
            (None, None) => test,
        }
    }

    /// Returns the percentage of the provisioned limit, or of the limit in the data sheet.
    fn share_of_limit(&self) -> Option<f64> {
        let percent = |figure: Option<&Estimate>| figure?.percent_of_limit;
        percent(self.bandwidth).or_else(|| percent(self.rate))
    }

    /// Returns the notes of all results, each once.
    fn notes(&self, context: &Context<'_>) -> Cell {
        let mut marks: Vec<usize> = self.all().flat_map(|it| context.notes.marks(it)).collect();
        marks.sort_unstable();
        marks.dedup();
        Cell::marks(marks)
    }

    fn measurer(&self, context: &Context<'_>) -> Cell {
        self.any().map(|estimate| rows::measurer(context, estimate)).unwrap_or_default()
    }
}

/// Returns the heading of the column with shares of limits.
fn share_title(tests: &[&Test<'_>]) -> &'static str {
    let amounts = tests.iter().flat_map(|test| [test.bandwidth, test.rate]).flatten();
    let mut limits = amounts.filter_map(|it| it.limit.as_ref());
    match limits.all(|limit| limit.basis == Basis::Provisioned) {
        true => word("column-of-provisioned"),
        false => word("column-of-limit"),
    }
}

fn measured(context: &Context<'_>, tests: &[&Test<'_>]) -> Table {
    let columns = [
        (word("column-test"), Align::Left),
        (word("column-rate"), Align::Right),
        (&words::interval(Some(LEVEL)), Align::Right),
        (word("column-bandwidth"), Align::Right),
        (share_title(tests), Align::Right),
        (word("column-median"), Align::Right),
        ("p99", Align::Right),
        ("p99.9", Align::Right),
        (word("column-by"), Align::Left),
        (word("column-note"), Align::Left),
    ];
    let mut table = Table::new(word("table-storage"), &columns);
    let amounts = tests.iter().flat_map(|test| [test.rate, test.bandwidth]);
    let prefixes = Prefixes::of_medians(amounts.flatten());
    let times = Times::of(tests.iter().filter_map(|test| test.latency));
    for test in tests {
        let rate = test.rate.map(|it| rows::estimate(it, &prefixes));
        let [value, interval] = rate.unwrap_or_default();
        let mut row: Vec<Cell> = vec![test.name().into(), value, interval];
        row.extend(bandwidth(test, &prefixes));
        row.extend(times.cells(test.latency));
        row.extend([test.measurer(context), test.notes(context)]);
        table.rows.push(row);
    }
    table.without_empty_columns()
}

/// Returns a table with one row for each kind of I/O that was both read and written: bandwidth of
/// large blocks, rate of small ones.
fn pairs(context: &Context<'_>, tests: &[&Test<'_>]) -> Option<Table> {
    /// Block size from which bandwidth is reported instead of the rate.
    const LARGE_BYTES: f64 = 65_536.0;
    let columns = [
        (word("column-what"), Align::Left),
        (word("column-reads"), Align::Right),
        (word("column-writes"), Align::Right),
        (word("column-of-limit"), Align::Right),
        (word("column-by"), Align::Left),
    ];
    let mut table = Table::new(word("table-storage-pairs"), &columns);
    let kind = |test: &Test<'_>| {
        let text = |name| test.text(name);
        let result = test.any()?;
        let place = (text(Attribute::Target), result.tool.name.clone(), result.host.clone());
        // A test with a requested rate does not measure the maximum.
        let is_closed = test.number(Attribute::RequestedRate).is_none();
        let what = say!(
            "storage-kind",
            pattern = words::pattern(&text(Attribute::Pattern)?),
            size = text(Attribute::Bytes)?,
            depth = text(Attribute::Depth)?,
        );
        is_closed.then_some((what, place))
    };
    let is = |test: &Test<'_>, operation| {
        test.text(Attribute::Operation).as_deref() == Some(operation)
    };
    for read in tests.iter().filter(|test| is(test, "read")) {
        let Some(found) = kind(read) else { continue };
        let same = |test: &&&Test<'_>| is(test, "write") && kind(test).as_ref() == Some(&found);
        let Some(write) = tests.iter().find(same) else { continue };
        let shown = |test: &Test<'_>| -> Cell {
            let is_large =
                test.number(Attribute::Bytes).is_some_and(|bytes| bytes >= LARGE_BYTES);
            let figure = if is_large { test.bandwidth } else { test.rate };
            figure.map(precision::value).unwrap_or_default().into()
        };
        let [of_reads, of_writes] = [read, write].map(|test| test.share_of_limit());
        let share = of_reads.zip(of_writes).map(|(reads, writes)| {
            let number = |it| units::quantity(it, Unit::Ratio, SHARE_DIGITS);
            units::joined(&units::in_percent(&format!(
                "{} / {}",
                number(reads),
                number(writes)
            )))
        });
        let by = read.measurer(context);
        let share = share.unwrap_or_default().into();
        let what = match read.text(Attribute::Host) {
            Some(host) => detailed(&host, &found.0),
            None => found.0,
        };
        table.rows.push(vec![what.into(), shown(read), shown(write), share, by]);
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Returns the latency from the due time, of the tests with a requested rate.
fn due(tests: &[&Test<'_>]) -> Option<Table> {
    let columns = [
        (word("column-test"), Align::Left),
        (word("column-requested"), Align::Right),
        (word("column-reached"), Align::Right),
        (word("column-of-limit"), Align::Right),
        (word("column-median-from-due"), Align::Right),
        (&words::from_due("p99"), Align::Right),
        (&words::from_due("p99.9"), Align::Right),
    ];
    let mut table = Table::new(word("table-storage-due"), &columns);
    let prefixes = Prefixes::of_medians(tests.iter().filter_map(|test| test.rate));
    let times = Times::of(tests.iter().filter_map(|test| test.from_due));
    for test in tests.iter().filter(|test| test.from_due.is_some()) {
        let requested = test.text(Attribute::RequestedRate).unwrap_or_default();
        let reached = test.rate.map(|it| prefixes.value(it)).unwrap_or_default();
        let mut row: Vec<Cell> = vec![test.name().into(), requested.into(), reached.into()];
        row.push(rows::percent(test.share_of_limit()));
        row.extend(times.cells(test.from_due));
        table.rows.push(row);
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Returns reads and writes separately, of the tests with both.
fn sides(tests: &[&Test<'_>]) -> Option<Table> {
    let columns = [
        (word("column-test"), Align::Left),
        ("", Align::Left),
        (word("column-rate"), Align::Right),
        (word("column-median"), Align::Right),
        ("p99", Align::Right),
        ("p99.9", Align::Right),
        (word("column-median-from-due"), Align::Right),
        (&words::from_due("p99"), Align::Right),
        (&words::from_due("p99.9"), Align::Right),
    ];
    let mut table = Table::new(word("table-storage-mixes"), &columns);
    let both = || tests.iter().flat_map(|test| [&test.reads, &test.writes]);
    let prefixes = Prefixes::of_medians(both().filter_map(|side| side.rate));
    let times = Times::of(both().filter_map(|side| side.latency));
    let times_from_due = Times::of(both().filter_map(|side| side.from_due));
    for test in tests {
        let sides = [
            ("read", &test.reads, Attribute::ReadRate),
            ("write", &test.writes, Attribute::WriteRate),
        ];
        for (name, side, fact) in sides {
            let of_fact = || Some(prefixes.of_none(test.number(fact)?, Unit::IoPerSecond));
            let rate = side.rate.map(|it| prefixes.value(it)).or_else(of_fact);
            if rate.is_none() && side.latency.is_none() && side.from_due.is_none() {
                continue;
            }
            let rate = rate.unwrap_or_default().into();
            let mut row: Vec<Cell> =
                vec![test.name().into(), words::operation(name).into(), rate];
            match side.latency {
                Some(_) => row.extend(times.cells(side.latency)),
                None => row.extend(["p50", "p99", "p99.9"].map(|it| reported(test, name, it))),
            }
            row.extend(times_from_due.cells(side.from_due));
            table.rows.push(row);
        }
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Returns a percentile of one side from format 1, which had no distributions.
fn reported(test: &Test<'_>, side: &str, percentile: &str) -> Cell {
    let name = format!("{side}_{percentile}_s");
    let found = test.rate.and_then(|estimate| context::reported(estimate, &name));
    found.map(|it| precision::of_none(it, Unit::Second)).unwrap_or_default().into()
}

/// Returns the bandwidth, and its share of the limit.
fn bandwidth(test: &Test<'_>, prefixes: &Prefixes) -> [Cell; 2] {
    let value = test.bandwidth.map(|it| prefixes.value(it)).unwrap_or_default();
    [value.into(), rows::percent(test.share_of_limit())]
}

/// Percentile columns of latency tables, in addition to the median.
const PERCENTILES: [&str; 2] = ["p99", "p99.9"];

/// Columns of a latency: median and percentiles, each with its own unit.
pub(super) struct Times([Prefixes; 3]);

impl Times {
    pub(super) fn of<'e>(latencies: impl Iterator<Item = &'e Estimate>) -> Self {
        let all: Vec<&Estimate> = latencies.collect();
        let [p99, p999] = PERCENTILES.map(|name| {
            let value = |it: &&Estimate| Some((it.unit, percentile(it, name)?));
            Prefixes::of(all.iter().filter_map(value))
        });
        Self([Prefixes::of_medians(all), p99, p999])
    }

    /// Returns median, p99 and p99.9, as far as there are enough samples.
    pub(super) fn cells(&self, estimate: Option<&Estimate>) -> [Cell; 3] {
        let Some(estimate) = estimate else { return Default::default() };
        let [of_median, of_p99, of_p999] = &self.0;
        let shown = |prefixes: &Prefixes, name| -> Cell {
            let value = percentile(estimate, name);
            value.map(|it| prefixes.of_none(it, estimate.unit)).unwrap_or_default().into()
        };
        // Some tools report only a mean.
        let is_mean =
            text(estimate, Attribute::Statistic).is_some_and(|it| it.starts_with("mean"));
        let median = of_median.value(estimate);
        let median = if is_mean { say!("is-mean", value = median) } else { median };
        let [p99, p999] = PERCENTILES;
        [median.into(), shown(of_p99, p99), shown(of_p999, p999)]
    }
}

fn percentile(estimate: &Estimate, name: &str) -> Option<f64> {
    estimate.percentiles.as_ref()?.get(name).copied()
}

fn circumstances(context: &Context<'_>, tests: &[&Test<'_>]) -> Table {
    let columns = [
        (word("column-test"), Align::Left),
        (word("column-target-size"), Align::Right),
        (word("column-block"), Align::Right),
        (word("column-depth"), Align::Right),
        (word("column-threads"), Align::Right),
        (word("column-in-flight"), Align::Right),
        (word("column-later-than-the-goal"), Align::Right),
        (word("column-cpu-per-io"), Align::Right),
        (word("column-cpu-user"), Align::Right),
        (word("column-cpu-system"), Align::Right),
        (word("column-generator"), Align::Right),
        (word("column-by"), Align::Left),
    ];
    let mut table = Table::new(word("table-storage-parameters"), &columns);
    for test in tests {
        let shown = |name: Attribute| Cell::from(test.text(name).unwrap_or_default());
        let value = |it: Option<&Estimate>| -> Cell {
            it.map(precision::value).unwrap_or_default().into()
        };
        let in_flight = test.number(Attribute::InFlight).map(|it| fixed(it, 2));
        let cpu = test.cpu.map(precision::value);
        let headroom = test.number(Attribute::GeneratorHeadroom).map(times);
        table.rows.push(vec![
            test.name().into(),
            shown(Attribute::TargetBytes),
            shown(Attribute::Bytes),
            shown(Attribute::Depth),
            shown(Attribute::Threads),
            in_flight.map_or_else(|| value(test.in_flight), Cell::from),
            value(test.late),
            cpu.unwrap_or_default().into(),
            value(test.busy_user),
            value(test.busy_system),
            headroom.unwrap_or_default().into(),
            test.measurer(context),
        ]);
    }
    table.without_empty_columns()
}

/// Formats a factor: `12.3 ×`, `4567 ×`.
fn times(factor: f64) -> String {
    let digits = if factor < 10.0 { 2 } else { 3 };
    format!("{}\u{a0}×", units::quantity(factor, Unit::Ratio, digits))
}

/// Maximum number of sentences: hundreds of hosts may each have a different target. The JSON output
/// contains all.
const MOST_SENTENCES: usize = 12;

/// Returns each distinct sentence once, with the tests that it concerns if there are several
/// sentences. Replaces all tests of a host by its name.
fn sentences(tests: &[Test<'_>], sentence: fn(&Test<'_>) -> Option<String>) -> Vec<String> {
    let mut reported: Vec<(String, Vec<&Test<'_>>)> = Vec::new();
    for test in tests {
        let Some(sentence) = sentence(test) else { continue };
        match reported.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, about)) => about.push(test),
            None => reported.push((sentence, vec![test])),
        }
    }
    let only = reported.len() == 1;
    let line = |(sentence, about): (String, Vec<&Test<'_>>)| match only {
        true => sentence + word("full-stop"),
        false => {
            let about = names(&about, tests).join(comma());
            say!("sentence-about", sentence = sentence, about = about)
        }
    };
    let more = reported.len().saturating_sub(MOST_SENTENCES);
    let lines = reported.into_iter().take(MOST_SENTENCES).map(line);
    let more = (more > 0).then(|| say!("and-more", n = more) + word("full-stop"));
    lines.chain(more).collect()
}

/// Names the tests that a sentence concerns, each once. Complete hosts are named as ranges.
fn names(about: &[&Test<'_>], all: &[Test<'_>]) -> Vec<String> {
    let (here, everywhere) = (by_host(about.iter().copied()), by_host(all.iter()));
    let (mut hosts, mut names) = (Vec::new(), Vec::new());
    for test in about {
        let host = test.text(Attribute::Host);
        let whole = host.filter(|it| here.get(it) == everywhere.get(it));
        let known = if whole.is_some() { &mut hosts } else { &mut names };
        let name = whole.unwrap_or_else(|| test.label());
        if !known.contains(&name) {
            known.push(name);
        }
    }
    if !hosts.is_empty() {
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        names.insert(0, catalogue::hosts(&hosts));
    }
    names
}

/// Returns the number of tests of each host.
fn by_host<'t>(tests: impl Iterator<Item = &'t Test<'t>>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for host in tests.filter_map(|test| test.text(Attribute::Host)) {
        *counts.entry(host).or_default() += 1;
    }
    counts
}

fn target(test: &Test<'_>) -> Option<String> {
    test.text(Attribute::Target).map(|target| say!("storage-target", target = target))
}

fn engine(test: &Test<'_>) -> Option<String> {
    // Tools do not report their engine and the reason for it.
    let (engine, reason) = (test.text(Attribute::Engine)?, test.text(Attribute::EngineReason)?);
    Some(say!("storage-engine", engine = engine, reason = reason))
}
