//! Answer on the first screen of a run: one row per headline result, with a verdict on its
//! trustworthiness.

use assay_model::attribute::Attribute;
use assay_model::benchmark::{Benchmark, Better, Metric, ReportSection};
use assay_model::doubt::{Doubt, TrustLevel};
use assay_model::limit::LimitBasis;
use assay_model::quantity::Unit;
use assay_model::run::Run;
use assay_model::summary::{MetricEstimate, RunSummary};
use assay_model::trust::{self, DistrustReason};

use super::headlines::{headline_label, lacks_larger_set, representative};
use super::run::estimate_parts::{number, section_of, text};
use super::run::words::direction;
use super::run::{head, host_usage, network, notes};
use crate::document::{Block, Document, ReportTable, TableCell, Tone, left, right};
use crate::first_seen::{distinct, group_by};
use crate::locale as units;
use crate::locale::{comma, semicolon, word};
use crate::{precision, words};

mod trust_notice;

pub use trust_notice::{
    distrust_reasons, judged_estimates, suspect_run, trust_level, trust_notice,
};

pub(super) use trust_notice::add_trust_notice;
pub(in crate::build) use trust_notice::level_tone;

/// Maximum number of rows that leaves room on a screen for the machine, the verdict and the next
/// steps.
pub const MAX_ROWS: usize = 12;
/// Usable columns of a terminal with 80 columns.
const LINE_COLUMNS: usize = 78;
/// Characters of a bar from zero to the limit.
const BAR_CELLS: usize = 10;
/// I/O size from which bandwidth is reported; smaller I/O reports its rate.
const LARGE_IO_BYTES: f64 = 65536.0;
/// Significant digits of a knee.
const KNEE_DIGITS: usize = 3;
/// Share of its limit below which a value is marked as slow; well-tuned machines reach 70 to 95 %.
const SLOW_PERCENT: f64 = 50.0;

#[derive(Debug, Clone)]
pub struct AnswerRow<'a> {
    /// Label such as `Triad` or `RndRead`; with its host where there are several.
    pub label: String,
    label_without_host: String,
    /// Label without host and distinguishing attributes.
    name: String,
    /// Result shown in the row.
    pub estimate: &'a MetricEstimate,
    /// Reason why the result is not sound.
    pub distrust: Option<DistrustReason<'a>>,
}

/// Returns the headline results: for every metric with a headline in the table of benchmarks, the
/// one that represents the machine. Storage and network have one for each test.
pub fn answer_rows(summary: &RunSummary) -> Vec<AnswerRow<'_>> {
    let metrics = Benchmark::ALL.into_iter().flat_map(|benchmark| {
        benchmark.definition().metrics.iter().map(move |metric| (benchmark, metric))
    });
    metrics.flat_map(|(benchmark, metric)| rows_of_metric(summary, benchmark, metric)).collect()
}

fn rows_of_metric<'a>(
    summary: &'a RunSummary,
    benchmark: Benchmark,
    metric: &Metric,
) -> Vec<AnswerRow<'a>> {
    let Some(name) = metric.headline else { return Vec::new() };
    let is_one = |it: &&MetricEstimate| {
        it.benchmark == benchmark.id()
            && it.metric == metric.name
            && it.median.is_finite()
            && is_preferred_metric(it)
            && !has_failed(summary, it)
    };
    let groups = group_by(summary.results.iter().filter(is_one), |it| group_key(it));
    let has_several = groups.len() > 1;
    let row = |group: Vec<&'a MetricEstimate>| {
        let estimate = group[representative(&group)];
        if lacks_larger_set(summary, estimate) {
            return None;
        }
        let own = DistrustReason::from_run(estimate, summary);
        let of_latency =
            suspect_latency(summary, estimate).and_then(DistrustReason::from_estimate);
        let distrust =
            own.filter(|it| it.level() == TrustLevel::Suspect).or(of_latency).or(own);
        let name = reader_label(
            benchmark,
            &headline_label(&translated_headline(benchmark, name), estimate),
        );
        let joined = |details: Vec<String>| {
            let parts = std::iter::once(name.clone());
            parts.chain(details).collect::<Vec<_>>().join(comma())
        };
        let distinction = distinguishing_label(estimate).filter(|_| has_several);
        let is_maximum = text(estimate, Attribute::Point).as_deref() == Some("max");
        let maximum = is_maximum.then(|| word("rate-max").to_owned());
        let details: Vec<String> =
            network_details(estimate).into_iter().chain(distinction).chain(maximum).collect();
        let host = text(estimate, Attribute::Host).filter(|_| has_several);
        let hosts = network::pairs::name(estimate).or(host);
        let (without_host, label) =
            (joined(details.clone()), joined(details.into_iter().chain(hosts).collect()));
        Some(AnswerRow { label, label_without_host: without_host, name, estimate, distrust })
    };
    groups.into_iter().filter_map(row).collect()
}

/// Whether the case of a result failed later: its samples so far are no answer.
fn has_failed(summary: &RunSummary, estimate: &MetricEstimate) -> bool {
    summary.failures.iter().any(|it| {
        (&it.benchmark, &it.case, &it.host)
            == (&estimate.benchmark, &estimate.case, &estimate.host)
    })
}

/// Returns the headline translated as on published pages, where a translation exists.
fn translated_headline(benchmark: Benchmark, name: &'static str) -> String {
    match benchmark.id() {
        "mpi.latency" => word("learn-heading-mpi-latency").to_owned(),
        "mpi.bw" => word("learn-heading-mpi-bandwidth").to_owned(),
        _ => crate::words::headline(name),
    }
}

/// Returns a label for readers who do not know the table of benchmarks.
fn reader_label(benchmark: Benchmark, label: &str) -> String {
    match benchmark.definition().section {
        ReportSection::Bandwidth => message!("answer-bandwidth", label = label),
        ReportSection::Ladder => word("answer-memory-latency").to_owned(),
        ReportSection::Compute if benchmark == Benchmark::Linpack => {
            format!("LINPACK, {label}")
        }
        ReportSection::Compute => message!("answer-peak", label = label),
        ReportSection::Copies
        | ReportSection::CacheBandwidth
        | ReportSection::CoreToCore
        | ReportSection::LoadedLatency
        | ReportSection::Network
        | ReportSection::Mpi
        | ReportSection::Storage
        | ReportSection::Files
        | ReportSection::Io500
        | ReportSection::Programs
        | ReportSection::General => label.to_owned(),
    }
}

/// Whether the metric is the preferred one: bandwidth for large I/O, the rate for small I/O.
fn is_preferred_metric(estimate: &MetricEstimate) -> bool {
    if section_of(estimate) != Some(ReportSection::Storage) {
        return true;
    }
    let is_large =
        number(estimate, Attribute::Bytes).is_some_and(|bytes| bytes >= LARGE_IO_BYTES);
    is_large == (estimate.metric == "bandwidth")
}

/// Returns the attributes that separate results of one metric into different rows.
fn group_key(estimate: &MetricEstimate) -> Vec<Option<String>> {
    let own: &[Attribute] = match section_of(estimate) {
        Some(ReportSection::Storage) => &[Attribute::Test, Attribute::Phase],
        Some(ReportSection::Network) => &[Attribute::Direction, Attribute::LoadStreams],
        Some(ReportSection::Mpi) => &[Attribute::Mpi],
        Some(ReportSection::Programs) => &[Attribute::Program],
        Some(ReportSection::Io500) => &[Attribute::Phase],
        Some(ReportSection::CoreToCore) => &[Attribute::Placement],
        Some(
            ReportSection::Bandwidth
            | ReportSection::Copies
            | ReportSection::Ladder
            | ReportSection::CacheBandwidth
            | ReportSection::LoadedLatency
            | ReportSection::Compute
            | ReportSection::Files
            | ReportSection::General,
        )
        | None => &[],
    };
    // Each host and each pair of hosts has rows of its own.
    [&[Attribute::Host, Attribute::Peer], own]
        .concat()
        .iter()
        .map(|name| text(estimate, *name))
        .collect()
}

/// Returns the same distinction as text, where the label does not contain it.
fn distinguishing_label(estimate: &MetricEstimate) -> Option<String> {
    match section_of(estimate)? {
        ReportSection::Mpi => text(estimate, Attribute::Mpi),
        ReportSection::Programs => text(estimate, Attribute::Program),
        ReportSection::Network => match number(estimate, Attribute::LoadStreams) {
            Some(streams) if streams > 0.0 => Some(message!("under-load", n = streams as u64)),
            _ => text(estimate, Attribute::Direction).map(|it| direction(&it)),
        },
        ReportSection::Bandwidth
        | ReportSection::Copies
        | ReportSection::Ladder
        | ReportSection::CacheBandwidth
        | ReportSection::CoreToCore
        | ReportSection::LoadedLatency
        | ReportSection::Compute
        | ReportSection::Storage
        | ReportSection::Files
        | ReportSection::Io500
        | ReportSection::General => None,
    }
}

/// Returns the number of streams, and the path if it is the loopback. The result with the most
/// streams represents the machine.
fn network_details(estimate: &MetricEstimate) -> Vec<String> {
    if section_of(estimate) != Some(ReportSection::Network) {
        return Vec::new();
    }
    let streams = number(estimate, Attribute::Streams)
        .map(|streams| message!("streams", n = streams as u64));
    let path = text(estimate, Attribute::Path).filter(|path| path == "loopback");
    let path = path.map(|_| word("path-loopback").to_owned());
    streams.into_iter().chain(path).collect()
}

/// Builds the answer for the first screen. It has at most `rows` rows, but at least one for each
/// topic; bars are optional. `run` provides the progress of an interrupted run.
pub fn answer(
    summary: &RunSummary,
    run: Option<&Run>,
    rows: usize,
    has_bars: bool,
) -> Document {
    let mut document = Document::new(head::title(summary));
    document.is_dense = true;
    add_trust_notice(&mut document, summary);
    head::add_machines(&mut document, Tone::Quiet, summary, LINE_COLUMNS);
    let (tone, ending) = head::run_status(summary, run);
    document.paragraph(tone, ending);
    add_rows(&mut document, summary, rows, has_bars);
    crate::io500::add_lines(&mut document, summary);
    let worse = worse_hosts(summary);
    if !worse.is_empty() {
        document.paragraph(
            Tone::Doubt,
            message!("answer-worse", n = worse.len(), hosts = words::hosts(&worse)),
        );
    }
    for note in
        [host_usage::describe_saturated(summary), host_usage::describe_finishers(summary)]
    {
        note.into_iter().for_each(|text| document.paragraph(Tone::Doubt, text));
    }
    if !summary.omitted.is_empty() {
        let names = words::omitted_benchmarks(&summary.omitted);
        document.paragraph(Tone::Quiet, message!("answer-omitted", benchmarks = names));
    }
    notes::add_failures(&mut document, summary);
    document
}

/// Adds the rows, the names of omitted rows, and the meaning of the verdicts.
pub(super) fn add_rows(
    document: &mut Document,
    summary: &RunSummary,
    rows: usize,
    has_bars: bool,
) {
    let (shown, left_out) = select_rows(merge_hosts(self::answer_rows(summary)), rows);
    if shown.is_empty() {
        return;
    }
    document.blocks.push(Block::Table(table(summary, &shown, has_bars)));
    if !left_out.is_empty() {
        let names = distinct(left_out.iter().map(|it| it.middle.name.as_str()));
        // Names contain commas themselves.
        let (n, names) = (left_out.len(), names.join(semicolon()));
        document.paragraph(Tone::Quiet, message!("answer-more", n = n, names = names));
    }
    document.paragraph(Tone::Quiet, legend(&shown));
    add_explanations(document, &shown);
}

/// Adds the doubts from kernel counters about the shown rows, each once with its rows.
fn add_explanations(document: &mut Document, shown: &[HostsRow<'_>]) {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for HostsRow { middle, .. } in shown {
        for doubt in middle.estimate.warnings.iter().filter(|it| it.is_from_counters()) {
            let text = words::doubt(doubt).text;
            match found.iter_mut().find(|(known, _)| *known == text) {
                Some((_, rows)) => rows.push(&middle.name),
                None => found.push((text, vec![&middle.name])),
            }
        }
    }
    for (text, rows) in found {
        let text = units::format_fact(&rows.join(semicolon()), &text);
        document.paragraph(Tone::Doubt, text);
    }
}

/// Selects at most `rows` rows but at least one of each topic; returns them and the omitted ones.
/// The first row of every topic precedes the second row of any.
fn select_rows(all: Vec<HostsRow<'_>>, rows: usize) -> (Vec<HostsRow<'_>>, Vec<HostsRow<'_>>) {
    let mut of_topic: Vec<(&str, usize)> = Vec::new();
    let mut ranks = Vec::new();
    for HostsRow { middle, .. } in &all {
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

/// Row for several hosts: the middle result and the worst one.
struct HostsRow<'a> {
    middle: AnswerRow<'a>,
    /// `None` for a single host, and for totals of all hosts.
    worst: Option<&'a MetricEstimate>,
}

fn merge_hosts(rows: Vec<AnswerRow<'_>>) -> Vec<HostsRow<'_>> {
    let is_one = |row: &AnswerRow<'_>| !row.estimate.spans_hosts();
    let mut groups: Vec<Vec<AnswerRow<'_>>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<AnswerRow<'_>>| {
            let first = &group[0];
            first.label_without_host == row.label_without_host
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

fn middle_and_worst(mut group: Vec<AnswerRow<'_>>) -> HostsRow<'_> {
    group.sort_by(|a, b| a.estimate.median.total_cmp(&b.estimate.median));
    let worst = match group[0].estimate.better {
        Better::Higher => group[0].estimate,
        Better::Lower => group[group.len() - 1].estimate,
    };
    let worst = Some(worst).filter(|_| group.len() > 1);
    // One doubted host marks the whole row: readers do not check the hosts of a row that looks
    // fine.
    let level = |row: &&AnswerRow<'_>| DistrustReason::level_of(row.distrust);
    let distrust = group.iter().max_by_key(level).and_then(|row| row.distrust);
    let mut middle = group.swap_remove((group.len() - 1) / 2);
    middle.distrust = distrust;
    if worst.is_some() {
        middle.label.clone_from(&middle.label_without_host);
    }
    HostsRow { middle, worst }
}

/// Returns the hosts that any result reports as worse than the others, each once.
fn worse_hosts(summary: &RunSummary) -> Vec<&str> {
    let doubts = summary.results.iter().flat_map(|estimate| &estimate.warnings);
    distinct(doubts.filter_map(|doubt| {
        let Doubt::WorseThanPeers { host, .. } = doubt else { return None };
        Some(host.as_str())
    }))
}

/// Returns the heading of the column with the worst results.
fn worst_column(rows: &[HostsRow<'_>]) -> &'static str {
    let is_pair = |it: &MetricEstimate| network::pairs::name(it).is_some();
    let mut worst = rows.iter().filter_map(|row| row.worst);
    match (worst.clone().any(is_pair), worst.all(is_pair)) {
        (false, _) => "column-worst-host",
        (true, true) => "column-worst-pair",
        (true, false) => "column-worst",
    }
}

/// Explains the verdicts of the rows, each once. Several rows with the same doubt have one
/// explanation: that of the most severe one.
fn legend(rows: &[HostsRow<'_>]) -> String {
    let mut reasons: Vec<DistrustReason<'_>> = Vec::new();
    let mut has_slow = false;
    for HostsRow { middle, .. } in rows {
        match Judgement::from_row(middle) {
            Judgement::Distrusted(reason) => {
                match reasons.iter_mut().find(|known| known.id() == reason.id()) {
                    Some(known) if is_more_severe(reason, *known) => *known = reason,
                    Some(_) => {}
                    None => reasons.push(reason),
                }
            }
            Judgement::Slow => has_slow = true,
            Judgement::Sound => {}
        }
    }
    let explain = |(level, message): (TrustLevel, &str)| {
        let of_level = reasons.iter().filter(|reason| reason.level() == level);
        let why: Vec<String> =
            of_level.map(|reason| words::distrust_without_width(*reason)).collect();
        (!why.is_empty()).then(|| words::sentence(message, &[("why", &why.join(comma()))]))
    };
    let of_levels =
        [(TrustLevel::Suspect, "verdict-suspect"), (TrustLevel::Noisy, "verdict-noisy")];
    let slow = has_slow.then(|| word("verdict-slow").to_owned());
    let sentences: Vec<String> =
        of_levels.into_iter().map(explain).chain([slow]).flatten().collect();
    sentences.join(semicolon())
}

fn is_more_severe(reason: DistrustReason<'_>, known: DistrustReason<'_>) -> bool {
    let severity = |reason: DistrustReason<'_>| match reason {
        DistrustReason::Doubted(doubt) => doubt.severity(),
        DistrustReason::OneSample
        | DistrustReason::NoInterval
        | DistrustReason::WideInterval { .. } => 0.0,
    };
    severity(reason) > severity(known)
}

/// Formats the value of a row: the range of the samples where a median would describe none of them,
/// with whether it is one.
fn row_value(row: &AnswerRow<'_>) -> (String, bool) {
    let estimate = row.estimate;
    let modes = estimate.warnings.iter().find_map(|doubt| {
        let Doubt::SeveralModes { low, high, .. } = doubt else { return None };
        trust::lowers_trust(doubt).then_some([*low, *high])
    });
    let samples = || [estimate.min, estimate.max];
    let has_few = estimate.n > 1 && estimate.ci.is_none();
    let range = modes.or_else(|| has_few.then(samples));
    let range = range.filter(|[low, high]| low.is_finite() && high.is_finite() && low < high);
    match range {
        Some(range) => (precision::sample_range(range, estimate.unit), true),
        None => (precision::value(estimate), false),
    }
}

fn table(summary: &RunSummary, rows: &[HostsRow<'_>], has_bars: bool) -> ReportTable {
    let mut table = ReportTable::with_caption("");
    let share = if has_bars { bar } else { units::percent };
    for HostsRow { middle: row, worst } in rows {
        let (tone, verdict) = Judgement::from_row(row).tone_and_word();
        let (value, is_range) = row_value(row);
        let relative = || precision::relative_interval(row.estimate).filter(|_| !is_range);
        // The range between hosts matters more than the interval of the middle one.
        let interval = match worst {
            Some(_) => String::new(),
            None => relative().unwrap_or_else(|| "–".to_owned()),
        };
        let worst = worst.map(|it| {
            let who = network::pairs::name(it).unwrap_or_else(|| it.host.clone());
            format!("{} ({who})", precision::value(it))
        });
        let p99 = latency_p99(summary, row.estimate);
        let share = row.estimate.percent_of_limit.map(|it| share(it) + &limit_name(row));
        table.push([
            left(word("column-what"), &*row.label),
            right(word("column-value"), value),
            left(word(worst_column(rows)), worst.unwrap_or_default()),
            right(word("interval"), interval),
            right(word("knee"), knee(row.estimate).unwrap_or_default()),
            right("p99", p99.unwrap_or_default()),
            left(word("column-of-limit"), share.unwrap_or_default()),
            left(word("column-verdict"), TableCell::with_tone(verdict, tone)),
        ]);
    }
    table.without_empty_columns()
}

/// Returns the rate at the knee of the response curve of a storage result.
fn knee(estimate: &MetricEstimate) -> Option<String> {
    let rate = number(estimate, Attribute::KneeRate)?;
    Some(crate::units::quantity(rate, Unit::IoPerSecond, KNEE_DIGITS))
}

/// Returns the p99 of the latency in the case of a storage result.
fn latency_p99(summary: &RunSummary, estimate: &MetricEstimate) -> Option<String> {
    let p99 = *row_latency(summary, estimate)?.percentiles.as_ref()?.get("p99")?;
    Some(precision::value_without_interval(p99, Unit::Second))
}

/// Returns the latency whose p99 the row of a storage result shows, if something contradicts it.
fn suspect_latency<'a>(
    summary: &'a RunSummary,
    estimate: &MetricEstimate,
) -> Option<&'a MetricEstimate> {
    let latency = row_latency(summary, estimate)?;
    let level = DistrustReason::level_of(DistrustReason::from_estimate(latency));
    (level == TrustLevel::Suspect).then_some(latency)
}

/// Returns the latency in the case of a storage result.
fn row_latency<'a>(
    summary: &'a RunSummary,
    estimate: &MetricEstimate,
) -> Option<&'a MetricEstimate> {
    if section_of(estimate) != Some(ReportSection::Storage) {
        return None;
    }
    let is_latency = |it: &&MetricEstimate| {
        it.case == estimate.case
            && it.host == estimate.host
            && it.metric == "latency"
            && !it.parameters.contains_key(&Attribute::Stream)
            && it.parameters.get(&Attribute::Point)
                == estimate.parameters.get(&Attribute::Point)
            && it.parameters.get(&Attribute::Test) == estimate.parameters.get(&Attribute::Test)
            && it.parameters.get(&Attribute::Operation)
                == estimate.parameters.get(&Attribute::Operation)
    };
    summary.results.iter().find(is_latency)
}

/// Verdict on a value.
#[derive(Debug, Clone, Copy)]
enum Judgement<'a> {
    Distrusted(DistrustReason<'a>),
    Slow,
    Sound,
}

impl<'a> Judgement<'a> {
    fn from_row(row: &AnswerRow<'a>) -> Self {
        let is_rate = row.estimate.better == Better::Higher;
        match (row.distrust, row.estimate.percent_of_limit) {
            (Some(why), _) => Self::Distrusted(why),
            (None, Some(percent)) if is_rate && percent < SLOW_PERCENT => Self::Slow,
            (None, _) => Self::Sound,
        }
    }

    /// Returns the tone and the word of the verdict; other columns contain the figures.
    fn tone_and_word(self) -> (Tone, &'static str) {
        match self {
            Self::Distrusted(why) => (level_tone(why.level()), words::trust_level(why.level())),
            Self::Slow => (Tone::Doubt, word("verdict-is-slow")),
            Self::Sound => (Tone::Plain, words::trust_level(TrustLevel::Sound)),
        }
    }
}

/// Returns the name of the limit in parentheses. The limit of a peak is calculated, that of LINPACK
/// is the measured peak, and both share one column.
fn limit_name(row: &AnswerRow<'_>) -> String {
    let name = match row.estimate.limit.as_ref().map(|it| &it.basis) {
        Some(LimitBasis::Rpeak(_)) => "Rpeak".to_owned(),
        Some(LimitBasis::MeasuredPeak { .. }) => reader_label(Benchmark::PeakFlops, "FP64"),
        _ => return String::new(),
    };
    format!("\u{a0}({name})")
}

/// Returns a bar up to the limit, followed by the percentage.
fn bar(percent: f64) -> String {
    let full = ((percent / 100.0 * BAR_CELLS as f64).round() as usize).min(BAR_CELLS);
    let bar = "█".repeat(full) + &"·".repeat(BAR_CELLS - full);
    format!("{bar}\u{a0}{}", units::percent(percent))
}
