//! Page for publication in the layout of vendors' pages.
//!
//! It has one table of headline results, each test with the columns of its tool, the method, and
//! the commands to repeat it. Numbers keep the columns and the decimals of the tool, without digit
//! grouping; intervals have their own column.

use assay_model::attribute::Attribute;
use assay_model::benchmark::Benchmark;
use assay_model::doubt::Doubt;
use assay_model::facts::HostFacts;
use assay_model::quantity::Unit;
use assay_model::run::Run;
use assay_model::summary::{Estimate, Summary};

mod commands;
mod conditions;
mod mpi;
mod volume;

use super::answer::untrusted;
use super::run::context::{number, text};
use super::run::{published, together, words};
use super::{perftest, representative};
use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::locale::{comma, date, detailed, grouped, semicolon, word};
use crate::{precision, units, words as catalogue};

/// Decimals that perftest and the OSU benchmarks print.
pub(super) const DECIMALS: usize = 2;
pub(super) const MICROSECOND: f64 = 1e-6;
/// Significant digits of a limit calculated from a clock frequency.
const DIGITS_OF_A_LIMIT: usize = 4;

/// Page with the contents of its front matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Body of the page.
    pub document: Document,
    /// Subject of the page in one sentence.
    pub description: String,
    /// Time of the newest result (RFC 3339).
    pub measured: String,
}

/// Returns the default subject of a page: the product name that all hosts of the first run share,
/// or the names of its hosts.
#[must_use]
pub fn subject(summaries: &[Summary]) -> String {
    let Some(hosts) = summaries.iter().map(|it| &it.hosts).find(|it| !it.is_empty()) else {
        return String::new();
    };
    let product = hosts[0].system.product.clone();
    let product =
        product.filter(|it| hosts.iter().all(|host| host.system.product.as_ref() == Some(it)));
    product.unwrap_or_else(|| catalogue::hosts(&names(hosts)))
}

fn names(hosts: &[HostFacts]) -> Vec<&str> {
    hosts.iter().map(|it| it.name.as_str()).collect()
}

/// Returns the number of hosts that a subject names, otherwise 1.
fn number_of(subject: &str, summaries: &[&Summary]) -> usize {
    let is_named = |it: &&&Summary| catalogue::hosts(&names(&it.hosts)) == subject;
    summaries.iter().find(is_named).map_or(1, |it| it.hosts.len().max(1))
}

/// Builds the page about `subject`. `runs` are those with available samples.
#[must_use]
pub fn learn(subject: &str, summaries: &[&Summary], runs: &[Run]) -> Published {
    let summaries: Vec<Summary> = summaries.iter().map(|it| with_digits(it)).collect();
    let summaries = &summaries.iter().collect::<Vec<_>>();
    let all: Vec<&Estimate> = summaries.iter().flat_map(|it| &it.results).collect();
    let mut document = Document::new(say!("learn-title", subject = subject));
    let mut tools: Vec<String> = Vec::new();
    for estimate in &all {
        if !tools.contains(&estimate.tool.name) {
            tools.push(estimate.tool.name.clone());
        }
    }
    let tool = tools.join(comma());
    let n = number_of(subject, summaries);
    summaries.iter().for_each(|it| document.paragraph(Tone::Bad, untrusted(it)));
    document.paragraph(Tone::Plain, say!("learn-intro", n = n, subject = subject, tool = tool));
    let headline = headline(subject, &all, summaries);
    document.paragraph(Tone::Bad, if all.is_empty() { word("learn-nothing") } else { "" });
    add(&mut document, None, headline);
    let suites: Vec<&str> = summaries.iter().map(|it| it.run.suite.as_str()).collect();
    add(&mut document, Some("heading-storage"), volume::tests(&all));
    document.paragraph(Tone::Plain, volume::littles_law(&all).unwrap_or_default());
    add(&mut document, Some("learn-heading-quota"), volume::quota(&suites, &all));
    for summary in summaries {
        add(&mut document, Some("details-hosts"), together::busiest(summary));
        for note in [together::saturated(summary), together::finishers(summary)] {
            document.paragraph(Tone::Plain, note.unwrap_or_default());
        }
    }
    add(&mut document, Some("learn-heading-conditions"), conditions::side_by_side(summaries));
    add(&mut document, Some("learn-heading-send-latency"), perftest::published(&all));
    add(&mut document, Some("learn-heading-mpi-latency"), mpi::latency(&all));
    add(&mut document, Some("learn-heading-mpi-bandwidth"), mpi::bandwidth(&all));
    impossible(&mut document, &all);
    for summary in summaries {
        let run = runs.iter().find(|run| run.started.run == summary.run.id);
        document.blocks.extend(sections(summary, run, summaries.len() > 1));
    }
    close(&mut document, summaries, runs);
    let measured = summaries.iter().map(|it| it.run.started.as_str()).max();
    Published {
        document,
        description: say!("learn-description", subject = subject),
        measured: measured.unwrap_or_default().to_owned(),
    }
}

/// Sets the number of digits of own results without an interval to that of all other tables.
fn with_digits(summary: &Summary) -> Summary {
    let mut summary = summary.clone();
    let is_here = !summary.hosts.is_empty();
    for it in summary.results.iter_mut().filter(|it| it.ci.is_none()) {
        let is_of_a_file = it.parameters.contains_key(&Attribute::SourceFile);
        if is_here && !is_of_a_file {
            let digits = precision::digits_within(it.median, None) as u64;
            it.parameters.entry(Attribute::PrintedDigits).or_insert(digits.into());
        }
    }
    summary
}

fn add(document: &mut Document, heading: Option<&str>, table: Table) {
    if !table.rows.is_empty() {
        heading.into_iter().for_each(|id| document.heading(word(id)));
        document.blocks.push(Block::Table(table.without_empty_columns()));
    }
}

/// Returns the sections of the run's report, with plots, for runs with own samples. Published
/// figures have nothing to add to their table.
fn sections(summary: &Summary, run: Option<&Run>, is_one_of_several: bool) -> Vec<Block> {
    let is_own = |it: &Estimate| it.tool.name == "assay" && !summary.hosts.is_empty();
    if !summary.results.iter().any(|it| it.ci.is_some() || is_own(it)) {
        return Vec::new();
    }
    let run_name = summary.run.label.clone().unwrap_or_else(|| summary.run.suite.clone());
    let titled = |heading: String| match is_one_of_several {
        true => format!("{heading} ({run_name})"),
        false => heading,
    };
    let mut blocks = published(summary, run);
    for block in &mut blocks {
        match block {
            Block::Heading(text) => *text = titled(std::mem::take(text)),
            Block::Table(table) => {
                table.rows.iter_mut().flatten().for_each(|cell| cell.marks.clear());
                *table = std::mem::replace(table, Table::new("", &[])).without_empty_columns();
            }
            _ => {}
        }
    }
    blocks
}

/// Adds method, dates and commands.
fn close(document: &mut Document, summaries: &[&Summary], runs: &[Run]) {
    let Some(first) = summaries.first() else { return };
    document.heading(word("heading-method"));
    document.paragraph(Tone::Plain, words::statistics(first.statistics));
    let mut dates: Vec<String> = summaries.iter().map(|it| date(&it.run.started)).collect();
    dates.dedup();
    document.paragraph(Tone::Plain, say!("learn-dates", dates = dates.join(comma())));
    document.heading(word("learn-heading-commands"));
    let commands = commands::of(summaries, runs);
    document.blocks.push(Block::Preformatted(commands.join("\n")));
}

/// Adds a warning about figures that cannot come from one sample; their rows stay in the table.
fn impossible(document: &mut Document, all: &[&Estimate]) {
    let mut reported: Vec<String> = Vec::new();
    for estimate in all {
        for doubt in
            estimate.warnings.iter().filter(|it| matches!(it, Doubt::OutOfOrder { .. }))
        {
            let size = text(estimate, Attribute::Bytes).unwrap_or_default();
            let line = detailed(&size, &catalogue::doubt(doubt).text);
            if !reported.contains(&line) {
                reported.push(line);
            }
        }
    }
    if !reported.is_empty() {
        document.paragraph(
            Tone::Bad,
            say!("learn-impossible", figures = reported.join(semicolon())),
        );
    }
}

/// Formats a value with the precision that is known.
fn value(estimate: &Estimate) -> String {
    let shown = match estimate.ci {
        Some(_) => precision::value(estimate),
        // A published figure keeps the digits that it was printed with.
        None => units::quantity(estimate.median, estimate.unit, digits(estimate)),
    };
    qualified(estimate, shown)
}

fn qualified(estimate: &Estimate, shown: String) -> String {
    match text(estimate, Attribute::Qualifier).as_deref() {
        Some("approximate") => say!("about", value = shown),
        Some("min") => say!("more-than", value = shown),
        _ => shown,
    }
}

/// Returns the stored number of printed digits, otherwise the fewest that represent the value.
fn digits(estimate: &Estimate) -> usize {
    let printed = number(estimate, Attribute::PrintedDigits).map(|it| it as usize);
    let exact = |digits: &usize| {
        let rounded = precision::rounded(estimate.median, *digits);
        (rounded - estimate.median).abs() <= estimate.median.abs() * 1e-9
    };
    printed.unwrap_or_else(|| (2..5).find(exact).unwrap_or(4))
}

/// Returns a table with one row for each kind of workload.
fn headline(subject: &str, all: &[&Estimate], summaries: &[&Summary]) -> Table {
    let columns = [
        (word("learn-workload"), Align::Left),
        (subject, Align::Left),
        (&words::interval(all.first().map(|it| it.ci_level)), Align::Right),
        (word("column-of-limit"), Align::Right),
    ];
    let mut table = Table::new("", &columns);
    let rows = [stream(all), linpack(all), rdma(all)].into_iter().flatten();
    let network = conditions::headline(summaries);
    table.rows.extend(rows.chain(network).chain(storage(all)).chain(lacking(summaries)));
    table
}

/// Returns rows for requested benchmarks that the machine does not support, or that failed.
fn lacking(summaries: &[&Summary]) -> Vec<Vec<Cell>> {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for summary in summaries {
        let omitted =
            summary.omitted.iter().map(|it| (&it.benchmark, catalogue::omitted(it).text));
        let failed = summary.failures.iter().filter(|it| it.because.is_none());
        let failed = failed.map(|it| (&it.benchmark, catalogue::failure(&it.failure).text));
        for (benchmark, why) in omitted.chain(failed) {
            let shown = say!("learn-not-measured", why = why);
            let row =
                vec![benchmark.as_str().into(), shown.into(), Cell::default(), Cell::default()];
            rows.extend(Some(row).filter(|row| !rows.contains(row)));
        }
    }
    rows
}

pub(super) fn of<'a>(
    all: &[&'a Estimate],
    benchmark: Benchmark,
    metric: &str,
) -> Vec<&'a Estimate> {
    let is = |it: &&&Estimate| it.benchmark == benchmark.id() && it.metric == metric;
    all.iter().filter(is).copied().collect()
}

fn is_rdma(estimate: &Estimate) -> bool {
    matches!(Benchmark::from_id(&estimate.benchmark), Some(Benchmark::Rdma(_)))
}

fn best<'a>(found: &[&'a Estimate]) -> Option<&'a Estimate> {
    (!found.is_empty()).then(|| found[representative(found)])
}

fn row(name: String, shown: String, estimates: &[&Estimate]) -> Vec<Cell> {
    let intervals: Vec<String> =
        estimates.iter().filter_map(|it| precision::interval(it)).collect();
    let shares = estimates.iter().filter_map(|it| it.percent_of_limit).map(units::percent);
    let shares = shares.collect::<Vec<_>>().join(comma());
    vec![name.into(), shown.into(), intervals.join(comma()).into(), shares.into()]
}

/// Returns the result of the whole node, and the range over its domains.
fn stream(all: &[&Estimate]) -> Option<Vec<Cell>> {
    let found = of(all, Benchmark::MemoryStream, "triad");
    let place = |it: &Estimate| text(it, Attribute::Placement).unwrap_or_default();
    let (whole, parts): (Vec<&Estimate>, Vec<&Estimate>) =
        found.into_iter().partition(|it| !place(it).contains(':'));
    let class = |it: &Estimate| place(it).split(':').next().unwrap_or_default().to_owned();
    // A number of cores is not a domain. Published pages print last-level caches.
    let mut parts: Vec<&Estimate> =
        parts.into_iter().filter(|it| !class(it).starts_with("core")).collect();
    if parts.iter().any(|it| class(it) == "l3") {
        parts.retain(|it| class(it) == "l3");
    }
    let whole = best(&whole)?;
    let low = parts.iter().min_by(|a, b| a.median.total_cmp(&b.median));
    let high = parts.iter().max_by(|a, b| a.median.total_cmp(&b.median));
    let shown = match low.zip(high) {
        None => value(whole),
        Some((low, high)) => {
            let domain = class(low);
            let (low, high) = (value(low), value(high));
            let part = match units::parts(&low) {
                _ if low == high => low,
                (number, _) => format!("{number}–{high}"),
            };
            say!("learn-per-domain", whole = value(whole), part = part, domain = domain)
        }
    };
    Some(row("STREAM Triad".to_owned(), shown, &[whole]))
}

fn linpack(all: &[&Estimate]) -> Option<Vec<Cell>> {
    let rmax = best(&of(all, Benchmark::Linpack, "rmax"))?;
    let reported =
        number(rmax, Attribute::Rpeak).map(|peak| in_gflops(rmax, (peak, DIGITS_OF_A_LIMIT)));
    // A core may run faster than the clock behind the peak: the clock explains a value above it.
    let clock = number(rmax, Attribute::RpeakClock)
        .map(|clock| units::quantity(clock, Unit::Hertz, 3))
        .map(|clock| format!("Rpeak{}{clock}", comma()));
    let name = clock.as_deref().unwrap_or("Rpeak");
    let peak = reported.map(|it| format!("{it} ({name})"));
    let digits = rmax.ci.map_or_else(|| digits(rmax), |_| precision::digits_of(rmax));
    let reached = in_gflops(rmax, (rmax.median, digits));
    let shown = [peak, Some(format!("{reached} (Rmax)"))];
    let shown = shown.into_iter().flatten().collect::<Vec<_>>().join(comma());
    Some(row(word("learn-linpack").to_owned(), shown, &[rmax]))
}

/// Formats a rate in GFLOP/s, the unit of HPL, at any magnitude.
fn in_gflops(estimate: &Estimate, (value, digits): (f64, usize)) -> String {
    let number = precision::rounded(value, digits) / 1e9;
    let shown = units::with_symbol(&grouped(&number.to_string()), "GFLOP/s");
    qualified(estimate, shown)
}

fn rdma(all: &[&Estimate]) -> Option<Vec<Cell>> {
    let of_rdma = |metrics: &[&str]| {
        let is = |it: &&&Estimate| is_rdma(it) && metrics.contains(&it.metric.as_str());
        all.iter().filter(is).copied().collect::<Vec<_>>()
    };
    let latencies = of_rdma(&["half_round_trip", "latency"]);
    let latency = latencies.into_iter().min_by(|a, b| a.median.total_cmp(&b.median));
    let bandwidths = of_rdma(&["bandwidth"]);
    let bandwidth = bandwidths.into_iter().max_by(|a, b| a.median.total_cmp(&b.median));
    let in_bits = bandwidth.map(|it| Estimate {
        median: if it.unit == Unit::BytePerSecond { it.median * 8.0 } else { it.median },
        unit: Unit::BitPerSecond,
        ci: it.ci.filter(|_| it.unit == Unit::BitPerSecond),
        ..it.clone()
    });
    let found: Vec<&Estimate> = latency.into_iter().chain(&in_bits).collect();
    let shown: Vec<String> = found.iter().map(|it| value(it)).collect();
    (!found.is_empty()).then(|| row(word("learn-rdma").to_owned(), shown.join(comma()), &found))
}

/// Returns one row for each tool and target: the highest read bandwidth and the highest write
/// bandwidth.
fn storage(all: &[&Estimate]) -> Vec<Vec<Cell>> {
    let place = |it: &Estimate| (it.tool.name.clone(), volume::place(it));
    let mut places: Vec<(String, Option<String>)> = Vec::new();
    let mut found = volume::without_parts(of(all, Benchmark::Storage, "bandwidth"));
    found.retain(|it| it.median.is_finite());
    for it in &found {
        if !places.contains(&place(it)) {
            places.push(place(it));
        }
    }
    let rows = places.into_iter().filter_map(|here| {
        let of_operation = |operation: &str| {
            let is = |it: &&&Estimate| {
                place(it) == here
                    && text(it, Attribute::Operation).as_deref() == Some(operation)
            };
            let found = found.iter().filter(is).copied();
            found.max_by(|a, b| a.median.total_cmp(&b.median))
        };
        let (read, write) = (of_operation("read"), of_operation("write"));
        let shown = match (read, write) {
            (Some(read), Some(write)) => {
                say!("learn-reads-writes", reads = value(read), writes = value(write))
            }
            (Some(read), None) => say!("learn-reads", reads = value(read)),
            (None, Some(write)) => say!("learn-writes", writes = value(write)),
            (None, None) => say!("learn-mixed", both = value(of_operation("mix")?)),
        };
        let mixed = of_operation("mix").filter(|_| read.is_none() && write.is_none());
        let both: Vec<&Estimate> = read.into_iter().chain(write).chain(mixed).collect();
        let name = match here {
            (tool, Some(group)) if both[0].is_of_hosts() => detailed(&tool, &group),
            (tool, Some(target)) => say!("learn-storage", tool = tool, target = target),
            (tool, None) => tool,
        };
        Some(row(name, shown, &both))
    });
    rows.collect()
}

/// Returns the sizes of some results in ascending order, each once.
pub(super) fn sizes(found: &[&Estimate]) -> Vec<u64> {
    let mut sizes: Vec<u64> = found
        .iter()
        .filter_map(|it| number(it, Attribute::Bytes).map(|bytes| bytes as u64))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

pub(super) fn at<'a>(found: &[&'a Estimate], bytes: u64) -> Option<&'a Estimate> {
    let here = |it: &&&Estimate| number(it, Attribute::Bytes) == Some(bytes as f64);
    found.iter().find(here).copied()
}
