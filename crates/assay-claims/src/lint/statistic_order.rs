//! Order of statistics, min ≤ mean ≤ max: in tables, with headings in any language, and in sentences.

use std::cmp::Ordering;

use assay_model::quantity::Unit;

use super::bounds::{NamedPercentile, find_percentiles};
use super::checks::Check;
use super::words::{NO_ENDING, has_any_word};
use super::{Linter, column_unit, figure_with_unit, full_rows, page_span};
use crate::figure::{PrintedFigure, is_unspaced_script};
use crate::page::{PageTable, PageText};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Statistic {
    Min,
    Mean,
    Median,
    /// Median as reported by perftest.
    Typical,
    Max,
    /// Percentile, in percent.
    Percentile(f64),
}

/// Whole words of headings, in lower case.
const STATISTIC_WORDS: [(Statistic, &[&str]); 5] = [
    (
        Statistic::Min,
        &[
            "min",
            "minimum",
            "t_min",
            "мин",
            "минимум",
            "minimo",
            "mínimo",
            "minimal",
            "최소",
            "최솟값",
            "最小",
            "最小値",
            "最小值",
        ],
    ),
    (
        Statistic::Mean,
        &[
            "avg",
            "mean",
            "average",
            "t_avg",
            "среднее",
            "средняя",
            "moyenne",
            "průměr",
            "mittel",
            "mittelwert",
            "durchschnitt",
            "media",
            "promedio",
            "평균",
            "平均",
            "平均値",
            "平均值",
        ],
    ),
    (
        Statistic::Median,
        &[
            "median",
            "médiane",
            "медиана",
            "medián",
            "mediana",
            "중앙값",
            "中央値",
            "中位数",
            "中位數",
        ],
    ),
    (Statistic::Typical, &["t_typical", "typical"]),
    (
        Statistic::Max,
        &[
            "max",
            "maximum",
            "peak",
            "t_max",
            "макс",
            "максимум",
            "massimo",
            "máximo",
            "maximal",
            "최대",
            "최댓값",
            "最大",
            "最大値",
            "最大值",
        ],
    ),
];

impl Statistic {
    fn from_word(word: &str) -> Option<Self> {
        let known =
            STATISTIC_WORDS.iter().find(|(_, words)| words.contains(&word)).map(|(it, _)| *it);
        known.or_else(|| {
            let share: f64 = word.strip_prefix('p')?.parse().ok()?;
            (0.0..=100.0).contains(&share).then_some(Self::Percentile(share))
        })
    }

    fn word(self) -> String {
        match self {
            Self::Min => "min".to_owned(),
            Self::Mean => "mean".to_owned(),
            Self::Median => "median".to_owned(),
            Self::Typical => "typical".to_owned(),
            Self::Max => "max".to_owned(),
            Self::Percentile(share) => format!("p{share}"),
        }
    }

    /// Returns whether this is a share of the values in order.
    const fn is_share(self) -> bool {
        matches!(self, Self::Median | Self::Typical | Self::Percentile(_))
    }

    /// Returns whether the first is at most the second for any distribution. A mean may exceed any
    /// percentile.
    fn is_at_most(self, other: Self) -> bool {
        let share = |it| match it {
            Self::Min => Some(0.0),
            Self::Median | Self::Typical => Some(50.0),
            Self::Percentile(share) => Some(share),
            Self::Max => Some(100.0),
            Self::Mean => None,
        };
        match (share(self), share(other)) {
            (Some(a), Some(b)) => a < b,
            (Some(a), None) => a <= 0.0,
            (None, Some(b)) => b >= 100.0,
            (None, None) => false,
        }
    }
}

/// Returns the only statistic in a heading, and the rest of it, which is the subject.
fn heading_statistic(heading: &str) -> Option<(Statistic, String)> {
    let small = heading.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut rest) = (None, String::new());
    // `p99.9` contains a point, and `max.` ends with one.
    for word in small.split(|c: char| !is_part(c) && c != '.') {
        let word = word.trim_matches('.');
        match Statistic::from_word(word) {
            Some(_) if found.is_some() => return None,
            Some(statistic) => found = Some(statistic),
            None => rest.extend(word.chars().chain([' '])),
        }
    }
    // Scripts without blanks have the statistic within a longer word.
    let found = found.or_else(|| {
        if !small.contains(is_unspaced_script) {
            return None;
        }
        let of_word = |word: &&str| word.starts_with(is_unspaced_script);
        let words = STATISTIC_WORDS
            .iter()
            .flat_map(|(it, words)| words.iter().map(move |word| (*it, *word)));
        let within = words.filter(|(_, word)| of_word(word) && small.contains(word));
        let (statistic, word) = within.max_by_key(|(_, word)| word.len())?;
        rest = rest.replacen(word, "", 1);
        Some(statistic)
    });
    Some((found?, rest.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// Column with one statistic of a subject.
struct StatisticColumn {
    number: usize,
    statistic: Statistic,
    subject: String,
    /// Factor of the unit in its heading, or 1.
    factor: f64,
    /// Number of the group of columns, which begins where a statistic repeats: `min | max | min | max`.
    group: usize,
}

pub(super) fn check(lint: &mut Linter<'_>, table: &PageTable) {
    check_columns(lint, table);
    if let Some(transposed) = transpose_statistics(table) {
        check_columns(lint, &transposed);
    }
}

/// Value of a percentile in a sentence.
struct PercentileValue<'p> {
    share: f64,
    figure: &'p PrintedFigure,
    /// Byte span of its name and its figure.
    span: (usize, usize),
    /// Whether a verb joins them.
    has_verb: bool,
}

/// Words behind a time that is a difference from another one: `3 ms slower`.
const COMPARATIVES: [&str; 53] = [
    "slower",
    "faster",
    "higher",
    "lower",
    "longer",
    "shorter",
    "better",
    "worse",
    "more",
    "less",
    "later",
    "earlier",
    "above",
    "below",
    "larger",
    "greater",
    "smaller",
    "quicker",
    "langsamer",
    "schneller",
    "höher",
    "niedriger",
    "länger",
    "kürzer",
    "besser",
    "schlechter",
    "mehr",
    "weniger",
    "größer",
    "kleiner",
    "später",
    "früher",
    "plus",
    "moins",
    "más",
    "menos",
    "più",
    "mais",
    "pomalejší",
    "rychlejší",
    "vyšší",
    "nižší",
    "delší",
    "kratší",
    "více",
    "méně",
    "медленнее",
    "быстрее",
    "больше",
    "меньше",
    "выше",
    "ниже",
    "дольше",
];

/// Whether a value is a difference from another one: `3 ms slower`, or `+3 ms`.
fn is_difference(text: &str, value: &PercentileValue<'_>) -> bool {
    let blanks = [' ', '\u{a0}', '*', '_'];
    let (figure_start, end) = (value.figure.number_span.0, value.span.1);
    let before = text.get(value.span.0..figure_start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default().trim_start_matches(blanks);
    let word: String = after.chars().take_while(|c| c.is_alphabetic()).collect();
    before.ends_with('+') || COMPARATIVES.contains(&word.to_lowercase().as_str())
}

/// Whether a value belongs to a subject behind it, in a sentence whose list belongs to one before it:
/// `for B p50 3 ms, p99 9 ms, p50 10 ms for C`.
fn has_other_subject(text: &str, list_start: usize, value: &PercentileValue<'_>) -> bool {
    const PREPOSITIONS: [&str; 14] = [
        "for", "on", "with", "in", "at", "für", "bei", "mit", "pour", "avec", "con", "para",
        "для", "при",
    ];
    let after = text.get(value.span.1..).unwrap_or_default();
    let word = after.split_whitespace().next().unwrap_or_default().to_lowercase();
    let before = text.get(..list_start).unwrap_or_default();
    let start = before.rmatch_indices(['.', ';', '\n']).find(|(at, _)| {
        // That of a number ends no sentence.
        !before[at + 1..].starts_with(|it: char| it.is_ascii_digit())
    });
    let start = start.map_or(0, |(at, _)| at + 1);
    let mut words = before[start..].split(|it: char| !it.is_alphanumeric());
    PREPOSITIONS.contains(&word.as_str()) && words.any(|it| it.to_lowercase() == word)
}

/// Reports a sentence whose list of percentiles is out of order: `p50 4 ms, p99 3 ms`.
pub(super) fn check_sentence(lint: &mut Linter<'_>, text: &PageText) {
    /// Maximum number of bytes between a name and its figure, and between two members of a list.
    const NEAR: usize = 8;
    const JOINED: [&str; 12] =
        ["", "and", "und", "et", "y", "a", "и", "と", "、", "，", "和", "및"];
    /// Words between a name and its figure, and longer ones between two members.
    const VERBS: [&str; 14] = [
        "is", "was", "of", "at", "are", "ist", "war", "von", "est", "était", "de", "es", "je",
        "byl",
    ];
    const JOINED_WORDS: [&str; 6] = ["the", "and the", "and its", "und das", "das", "et le"];
    let names = find_percentiles(&text.text);
    if names.len() < 2 {
        return;
    }
    let figures = &text.figures;
    let value = |(at, name): &NamedPercentile<'_>| {
        let end = at + 1 + name.len();
        let is_short = text.text[*at..].starts_with(['p', 'P']);
        let next = figures.partition_point(|it| it.number_span.0 < end);
        let figure = figures.get(next).filter(|_| is_short)?;
        let gap = text.text.get(end..figure.number_span.0)?;
        let unit = figure.unit.as_ref().filter(|it| it.unit == Unit::Second)?;
        let is_joined = gap.len() <= NEAR && !gap.contains(char::is_alphanumeric);
        let has_verb = VERBS.contains(&gap.trim());
        let (share, span) = (name.parse().ok()?, (*at, unit.span.1));
        (is_joined || has_verb).then_some(PercentileValue { share, figure, span, has_verb })
    };
    let values: Vec<PercentileValue<'_>> = names.iter().filter_map(value).collect();
    for pair in values.windows(2) {
        let [first, second] = pair else { continue };
        let between = text.text.get(first.span.1..second.span.0).unwrap_or_default();
        let words = between.trim_matches(|c: char| " ,/|()·*".contains(c));
        let (low, high) =
            if first.share < second.share { (first, second) } else { (second, first) };
        let times = |it: &PercentileValue<'_>| {
            let factor = it.figure.unit.as_ref().map_or(1.0, |unit| unit.factor);
            lint.number_format.possible_values(it.figure).map(|value| value * factor)
        };
        let rounding = 1.0 + low.figure.relative_rounding() + high.figure.relative_rounding();
        let is_broken = low.share < high.share
            && times(low)
                .iter()
                .all(|low| times(high).iter().all(|high| *low > high * rounding));
        let has_words = first.has_verb || second.has_verb || JOINED_WORDS.contains(&words);
        let is_list = JOINED.contains(&words) || JOINED_WORDS.contains(&words);
        let is_of_one = !is_difference(&text.text, second)
            && !has_other_subject(&text.text, first.span.0, second);
        if is_broken && is_list && is_of_one {
            let check = if has_words { Check::PercentileWords } else { Check::PercentileOrder };
            let printed =
                |it: &PercentileValue<'_>| text.text[it.span.0..it.span.1].trim().to_owned();
            let message =
                format!("`{}` and `{}` are out of order", printed(low), printed(high));
            lint.add(check, page_span(text, second.figure.number_span), message);
        }
    }
}

/// Returns a table whose rows are statistics with rows and columns exchanged.
fn transpose_statistics(table: &PageTable) -> Option<PageTable> {
    /// Maximum number of statistics and of columns, which limits the work.
    const MOST: usize = 64;
    let label = |row: &Vec<PageText>| {
        let label = row.first()?;
        let statistic = heading_statistic(&label.text);
        // `p3.8xlarge` is a type of machine.
        statistic.filter(|(_, subject)| !subject.contains(|c: char| c.is_ascii_digit()))
    };
    let labelled = full_rows(table).filter_map(|row| Some((row, label(row)?)));
    let (rows, labels): (Vec<&Vec<PageText>>, Vec<(Statistic, String)>) =
        labelled.take(MOST + 1).unzip();
    // A label that occurs twice belongs to another part of the table.
    let is_repeated = |at: usize| labels[at + 1..].contains(&labels[at]);
    if !(2..=MOST).contains(&rows.len()) || (0..labels.len()).any(is_repeated) {
        return None;
    }
    let has_shares = labels.iter().any(|(statistic, _)| statistic.is_share());
    let columns = (0..rows[0].len().min(MOST))
        .filter(|number| !has_shares || !is_of_rates(table, *number));
    let column = |number: usize| rows.iter().map(|row| row[number].clone()).collect();
    Some(PageTable { rows: columns.map(column).collect(), rule: None, units: vec![] })
}

fn check_columns(lint: &mut Linter<'_>, table: &PageTable) {
    let Some(heading) = table.rows.first() else { return };
    let column = |(number, heading): (usize, &PageText)| {
        let (statistic, what) = heading_statistic(&heading.text)?;
        let factor = column_unit(table, number).map_or(1.0, |(_, unit)| unit.factor);
        let is_ordered = !statistic.is_share() || !is_of_rates(table, number);
        is_ordered.then_some(StatisticColumn {
            number,
            statistic,
            subject: what,
            factor,
            group: 0,
        })
    };
    // Limits the work; real tables of statistics have fewer columns.
    let mut columns: Vec<StatisticColumn> =
        heading.iter().enumerate().filter_map(column).take(64).collect();
    if !are_percentiles(&columns) {
        columns.retain(|it| !matches!(it.statistic, Statistic::Percentile(_)));
    }
    if !number_groups(&mut columns) {
        return;
    }
    let is_of_one = |(less, more): &(usize, usize)| {
        let (less, more) = (&columns[*less], &columns[*more]);
        less.group == more.group
            && less.subject == more.subject
            && less.statistic.is_at_most(more.statistic)
    };
    let all = 0..columns.len();
    let pairs: Vec<(usize, usize)> = all
        .clone()
        .flat_map(|less| all.clone().map(move |more| (less, more)))
        .filter(is_of_one)
        .collect();
    if pairs.is_empty() {
        return;
    }
    let has_other_units = full_rows(table).any(|row| {
        let cells =
            columns.iter().filter_map(|column| figure_with_unit(row.get(column.number)?));
        cells.filter_map(|it| it.unit.as_ref()).any(|unit| unit.unit != Unit::Ratio)
    });
    for row in full_rows(table) {
        // Among times, a row of percentages has changes.
        let is_value = |it: &StatisticCell<'_>| {
            !has_other_units || it.figure.unit.as_ref().is_none_or(|it| it.unit != Unit::Ratio)
        };
        let cell = |column| StatisticCell::of_row(lint, row, column).filter(is_value);
        let cells: Vec<Option<StatisticCell<'_>>> = columns.iter().map(cell).collect();
        for (less, more) in &pairs {
            if let (Some(low), Some(high)) = (&cells[*less], &cells[*more]) {
                let statistics = (columns[*less].statistic, columns[*more].statistic);
                check_pair(lint, statistics, low, high);
            }
        }
    }
}

/// Numbers the groups of columns; returns whether all groups have the same statistics. Without these it
/// is unknown which columns belong together.
fn number_groups(columns: &mut [StatisticColumn]) -> bool {
    let (mut first, mut group) = (0, 0);
    for at in 0..columns.len() {
        let is_same = |it: &StatisticColumn| {
            it.statistic == columns[at].statistic && it.subject == columns[at].subject
        };
        if columns[first..at].iter().any(is_same) {
            first = at;
            group += 1;
        }
        columns[at].group = group;
    }
    let names = |group: usize| {
        let members = columns.iter().filter(move |it| it.group == group);
        members.map(|it| (it.statistic, it.subject.as_str())).collect::<Vec<_>>()
    };
    (1..=group).all(|it| names(it) == names(0))
}

/// Returns whether a column has rates. Their 99th percentile is that of the slowest in some tables.
fn is_of_rates(table: &PageTable, number: usize) -> bool {
    const RATES: [&str; 10] = [
        "fps",
        "qps",
        "tps",
        "rps",
        "iops",
        "throughput",
        "bandwidth",
        "rate",
        "goodput",
        "tokens",
    ];
    let heading = table.rows.first().and_then(|it| it.get(number));
    let heading = heading.map(|it| it.text.to_lowercase()).unwrap_or_default();
    let unit = column_unit(table, number).map(|(_, unit)| unit.unit);
    let has_unit_of_rate = matches!(
        unit,
        Some(
            Unit::BytePerSecond | Unit::BitPerSecond | Unit::IoPerSecond | Unit::FlopPerSecond
        )
    );
    has_unit_of_rate || has_any_word(&heading, &RATES, NO_ENDING)
}

/// Returns whether columns such as `P10` and `P99` are percentiles, and not types of disks or
/// processors (`P20`, `P30`): all have usual shares, and one is of the slowest tenth.
fn are_percentiles(columns: &[StatisticColumn]) -> bool {
    const USUAL: [f64; 13] =
        [0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0];
    let shares = || {
        columns.iter().filter_map(|it| match it.statistic {
            Statistic::Percentile(share) => Some(share),
            Statistic::Min
            | Statistic::Mean
            | Statistic::Median
            | Statistic::Typical
            | Statistic::Max => None,
        })
    };
    shares().all(|it| it > 99.0 || USUAL.contains(&it)) && shares().any(|it| it >= 90.0)
}

/// Returns whether two numbers are in order as versions: 3.9 is before 3.12.
fn are_versions(low: &StatisticCell<'_>, high: &StatisticCell<'_>) -> bool {
    let parts = |it: &StatisticCell<'_>| {
        let (from, to) = it.figure.number_span;
        let (whole, part) = it.cell.text.get(from..to)?.split_once('.')?;
        let numbers: (u32, u32) = (whole.parse().ok()?, part.parse().ok()?);
        it.figure.unit.is_none().then_some(numbers)
    };
    let is_longer = high.figure.decimals > low.figure.decimals;
    parts(low).zip(parts(high)).is_some_and(|(low, high)| is_longer && low <= high)
}

/// Cell of a statistic with an unambiguous value.
struct StatisticCell<'p> {
    cell: &'p PageText,
    value: f64,
    figure: &'p PrintedFigure,
}

impl<'p> StatisticCell<'p> {
    fn of_row(
        lint: &Linter<'_>,
        row: &'p [PageText],
        column: &StatisticColumn,
    ) -> Option<Self> {
        let cell = row.get(column.number)?;
        let figure = figure_with_unit(cell)?;
        let [value, other] = lint.number_format.possible_values(figure);
        // A value that may be a thousand times larger proves nothing.
        let is_known = value.to_bits() == other.to_bits();
        let factor = figure.unit.as_ref().map_or(column.factor, |unit| unit.factor);
        is_known.then_some(Self { cell, value: value * factor, figure })
    }
}

/// Relative rounding of a sum of binary fractions, which programs print with all digits.
const BINARY_ROUNDING: f64 = 1e-9;

fn check_pair(
    lint: &mut Linter<'_>,
    (less, more): (Statistic, Statistic),
    low: &StatisticCell<'_>,
    high: &StatisticCell<'_>,
) {
    // A maximum of 0 is no limit.
    if are_versions(low, high) || more == Statistic::Max && high.value == 0.0 {
        return;
    }
    let StatisticCell { cell: other, value: low, figure: first } = low;
    let StatisticCell { cell, value: high, figure: second } = high;
    let (low, high) = (*low, *high);
    let kind = |it: &PrintedFigure| it.unit.as_ref().map(|unit| unit.unit);
    // Each is rounded separately; equal digits are rounded equally.
    let is_alike = first.decimals == second.decimals && first.unit == second.unit;
    let rounding = |it: &PrintedFigure, value: f64| it.relative_rounding() * value;
    let rounding = match (&first.unit, first.decimals.cmp(&second.decimals)) {
        _ if is_alike => 0.0,
        (None, Ordering::Less) => rounding(first, low),
        (None, Ordering::Greater) => rounding(second, high),
        (None, Ordering::Equal) => 0.0,
        (Some(_), _) => rounding(first, low) + rounding(second, high),
    };
    let tolerance = rounding + BINARY_ROUNDING * high.abs();
    if kind(first) == kind(second) && low > high + tolerance {
        let (less, more) = (less.word(), more.word());
        let message =
            format!("{less} ≤ {more} is broken: {} > {}", other.text.trim(), cell.text.trim());
        lint.add(Check::StatisticOrder, page_span(cell, second.number_span), message);
    }
}
