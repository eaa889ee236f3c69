//! Storage: rates, bandwidth and latency of single tests, how they were done, and response curves.

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

/// The metrics of one case.
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
    /// What led to it, in order: rounds, or rates that were tried.
    steps: Vec<&'a Estimate>,
}

/// The level of the intervals of storage.
const LEVEL: f64 = 0.95;
/// What is done where reads and writes are.
const MIX: &str = "mix";
/// Of a share of a limit more digits are not worth their place.
const SHARE_DIGITS: usize = 2;

/// The reads or the writes of a mix.
#[derive(Default)]
struct Side<'a> {
    rate: Option<&'a Estimate>,
    latency: Option<&'a Estimate>,
    from_due: Option<&'a Estimate>,
}

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let (tests, _) = tests(context);
    let unmet = course::without_result(context);
    if tests.is_empty() && unmet.is_empty() {
        return;
    }
    document.heading(word("heading-storage"));
    course::add(document, &unmet);
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
    // All points of a curve share what its first one says.
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

/// Results of storage that have no place in this section's tables.
pub(super) fn without_a_place<'a>(context: &Context<'a>) -> Vec<&'a Estimate> {
    tests(context).1
}

/// The estimates, those of one case together, in order of appearance; and those without a place.
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

/// What distinguishes a test from others; the reads of a mix share it with the whole.
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
    /// Whether a table or a curve shows latency from when I/O was due.
    fn has_latency_from_due(&self) -> bool {
        let sides = [&self.reads, &self.writes];
        self.from_due.is_some() || sides.iter().any(|side| side.from_due.is_some())
    }

    /// Where the figure of this metric belongs, of the whole or of one side of a mix.
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

    /// Its results, those that say most about it first.
    fn all(&self) -> impl Iterator<Item = &'a Estimate> {
        let figures = [self.rate, self.bandwidth, self.latency, self.from_due, self.cpu];
        let besides = [self.in_flight, self.late, self.busy_user, self.busy_system];
        let sides = [&self.reads, &self.writes].map(|it| [it.rate, it.latency, it.from_due]);
        figures.into_iter().chain(besides).chain(sides.into_iter().flatten()).flatten()
    }

    /// Any of its results: the attributes of the case are the same in all, and in its steps where it has no result.
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

    /// What it is called; the points of a curve share it.
    fn label(&self) -> String {
        let test = self.text(Attribute::Test).or_else(|| self.text(Attribute::Phase));
        let test = test.or_else(|| Some(self.any()?.case.clone())).unwrap_or_default();
        // It is among the parameters of runs with several hosts.
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

    /// Of what the volume is provisioned for, or of what its data sheet says.
    fn share_of_limit(&self) -> Option<f64> {
        let of = |figure: Option<&Estimate>| figure?.percent_of_limit;
        of(self.bandwidth).or_else(|| of(self.rate))
    }

    /// Every note of every metric, each once.
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

/// What the shares of limits are of.
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

/// One row per kind of I/O that was both read and written: bandwidth of large blocks, rate of small ones.
fn pairs(context: &Context<'_>, tests: &[&Test<'_>]) -> Option<Table> {
    /// From this size on people ask for bandwidth.
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
        let of = |name| test.text(name);
        let by = test.any()?;
        let place = (of(Attribute::Target), by.tool.name.clone(), by.host.clone());
        // Who asks for a rate asks for something else.
        let is_closed = test.number(Attribute::RequestedRate).is_none();
        let what = say!(
            "storage-kind",
            pattern = words::pattern(&of(Attribute::Pattern)?),
            size = of(Attribute::Bytes)?,
            depth = of(Attribute::Depth)?,
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

/// Latency as a user sees it, of the tests that have a rate.
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
        let asked = test.text(Attribute::RequestedRate).unwrap_or_default();
        let reached = test.rate.map(|it| prefixes.value(it)).unwrap_or_default();
        let mut row: Vec<Cell> = vec![test.name().into(), asked.into(), reached.into()];
        row.push(rows::percent(test.share_of_limit()));
        row.extend(times.cells(test.from_due));
        table.rows.push(row);
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Reads and writes apart, of the tests that do both.
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

/// A percentile of one side as runs of format 1 kept it, which had no distributions.
fn reported(test: &Test<'_>, side: &str, percentile: &str) -> Cell {
    let name = format!("{side}_{percentile}_s");
    let found = test.rate.and_then(|estimate| context::reported(estimate, &name));
    found.map(|it| precision::of_none(it, Unit::Second)).unwrap_or_default().into()
}

/// The bandwidth, and its share of the limit.
fn bandwidth(test: &Test<'_>, prefixes: &Prefixes) -> [Cell; 2] {
    let value = test.bandwidth.map(|it| prefixes.value(it)).unwrap_or_default();
    [value.into(), rows::percent(test.share_of_limit())]
}

/// The percentiles that tables of latency have, beside the median.
const PERCENTILES: [&str; 2] = ["p99", "p99.9"];

/// The columns of a latency, each with a unit of its own: of the median and of the percentiles.
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

    /// Median, p99 and p99.9, as far as there is enough I/O for them.
    pub(super) fn cells(&self, estimate: Option<&Estimate>) -> [Cell; 3] {
        let Some(estimate) = estimate else { return Default::default() };
        let [of_median, of_p99, of_p999] = &self.0;
        let shown = |prefixes: &Prefixes, name| -> Cell {
            let value = percentile(estimate, name);
            value.map(|it| prefixes.of_none(it, estimate.unit)).unwrap_or_default().into()
        };
        // Some tools report no more than a mean.
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

/// `12.3 ×`, `4567 ×`.
fn times(factor: f64) -> String {
    let digits = if factor < 10.0 { 2 } else { 3 };
    format!("{}\u{a0}×", units::quantity(factor, Unit::Ratio, digits))
}

/// Of hundreds of hosts each may have a place of its own; all of them are in the JSON.
const MOST_SENTENCES: usize = 12;

/// Where it went and how, each sentence once with the tests it is about where they differ: with the host alone where it is
/// about all tests of it.
fn sentences(tests: &[Test<'_>], of: fn(&Test<'_>) -> Option<String>) -> Vec<String> {
    let mut reported: Vec<(String, Vec<&Test<'_>>)> = Vec::new();
    for test in tests {
        let Some(sentence) = of(test) else { continue };
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

/// What a sentence about these of all tests is about, each once; many hosts as ranges.
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

/// How many tests are of each host.
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
    // A tool does not report which of its engines it took, or why.
    let (engine, reason) = (test.text(Attribute::Engine)?, test.text(Attribute::EngineReason)?);
    Some(say!("storage-engine", engine = engine, reason = reason))
}
