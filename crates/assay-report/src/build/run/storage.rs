//! Storage: rates, bandwidth and latency of single tests, how they were done, and response curves.

mod course;
mod curve;

use assay_model::benchmark::Benchmark;
use assay_model::event::Parameter;
use assay_model::quantity::Unit;
use assay_model::summary::Estimate;

use super::context::{Context, number, text};
use super::rows;
use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::{parameter, precision};

const HEADING: &str = "Storage";
const MEASURED: &str = "What was reached";
const PAIRS: &str = "Reads and writes, as data sheets have them";
const CIRCUMSTANCES: &str = "How it was done";
const SIDES: &str = "Reads and writes apart, from submission to completion";
const DUE: &str = "Latency from the moment I/O was due";
const EXPLANATION: &str = "Latency is from submission to completion; from due is from the moment the I/O \
                           was to start, which is what a user waits, and what response curves show. \
                           Percentiles are of every single I/O. Behind ± is the wider side of the \
                           interval of the median. Generator: what assay's generator does without \
                           any I/O, over what was reached.";
const CACHED: &str = "Some of this went through the page cache: it says as much about memory as \
                      about storage.";

/// The metrics of one case.
#[derive(Default)]
struct Test<'a> {
    rate: Option<&'a Estimate>,
    bandwidth: Option<&'a Estimate>,
    latency: Option<&'a Estimate>,
    from_due: Option<&'a Estimate>,
    cpu: Option<&'a Estimate>,
}

pub(super) fn add(document: &mut Document, context: &Context<'_>) {
    let tests = tests(context);
    if tests.is_empty() {
        return;
    }
    document.heading(HEADING);
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
    for points in curve::groups(&curves) {
        curve::add(document, context, &points);
    }
    document.blocks.extend(sides(&curves).map(Block::Table));
    // All points of a curve share what its first one says.
    let shown: Vec<&Test<'_>> =
        tests.iter().filter(|test| test.number("percent_of_max").is_none()).collect();
    document.blocks.push(Block::Table(circumstances(context, &shown)));
    document.paragraph(Tone::Quiet, EXPLANATION);
    let cached = |test: &Test<'_>| {
        test.any()
            .is_some_and(|it| it.parameters.get("page_cache") == Some(&Parameter::Flag(true)))
    };
    if tests.iter().any(cached) {
        document.paragraph(Tone::Doubt, CACHED);
    }
}

/// The estimates, those of one case together, in order of appearance.
fn tests<'a>(context: &Context<'a>) -> Vec<Test<'a>> {
    let of = |estimate: &&Estimate| estimate.benchmark == Benchmark::Storage.id();
    let mut keys: Vec<String> = Vec::new();
    let mut tests: Vec<Test<'a>> = Vec::new();
    for estimate in context.summary.results.iter().filter(of) {
        let key = key(estimate);
        let index = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            keys.push(key);
            tests.push(Test::default());
            tests.len() - 1
        });
        let test = &mut tests[index];
        let place = match estimate.metric.as_str() {
            "rate" => &mut test.rate,
            "bandwidth" => &mut test.bandwidth,
            "latency" => &mut test.latency,
            "latency_from_intended" => &mut test.from_due,
            _ => &mut test.cpu,
        };
        *place = Some(estimate);
    }
    tests
}

fn key(estimate: &Estimate) -> String {
    let names = ["test", "point", "percent_of_max", "target", "depth", "bytes"];
    let parts = names.map(|name| text(estimate, name).unwrap_or_default());
    format!("{}/{}/{}", parts.join("/"), estimate.tool.name, estimate.host)
}

impl<'a> Test<'a> {
    /// Any of its estimates: the parameters of the case are the same in all.
    fn any(&self) -> Option<&'a Estimate> {
        self.rate.or(self.bandwidth).or(self.latency).or(self.from_due).or(self.cpu)
    }

    fn text(&self, name: &str) -> Option<String> {
        text(self.any()?, name)
    }

    fn number(&self, name: &str) -> Option<f64> {
        number(self.any()?, name)
    }

    fn is_on_a_curve(&self) -> bool {
        self.text("point").is_some() || self.number("percent_of_max").is_some()
    }

    fn name(&self) -> String {
        let test = self.text("test").unwrap_or_default();
        match (self.text("point"), self.number("percent_of_max")) {
            (Some(point), _) => format!("{test}, {point}"),
            (None, Some(percent)) => format!("{test}, {}", parameter::percent(percent)),
            (None, None) => test,
        }
    }

    /// Every note of every metric, each once.
    fn notes(&self, context: &Context<'_>) -> Cell {
        let all = [self.rate, self.bandwidth, self.latency, self.from_due, self.cpu];
        let mut marks: Vec<usize> =
            all.into_iter().flatten().flat_map(|it| context.notes.marks(it)).collect();
        marks.sort_unstable();
        marks.dedup();
        Cell::marks(marks)
    }

    fn measurer(&self, context: &Context<'_>) -> Cell {
        self.any().map(|estimate| rows::measurer(context, estimate)).unwrap_or_default()
    }
}

fn measured(context: &Context<'_>, tests: &[&Test<'_>]) -> Table {
    let columns = [
        ("test", Align::Left),
        ("rate", Align::Right),
        ("95 % interval", Align::Right),
        ("bandwidth", Align::Right),
        ("of ceiling", Align::Right),
        ("median", Align::Right),
        ("p99", Align::Right),
        ("p99.9", Align::Right),
        ("by", Align::Left),
        ("note", Align::Left),
    ];
    let mut table = Table::new(MEASURED, &columns);
    for test in tests {
        let [value, interval] = test.rate.map(rows::estimate).unwrap_or_default();
        let mut row: Vec<Cell> = vec![test.name().into(), value, interval];
        row.extend(bandwidth(test));
        row.extend(latency(test.latency));
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
        ("what", Align::Left),
        ("reads", Align::Right),
        ("writes", Align::Right),
        ("by", Align::Left),
    ];
    let mut table = Table::new(PAIRS, &columns);
    let kind = |test: &Test<'_>| {
        let of = |name| test.text(name);
        let by = test.any()?;
        let place = (of("target"), by.tool.name.clone(), by.host.clone());
        // Who asks for a rate asks for something else.
        let is_closed = test.number("requested_rate").is_none();
        let what = format!("{} {}, {} in flight", of("pattern")?, of("bytes")?, of("depth")?);
        is_closed.then_some((what, place))
    };
    let is = |test: &Test<'_>, operation| test.text("operation").as_deref() == Some(operation);
    for read in tests.iter().filter(|test| is(test, "read")) {
        let Some(found) = kind(read) else { continue };
        let same = |test: &&&Test<'_>| is(test, "write") && kind(test).as_ref() == Some(&found);
        let Some(write) = tests.iter().find(same) else { continue };
        let shown = |test: &Test<'_>| -> Cell {
            let is_large = test.number("bytes").is_some_and(|bytes| bytes >= LARGE_BYTES);
            let figure = if is_large { test.bandwidth } else { test.rate };
            figure.map(precision::value).unwrap_or_default().into()
        };
        let by = read.measurer(context);
        table.rows.push(vec![found.0.into(), shown(read), shown(write), by]);
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Latency as a user sees it, of the tests that have a rate.
fn due(tests: &[&Test<'_>]) -> Option<Table> {
    let columns = [
        ("test", Align::Left),
        ("asked for", Align::Right),
        ("reached", Align::Right),
        ("median from due", Align::Right),
        ("p99 from due", Align::Right),
        ("p99.9 from due", Align::Right),
    ];
    let mut table = Table::new(DUE, &columns);
    for test in tests.iter().filter(|test| test.from_due.is_some()) {
        let asked = test.text("requested_rate").unwrap_or_default();
        let reached = test.rate.map(precision::value).unwrap_or_default();
        let mut row: Vec<Cell> = vec![test.name().into(), asked.into(), reached.into()];
        row.extend(latency(test.from_due));
        table.rows.push(row);
    }
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Reads and writes apart, of the tests that do both.
fn sides(tests: &[&Test<'_>]) -> Option<Table> {
    let columns = [
        ("test", Align::Left),
        ("", Align::Left),
        ("rate", Align::Right),
        ("median", Align::Right),
        ("p99", Align::Right),
        ("p99.9", Align::Right),
    ];
    let mut table = Table::new(SIDES, &columns);
    for test in tests {
        for side in ["read", "write"] {
            let Some(rate) = test.number(&format!("{side}_rate")) else { continue };
            let shown = |name: &str| -> Cell {
                let value = test.number(&format!("{side}_{name}_s"));
                value
                    .map(|it| parameter::quantity(it, Unit::Second, 3))
                    .unwrap_or_default()
                    .into()
            };
            table.rows.push(vec![
                test.name().into(),
                side.into(),
                parameter::quantity(rate, Unit::IoPerSecond, 4).into(),
                shown("p50"),
                shown("p99"),
                shown("p99.9"),
            ]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The bandwidth, and its share of what the volume is provisioned for.
fn bandwidth(test: &Test<'_>) -> [Cell; 2] {
    let share = test.bandwidth.and_then(|it| it.percent_of_limit);
    [test.bandwidth.map(precision::value).unwrap_or_default().into(), rows::percent(share)]
}

/// Median, p99 and p99.9, as far as there is enough I/O for them.
fn latency(estimate: Option<&Estimate>) -> [Cell; 3] {
    let Some(estimate) = estimate else { return Default::default() };
    // A tool tells its percentiles of all I/O beside its one sample.
    let percentile = |name: &str| {
        let own = estimate.percentiles.as_ref().and_then(|all| all.get(name)).copied();
        own.or_else(|| number(estimate, &format!("{name}_s")))
    };
    let shown = |value: Option<f64>| -> Cell {
        value.map(|it| parameter::quantity(it, Unit::Second, 3)).unwrap_or_default().into()
    };
    // Some tools tell no more than a mean.
    let is_mean = text(estimate, "statistic").is_some_and(|it| it.starts_with("mean"));
    let median = match is_mean {
        true => {
            format!("{} (mean)", parameter::quantity(estimate.median, Unit::Second, 3)).into()
        }
        false => shown(Some(estimate.median)),
    };
    [median, shown(percentile("p99")), shown(percentile("p99.9"))]
}

fn circumstances(context: &Context<'_>, tests: &[&Test<'_>]) -> Table {
    let columns = [
        ("test", Align::Left),
        ("block", Align::Right),
        ("depth", Align::Right),
        ("threads", Align::Right),
        ("in flight", Align::Right),
        ("Little's law within", Align::Right),
        ("CPU per I/O", Align::Right),
        ("generator", Align::Right),
        ("by", Align::Left),
    ];
    let mut table = Table::new(CIRCUMSTANCES, &columns);
    for test in tests {
        let shown = |name: &str| Cell::from(test.text(name).unwrap_or_default());
        let in_flight = test.number("in_flight").map(|it| format!("{it:.2}"));
        let little = test.number("little_error");
        let little = little.map(|it| parameter::joined(&format!("{:.2} %", 100.0 * it)));
        let cpu = test.cpu.map(|it| parameter::quantity(it.median, Unit::Second, 3));
        let headroom = test.number("generator_headroom").map(times);
        table.rows.push(vec![
            test.name().into(),
            shown("bytes"),
            shown("depth"),
            shown("threads"),
            in_flight.unwrap_or_default().into(),
            little.unwrap_or_default().into(),
            cpu.unwrap_or_default().into(),
            headroom.unwrap_or_default().into(),
            test.measurer(context),
        ]);
    }
    table.without_empty_columns()
}

/// `12.3 ×`, `4567 ×`.
fn times(factor: f64) -> String {
    let digits = if factor < 10.0 { 2 } else { 3 };
    parameter::joined(&format!(
        "{:.digits$} ×",
        assay_model::quantity::Quantity::new(factor, Unit::Ratio)
    ))
}

/// Where it went and how, each sentence once with the tests it is about where they differ.
fn sentences(tests: &[Test<'_>], of: fn(&Test<'_>) -> Option<String>) -> Vec<String> {
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for test in tests {
        let (Some(sentence), Some(name)) = (of(test), test.text("test")) else { continue };
        match told.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => told.push((sentence, vec![name])),
        }
    }
    let only = told.len() == 1;
    let line = |(sentence, names): (String, Vec<String>)| match only {
        true => format!("{sentence}."),
        false => format!("{sentence} ({}).", names.join(", ")),
    };
    told.into_iter().map(line).collect()
}

fn target(test: &Test<'_>) -> Option<String> {
    test.text("target").map(|target| format!("Target: {target}"))
}

fn engine(test: &Test<'_>) -> Option<String> {
    // A tool does not tell which of its engines it took, or why.
    let (engine, reason) = (test.text("engine")?, test.text("engine_reason")?);
    Some(format!("Engine: {engine}, {reason}"))
}
