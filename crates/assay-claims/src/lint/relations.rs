//! Relations between figures of one row or sentence: peak and reached rate, rate and latency.

use std::ops::Range;

use assay_model::quantity::Unit;

use super::checks::Check;
use super::conversions::ABOUT_TOLERANCE;
use super::words::{MAX_ENDING, NO_ENDING, has_any_word};
use super::{
    Linter, column_unit, conversions, figure_with_unit, full_rows, page_span, trimmed_span,
};
use crate::figure::{PrintedFigure, PrintedUnit, text_before};
use crate::page::{LintPage, PageTable, PageText};

/// Maximum number of columns of a table of results that are searched for a rate.
const MAX_COLUMNS: usize = 64;

pub(super) fn check(lint: &mut Linter<'_>, page: &LintPage) {
    let names_parallelism = page.prose.iter().any(|text| {
        let lower = text.text.to_lowercase();
        has_any_word(&lower, &PARALLEL_WORDS, NO_ENDING)
    });
    for table in &page.tables {
        check_peak_columns(lint, table);
        check_littles_law(lint, table, names_parallelism);
    }
    for text in page.texts() {
        check_peak_in_text(lint, text);
        conversions::check_sentence(lint, text);
        check_link(lint, text);
        check_disk(lint, text);
    }
}

/// Words for a link behind its rate, in lower case: whole words, since "support" contains "port".
const LINK_WORDS: [&str; 18] = [
    "link",
    "uplink",
    "downlink",
    "ethernet",
    "nic",
    "network",
    "port",
    "adapter",
    "infiniband",
    "réseau",
    "de red",
    "la red",
    "síť",
    "сет",
    "网",
    "ネットワーク",
    "네트워크",
    "канал",
];
/// First word of German compounds: `Netzwerkkarte`.
const LINK_PART: &str = "netzwerk";
/// Words with which a rate above the link is no error: several links, or another device.
const OTHER_RATE_WORDS: [&str; 29] = [
    "links",
    "nics",
    "ports",
    "adapters",
    "dual",
    "two",
    "both",
    "bond",
    "aggregate",
    "total",
    "each",
    "per",
    "memory",
    "ram",
    "disk",
    "ssd",
    "nvme",
    "cache",
    "local",
    "pcie",
    "nvlink",
    "x",
    "compress",
    "instead",
    "from",
    "need",
    "beyond",
    "cannot",
    "limit",
];

/// Words for a disk next to its rate, in lower case.
const DISK_WORDS: [&str; 13] = [
    "disk",
    "ssd",
    "hdd",
    "nvme",
    "drive",
    "laufwerk",
    "festplatte",
    "disque",
    "disco",
    "диск",
    "硬盘",
    "磁盘",
    "ディスク",
];
/// Words for a rate that was measured.
const REACHED_WORDS: [&str; 19] = [
    "reach",
    "achiev",
    "measured",
    "sustained",
    "delivered",
    "copied",
    "copies",
    "erreich",
    "gemessen",
    "atteint",
    "mesuré",
    "alcanz",
    "medido",
    "dosáhl",
    "dosahuje",
    "достиг",
    "достига",
    "达到",
    "達し",
];
/// Words with which a measured rate above that of a disk is no error: several disks, or another device.
const OTHER_DISK_WORDS: [&str; 33] = [
    "disks",
    "ssds",
    "hdds",
    "drives",
    "raid",
    "stripe",
    "striped",
    "two",
    "both",
    "each",
    "per",
    "total",
    "aggregate",
    "memory",
    "ram",
    "cache",
    "buffer",
    "compress",
    "dedup",
    "instead",
    "replac",
    "need",
    "beyond",
    "cannot",
    "limit",
    "burst",
    "than",
    "faster",
    "versus",
    "vs",
    "compared",
    "while",
    "x",
];

/// Reports a measured rate above that of the disk of the same sentence.
fn check_disk(lint: &mut Linter<'_>, text: &PageText) {
    /// Maximum distance between the rate of a disk and its name, in characters.
    const NEAR: usize = 16;
    /// Maximum ratio of a measured rate to a rounded one of the disk.
    const MAX_RATIO: f64 = 1.1;
    let rates: Vec<(&PrintedFigure, f64)> = text
        .figures
        .iter()
        .filter_map(|it| {
            let (value, unit) = it.base_value()?;
            (unit == Unit::BytePerSecond).then_some((it, value))
        })
        .collect();
    let [first, second] = rates[..] else { return };
    let end =
        |it: &PrintedFigure| it.unit.as_ref().map_or(it.number_span.1, |unit| unit.span.1);
    let between = &text.text[end(first.0).min(second.0.number_span.0)..second.0.number_span.0];
    if between.contains([';', '。']) || between.contains(". ") {
        return;
    }
    let is_of_disk = |it: &PrintedFigure| {
        let after = text.text[end(it)..].chars().take(NEAR).collect::<String>();
        let before = text_before(&text.text, it.number_span.0, NEAR);
        let has_name =
            |words: &str| has_any_word(&words.to_lowercase(), &DISK_WORDS, NO_ENDING);
        has_name(&after) || (before.ends_with('(') && has_name(before))
    };
    let (disk, measured) = match (is_of_disk(first.0), is_of_disk(second.0)) {
        (true, false) => (first, second),
        (false, true) => (second, first),
        _ => return,
    };
    let lower = text.text.to_lowercase();
    if measured.1 > disk.1 * MAX_RATIO
        && has_any_word(&lower, &REACHED_WORDS, MAX_ENDING)
        && !lower.contains('×')
        && !has_any_word(&lower, &OTHER_DISK_WORDS, MAX_ENDING)
    {
        let printed = &text.text[disk.0.number_span.0..end(disk.0)];
        let message = format!("the rate is above that of the disk, {printed}");
        lint.add(Check::DiskRate, page_span(text, measured.0.number_span), message);
    }
}

/// Reports a rate in bytes that a link of the same sentence cannot carry, and would in bits.
fn check_link(lint: &mut Linter<'_>, text: &PageText) {
    /// Characters behind the rate of a link in which its name begins.
    const NEAR: usize = 24;
    /// Maximum share of a link in both directions.
    const BOTH_DIRECTIONS: f64 = 2.1;
    let with_unit = |unit: Unit| {
        let rates = text.figures.iter().filter_map(|it| Some((it, it.base_value()?)));
        rates.filter(move |(_, (_, it))| *it == unit).map(|(it, (value, _))| (it, value))
    };
    let (mut links, mut rates) =
        (with_unit(Unit::BitPerSecond), with_unit(Unit::BytePerSecond));
    let (Some((link, capacity)), None, Some((rate, bytes)), None) =
        (links.next(), links.next(), rates.next(), rates.next())
    else {
        return;
    };
    let lower = text.text.to_lowercase();
    let end = link.unit.as_ref().map_or(link.number_span.1, |unit| unit.span.1);
    let after: String = text.text[end..].chars().take(NEAR).collect::<String>().to_lowercase();
    let (first, last) = (
        link.number_span.0.min(rate.number_span.0),
        link.number_span.0.max(rate.number_span.0),
    );
    let is_one_sentence =
        !text.text[first..last].contains([';', '。']) && !text.text[first..last].contains(". ");
    let is_above = bytes * 8.0 > capacity * BOTH_DIRECTIONS && bytes <= capacity;
    if is_above
        && is_one_sentence
        && (after.contains(LINK_PART) || has_any_word(&after, &LINK_WORDS, MAX_ENDING))
        && !lower.contains('×')
        && !has_any_word(&lower, &OTHER_RATE_WORDS, MAX_ENDING)
    {
        let (printed, gbit_per_s) = (&text.text[link.number_span.0..end], bytes * 8.0 / 1e9);
        let message =
            format!("the rate is {gbit_per_s:.1} Gbit/s, above the link of {printed}");
        lint.add(Check::LinkRate, page_span(text, rate.number_span), message);
    }
}

fn check_peak(
    lint: &mut Linter<'_>,
    reached: (&PageText, &PrintedFigure),
    peak: &PrintedFigure,
) {
    let (text, figure) = reached;
    let possible_base_values = |it: &PrintedFigure| {
        it.unit
            .as_ref()
            .map(|unit| lint.number_format.possible_values(it).map(|it| it * unit.factor))
    };
    let (Some(rmax), Some(rpeak)) = (possible_base_values(figure), possible_base_values(peak))
    else {
        return;
    };
    let tolerance =
        if figure.is_approximate || peak.is_approximate { ABOUT_TOLERANCE } else { 0.0 };
    if rmax.iter().all(|rmax| rpeak.iter().all(|rpeak| *rmax > rpeak * (1.0 + tolerance))) {
        let message = format!("Rmax ≤ Rpeak is broken: {} > {}", figure.value, peak.value);
        lint.add(Check::PeakRate, page_span(text, figure.number_span), message);
    }
}

/// Checks text such as `4 TFLOPS (Rpeak), 8 TFLOPS (Rmax)`. The nth name belongs to the nth figure.
fn check_peak_in_text(lint: &mut Linter<'_>, text: &PageText) {
    let is_rate = |it: &&PrintedFigure| {
        it.unit.as_ref().is_some_and(|unit| unit.unit == Unit::FlopPerSecond)
    };
    let rates: Vec<&PrintedFigure> = text.figures.iter().filter(is_rate).collect();
    let [first, second] = rates.as_slice() else { return };
    let lower = text.text.to_lowercase();
    let (Some(peak), Some(reached)) = (lower.find("rpeak"), lower.find("rmax")) else { return };
    if lower.matches("rpeak").count() + lower.matches("rmax").count() > 2 {
        return;
    }
    if names_condition(
        &lower[peak..],
        sentences_of(&lower, peak.min(reached)..peak.max(reached)),
    ) {
        return;
    }
    let (peak, reached) = if peak < reached { (first, second) } else { (second, first) };
    check_peak(lint, (text, reached), peak);
}

/// Returns the sentences that contain the range.
fn sentences_of(text: &str, range: Range<usize>) -> &str {
    const ENDS: [&str; 2] = [". ", "\n"];
    let start = ENDS.iter().filter_map(|end| text[..range.start].rfind(end)).max();
    let end = ENDS.iter().filter_map(|end| text[range.end..].find(end)).min();
    &text[start.unwrap_or(0)..end.map_or(text.len(), |end| range.end + end)]
}

/// Returns whether the text behind `Rpeak` names a clock, which may have been higher, or an
/// instruction set that is not that of its sentences. Then the peak is no limit.
fn names_condition(after: &str, sentences: &str) -> bool {
    let described = after.split([')', '）', ';']).next().unwrap_or_default();
    let all = instruction_sets(sentences);
    let is_only_here = instruction_sets(described)
        .iter()
        .any(|set| all.iter().filter(|it| *it == set).count() == 1);
    let has_several = all.iter().any(|it| *it != all[0]);
    ["hz", "гц"].iter().any(|unit| described.contains(unit)) || is_only_here || has_several
}

/// Returns the instruction sets that a text in lower case names: `avx2`, `avx-512`, `sse4`.
fn instruction_sets(lower: &str) -> Vec<&str> {
    const SETS: [&str; 5] = ["avx", "sse", "neon", "sve", "amx"];
    let is_set = |word: &&str| {
        let mut version = SETS.iter().filter_map(|set| word.strip_prefix(set));
        version.any(|it| !it.starts_with(|c: char| c.is_alphabetic()))
    };
    lower.split(|it: char| !it.is_alphanumeric() && it != '-').filter(is_set).collect()
}

fn find_column(table: &PageTable, matches: impl Fn(&str) -> bool) -> Option<usize> {
    table.rows.first()?.iter().position(|heading| matches(&heading.text.to_lowercase()))
}

/// Column with the unit of its heading, which is parsed once for all rows.
struct UnitColumn {
    number: usize,
    unit: Option<PrintedUnit>,
}

impl UnitColumn {
    /// Returns a column of a table, if its heading has one at this position.
    fn from_table(table: &PageTable, number: usize) -> Option<Self> {
        table.rows.first()?.get(number)?;
        Some(Self { number, unit: column_unit(table, number).map(|(_, unit)| unit) })
    }

    /// Returns the figure of a row's cell with its own unit or that of the column.
    fn figure(&self, row: &[PageText]) -> Option<PrintedFigure> {
        let mut figure = figure_with_unit(row.get(self.number)?)?.clone();
        figure.unit = figure.unit.or_else(|| self.unit.clone());
        Some(figure)
    }
}

fn check_peak_columns(lint: &mut Linter<'_>, table: &PageTable) {
    let column_of = |name: &'static str| {
        let number = find_column(table, |heading| heading.contains(name))?;
        UnitColumn::from_table(table, number)
    };
    let (Some(peak), Some(reached)) = (column_of("rpeak"), column_of("rmax")) else { return };
    let heading = |column: &UnitColumn| table.rows[0][column.number].text.to_lowercase();
    let described = heading(&peak);
    if names_condition(&described, &format!("{described} {}", heading(&reached))) {
        return;
    }
    for row in full_rows(table) {
        if let (Some(peak), Some(figure), Some(cell)) =
            (peak.figure(row), reached.figure(row), row.get(reached.number))
        {
            check_peak(lint, (cell, &figure), &peak);
        }
    }
}

/// Tolerance for rounded rates and latencies, and for tools that measure both over slightly
/// different times.
const LITTLES_LAW_TOLERANCE: f64 = 0.1;
/// Words for depth in the languages of assay's own pages, English first.
const DEPTH_WORDS: [&str; 22] = [
    "in flight",
    "in-flight",
    "queue depth",
    "iodepth",
    "outstanding",
    "depth",
    "глубина",
    "в обработке",
    "profondeur",
    "en cours",
    "hloubka",
    "rozpracováno",
    "深度",
    "在途",
    "깊이",
    "진행 중",
    "深さ",
    "処理中",
    "tiefe",
    "in bearbeitung",
    "profundidad",
    "en curso",
];
const MEAN_WORDS: [&str; 11] = [
    "mean", "avg", "average", "moyen", "сред", "平均", "평균", "průměr", "mittel", "mittler",
    "media",
];
/// Words for latency without a statistic, which is assumed to be a mean.
const LATENCY_WORDS: [&str; 8] =
    ["latency", "задержка", "latence", "延迟", "대기 시간", "レイテンシ", "latenz", "latencia"];

/// Words for the factors of the depth, in headings and sentences.
const PARALLEL_WORDS: [&str; 29] = [
    "jobs",
    "numjobs",
    "threads",
    "hosts",
    "nodes",
    "clients",
    "processes",
    "workers",
    "ranks",
    "vms",
    "задания",
    "потоки",
    "потоков",
    "узлы",
    "узлов",
    "клиентов",
    "tâches",
    "nœuds",
    "hôtes",
    "knoten",
    "úlohy",
    "uzly",
    "hilos",
    "nodos",
    "线程数",
    "节点数",
    "任务数",
    "スレッド数",
    "스레드",
];

/// Returns the columns whose numbers multiply the depth.
fn parallel_columns(table: &PageTable) -> Vec<usize> {
    let headings = table.rows.first().into_iter().flatten().enumerate().take(MAX_COLUMNS);
    let is_parallel = |heading: &PageText| {
        let lower = heading.text.to_lowercase();
        has_any_word(&lower, &PARALLEL_WORDS, NO_ENDING)
    };
    headings.filter(|(_, it)| is_parallel(it)).map(|(number, _)| number).collect()
}

/// Checks Little's law: I/O in flight = rate × mean latency, so that the depth bounds the product.
/// Percentiles are not checked. Jobs and hosts multiply the depth; if only a sentence names them,
/// the error is possible.
fn check_littles_law(lint: &mut Linter<'_>, table: &PageTable, names_parallelism: bool) {
    let is_depth =
        |it: &str| DEPTH_WORDS.iter().any(|word| it.trim() == *word || it.starts_with(*word));
    let is_mean = |it: &str| {
        let before_unit = it.split(['[', '(']).next().unwrap_or_default();
        MEAN_WORDS.iter().any(|word| it.contains(word))
            || LATENCY_WORDS.contains(&before_unit.trim())
    };
    let (Some(depth), Some(latency)) =
        (find_column(table, is_depth), find_column(table, is_mean))
    else {
        return;
    };
    let columns: Vec<UnitColumn> =
        (0..MAX_COLUMNS).map_while(|number| UnitColumn::from_table(table, number)).collect();
    let Some(latency) = UnitColumn::from_table(table, latency) else { return };
    let parallel = parallel_columns(table);
    let is_clear = !names_parallelism || !parallel.is_empty();
    for row in full_rows(table) {
        let value_of = |unit: Unit, column: &UnitColumn| {
            let figure = column.figure(row)?;
            let printed = figure.unit.as_ref().filter(|it| it.unit == unit)?;
            Some(unambiguous_value(lint, &figure)? * printed.factor)
        };
        let rates: Vec<(f64, &PageText)> = columns
            .iter()
            .filter_map(|column| {
                Some((value_of(Unit::IoPerSecond, column)?, row.get(column.number)?))
            })
            .collect();
        let count = |number: usize| {
            let figure = row.get(number).and_then(figure_with_unit)?;
            unambiguous_value(lint, figure).filter(|_| figure.unit.is_none())
        };
        let jobs = parallel.iter().map(|number| count(*number)).product::<Option<f64>>();
        let limit = count(depth).zip(jobs).map(|(depth, jobs)| depth * jobs);
        // Two rates in a row are ambiguous.
        let ([(rate, cell)], Some(latency), Some(limit)) =
            (rates.as_slice(), value_of(Unit::Second, &latency), limit)
        else {
            continue;
        };
        let needed = rate * latency;
        if limit > 0.0 && needed > limit * (1.0 + LITTLES_LAW_TOLERANCE) {
            let factors =
                parallel.iter().filter_map(|at| Some(table.rows[0].get(*at)?.text.trim()));
            let names: Vec<&str> = std::iter::once("the depth").chain(factors).collect();
            let message = format!(
                "rate × latency = {needed:.1} in flight, but {} is {limit} (Little's law)",
                names.join(" × ")
            );
            let span = trimmed_span(cell);
            lint.add_if(is_clear, Check::LittlesLaw, span, message, None);
        }
    }
}

/// Returns the value of an unambiguous figure.
fn unambiguous_value(lint: &Linter<'_>, figure: &PrintedFigure) -> Option<f64> {
    let [value, other] = lint.number_format.possible_values(figure);
    (value.to_bits() == other.to_bits()).then_some(value)
}
