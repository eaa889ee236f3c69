//! The answer on the first screen: one row for each thing that a reader wants to know, and whether to believe it.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, Better, Metric, Section};
use assay_model::doubt::Doubt;
use assay_model::limit::Basis;
use assay_model::run::Run;
use assay_model::summary::{Estimate, Summary};
use assay_model::trust::{self, Distrust};

use super::headlines::{headline_label, representative};
use super::run::context::{metric_name, number, section_of, text};
use super::run::words::direction;
use super::run::{head, network, notes, together};
use crate::document::{Align, Block, Cell, Document, Table, Tone};
use crate::locale as units;
use crate::locale::{comma, semicolon, word};
use crate::{precision, words};

/// Rows that a screen has room for at the most, beside the machine, the verdict and the next steps.
pub const MOST_ROWS: usize = 12;
/// Columns of a line of text on a terminal of 80.
const LINE: usize = 78;
/// Letters of a bar from nothing to the limit.
const BAR: usize = 10;
/// An I/O of this size or more is asked for its bandwidth, a smaller one for its rate.
const LARGE_IO_BYTES: f64 = 65536.0;
/// Below this share of its limit a value deserves a look; well-set machines reach 70 to 95 % of theirs.
const SLOW_PERCENT: f64 = 50.0;

/// One row of the answer.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// What it is: `Triad`, `RndRead`; with its host where there are several.
    pub label: String,
    /// The same without the host.
    question: String,
    /// The same without what tells it from others of its kind.
    name: String,
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
        let name = question(benchmark, &headline_label(spoken(benchmark, name), estimate));
        let joined = |apart: Vec<String>| {
            let parts = std::iter::once(name.clone());
            parts.chain(apart).collect::<Vec<_>>().join(comma())
        };
        let apart = told_apart(estimate).filter(|_| several);
        let apart: Vec<String> = of_network(estimate).into_iter().chain(apart).collect();
        let host = text(estimate, Attribute::Host).filter(|_| several);
        let who = network::pairs::name(estimate).or(host);
        let (question, label) =
            (joined(apart.clone()), joined(apart.into_iter().chain(who).collect()));
        Row { label, question, name, estimate, distrust }
    };
    groups.into_iter().map(row).collect()
}

/// A headline in the words of pages, where they have any.
fn spoken(benchmark: Benchmark, name: &'static str) -> &'static str {
    match benchmark.id() {
        "mpi.latency" => word("learn-heading-mpi-latency"),
        "mpi.bw" => word("learn-heading-mpi-bandwidth"),
        _ => name,
    }
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
    // Each of several hosts answers for itself, and each of its pairs.
    [&[Attribute::Host, Attribute::Peer], own]
        .concat()
        .iter()
        .map(|name| text(estimate, *name))
        .collect()
}

/// The same in words, where the label does not say it.
fn told_apart(estimate: &Estimate) -> Option<String> {
    match section_of(estimate)? {
        Section::Mpi => text(estimate, Attribute::Mpi),
        Section::Network => match number(estimate, Attribute::LoadStreams) {
            Some(streams) if streams > 0.0 => Some(say!("under-load", n = streams as u64)),
            _ => text(estimate, Attribute::Direction).map(|it| direction(&it)),
        },
        _ => None,
    }
}

/// How many streams a throughput is of, the most of which stand for the machine; and whether it went over no network.
fn of_network(estimate: &Estimate) -> Vec<String> {
    if section_of(estimate) != Some(Section::Network) {
        return Vec::new();
    }
    let streams =
        number(estimate, Attribute::Streams).map(|streams| say!("streams", n = streams as u64));
    let path = text(estimate, Attribute::Path).filter(|path| path == "loopback");
    streams.into_iter().chain(path).collect()
}

/// Whether a run is to be relied on as a whole, and the reasons if it is not.
#[must_use]
pub fn distrusted(summary: &Summary) -> Vec<String> {
    let mut reasons = words::doubts(trust::contention(summary));
    let judged = judged(summary);
    let mut doubted = judged.iter().filter_map(|(label, it)| Some((label, (*it)?)));
    if let Some((first, why)) = doubted.next() {
        let why = words::distrust(why);
        reasons.push(match 1 + doubted.count() {
            1 => say!("answer-doubted-one", first = first, why = why),
            some => {
                let all = judged.len();
                say!("answer-doubted", some = some, all = all, first = first, why = why)
            }
        });
    }
    reasons
}

/// What decides whether a run is to be relied on: its headlines, or where it has none, as a run that was imported
/// of another tool, all of its results.
fn judged(summary: &Summary) -> Vec<(String, Option<Distrust>)> {
    let rows = rows(summary);
    if rows.is_empty() {
        let all = summary.results.iter();
        return all.map(|it| (metric_name(it), Distrust::of(it))).collect();
    }
    rows.into_iter().map(|row| (row.label, row.distrust)).collect()
}

/// What is not to be relied on says so before anything else.
pub(super) fn untrusted(summary: &Summary) -> String {
    match distrusted(summary) {
        whole if whole.is_empty() => String::new(),
        whole => say!("answer-untrusted", reasons = whole.join(semicolon())),
    }
}

/// The answer on a page for the first screen, with at most so many `rows`, or one for each topic, and with bars where
/// there is room for them. `run` says how far an interrupted one came.
#[must_use]
pub fn answer(summary: &Summary, run: Option<&Run>, rows: usize, has_bars: bool) -> Document {
    let mut document = Document::new(head::title(summary));
    document.is_dense = true;
    document.paragraph(Tone::Bad, untrusted(summary));
    head::machines(&mut document, Tone::Quiet, summary, LINE);
    let (tone, fate) = head::fate(summary, run);
    document.paragraph(tone, fate);
    add_rows(&mut document, summary, rows, has_bars);
    let worse = worse(summary);
    if !worse.is_empty() {
        document.paragraph(
            Tone::Doubt,
            say!("answer-worse", n = worse.len(), hosts = words::hosts(&worse)),
        );
    }
    for said in [together::saturated(summary), together::finishers(summary)] {
        said.into_iter().for_each(|said| document.paragraph(Tone::Doubt, said));
    }
    if !summary.omitted.is_empty() {
        let names = words::left_out(&summary.omitted);
        document.paragraph(Tone::Quiet, say!("answer-omitted", benchmarks = names));
    }
    notes::add_failures(&mut document, summary);
    document
}

/// The rows, what is left out of them, and what their verdicts mean.
pub(super) fn add_rows(
    document: &mut Document,
    summary: &Summary,
    rows: usize,
    has_bars: bool,
) {
    let (shown, left_out) = shown(of_all_hosts(self::rows(summary)), rows);
    if shown.is_empty() {
        return;
    }
    document.blocks.push(Block::Table(table(&shown, has_bars)));
    if !left_out.is_empty() {
        let mut names: Vec<&str> = Vec::new();
        for OfHosts { middle, .. } in &left_out {
            if !names.contains(&middle.name.as_str()) {
                names.push(&middle.name);
            }
        }
        // Names have commas of their own.
        let (n, names) = (left_out.len(), names.join(semicolon()));
        document.paragraph(Tone::Quiet, say!("answer-more", n = n, names = names));
    }
    document.paragraph(Tone::Quiet, legend(&shown));
}

/// As many as there is room for and at least one of each topic, and those that are left out: the first of every topic go
/// before the second of any.
fn shown(all: Vec<OfHosts<'_>>, rows: usize) -> (Vec<OfHosts<'_>>, Vec<OfHosts<'_>>) {
    let mut of_topic: Vec<(&str, usize)> = Vec::new();
    let mut ranks = Vec::new();
    for OfHosts { middle, .. } in &all {
        let topic = middle.estimate.benchmark.split('.').next().unwrap_or_default();
        let at = of_topic.iter().position(|it| it.0 == topic).unwrap_or(of_topic.len());
        match of_topic.get_mut(at) {
            Some(known) => known.1 += 1,
            None => of_topic.push((topic, 0)),
        }
        ranks.push((of_topic[at].1, ranks.len()));
    }
    let most = rows.max(of_topic.len());
    ranks.sort_unstable();
    ranks.truncate(most);
    let mut places = 0..;
    all.into_iter().partition(|_| {
        let place = places.next();
        ranks.iter().any(|(_, shown)| Some(*shown) == place)
    })
}

/// What one screen has of several hosts: of each question the middle one and the worst.
struct OfHosts<'a> {
    middle: Row<'a>,
    /// `None` of a single host, and of what all did together.
    worst: Option<&'a Estimate>,
}

fn of_all_hosts(rows: Vec<Row<'_>>) -> Vec<OfHosts<'_>> {
    let is_one = |row: &Row<'_>| !row.estimate.is_of_hosts();
    let mut groups: Vec<Vec<Row<'_>>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<Row<'_>>| {
            let first = &group[0];
            first.question == row.question
                && first.estimate.metric == row.estimate.metric
                && (is_one(first), is_one(&row)) == (true, true)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.into_iter().map(middle_and_worst).collect()
}

fn middle_and_worst(mut group: Vec<Row<'_>>) -> OfHosts<'_> {
    group.sort_by(|a, b| a.estimate.median.total_cmp(&b.estimate.median));
    let worst = match group[0].estimate.better {
        Better::Higher => group[0].estimate,
        Better::Lower => group[group.len() - 1].estimate,
    };
    let worst = Some(worst).filter(|_| group.len() > 1);
    // One that is doubted stands for all: nobody looks behind a row that is fine.
    let distrust = group.iter().find_map(|row| row.distrust);
    let mut middle = group.swap_remove((group.len() - 1) / 2);
    middle.distrust = distrust;
    if worst.is_some() {
        middle.label.clone_from(&middle.question);
    }
    OfHosts { middle, worst }
}

/// The hosts that any result names as worse than the others, each once.
fn worse(summary: &Summary) -> Vec<&str> {
    let doubts = summary.results.iter().flat_map(|estimate| &estimate.warnings);
    let mut hosts: Vec<&str> = Vec::new();
    for doubt in doubts {
        if let Doubt::WorseThanPeers { host, .. } = doubt
            && !hosts.contains(&host.as_str())
        {
            hosts.push(host);
        }
    }
    hosts
}

/// What the worst of the rows are.
fn worst_column(rows: &[OfHosts<'_>]) -> &'static str {
    let is_pair = |it: &Estimate| network::pairs::name(it).is_some();
    let mut worst = rows.iter().filter_map(|row| row.worst);
    match (worst.clone().any(is_pair), worst.all(is_pair)) {
        (false, _) => "column-worst-host",
        (true, true) => "column-worst-pair",
        (true, false) => "column-worst",
    }
}

/// What the verdicts of some rows mean, each once.
fn legend(rows: &[OfHosts<'_>]) -> String {
    let mut reasons: Vec<(&'static str, Vec<String>)> = Vec::new();
    let mut add = |message: &'static str, why: String| match reasons
        .iter_mut()
        .find(|it| it.0 == message)
    {
        Some((_, known)) if known.contains(&why) => {}
        Some((_, known)) => known.push(why),
        None => reasons.push((message, vec![why])),
    };
    for OfHosts { middle, .. } in rows {
        match Judgement::of(middle) {
            Judgement::Impossible(why) => add("verdict-impossible", words::distrust_alike(why)),
            Judgement::Unsure(why) => add("verdict-unsure", words::distrust_alike(why)),
            Judgement::Slow => add("verdict-slow", String::new()),
            Judgement::Fine => {}
        }
    }
    let said = |(message, why): &(&'static str, Vec<String>)| {
        words::sentence(message, &[("why", &why.join(comma()))])
    };
    reasons.iter().map(said).collect::<Vec<_>>().join(semicolon())
}

fn table(rows: &[OfHosts<'_>], has_bars: bool) -> Table {
    let columns = [
        (word("column-what"), Align::Left),
        (word("column-value"), Align::Right),
        (word(worst_column(rows)), Align::Left),
        (word("interval"), Align::Right),
        (word("column-of-limit"), Align::Left),
        (word("column-verdict"), Align::Left),
    ];
    let mut table = Table::new("", &columns);
    let share = if has_bars { bar } else { units::percent };
    for OfHosts { middle: row, worst } in rows {
        let (tone, verdict) = Judgement::of(row).in_a_word();
        // How far hosts lie apart says more of them than how well the middle one is known.
        let interval = match worst {
            Some(_) => String::new(),
            None => precision::relative(row.estimate).unwrap_or_else(|| "–".to_owned()),
        };
        let worst = worst.map(|it| {
            let who = network::pairs::name(it).unwrap_or_else(|| it.host.clone());
            format!("{} ({who})", precision::value(it))
        });
        table.rows.push(vec![
            row.label.clone().into(),
            precision::value(row.estimate).into(),
            worst.unwrap_or_default().into(),
            interval.into(),
            row.estimate
                .percent_of_limit
                .map(share)
                .map(|it| it + &of_what(row))
                .unwrap_or_default()
                .into(),
            Cell { text: word(verdict).to_owned(), tone, ..Cell::default() },
        ]);
    }
    table.without_empty_columns()
}

/// What is to be thought of a value.
#[derive(Debug, Clone, Copy)]
enum Judgement {
    Impossible(Distrust),
    Unsure(Distrust),
    Slow,
    Fine,
}

impl Judgement {
    fn of(row: &Row<'_>) -> Self {
        let is_rate = row.estimate.better == Better::Higher;
        match (row.distrust, row.estimate.percent_of_limit) {
            (Some(why @ Distrust::AboveLimit), _) => Self::Impossible(why),
            (Some(why), _) => Self::Unsure(why),
            (None, Some(percent)) if is_rate && percent < SLOW_PERCENT => Self::Slow,
            (None, _) => Self::Fine,
        }
    }

    /// The columns beside it say how much.
    const fn in_a_word(self) -> (Tone, &'static str) {
        match self {
            Self::Impossible(_) => (Tone::Doubt, "verdict-is-impossible"),
            Self::Unsure(_) => (Tone::Doubt, "verdict-is-unsure"),
            Self::Slow => (Tone::Doubt, "verdict-is-slow"),
            Self::Fine => (Tone::Plain, "verdict-fine"),
        }
    }
}

/// The limit of a peak is calculated, that of LINPACK is the peak that was measured: one column cannot mean both unsaid.
fn of_what(row: &Row<'_>) -> String {
    let name = match row.estimate.limit.as_ref().map(|it| &it.basis) {
        Some(Basis::Rpeak(_)) => "Rpeak".to_owned(),
        Some(Basis::MeasuredPeak { .. }) => question(Benchmark::PeakFlops, "FP64"),
        _ => return String::new(),
    };
    format!("\u{a0}({name})")
}

/// A bar up to the limit, and the share.
fn bar(percent: f64) -> String {
    let full = ((percent / 100.0 * BAR as f64).round() as usize).min(BAR);
    let bar = "█".repeat(full) + &"·".repeat(BAR - full);
    format!("{bar}\u{a0}{}", units::percent(percent))
}
