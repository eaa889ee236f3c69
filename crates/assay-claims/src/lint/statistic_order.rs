//! Order of statistics in the columns of a table: min ≤ mean ≤ max, with headings in any language.

use std::cmp::Ordering;

use super::{Linter, Rule, column_unit, figure_with_unit, full_rows, page_span};
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
}

pub(super) fn check(lint: &mut Linter<'_>, table: &PageTable) {
    check_columns(lint, table);
    if let Some(transposed) = transpose_statistics(table) {
        check_columns(lint, &transposed);
    }
}

/// Returns a table whose rows are statistics with rows and columns exchanged.
fn transpose_statistics(table: &PageTable) -> Option<PageTable> {
    /// Maximum number of statistics and of columns, which limits the work.
    const MOST: usize = 64;
    let label = |row: &&Vec<PageText>| {
        let label = row.first()?;
        let statistic = heading_statistic(&label.text);
        // `p3.8xlarge` is a type of machine.
        statistic.filter(|(_, subject)| !subject.contains(|c: char| c.is_ascii_digit()))
    };
    let rows: Vec<&Vec<PageText>> =
        full_rows(table).filter(|row| label(row).is_some()).collect();
    let labels: Vec<(Statistic, String)> = rows.iter().filter_map(label).collect();
    // A label that occurs twice belongs to another part of the table.
    let is_repeated = |at: usize| labels[at + 1..].contains(&labels[at]);
    if !(2..=MOST).contains(&rows.len()) || (0..labels.len()).any(is_repeated) {
        return None;
    }
    let columns = rows[0].len().min(MOST);
    let column = |number: usize| rows.iter().map(|row| row[number].clone()).collect();
    Some(PageTable { rows: (0..columns).map(column).collect(), rule: None, units: vec![] })
}

fn check_columns(lint: &mut Linter<'_>, table: &PageTable) {
    let Some(heading) = table.rows.first() else { return };
    let column = |(number, heading): (usize, &PageText)| {
        let (statistic, what) = heading_statistic(&heading.text)?;
        let factor = column_unit(table, number).map_or(1.0, |(_, unit)| unit.factor);
        Some(StatisticColumn { number, statistic, subject: what, factor })
    };
    // Limits the work; real tables of statistics have fewer columns.
    let columns: Vec<StatisticColumn> =
        heading.iter().enumerate().filter_map(column).take(64).collect();
    let is_of_one = |(less, more): &(usize, usize)| {
        let (less, more) = (&columns[*less], &columns[*more]);
        less.statistic.is_at_most(more.statistic) && less.subject == more.subject
    };
    let all = 0..columns.len();
    let pairs: Vec<(usize, usize)> = all
        .clone()
        .flat_map(|less| all.clone().map(move |more| (less, more)))
        .filter(is_of_one)
        .collect();
    for row in full_rows(table) {
        let cells: Vec<Option<StatisticCell<'_>>> =
            columns.iter().map(|column| StatisticCell::of_row(lint, row, column)).collect();
        for (less, more) in &pairs {
            if let (Some(low), Some(high)) = (&cells[*less], &cells[*more]) {
                let statistics = (columns[*less].statistic, columns[*more].statistic);
                check_pair(lint, statistics, low, high);
            }
        }
    }
}

/// Cell of a statistic with an unambiguous value.
struct StatisticCell<'p> {
    cell: &'p PageText,
    value: f64,
    figure: PrintedFigure,
}

impl<'p> StatisticCell<'p> {
    fn of_row(
        lint: &Linter<'_>,
        row: &'p [PageText],
        column: &StatisticColumn,
    ) -> Option<Self> {
        let cell = row.get(column.number)?;
        let figure = figure_with_unit(cell)?;
        let [value, other] = lint.number_format.possible_values(&figure);
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
        lint.add(Rule::Impossible, page_span(cell, second.number_span), message);
    }
}
