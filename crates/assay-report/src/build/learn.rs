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
use assay_model::summary::{MetricEstimate, RunSummary};

mod commands;
mod conditions;
mod mpi;
mod paths;
mod storage;

pub(crate) use commands::command_line;

use self::paths::ShortPaths;
use super::answer::add_trust_notice;
use super::published_results::{DECIMALS, MICROSECOND, find_results, find_size, sizes};
use super::run::estimate_parts::{benchmark_name, number, text};
use super::run::{host_usage, published_sections, words};
use super::{perftest, representative};
use crate::document::{Block, Document, ReportTable, Tone, left, right};
use crate::first_seen::{distinct, group_by};
use crate::locale::{comma, format_date, group_digits, semicolon, with_detail, word};
use crate::{precision, units, words as catalogue};

/// Significant digits of a limit calculated from a clock frequency.
const LIMIT_DIGITS: usize = 4;

/// Page with the contents of its front matter.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedPage {
    /// Body of the page.
    pub document: Document,
    /// Subject of the page in one sentence.
    pub description: String,
    /// Time of the newest result (RFC 3339).
    pub measured_at: String,
}

/// Returns the default subject of a page: the product name that all hosts of the first run share,
/// or the names of its hosts.
pub fn default_subject(summaries: &[RunSummary]) -> String {
    let Some(hosts) = summaries.iter().map(|it| &it.hosts).find(|it| !it.is_empty()) else {
        return String::new();
    };
    let product = hosts[0].system.product.clone();
    let product =
        product.filter(|it| hosts.iter().all(|host| host.system.product.as_ref() == Some(it)));
    product.unwrap_or_else(|| catalogue::hosts(&host_names(hosts)))
}

fn host_names(hosts: &[HostFacts]) -> Vec<&str> {
    hosts.iter().map(|it| it.name.as_str()).collect()
}

/// Returns the number of hosts that a subject names, otherwise 1.
fn subject_count(subject: &str, summaries: &[&RunSummary]) -> usize {
    let is_named = |it: &&&RunSummary| catalogue::hosts(&host_names(&it.hosts)) == subject;
    summaries.iter().find(is_named).map_or(1, |it| it.hosts.len().max(1))
}

/// Builds the page about `subject`. `runs` are those with available samples.
pub fn learn(subject: &str, summaries: &[&RunSummary], runs: &[Run]) -> PublishedPage {
    let paths = ShortPaths::new(summaries);
    let commands = commands::page_commands(summaries, runs);
    let commands: Vec<String> = commands.iter().map(|it| paths.shorten_words(it)).collect();
    let summaries: Vec<RunSummary> =
        summaries.iter().map(|it| published_summary(it, &paths)).collect();
    let summaries = &summaries.iter().collect::<Vec<_>>();
    let all: Vec<&MetricEstimate> = summaries.iter().flat_map(|it| &it.results).collect();
    let mut document = Document::new(message!("learn-title", subject = subject));
    let tool = distinct(all.iter().map(|it| it.tool.name.as_str())).join(comma());
    let n = subject_count(subject, summaries);
    let mut notices = Document::new("");
    summaries.iter().for_each(|it| add_trust_notice(&mut notices, it));
    document.blocks.append(&mut distinct(notices.blocks));
    document
        .paragraph(Tone::Plain, message!("learn-intro", n = n, subject = subject, tool = tool));
    let headline = headline_table(subject, &all, (summaries, &paths));
    document.paragraph(Tone::Bad, if all.is_empty() { word("learn-nothing") } else { "" });
    add_table(&mut document, None, headline);
    let suites: Vec<&str> = summaries.iter().map(|it| it.run.suite.as_str()).collect();
    add_table(&mut document, Some("heading-storage"), storage::tests_table(&all));
    document.paragraph(Tone::Plain, storage::littles_law(&all).unwrap_or_default());
    add_table(&mut document, Some("learn-heading-quota"), storage::quota_table(&suites, &all));
    for summary in summaries {
        add_table(&mut document, Some("details-hosts"), host_usage::busiest_table(summary));
        for note in
            [host_usage::describe_saturated(summary), host_usage::describe_finishers(summary)]
        {
            document.paragraph(Tone::Plain, note.unwrap_or_default());
        }
    }
    add_table(
        &mut document,
        Some("learn-heading-conditions"),
        conditions::conditions_table(summaries),
    );
    add_table(
        &mut document,
        Some("learn-heading-send-latency"),
        perftest::published_table(&all),
    );
    add_table(&mut document, Some("learn-heading-mpi-latency"), mpi::latency(&all));
    add_table(&mut document, Some("learn-heading-mpi-bandwidth"), mpi::bandwidth(&all));
    add_impossible_figures(&mut document, &all);
    for summary in summaries {
        let run = runs.iter().find(|run| run.started.run == summary.run.id);
        document.blocks.extend(run_sections(summary, run, summaries.len() > 1));
    }
    document.merge_equal_sections();
    add_method(&mut document, summaries, &commands);
    let newest = summaries.iter().map(|it| it.run.started.as_str()).max();
    PublishedPage {
        document,
        description: message!("learn-description", subject = subject),
        measured_at: newest.unwrap_or_default().to_owned(),
    }
}

/// Returns a summary for publication: without paths of the machine, and own results without an
/// interval with the number of digits of all other tables.
fn published_summary(summary: &RunSummary, paths: &ShortPaths) -> RunSummary {
    let mut summary = precision::with_written_digits(summary).into_owned();
    paths.shorten_results(&mut summary);
    let is_measured = !summary.hosts.is_empty();
    for it in summary.results.iter_mut().filter(|it| it.ci.is_none()) {
        let is_imported = it.parameters.contains_key(&Attribute::SourceFile);
        if is_measured && !is_imported {
            let digits = precision::interval_digits(it.median, None) as u64;
            it.parameters.entry(Attribute::PrintedDigits).or_insert(digits.into());
        }
    }
    summary
}

fn add_table(document: &mut Document, heading: Option<&str>, table: ReportTable) {
    if !table.rows.is_empty() {
        heading.into_iter().for_each(|id| document.heading(word(id)));
        document.blocks.push(Block::Table(table.without_empty_columns()));
    }
}

/// Returns the sections of the run's report, with plots, for runs with own samples. Published
/// figures have nothing to add to their table.
fn run_sections(
    summary: &RunSummary,
    run: Option<&Run>,
    is_one_of_several: bool,
) -> Vec<Block> {
    let is_own = |it: &MetricEstimate| it.tool.name == "assay" && !summary.hosts.is_empty();
    if !summary.results.iter().any(|it| it.ci.is_some() || is_own(it)) {
        return Vec::new();
    }
    let run_name = summary.run.label.clone().unwrap_or_else(|| summary.run.suite.clone());
    let with_run_name = |heading: String| match is_one_of_several {
        true => format!("{heading} ({run_name})"),
        false => heading,
    };
    let mut blocks = published_sections(summary, run);
    for block in &mut blocks {
        match block {
            Block::Heading(text) => *text = with_run_name(std::mem::take(text)),
            Block::Table(table) => {
                table.rows.iter_mut().flatten().for_each(|cell| cell.marks.clear());
                let whole = std::mem::replace(table, ReportTable::with_caption(""));
                *table = whole.without_empty_columns();
            }
            _ => {}
        }
    }
    blocks
}

/// Adds method, dates and commands.
fn add_method(document: &mut Document, summaries: &[&RunSummary], commands: &[String]) {
    let Some(first) = summaries.first() else { return };
    document.heading(word("heading-method"));
    document.paragraph(Tone::Plain, words::statistics(first.statistics));
    let mut dates: Vec<String> =
        summaries.iter().map(|it| format_date(&it.run.started)).collect();
    dates.dedup();
    document.paragraph(Tone::Plain, message!("learn-dates", dates = dates.join(comma())));
    document.heading(word("learn-heading-commands"));
    document.blocks.push(Block::Preformatted(commands.join("\n")));
}

/// Adds a warning about figures that cannot come from one sample; their rows stay in the table.
fn add_impossible_figures(document: &mut Document, all: &[&MetricEstimate]) {
    let impossible = all.iter().flat_map(|estimate| {
        let doubts =
            estimate.warnings.iter().filter(|it| matches!(it, Doubt::OutOfOrder { .. }));
        doubts.map(|doubt| {
            let size = text(estimate, Attribute::Bytes).unwrap_or_default();
            with_detail(&size, &catalogue::doubt(doubt).text)
        })
    });
    let lines = distinct(impossible);
    if !lines.is_empty() {
        document.paragraph(
            Tone::Bad,
            message!("learn-impossible", figures = lines.join(semicolon())),
        );
    }
}

/// Formats a value with the precision of its interval, or with its printed digits.
fn format_value(estimate: &MetricEstimate) -> String {
    let formatted = match estimate.ci {
        Some(_) => precision::value(estimate),
        // A published figure keeps the digits that it was printed with.
        None => {
            units::quantity(estimate.median, estimate.unit, precision::written_digits(estimate))
        }
    };
    with_qualifier(estimate, formatted)
}

/// Adds the qualifier of a published figure, such as “about”.
fn with_qualifier(estimate: &MetricEstimate, value: String) -> String {
    match text(estimate, Attribute::Qualifier).as_deref() {
        Some("approximate") => message!("about", value = value),
        Some("min") => message!("more-than", value = value),
        _ => value,
    }
}

/// Result of a kind of workload: its name, its values, their intervals and shares of a limit.
#[derive(Debug, PartialEq)]
struct HeadlineRow {
    name: String,
    values: String,
    intervals: String,
    shares: String,
}

/// Returns a table with one row for each kind of workload.
fn headline_table(
    subject: &str,
    all: &[&MetricEstimate],
    (summaries, paths): (&[&RunSummary], &ShortPaths),
) -> ReportTable {
    let interval = words::interval(all.first().map(|it| it.ci_level));
    let rows = labelled_rows(summaries);
    let network = conditions::headline_rows(summaries);
    let unmeasured = unmeasured_rows(summaries, paths);
    let mut table = ReportTable::with_caption("");
    for row in rows.into_iter().chain(network).chain(storage_rows(all)).chain(unmeasured) {
        table.push([
            left(word("learn-workload"), row.name),
            left(subject, row.values),
            right(&interval, row.intervals),
            right(word("column-of-limit"), row.shares),
        ]);
    }
    table
}

/// Returns a row for each kind of workload, one for each label where several have a result.
fn labelled_rows(summaries: &[&RunSummary]) -> Vec<HeadlineRow> {
    let groups = group_by(summaries.iter().copied(), |it| it.run.label.clone());
    let of_kind = |find_row: fn(&[&MetricEstimate]) -> Option<HeadlineRow>| {
        let of_group = |group: &Vec<&RunSummary>| {
            let results: Vec<&MetricEstimate> =
                group.iter().flat_map(|it| &it.results).collect();
            Some((group.first()?.run.label.clone(), find_row(&results)?))
        };
        let rows: Vec<(Option<String>, HeadlineRow)> =
            groups.iter().filter_map(of_group).collect();
        let is_one_of_several = rows.len() > 1;
        let with_label = move |(label, row): (Option<String>, HeadlineRow)| match label {
            Some(label) if is_one_of_several => {
                HeadlineRow { name: with_detail(&row.name, &label), ..row }
            }
            _ => row,
        };
        rows.into_iter().map(with_label).collect::<Vec<_>>()
    };
    [stream_row, linpack_row, rdma_row].into_iter().flat_map(of_kind).collect()
}

/// Returns rows for requested benchmarks that the machine does not support, or that failed.
fn unmeasured_rows(summaries: &[&RunSummary], paths: &ShortPaths) -> Vec<HeadlineRow> {
    let rows = summaries.iter().flat_map(|summary| {
        let omitted =
            summary.omitted.iter().map(|it| (&it.benchmark, catalogue::omitted(it).text));
        let failed = summary.failures.iter().filter(|it| it.because.is_none());
        let failed = failed.map(|it| (&it.benchmark, catalogue::failure(&it.failure).text));
        omitted.chain(failed).map(|(benchmark, why)| {
            let reason = message!("learn-not-measured", why = paths.shorten_words(&why));
            row(benchmark_name(benchmark), reason, &[])
        })
    });
    distinct(rows)
}

fn is_rdma(estimate: &MetricEstimate) -> bool {
    matches!(Benchmark::from_id(&estimate.benchmark), Some(Benchmark::Rdma(_)))
}

fn best<'a>(results: &[&'a MetricEstimate]) -> Option<&'a MetricEstimate> {
    (!results.is_empty()).then(|| results[representative(results)])
}

fn row(name: String, values: String, estimates: &[&MetricEstimate]) -> HeadlineRow {
    let intervals: Vec<String> =
        estimates.iter().filter_map(|it| precision::interval(it)).collect();
    let shares = estimates.iter().filter_map(|it| it.percent_of_limit).map(units::percent);
    let shares = shares.collect::<Vec<_>>().join(comma());
    HeadlineRow { name, values, intervals: intervals.join(comma()), shares }
}

/// Returns the result of the whole node, and the range over its domains.
fn stream_row(all: &[&MetricEstimate]) -> Option<HeadlineRow> {
    let results = find_results(all, Benchmark::MemoryStream, "triad");
    let placement = |it: &MetricEstimate| text(it, Attribute::Placement).unwrap_or_default();
    let (whole, parts): (Vec<&MetricEstimate>, Vec<&MetricEstimate>) =
        results.into_iter().partition(|it| !placement(it).contains(':'));
    let domain_kind =
        |it: &MetricEstimate| placement(it).split(':').next().unwrap_or_default().to_owned();
    // A number of cores is not a domain. Published pages print last-level caches.
    let mut parts: Vec<&MetricEstimate> =
        parts.into_iter().filter(|it| !domain_kind(it).starts_with("core")).collect();
    if parts.iter().any(|it| domain_kind(it) == "l3") {
        parts.retain(|it| domain_kind(it) == "l3");
    }
    let whole = best(&whole)?;
    let low = parts.iter().min_by(|a, b| a.median.total_cmp(&b.median));
    let high = parts.iter().max_by(|a, b| a.median.total_cmp(&b.median));
    let values = match low.zip(high) {
        None => format_value(whole),
        Some((low, high)) => {
            let domain = domain_kind(low);
            let (low, high) = (format_value(low), format_value(high));
            let part = match units::split_unit(&low) {
                _ if low == high => low,
                (number, _) => format!("{number}–{high}"),
            };
            message!(
                "learn-per-domain",
                whole = format_value(whole),
                part = part,
                domain = domain
            )
        }
    };
    Some(row("STREAM Triad".to_owned(), values, &[whole]))
}

fn linpack_row(all: &[&MetricEstimate]) -> Option<HeadlineRow> {
    let rmax = best(&find_results(all, Benchmark::Linpack, "rmax"))?;
    let peak =
        number(rmax, Attribute::Rpeak).map(|peak| format_gflops(rmax, (peak, LIMIT_DIGITS)));
    // A core may run faster than the clock from which the peak was calculated. The clock explains
    // results above the peak.
    let clock = number(rmax, Attribute::RpeakClock)
        .map(|clock| units::quantity(clock, Unit::Hertz, 3))
        .map(|clock| format!("Rpeak{}{clock}", comma()));
    let name = clock.as_deref().unwrap_or("Rpeak");
    let peak = peak.map(|it| format!("{it} ({name})"));
    let digits = rmax
        .ci
        .map_or_else(|| precision::written_digits(rmax), |_| precision::estimate_digits(rmax));
    let reached = format_gflops(rmax, (rmax.median, digits));
    let values = [peak, Some(format!("{reached} (Rmax)"))];
    let values = values.into_iter().flatten().collect::<Vec<_>>().join(comma());
    Some(row(word("learn-linpack").to_owned(), values, &[rmax]))
}

/// Formats a rate in GFLOP/s, the unit of HPL, at any magnitude.
fn format_gflops(estimate: &MetricEstimate, (value, digits): (f64, usize)) -> String {
    let number = precision::round_to_digits(value, digits) / 1e9;
    let formatted = units::with_symbol(&group_digits(&number.to_string()), "GFLOP/s");
    with_qualifier(estimate, formatted)
}

fn rdma_row(all: &[&MetricEstimate]) -> Option<HeadlineRow> {
    let find_rdma = |metrics: &[&str]| {
        let is_match =
            |it: &&&MetricEstimate| is_rdma(it) && metrics.contains(&it.metric.as_str());
        all.iter().filter(is_match).copied().collect::<Vec<_>>()
    };
    let latencies = find_rdma(&["half_round_trip", "latency"]);
    let latency = latencies.into_iter().min_by(|a, b| a.median.total_cmp(&b.median));
    let bandwidths = find_rdma(&["bandwidth"]);
    let bandwidth = bandwidths.into_iter().max_by(|a, b| a.median.total_cmp(&b.median));
    let in_bits = bandwidth.map(|it| MetricEstimate {
        median: if it.unit == Unit::BytePerSecond { it.median * 8.0 } else { it.median },
        unit: Unit::BitPerSecond,
        ci: it.ci.filter(|_| it.unit == Unit::BitPerSecond),
        ..it.clone()
    });
    let results: Vec<&MetricEstimate> = latency.into_iter().chain(&in_bits).collect();
    let values: Vec<String> = results.iter().map(|it| format_value(it)).collect();
    (!results.is_empty())
        .then(|| row(word("learn-rdma").to_owned(), values.join(comma()), &results))
}

/// Returns one row for each tool and target: the highest read bandwidth and the highest write
/// bandwidth.
fn storage_rows(all: &[&MetricEstimate]) -> Vec<HeadlineRow> {
    let place = |it: &MetricEstimate| (it.tool.name.clone(), storage::place_label(it));
    let mut results =
        storage::without_host_parts(find_results(all, Benchmark::Storage, "bandwidth"));
    results.retain(|it| it.median.is_finite());
    let places = distinct(results.iter().map(|it| place(it)));
    let rows = places.into_iter().filter_map(|row_place| {
        let highest = |operation: &str| {
            let is_match = |it: &&&MetricEstimate| {
                place(it) == row_place
                    && text(it, Attribute::Operation).as_deref() == Some(operation)
            };
            let matching = results.iter().filter(is_match).copied();
            matching.max_by(|a, b| a.median.total_cmp(&b.median))
        };
        let (read, write) = (highest("read"), highest("write"));
        let values = match (read, write) {
            (Some(read), Some(write)) => {
                message!(
                    "learn-reads-writes",
                    reads = format_value(read),
                    writes = format_value(write)
                )
            }
            (Some(read), None) => message!("learn-reads", reads = format_value(read)),
            (None, Some(write)) => message!("learn-writes", writes = format_value(write)),
            (None, None) => message!("learn-mixed", both = format_value(highest("mix")?)),
        };
        let mixed = highest("mix").filter(|_| read.is_none() && write.is_none());
        let both: Vec<&MetricEstimate> = read.into_iter().chain(write).chain(mixed).collect();
        let name = match row_place {
            (tool, Some(group)) if both[0].spans_hosts() => with_detail(&tool, &group),
            (tool, Some(target)) => message!("learn-storage", tool = tool, target = target),
            (tool, None) => tool,
        };
        Some(row(name, values, &both))
    });
    rows.collect()
}
