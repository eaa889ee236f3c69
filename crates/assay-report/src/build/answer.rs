//! The answer on the first screen: one row for each thing that a reader wants to know, and whether to believe it.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, Better, Metric, Section};
use assay_model::run::Run;
use assay_model::summary::{Estimate, Summary};
use assay_model::trust::{self, Distrust};

use super::headlines::{headline_label, representative};
use super::run::context::{number, section_of, text};
use super::run::{head, notes};
use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::locale as units;
use crate::locale::word;
use crate::{precision, words};

/// Rows that fit the first screen beside the machine, the verdict and the next steps.
const ROWS: usize = 12;
/// Letters of a bar from nothing to the limit.
const BAR: usize = 10;
/// An I/O of this size or more is asked for its bandwidth, a smaller one for its rate.
const LARGE_IO_BYTES: f64 = 65536.0;
/// Below this share of its limit a value deserves a look; well-set machines reach 70 to 95 % of theirs.
const SLOW_PERCENT: f64 = 50.0;

/// One row of the answer.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// What it is: `Triad`, `RndRead`.
    pub label: String,
    /// The result.
    pub estimate: &'a Estimate,
    /// Why it is not to be relied on.
    pub distrust: Option<Distrust>,
}

/// The results that a reader wants to see first: for every metric that the table of benchmarks names for it the
/// one that stands for the machine, of storage and network for each test.
#[must_use]
pub fn rows(summary: &Summary) -> Vec<Row<'_>> {
    let metrics = Benchmark::ALL.into_iter().flat_map(|benchmark| {
        benchmark.definition().metrics.iter().map(move |metric| (benchmark, metric))
    });
    metrics.flat_map(|(benchmark, metric)| of_metric(summary, benchmark, metric)).collect()
}

fn of_metric<'a>(summary: &'a Summary, benchmark: Benchmark, metric: &Metric) -> Vec<Row<'a>> {
    let Some(name) = metric.headline else { return Vec::new() };
    let is_one = |it: &&Estimate| {
        it.benchmark == benchmark.id()
            && it.metric == metric.name
            && it.median.is_finite()
            && is_asked(it)
    };
    let mut groups: Vec<(Vec<Option<String>>, Vec<&Estimate>)> = Vec::new();
    for estimate in summary.results.iter().filter(is_one) {
        let key = distinction(estimate);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(estimate),
            None => groups.push((key, vec![estimate])),
        }
    }
    let several = groups.len() > 1;
    let row = |(_, group): (_, Vec<&'a Estimate>)| {
        let estimate = group[representative(&group)];
        let distrust = Distrust::of(estimate);
        let label = question(benchmark, &headline_label(name, estimate));
        let apart =
            [told_apart(estimate), text(estimate, Attribute::Host)].into_iter().flatten();
        let parts = std::iter::once(label).chain(apart.filter(|_| several));
        let label = parts.collect::<Vec<_>>().join(", ");
        Row { label, estimate, distrust }
    };
    groups.into_iter().map(row).collect()
}

/// What people call it who have not read the table of benchmarks.
fn question(benchmark: Benchmark, label: &str) -> String {
    let section = benchmark.definition().section;
    if section == Section::Bandwidth {
        say!("answer-bandwidth", label = label)
    } else if section == Section::Ladder {
        word("answer-memory-latency").to_owned()
    } else if benchmark == Benchmark::Linpack {
        format!("LINPACK, {label}")
    } else if section == Section::Compute {
        say!("answer-peak", label = label)
    } else {
        label.to_owned()
    }
}

/// Of large I/O the bandwidth is asked for, of small I/O the rate.
fn is_asked(estimate: &Estimate) -> bool {
    if section_of(estimate) != Some(Section::Storage) {
        return true;
    }
    let is_large =
        number(estimate, Attribute::Bytes).is_some_and(|bytes| bytes >= LARGE_IO_BYTES);
    is_large == (estimate.metric == "bandwidth")
}

/// What makes two results of a metric different questions.
fn distinction(estimate: &Estimate) -> Vec<Option<String>> {
    let own: &[Attribute] = match section_of(estimate) {
        Some(Section::Storage) => &[Attribute::Test, Attribute::Phase],
        Some(Section::Network) => &[Attribute::Direction, Attribute::LoadStreams],
        Some(Section::Mpi) => &[Attribute::Mpi],
        _ => &[],
    };
    // Each of several hosts answers for itself.
    [&[Attribute::Host], own].concat().iter().map(|name| text(estimate, *name)).collect()
}

/// The same in words, where the label does not say it.
fn told_apart(estimate: &Estimate) -> Option<String> {
    match section_of(estimate)? {
        Section::Mpi => text(estimate, Attribute::Mpi),
        Section::Network => match number(estimate, Attribute::LoadStreams) {
            Some(streams) if streams > 0.0 => Some(say!("under-load", n = streams as u64)),
            _ => text(estimate, Attribute::Direction),
        },
        _ => None,
    }
}

/// Whether a run is to be relied on as a whole, and the reasons if it is not.
#[must_use]
pub fn distrusted(summary: &Summary) -> Vec<String> {
    let mut reasons: Vec<String> =
        trust::contention(summary).map(|doubt| words::doubt(doubt).text).collect();
    let rows = rows(summary);
    let doubted: Vec<&Row<'_>> = rows.iter().filter(|row| row.distrust.is_some()).collect();
    if let [first, ..] = doubted.as_slice() {
        let why = first.distrust.map(words::distrust).unwrap_or_default();
        reasons.push(match doubted.len() {
            1 => format!("{}: {why}", first.label),
            some => say!(
                "answer-doubted",
                some = some,
                all = rows.len(),
                first = &first.label,
                why = why
            ),
        });
    }
    reasons
}

/// The answer as a page that fits a screen of 80 columns and 24 lines. `run` tells how far an interrupted one came.
#[must_use]
pub fn answer(summary: &Summary, run: Option<&Run>) -> Document {
    let mut document = Document::new(head::title(summary));
    for host in &summary.hosts {
        document.paragraph(Tone::Quiet, head::host_line(host));
    }
    let (tone, fate) = head::fate(summary, run);
    document.paragraph(tone, fate);
    let reasons = distrusted(summary);
    if !reasons.is_empty() {
        document.paragraph(Tone::Bad, say!("answer-untrusted", reasons = reasons.join("; ")));
    }
    let rows = rows(summary);
    if !rows.is_empty() {
        document.blocks.push(Block::Table(table(&rows)));
    }
    if rows.len() > ROWS {
        document.paragraph(Tone::Quiet, say!("and-more", n = rows.len() - ROWS));
    }
    if !summary.omitted.is_empty() {
        let names: Vec<&str> = summary.omitted.iter().map(|it| it.benchmark.as_str()).collect();
        document.paragraph(Tone::Quiet, say!("answer-omitted", benchmarks = names.join(", ")));
    }
    notes::add_failures(&mut document, summary);
    document
}

fn table(rows: &[Row<'_>]) -> Table {
    let columns = [
        (word("column-what"), Align::Left),
        (word("column-value"), Align::Right),
        (word("interval"), Align::Right),
        (word("column-of-limit"), Align::Left),
        (word("column-verdict"), Align::Left),
    ];
    let mut table = Table::new("", &columns);
    for row in rows.iter().take(ROWS) {
        let (tone, verdict) = verdict(row);
        table.rows.push(vec![
            row.label.clone().into(),
            precision::value(row.estimate).into(),
            precision::relative(row.estimate).unwrap_or_else(|| "–".to_owned()).into(),
            row.estimate.percent_of_limit.map(bar).unwrap_or_default().into(),
            Cell { text: verdict, tone, ..Cell::default() },
        ]);
    }
    table.without_empty_columns()
}

fn verdict(row: &Row<'_>) -> (Tone, String) {
    if let Some(distrust) = row.distrust {
        return (Tone::Doubt, words::distrust(distrust));
    }
    let is_rate = row.estimate.better == Better::Higher;
    match row.estimate.percent_of_limit {
        Some(percent) if is_rate && percent < SLOW_PERCENT => {
            (Tone::Doubt, word("verdict-slow").to_owned())
        }
        _ => (Tone::Plain, word("verdict-fine").to_owned()),
    }
}

/// A bar up to the limit, and the share.
fn bar(percent: f64) -> String {
    let full = ((percent / 100.0 * BAR as f64).round() as usize).min(BAR);
    let bar = "█".repeat(full) + &"·".repeat(BAR - full);
    format!("{bar}\u{a0}{}", units::percent(percent))
}
